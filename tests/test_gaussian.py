"""Optimal mechanisms of the Gaussian mixture, each against a search that knows none of the theorems."""

import math
import time

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize

from gaplib import gaussian, leakage
from gaplib._normals import TwoNormals
from gaplib.book import paper
from gaplib.mechanisms import AffineGaussian
from gaplib.models import BinaryModel, GaussianMixture

ROWS = [(row["dataset"], row["D"]) for number in (2, 3, 4, 5) for row in paper.table(number)]
CLOSED_FORMS = (gaussian.optimal_pdi, gaussian.optimal_shift, gaussian.optimal_shift_noise)


def random_models(count, seed, equal=False):
    """Models with priors to 1e-6 from 0 and 1; budgets of all sizes, close to the full merge and past it."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        prior = rng.choice([rng.uniform(0.01, 0.99), 10 ** rng.uniform(-6, -1), 1 - 10 ** rng.uniform(-6, -1), 0.5])
        var0, var1 = 10 ** rng.uniform(-2, 2, 2)
        mu = rng.choice([10 ** rng.uniform(-1.5, 1.5), 10 ** rng.uniform(1, 3), 0.0], p=[0.8, 0.1, 0.1])
        model = GaussianMixture(float(prior), float(mu), float(var0), float(var0 if equal else var1))
        of_merge = rng.choice([rng.uniform(0.001, 1.05), 1 - 10 ** rng.uniform(-6, -1)])
        yield model, float(merge(model) * of_merge)


def merge(model):
    """The least distortion that makes the two released distributions equal."""
    p, excess = model.prior, model.var0 - model.var1
    return 4 * model.mu**2 * p * (1 - p) + p * max(excess, 0) + (1 - p) * max(-excess, 0)


def best_of_many_starts(model, D, mechanism_of, unknowns, seed):
    """The least accuracy that a general optimizer finds from several starts; all unknowns in [-1, 1]."""
    rng = np.random.default_rng(seed)

    def accuracy(v):
        return leakage.map_accuracy(model, mechanism_of(v))

    found = []
    for start in rng.uniform(-1, 1, (6, unknowns)):
        run = minimize(accuracy, start, method="Nelder-Mead", bounds=[(-1, 1)] * unknowns)
        # A second run from the end of the first: the simplex may have collapsed.
        run = minimize(accuracy, run.x, method="Nelder-Mead", bounds=[(-1, 1)] * unknowns, options={"xatol": 1e-11})
        found.append(run.fun)
    return min(found)


def pdi(model, D):
    """All X + beta + gamma N with distortion at most D: the angle of (beta, gamma), and its length."""

    def mechanism(v):
        angle, radius = math.pi / 2 * (1 + v[0]), math.sqrt(D) * (1 + v[1]) / 2
        beta, gamma = radius * math.cos(angle), radius * math.sin(angle)
        return AffineGaussian(beta, -beta, max(gamma, 0), max(gamma, 0))

    return mechanism


def shift(model, D):
    def mechanism(v):
        angle, radius = math.pi / 4 * (1 + v[0]), math.sqrt(D) * (1 + v[1]) / 2
        beta0 = radius * math.cos(angle) / math.sqrt(1 - model.prior)
        return AffineGaussian(beta0, radius * math.sin(angle) / math.sqrt(model.prior), 0, 0)

    return mechanism


def shift_noise(model, D):
    def mechanism(v):
        angle, tilt, radius = math.pi / 4 * (1 + v[0]), math.pi / 4 * (1 + v[1]), math.sqrt(D) * (1 + v[2]) / 2
        gamma, size = radius * max(math.sin(tilt), 0), radius * math.cos(tilt)
        beta0 = size * math.cos(angle) / math.sqrt(1 - model.prior)
        return AffineGaussian(beta0, size * math.sin(angle) / math.sqrt(model.prior), gamma, gamma)

    return mechanism


@pytest.mark.parametrize(
    "solver, family, unknowns",
    [
        (gaussian.optimal_pdi, pdi, 2),
        (gaussian.optimal_shift, shift, 2),
        (gaussian.optimal_shift_noise, shift_noise, 3),
    ],
    ids=["pdi", "shift", "shift_noise"],
)
def test_closed_forms_against_a_general_optimizer(solver, family, unknowns):
    # Budgets in all three regimes of Theorem 4, both priors, and past the merge.
    for dataset, D in [(1, 0.1), (1, 3), (1, 8), (1, 10), (3, 0.2), (3, 3), (3, 6), (3, 7)]:
        model = paper.DATASETS[dataset]
        optimum = solver(model, D)
        best = best_of_many_starts(model, D, family(model, D), unknowns, seed=dataset)
        # The bar. The optimizer's unknowns are good to 1e-11, and the accuracy's slopes are below ten.
        assert optimum.value == pytest.approx(best, abs=1e-10)


def test_closed_forms_on_random_models():
    for model, D in random_models(200, seed=0, equal=True):
        c, M = model.prior * (1 - model.prior), 4 * model.mu**2 * model.prior * (1 - model.prior)
        values = [solver(model, D) for solver in CLOSED_FORMS]
        betas = np.linspace(0, min(2 * model.mu, math.sqrt(D / c)), 2001)
        left = np.maximum(D - c * betas**2, 0)
        variances = model.var0 + left, model.var0 + left
        on_grid = TwoNormals(model.prior, 2 * model.mu - betas, *variances).map_accuracy()
        # The closed form is no worse than any point of the grid, up to rounding.
        assert values[2].value <= on_grid.min() + 1e-14
        assert values[2].value <= min(values[0].value, values[1].value) + 1e-14
        for optimum in values:
            assert optimum.distortion <= D * (1 + 1e-12)
            assert leakage.map_accuracy(model, optimum.mechanism) == optimum.value
        if D >= M:
            assert values[1].value == values[2].value == max(model.prior, 1 - model.prior)


def test_theorem_2_puts_all_of_the_budget_in_the_noise():
    optimum = gaussian.optimal_pdi(paper.DATASETS[3], 4)
    assert optimum.mechanism == AffineGaussian(0, 0, 2, 2) and optimum.distortion == 4


def test_theorem_3_divides_the_shift_by_the_priors():
    mechanism = gaussian.optimal_shift(paper.DATASETS[3], 3).mechanism
    assert mechanism.beta0 == pytest.approx(math.sqrt(0.75 * 3 / 0.25), rel=1e-15)
    assert mechanism.beta1 == pytest.approx(math.sqrt(0.25 * 3 / 0.75), rel=1e-15)


def test_past_the_merge_the_printed_theorem_3_turns_over_and_ours_does_not():
    optimum = gaussian.optimal_shift(paper.DATASETS[1], 10)
    assert optimum.value == 0.5 and optimum.distortion == 9
    stated = AffineGaussian(math.sqrt(10), math.sqrt(10), 0, 0)
    assert leakage.map_accuracy(paper.DATASETS[1], stated) == pytest.approx(0.56446, abs=5e-6)  # all digits known


@pytest.mark.parametrize("dataset, ends", [(1, (0.145898, 6.854102)), (3, (0.220789, 4.529211))])
def test_theorem_4_uses_noise_only_between_two_budgets(dataset, ends):
    for D, noisy in [(ends[0] - 1e-5, False), (ends[0] + 1e-5, True), (ends[1] - 1e-5, True), (ends[1] + 1e-5, False)]:
        assert (gaussian.optimal_shift_noise(paper.DATASETS[dataset], D).mechanism.gamma0 > 0) == noisy


def dense_search(model, D, loss, size=301):
    """The least leakage on a dense grid over both noises; the shift takes what they leave of the budget."""
    p, c = model.prior, model.prior * (1 - model.prior)
    least = max(D - 4 * model.mu**2 * c, 0)  # the shift cannot use more
    fine = np.concatenate([[0], np.geomspace(1e-9, 1, size)])
    noises = np.unique(np.concatenate([least + (D - least) * fine, np.linspace(least, D, size)]))
    fraction1 = np.unique(np.concatenate([fine / 2, 1 - fine / 2, np.linspace(0, 1, size)]))
    best = math.inf
    for rows in np.array_split(noises, max(1, noises.size // 20)):
        noise = rows[:, np.newaxis]
        gap = (4 * model.mu**2 * c - (D - noise)) / c
        gap = gap / (2 * model.mu + np.sqrt(np.maximum(D - noise, 0) / c)) if model.mu > 0 else 0 * gap
        var0, var1 = model.var0 + (1 - fraction1) * noise / (1 - p), model.var1 + fraction1 * noise / p
        normals = TwoNormals(p, gap, var0, var1)
        value = normals.map_accuracy() if loss == "0-1" else -normals.conditional_entropy(points=10)
        best = min(best, float(value.min()))
    return best if loss == "0-1" else best - p * math.log(p) - (1 - p) * math.log(1 - p)


@pytest.mark.parametrize("dataset, D", ROWS)
def test_no_point_of_a_dense_grid_beats_the_affine_optimum(dataset, D):
    model = paper.DATASETS[dataset]
    optimum = gaussian.optimal_affine(model, D)
    grid = dense_search(model, D, "0-1")
    # Rounding of an accuracy; and the grid, 600 by 600, comes within the square of its step.
    assert optimum.value <= grid + 1e-14
    assert optimum.value == pytest.approx(grid, abs=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("dataset, D", ROWS)
def test_no_point_of_a_dense_grid_beats_the_log_loss_optimum(dataset, D):
    model = paper.DATASETS[dataset]
    optimum = gaussian.optimal_affine(model, D, "log")
    grid = dense_search(model, D, "log", 41)
    # The ten-point panels of the search miss by less than 1e-11.
    assert optimum.value <= grid + 1e-11
    assert optimum.value == pytest.approx(grid, abs=1e-3)  # the step of the grid, squared


@pytest.mark.slow
@pytest.mark.parametrize("loss, count, size", [("0-1", 150, 201), ("log", 40, 41)])
def test_no_point_of_a_dense_grid_beats_it_on_random_models(loss, count, size):
    for model, D in random_models(count, seed=1):
        optimum = gaussian.optimal_affine(model, D, loss)
        assert optimum.value <= dense_search(model, D, loss, size) + 1e-11, (model, D)
        assert optimum.distortion <= D * (1 + 1e-12)
        measure = leakage.map_accuracy if loss == "0-1" else leakage.mutual_information
        # Past saturation the value is stated, and the mechanism meets it up to the rounding of its parameters.
        assert optimum.value == pytest.approx(measure(model, optimum.mechanism), abs=1e-9)


@pytest.mark.parametrize("loss, measure", [("0-1", leakage.map_accuracy), ("log", leakage.mutual_information)])
def test_four_free_parameters_do_no_better(loss, measure):
    # All four parameters and no theorem at all; a general optimizer from several starts.
    for dataset, D in [(3, 1), (3, 3), (3, 4), (4, 6), (2, 5)]:
        model, p = paper.DATASETS[dataset], paper.DATASETS[dataset].prior
        weights = np.sqrt([1 - p, p, 1 - p, p])
        rng = np.random.default_rng(dataset * 10 + D)

        def leak(v, model=model, D=D, weights=weights):
            scale = math.sqrt(D) / max(np.linalg.norm(v), math.sqrt(D))
            b0, b1, g0, g1 = v * scale / weights
            return measure(model, AffineGaussian(b0, b1, abs(g0), abs(g1)))

        options = {"maxfev": 1000, "xatol": 1e-8, "fatol": 1e-12}
        best = min(
            minimize(leak, math.sqrt(D) * rng.normal(size=4), method="Nelder-Mead", options=options).fun
            for _ in range(8 if loss == "0-1" else 4)
        )
        optimum = gaussian.optimal_affine(model, D, loss)
        assert optimum.value <= best + 1e-12
        assert optimum.value == pytest.approx(best, abs=1e-6)  # what some starts of the simplex reach


@pytest.mark.parametrize(
    "dataset, values",
    [
        (1, [0.9693, 0.9214, 0.8682, 0.8145, 0.7602, 0.7035, 0.6384, 0.5681, 0.5000]),
        (2, [0.9105, 0.8539, 0.8011, 0.7513, 0.7043, 0.6599, 0.6184, 0.5802, 0.5455]),
        (3, [0.9630, 0.9176, 0.8647, 0.8022, 0.7502, 0.7500, 0.7500, 0.7500, 0.7500]),
        (4, [0.9328, 0.8891, 0.8481, 0.8120, 0.7824, 0.7606, 0.7500, 0.7500, 0.7500]),
    ],
)
def test_values_found_by_others(dataset, values):
    # Four digits of an earlier multi-start search.
    found = [gaussian.optimal_affine(paper.DATASETS[dataset], D).value for D in range(1, 10)]
    assert found == pytest.approx(values, abs=5.1e-5)


def test_the_paper_never_beats_the_optimum_but_where_its_table_is_wrong():
    for number in (2, 3, 4, 5):
        for row in paper.table(number):
            best = gaussian.optimal_affine(paper.DATASETS[row["dataset"]], row["D"]).value
            impossible = (row["dataset"], row["D"]) == (4, 6)
            # Four printed digits.
            assert (row["p_detect_theory"] < best - 1e-4) == impossible


@pytest.mark.parametrize("dataset, useless, merged", [(1, 9, 9), (2, 10.5, 10.5), (3, 5.02242, 6.75), (4, 6.87554, 9)])
def test_saturation(dataset, useless, merged):
    model = paper.DATASETS[dataset]
    for loss, distortion in (("0-1", useless), ("log", merged)):
        end = gaussian.optimal_affine(model, 1e6, loss)
        assert end.distortion == pytest.approx(distortion, abs=5.1e-6)  # six known digits
        assert end.price == 0 and end.value == (max(model.p_y) if loss == "0-1" else 0)
        # It is hidden there, and a smaller budget does not hide it.
        if loss == "0-1":
            assert leakage.map_accuracy(model, end.mechanism) == end.value
        assert leakage.mutual_information(model, end.mechanism) < 1e-15 or loss == "0-1"
        assert gaussian.optimal_affine(model, end.distortion * (1 - 1e-3), loss).value > end.value


def test_cheapest_useless_mechanism_on_random_models():
    # Witness: the discriminant condition on a dense grid over the two released variances. The first model needs
    # noise for both Y, the next ones have equal means and a frequent Y that is the narrower one.
    models = [GaussianMixture(0.33, 5.7, 1.4, 0.9)]
    models += [
        GaussianMixture(p, 0, v0, v1) for p, v0, v1 in [(0.25, 0.1, 2), (0.3, 1, 4), (0.1, 0.1, 4), (0.2, 0.3, 1)]
    ]
    both = gaussian.optimal_affine(models[0], 1e50).mechanism
    assert min(both.gamma0, both.gamma1) > 0
    for model in models + [model for model, _ in random_models(60, seed=2)]:
        end = gaussian.optimal_affine(model, 1e50)
        p, c = model.prior, model.prior * (1 - model.prior)
        noise0 = np.concatenate([[0], np.geomspace(1e-6, 1, 600) * merge(model) / (1 - p)])
        noise1 = np.concatenate([[0], np.geomspace(1e-6, 1, 600) * merge(model) / p])[:, np.newaxis]
        v0, v1 = model.var0 + noise0, model.var1 + noise1
        often, rare = (v1, v0) if p >= 0.5 else (v0, v1)
        room = (often - rare) * (2 * abs(math.log(p / (1 - p))) - np.log(often / rare))
        ok = (often >= rare) & (room >= 0)
        beta = np.maximum(2 * model.mu - np.sqrt(np.maximum(room, 0)), 0)
        cost = np.where(ok, c * beta**2 + (1 - p) * noise0 + p * noise1, math.inf)
        assert end.distortion <= min(cost.min(), merge(model)) * (1 + 1e-12)
        assert leakage.map_accuracy(model, end.mechanism) <= end.value + 1e-14  # at the edge, up to rounding


def cheapest_by_zooming(model, size=41, rounds=60):
    """The least distortion that hides Y, on a grid in extended precision over both noises, zoomed in on its best point.

    It stops at points that hide Y, so it is never below the least. The noises are counted from the least with which the
    condition of the theorem can hold.
    """
    p = np.longdouble(model.prior)
    rare, often = min(p, 1 - p), max(p, 1 - p)
    r0, f0 = (model.var0, model.var1) if model.prior >= 0.5 else (model.var1, model.var0)
    K = 2 * np.log1p((often - rare) / rare)
    least_r = max(r0, f0 * np.exp(-K))
    highest = [merge(model) / rare + r0, merge(model) / often + f0]
    lows, highs, best = [top * np.longdouble(10) ** -40 for top in highest], highest, math.inf
    for _ in range(rounds):
        axes = [np.append(0, np.exp(np.linspace(np.log(a), np.log(b), size))) for a, b in zip(lows, highs, strict=True)]
        r = (least_r + axes[0])[:, np.newaxis]
        f = np.maximum(f0, r) + axes[1]
        room = (f - r) * (K - np.log1p((f - r) / r))
        gap = np.sqrt(np.maximum(room, 0))
        cost = rare * often * np.maximum(2 * model.mu - gap, 0) ** 2 + rare * (r - r0) + often * (f - f0)
        cost = np.where(room >= 0, cost, math.inf)
        at = np.unravel_index(cost.argmin(), cost.shape)
        best = min(best, cost[at])
        lows = [axis[max(i - 2, 1)] for axis, i in zip(axes, at, strict=True)]
        highs = [axis[min(i + 2, size)] for axis, i in zip(axes, at, strict=True)]
    return float(best)


# At its kinks, where the narrower rare Y needs a little noise, or a little room, before anything is hidden.
KINKS = [
    (GaussianMixture(0.788821888661154, 0.003406343032827219, 394.1316672182581, 6556.279494340807), 15.998765834095),
    (GaussianMixture(0.9955835269425513, 0.009477889941982606, 1.3111441443880675e-4, 811.1865141383), 6.992144795e-5),
    (GaussianMixture(0.5000000001791779, 0.001785218017931156, 0.46751166207626715, 0.467511661406125), 3.18733844e-6),
    (GaussianMixture(0.0811225538433837, 0.403707334879677, 6192.6315179220455, 1.07007898120078), 3.8290833850539),
]


@pytest.mark.parametrize("model, distortion", KINKS)
def test_cheapest_useless_mechanism_at_a_kink(model, distortion):
    end = gaussian.optimal_affine(model, 1e50)
    assert end.distortion == pytest.approx(distortion, rel=1e-10)  # known to that many digits
    assert end.distortion <= cheapest_by_zooming(model) * (1 + 1e-12)
    assert leakage.map_accuracy(model, end.mechanism) <= end.value + 1e-15


def test_cheapest_useless_mechanism_against_a_grid_that_is_zoomed():
    rng = np.random.default_rng(6)
    found = 0
    for n in range(80):
        prior = rng.choice([rng.uniform(0.01, 0.99), 10 ** rng.uniform(-6, -1), 0.5 + 10 ** rng.uniform(-12, -2)])
        var0, var1 = 10 ** rng.uniform(-3, 3, 2)
        if n % 4 == 0:  # the ratio of the variances about where the narrower Y is likelier far out
            var1 = var0 * (prior / (1 - prior)) ** (2 * (1 + rng.normal() * 10 ** rng.uniform(-9, -1)))
        model = GaussianMixture(float(prior), float(10 ** rng.uniform(-4, 2)), float(var0), float(var1))
        end, grid = gaussian.optimal_affine(model, 1e50), cheapest_by_zooming(model)
        # Rounding: of the distortion, and of the variances, where a noise is the small difference of two of them.
        assert end.distortion <= grid * (1 + 1e-12) + 1e-15 * (model.p_y @ model.variances), model
        assert leakage.map_accuracy(model, end.mechanism) <= end.value + 1e-14, model
        found += end.distortion >= grid * (1 - 1e-9)
    assert found > 70  # the grid finds nearly every minimum


@pytest.mark.parametrize(
    "model, D, attainable",
    [
        # Far apart, and nearly merged: the last part of the budget is a hundred-millionth of it. Values of
        # known mechanisms, to eight digits.
        (GaussianMixture(0.5, 200, 1.1, 1), 39999.65, 0.50038037),
        (GaussianMixture(0.5, 500, 1.1, 1), 249999.05, 0.50038038),
        (GaussianMixture(0.5, 700, 4, 1), 490000.1, 0.50019947),
        (GaussianMixture(0.5, 1500, 4, 1), 2249998.5, 0.50019947),
    ],
)
def test_means_that_come_from_far(model, D, attainable):
    assert gaussian.optimal_affine(model, D).value <= attainable + 1e-8


@pytest.mark.parametrize("mu", [1e8, 1e17, 1e24])
def test_means_that_are_to_meet_do_meet(mu):
    for prior in (0.3, 0.5, 0.7):
        for solver in (gaussian.optimal_shift, gaussian.optimal_shift_noise):
            assert solver(GaussianMixture(prior, mu, 1, 1), min(4 * mu**2, 1e50)).value == max(prior, 1 - prior)


def exact_shift_value(model, D, with_noise):
    """Theorems 3 and 4 at sixty digits, of the very floats that are given."""
    with mpmath.workdps(60):
        p, mu, var, D = (mpmath.mpf(number) for number in (model.prior, model.mu, model.var0, D))
        c, noise = p * (1 - p), 0
        if D >= 4 * mu**2 * c:
            return float(max(p, 1 - p))
        beta = mpmath.sqrt(D / c)
        if with_noise and D + var < 2 * mu * c * beta:
            beta = (D + var) / (2 * mu * c)
            noise = D - c * beta**2
        distance, tilt = (2 * mu - beta) / mpmath.sqrt(var + noise), mpmath.log((1 - p) / p)
        sides = distance / 2 - tilt / distance, distance / 2 + tilt / distance
        return float(p * mpmath.ncdf(sides[0]) + (1 - p) * mpmath.ncdf(sides[1]))


def test_close_to_the_merge_the_value_is_right_or_refused():
    rng = np.random.default_rng(7)
    refused = 0
    for n in range(600):
        scale, sigma = 10 ** rng.uniform(0, 20), 10 ** rng.uniform(-2, 2)  # mu in standard deviations, and one of them
        p, mu = float(rng.choice([0.5, 0.75, rng.uniform(0.01, 0.99)])), float(scale * sigma)
        c = p * (1 - p)
        D = [
            4 * mu**2 * c * (1 + rng.integers(-6, 7) * 2.0**-53),  # the merge, but for rounding
            c * (2 * mu - 10 ** rng.uniform(-2, 1.2) * sigma) ** 2,  # means within some standard deviations
            4 * mu**2 * c * (1 - 10 ** rng.uniform(-16, 0)),
            max(4 * mu**2 * c - 10 ** rng.uniform(-3, 3) * sigma * mu, 0),
        ][n % 4]
        if D > 1e50:
            continue
        model = GaussianMixture(p, mu, float(sigma**2), float(sigma**2))
        for solver, with_noise in ((gaussian.optimal_shift, False), (gaussian.optimal_shift_noise, True)):
            try:
                value = solver(model, float(D)).value
            except ValueError as error:
                assert "floats can tell how far apart the two means are left" in str(error)
                assert scale > 1e6
                refused += 1
            else:
                assert value == pytest.approx(exact_shift_value(model, float(D), with_noise), abs=1e-9), (model, D)
    assert 0 < refused < 600


@pytest.mark.parametrize("loss", ["0-1", "log"])
def test_the_affine_optimum_close_to_the_merge_is_right_or_refused(loss):
    measure = TwoNormals.map_accuracy if loss == "0-1" else TwoNormals.conditional_entropy
    rng = np.random.default_rng(8)
    refused = 0
    for n in range(60):
        scale, p = 10 ** rng.uniform(2, 18), float(rng.choice([0.5, 0.75, 0.2]))
        model = GaussianMixture(p, float(scale), 1, float(rng.choice([1, 4, 0.1])))
        D = [merge(model) * (1 - rng.integers(1, 7) * 2.0**-53), merge(model) - scale * rng.uniform(0, 3)][n % 2]
        try:
            optimum = gaussian.optimal_affine(model, float(D), loss)
        except ValueError as error:
            assert "floats can tell how far apart the two means are left" in str(error)
            assert scale > 1e5
            refused += 1
            continue
        # The noises are taken as they are, and the shift is what they leave of the budget, in exact arithmetic.
        mechanism = optimum.mechanism
        noise0, noise1 = mechanism.gamma0**2, mechanism.gamma1**2
        with mpmath.workdps(60):
            left = mpmath.mpf(min(D, optimum.distortion)) - (1 - mpmath.mpf(p)) * noise0 - mpmath.mpf(p) * noise1
            gap = float(max(2 * mpmath.mpf(scale) - mpmath.sqrt(max(left, 0) / (p * (1 - mpmath.mpf(p)))), 0))
        exact = float(measure(TwoNormals(p, gap, model.var0 + noise0, model.var1 + noise1)))
        if loss == "log":
            exact = -p * math.log(p) - (1 - p) * math.log(1 - p) - exact
        assert optimum.value == pytest.approx(exact, abs=1e-9), (model, D)
    assert 0 < refused < 60


def test_past_the_merge_no_model_is_refused():
    for scale in 10.0 ** np.arange(0, 25, 3):
        for var1 in (1e-3, 1, 4):
            for prior in (0.2, 0.5, 0.75):
                model = GaussianMixture(prior, float(scale), 1, var1)
                for loss in ("0-1", "log"):
                    optimum = gaussian.optimal_affine(model, merge(model) * 1.001, loss)
                    measure = leakage.map_accuracy if loss == "0-1" else leakage.mutual_information
                    assert measure(model, optimum.mechanism) == pytest.approx(optimum.value, abs=1e-9)


@pytest.mark.parametrize("loss", ["0-1", "log"])
def test_limit_cases(loss):
    measure = leakage.map_accuracy if loss == "0-1" else leakage.mutual_information
    nothing = AffineGaussian(0, 0, 0, 0)
    for model in paper.DATASETS.values():
        assert gaussian.optimal_affine(model, 0, loss).value == measure(model, nothing)
        assert gaussian.optimal_affine(model, 0, loss).mechanism == nothing
    for prior in (1e-12, 1 - 1e-12):
        optimum = gaussian.optimal_affine(GaussianMixture(prior, 3, 4, 1), 1, loss)
        if loss == "0-1":
            assert optimum.value == pytest.approx(1 - 1e-12, abs=1e-15)
        else:
            assert 0 <= optimum.value < 3e-11  # the entropy of Y, 2.9e-11
    for D in (0.5, 2, 4):
        equal_means = GaussianMixture(0.4, 0, 9, 1)
        optimum = gaussian.optimal_affine(equal_means, D, loss)
        assert optimum.value <= dense_search(equal_means, D, loss, 101) + 1e-11
    steep = GaussianMixture(0.4, 1, 1e4, 1)
    optimum = gaussian.optimal_affine(steep, 1e3, loss)
    assert optimum.value <= dense_search(steep, 1e3, loss, 61) + 1e-11


@pytest.mark.parametrize("solver", [*CLOSED_FORMS, gaussian.optimal_affine], ids=lambda f: f.__name__)
def test_anything_allowed_gives_a_number(solver):
    for prior in (1e-50, 0.3, 0.5, 1 - 1.2e-16):
        for mu in (0, 1e-50, 3, 1e50):
            for var0, var1 in ((1, 1), (1e50, 1e50), (1e-50, 1e-50), (1e4, 1), (1e-50, 1e50)):
                if var0 != var1 and solver in CLOSED_FORMS:
                    continue
                for D in (0, 1e-50, 1, 1e50):
                    optimum = solver(GaussianMixture(prior, mu, var0, var1), D)
                    assert max(prior, 1 - prior) <= optimum.value <= 1
                    assert optimum.price >= 0 and optimum.distortion <= D * (1 + 1e-9)


@pytest.mark.parametrize("loss", ["0-1", "log"])
def test_the_price_is_the_slope_of_the_value(loss):
    cases = [(gaussian.optimal_affine, dataset, D) for dataset, D in [(1, 3), (2, 5), (3, 1), (3, 3), (3, 4), (4, 6)]]
    if loss == "0-1":
        cases += [(solver, 3, D) for solver in CLOSED_FORMS for D in (0.1, 3, 6)]
    for solver, dataset, D in cases:
        options = {"loss": loss} if solver is gaussian.optimal_affine else {}
        model, step = paper.DATASETS[dataset], 1e-4
        slope = (solver(model, D - step, **options).value - solver(model, D + step, **options).value) / (2 * step)
        # The central difference misses by about the square of the step; the prices here are a few hundredths.
        assert solver(model, D, **options).price == pytest.approx(slope, abs=1e-6)


def test_the_price_on_random_models():
    for model, D in random_models(60, seed=4):
        for loss in ("0-1", "log"):
            end = gaussian.optimal_affine(model, 1e50, loss).distortion
            step = 1e-3 * min(D, end - D)
            if step <= 0:
                assert gaussian.optimal_affine(model, D, loss).price == 0
                continue
            at = [gaussian.optimal_affine(model, D + k * step, loss) for k in (-1, 0, 1)]
            slope = (at[0].value - at[2].value) / (2 * step)
            # The difference misses by the square of the relative step, and by 1e-15 of rounding over the step.
            assert at[1].price == pytest.approx(slope, rel=1e-4, abs=1e-13 / step), (model, D, loss)


def test_shift_is_free_only_at_the_very_first():
    # On a plateau, and with equal means, no price is infinite.
    for D in (13.3, 15.2, 18.05):
        assert gaussian.optimal_affine(GaussianMixture(0.95, 0.1, 80, 60), D).price < 1e-9
    for loss in ("0-1", "log"):
        assert 0 < gaussian.optimal_affine(GaussianMixture(0.5, 0, 4, 1), 0, loss).price < 1


def test_the_first_shift_is_free():
    for solver in (gaussian.optimal_shift, gaussian.optimal_shift_noise, gaussian.optimal_affine):
        assert solver(paper.DATASETS[1], 0).price == math.inf
    assert gaussian.optimal_pdi(paper.DATASETS[1], 0).price < math.inf


def test_families_are_ordered():
    for model, D in random_models(60, seed=3, equal=True):
        pdi, shift, both = (solver(model, D).value for solver in CLOSED_FORMS)
        assert gaussian.optimal_affine(model, D).value <= both + 1e-12 and both <= min(pdi, shift) + 1e-14


def test_common_noise_is_not_optimal_at_unequal_priors():
    assert gaussian.optimal_shift_noise(paper.DATASETS[3], 1).value == pytest.approx(0.968540, abs=5.1e-7)
    assert gaussian.optimal_affine(paper.DATASETS[3], 1).value == pytest.approx(0.963027, abs=5.1e-7)


@pytest.mark.slow
def test_all_rows_and_both_losses_take_less_than_two_seconds():
    start = time.process_time()
    for dataset, D in ROWS:
        for loss in ("0-1", "log"):
            gaussian.optimal_affine(paper.DATASETS[dataset], D, loss)
    assert time.process_time() - start < 2  # the bar; about 0.7 of processor time


def test_bad_input_is_refused():
    unequal = paper.DATASETS[2]
    for solver, theorem in zip(CLOSED_FORMS, ("Theorem 2", "Theorem 3", "Theorem 4")):
        with pytest.raises(
            ValueError, match=f"model must have equal variances, as {theorem} assumes, got var0 = 4 and"
        ):
            solver(unequal, 1)
    for solver in (*CLOSED_FORMS, gaussian.optimal_affine):
        with pytest.raises(TypeError, match="model must be a GaussianMixture"):
            solver(BinaryModel.xor(0.5, 0.25), 1)
        with pytest.raises(ValueError, match=r"D must be a finite number in \[0, 1e\+50\], got -1"):
            solver(paper.DATASETS[1], -1)
        with pytest.raises(TypeError, match="D must be a finite number"):
            solver(paper.DATASETS[1], "1")
    with pytest.raises(ValueError, match="loss must be '0-1' or 'log', got 'alpha'"):
        gaussian.optimal_affine(paper.DATASETS[1], 1, "alpha")


def test_the_papers_tables():
    assert sorted(ROWS) == [(dataset, D) for dataset in paper.DATASETS for D in range(1, 10)]
    for row in (row for number in (2, 3, 4, 5) for row in paper.table(number)):
        model = paper.DATASETS[row["dataset"]]
        assert (row["prior"], row["var0"], row["var1"]) == (model.prior, model.var0, model.var1)
    assert paper.table(5)[5]["p_detect_theory"] == 0.75
    for bad, error in ((1, ValueError), (6, ValueError), (2.0, TypeError)):
        with pytest.raises(error, match=r"n must be an integer in \[2, 5\]"):
            paper.table(bad)
