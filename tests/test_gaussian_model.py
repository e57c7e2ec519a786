"""The Gaussian mixture and its mechanisms: moments, streams, what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from gaplib import leakage
from gaplib.mechanisms import AffineGaussian, BinaryKernel
from gaplib.models import BinaryModel, GaussianMixture

MODEL = GaussianMixture(prior=0.75, mu=3, var0=4, var1=1)
MECHANISM = AffineGaussian(1.5, -0.5, 0.0, 2.0)
N = 200_000


def test_the_sample_has_the_moments_of_the_model():
    x, y = MODEL.sample(N, seed=0)
    assert x.shape == y.shape == (N,) and set(np.unique(y)) == {0, 1}
    # Five standard errors of each mean: exceeded once in two million.
    assert abs(y.mean() - 0.75) < 5 * math.sqrt(0.75 * 0.25 / N)
    for j, (mean, variance) in enumerate([(-3, 4), (3, 1)]):
        part = x[y == j]
        assert abs(part.mean() - mean) < 5 * math.sqrt(variance / part.size)
        assert abs(part.var() - variance) < 5 * variance * math.sqrt(2 / part.size)


def test_the_release_has_the_moments_of_the_mechanism():
    x, y = MODEL.sample(N, seed=1)
    released = MECHANISM.privatize(x, y, seed=1)
    means, variances = MECHANISM.released(MODEL)
    assert means.tolist() == [-1.5, 3.5] and variances.tolist() == [4, 5]
    for j in (0, 1):
        part = released[y == j]
        assert abs(part.mean() - means[j]) < 5 * math.sqrt(variances[j] / part.size)
        assert abs(part.var() - variances[j]) < 5 * variances[j] * math.sqrt(2 / part.size)
    squared = (released - x) ** 2
    assert abs(squared.mean() - MECHANISM.distortion(MODEL)) < 5 * squared.std() / math.sqrt(N)


def test_the_distortion_is_exact():
    # 1/4 (3/2)^2 + 3/4 ((1/2)^2 + 2^2), all of them floats.
    assert MECHANISM.distortion(MODEL) == float(Fraction(9, 16) + Fraction(51, 16))


def test_the_variance_of_y_prices_a_shift():
    assert MODEL.var_y == float(Fraction(3, 4) * Fraction(1, 4))
    # Of all ways to divide a total shift, p beta and (1-p) beta distorts least, by var_y beta^2.
    distortions = [AffineGaussian(beta0, 2 - beta0, 0, 0).distortion(MODEL) for beta0 in (1.25, 1.5, 1.75)]
    assert min(distortions) == distortions[1] == MODEL.var_y * 2**2


def test_record_and_noise_come_from_different_streams():
    x, y = MODEL.sample(N, seed=3)
    noise = AffineGaussian(0, 0, 1, 1).privatize(x, y, seed=3) - x
    standardized = (x - MODEL.means[y]) / np.sqrt(MODEL.variances[y])
    # The correlation of independent normals has a standard error of 1 / sqrt(n).
    assert abs(np.corrcoef(noise, standardized)[0, 1]) < 5 / math.sqrt(N)


def test_the_same_seed_gives_the_same_records():
    first, second = MODEL.sample(100, seed=5), MODEL.sample(100, seed=5)
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    assert (MECHANISM.privatize(*first, seed=5) == MECHANISM.privatize(*second, seed=5)).all()
    assert (MODEL.sample(100, seed=6)[0] != first[0]).all()


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ((0, 1, 1, 1), ValueError, "prior must be a number strictly between 0 and 1, and at least 1e-50, got 0"),
        ((1, 1, 1, 1), ValueError, "prior must be a number strictly between 0 and 1"),
        ((math.nan, 1, 1, 1), ValueError, "prior must be a number strictly between 0 and 1"),
        ((True, 1, 1, 1), TypeError, "prior must be a number strictly between 0 and 1"),
        (("0.5", 1, 1, 1), TypeError, "prior must be a number strictly between 0 and 1"),
        ((0.5, -1, 1, 1), ValueError, r"mu must be a finite number in \[0, 1e\+50\], got -1"),
        ((0.5, 1, 0, 1), ValueError, r"var0 must be a finite number in \[1e-50, 1e\+50\], got 0"),
        ((0.5, 1, 1, math.inf), ValueError, r"var1 must be a finite number in \[1e-50, 1e\+50\], got inf"),
        ((0.5, 1, 1, "1"), TypeError, "var1 must be a finite number"),
    ],
)
def test_a_bad_model_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        GaussianMixture(*arguments)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ((math.nan, 0, 0, 0), ValueError, "beta0 must be a finite number"),
        ((0, "1", 0, 0), TypeError, "beta1 must be a finite number"),
        ((0, 0, -1, 0), ValueError, r"gamma0 must be a finite number in \[0, 1e\+100\], got -1"),
        ((0, 0, 0, math.inf), ValueError, "gamma1 must be a finite number"),
    ],
)
def test_a_bad_mechanism_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        AffineGaussian(*arguments)


def test_bad_records_are_refused():
    with pytest.raises(ValueError, match="x and y must have the same shape, got .2,. and .3,."):
        MECHANISM.privatize([0.0, 1.0], [0, 1, 1], seed=0)
    with pytest.raises(ValueError, match="x must be an array of finite numbers"):
        MECHANISM.privatize([0.0, math.nan], [0, 1], seed=0)
    with pytest.raises(ValueError, match="y must be a one-dimensional array of zeros and ones"):
        MECHANISM.privatize([0.0, 1.0], [0, 2], seed=0)
    with pytest.raises(ValueError, match="n must be an integer"):
        MODEL.sample(0, seed=0)


def test_a_mechanism_of_the_other_model_is_refused():
    kernel, bits = BinaryKernel(1, 1, 1, 1), BinaryModel.xor(0.5, 0.25)
    for measure in (leakage.map_accuracy, leakage.mutual_information, leakage.mmse):
        with pytest.raises(TypeError, match="mechanism must be an AffineGaussian"):
            measure(MODEL, kernel)
        with pytest.raises(TypeError, match="model must be a GaussianMixture"):
            measure(bits, MECHANISM)
        with pytest.raises(TypeError, match="model must be a BinaryModel"):
            measure("model", kernel)
    with pytest.raises(TypeError, match="model must be a GaussianMixture"):
        MECHANISM.distortion(bits)
    with pytest.raises(TypeError, match="model must be a GaussianMixture"):
        MECHANISM.released(bits)


def test_the_model_of_a_sample_is_that_of_largest_likelihood():
    x, y = MODEL.sample(500, seed=0)
    fitted = GaussianMixture.from_sample(x, y)

    def log_likelihood(prior, means, variances):
        normal = scipy.stats.norm.logpdf(x, np.array(means)[y], np.sqrt(variances)[y])
        return np.sum(normal + np.log(np.array([1 - prior, prior])[y]))

    middle = (x[y == 0].mean() + x[y == 1].mean()) / 2
    best = [fitted.prior, *(middle + fitted.means), *fitted.variances]
    largest = log_likelihood(best[0], best[1:3], best[3:])
    for i in range(5):
        for factor in (0.99, 1.01):
            other = list(best)
            other[i] *= factor
            assert log_likelihood(other[0], other[1:3], other[3:]) < largest


@pytest.mark.parametrize(
    "x, y, error, message",
    [
        ([1.0, 2.0], [0, 1, 1], ValueError, "x and y must have the same shape, got .2,. and .3,."),
        ([1.0, 2.0], [0, 0], ValueError, "x must hold at least two different numbers where y is 1, got .."),
        ([1.0, 1.0, 2.0, 3.0], [0, 0, 1, 1], ValueError, r"where y is 0, got \[1.0, 1.0\]"),
        ([2.0, 3.0, 0.0, 1.0], [0, 0, 1, 1], ValueError, "larger on average where y is 1, got the means 2.5 and 0.5"),
        ([1.0, math.nan], [0, 1], ValueError, "x must be an array of finite numbers"),
        ([1.0, 2.0], [0.0, 0.5], ValueError, "y must be a one-dimensional array of zeros and ones"),
    ],
)
def test_a_sample_without_a_model_is_refused(x, y, error, message):
    with pytest.raises(error, match=message):
        GaussianMixture.from_sample(x, y)
