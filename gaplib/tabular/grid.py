"""Releases of numbers on a coarse grid that is the same for every private value.

The digits of a number can tell how far it was moved. If whole centimetres are shifted by 3.8 for one private value and
by 3.9 for the other, the digit after the point says which; and so do units, heaps at round numbers, and means that were
filled in. No rule finds all such patterns. So a release shows points of a coarse grid only. It takes one of the two
next to a number at random, such that the mean is kept: what is finer is blurred for all alike.

A mechanism that adds the same continuous noise for every private value needs no coarse grid: what its digits tell,
those of the original have told, and they are blurred. But computed noise is not continuous. It takes few of all floats,
so that the last digits of a sum rule out most of the numbers that may have been added to. Such a release is rounded to
a grid far finer than the noise, and far coarser than the gaps between its values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaplib.tabular.columns import Column, Records

_ROUND = (1.0, 2.0, 2.5, 5.0)
_FINEST = 0.2  # of the standard deviation: steps are up to twice as long, as the next round number is taken
_HEAP = 0.3  # of the values on multiples of a round number are more than a few
_ALONE = 0.75  # of those on multiples of its half: if all numbers were on those, it would be one half


def step_of(values: np.ndarray) -> float:
    """Return the step of a column's release: a round number, and the coarsest at which its values pile up."""
    values = values[~np.isnan(values)]
    deviation = float(values.std())
    if deviation <= 1e-12 * float(abs(values).max()):
        return 0.0  # a constant, which is not moved
    steps = [step for step in _round_numbers(deviation) if _FINEST * deviation <= step]
    heaps = [step for step in steps if step <= deviation and _piles_up(values, step)]
    return max(heaps, default=steps[0])


def dearer(columns: Sequence[Column]) -> float:
    """Return what the grids add to the mean cost of a change at most: a quarter of a squared step for each column."""
    return float(np.sum([(column.step / column.unit) ** 2 / 4 for column in columns if column.is_number]))


def on_grid(records: Records, columns: Sequence[Column], uniform: np.ndarray) -> Records:
    """Return records on the grids of their columns; `uniform` has a number for each record and numeric column."""
    step = np.array([column.step for column in columns if column.is_number])
    points = step * np.floor(records.numbers / np.where(step > 0, step, 1.0) + uniform)
    return Records(np.where(step > 0, points, records.numbers), records.codes)


def without_last_digits(numbers: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Return numbers to which noise of these standard deviations was added, without the digits that betray it."""
    # A power of two, so that the rounding is exact. Up to five deviations out the noise's values lie closer than this.
    step = 2.0 ** (np.frexp(deviations)[1] - 30)
    return np.where(deviations > 0, step * np.rint(numbers / step), numbers)


def _round_numbers(size: float) -> list[float]:
    """Return the round numbers from a tenth of a size to ten times it, in their order."""
    exponent = int(np.floor(np.log10(size)))
    return [float(f"{digit}e{power}") for power in range(exponent - 1, exponent + 2) for digit in _ROUND]


def _piles_up(values: np.ndarray, step: float) -> bool:
    whole, half = (np.mean(abs(values / s - np.rint(values / s)) < 1e-3) for s in (step, step / 2))
    return bool(whole >= _HEAP and whole >= _ALONE * half)
