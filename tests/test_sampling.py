"""The rule for what sampling explains fails as rarely as it promises, and does not overlook what is wrong."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom, norm

from gaplib.book.sampling import LEVEL, p_value, standard_errors


@pytest.mark.parametrize("probability", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("records", [1, 7, 40])
def test_two_shares_are_refused_as_rarely_as_promised(probability, records):
    # By enumeration of all outcomes, at every level that the pair can attain: no simulation.
    mass = binom.pmf(np.arange(records + 1), records, probability)
    pairs = list(itertools.product(range(records + 1), repeat=2))
    p = np.array([p_value(np.array(pair) / records, [probability] * 2, records) for pair in pairs])
    weight = np.array([mass[i] * mass[j] for i, j in pairs])
    for level in np.unique(p[p < 1]):
        assert weight[p <= level].sum() <= level * (1 + 1e-9)  # rounding of the sum


def test_a_share_that_is_off_is_found_among_many():
    expected = np.full(360, 0.8)
    drawn = np.random.default_rng(0).binomial(2000, expected) / 2000
    assert p_value(drawn, expected, 2000) > LEVEL
    drawn[17] = 0.8 - 5 * np.sqrt(0.8 * 0.2 / 2000)  # five standard deviations: 6e-7 times 360
    assert p_value(drawn, expected, 2000) < LEVEL


def test_certain_events_leave_no_room():
    assert p_value([1.0], [1.0], 2000) == 1
    assert p_value([1 - 1 / 2000], [1.0], 2000) == 0


def test_many_draws_fit_the_binomial_bound():
    # The two functions are one rule: for many records the count is normal.
    n, m = 10**8, 50
    z = standard_errors(m)
    for factor, kept in ((0.99, True), (1.01, False)):
        shares = np.full(m, 0.5)
        shares[3] += factor * z * 0.5 / np.sqrt(n)
        assert (p_value(shares, np.full(m, 0.5), n) >= LEVEL) == kept


def test_the_worst_of_independent_normals_stays_within():
    for m in (1, 5, 360):
        beyond = 2 * norm.sf(standard_errors(m))
        # 1 - (1 - beyond)^m is the probability that any of m independent ones is further off.
        assert 0.999 * LEVEL < -np.expm1(m * np.log1p(-beyond)) <= LEVEL * (1 + 1e-9)
