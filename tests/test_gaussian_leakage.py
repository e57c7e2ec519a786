"""Leakage of two normal distributions: against integration that knows nothing of roots, panels or envelopes."""

import dataclasses
import math

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from gaplib import leakage
from gaplib._normals import TwoNormals
from gaplib.mechanisms import AffineGaussian
from gaplib.models import GaussianMixture

NOTHING = AffineGaussian(0, 0, 0, 0)


def random_problems(count, seed):
    """Models and mechanisms of all kinds: priors to 1e-3, variance ratios to 1e4, densities that do not cross too."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        prior = rng.choice([rng.uniform(0.01, 0.99), 10 ** rng.uniform(-3, -1), 0.5])
        model = GaussianMixture(float(prior), float(rng.uniform(0, 4)), *map(float, 10 ** rng.uniform(-2, 2, 2)))
        yield model, AffineGaussian(*map(float, rng.normal(size=2)), *map(float, rng.exponential(size=2)))


def weighted_densities(model, mechanism, points=400_001, reach=12):
    """Points that are dense under both released distributions, and P(Y=j) f_j at them."""
    means, variances = mechanism.released(model)
    x = np.unique(
        np.concatenate([m + np.sqrt(v) * np.linspace(-reach, reach, points) for m, v in zip(means, variances)])
    )
    return x, [prior * norm.pdf(x, m, np.sqrt(v)) for prior, m, v in zip(model.p_y, means, variances)]


def test_map_accuracy_is_the_integral_of_the_larger_density():
    for model, mechanism in random_problems(100, seed=0):
        x, (f0, f1) = weighted_densities(model, mechanism)
        # The trapezoidal rule loses h^2 / 8 at each kink, times the jump of the slope, and about h^2 elsewhere.
        assert leakage.map_accuracy(model, mechanism) == pytest.approx(np.trapezoid(np.maximum(f0, f1), x), abs=2e-9)


@pytest.mark.parametrize("prior", [0.5, 0.75])
def test_at_equal_variances_it_is_the_papers_formula(prior):
    def q(x):
        return 0.5 * math.erfc(x / math.sqrt(2))

    for shift in (0, 0.5, 1, 1.25):
        model, mechanism = GaussianMixture(prior, 3, 2, 2), AffineGaussian(shift, shift, 1, 1)
        alpha = (6 - 2 * shift) / math.sqrt(3)
        tilt = math.log((1 - prior) / prior) / alpha
        printed = prior * q(-alpha / 2 + tilt) + (1 - prior) * q(-alpha / 2 - tilt)
        assert leakage.map_accuracy(model, mechanism) == pytest.approx(printed, abs=1e-15)  # rounding


def test_a_common_shift_and_a_mirror_change_nothing():
    for model, mechanism in random_problems(50, seed=1):
        b0, b1, g0, g1 = mechanism.beta0, mechanism.beta1, mechanism.gamma0, mechanism.gamma1
        moved = AffineGaussian(b0 + 0.5, b1 - 0.5, g0, g1)
        mirrored = GaussianMixture(1 - model.prior, model.mu, model.var1, model.var0), AffineGaussian(b1, b0, g1, g0)
        for measure in (leakage.map_accuracy, leakage.mutual_information, leakage.mmse):
            value = measure(model, mechanism)
            # Rounding of the distance of the means and of 1 - prior, relative to variances down to 0.01.
            assert measure(model, moved) == pytest.approx(value, abs=1e-13)
            assert measure(*mirrored) == pytest.approx(value, abs=1e-13)


def test_mutual_information_at_thirty_digits():
    for model, mechanism in random_problems(8, seed=2):
        means, variances = mechanism.released(model)
        with mpmath.workdps(30):
            priors = [1 - mpmath.mpf(model.prior), mpmath.mpf(model.prior)]
            scales = [mpmath.sqrt(mpmath.mpf(v)) for v in variances]

            def integrand(x, priors=priors, means=means, scales=scales):
                f = [p * mpmath.npdf(x, m, s) for p, m, s in zip(priors, means, scales)]
                return sum(a * mpmath.log(a / (p * sum(f))) for a, p in zip(f, priors) if a > 0)

            ends = sorted({float(m + k * s) for m, s in zip(means, scales) for k in range(-14, 15)})
            exact = float(mpmath.quad(integrand, ends))
        # The bar is 1e-10; the panels reach rounding.
        assert leakage.mutual_information(model, mechanism) == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize("gap", [0.1, 0.9924, 3])
@pytest.mark.parametrize("variance", [1e-5, 1e-10, 1e-16, 1e-28, 1e-32, 1e-50])
def test_a_spike_beside_the_middle_of_a_plain(gap, variance):
    # From the mean of the wide one, floats could no longer tell the points of the spike apart.
    with mpmath.workdps(60):
        p, scale = mpmath.mpf("0.546"), mpmath.sqrt(mpmath.mpf(variance))

        def integrand(x):
            f = (1 - p) * mpmath.npdf(x), p * mpmath.npdf(x, gap, scale)
            return -sum(a * mpmath.log(a / sum(f)) for a in f if a > 0)

        ends = sorted({*range(-12, 13), *(mpmath.mpf(gap) + k * scale for k in range(-40, 41, 4))})
        exact = float(mpmath.quad(integrand, ends))
    for normals in (TwoNormals(0.546, gap, 1.0, variance), TwoNormals(1 - 0.546, gap, variance, 1.0)):
        # Rounding of the masses, which sum to one; the spike's own entropy is known to as many digits.
        assert normals.conditional_entropy() == pytest.approx(exact, rel=1e-12, abs=1e-21)
    model = GaussianMixture(0.546, gap / 2, 1, variance)
    entropy = -0.546 * math.log(0.546) - 0.454 * math.log(0.454)
    assert leakage.mutual_information(model, NOTHING) == pytest.approx(entropy - exact, abs=1e-14)
    assert leakage.arimoto_conditional_entropy(model, NOTHING, 1) == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.9, 2, 8, 100, 1e6])
def test_arimoto_entropy_is_its_integral(alpha):
    for model, mechanism in random_problems(5, seed=3):
        x, densities = weighted_densities(model, mechanism, points=1_000_001, reach=38)
        with np.errstate(divide="ignore"):
            log = np.log(densities)
        norms = np.exp(np.logaddexp(alpha * log[0], alpha * log[1]) / alpha)
        integral = alpha / (1 - alpha) * np.log(np.trapezoid(norms, x))
        # The trapezoidal rule's h^2, magnified where 1 - alpha is small.
        assert leakage.arimoto_conditional_entropy(model, mechanism, alpha) == pytest.approx(integral, abs=1e-8)


def test_the_measures_agree_at_their_limits():
    for model, mechanism in random_problems(30, seed=4):
        information = leakage.mutual_information(model, mechanism)
        assert leakage.arimoto_mutual_information(model, mechanism, 1) == pytest.approx(information, abs=1e-13)
        guess = -math.log(leakage.map_accuracy(model, mechanism))
        # Two routes: a sum over panels, and the two roots.
        assert leakage.arimoto_conditional_entropy(model, mechanism, math.inf) == pytest.approx(guess, abs=1e-12)


def test_mmse_by_simulation():
    model, mechanism = GaussianMixture(0.3, 1, 4, 0.5), AffineGaussian(0.2, 0.1, 0.3, 0.6)
    x, y = model.sample(400_000, seed=0)
    released = mechanism.privatize(x, y, seed=0)
    means, variances = mechanism.released(model)
    f0, f1 = (s * norm.pdf(released, m, np.sqrt(v)) for s, m, v in zip(model.p_y, means, variances))
    errors = (y - f1 / (f0 + f1)) ** 2
    # Five standard errors: exceeded once in two million.
    assert abs(errors.mean() - leakage.mmse(model, mechanism)) < 5 * errors.std() / math.sqrt(errors.size)


def test_map_accuracy_by_simulation():
    model, mechanism = GaussianMixture(0.6, 0.5, 9, 0.25), AffineGaussian(0, 0.5, 1, 0)
    x, y = model.sample(400_000, seed=1)
    released = mechanism.privatize(x, y, seed=1)
    means, variances = mechanism.released(model)
    f0, f1 = (s * norm.pdf(released, m, np.sqrt(v)) for s, m, v in zip(model.p_y, means, variances))
    right = ((f1 > f0) == y).mean()
    accuracy = leakage.map_accuracy(model, mechanism)
    assert abs(right - accuracy) < 5 * math.sqrt(accuracy * (1 - accuracy) / x.size)
    assert accuracy > 0.6  # the narrow one is guessed in an interval: one threshold would not do


@pytest.mark.parametrize(
    "model, accuracy, information",
    [
        (GaussianMixture(0.5, 0, 1, 1), 0.5, 0.0),  # equal distributions
        (GaussianMixture(0.75, 0, 1, 1), 0.75, 0.0),
        (GaussianMixture(0.25, 1e3, 1, 1), 1.0, -0.25 * math.log(0.25) - 0.75 * math.log(0.75)),  # X tells all
        (GaussianMixture(1e-50, 3, 1, 1), 1.0, 0.0),  # nothing to tell
        (GaussianMixture(0.5, 0, 1e-50, 1e50), 1.0, math.log(2)),  # a spike and a plain
    ],
)
def test_limit_cases(model, accuracy, information):
    assert leakage.map_accuracy(model, NOTHING) == pytest.approx(accuracy, abs=1e-15)
    assert leakage.mutual_information(model, NOTHING) == pytest.approx(information, abs=1e-14)


def test_variances_that_differ_by_rounding_do_no_harm():
    for factor in (1 + 1e-15, 1 + 1e-12, 1 + 1e-9):
        close = leakage.map_accuracy(GaussianMixture(0.75, 1, 1, factor), NOTHING)
        # The accuracy has a bounded slope in the variance.
        assert close == pytest.approx(leakage.map_accuracy(GaussianMixture(0.75, 1, 1, 1), NOTHING), abs=factor - 1)


@pytest.mark.parametrize(
    "value, slopes",
    [
        (TwoNormals.map_accuracy, TwoNormals.map_accuracy_slopes),
        (TwoNormals.conditional_entropy, TwoNormals.conditional_entropy_slopes),
    ],
    ids=["accuracy", "entropy"],
)
def test_slopes_are_differences(value, slopes):
    for model, mechanism in random_problems(60, seed=5):
        released = TwoNormals.released(model, mechanism)
        for name, slope in zip(("gap", "var0", "var1"), slopes(released), strict=True):
            at = getattr(released, name)
            step = 1e-5 * (np.sqrt(min(released.var0, released.var1)) if name == "gap" else at)
            low, high = (value(dataclasses.replace(released, **{name: at + side * step})) for side in (-1, 1))
            difference = (high - low) / (2 * step)
            # In units of the field: the central difference misses by the square of the relative step and by rounding.
            assert slope * at == pytest.approx(difference * at, abs=1e-7)


@pytest.mark.parametrize("value", [TwoNormals.map_accuracy, TwoNormals.conditional_entropy])
def test_measures_work_elementwise(value):
    released = [TwoNormals.released(model, mechanism) for model, mechanism in random_problems(50, seed=6)]
    fields = zip(*(dataclasses.astuple(one) for one in released))
    assert value(TwoNormals(*map(np.array, fields))).tolist() == [value(one) for one in released]
