"""The optimum over all mechanisms, against programs and solvers that share no code with it."""

import math
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, linprog, minimize_scalar
from scipy.stats import norm

from gaplib import _sample_transport, binary, gaussian, leakage, transport
from gaplib._partial_transport import pot
from gaplib.mechanisms import FiniteKernel, PiecewiseKernel, TransportMap
from gaplib.models import BinaryModel, FiniteModel, GaussianMixture

# Two computations that share no code with gaplib, rounded at the ninth digit: D, accuracy, price, inner interval.
LINE = [
    ((0.5, 3, 1, 1), 1, 0.85211670376, 0.087743, (-2.463384, 2.463384)),
    ((0.5, 3, 1, 1), 3, 0.71814072943, 0.053932, (-3.160404, 3.160404)),
    ((0.5, 3, 1, 1), 6, 0.58656193330, 0.035863, (-3.941892, 3.941892)),
    ((0.75, 3, 1, 1), 1, 0.86395591951, 0.078979, (-3.110961, 2.089927)),
    ((0.75, 3, 1, 1), 2, 0.79822872328, 0.055361, (-3.867205, 2.384246)),
    ((0.5, 3, 1, 4), 1, 0.80118548317, 0.085265, (-2.735146, 2.481022)),
    ((0.75, 3, 4, 1), 1, 0.84242953294, 0.066034, (-3.665200, 2.188411)),
]
SOLVERS = {"pdd": transport.optimal_pdd, "pdi": transport.optimal_pdi}


# Finite models


def kernel_program(joint, table, D, kind):
    """The least accuracy by the linear program over all kernels, with probabilities as variables."""
    (n, m), K = joint.shape, table.shape[1]
    groups = m if kind == "pdd" else 1
    size = n * groups * K
    rows = []
    for k in range(K):
        for j in range(m):
            row = np.zeros((n, groups, K))
            row[:, j if groups > 1 else 0, k] = joint[:, j]
            rows.append(np.concatenate([row.ravel(), -np.eye(K)[k]]))
    budget = np.zeros((n, groups, K))
    for j in range(m):
        budget[:, j if groups > 1 else 0] += joint[:, [j]] * table
    rows.append(np.concatenate([budget.ravel(), np.zeros(K)]))
    equal = np.hstack([np.kron(np.eye(n * groups), np.ones((1, K))), np.zeros((n * groups, K))])
    result = linprog(
        np.concatenate([np.zeros(size), np.ones(K)]),
        A_ub=np.array(rows),
        b_ub=np.append(np.zeros(K * m), D),
        A_eq=equal,
        b_eq=np.ones(n * groups),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0, result.message
    return result.fun


def random_problem(seed):
    """A model of up to 8 letters and 3 private values, one of three distortions, and a budget from 0 to too much."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 9), rng.integers(2, 4)
    joint = rng.dirichlet(np.full(n * m, rng.choice([0.1, 0.5, 1, 3]))).reshape(n, m)
    joint[joint < 1e-6] = 0  # cells that the oracle's tolerance cannot tell from nothing
    if rng.random() < 0.4:
        joint[rng.random((n, m)) < 0.3] = 0
    joint = joint / joint.sum() if joint.sum() > 0 else np.eye(n, m) / min(n, m)
    distortion = rng.choice(["hamming", "squared", "table"])
    points = rng.normal(size=(n, rng.integers(1, 3))) if distortion == "squared" else None
    if distortion == "table":
        distortion = table = rng.random((n, rng.integers(1, 11)))
        table[rng.random(table.shape) < rng.choice([0, 0.3])] = 0
    elif distortion == "squared":
        table = ((points[:, None] - points) ** 2).sum(axis=-1)
    else:
        table = 1 - np.eye(n)
    model = FiniteModel(joint, points)
    least = float(model.p_x @ table.min(axis=1))
    D = least + rng.choice([0, 1e-3, 0.1, 0.3, 1, 30]) * rng.random() * table.mean()
    return model, distortion, table, D


def check_random_problem(seed):
    model, distortion, table, D = random_problem(seed)
    for kind, solve in SOLVERS.items():
        found = solve(model, D, distortion)
        # What issue 16 asks for. The oracle's own tolerance is 1e-10, on rows that are divided by nothing.
        assert found.value == pytest.approx(kernel_program(model.joint, table, D, kind), abs=1e-9)
        assert found.gap <= 1e-9
        assert found.distortion <= D * (1 + 1e-12) + 1e-15
        assert found.value == leakage.map_accuracy(model, found.mechanism)
        assert found.distortion == found.mechanism.distortion(model, table)
        if kind == "pdi":
            assert np.ptp(found.mechanism.kernel, axis=1).max() == 0


@pytest.mark.parametrize("seed", range(40))
def test_finite_problems_agree_with_the_program_over_all_kernels(seed):
    check_random_problem(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40, 1000, 96))
def test_a_thousand_finite_problems_agree_with_the_program_over_all_kernels(block):
    for seed in range(block, block + 96):
        check_random_problem(seed)


@pytest.mark.parametrize("kind", SOLVERS)
def test_bits_have_the_closed_forms(kind):
    rng = np.random.default_rng(1)
    for _ in range(20):
        model, D = BinaryModel(rng.dirichlet(np.ones(4)).reshape(2, 2)), rng.uniform(0, 0.3)
        exact = getattr(binary, f"optimal_{kind}")(model, D)
        assert SOLVERS[kind](model, D) == exact
        assert SOLVERS[kind](FiniteModel(model.joint), D).value == pytest.approx(exact.value, abs=1e-12)


def test_midpoints_that_may_be_released_double_the_slope():
    model, table = BinaryModel.xor(0.5, 0.25), [[0, 1, 0.25], [1, 0, 0.25]]
    assert transport.optimal_pdd(model, 0.05).price == pytest.approx(1)
    assert transport.optimal_pdd(model, 0.05, table).price == pytest.approx(2)
    assert transport.optimal_pdd(model, 0.05, table).value == pytest.approx(0.75 - 0.1, abs=1e-12)


def test_three_letters_and_three_private_values_have_no_formula():
    model = FiniteModel(np.array([[3, 2, 1], [1, 4, 4], [3, 0, 2]]) / 20)
    assert transport.optimal_pdd(model, 0.15).value == pytest.approx(0.375, abs=1e-12)


@pytest.mark.parametrize("kind", SOLVERS)
@pytest.mark.parametrize("m", [2, 3])
def test_a_price_is_a_one_sided_difference(kind, m):
    rng = np.random.default_rng(m)
    model = FiniteModel(rng.dirichlet(np.ones(6 * m)).reshape(6, m), rng.normal(size=6))
    D, h = 0.3 * SOLVERS[kind](model, 1e6).distortion, 1e-7
    at = [SOLVERS[kind](model, D + step).value for step in (-h, 0, h)]
    price = SOLVERS[kind](model, D).price
    # Values are right to about 1e-15 here, so differences to 1e-8 of the price's unit.
    assert (at[1] - at[2]) / h - 1e-6 <= price <= (at[0] - at[1]) / h + 1e-6
    assert price > 0.01


def test_a_large_finite_model_goes_to_the_network_simplex_and_agrees_with_highs(monkeypatch):
    rng = np.random.default_rng(3)
    model = FiniteModel(rng.dirichlet(np.ones(120)).reshape(60, 2), rng.normal(size=(60, 2)))
    for kind, solve in SOLVERS.items():
        found = solve(model, 0.05)
        monkeypatch.setattr("gaplib._partial_transport.HIGHS_PAIRS", 10**9)
        exact = solve(model, 0.05)
        monkeypatch.undo()
        # HiGHS's tolerance on 3,600 variables; the gaps are confirmed by the dual solutions.
        assert found.value == pytest.approx(exact.value, abs=1e-9), kind
        assert max(found.gap, exact.gap) <= 1e-9


@pytest.mark.parametrize("kind", SOLVERS)
def test_a_curve_has_the_points_that_single_budgets_have(kind):
    rng = np.random.default_rng(4)
    model = FiniteModel(rng.dirichlet(np.ones(14)).reshape(7, 2), rng.normal(size=7))
    budgets = [0.3, 0, 0.01, 0.05, 10, 0.05]
    for D, found in zip(budgets, transport.trade_off(model, budgets, kind), strict=True):
        assert found.value == pytest.approx(SOLVERS[kind](model, D).value, abs=1e-12)
        assert found.distortion <= D + 1e-15


def test_a_finite_kernel_is_measured_and_released_as_it_says():
    kernel = FiniteKernel([[[0.5, 0.25, 0.25], [1, 0, 0]], [[0, 1, 0], [0.1, 0.2, 0.7]]])
    model = FiniteModel([[0.4, 0.1], [0.2, 0.3]])
    table = [[0, 1, 2], [3, 0, 0.5]]
    assert kernel.distortion(model, table) == pytest.approx(0.4 * (0.25 + 0.5) + 0.3 * (0.3 + 0.35))
    assert kernel.released(model).sum(axis=0) == pytest.approx(model.p_y)
    n = 200_000
    x, y = model.sample(n, seed=0)
    z = kernel.privatize(x, y, seed=0)
    counts = np.zeros((3, 2))
    np.add.at(counts, (z, y), 1 / n)
    assert counts == pytest.approx(kernel.released(model), abs=5 * 0.5 / math.sqrt(n))  # five standard errors
    assert leakage.map_accuracy(model, kernel) == kernel.released(model).max(axis=1).sum()
    for measure in (leakage.mutual_information, leakage.mmse):
        assert 0 < measure(model, kernel) < math.log(2)


def test_a_finite_model_of_a_sample_has_its_frequencies():
    model = FiniteModel.from_sample([0, 2, 2, 1], [0, 1, 1, 2], points=[0.0, 1, 5, 7])
    assert model.joint.tolist() == [[0.25, 0, 0], [0, 0, 0.25], [0, 0.5, 0], [0, 0, 0]]
    assert model.points.tolist() == [[0], [1], [5], [7]]


# The line, Y seen


@pytest.mark.parametrize("mixture, D, value, price, inner", LINE)
def test_the_line_has_the_known_values(mixture, D, value, price, inner):
    model = GaussianMixture(*mixture)
    found = transport.optimal_pdd(model, D)
    assert found.value == pytest.approx(value, abs=6e-12)  # half a unit of the last digit of the table
    assert found.price == pytest.approx(price, abs=6e-7)
    ends = min(found.mechanism.intervals, key=lambda pair: abs(sum(pair)))
    assert ends == pytest.approx(inner, abs=6e-7)
    assert found.gap == 0
    assert found.distortion == pytest.approx(D, rel=1e-12)
    assert leakage.map_accuracy(model, found.mechanism) == pytest.approx(found.value, abs=1e-14)


def second_solver(model, D):
    """The least accuracy by quadrature and root finding in SciPy; for two crossings the best split of D."""
    a, b = norm(-model.mu, math.sqrt(model.var0)), norm(model.mu, math.sqrt(model.var1))
    p0, p1 = model.p_y

    def difference(x):  # of the two masses to the left of x
        return p0 * a.cdf(x) - p1 * b.cdf(x)

    grid = np.linspace(-40, 40, 80_000)  # no crossing lies on a point of it
    sign = np.sign(p0 * a.pdf(grid) - p1 * b.pdf(grid))
    at = np.flatnonzero(sign[:-1] * sign[1:] < 0)
    roots = [brentq(lambda x: p0 * a.pdf(x) - p1 * b.pdf(x), grid[i], grid[i + 1], xtol=1e-14) for i in at]
    roots = [x for x in roots if abs(difference(x) - difference(40)) > 1e-9 and abs(difference(x)) > 1e-9]

    def cost(root, level):
        """What it costs to use both up around the crossing, where the difference is beyond `level`."""
        up = difference(root) > level
        reach = 1e-12
        while (difference(root - reach) > level) == up and root - reach > -39:
            reach *= 2
        low = brentq(lambda x: difference(x) - level, root - reach, root, xtol=1e-14)
        reach = 1e-12
        while (difference(root + reach) > level) == up and root + reach < 39:
            reach *= 2
        high = brentq(lambda x: difference(x) - level, root, root + reach, xtol=1e-14)

        def integrand(x):
            mass = p0 * a.cdf(x) - level
            y = b.ppf(min(max(mass / p1, 0), 1))
            return p0 * a.pdf(x) * (y - x) ** 2 / 2

        return quad(integrand, low, high, epsabs=1e-13, epsrel=1e-12, limit=500)[0]

    def level_for(root, budget):
        peak, end = difference(root), 0.0 if difference(root) < 0 else max(p0 - p1, 0)
        low, high = sorted((peak + 1e-9 * (end - peak), end + 1e-6 * (peak - end)))
        return brentq(lambda level: cost(root, level) - budget, low, high, xtol=1e-15, rtol=1e-14)

    if len(roots) == 1:
        return p1 + level_for(roots[0], D)

    def accuracy(share):
        first, second = (level_for(x, D * s) for x, s in zip(roots, (share, 1 - share), strict=True))
        return p1 + second - first if model.var1 > model.var0 else p0 + first - second

    return minimize_scalar(
        accuracy, bounds=(1e-3, 1 - 1e-3), method="bounded", options={"xatol": 1e-5}
    ).fun  # flat there


@pytest.mark.parametrize(
    "mixture, D", [((0.5, 1, 1, 1), 0.1), ((0.5, 1, 1, 1), 0.5), ((0.3, 2, 1, 1), 0.4), ((0.75, 3, 1, 1), 2)]
)
def test_one_crossing_agrees_with_a_second_solver(mixture, D):
    model = GaussianMixture(*mixture)
    assert transport.optimal_pdd(model, D).value == pytest.approx(second_solver(model, D), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("mixture, D", [((0.5, 0, 1, 4), 0.05), ((0.5, 0.5, 1, 9), 0.2)])
def test_two_crossings_agree_with_the_best_split_of_the_budget(mixture, D):
    # Nothing about a common chain cost goes into the second solver: it tries all divisions of the budget.
    model = GaussianMixture(*mixture)
    assert transport.optimal_pdd(model, D).value == pytest.approx(second_solver(model, D), abs=1e-9)


def cell_program(model, D, cells, bound):
    """A bound of the least accuracy by a program between cells whose costs are those of `bound` of the distances."""
    ot = pot()
    sds = np.sqrt(model.variances)
    edges = np.linspace((model.means - 8 * sds).min(), (model.means + 8 * sds).max(), cells + 1)
    masses = [p * np.diff(norm(m, s).cdf(edges)) for p, m, s in zip(model.p_y, model.means, sds, strict=True)]
    apart = abs(edges[:-1, None] - edges[None, :-1])
    width = edges[1] - edges[0]
    cost = (apart + width) ** 2 / 2 if bound == "above" else np.maximum(apart - width, 0) ** 2 / 2
    if bound == "above":
        np.fill_diagonal(cost, 0)  # records in one cell are matched where they are, as far as the densities overlap
        overlap = np.zeros(cells)
        for i in range(cells):  # from below: the overlap by the smaller density at the ends and crossings is concave
            x = np.linspace(edges[i], edges[i + 1], 9)
            both = [p * norm(m, s).pdf(x) for p, m, s in zip(model.p_y, model.means, sds, strict=True)]
            overlap[i] = np.minimum(*both).min() * width
        masses = [np.maximum(mass - overlap, 0) for mass in masses]
        cost[np.diag_indices(cells)] = width**2 / 2
        offset = overlap.sum()
    else:
        offset = 0.0
    best = []
    for price in np.geomspace(1e-3, 10, 40):
        a, b = np.append(masses[0], masses[1].sum()), np.append(masses[1], masses[0].sum())
        table = np.full((cells + 1, cells + 1), 0.5)
        table[:-1, :-1] = np.minimum(price * cost, 1)
        table[-1, -1] = 0
        plan = ot.lp.emd(a, b, table, numItermax=10**7, check_marginals=False)[:-1, :-1]
        plan = np.where(price * cost < 1, plan, 0)
        best.append((float((plan * cost).sum()), float(plan.sum()), price))
    if bound == "below":  # weak duality at every price
        return 1 - min(mass - price * spent + price * D for spent, mass, price in best)
    within = [(spent, mass) for spent, mass, _ in best if spent <= D]
    return 1 - offset - max(mass for _, mass in within)


@pytest.mark.slow
@pytest.mark.parametrize("mixture, D", [((0.5, 1, 1, 1), 0.1), ((0.5, 3, 1, 4), 1)])
def test_programs_on_finer_grids_close_in_on_the_line(mixture, D):
    model = GaussianMixture(*mixture)
    value = transport.optimal_pdd(model, D).value
    widths = []
    for cells in (50, 100, 200):
        low, high = cell_program(model, D, cells, "below"), cell_program(model, D, cells, "above")
        assert low <= value <= high
        widths.append(high - low)
    assert widths[2] < 0.6 * widths[0]


@pytest.mark.parametrize(
    "mixture, D", [((0.5, 3, 1, 1), 3), ((0.75, 3, 4, 1), 1), ((0.5, 0, 1, 4), 0.1), ((0.2, 1, 1, 3), 0.1)]
)
def test_potentials_prove_the_map_optimal(mixture, D):
    """Weak duality: u + v >= K - c for all pairs, and u and v cost what the map hides."""
    model = GaussianMixture(*mixture)
    found = transport.optimal_pdd(model, D)
    K = 1 / found.price
    x = np.linspace(-40, 40, 400_001)
    moved = [np.zeros_like(x), np.zeros_like(x)]
    for y in (0, 1):
        release = found.mechanism.privatize(x, np.full(x.size, y), seed=0)
        moved[y] = 2 * (release - x)  # partner less record
    densities = [
        p * norm(m, math.sqrt(s)).pdf(x) for p, m, s in zip(model.p_y, model.means, model.variances, strict=True)
    ]
    # Outside the intervals u is 0 where there is more of Y=0, and K elsewhere; inside its slope is the move.
    step = x[1] - x[0]
    u = np.where(densities[0] > densities[1], 0.0, K)
    v = K - u
    for low, high in found.mechanism.intervals:
        inside = (low < x) & (x < high)
        for potential, move in ((u, moved[0]), (v, moved[1])):
            start = potential[np.flatnonzero(inside)[0] - 1]
            potential[inside] = start + np.cumsum(move[inside]) * step
    some = slice(None, None, 400)
    cost = (x[some, None] - x[None, some]) ** 2 / 2
    # Sums over a grid of step 2e-4 with moves up to 20 are right to a few thousandths.
    assert (u[some, None] + v[None, some] - K + cost).min() > -5e-3
    dual = (D + (u * densities[0]).sum() * step + (v * densities[1]).sum() * step) / K
    assert 1 - dual == pytest.approx(found.value, abs=1e-4)


@pytest.mark.parametrize("mixture, D", [((0.5, 3, 1, 1), 2), ((0.75, 3, 4, 1), 1), ((0.01, 1, 9, 1), 0.02)])
def test_the_price_on_the_line_is_the_slope(mixture, D):
    model, h = GaussianMixture(*mixture), 1e-3
    less, more = (transport.optimal_pdd(model, D + step).value for step in (-h * D, h * D))
    # A central difference errs by the square of the step.
    assert transport.optimal_pdd(model, D).price == pytest.approx((less - more) / (2 * h * D), rel=1e-5)


@pytest.mark.parametrize("mixture", [(0.5, 3, 1, 1), (0.75, 3, 1, 1), (0.5, 3, 1, 4), (0.75, 3, 4, 1), (0.75, 3, 1, 4)])
def test_the_line_saturates_at_the_prior(mixture):
    model = GaussianMixture(*mixture)
    last = transport.optimal_pdd(model, 1e6)
    assert last.value == max(model.p_y) and last.price == 0
    assert leakage.map_accuracy(model, last.mechanism) == pytest.approx(last.value, abs=1e-12)
    before = transport.optimal_pdd(model, last.distortion * (1 - 1e-6))
    assert last.value < before.value < last.value + 1e-6
    bound = min(model.p_y) * ((2 * model.mu) ** 2 + np.diff(np.sqrt(model.variances)) ** 2) / 2
    assert last.distortion <= bound * (1 + 1e-12)


def test_saturation_of_dataset_3_is_far_below_independence():
    model = GaussianMixture(0.75, 3, 1, 1)
    assert transport.optimal_pdd(model, 1e6).distortion == pytest.approx(3.0464, abs=5e-5)
    assert transport.independence_cost(model) == pytest.approx(6.75)


def test_the_price_jumps_to_zero_where_two_intervals_meet():
    model = GaussianMixture(0.75, 3, 1, 4)
    last = transport.optimal_pdd(model, 1e6)
    (_, first), (second, _) = last.mechanism.intervals
    assert first == pytest.approx(second, abs=1e-9)  # the root of an equation in both
    assert transport.optimal_pdd(model, last.distortion * (1 - 1e-9)).price > 0.001


def test_without_budget_nothing_moves():
    model = GaussianMixture(0.75, 3, 4, 1)
    for solve in SOLVERS.values():
        found = solve(model, 0)
        assert found.value == pytest.approx(gaussian.optimal_affine(model, 0).value, abs=1e-12)
        assert (found.distortion, found.price, found.gap) == (0, math.inf, 0)


def test_where_the_prior_decides_nothing_is_to_be_hidden():
    model = GaussianMixture(1e-6, 0.5, 1, 1)
    for solve in SOLVERS.values():
        found = solve(model, 0.1)
        assert found.value == pytest.approx(1 - 1e-6, abs=1e-12)
        assert (found.distortion, found.price) == (0, 0)


def random_mixture(rng):
    prior = min(max(1 / (1 + math.exp(-rng.uniform(-14, 14))), 1e-6), 1 - 1e-6) if rng.random() < 0.6 else 0.5
    ratio = rng.choice([10 ** rng.uniform(-4, 4), 1.0, 1 + 10 ** rng.uniform(-14, -2)])
    mu = rng.choice([0, 10 ** rng.uniform(-9, 2), 10 ** rng.uniform(-1, 2), 3])
    return GaussianMixture(prior, float(mu), 1.0, float(ratio))


def in_unit(model, unit):
    return GaussianMixture(model.prior, model.mu * unit, model.var0 * unit**2, model.var1 * unit**2)


@pytest.mark.parametrize("seed", range(25))
def test_far_from_the_paper_map_value_and_units_agree(seed):
    rng = np.random.default_rng(seed)
    model = random_mixture(rng)
    most = transport.optimal_pdd(model, 1e9)
    for D in (1e-12, most.distortion * 10 ** rng.uniform(-6, 0), most.distortion * (1 - 1e-9)):
        if D <= 1e-14:
            continue
        found = transport.optimal_pdd(model, D)
        assert leakage.map_accuracy(model, found.mechanism) == pytest.approx(found.value, abs=1e-12)
        # Moves of a tiny budget are differences of nearly equal numbers.
        assert found.distortion <= D * (1 + 1e-8)
        unit = 10 ** rng.uniform(-3, 3)
        other = transport.optimal_pdd(in_unit(model, unit), D * unit**2)
        assert other.value == pytest.approx(found.value, abs=1e-11)


def test_a_map_is_measured_for_other_models_too():
    own, other = GaussianMixture(0.5, 3, 1, 4), GaussianMixture(0.45, 2.8, 1.2, 3)
    found = transport.optimal_pdd(own, 3).mechanism
    z = np.linspace(-20, 25, 90_001)
    density = found.released(other, z)
    step = z[1] - z[0]
    assert density.sum() * step == pytest.approx(1, abs=1e-4)  # jumps at the ends of intervals cost a step each
    assert density.max(axis=1).sum() * step == pytest.approx(leakage.map_accuracy(other, found), abs=1e-4)
    x, y = other.sample(400_000, seed=1)
    squares = (found.privatize(x, y, seed=0) - x) ** 2
    assert squares.mean() == pytest.approx(found.distortion(other), abs=5 * squares.std() / 600)
    assert leakage.mutual_information(own, found) < leakage.mutual_information(own, TransportMap(own, []))


def test_released_densities_are_equal_inside_an_interval():
    model = GaussianMixture(0.75, 3, 1, 1)
    found = transport.optimal_pdd(model, 1).mechanism
    ((low, high),) = found.intervals
    inside = found.released(model, np.linspace(low, high, 50)[1:-1])
    assert inside[:, 0] == pytest.approx(inside[:, 1], rel=1e-12)


# The line, Y not seen


@pytest.mark.parametrize(
    "mixture, D, value",
    [
        ((0.5, 3, 1, 1), 1, 0.8530),
        ((0.5, 3, 1, 1), 3, 0.7190),
        ((0.5, 3, 1, 4), 1, 0.8136),
        ((0.5, 1, 1, 1), 0.1, 0.7624),
        ((0.5, 1, 1, 1), 0.5, 0.6459),
    ],
)
@pytest.mark.parametrize("gap", [5e-4, 1e-4])
def test_pdi_reaches_the_gap_and_the_known_values(mixture, D, value, gap):
    model = GaussianMixture(*mixture)
    found = transport.optimal_pdi(model, D, gap=gap)
    assert found.gap <= gap
    assert found.value - found.gap - 1e-4 <= value <= found.value + 1e-4  # four digits of programs on fine grids
    assert found.distortion <= D * (1 + 1e-12)
    assert leakage.map_accuracy(model, found.mechanism) == found.value
    assert found.value >= transport.optimal_pdd(model, D).value


@pytest.mark.parametrize("seed", range(12))
def test_pdi_bounds_hold_each_other_far_from_the_paper(seed):
    rng = np.random.default_rng(100 + seed)
    model = random_mixture(rng)
    D = max(transport.optimal_pdd(model, 1e9).distortion, 1e-6) * 10 ** rng.uniform(-4, 0)
    coarse, fine = (transport.optimal_pdi(model, D, gap=gap) for gap in (5e-4, 1e-4))
    assert coarse.gap <= 5e-4 and fine.gap <= 1e-4
    # The same optimum lies between both pairs of bounds.
    assert max(coarse.value - coarse.gap, fine.value - fine.gap) <= min(coarse.value, fine.value) + 1e-12
    assert max(coarse.distortion, fine.distortion) <= D * (1 + 1e-9)


def test_the_dual_bound_is_below_programs_on_grids():
    """Any mechanism on a grid is one on the line: a program over kernels between few cells and points is above."""
    model = GaussianMixture(0.5, 1, 1, 1)
    edges = np.concatenate([[-9], np.linspace(-4, 4, 41), [9]])
    sds = np.sqrt(model.variances)
    mass = np.stack(
        [p * np.diff(norm(m, s).cdf(edges)) for p, m, s in zip(model.p_y, model.means, sds, strict=True)], 1
    )
    middle = (edges[:-1] + edges[1:]) / 2
    table = np.empty((len(mass), len(mass)))
    for i, (low, high) in enumerate(pairwise(edges)):
        x = low + (high - low) * (np.polynomial.legendre.leggauss(12)[0] + 1) / 2
        weight = np.polynomial.legendre.leggauss(12)[1] * sum(
            p * norm(m, s).pdf(x) for p, m, s in zip(model.p_y, model.means, sds, strict=True)
        )
        table[i] = weight @ (x[:, None] - middle) ** 2 / weight.sum()
    np.fill_diagonal(table, 0)  # released as it is, which says at most as much as the accuracy within the cell
    D = 0.3
    crossing_cell = np.abs(middle).argmin()
    inside = mass[crossing_cell].max()
    above = kernel_program(mass / mass.sum(), table, D, "pdi") + inside
    found = transport.optimal_pdi(model, D, gap=1e-4)
    assert found.value - found.gap <= above


def test_a_pdi_price_is_about_the_slope():
    model = GaussianMixture(0.5, 3, 1, 1)
    found = transport.optimal_pdi(model, 2, gap=1e-4)
    less, more = (transport.optimal_pdi(model, 2 + step, gap=1e-4).value for step in (-0.3, 0.3))
    # Values within 1e-4 make a difference over .6 right to some ten thousandths, a price of cells to a few percent.
    assert found.price == pytest.approx((less - more) / 0.6, rel=0.06)


def test_a_pdi_curve_is_that_of_single_budgets():
    model, budgets = GaussianMixture(0.75, 3, 1, 4), [0, 2, 0.5, 50]
    for D, found in zip(budgets, transport.trade_off(model, budgets, "pdi"), strict=True):
        single = transport.optimal_pdi(model, D)
        assert found.gap <= 5e-4 and abs(found.value - single.value) <= 5e-4


def test_pdi_does_not_look_and_releases_as_it_says():
    model = GaussianMixture(0.5, 1, 1, 1)
    found = transport.optimal_pdi(model, 0.3).mechanism
    x, y = model.sample(400_000, seed=2)
    release = found.privatize(x, y, seed=0)
    assert (release == found.privatize(x, 1 - y, seed=0)).all()
    squares = (release - x) ** 2
    assert squares.mean() == pytest.approx(found.distortion(model), abs=5 * squares.std() / len(x) ** 0.5)
    points, masses = found.released(model)
    moved = np.isin(release, points)
    assert moved.mean() == pytest.approx(masses.sum(), abs=5 * 0.5 / len(x) ** 0.5)
    assert leakage.mutual_information(model, found) < leakage.mutual_information(model, TransportMap(model, []))


def test_a_piecewise_kernel_is_measured_by_hand():
    model = GaussianMixture(0.5, 1, 1, 1)
    kernel = PiecewiseKernel([-1, 0, 2], [0, 1, 1], [0.5, 0.5, 3], [1, 0.25, 0.5])
    a, b = norm(-1, 1), norm(1, 1)

    def density(x):
        return (a.pdf(x) + b.pdf(x)) / 2

    cost = quad(lambda x: (x - 0.5) ** 2 * density(x), -1, 0)[0]
    cost += quad(lambda x: (0.25 * (x - 0.5) ** 2 + 0.5 * (x - 3) ** 2) * density(x), 0, 2)[0]
    assert kernel.distortion(model) == pytest.approx(cost, rel=1e-12)
    left, right = ((law.cdf(0) - law.cdf(-1)) / 2 for law in (a, b)), [(law.cdf(2) - law.cdf(0)) / 2 for law in (a, b)]
    at_half = [one + 0.25 * other for one, other in zip(left, right, strict=True)]
    accuracy = a.cdf(-1) / 2 + 0.25 * right[1] + b.sf(2) / 2 + max(at_half) + 0.5 * max(right)
    assert leakage.map_accuracy(model, kernel) == pytest.approx(accuracy, rel=1e-14)


# Samples


def test_a_sample_agrees_with_pot_called_by_hand():
    ot = pot()
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.normal(size=(150, 2)), rng.normal(size=(120, 2)) + 1])
    y = np.repeat([0, 1], [150, 120])
    cost = ot.dist(x[:150], x[150:]) / 2
    weight = [np.full(150, 1 / 270), np.full(120, 1 / 270)]
    for mass in (0.1, 0.25, 0.4):
        plan = ot.partial.partial_wasserstein(*weight, cost, m=mass, numItermax=10**6)
        found = transport.of_sample(x, y, float((plan * cost).sum()))
        # `of_sample` stops within 1e-6.
        assert 1 - found.value == pytest.approx(mass, abs=2e-6)
        assert found.gap <= 1e-6 + 1e-12


def test_a_sample_on_the_line_is_a_finite_model():
    rng = np.random.default_rng(6)
    x, y = rng.integers(0, 5, 60), rng.integers(0, 2, 60)
    middles = np.unique((np.arange(5.0)[:, None] + np.arange(5)) / 2)
    model = FiniteModel.from_sample(x, y)
    table = (np.arange(5.0)[:, None] - middles) ** 2
    for D in (0, 0.05):  # records in one place are matched for nothing
        assert transport.of_sample(x, y, D).value == pytest.approx(
            transport.optimal_pdd(model, D, table).value, abs=2e-6
        )


def test_the_pairs_of_a_sample_are_a_mechanism_for_it():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(90, 3)), rng.integers(0, 2, 90)
    found = transport.of_sample(x, y, 0.1)
    plan = found.mechanism
    assert found.distortion == plan.distortion() and found.distortion == pytest.approx(0.1)
    assert (y[plan.pairs] == [0, 1]).all()
    assert np.bincount(plan.pairs.ravel(), np.repeat(plan.shares, 2)).max() <= 1 + 1e-12
    assert plan.shares.sum() / 90 == pytest.approx(1 - found.value, abs=1e-12)
    release = plan.privatize(seed=0)
    # All but the records that a mixture of two plans leaves to a coin move for certain.
    assert ((release - x) ** 2).sum(axis=1).mean() == pytest.approx(0.1, abs=0.03)


def test_a_sample_of_one_kind_has_nothing_to_hide():
    assert transport.of_sample([1.0, 2.0], [1, 1], 1).value == 1


def test_a_sample_is_measured_in_any_unit():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=80), rng.integers(0, 2, 80)
    found, other = transport.of_sample(x, y, 0.1), transport.of_sample(1e6 * x + 1e7, y, 1e11)
    assert other.value == pytest.approx(found.value, abs=2e-6)  # both stop within 1e-6
    assert other.price * 1e12 == pytest.approx(found.price, rel=1e-6)


def test_a_sample_that_does_not_fit_is_refused_with_the_largest_that_does(monkeypatch):
    monkeypatch.setattr(_sample_transport, "free_memory", lambda: 110 * 50 * 50)
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=110), np.repeat([0, 1], 55)
    with pytest.raises(ValueError, match=r"^x must have at most about 100 records .* got 110$"):
        transport.of_sample(x, y, 0.1)
    transport.of_sample(x[5:105], y[5:105], 0.1)


@pytest.mark.parametrize("model", [GaussianMixture(0.5, 1, 1, 1), BinaryModel.xor(0.5, 0.2), FiniteModel([[0.5, 0.5]])])
@pytest.mark.parametrize(
    "measure", [leakage.map_accuracy, leakage.mutual_information, leakage.mmse], ids=lambda measure: measure.__name__
)
def test_the_leakage_of_what_is_done_to_a_sample_is_its_value_and_of_no_model(model, measure):
    plan = transport.of_sample([0.0, 1, 2, 3], [0, 1, 0, 1], 0.1).mechanism
    with pytest.raises(
        TypeError, match=r"^mechanism must be .*, got a SamplePlan, .*; its accuracy is the value of the"
    ):
        measure(model, plan)


# Independence


def test_gelbrich_is_below_the_cost_of_independence():
    rng = np.random.default_rng(10)
    for _ in range(20):
        n, d = rng.integers(4, 12), rng.integers(1, 4)
        model = FiniteModel(rng.dirichlet(np.ones(2 * n)).reshape(n, 2), rng.normal(size=(n, d)))
        law = model.joint / model.p_y
        means = law.T @ model.points
        off = model.points - means[:, None]
        covariances = np.einsum("nj,jna,jnb->jab", law, off, off)
        bound = transport.gelbrich_bound(model.p_y[1], means, covariances)
        assert bound <= transport.independence_cost(model) + 1e-12


def test_gelbrich_is_the_cost_within_one_elliptical_family():
    for mixture in ((0.5, 3, 1, 4), (0.2, 0.7, 9, 0.5)):
        model = GaussianMixture(*mixture)
        bound = transport.gelbrich_bound(model.prior, model.means[:, None], model.variances[:, None, None])
        assert bound == pytest.approx(transport.independence_cost(model), rel=1e-12)
    # A cloud and its affine image by a symmetric positive matrix, which is the optimal map.
    rng = np.random.default_rng(11)
    cloud = rng.normal(size=(40, 2))
    matrix, shift = np.array([[2, 0.5], [0.5, 1]]), [1, -2]
    image = cloud @ matrix + shift
    joint = np.zeros((80, 2))
    joint[:40, 0], joint[40:, 1] = 0.3 / 40, 0.7 / 40
    model = FiniteModel(joint, np.concatenate([cloud, image]))
    moments = [np.cov(points.T, bias=True) for points in (cloud, image)]
    bound = transport.gelbrich_bound(0.7, [cloud.mean(axis=0), image.mean(axis=0)], moments)
    assert transport.independence_cost(model) == pytest.approx(bound, rel=1e-9)


# Bad input and imports

BIT = FiniteModel([[0.25, 0.25], [0.1, 0.4]], [0, 1])
MIXTURE = GaussianMixture(0.5, 3, 1, 1)
MAP, CELLS = TransportMap(MIXTURE, [(-2, 2)]), PiecewiseKernel([-1, 0, 1], [0, 1], [0, 0], [1, 1])
KERNEL = FiniteKernel(np.full((2, 2, 2), 0.5))
BAD = (None, "text", object(), float("nan"), -1, 1.5, True, [[1], [1, 2]], [0.5, -1], 10**400)
RECORDS = dict(x=[0, 1, 1, 0], y=[0, 1, 1, 0])
CALLS = {
    FiniteModel: dict(joint=[[0.25, 0.25], [0.1, 0.4]], points=[0, 1]),
    FiniteModel.from_sample: RECORDS | dict(points=[1.0, 2.0]),
    BIT.sample: dict(n=10, seed=0),
    FiniteKernel: dict(kernel=np.full((2, 2, 2), 0.5)),
    KERNEL.distortion: dict(model=BIT, distortion="hamming"),
    KERNEL.released: dict(model=BIT),
    KERNEL.privatize: RECORDS | dict(seed=0),
    TransportMap: dict(model=MIXTURE, intervals=[(-2, 2)]),
    MAP.distortion: dict(model=MIXTURE),
    MAP.released: dict(model=MIXTURE, z=[0.0, 1.0]),
    MAP.privatize: RECORDS | dict(seed=0),
    PiecewiseKernel: dict(edges=[-1, 0, 1], cells=[0, 1], points=[0, 0], probabilities=[1, 1]),
    CELLS.distortion: dict(model=MIXTURE),
    CELLS.released: dict(model=MIXTURE),
    CELLS.privatize: RECORDS | dict(seed=0),
    transport.optimal_pdd: dict(model=BIT, D=0.1, distortion="squared"),
    transport.optimal_pdi: dict(model=BIT, D=0.1, distortion="squared", gap=1e-3),
    transport.trade_off: dict(model=BIT, budgets=[0.1], kind="pdi", distortion="hamming", gap=1e-3),
    transport.of_sample: RECORDS | dict(D=0.1),
    transport.independence_cost: dict(model=BIT),
    transport.gelbrich_bound: dict(prior=0.5, means=[[0, 0], [1, 1]], covariances=[np.eye(2), np.eye(2)]),
}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__qualname__)
def test_bad_input_is_refused_by_name(call):
    call(**CALLS[call])
    for name in CALLS[call]:
        refused = 0
        for bad in BAD:
            try:
                call(**CALLS[call] | {name: bad})
            except (TypeError, ValueError) as error:
                assert name in str(error), f"{name}={bad!r}: {error}"
                refused += 1
        assert refused >= 2, f"{name} is taken whatever it is"


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: transport.optimal_pdd(BIT, 0.1, [[1.0, 2], [1, 2]]), r"^D must be at least 1, .* got 0.1"),
        (lambda: transport.optimal_pdd(MIXTURE, 1, "hamming"), "^distortion must be 'squared' for a GaussianMixture"),
        (
            lambda: transport.optimal_pdi(FiniteModel(BIT.joint), 1, "squared"),
            "^distortion must be 'hamming' or a table",
        ),
        (lambda: transport.of_sample([0.0, 1, 2], [0, 1, 2], 1), "^y must hold only 0 and 1, because the theorem"),
        (lambda: transport.independence_cost(FiniteModel([[0.5, 0.25, 0.25]], [0])), "private bit, as the theorem"),
        (lambda: TransportMap(MIXTURE, [(-2, 1)]), "^intervals must hold the same mass of both Y"),
        (lambda: TransportMap(MIXTURE, [(-2, 2), (1, 3)]), "^intervals must be pairs .* from left to right"),
        (lambda: PiecewiseKernel([0, 1], [0, 0], [0, 1], [0.6, 0.6]), "^probabilities must sum to at most one"),
        (lambda: FiniteKernel([[[0.5, 0.4]]]), "^kernel must sum to one"),
        (lambda: FiniteModel([[0.5], [0.5]]), "^joint must have a column for each of at least two"),
    ],
)
def test_what_does_not_fit_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_mechanisms_and_models_must_fit():
    for model, mechanism in ((BIT, MAP), (MIXTURE, KERNEL), (BIT, CELLS), (BinaryModel(BIT.joint), CELLS)):
        with pytest.raises(TypeError):
            leakage.map_accuracy(model, mechanism)
    three = FiniteModel([[0.5, 0.25, 0.25]])
    with pytest.raises(TypeError, match="private bit"):
        leakage.mmse(three, FiniteKernel(np.ones((1, 3, 1))))


def test_no_framework_is_loaded():
    code = """
import sys
from gaplib import transport
from gaplib.models import GaussianMixture
light = [name for name in ("ot", "scipy.optimize", "scipy.sparse") if name in sys.modules]
transport.optimal_pdi(GaussianMixture(.5, 3, 1, 1), 1)
print(light, "ot" in sys.modules, [name for name in ("tensorflow", "torch", "jax", "cupy") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "[] True []"
