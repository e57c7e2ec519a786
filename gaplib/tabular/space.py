"""Distances between records: squares of numbers in their units, one for each category that differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from gaplib.tabular.columns import Column, Records


@dataclass(frozen=True)
class Space:
    """What a change of each column costs.

    The cost of a change is the sum over numbers of the squared change in units of the column, plus one for each
    category that changes; a number that goes missing, or comes back, costs one too.
    """

    units: np.ndarray
    centers: np.ndarray
    sizes: tuple[int, ...]
    missing: np.ndarray

    @classmethod
    def of(cls, columns: Sequence[Column]) -> Space:
        """Return the space of some public columns."""
        numbers = [column for column in columns if column.is_number]
        return cls(
            np.array([column.unit for column in numbers]),
            np.array([column.center for column in numbers]),
            tuple(len(column.levels) for column in columns if column.levels is not None),
            np.array([column.missing > 0 for column in numbers], dtype=bool),
        )

    def points(self, records: Records) -> np.ndarray:
        """Return points whose squared distances are the costs of turning one record into another."""
        z = (records.numbers - self.centers) / self.units
        absent = np.isnan(z)
        parts = [np.where(absent, 0.0, z), absent[:, self.missing].astype(float)]
        for codes, size in zip(records.codes.T, self.sizes, strict=True):
            parts.append((codes[:, np.newaxis] == np.arange(size)) * np.sqrt(0.5))
        return np.concatenate(parts, axis=1)

    def costs(self, left: Records, right: Records) -> tuple[np.ndarray, np.ndarray]:
        """Return two tables of shape (n, m): squared changes of numbers, and how many categories change."""
        squares, changes = np.zeros((2, len(left), len(right)))
        for unit, a, b in zip(self.units, left.numbers.T, right.numbers.T, strict=True):
            difference = np.subtract.outer(a, b) / unit
            squares += np.where(np.isnan(difference), 0, difference) ** 2
            changes += np.not_equal.outer(np.isnan(a), np.isnan(b))
        for a, b in zip(left.codes.T, right.codes.T, strict=True):
            changes += np.not_equal.outer(a, b)
        return squares, changes

    def cost(self, before: Records, after: Records) -> np.ndarray:
        """Return what the change of each record costs, shape (n,)."""
        difference = (after.numbers - before.numbers) / self.units
        gone = np.isnan(before.numbers) != np.isnan(after.numbers)
        squares = np.where(np.isnan(difference), 0, difference) ** 2
        return squares.sum(axis=1) + gone.sum(axis=1) + (before.codes != after.codes).sum(axis=1)


class Nearest:
    """Finds the nearest of some points, by bisection on a line."""

    def __init__(self, points: np.ndarray) -> None:
        self._line = points.shape[1] == 1
        if self._line:
            self._order = np.argsort(points[:, 0], kind="stable")
            line = points[self._order, 0]
            self._edges = (line[1:] + line[:-1]) / 2
        else:
            self._tree = cKDTree(points)

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return the number of the nearest point for each."""
        if self._line:
            return self._order[np.searchsorted(self._edges, points[:, 0])]
        return self._tree.query(points)[1]


def representatives(
    space: Space, records: Records, most: int, rounds: int, random: np.random.Generator
) -> tuple[Records, np.ndarray]:
    """Return at most `most` records that stand for all, and the number of the one that stands for each.

    If fewer differ, they are those. Otherwise the numbers of a representative are the means of those it stands for, by
    `rounds` steps of Lloyd's algorithm.
    """
    points = space.points(records)
    _, rows, counts = np.unique(points, axis=0, return_index=True, return_counts=True)
    if len(rows) <= most:
        chosen = records.take(rows)
    else:
        chosen = records.take(np.sort(random.choice(rows, most, replace=False, p=counts / counts.sum())))
        for _ in range(rounds):
            mine = Nearest(space.points(chosen))(points)
            chosen = Records(means(records.numbers, mine, chosen.numbers), chosen.codes)
    mine = Nearest(space.points(chosen))(points)
    used, mine = np.unique(mine, return_inverse=True)
    return chosen.take(used), mine


def means(numbers: np.ndarray, groups: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return the mean of each group's numbers; a number that is missing stays missing, an empty group as it was."""
    result = before.copy()
    for column, values in enumerate(numbers.T):
        # From a number of the group itself, so that of equal numbers the mean is that number, without rounding.
        steps = values - before[groups, column]
        there = ~np.isnan(steps)
        count = np.bincount(groups[there], minlength=len(before))
        total = np.bincount(groups[there], weights=steps[there], minlength=len(before))
        result[count > 0, column] += total[count > 0] / count[count > 0]
    return result
