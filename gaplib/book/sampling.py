"""One rule for what sampling alone explains, however many numbers are compared (Bonferroni's inequality)."""

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike

from gaplib import _checks

# The probability, at most, that a claim which is true fails by sampling, for all of its comparisons together.
LEVEL = 1e-3
_MOST = 10**9


def standard_errors(comparisons: int) -> float:
    """Return by how many standard errors the worst of so many normal numbers may be off.

    All of them stay within it with a probability of at least ``1 - LEVEL``, .999, however they depend on each other.

    Parameters
    ----------
    comparisons : int in [1, 1e9]
        How many numbers are compared.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If `comparisons` is not such an integer.
    """
    comparisons = _checks.integer("comparisons", comparisons, 1, _MOST)
    return float(scipy.stats.norm.isf(LEVEL / comparisons / 2))


def p_value(shares: ArrayLike, probabilities: ArrayLike, records: int) -> float:
    """Return the p-value of the hypothesis that each share is that of independent events with its probability.

    It is the smallest of the exact two-sided binomial p-values, times their number. If the hypothesis is true, it is
    below `LEVEL` with a probability of at most `LEVEL`, however the shares depend on each other.

    Parameters
    ----------
    shares : array_like of float in [0, 1], any shape
        Such as the accuracies of trained adversaries, each on test records that its training has not seen.
    probabilities : array_like of float in [0, 1], the shape of `shares`
        Such as the exact accuracies of MAP adversaries.
    records : int in [1, 1e9]
        Behind each share.

    Returns
    -------
    float in [0, 1]

    Raises
    ------
    TypeError, ValueError
        If an argument is none of these, or `shares` is empty.
    """
    shares = _checks.array("shares", shares, 0, 1)
    probabilities = _checks.array("probabilities", probabilities, 0, 1)
    records = _checks.integer("records", records, 1, _MOST)
    if shares.size == 0 or shares.shape != probabilities.shape:
        raise ValueError(
            f"shares and probabilities must have the same shape and not be empty, got {shares.shape} and "
            f"{probabilities.shape}"
        )
    counts = np.rint(shares * records)
    at_most = scipy.stats.binom.cdf(counts, records, probabilities)
    at_least = scipy.stats.binom.sf(counts - 1, records, probabilities)
    return float(min(1.0, 2 * shares.size * np.minimum(at_most, at_least).min()))
