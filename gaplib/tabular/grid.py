"""Numbers on a grid, such as whole centimetres, and releases that stay on it.

A shift by 3.8 cm for one private value and by 3.9 cm for the other says of whole centimetres which it was: in the digits
after the point. So a change is made a whole number of steps, at random between the two that are next to it, such that it
is kept on average.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaplib.tabular.columns import Column, Records

_DECIMALS = 7  # finer grids are as good as none
_SHARE = 0.2  # of the values lie on the grid; of numbers with one more digit a tenth would by accident


def step_of(values: np.ndarray) -> float:
    """Return the step of the coarsest grid of decimals that a fifth of the values lie on, 0 if there is none."""
    values = values[~np.isnan(values)]
    for decimals in range(_DECIMALS + 1):
        scaled = (values - values.min()) * 10.0**decimals
        whole = np.rint(scaled)
        on = abs(scaled - whole) < 1e-4  # what floats of this size leave of a digit is less
        if whole.max(initial=0) > 1e15:
            return 0.0
        if on.mean() >= _SHARE:
            return float(np.gcd.reduce(whole[on].astype(np.int64))) / 10.0**decimals
    return 0.0


def dearer(columns: Sequence[Column]) -> float:
    """Return what the grids may add to the mean cost of a change: a quarter of a squared step for each column."""
    return float(np.sum([(column.step / column.unit) ** 2 / 4 for column in columns if column.is_number]))


def on_grid(before: Records, after: Records, columns: Sequence[Column], uniform: np.ndarray) -> Records:
    """Return a release whose changes are whole steps; `uniform` has a number for each record and numeric column."""
    step = np.array([column.step for column in columns if column.is_number])
    change = after.numbers - before.numbers
    whole = step * np.floor(change / np.where(step > 0, step, 1.0) + uniform)
    return Records(before.numbers + np.where(step > 0, whole, change), after.codes)
