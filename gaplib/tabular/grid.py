"""Numbers on a grid, such as whole centimetres, and releases that stay on it.

If whole centimetres are shifted by 3.8 for one private value and by 3.9 for the other, the digit after the point tells
which it was. So a change is rounded to a whole number of steps, up or down at random, such that its mean is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaplib.tabular.columns import Column, Records

_DECIMALS = 7  # finer grids are as good as none
_ALL = 0.99  # of the values lie on a grid: the others are slips
_CHANCE = 1.5  # times as many values as would by accident lie on a coarser one, if it is to count


def step_of(values: np.ndarray) -> float:
    """Return the step of the grid that numbers lie on, 0 if there is none.

    It is the finest that is needed, unless a coarser one holds most: of heights in centimetres some may have a half.
    """
    values = values[~np.isnan(values)]
    found: list[tuple[float, float]] = []
    for decimals in range(_DECIMALS + 1):
        scaled = (values - values.min()) * 10.0**decimals
        whole = np.rint(scaled)
        if whole.max() > 1e11:  # digits that floats do not tell for sure
            break
        on = abs(scaled - whole) < 1e-4
        found.append((float(on.mean()), float(np.gcd.reduce(whole[on].astype(np.int64))) / 10.0**decimals))
        if found[-1][0] >= _ALL:
            break
    if not found or found[-1][0] < _ALL:
        return 0.0
    finest = found[-1][1]
    return next((step for share, step in found if step and share >= _CHANCE * finest / step), finest)


def dearer(columns: Sequence[Column]) -> float:
    """Return what the grids may add to the mean cost of a change: a quarter of a squared step for each column."""
    return float(np.sum([(column.step / column.unit) ** 2 / 4 for column in columns if column.is_number]))


def on_grid(before: Records, after: Records, columns: Sequence[Column], uniform: np.ndarray) -> Records:
    """Return a release whose changes are whole steps; `uniform` has a number for each record and numeric column."""
    step = np.array([column.step for column in columns if column.is_number])
    change = after.numbers - before.numbers
    whole = step * np.floor(change / np.where(step > 0, step, 1.0) + uniform)
    return Records(before.numbers + np.where(step > 0, whole, change), after.codes)
