"""The optimal mechanism under mutual information, against closed forms, a convex solver, a local search and a grid."""

import subprocess
import sys

import cvxpy as cp
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from gaplib import leakage
from gaplib.binary import optimal_mi, optimal_pdd
from gaplib.mechanisms import BinaryKernel
from gaplib.models import BinaryModel

KINDS = ("pdd", "pdi")


def entropy(u):
    return -u * np.log(u) - (1 - u) * np.log(1 - u) if 0 < u < 1 else 0.0


def information(joint, keep):
    """I(Y; Xhat) from its definition, at 40 digits: another formula than the library's, and no rounding to speak of."""
    with mpmath.workdps(40):
        joint = [[mpmath.mpf(float(cell)) for cell in row] for row in joint]
        keep = [[mpmath.mpf(float(s)) for s in row] for row in keep]
        stay = [[joint[i][j] * keep[i][j] for j in (0, 1)] for i in (0, 1)]
        out = [[stay[k][j] + joint[1 - k][j] * (1 - keep[1 - k][j]) for j in (0, 1)] for k in (0, 1)]

        def plus(values):
            return -sum(v * mpmath.log(v) for v in values if v > 0)

        y = [out[0][j] + out[1][j] for j in (0, 1)]
        x = [out[k][0] + out[k][1] for k in (0, 1)]
        total = sum(y)  # not one, by the rounding of the cells
        return float(plus(y) + plus(x) - plus(out[0] + out[1]) + total * mpmath.log(total))


def pdd_closed_form(joint, D):
    """The theorem of the chapter: PDD for any joint."""
    if joint[0, 0] * joint[1, 1] < joint[0, 1] * joint[1, 0]:
        joint = joint[::-1]
    x1, y0, y1 = joint[1].sum(), joint[:, 0].sum(), joint[:, 1].sum()
    b0, b1 = joint[1, 0] / y0, joint[1, 1] / y1
    if D >= min(y0, y1) * (b1 - b0):
        return 0.0
    wrong = joint[0, 1] + joint[1, 0] + D  # P(Xhat != Y), by whichever flips the budget is spent
    tilt = [(x1 + d) * (1 - 2 * wrong) - (y1 - wrong) for d in (-D, D)]
    if tilt[0] < 0 < tilt[1]:
        return entropy(y1) - entropy(wrong)
    a0, a1 = (b0, b1 - D / y1) if tilt[0] >= 0 else (b0 + D / y0, b1)
    return entropy(y0 * a0 + y1 * a1) - y0 * entropy(a0) - y1 * entropy(a1)


def pdi_closed_form(p, q, D):
    """PDI for Y = X xor N."""
    if q == 0.5 or D >= min(p, 1 - p):
        return 0.0
    return entropy(p * (1 - q) + (1 - p) * q) - entropy(q * (1 - D) + (1 - q) * D)


def convex_solver(joint, D, kind):
    """The problem as CVXPY takes it, in all four parameters of the mechanism and solved by Clarabel."""
    keep = cp.Variable((2, 2))
    flipped = cp.multiply(joint, 1 - keep)
    released = joint - flipped + flipped[::-1]
    x, y = cp.sum(released, axis=1), joint.sum(axis=0)
    leakage = cp.sum(cp.rel_entr(released, cp.vstack([x[0] * y, x[1] * y])))
    constraints = [keep >= 0, keep <= 1, cp.sum(flipped) <= D]
    if kind == "pdi":
        constraints.append(keep[:, 0] == keep[:, 1])
    problem = cp.Problem(cp.Minimize(leakage), constraints)
    return problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)


def random_joints(n, seed):
    """Tables that are spread out, nearly empty in some cell, nearly independent, or empty in one cell."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        joint = rng.dirichlet(np.full(4, (1, 0.2, 5, 1)[i % 4])).reshape(2, 2)
        if i % 4 == 2:
            joint = np.outer(joint.sum(axis=1), joint.sum(axis=0)) + 1e-3 * np.array([[1, -1], [-1, 1]]) * joint.min()
        if i % 4 == 3:
            joint[rng.integers(2), rng.integers(2)] = 0
        yield joint / joint.sum()


def probability_table():
    cell = st.floats(0, 1).map(lambda v: v if v > 1e-6 else 0.0)
    tables = st.lists(cell, min_size=4, max_size=4).filter(lambda cells: sum(cells) > 1e-3)
    return tables.map(lambda cells: np.array(cells).reshape(2, 2) / sum(cells))


@pytest.mark.parametrize("kind", KINDS)
def test_mechanism_is_feasible_and_has_the_value_that_is_reported(kind):
    for joint in random_joints(400, seed=1):
        model = BinaryModel(joint)
        for D in (0.0, 1e-6, 0.05, 0.2, 1.0, 3.0):
            optimum = optimal_mi(model, D, kind)
            keep = optimum.mechanism.keep
            assert optimum.distortion == optimum.mechanism.distortion(model)
            assert optimum.distortion <= D + 1e-15  # sums of four cells
            # Where the value is zero by theorem, the mechanism is independent of Y only up to rounding.
            assert abs(optimum.value - information(joint, keep)) < 1e-14
            assert abs(optimum.value - leakage.mutual_information(model, optimum.mechanism)) < 1e-14
            if kind == "pdi":
                assert (keep[:, 0] == keep[:, 1]).all()


def test_pdd_meets_its_closed_form_on_any_joint():
    budgets = np.random.default_rng(2).uniform(0, 0.3, 2000)
    regimes = set()
    for joint, D in zip(random_joints(2000, seed=2), budgets, strict=True):
        optimum = optimal_mi(BinaryModel(joint), D, "pdd")
        # Entropies of order one, a dozen roundings.
        assert abs(optimum.value - pdd_closed_form(joint, D)) < 1e-13
        rows = ((1 - optimum.mechanism.keep) * joint > 0).any(axis=1)
        regimes.add("zero" if optimum.value == 0 else "both rows" if rows.all() else f"row {rows.argmax()}")
    assert regimes == {"zero", "both rows", "row 0", "row 1"}  # the comparison has seen every case


def test_pdi_meets_its_closed_form_on_xor():
    for p in (0, 1e-9, 0.1, 0.25, 0.5, 0.75, 1):
        for q in (0, 0.1, 0.25, 0.5, 0.6, 0.9, 1):
            for D in (0, 1e-9, 0.05, 0.1, 0.25, 0.4, 0.5, 1, 2):
                value = optimal_mi(BinaryModel.xor(p, q), D, "pdi").value
                assert abs(value - pdi_closed_form(p, q, D)) < 1e-14, (p, q, D)


@pytest.mark.parametrize("q", (0, 0.1, 0.25, 0.4, 0.7))
def test_pdd_closed_form_for_the_even_prior(q):
    for D in np.linspace(0, 0.6, 25):
        exact = np.log(2) - entropy(min(0.5, min(q, 1 - q) + D))
        # Within rounding of the kink both answers are zero up to the square of the rounding.
        assert abs(optimal_mi(BinaryModel.xor(0.5, q), D, "pdd").value - exact) < 1e-14


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # Clarabel at the limit of its precision
@pytest.mark.parametrize("kind", KINDS)
def test_convex_solver_agrees(kind):
    budgets = np.random.default_rng(3).uniform(0, 0.3, 150)
    for joint, D in zip(random_joints(150, seed=3), budgets, strict=True):
        # Clarabel stops at gaps of 1e-10 if it can, and reports a loss of precision if not.
        assert abs(convex_solver(joint, D, kind) - optimal_mi(BinaryModel(joint), D, kind).value) < 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_local_search_from_many_starts_finds_nothing_better(kind):
    rng = np.random.default_rng(4)

    def table(s):
        return np.clip(s, 0, 1).reshape(2, 2) if kind == "pdd" else np.repeat(np.clip(s, 0, 1)[:, None], 2, axis=1)

    for joint in random_joints(12, seed=4):
        model, D = BinaryModel(joint), float(rng.uniform(0.01, 0.2))

        def leak(s):
            return leakage.mutual_information(model, BinaryKernel(*table(s).ravel()))

        def slack(s):
            return D - (joint * (1 - table(s))).sum()

        size = 4 if kind == "pdd" else 2
        best = min(
            found.fun
            for found in (
                minimize(
                    leak,
                    rng.uniform(0, 1, size),
                    method="SLSQP",
                    bounds=[(0, 1)] * size,
                    constraints={"type": "ineq", "fun": slack},
                    options={"ftol": 1e-13, "maxiter": 300},
                )
                for _ in range(8)
            )
            if slack(found.x) > -1e-10
        )
        value = optimal_mi(model, D, kind).value
        # SLSQP may overstep the budget by 1e-10, times a price of at most about ten; its own result, with
        # differences for derivatives, is good to 1e-6.
        assert value - 1e-8 < best < value + 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_no_mechanism_on_a_grid_is_better(kind):
    steps = np.linspace(0, 1, 21 if kind == "pdd" else 401)
    if kind == "pdd":
        keep = np.stack(np.meshgrid(*[steps] * 4, indexing="ij"), axis=-1).reshape(-1, 2, 2)
    else:
        s0, s1 = (s.ravel() for s in np.meshgrid(steps, steps, indexing="ij"))
        keep = np.stack([s0, s0, s1, s1], axis=-1).reshape(-1, 2, 2)
    for joint in random_joints(8, seed=5):
        flipped = joint * (1 - keep)
        out = joint * keep + flipped[:, ::-1]
        product = out.sum(axis=2, keepdims=True) * out.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            leak = np.where(out > 0, out * np.log(out / product), 0).sum(axis=(1, 2))
        distortion = flipped.sum(axis=(1, 2))
        for D in (0.02, 0.1, 0.25):
            value = optimal_mi(BinaryModel(joint), D, kind).value
            assert leak[distortion <= D].min() > value - 1e-14


@pytest.mark.parametrize("kind", KINDS)
def test_value_is_zero_exactly_from_saturation_on(kind):
    # All cells and both thresholds are sums of powers of two: the arithmetic is exact.
    model = BinaryModel([[0.25, 0.125], [0.125, 0.5]])
    threshold = 0.109375 / 0.625 if kind == "pdd" else 0.375
    for D in (threshold, threshold + 1e-12, 0.7, 5.0):
        optimum = optimal_mi(model, D, kind)
        assert optimum.value == 0.0 and optimum.price == 0.0
        assert abs(optimum.distortion - threshold) < 1e-15
    below = optimal_mi(model, threshold - 1e-4, kind)
    assert below.value > 1e-9 and below.price > 0


def test_thresholds_of_the_paper_s_two_priors():
    for p, threshold in ((0.5, 0.25), (0.75, 0.15)):
        model = BinaryModel.xor(p, 0.25)
        assert optimal_mi(model, threshold - 1e-6, "pdd").value > 0
        assert optimal_mi(model, threshold + 1e-6, "pdd").value == 0
        assert optimal_mi(model, min(p, 1 - p) - 1e-6, "pdi").value > 0
        assert optimal_mi(model, min(p, 1 - p), "pdi").value == 0


def test_saturated_accuracy_is_not_independence():
    model = BinaryModel.xor(0.75, 0.25)
    assert optimal_pdd(model, 0.125).value == leakage.map_accuracy(model, BinaryKernel(0, 0, 1, 1)) == 0.625
    assert optimal_mi(model, 0.125, "pdd").value == pytest.approx(0.004633, abs=5e-7)  # six printed digits


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "joint",
    (
        [[0.06, 0.24], [0.14, 0.56]],  # independent, with rounded products
        [[0.3, 0.7], [0, 0]],  # X constant
        [[0, 0.3], [0, 0.7]],  # Y constant
        [[1, 0], [0, 0]],
    ),
)
@pytest.mark.parametrize("D", (0, 0.1, 1))
def test_nothing_to_hide(kind, joint, D):
    optimum = optimal_mi(BinaryModel(joint), D, kind)
    assert (optimum.value, optimum.distortion, optimum.price) == (0.0, 0.0, 0.0)
    assert optimum.mechanism == BinaryKernel(1, 1, 1, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_independent_but_for_rounding(kind):
    for x in np.arange(1, 20) / 20:
        for y in np.arange(1, 7) / 7:
            joint = np.outer([1 - x, x], [1 - y, y])
            assert optimal_mi(BinaryModel(joint), 0.1, kind).distortion == 0, (x, y)


@pytest.mark.parametrize("kind", KINDS)
def test_no_budget_releases_the_bit_itself(kind):
    for joint in random_joints(50, seed=6):
        optimum = optimal_mi(BinaryModel(joint), 0, kind)
        assert optimum.mechanism == BinaryKernel(1, 1, 1, 1)
        assert abs(optimum.value - information(joint, np.ones((2, 2)))) < 1e-14


@pytest.mark.parametrize("kind", KINDS)
def test_first_flip_can_be_worth_infinitely_much(kind):
    optimum = optimal_mi(BinaryModel.xor(0.5, 0), 0, kind)
    assert optimum.price == np.inf and optimum.value == pytest.approx(np.log(2), abs=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_the_values_do_not_matter(kind):
    for joint in random_joints(60, seed=7):
        values = [optimal_mi(BinaryModel(table), 0.07, kind).value for table in (joint, joint[::-1], joint[:, ::-1])]
        assert np.ptp(values) < 1e-14


# Each value is exact to about 1e-15; a comparison multiplies that by at most the two weights.
@settings(max_examples=300, deadline=None)
@given(probability_table(), st.floats(0, 0.6), st.floats(0, 0.6), st.floats(0, 1))
def test_value_falls_and_is_convex_in_the_budget(joint, D1, D2, weight):
    model, D1, D2 = BinaryModel(joint), min(D1, D2), max(D1, D2)
    for kind in KINDS:
        first, last = optimal_mi(model, D1, kind), optimal_mi(model, D2, kind)
        mixed = optimal_mi(model, (1 - weight) * D1 + weight * D2, kind)
        assert 0 <= last.value <= first.value + 1e-14
        assert mixed.value <= (1 - weight) * first.value + weight * last.value + 1e-14


@settings(max_examples=300, deadline=None)
@given(probability_table(), st.floats(1e-3, 0.6), st.floats(0, 0.6))
def test_price_is_the_slope_of_a_line_below_the_curve(joint, D, other):
    model = BinaryModel(joint)
    for kind in KINDS:
        optimum = optimal_mi(model, D, kind)
        line = optimum.value - optimum.price * (other - D)
        # The split is right to one rounding, its price to that times a curvature of at most 1/D = 1e3.
        assert optimal_mi(model, other, kind).value >= line - 1e-11


@settings(max_examples=300, deadline=None)
@given(probability_table(), st.floats(0, 0.6))
def test_looking_at_the_private_bit_never_hurts(joint, D):
    model = BinaryModel(joint)
    pdd, pdi = (optimal_mi(model, D, kind).value for kind in KINDS)
    assert 0 <= pdd <= pdi + 1e-14
    assert pdi <= leakage.mutual_information(model, BinaryKernel(1, 1, 1, 1)) + 1e-14


def test_default_looks_at_the_private_bit():
    model = BinaryModel.xor(0.75, 0.25)
    assert optimal_mi(model, 0.1) == optimal_mi(model, 0.1, kind="pdd")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    (
        (([[0.5, 0], [0, 0.5]], 0.1, "pdd"), TypeError, "model must be a BinaryModel"),
        ((BinaryModel.xor(0.5, 0.25), -0.1, "pdd"), ValueError, "D must be a finite number >= 0, got -0.1"),
        ((BinaryModel.xor(0.5, 0.25), float("nan"), "pdd"), ValueError, "D must be a finite number >= 0, got nan"),
        ((BinaryModel.xor(0.5, 0.25), "0.1", "pdd"), TypeError, "D must be a finite number >= 0, got '0.1'"),
        ((BinaryModel.xor(0.5, 0.25), True, "pdd"), TypeError, "D must be a finite number >= 0, got True"),
        ((BinaryModel.xor(0.5, 0.25), 0.1, "PDD"), ValueError, "kind must be 'pdd' or 'pdi', got 'PDD'"),
        ((BinaryModel.xor(0.5, 0.25), 0.1, 1), TypeError, "kind must be 'pdd' or 'pdi', got 1"),
    ),
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        optimal_mi(*arguments)


def test_import_does_not_load_solvers():
    solvers = {"scipy.optimize", "scipy.special", "cvxpy", "tensorflow"}
    program = f"import sys, gaplib.binary, gaplib.gaussian; print({solvers} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "set()\n"
