"""Arimoto's measures and the MMSE, against 50-digit arithmetic, the losses they come from, and what they must obey."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaplib import leakage, losses
from gaplib.mechanisms import BinaryKernel
from gaplib.models import BinaryModel

# Logarithms and quotients of a few numbers of size one, each rounded to about 1e-16.
ROUNDING = 1e-14
ORDERS = (0.001, 0.3, 0.5, 0.999999999, 1, 1.0000000001, 1.001, 1.5, 2, 3, 8, 1e4, math.inf)

probabilities = st.floats(0, 1)
kernels = st.builds(BinaryKernel, probabilities, probabilities, probabilities, probabilities)
orders = st.one_of(st.floats(0.01, 100), st.sampled_from(ORDERS))


@st.composite
def models(draw):
    counts = np.array(draw(st.lists(st.integers(0, 1000), min_size=4, max_size=4).filter(any)), dtype=float)
    return BinaryModel((counts / counts.sum()).reshape(2, 2))


def random_case(rng):
    joint = rng.dirichlet(np.full(4, 0.5)).reshape(2, 2)
    return BinaryModel(joint / joint.sum()), BinaryKernel(*rng.random(4))


def exact_table(model, kernel):
    """P(Xhat=k, Y=j) with 50 digits, by enumerating the records and the coin of the mechanism."""
    keep = {(0, 0): kernel.s00, (0, 1): kernel.s01, (1, 0): kernel.s10, (1, 1): kernel.s11}
    table = {(k, j): mpmath.mpf(0) for k in (0, 1) for j in (0, 1)}
    for (x, y), s in keep.items():
        table[x, y] += mpmath.mpf(float(model.joint[x, y])) * mpmath.mpf(s)
        table[1 - x, y] += mpmath.mpf(float(model.joint[x, y])) * (1 - mpmath.mpf(s))
    total = sum(table.values())
    return [[table[k, j] / total for j in (0, 1)] for k in (0, 1)]


def exact_entropy(rows, alpha):
    """Arimoto's conditional entropy as it is defined, with 50 digits."""
    if alpha == math.inf:
        return -mpmath.log(sum(max(row) for row in rows))
    if alpha == 1:
        return -sum(cell * mpmath.log(cell / sum(row)) for row in rows for cell in row if cell > 0)
    alpha = mpmath.mpf(alpha)
    norms = sum(sum(cell**alpha for cell in row if cell > 0) ** (1 / alpha) for row in rows if sum(row) > 0)
    return alpha / (1 - alpha) * mpmath.log(norms)


@pytest.mark.parametrize("alpha", ORDERS)
def test_arimoto_against_fifty_digits(alpha):
    rng = np.random.default_rng(21)
    with mpmath.workdps(50):
        for _ in range(100):
            model, kernel = random_case(rng)
            rows = exact_table(model, kernel)
            prior = [[rows[0][j] + rows[1][j] for j in (0, 1)]]
            entropy = exact_entropy(rows, alpha)
            information = exact_entropy(prior, alpha) - entropy
            got = leakage.arimoto_conditional_entropy(model, kernel, alpha)
            assert got == pytest.approx(float(entropy), abs=ROUNDING)
            got = leakage.arimoto_mutual_information(model, kernel, alpha)
            assert got == pytest.approx(float(information), abs=ROUNDING)


def test_mmse_against_fifty_digits():
    rng = np.random.default_rng(22)
    with mpmath.workdps(50):
        for _ in range(300):
            model, kernel = random_case(rng)
            rows = exact_table(model, kernel)
            means = [row[1] / sum(row) for row in rows]
            error = sum(rows[k][j] * (j - means[k]) ** 2 for k in (0, 1) for j in (0, 1))
            assert leakage.mmse(model, kernel) == pytest.approx(float(error), abs=ROUNDING)


@settings(deadline=None)
@given(models(), kernels, orders)
def test_least_alpha_loss_is_a_transform_of_arimoto(model, kernel, alpha):
    released = kernel.released(model)
    least = losses.expected_loss(released, losses.alpha_loss(losses.tilted_posterior(released, alpha), alpha))
    entropy = leakage.arimoto_conditional_entropy(model, kernel, alpha)
    exponent = 1 - 1 / alpha
    transform = -math.expm1(-exponent * entropy) / exponent if exponent else entropy
    # For small orders the transform is as large as 2^(1/alpha), and keeps its relative, not its absolute digits.
    assert least == pytest.approx(transform, rel=1e-11, abs=ROUNDING)


@settings(deadline=None)
@given(models(), kernels)
def test_the_other_losses_give_the_other_measures(model, kernel):
    released = kernel.released(model)
    guess = losses.map_guess(released)[:, np.newaxis]
    wrong = losses.expected_loss(released, losses.zero_one_loss(guess, [0, 1]))
    assert leakage.map_accuracy(model, kernel) == pytest.approx(1 - wrong, abs=ROUNDING)
    estimate = losses.conditional_mean(released, [0, 1])[:, np.newaxis]
    error = losses.expected_loss(released, losses.squared_loss(estimate, [0, 1]))
    assert leakage.mmse(model, kernel) == pytest.approx(error, abs=ROUNDING)


@settings(deadline=None)
@given(models(), kernels)
def test_order_one_is_shannon(model, kernel):
    shannon = leakage.arimoto_mutual_information(model, kernel, 1)
    assert shannon == pytest.approx(leakage.mutual_information(model, kernel), abs=ROUNDING)
    for shift in (-1e-7, 1e-7):
        # The slope in alpha is a variance of logarithms weighted by probabilities, below 1 for two values (u ln^2 u
        # is at most .55), for the entropy and for its prior.
        near = leakage.arimoto_mutual_information(model, kernel, 1 + shift)
        assert abs(near - shannon) <= 2e-7


@settings(deadline=None)
@given(models(), kernels, st.floats(2, 1e15))
def test_infinite_order_is_map(model, kernel, alpha):
    accuracy = leakage.map_accuracy(model, kernel)
    limit = leakage.arimoto_conditional_entropy(model, kernel, math.inf)
    assert limit == pytest.approx(-math.log(accuracy), abs=ROUNDING)
    # max <= norm <= 2^(1/alpha) max holds for each row, hence for the sums.
    entropy = leakage.arimoto_conditional_entropy(model, kernel, alpha)
    assert alpha / (alpha - 1) * (limit - math.log(2) / alpha) - ROUNDING <= entropy
    assert entropy <= alpha / (alpha - 1) * limit + ROUNDING


@settings(deadline=None)
@given(models(), kernels, orders, orders)
def test_entropy_falls_with_the_order(model, kernel, one, other):
    low, high = sorted((one, other))
    entropy = leakage.arimoto_conditional_entropy
    assert entropy(model, kernel, high) <= entropy(model, kernel, low) + ROUNDING


@settings(deadline=None)
@given(models(), kernels, orders)
def test_ranges(model, kernel, alpha):
    entropy = leakage.arimoto_conditional_entropy(model, kernel, alpha)
    information = leakage.arimoto_mutual_information(model, kernel, alpha)
    assert -ROUNDING <= entropy <= math.log(2) + ROUNDING
    assert -ROUNDING <= information <= math.log(2) + ROUNDING
    assert -ROUNDING <= leakage.mmse(model, kernel) <= model.p_y[0] * model.p_y[1] + ROUNDING


@settings(deadline=None)
@given(models(), kernels, orders, probabilities, probabilities)
def test_processing_the_release_never_raises_the_leakage(model, kernel, alpha, keep0, keep1):
    """Data processing: pass Xhat on through a second kernel, keep0 = P(0 | 0), keep1 = P(1 | 1)."""
    zero = {0: keep0, 1: 1 - keep1}  # P(second release = 0 | first)
    after = BinaryKernel(
        *(kernel.keep[0, j] * zero[0] + (1 - kernel.keep[0, j]) * zero[1] for j in (0, 1)),
        *(kernel.keep[1, j] * (1 - zero[1]) + (1 - kernel.keep[1, j]) * (1 - zero[0]) for j in (0, 1)),
    )
    assert leakage.map_accuracy(model, after) <= leakage.map_accuracy(model, kernel) + ROUNDING
    assert leakage.mutual_information(model, after) <= leakage.mutual_information(model, kernel) + ROUNDING
    assert leakage.mmse(model, after) >= leakage.mmse(model, kernel) - ROUNDING
    before = leakage.arimoto_mutual_information(model, kernel, alpha)
    assert leakage.arimoto_mutual_information(model, after, alpha) <= before + ROUNDING


@pytest.mark.parametrize("alpha", ORDERS)
def test_extreme_releases(alpha):
    model = BinaryModel([[0.5, 0], [0, 0.5]])
    everything, nothing, constant = BinaryKernel(1, 1, 1, 1), BinaryKernel(0.5, 0.5, 0.5, 0.5), BinaryKernel(1, 1, 0, 0)
    assert leakage.arimoto_conditional_entropy(model, everything, alpha) == pytest.approx(0, abs=ROUNDING)
    assert leakage.arimoto_mutual_information(model, everything, alpha) == pytest.approx(math.log(2), abs=ROUNDING)
    for kernel in (nothing, constant):
        assert leakage.arimoto_mutual_information(model, kernel, alpha) == pytest.approx(0, abs=ROUNDING)
    assert leakage.mmse(model, everything) == 0
    assert leakage.mmse(model, nothing) == leakage.mmse(model, constant) == 0.25


MODEL, KERNEL = BinaryModel.xor(0.5, 0.25), BinaryKernel(1, 1, 1, 1)
WITH_ORDER = (leakage.arimoto_conditional_entropy, leakage.arimoto_mutual_information)


@pytest.mark.parametrize("value", [0, -2, math.nan, -math.inf])
def test_order_out_of_range(value):
    for measure in WITH_ORDER:
        with pytest.raises(ValueError, match="alpha must be a number >= 1e-300 or infinity, got"):
            measure(MODEL, KERNEL, value)


@pytest.mark.parametrize("value", ["2", None, True, [2.0]])
def test_order_of_the_wrong_type(value):
    for measure in WITH_ORDER:
        with pytest.raises(TypeError, match="alpha must be a number >= 1e-300 or infinity, got"):
            measure(MODEL, KERNEL, value)


def test_wrong_model_or_mechanism():
    for measure in (lambda m, k: WITH_ORDER[0](m, k, 2), lambda m, k: WITH_ORDER[1](m, k, 2), leakage.mmse):
        with pytest.raises(TypeError, match="model must be a BinaryModel"):
            measure([[0.25, 0.25], [0.25, 0.25]], KERNEL)
        with pytest.raises(TypeError, match="mechanism must be a BinaryKernel"):
            measure(MODEL, np.eye(2))
