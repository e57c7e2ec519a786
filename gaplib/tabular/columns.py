"""A data holder's table as arrays: which columns are numbers, which are categories, and what is refused in words."""

from __future__ import annotations

import datetime
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_array

# A text with more values than this is free text or an identifier: a plan between them would be one between records.
MOST_LEVELS = 50
# A private column with more values than this is a number, or an identifier.
MOST_PRIVATE_VALUES = 20
FEWEST_RECORDS = 10
_LIKE_CARDS = 1e9  # whole numbers from here to the last that floats tell apart are numbers of cards, phones or seconds
_LARGEST = 1e25  # squares of differences of such numbers are still floats

_DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([ T]\d{1,2}:\d\d.*)?\s*")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")
_CALLED_ID = re.compile(
    r"(^|[_\W])(id|uuid|guid|ssn|key|passport|phone|email|e-mail)($|[_\W])|[a-z]I[dD]$", re.IGNORECASE
)


@dataclass(frozen=True)
class Column:
    """A public column as it was fitted.

    `levels` are the values of a category, None among them where values were missing, and None for a number. `unit` is
    the length in which a change of a number is measured, `center` its mean, `span` its range, `missing` the share of
    records without one, `step` that of the grid on which its releases lie, or 0.
    """

    name: Any
    levels: tuple[Any, ...] | None = None
    unit: float = 1.0
    center: float = 0.0
    span: float = 0.0
    missing: float = 0.0
    step: float = 0.0

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.levels is None


@dataclass(frozen=True)
class Records:
    """Records as arrays: `numbers` (n, p) with NaN where missing, `codes` (n, q) of levels with -1 for a new one."""

    numbers: np.ndarray
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: np.ndarray) -> Records:
        """Return some of the records."""
        return Records(self.numbers[rows], self.codes[rows])


def as_frame(X: Any) -> pd.DataFrame:
    """Return a table of pandas, polars, Arrow or NumPy as a data frame of pandas."""
    if isinstance(X, pd.DataFrame):
        frame = X
    elif type(X).__module__.split(".")[0] in ("polars", "pyarrow") and hasattr(X, "to_pandas"):
        frame = X.to_pandas()
    else:
        array = check_array(X, dtype=None, ensure_all_finite=False)
        frame = pd.DataFrame(array, columns=[f"x{number}" for number in range(array.shape[1])])
    if frame.columns.nlevels > 1:
        raise ValueError("X must have one name for each column, got columns of several levels")
    twice = frame.columns[frame.columns.duplicated()].unique().tolist()
    if twice:
        raise ValueError(f"X must have a name of its own for each column, got {twice[:5]} more than once")
    return frame


def column_name(argument: str, column: Any, frame: pd.DataFrame) -> Any:
    """Return the name of a column that was given by its name or its number."""
    if isinstance(column, (bool, np.bool_)) or not isinstance(column, (str, int, np.integer)):
        raise TypeError(f"{argument} must be the name or the number of a column, got {column!r}")
    if column in frame.columns:
        return column
    if isinstance(column, str):
        shown = [str(name) for name in frame.columns[:10]]
        hint = "; is it a table with another separator?" if len(shown) == 1 and re.search(r"[;\t|]", shown[0]) else ""
        raise ValueError(f"{argument} must be one of the columns {shown}, got {column!r}{hint}")
    if not -frame.shape[1] <= column < frame.shape[1]:
        raise ValueError(f"{argument} must be the number of one of {frame.shape[1]} columns, got {column}")
    return frame.columns[column]


def public_names(public: Sequence[Any] | None, private: Any, frame: pd.DataFrame) -> list[Any]:
    """Return the names of the public columns: those given, or all but the private one."""
    if public is None:
        names = [name for name in frame.columns if name != private]
    else:
        if isinstance(public, (str, int)):
            public = [public]
        names = [column_name("public", column, frame) for column in public]
    if not names:
        raise ValueError(
            f"public must name at least one column beside the private column {private!r}, got a table of "
            f"n_features = {frame.shape[1]} columns"
        )
    if private in names:
        raise ValueError(f"public must not name the private column {private!r}")
    if len(set(names)) < len(names):
        raise ValueError(f"public must name each column once, got {names}")
    return names


def private_levels(series: pd.Series, fitting: bool = True) -> tuple[Any, ...]:
    """Return the values of the private column; refuse what cannot be hidden or, in a fit, learned."""
    what = f"the private column {series.name!r}"
    if series.isna().any():
        raise ValueError(
            f"{what} has {int(series.isna().sum())} missing values: drop these records, or give them their own value"
        )
    _refuse_dates(series, what)
    values = _levels(series, what)
    if len(values) < 2 and fitting:
        raise ValueError(f"{what} must have at least two values, got {list(values)}: there is nothing to hide")
    if len(values) > MOST_PRIVATE_VALUES:
        kind = "numbers" if all(isinstance(value, Number) for value in values) else "values"
        raise ValueError(
            f"{what} must have at most {MOST_PRIVATE_VALUES} values, got {len(values)} {kind}: make them classes first"
        )
    if len(values) > 2 and any(isinstance(value, float) and not value.is_integer() for value in values):
        raise ValueError(f"{what} must hold classes, got the numbers {list(values)[:5]}: make classes of them first")
    few = [value for value in values if (series == value).sum() < 2]
    if few and fitting:
        raise ValueError(f"{what} must have at least two records of each value, got one of {few[:5]}")
    return values


def levels_seen(series: pd.Series) -> tuple[Any, ...]:
    """Return the values of a category in a released table, None among them where some are missing."""
    present = series.dropna()
    levels = _levels(present, f"the public column {series.name!r}") if len(present) else ()
    return (*levels, None) if series.isna().any() else levels


def public_column(series: pd.Series, scale: str) -> Column:
    """Return what a public column is; refuse identifiers, dates, and what is neither numbers nor classes."""
    what = f"the public column {series.name!r}"
    _refuse_dates(series, what)
    present = series.dropna()
    if present.empty:
        raise ValueError(f"{what} must have values, got {len(series)} missing ones")
    if _holds_numbers(present):
        values = _numbers(present, what)
        if not set(np.unique(values).tolist()) <= {0.0, 1.0}:  # bits stay bits, though they are stored as numbers
            _refuse_counters(series, values, what)
            unit = float(values.std()) if scale == "std" else 1.0
            span = float(np.ptp(values))
            if unit <= 1e-12 * float(abs(values).max()):  # a constant, but for the rounding of its mean
                unit = 1.0
            return Column(series.name, None, unit, float(values.mean()), span, float(series.isna().mean()))
    levels = _levels(present, what)
    numeric = sum(_is_number(level) for level in levels)
    if 10 < numeric < len(levels) < 2 * numeric:  # fewer may be classes, such as 0, 1, 2, 3+
        raise ValueError(
            f"{what} holds numbers and {len(levels) - numeric} values that are none: leave those empty if they miss"
        )
    if len(levels) > MOST_LEVELS:
        hint = "identifiers or free text"
        if sum(bool(_DECIMAL_COMMA.fullmatch(str(level))) for level in levels) > len(levels) / 2:
            hint = "numbers with a decimal comma, which must be a point"
        raise ValueError(f"{what} must be of numbers, or have at most {MOST_LEVELS} values, got {len(levels)}: {hint}")
    _refuse_names(series, levels, what)
    return Column(series.name, (*levels, None) if series.isna().any() else levels)


def records(frame: pd.DataFrame, columns: Sequence[Column]) -> Records:
    """Return the public columns of a table, as they were fitted."""
    numbers = [_as_fitted(frame[column.name], column) for column in columns if column.is_number]
    codes = [_codes_as_fitted(frame[column.name], column) for column in columns if not column.is_number]
    n = len(frame)
    return Records(
        np.stack(numbers, axis=1) if numbers else np.zeros((n, 0)),
        np.stack(codes, axis=1) if codes else np.zeros((n, 0), int),
    )


def level_codes(series: pd.Series, levels: Sequence[Any]) -> np.ndarray:
    """Return the number of each value's level, -1 for a value that is none of them."""
    present = [level for level in levels if level is not None]
    codes = pd.Index(present, dtype=object).get_indexer(pd.Index(series.astype(object)))
    if None in levels:
        codes = np.where(series.isna(), len(present), codes)
    return codes.astype(np.int64)


def one_makes_the_variance(series: pd.Series) -> bool:
    """Return whether more than half of a column's variance is that of a single record."""
    values = series.dropna().to_numpy(dtype=float)
    squares = (values - values.mean()) ** 2
    return bool(squares.max() > squares.sum() / 2)


def unlike_fitted(series: pd.Series, column: Column) -> int:
    """Return how many records have a category that was not fitted, or lack a value where none was missing."""
    if column.levels is not None:
        return int((level_codes(series, column.levels) < 0).sum())
    return int(series.isna().sum()) if column.missing == 0 else 0


def _as_fitted(series: pd.Series, column: Column) -> np.ndarray:
    what = f"the public column {column.name!r}"
    present = series.dropna()
    if len(present) and not _holds_numbers(present):
        raise ValueError(f"{what} must hold numbers, as it did when the mechanism was fitted, got {_example(present)}")
    if len(present) == len(series):
        return _numbers(series, what)
    values = np.full(len(series), np.nan)
    values[series.notna().to_numpy()] = _numbers(present, what)
    return values


def _codes_as_fitted(series: pd.Series, column: Column) -> np.ndarray:
    levels = column.levels or ()
    codes = level_codes(series, levels)
    new, fitted = series[codes < 0].dropna(), {isinstance(level, str) for level in levels if level is not None}
    if len(new) and {isinstance(value, str) for value in new.astype(object)} - fitted:
        kind = "text" if fitted == {True} else "no text"
        raise ValueError(
            f"the public column {column.name!r} must hold {kind}, as it did when the mechanism was fitted, got "
            f"{_example(new)}"
        )
    return codes


def _holds_numbers(present: pd.Series) -> bool:
    if pd.api.types.is_bool_dtype(present.dtype) or isinstance(present.dtype, pd.CategoricalDtype):
        return False
    if pd.api.types.is_numeric_dtype(present.dtype):
        return True
    return present.dtype == object and bool(
        present.map(
            lambda value: isinstance(value, (Number, Decimal)) and not isinstance(value, (bool, np.bool_))
        ).all()
    )


def _numbers(present: pd.Series, what: str) -> np.ndarray:
    if pd.api.types.is_complex_dtype(present.dtype) or (
        present.dtype == object and present.map(lambda value: isinstance(value, complex)).any()
    ):
        raise ValueError(f"{what} must hold real numbers. Complex data not supported")
    values = present.to_numpy(dtype=float)
    wrong = ~(abs(values) <= _LARGEST)
    if wrong.any():
        raise ValueError(
            f"{what} must hold finite numbers of at most {_LARGEST:g}, got larger ones or infinity in "
            f"{int(wrong.sum())} of {len(values)} records"
        )
    return values


def _levels(present: pd.Series, what: str) -> tuple[Any, ...]:
    try:
        values = present.unique().tolist()
    except TypeError:
        raise TypeError(f"{what} must hold numbers or text, got {_example(present)}") from None
    wrong = [v for v in values if not isinstance(v, (str, bool, int, float)) and not isinstance(v, np.generic)]
    if wrong:
        raise TypeError(f"{what} must hold numbers or text, got a {type(wrong[0]).__name__}")
    if len({isinstance(value, str) for value in values}) > 1:
        raise ValueError(f"{what} must hold numbers or text, got both: {_example(present)}")
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    if any(isinstance(value, float) and not np.isfinite(value) for value in plain):
        raise ValueError(f"{what} must hold finite numbers, got infinity")
    return tuple(sorted(plain))


def _is_number(level: Any) -> bool:
    try:
        float(level)
    except ValueError:
        return False
    return isinstance(level, str)


def _refuse_dates(series: pd.Series, what: str) -> None:
    present = series.dropna()
    kind = series.dtype.kind if hasattr(series.dtype, "kind") else ""
    dated = kind in ("M", "m") or isinstance(series.dtype, pd.PeriodDtype)
    if not dated and (series.dtype == object or isinstance(series.dtype, (pd.StringDtype, pd.CategoricalDtype))):
        seen = present.astype(object).iloc[:1000]
        dated = any(isinstance(v, (datetime.date, datetime.time, datetime.timedelta)) for v in seen)
        texts = [value for value in seen if isinstance(value, str)]
        dated |= len(texts) > 0 and all(_DATE.fullmatch(text) for text in texts)
    if dated:
        raise ValueError(
            f"{what} must hold numbers or classes, got dates: make them numbers, such as ages, or leave it out"
        )


def _refuse_counters(series: pd.Series, values: np.ndarray, what: str) -> None:
    """Refuse whole numbers of which no two are equal and that count the records, or are called an identifier.

    Long ones are refused also where some are equal.
    """
    n, different = len(values), len(np.unique(values))
    if n < FEWEST_RECORDS or not (values == np.round(values)).all():
        return
    if different > n / 2 and values.min() >= _LIKE_CARDS and values.max() < 2.0**53:
        raise ValueError(
            f"{what} looks like an identifier or a time, whole numbers of ten digits and more: leave it out, or make "
            "the time a number such as an age"
        )
    if different < n:
        return
    steps = np.diff(values)
    if np.ptp(values) == n - 1 or (steps > 0).all() or (steps < 0).all() or _CALLED_ID.search(str(series.name)):
        raise ValueError(f"{what} looks like an identifier, a number of its own for each record: leave it out")


def _refuse_names(series: pd.Series, levels: Sequence[Any], what: str) -> None:
    """Refuse a text that names each record."""
    if len(levels) > len(series) / 2 and len(levels) >= FEWEST_RECORDS and isinstance(levels[0], str):
        raise ValueError(
            f"{what} looks like an identifier, with {len(levels)} values in {len(series)} records: leave it out"
        )


def _example(present: pd.Series) -> str:
    """Return the types of a column's values: a message must not show a record."""
    kinds = sorted({type(value).__name__ for value in present.astype(object).iloc[:1000]})
    return " and ".join(f"values of type {kind}" for kind in kinds)


def replaced(frame: pd.DataFrame, columns: Sequence[Column], before: Records, after: Records) -> pd.DataFrame:
    """Return the public columns of a table with other values; what has not changed keeps its type."""
    released: dict[Any, Any] = {}
    numbers, classes = iter(range(before.numbers.shape[1])), iter(range(before.codes.shape[1]))
    for column in columns:
        series = frame[column.name]
        if column.levels is None:
            released[column.name] = after.numbers[:, next(numbers)]
            continue
        number = next(classes)
        changed = before.codes[:, number] != after.codes[:, number]
        released[column.name] = _with_levels(series, column.levels, after.codes[:, number], changed)
    return pd.DataFrame(released, index=frame.index, columns=pd.Index([column.name for column in columns]))


def _with_levels(series: pd.Series, levels: Sequence[Any], codes: np.ndarray, changed: np.ndarray) -> pd.Series:
    if not changed.any():
        return series
    values = series.astype(object).to_numpy(copy=True)
    values[changed] = np.array([*levels, None], dtype=object)[codes[changed]]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return pd.Series(values, index=series.index).astype(series.dtype)
    except (TypeError, ValueError, Warning):  # a type that cannot hold a missing value
        return pd.Series(values, index=series.index).infer_objects()
