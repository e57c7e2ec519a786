"""The losses, and the rules that are best under them, against minimisation by brute force and exact fractions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from gaplib import losses

ORDERS = (0.5, 1, 1.001, 2, 3.5, 8, math.inf)
# Sums of a few numbers of size one, each rounded to about 1e-16.
ROUNDING = 1e-14


def random_release(rng, rows, columns):
    released = rng.dirichlet(np.full(rows * columns, 0.7)).reshape(rows, columns)
    return released / released.sum()


def written_out(belief, alpha):
    """The alpha-loss as the paper prints it, one belief at a time, and its two limits."""
    if alpha == 1:
        return -math.log(belief)
    if alpha == math.inf:
        return 1 - belief
    return alpha / (alpha - 1) * (1 - belief ** (1 - 1 / alpha))


@st.composite
def releases(draw):
    """Joint distributions of two to four releases and values, cells and whole rows of mass 0 among them."""
    rows, columns = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    weights = st.lists(st.integers(0, 1000), min_size=rows * columns, max_size=rows * columns).filter(any)
    counts = np.array(draw(weights), dtype=float).reshape(rows, columns)
    return counts / counts.sum()


# Losses ------------------------------------------------------------------------------------------------------------


def test_losses_are_those_of_the_paper():
    beliefs = [0.001, 0.2, 0.5, 0.999, 1.0]
    # The formula as printed cancels near alpha = 1: at 1.001 it loses three digits.
    for alpha in ORDERS:
        assert losses.alpha_loss(beliefs, alpha) == pytest.approx([written_out(b, alpha) for b in beliefs], abs=1e-12)
    assert losses.log_loss(beliefs) == pytest.approx([-math.log(b) for b in beliefs], abs=ROUNDING)
    assert losses.squared_loss([1, 2.5], [3, 3]).tolist() == [4, 0.25]
    assert losses.zero_one_loss([[0], [1]], [0, 1]).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("alpha, cost", [(2, 2), (1.25, 5), (math.inf, 1), (1, math.inf), (0.5, math.inf)])
def test_a_belief_of_zero_costs_its_limit(alpha, cost):
    assert float(losses.alpha_loss(0, alpha)) == pytest.approx(cost, abs=ROUNDING)


@pytest.mark.parametrize("alpha", ORDERS)
def test_certainty_costs_nothing(alpha):
    loss = losses.alpha_loss(1, alpha)
    assert loss == 0 and not np.signbit(loss)


@settings(deadline=None)
@given(st.floats(1e-6, 1), st.floats(-1e-7, 1e-7))
def test_alpha_near_one_is_log_loss(belief, shift):
    # The loss is log-loss * (1 - shift * log-loss / 2 + ...), and log-loss is below 14 here: 100 times the shift.
    gap = abs(float(losses.alpha_loss(belief, 1 + shift)) - float(losses.log_loss(belief)))
    assert gap <= 100 * abs(shift) + ROUNDING


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(1e3, 1e300))
def test_alpha_to_infinity_is_the_probability_of_a_wrong_guess(belief, alpha):
    # 1 - b^(1 - 1/alpha) misses 1 - b by at most b^(1-1/alpha) - b <= 1/alpha, the factor in front by 1/(alpha - 1).
    assert abs(float(losses.alpha_loss(belief, alpha)) - (1 - belief)) <= 2 / (alpha - 1) + ROUNDING


# Rules -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.5, 1, 1.001, 2, 3.5, 8])
def test_tilted_posterior_minimises_the_alpha_loss_of_two_values(alpha):
    rng = np.random.default_rng(11)
    for _ in range(50):
        released = random_release(rng, 2, 2)
        beliefs = losses.tilted_posterior(released, alpha)
        for row, belief in zip(released / released.sum(axis=1, keepdims=True), beliefs):

            def expected(b, row=row):
                return row[0] * written_out(b, alpha) + row[1] * written_out(1 - b, alpha)

            found = minimize_scalar(expected, bounds=(1e-12, 1 - 1e-12), method="bounded", options={"xatol": 1e-12})
            # The search stops at the last digits of the loss: it may miss its bottom by the width of the bracket
            # next to a bound, 1e-7 in the loss, and must never lie below it by more than rounding, which the printed
            # formula magnifies by 1 / (alpha - 1).
            assert -1e-12 <= found.fun - expected(min(max(belief[0], 1e-300), 1 - 1e-16)) <= 1e-7
            if belief.min() > 1e-3:
                # A parabola whose height is known to 1e-15 or so is known to 1e-6 in its place.
                assert belief[0] == pytest.approx(found.x, abs=1e-5)


@settings(deadline=None)
@given(releases(), st.sampled_from(ORDERS), st.integers(0, 2**32 - 1))
def test_no_other_belief_does_better(released, alpha, seed):
    rng = np.random.default_rng(seed)
    best = losses.tilted_posterior(released, alpha)
    least = losses.expected_loss(released, losses.alpha_loss(best, alpha))
    for weight in (1.0, 0.1, 0.001):
        other = (1 - weight) * best + weight * rng.dirichlet(np.ones(released.shape[1]), size=released.shape[0])
        cost = sum(
            released[k, j] * written_out(float(other[k, j]), alpha)
            for k, j in np.ndindex(released.shape)
            if released[k, j] > 0
        )
        # written_out cancels at alpha = 1.001 to about 1e-13; sums over up to 16 cells.
        assert cost >= least - 1e-12


def test_map_guess_is_the_best_of_all_deterministic_rules():
    rng = np.random.default_rng(12)
    for _ in range(100):
        released = random_release(rng, 3, 4)
        rules = itertools.product(range(4), repeat=3)
        right = {rule: sum(released[k, guess] for k, guess in enumerate(rule)) for rule in rules}
        guess = losses.map_guess(released)
        assert right[tuple(guess)] == max(right.values())
        wrong = losses.expected_loss(released, losses.zero_one_loss(guess[:, np.newaxis], np.arange(4)))
        assert wrong == pytest.approx(1 - max(right.values()), abs=ROUNDING)


def test_conditional_mean_minimises_the_squared_loss():
    rng = np.random.default_rng(13)
    values = np.array([-1.5, 0.0, 4.0])
    for _ in range(50):
        released = random_release(rng, 3, 3)
        guess = losses.conditional_mean(released, values)
        for k in range(3):
            found = minimize_scalar(lambda c, k=k: sum(released[k] * (c - values) ** 2), bracket=(-2, 5))
            assert guess[k] == pytest.approx(found.x, abs=1e-6)  # the place of a bottom known to 1e-15


def test_tilt_in_exact_fractions():
    released = [[Fraction(1, 8), Fraction(3, 8)], [Fraction(2, 5), Fraction(1, 10)]]
    floats = [[float(cell) for cell in row] for row in released]
    for alpha in (1, 2, 5):
        exact = [[float(c**alpha / sum(other**alpha for other in row)) for c in row] for row in released]
        assert losses.tilted_posterior(floats, alpha) == pytest.approx(np.array(exact), abs=ROUNDING)
    assert losses.posterior(floats) == pytest.approx(np.array([[0.25, 0.75], [0.8, 0.2]]), abs=ROUNDING)


@settings(deadline=None)
@given(releases(), st.floats(1e-2, 1e12))
def test_every_belief_is_a_distribution(released, alpha):
    beliefs = losses.tilted_posterior(released, alpha)
    assert (beliefs >= 0).all()
    assert beliefs.sum(axis=1) == pytest.approx(np.ones(released.shape[0]), abs=ROUNDING)


def test_infinite_tilt_is_the_map_rule_with_ties_shared():
    released = [[0.3, 0.1, 0.0], [0.2, 0.2, 0.1], [0.0, 0.0, 0.1]]
    assert losses.tilted_posterior(released, math.inf).tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]]
    assert losses.map_guess(released).tolist() == [0, 0, 2]


def test_a_release_that_never_occurs_gets_any_belief_and_costs_nothing():
    released = np.array([[0.5, 0.5], [0.0, 0.0]])
    for alpha in ORDERS:
        beliefs = losses.tilted_posterior(released, alpha)
        assert beliefs.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert losses.conditional_mean(released, [0, 1]).tolist() == [0.5, 0.5]


def test_a_cell_without_mass_does_not_count():
    released = [[0.5, 0.0], [0.0, 0.5]]
    assert losses.expected_loss(released, losses.log_loss(losses.posterior(released))) == 0


# Bad input ---------------------------------------------------------------------------------------------------------

RELEASED = [[0.3, 0.2], [0.1, 0.4]]
BAD_ORDERS = [(0, ValueError), (-1, ValueError), (math.nan, ValueError), (-math.inf, ValueError)] + [
    (value, TypeError) for value in ("2", None, True, [2], 1j)
]
BAD_LAWS = [
    ([[0.5, 0.6], [0.1, 0.4]], ValueError),
    ([[1.1, -0.1], [0.0, 0.0]], ValueError),
    ([[math.nan, 0.5], [0.25, 0.25]], ValueError),
    ([0.5, 0.5], ValueError),
    ([[0.5, 0.5], [0.0]], ValueError),
    ("released", TypeError),
    ([["0.5", "0.5"]], TypeError),
    ([[True, False]], TypeError),
]


@pytest.mark.parametrize("value, error", BAD_ORDERS)
def test_bad_order(value, error):
    for call in (lambda: losses.alpha_loss(0.5, value), lambda: losses.tilted_posterior(RELEASED, value)):
        with pytest.raises(error, match="alpha must be a number >= 1e-300 or infinity, got"):
            call()


@pytest.mark.parametrize("value, error", BAD_LAWS)
def test_bad_law(value, error):
    rules = (
        losses.map_guess,
        losses.posterior,
        lambda released: losses.tilted_posterior(released, 2),
        lambda released: losses.conditional_mean(released, [0, 1]),
        lambda released: losses.expected_loss(released, 0.0),
    )
    for rule in rules:
        with pytest.raises(error, match="released must be a two-dimensional table of probabilities"):
            rule(value)


@pytest.mark.parametrize(
    "value, error",
    [(1.5, ValueError), ([-0.1, 0.2], ValueError), (math.nan, ValueError), ("half", TypeError), (True, TypeError)],
)
def test_bad_belief(value, error):
    for call in (losses.log_loss, lambda belief: losses.alpha_loss(belief, 3)):
        with pytest.raises(error, match=r"belief must be an array of finite numbers in \[0, 1\], got"):
            call(value)


@pytest.mark.parametrize("value, error", [(math.nan, ValueError), (math.inf, ValueError), ("1", TypeError)])
def test_bad_guess_or_truth(value, error):
    for loss in (losses.squared_loss, losses.zero_one_loss):
        with pytest.raises(error, match="guess must be an array of finite numbers"):
            loss(value, 1)
        with pytest.raises(error, match="y must be an array of finite numbers"):
            loss(1, value)


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"guess and y must have shapes that fit, got \(2,\) and \(3,\)"):
        losses.squared_loss([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match=r"values must have shape \(2,\), one for each column, got \(3,\)"):
        losses.conditional_mean(RELEASED, [0, 1, 2])
    with pytest.raises(ValueError, match=r"loss must fit the shape \(2, 2\) of released, got shape \(3,\)"):
        losses.expected_loss(RELEASED, [0, 1, 2])


def test_bad_loss_table():
    with pytest.raises(ValueError, match="loss must be a table of numbers or infinity, got NaN or minus infinity"):
        losses.expected_loss(RELEASED, [[0, math.nan], [0, 0]])
    with pytest.raises(TypeError, match="loss must be a table of numbers, got values of type"):
        losses.expected_loss(RELEASED, [["0", "1"], ["1", "0"]])
