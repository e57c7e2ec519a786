"""Noise that does not use the private column: Gaussian or Laplace for numbers, random answers for categories.

It is here to be compared at equal distortion, and each says for which epsilon of local differential privacy it would
stand. That promise would need more: noise from a cryptographic generator, drawn from exactly its distribution, and
bounds of the columns that do not come from the table. Libraries such as OpenDP do this; a release that has
to keep the promise should be theirs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # scipy.special and scipy.optimize are loaded when they are first used

from gaplib.tabular.columns import Column, Records
from gaplib.tabular.grid import without_last_digits

DELTA = 1e-5  # of Gaussian noise, which no epsilon alone describes


@dataclass(frozen=True)
class Noise:
    """Independent noise for each column.

    Attributes
    ----------
    shape : "gaussian" or "laplace"
    deviations : numpy.ndarray, shape (p,)
        The standard deviation of what is added to each number, in its own unit.
    flips : numpy.ndarray, shape (q,)
        The probability of each category to become another one, all equally likely.
    sizes : numpy.ndarray of int, shape (q,)
        How many levels each category has.
    """

    shape: str
    deviations: np.ndarray
    flips: np.ndarray
    sizes: np.ndarray

    @property
    def draws(self) -> int:
        """How many uniform numbers each record takes."""
        return len(self.deviations) + len(self.flips)

    def release(self, records: Records, labels: np.ndarray, uniform: np.ndarray) -> Records:
        """Return the release of each record; `uniform` has the shape (n, draws). A missing number stays missing."""
        p = len(self.deviations)
        u = np.maximum(uniform[:, :p], 2.0**-54)  # a uniform number may be 0, whose noise would be infinite
        noise = scipy.special.ndtri(u) if self.shape == "gaussian" else _laplace(u)
        # The same uniform number says whether a category changes and, if so, into which.
        step = 1 + np.floor(uniform[:, p:] / np.maximum(self.flips, 1e-300) * (self.sizes - 1))
        other = (records.codes + np.minimum(step, np.maximum(self.sizes - 1, 1)).astype(int)) % self.sizes
        flipped = (uniform[:, p:] < self.flips) & (records.codes >= 0)
        numbers = without_last_digits(records.numbers + noise * self.deviations, self.deviations)
        return Records(numbers, np.where(flipped, other, records.codes))


def noise(columns: Sequence[Column], shape: str, D: float) -> Noise:
    """Return noise of the mean cost D, in equal parts for each column that is not constant."""
    changing = [column for column in columns if _changes(column)]
    part = D / max(len(changing), 1)
    numbers = [column for column in columns if column.is_number]
    classes = [column for column in columns if column.levels is not None]
    sizes = np.array([len(column.levels or ()) for column in classes], dtype=int)
    # Beyond (k - 1) / k the answer is uniform, and says nothing: more would say something again.
    flips = np.array([min(part, 1 - 1 / k) for k in sizes])
    # What is missing costs nothing, so that the rest may cost more.
    deviations = np.array([math.sqrt(part / (1 - c.missing)) * c.unit * _changes(c) for c in numbers])
    return Noise(shape, deviations, flips, sizes)


def epsilons(columns: Sequence[Column], mechanism: Noise) -> dict[Any, float]:
    """Return, by column, the epsilon of local differential privacy for which the noise would stand.

    For a number, the values are taken to be bounded by those of the table. For Laplace noise of scale b and values in
    a range R it is R / b; for Gaussian noise the least epsilon with which delta is 1e-5 (Balle and Wang 2018); for a
    category of k levels that changes with probability q, log((1 - q) (k - 1) / q). Those of all columns add up.
    """
    found: dict[Any, float] = {}
    deviations, flips = iter(mechanism.deviations), iter(mechanism.flips)
    for column in columns:
        if column.levels is None:
            deviation = float(next(deviations))
            if column.span == 0:
                found[column.name] = 0.0
            elif deviation == 0:
                found[column.name] = math.inf
            elif mechanism.shape == "laplace":
                found[column.name] = column.span / (deviation / math.sqrt(2))
            else:
                found[column.name] = _gaussian_epsilon(column.span / deviation)
        else:
            q, k = float(next(flips)), len(column.levels)
            found[column.name] = 0.0 if k == 1 else math.inf if q == 0 else math.log((1 - q) * (k - 1) / q)
    return found


def _changes(column: Column) -> bool:
    return column.span > 0 if column.levels is None else len(column.levels) > 1


def _laplace(u: np.ndarray) -> np.ndarray:
    """Return Laplace noise of variance one from uniform numbers."""
    return np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u))) / math.sqrt(2)


def _gaussian_epsilon(ratio: float) -> float:
    """Return the least epsilon for Gaussian noise and a range of `ratio` standard deviations."""

    def excess(epsilon: float) -> float:
        above = scipy.special.log_ndtr(ratio / 2 - epsilon / ratio)
        below = epsilon + scipy.special.log_ndtr(-ratio / 2 - epsilon / ratio)
        return math.exp(above) - math.exp(below) - DELTA

    if excess(0.0) <= 0:
        return 0.0
    if (
        ratio > 1e4
    ):  # where rounding is all that is left of the difference, and the least epsilon is this to four digits
        return float(ratio**2 / 2 - ratio * scipy.special.ndtri(DELTA))
    # By the tail of the normal distribution, delta is below 1e-5 from here on.
    most = ratio**2 / 2 + ratio * math.sqrt(2 * math.log(1 / DELTA))
    return float(scipy.optimize.brentq(excess, 0.0, most, xtol=1e-12))
