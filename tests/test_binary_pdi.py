"""The optimal PDI mechanism of the binary model: Theorem 1 in exact arithmetic, the closed form for any joint."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pulp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaplib import binary, leakage
from gaplib.mechanisms import BinaryKernel
from gaplib.models import BinaryModel

HALF = Fraction(1, 2)
# Every edge: p and q at 0, 1/2 and 1 and on both sides of 1/2; D at 0, at both kinks of each p, at 1 and beyond.
GRID_P = [Fraction(0), Fraction(1, 5), Fraction(2, 5), HALF, Fraction(3, 4), Fraction(1)]
GRID_Q = [Fraction(0), Fraction(1, 4), HALF, Fraction(2, 3), Fraction(1)]
GRID_D = [Fraction(n, 60) for n in (0, 1, 12, 15, 20, 24, 30, 36, 45, 48, 60, 90)]

XOR_GRID = list(product(GRID_P, GRID_Q))

# Sums of four numbers below one: a few roundings of 1e-16 each.
ROUNDING = 1e-14


# Theorem 1, in exact arithmetic


def theorem_1(p, q, D):
    """Return the value and the least and largest w = p s1 + (1-p) s0 of an optimal mechanism, as printed."""
    if q == HALF:
        return HALF, 1 - D, Fraction(1)
    if 1 - D > max(p, 1 - p):
        value = (1 - 2 * q) * (1 - D) + q if q < HALF else (2 * q - 1) * (1 - D) + 1 - q
        return value, 1 - D, 1 - D
    if (p >= HALF and q < HALF) or (p <= HALF and q > HALF):
        value = p * (1 - q) + (1 - p) * q
    else:
        value = p * q + (1 - p) * (1 - q)
    return value, max(min(p, 1 - p), 1 - D), max(p, 1 - p)


def exact_accuracy(joint, s0, s1):
    """Return what the MAP adversary achieves, term by term from the definition."""
    keep = (s0, s1)
    seen = [[joint[k][j] * keep[k] + joint[1 - k][j] * (1 - keep[1 - k]) for j in (0, 1)] for k in (0, 1)]
    return max(seen[0]) + max(seen[1])


def exact_corners(joint, D):
    """Return the feasible corners of the pieces on which the accuracy is linear; a minimum is at one of them.

    The lines a*s0 + b*s1 = c are the sides of the square, the budget, and for each output the tie of the two guesses.
    """
    mass = [sum(row) for row in joint]
    lean = [row[1] - row[0] for row in joint]
    lines = [(1, 0, 0), (1, 0, 1), (0, 1, 0), (0, 1, 1), (mass[0], mass[1], 1 - D)]
    lines += [(lean[0], -lean[1], -lean[1]), (-lean[0], lean[1], -lean[0])]
    corners = set()
    for (a, b, c), (d, e, f) in combinations(lines, 2):
        determinant = a * e - b * d
        if determinant:
            corners.add((Fraction(c * e - b * f) / determinant, Fraction(a * f - c * d) / determinant))
    return {
        (s0, s1) for s0, s1 in corners if 0 <= s0 <= 1 and 0 <= s1 <= 1 and mass[0] * (1 - s0) + mass[1] * (1 - s1) <= D
    }


def exact_minimum(joint, D):
    return min(exact_accuracy(joint, *corner) for corner in exact_corners(joint, D))


def xor(p, q):
    return [[(1 - p) * (1 - q), (1 - p) * q], [p * q, p * (1 - q)]]


@pytest.mark.parametrize(("p", "q"), XOR_GRID)
def test_theorem_1_gives_the_exact_value_and_the_exact_set_of_optima(p, q):
    lattice = {(Fraction(a, 20), Fraction(b, 20)) for a in range(21) for b in range(21)}
    for D in GRID_D:
        value, low, high = theorem_1(p, q, D)
        assert exact_minimum(xor(p, q), D) == value
        for s0, s1 in lattice | exact_corners(xor(p, q), D):
            w = p * s1 + (1 - p) * s0
            optimal = w >= 1 - D and exact_accuracy(xor(p, q), s0, s1) == value
            assert optimal == (low <= w <= high), (D, s0, s1)


@pytest.mark.parametrize(("p", "q"), XOR_GRID)
def test_theorem_1_does_not_have_infinitely_many_mechanisms_at_budget_zero(p, q):
    corners = exact_corners(xor(p, q), Fraction(0))
    # A bit that is never 0 (or never 1) may be treated at will there; otherwise only the identity is left.
    assert (corners == {(1, 1)}) == (0 < p < 1)


@pytest.mark.parametrize("method", ["closed-form", "lp"])
@pytest.mark.parametrize(("p", "q"), XOR_GRID)
def test_library_gives_the_value_of_theorem_1(p, q, method):
    for D in GRID_D:
        found = binary.optimal_pdi(BinaryModel.xor(float(p), float(q)), float(D), method)
        # The formula rounds; the solver stops at a tolerance of 1e-10 in each of five constraints.
        assert found.value == pytest.approx(
            float(theorem_1(p, q, D)[0]), abs=ROUNDING if method == "closed-form" else 1e-9
        )


@given(st.lists(st.integers(0, 12), min_size=4, max_size=4).filter(any), st.fractions(0, 2, max_denominator=40))
def test_closed_form_is_the_exact_minimum_for_any_joint(weights, D):
    joint = [[Fraction(weight, sum(weights)) for weight in row] for row in (weights[:2], weights[2:])]
    found = binary.optimal_pdi(BinaryModel(np.array(joint, dtype=float)), float(D))
    assert found.value == pytest.approx(float(exact_minimum(joint, D)), abs=ROUNDING)


# The closed form against two solvers


def random_cases(n=2000, seed=0):
    """Return joints and budgets, random and at every edge, with the least budget that saturates among them."""
    rng = np.random.default_rng(seed)
    joints = np.concatenate([rng.dirichlet(np.full(4, a), n // 2) for a in (0.3, 2)]).reshape(n, 2, 2)
    joints[0::10, 0, 1] = 0  # a cell without mass
    joints[1::10, 1] = 0  # X is constant
    joints[2::10, :, 0] = 0  # Y is constant
    joints[3::10] = joints[3::10].sum(2, keepdims=True) * joints[3::10].sum(1, keepdims=True)  # independent
    joints[4::10, 0, 0] = joints[4::10, 0, 1]  # a row that leans to neither guess
    joints[5::10, 1] = joints[5::10, 0, ::-1]  # P(Y=0) = P(Y=1)
    joints /= joints.sum((1, 2), keepdims=True)
    budgets = rng.choice([0, 1, 3], n).astype(float)
    inside = rng.random(n) < 0.8
    budgets[inside] = rng.random(inside.sum()) * rng.choice([0.02, 0.2, 1], inside.sum())
    kinks = np.flatnonzero(rng.random(n) < 0.1)
    budgets[kinks] = [saturation(joints[k]) for k in kinks]
    return joints, budgets


def saturation(joint):
    """Return (A0 - prior) / kappa, from which budget on the value is the prior."""
    mass = joint.sum(1)
    kappa = max(abs(row[1] - row[0]) / m for row, m in zip(joint, mass, strict=True) if m > 0)
    loss = max(joint.max(1).sum() - joint.sum(0).max(), 0)
    return loss / kappa if loss > 0 else 0.0


CASES = random_cases()


def solve_together(joints, budgets, solver):
    """Return the optimal value of every case from one program, the sum of all: the cases share no variable.

    Written with a probability for each cell and the equalities that make it blind to Y, unlike the library's program.
    """
    program = pulp.LpProblem("all", pulp.LpMinimize)
    tops = []
    for n, (p, D) in enumerate(zip(joints, budgets, strict=True)):
        flip = [[pulp.LpVariable(f"f{n}_{i}{j}", 0, 1) for j in (0, 1)] for i in (0, 1)]
        top = [pulp.LpVariable(f"top{n}_{k}") for k in (0, 1)]
        for k, j in product((0, 1), repeat=2):
            program += p[k][j] * (1 - flip[k][j]) + p[1 - k][j] * flip[1 - k][j] <= top[k]
        for i in (0, 1):
            program += flip[i][0] == flip[i][1]
        program += pulp.lpSum(p[i][j] * flip[i][j] for i, j in product((0, 1), repeat=2)) <= D
        tops.append(top)
    program += pulp.lpSum(tops)
    assert pulp.LpStatus[program.solve(solver)] == "Optimal"
    return np.array([top[0].varValue + top[1].varValue for top in tops])


def closed_forms(joints, budgets):
    return np.array([binary.optimal_pdi(BinaryModel(p), D).value for p, D in zip(joints, budgets, strict=True)])


def test_closed_form_agrees_with_highs_on_random_joints():
    compared = 0
    for p, D in zip(*CASES, strict=True):
        closed, program = (binary.optimal_pdi(BinaryModel(p), D, method) for method in ("closed-form", "lp"))
        # The solver's tolerance is 1e-10 in each of five constraints.
        assert closed.value == pytest.approx(program.value, abs=1e-9)
        # Prices are unique except at D = 0 and at the kink. Where a row has next to no mass, its slope differs from the
        # other row's for budgets below the solver's tolerance only.
        if min(D, abs(D - saturation(p))) > 1e-6 and p.sum(1).min() > 1e-3:
            assert closed.price == pytest.approx(program.price, abs=1e-7)
            compared += closed.price > 0
    assert compared > 100  # budgets below saturation are among them


@pytest.mark.parametrize(
    ("joint", "D"),
    [  # where HiGHS, at its own settings, returns values of another vertex than the one it found
        ([[1.0120439034727349e-17, 0.9999996337366518], [3.662631172163415e-07, 2.3098965585545707e-13]], 1.838746e-07),
        ([[6.521872444219874e-39, 0.9999998817894978], [1.1821045968434765e-07, 4.247626578917024e-14]], 1.1689250e-07),
        ([[1.0311045785291058e-12, 4.2247858368647886e-08], [0.9999800376292728, 1.992012183774459e-05]], 3.605931e-08),
        ([[6.3156713521337765e-15, 3.803916503859985e-08], [0.9999999619605877, 2.4091838717932284e-13]], 3.230015e-08),
        ([[0.9999998945613546, 2.451641796111283e-13], [8.360468514019221e-14, 1.0543831669172103e-07]], 2.156895e-08),
        # and unscaled
        ([[5.3017381469210455e-15, 2.65067573468954e-08], [0.9999999074618111, 6.603142617872092e-08]], 2.06278877e-08),
        ([[4.445145934620535e-16, 4.875822328399759e-09], [0.9999999951241773, 0.0]], 3.6002597407166794e-09),
        ([[2.138336964130901e-16, 2.315474882629607e-09], [0.9999999941013068, 3.5832180351539623e-09]], 1.86419e-09),
    ],
)
def test_program_next_to_rows_that_are_nearly_empty(joint, D):
    model = BinaryModel(joint)
    program = binary.optimal_pdi(model, D, "lp")
    # Met to rounding, where the solver's tolerance would allow 1e-10 in each of five constraints.
    assert program.value == pytest.approx(binary.optimal_pdi(model, D).value, abs=1e-12)
    assert program.distortion <= D + 1e-12


@pytest.mark.slow
def test_closed_form_agrees_with_highs_where_one_row_is_nearly_empty_or_the_rows_are_mirrored():
    rng = np.random.default_rng(5)
    for n in range(3000):
        tiny = 10.0 ** rng.uniform(-18, -5, 4)
        joint = np.array([[1, tiny[0]], [tiny[1], tiny[2] if n % 2 else 1]])
        joint = rng.permutation(rng.permutation(joint / joint.sum()), axis=1)
        D = tiny[3] if n % 3 else saturation(joint) * (1 + tiny[3] * rng.choice([-1, 1]))
        model = BinaryModel(joint)
        program, closed = (binary.optimal_pdi(model, D, method) for method in ("lp", "closed-form"))
        # The solver's tolerance is 1e-10 in each of five constraints.
        assert program.value == pytest.approx(closed.value, abs=1e-9), (joint.tolist(), D)
        assert program.distortion <= D + 1e-9, (joint.tolist(), D)


def test_closed_form_agrees_with_cbc_on_random_joints():
    # CBC's primal tolerance is 1e-7 by default; presolve leaves most cases exact.
    programs = solve_together(*CASES, pulp.PULP_CBC_CMD(msg=False))
    np.testing.assert_allclose(closed_forms(*CASES), programs, rtol=0, atol=1e-7)


# Properties


weights = st.lists(st.integers(0, 1000), min_size=4, max_size=4).filter(any)
models = weights.map(lambda w: BinaryModel(np.reshape(w, (2, 2)) / sum(w)))
budgets = st.floats(0, 2)
probabilities = st.floats(0, 1)


@given(models, budgets)
def test_mechanism_is_blind_to_y_within_the_budget_and_reaches_the_value(model, D):
    found = binary.optimal_pdi(model, D)
    s = found.mechanism
    assert (s.s00, s.s10) == (s.s01, s.s11)
    assert found.distortion == s.distortion(model) <= D + ROUNDING
    assert leakage.map_accuracy(model, s) == pytest.approx(found.value, abs=ROUNDING)


@given(models, probabilities, probabilities)
def test_no_pdi_mechanism_does_better_at_its_own_distortion(model, s0, s1):
    mechanism = BinaryKernel(s0, s0, s1, s1)
    best = binary.optimal_pdi(model, mechanism.distortion(model))
    assert best.value <= leakage.map_accuracy(model, mechanism) + ROUNDING


@given(models, budgets)
def test_pdd_is_never_above_pdi_and_neither_is_below_the_prior(model, D):
    pdd, pdi = binary.optimal_pdd(model, D), binary.optimal_pdi(model, D)
    assert model.p_y.max() <= pdd.value <= pdi.value + ROUNDING


@given(models, budgets, budgets, probabilities)
def test_value_falls_with_the_budget_and_is_convex(model, D, E, weight):
    D, E = sorted((D, E))
    at_D, at_E = binary.optimal_pdi(model, D), binary.optimal_pdi(model, E)
    assert at_E.value <= at_D.value
    between = binary.optimal_pdi(model, weight * D + (1 - weight) * E)
    assert between.value <= weight * at_D.value + (1 - weight) * at_E.value + ROUNDING


@given(models, budgets, budgets)
def test_price_is_a_slope_that_supports_the_curve(model, D, E):
    at_D, at_E = binary.optimal_pdi(model, D), binary.optimal_pdi(model, E)
    assert at_E.value >= at_D.value - at_D.price * (E - D) - ROUNDING


@given(models, budgets)
def test_names_of_the_values_do_not_matter(model, D):
    value = binary.optimal_pdi(model, D).value
    for renamed in (model.joint[::-1], model.joint[:, ::-1]):
        assert binary.optimal_pdi(BinaryModel(renamed), D).value == pytest.approx(value, abs=ROUNDING)


@pytest.mark.parametrize("D", [0.0, 5e-324, 1e-300, 1e-17, 1.7e308])
@pytest.mark.parametrize("joint", [[[5e-324, 0], [0, 1]], [[1e-17, 0.5], [0.5, 1e-300]], [[0.1, 0.2], [0.4, 0.3]]])
def test_extreme_cells_and_budgets(joint, D):
    model = BinaryModel(joint)
    found = binary.optimal_pdi(model, D)
    assert found.value == pytest.approx(leakage.map_accuracy(model, found.mechanism), abs=ROUNDING)


# Simulation


@pytest.mark.parametrize(
    "joint", [[[0.375, 0.125], [0.125, 0.375]], [[0.1, 0.2], [0.6, 0.1]], [[0.05, 0.45], [0.3, 0.2]]]
)
@pytest.mark.parametrize("method", ["closed-form", "lp"])
def test_sampled_accuracy_and_distortion(joint, method):
    n, D = 400_000, 0.05
    model = BinaryModel(joint)
    found = binary.optimal_pdi(model, D, method)
    x, y = model.sample(n, seed=0)
    released = found.mechanism.privatize(x, y, seed=1)
    rule = found.mechanism.released(model).argmax(axis=1)
    # Five standard deviations of a mean of n bits: one run in two million is further off.
    assert abs((rule[released] == y).mean() - found.value) < 5 * np.sqrt(0.25 / n)
    assert abs((released != x).mean() - D) < 5 * np.sqrt(D * (1 - D) / n)


# Bad input


@pytest.mark.parametrize("function", [binary.optimal_pdi, binary.pdi_program])
@pytest.mark.parametrize(
    ("model", "D", "error", "words"),
    [
        ("xor", 0.1, TypeError, "model must be a BinaryModel, got 'xor'"),
        (BinaryModel.xor(0.5, 0.25), -0.1, ValueError, "D must be a finite number >= 0, got -0.1"),
        (BinaryModel.xor(0.5, 0.25), float("nan"), ValueError, "D must be a finite number >= 0, got nan"),
        (BinaryModel.xor(0.5, 0.25), float("inf"), ValueError, "D must be a finite number >= 0, got inf"),
        (BinaryModel.xor(0.5, 0.25), "0.1", TypeError, "D must be a finite number >= 0, got '0.1'"),
        (BinaryModel.xor(0.5, 0.25), True, TypeError, "D must be a finite number >= 0, got True"),
        (BinaryModel.xor(0.5, 0.25), None, TypeError, "D must be a finite number >= 0, got None"),
    ],
)
def test_bad_input_is_named(function, model, D, error, words):
    with pytest.raises(error) as raised:
        function(model, D)
    assert words in str(raised.value)


@pytest.mark.parametrize(("method", "error"), [("simplex", ValueError), (1, TypeError)])
def test_bad_method_is_named(method, error):
    with pytest.raises(error, match="method must be 'closed-form' or 'lp'"):
        binary.optimal_pdi(BinaryModel.xor(0.5, 0.25), 0.1, method)
