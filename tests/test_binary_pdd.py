"""The optimal PDD mechanism: the closed form against two solvers, the dual, exact arithmetic and simulation."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pulp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaplib import binary
from gaplib.leakage import map_accuracy
from gaplib.mechanisms import BinaryKernel
from gaplib.models import BinaryModel

# Sums of a few numbers below one: a few roundings of 1e-16 each.
ROUNDING = 1e-14


def random_problems(count, seed):
    """Random joint distributions and budgets, every eighth of them an edge case."""
    generator = np.random.default_rng(seed)
    problems = []
    for index in range(count):
        joint = generator.dirichlet([generator.choice([0.2, 1, 5])] * 4).reshape(2, 2)
        D = generator.uniform(0, 0.6)
        edge = index % 8
        if edge == 0:
            D = 0.0
        elif edge == 1:
            D = generator.uniform(1, 3)
        elif edge == 2:  # X and Y independent
            joint = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        elif edge == 3:  # a cell without mass
            joint.flat[generator.integers(4)] = 0
        elif edge == 4:  # a value of X, or of Y, that does not occur
            joint[tuple(np.roll([generator.integers(2), slice(None)], generator.integers(2)))] = 0
        problems.append((BinaryModel(joint / joint.sum()), D))
    return problems


def test_closed_form_is_what_highs_finds():
    for model, D in random_problems(2400, seed=1):
        formula, program = binary.optimal_pdd(model, D), binary.optimal_pdd(model, D, method="lp")
        # HiGHS stops at 1e-10 per constraint.
        assert program.value == pytest.approx(formula.value, abs=1e-9)
        assert program.distortion <= D + 1e-9


EXTREME = [0, 1e-12, 1e-10, 1e-9, 1e-8, 0.25, 0.5, 1 - 1e-8, 1 - 1e-9, 1 - 1e-10, 1]


@pytest.mark.parametrize("optimal", [binary.optimal_pdd, binary.optimal_pdi])
def test_program_copes_with_entries_close_to_zero(optimal):
    for p, q, D in product(EXTREME, (0, 1e-10, 0.01, 0.3, 0.5, 1), (0, 1e-12, 1e-9, 0.1, 2)):
        model = BinaryModel.xor(p, q)
        program = optimal(model, D, method="lp")
        # HiGHS stops at 1e-10 per constraint.
        assert program.value == pytest.approx(optimal(model, D).value, abs=1e-9)
        assert program.value == pytest.approx(map_accuracy(model, program.mechanism), abs=ROUNDING)
        assert program.distortion <= D + 1e-9


def test_program_keeps_what_has_no_mass():
    best = binary.optimal_pdd(BinaryModel([[0.5, 0], [0.2, 0.3]]), 0.1, method="lp")
    assert best.mechanism.s01 == 1
    best = binary.optimal_pdi(BinaryModel([[0, 0], [0.4, 0.6]]), 0.1, method="lp")
    assert best.mechanism.s00 == best.mechanism.s01 == 1


@pytest.mark.slow
def test_closed_form_is_what_cbc_finds():
    for model, D in random_problems(2000, seed=2):
        program = binary.pdd_program(model, D)
        assert pulp.LpStatus[program.solve(pulp.PULP_CBC_CMD(msg=False))] == "Optimal"
        # CBC stops at 1e-7, and the problem goes to it through a file with twelve digits.
        assert pulp.value(program.objective) == pytest.approx(binary.optimal_pdd(model, D).value, abs=1e-7)


def test_closed_form_is_proved_by_its_certificates_in_exact_arithmetic():
    # Upper bound: the returned mechanism, evaluated in fractions. Lower bound: fixed rules on Xhat, each of which is
    # right with at least the probability stated. A float mechanism is exact to a rounding of each entry.
    for parts in product(range(9), repeat=4):
        if sum(parts) != 8:
            continue
        exact = [[Fraction(parts[0], 8), Fraction(parts[1], 8)], [Fraction(parts[2], 8), Fraction(parts[3], 8)]]
        model = BinaryModel(np.array(exact, dtype=float))
        for D in (Fraction(n, 16) for n in range(18)):
            keep = [Fraction(s) for s in binary.optimal_pdd(model, float(D)).mechanism.keep.ravel()]
            flip = [[exact[i][j] * (1 - keep[2 * i + j]) for j in (0, 1)] for i in (0, 1)]
            seen = [[exact[k][j] - flip[k][j] + flip[1 - k][j] for j in (0, 1)] for k in (0, 1)]
            upper = max(seen[0]) + max(seen[1])
            lower = max(exact[0][0] + exact[1][0], exact[0][1] + exact[1][1], max(exact[0]) + max(exact[1]) - D)
            assert abs(upper - lower) < ROUNDING
            assert sum(map(sum, flip)) <= D + ROUNDING


def test_price_is_the_dual_of_the_program_away_from_kinks():
    compared = 0
    for model, D in random_problems(800, seed=3):
        saturation = model.joint.max(axis=1).sum() - model.p_y.max()
        if D < 1e-6 or abs(D - saturation) < 1e-6:  # at a kink more than one price is right
            continue
        formula, program = binary.optimal_pdd(model, D), binary.optimal_pdd(model, D, method="lp")
        assert program.price == pytest.approx(formula.price, abs=1e-9)
        compared += 1
    assert compared > 500


def test_price_is_the_slope_of_the_value():
    model, step = BinaryModel.xor(0.75, 0.25), 1e-6
    cases = product((binary.optimal_pdd, binary.optimal_pdi), (0, 0.05, 0.1, 0.125, 0.2, 0.25, 0.3))
    for optimal, D in cases:  # among them both kinks, where the slope to the right counts
        here, next_to_it = optimal(model, D), optimal(model, D + step)
        # A difference of numbers near one divided by 1e-6: roundings of 1e-16 become 1e-10.
        assert here.price == pytest.approx((here.value - next_to_it.value) / step, abs=1e-9)


weights = st.lists(st.integers(0, 1000), min_size=4, max_size=4).filter(any)
joints = st.builds(lambda w: BinaryModel(np.reshape(w, (2, 2)) / sum(w)), weights)
budgets = st.floats(0, 1.5)


@given(joints, budgets, budgets, st.floats(0, 1))
def test_value_falls_is_convex_and_never_below_the_prior(model, D1, D2, weight):
    value = {D: binary.optimal_pdd(model, D).value for D in (D1, D2)}
    assert (value[D1] - value[D2]) * (D1 - D2) <= 0
    between = binary.optimal_pdd(model, weight * D1 + (1 - weight) * D2).value
    assert between <= weight * value[D1] + (1 - weight) * value[D2] + ROUNDING
    assert min(value.values()) >= model.p_y.max()


@given(joints, budgets)
def test_mechanism_attains_the_value_within_the_budget(model, D):
    best = binary.optimal_pdd(model, D)
    assert map_accuracy(model, best.mechanism) == pytest.approx(best.value, abs=ROUNDING)
    assert best.distortion == best.mechanism.distortion(model)
    assert best.distortion <= D + ROUNDING


@given(joints, budgets, st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_no_other_mechanism_does_better(model, D, keep):
    kernel = BinaryKernel(*keep)
    assert map_accuracy(model, kernel) >= binary.optimal_pdd(model, kernel.distortion(model)).value - ROUNDING


@given(joints, budgets)
def test_renaming_values_changes_nothing(model, D):
    value = binary.optimal_pdd(model, D).value
    for renamed in (model.joint[::-1], model.joint[:, ::-1]):
        assert binary.optimal_pdd(BinaryModel(renamed), D).value == pytest.approx(value, abs=ROUNDING)


def test_saturation_of_the_paper_s_models():
    for p, saturation in ((0.5, 0.25), (0.75, 0.125)):
        model = BinaryModel.xor(p, 0.25)
        prior = model.p_y.max()
        assert binary.optimal_pdd(model, saturation).value == prior
        assert binary.optimal_pdd(model, saturation - 1e-6).value > prior


def test_sampled_accuracy_is_within_binomial_error():
    n = 200_000
    for seed, (p, D) in enumerate(product((0.5, 0.75), (0.0, 0.05, 0.1, 0.3))):
        model = BinaryModel.xor(p, 0.25)
        best = binary.optimal_pdd(model, D)
        x, y = model.sample(n, seed)
        guess = best.mechanism.released(model).argmax(axis=1)[best.mechanism.privatize(x, y, seed)]
        # Six standard deviations: probability below 2e-8 for all eight together.
        assert abs((guess == y).mean() - best.value) < 6 * math.sqrt(best.value * (1 - best.value) / n)


@pytest.mark.parametrize("method", ["closed-form", "lp"])
@pytest.mark.parametrize("D", [-1e-9, -1, math.nan, math.inf, "0.1", None, True, [0.1], 0.1j])
def test_bad_budget_is_refused_by_name(method, D):
    with pytest.raises((TypeError, ValueError), match="^D must be a finite number >= 0, got "):
        binary.optimal_pdd(BinaryModel.xor(0.5, 0.25), D, method=method)
    with pytest.raises((TypeError, ValueError), match="^D must be a finite number >= 0, got "):
        binary.pdd_program(BinaryModel.xor(0.5, 0.25), D)


def test_bad_model_and_method_are_refused_by_name():
    model = BinaryModel.xor(0.5, 0.25)
    with pytest.raises(TypeError, match="^model must be a BinaryModel, got "):
        binary.optimal_pdd([[0.25, 0.25], [0.25, 0.25]], 0.1)
    with pytest.raises(ValueError, match="^method must be 'closed-form' or 'lp', got 'LP'"):
        binary.optimal_pdd(model, 0.1, method="LP")
    with pytest.raises(TypeError, match="^method must be 'closed-form' or 'lp', got None"):
        binary.optimal_pdd(model, 0.1, method=None)


def test_a_program_without_optimum_is_an_error():
    program = pulp.LpProblem("impossible", pulp.LpMinimize)
    x = pulp.LpVariable("x", 0, 1)
    program += x
    program += x >= 2
    with pytest.raises(RuntimeError, match="HiGHS reports 'Infeasible' for the program 'impossible'"):
        binary.solve(program)
