"""What a release has cost those who use the table: means, deviations, correlations, regressions, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from gaplib.tabular.columns import Column, Records
from gaplib.tabular.space import Space


def distortion(columns: Sequence[Column], before: Records, after: Records) -> pd.DataFrame:
    """Return, by column, the mean squared change and its share of the variance, and how often it changed."""
    rows: list[dict] = []
    classes = 0
    for column in columns:
        if column.is_number:
            number = sum(row["kind"] == "numbers" for row in rows)
            x, z = before.numbers[:, number], after.numbers[:, number]
            square = _mean((z - x) ** 2)
            same = (z == x) | (np.isnan(z) & np.isnan(x))
            relative = square / column.unit**2
            rows.append({"kind": "numbers", "squared change": square, "of the variance": relative})
        else:
            same = before.codes[:, classes] == after.codes[:, classes]
            classes += 1
            rows.append({"kind": "categories", "squared change": np.nan, "of the variance": np.nan})
        rows[-1]["changed"] = float(1 - same.mean()) if len(same) else np.nan
    return pd.DataFrame(rows, index=pd.Index([column.name for column in columns], name="column"))


def total(columns: Sequence[Column], before: Records, after: Records, scale: str) -> float:
    """Return the mean cost of a change, as the estimator's budget counts it."""
    if scale == "none":
        columns = [replace(column, unit=1.0) for column in columns]
    return _mean(Space.of(columns).cost(before, after))


def shown_gaps(columns: Sequence[Column], before: Records, after: Records) -> list:
    """Return the names of the columns that lack values, and for the same records before and after."""
    gaps = [(np.isnan(x), np.isnan(z)) for x, z in zip(before.numbers.T, after.numbers.T, strict=True)]
    classes = [column for column in columns if not column.is_number]
    for column, x, z in zip(classes, before.codes.T, after.codes.T, strict=True):
        absent = [number for number, level in enumerate(column.levels or ()) if level is None]
        gaps.append((np.isin(x, absent), np.isin(z, absent)))
    ordered = [column for column in columns if column.is_number] + classes
    shown = {column.name for column, (x, z) in zip(ordered, gaps, strict=True) if x.any() and (x == z).all()}
    return [column.name for column in columns if column.name in shown]


def use(columns: Sequence[Column], before: Records, after: Records) -> pd.DataFrame:
    """Return statistics before and after: those that users of a table compute first."""
    numbers = [column.name for column in columns if column.is_number]
    rows: dict[str, tuple[float, float]] = {}
    both = before.numbers, after.numbers
    for i, name in enumerate(numbers):
        rows[f"mean of {name}"] = _pair(lambda x, i=i: _mean(x[:, i]), both)
        rows[f"standard deviation of {name}"] = _pair(lambda x, i=i: _deviation(x[:, i]), both)
    classes = [column for column in columns if column.levels is not None]
    for i, column in enumerate(classes):
        for code, level in enumerate(column.levels or ()):
            shares = (_mean(r.codes[:, i] == code) for r in (before, after))
            rows[f"share of {level!r} in {column.name}"] = next(shares), next(shares)
    for i, first in enumerate(numbers):
        for j in range(i):
            rows[f"correlation of {numbers[j]} and {first}"] = _pair(
                lambda x, i=i, j=j: _correlation(x[:, i], x[:, j]), both
            )
    if len(numbers) > 1:
        coefficients = [_regression(x) for x in both]
        for i, name in enumerate(numbers[1:]):
            rows[f"slope of {numbers[0]} on {name}, the other numbers held"] = coefficients[0][i], coefficients[1][i]
    else:
        rows["slope of one number on the others"] = np.nan, np.nan  # there are no others
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["before", "after"])
    frame.index.name = "statistic"
    return frame


def _pair(statistic, both: tuple[np.ndarray, np.ndarray]) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    return statistic(both[0]), statistic(both[1])


def _mean(values: np.ndarray) -> float:
    there = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    return float(there.mean()) if there.size else np.nan


def _deviation(values: np.ndarray) -> float:
    there = values[~np.isnan(values)]
    return float(there.std()) if there.size else np.nan


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    there = ~(np.isnan(a) | np.isnan(b))
    a, b = a[there], b[there]
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return np.nan
    return float(np.corrcoef(a, b)[0, 1])


def _regression(x: np.ndarray) -> np.ndarray:
    """Return the slopes of the first column on the others, NaN where they are not determined."""
    x = x[~np.isnan(x).any(axis=1)]
    unknown = np.full(x.shape[1] - 1, np.nan)
    if len(x) <= x.shape[1]:
        return unknown
    centred = x - x.mean(axis=0)
    units = centred.std(axis=0)
    if (units[1:] <= 1e-12 * (1 + abs(x).max(axis=0)[1:])).any():
        return unknown
    design = centred[:, 1:] / units[1:]
    slopes, _, rank, _ = np.linalg.lstsq(design, centred[:, 0], rcond=1e-9)
    return slopes / units[1:] if rank == design.shape[1] else unknown
