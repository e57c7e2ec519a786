"""Whether the order of the rows tells the private value: a release keeps the order, so no mechanism hides that."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import scipy  # scipy.special is loaded when it is first used

from gaplib.tabular.columns import MOST_PRIVATE_VALUES

_APART = range(1, 32)  # rows: neighbours, couples, weeks, months of a year, hours and days
_STRETCHES = (32, 512)  # rows, in which a value may be more frequent than elsewhere
# Of more than 30,000 tables in random order, with 10 to 2,000 records and shares of .5 to .002, none was beyond these.
_DEVIATIONS, _FEWEST_PAIRS, _PROBABILITY, _FEWEST_EXPECTED = 6.0, 15, 1e-9, 5.0
_LEAST = 0.01  # of the pairs: in a long table, less tells next to nothing, though it is no accident
_SORTED = 0.01  # tables of very few rows are often sorted by accident


class RowOrder:
    """Compares the private values of records that are near each other with those of any two, part by part of a table.

    Parameters
    ----------
    name : str or int
        The private column.
    """

    def __init__(self, name: object) -> None:
        self.name = name
        self._values: dict[object, int] = {}
        self._counts = np.zeros(0, np.int64)
        self._changes = 0
        self._equal = np.zeros(len(_APART), np.int64)
        self._tail = np.zeros(0, np.int8)  # the last labels, as far back as pairs reach
        self._stretches = [_Stretches(size) for size in _STRETCHES]

    def add(self, values: pd.Series) -> None:
        """Take the private values of the next records.

        Parameters
        ----------
        values : pandas.Series

        Raises
        ------
        TypeError
            If they are neither numbers nor text.
        """
        if len(self._values) > MOST_PRIVATE_VALUES:  # which are not released
            return
        try:
            codes, found = pd.factorize(values, use_na_sentinel=False)
        except TypeError:
            raise TypeError(f"the private column {self.name!r} must hold numbers or text") from None
        numbers = [self._values.setdefault(value, len(self._values)) for value in found.tolist()]
        if len(self._values) > MOST_PRIVATE_VALUES:
            return
        labels = np.array(numbers, np.int8)[codes] if numbers else np.zeros(0, np.int8)
        self._counts = _sum(self._counts, np.bincount(labels, minlength=len(self._values)))
        known, new = np.concatenate([self._tail, labels]), len(labels)
        for place, apart in enumerate(_APART):
            later = known[max(len(known) - new, apart) :]
            self._equal[place] += np.count_nonzero(later == known[len(known) - len(later) - apart : len(known) - apart])
        later = known[max(len(known) - new, 1) :]
        self._changes += int(np.count_nonzero(later != known[len(known) - len(later) - 1 : len(known) - 1]))
        self._tail = known[-max(_APART) :]
        for stretches in self._stretches:
            stretches.add(labels, len(self._values))

    def warning(self) -> str:
        """Return what the order tells, in words, or nothing.

        Returns
        -------
        str
        """
        n, values = int(self._counts.sum()), len(self._counts)
        if not 2 <= len(self._values) <= MOST_PRIVATE_VALUES:
            return ""
        if self._changes == values - 1 and _accident(self._counts) < _SORTED:
            return f"the rows are sorted by the private column {self.name!r}: a row's place tells its value. {_KEPT}"
        agree, deviation = _agreement(self._counts)
        found = []
        for apart, equal in zip(_APART, self._equal.tolist(), strict=True):
            pairs = n - apart
            more = abs(equal - pairs * agree)
            if more > max(_FEWEST_PAIRS, _LEAST * pairs, _DEVIATIONS * deviation * math.sqrt(max(pairs, 0))):
                where = "neighbours" if apart == 1 else f"records {apart} rows apart"
                words = f"{where} agree in it {equal / pairs:.0%} of the time, any two {agree:.0%}"
                found.append((round(more / pairs, 2), -apart, words))
        told = max(found)[2] if found else ""
        for stretches in self._stretches:
            if not told and stretches.differ():
                told = f"of {stretches.size} rows in a row some have far more of one value than others"
        if not told:
            return ""
        return f"the order of the rows tells something of the private column {self.name!r}: {told}. {_KEPT}"


_KEPT = "A release keeps the order: shuffle the rows first"


class _Stretches:
    """Counts of each value in stretches of so many rows."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._open = np.zeros(0, np.int8)  # the labels of the stretch that is not full
        self._number = 0
        self._counts = self._squares = np.zeros(0, np.int64)

    def add(self, labels: np.ndarray, values: int) -> None:
        labels = np.concatenate([self._open, labels])
        full = labels[: len(labels) // self.size * self.size].reshape(-1, self.size)
        self._open = labels[full.size :]
        counts = np.stack([(full == label).sum(axis=1) for label in range(values)], axis=1) if values else full[:, :0]
        self._number += len(full)
        self._counts, self._squares = (
            _sum(self._counts, counts.sum(axis=0)),
            _sum(self._squares, (counts**2).sum(axis=0)),
        )

    def differ(self) -> bool:
        """Return whether a value's share differs by Pearson's test, where it is frequent enough for it."""
        if self._number < 2:
            return False
        share = self._counts / (self._number * self.size)
        expected = self.size * np.minimum(share, 1 - share)
        tested = expected >= _FEWEST_EXPECTED
        spread = self._squares[tested] - self._number * (self.size * share[tested]) ** 2
        variance = self.size * share[tested] * (1 - share[tested])
        unlikely = scipy.special.chdtrc(self._number - 1, spread / variance) < _PROBABILITY
        # The share of pairs in a stretch that agree beyond those of any two records.
        more = spread / self._number - variance
        return bool((unlikely & (2 * more > _LEAST * self.size * (self.size - 1))).any())


def _accident(counts: np.ndarray) -> float:
    """Return the probability that rows in random order are sorted, in any order of the values."""
    return float(np.exp(_log_orders(np.array([len(counts)])) + _log_orders(counts) - _log_orders(counts.sum())))


def _log_orders(sizes: np.ndarray) -> float:
    return float(np.sum(scipy.special.gammaln(sizes + 1.0)))


def _agreement(counts: np.ndarray) -> tuple[float, float]:
    """Return the probability that two records drawn at random agree, and the deviation of it for one pair of many.

    That deviation is of the part which the frequencies of the two values do not explain: any order has the same ones.
    """
    n, share = counts.sum(), counts / counts.sum()
    square, cube = float((share**2).sum()), float((share**3).sum())
    agree = float((counts * (counts - 1)).sum() / (n * (n - 1)))
    return agree, math.sqrt(max(square - square**2 - 2 * (cube - square**2), 0))


def _sum(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return the sum of counts of the values, of which there may be more by now."""
    new = new.copy()
    new[: len(old)] += old
    return new
