"""Arguments, checked once and named in the error: the argument, its value, what is allowed."""

import math
from numbers import Integral, Real
from typing import TypeVar

import numpy as np

T = TypeVar("T")

# Probabilities typed as decimals carry rounding errors of about 1e-16 each. A table in double precision that misses a
# sum of one by more than this was not meant as a distribution.
SUM_TOLERANCE = 1e-12
# The largest number taken as a length, variance or budget, and the inverse of the smallest: the squares of both are
# still floats.
LARGEST_NUMBER = 1e50


def real(name: str, value: object, low: float = -math.inf, high: float = math.inf) -> float:
    """Return `value` as a float in [low, high]; refuse bool, text, NaN and infinities."""
    allowed = f"a finite number{_range(low, high)}"
    number = _float(name, value, allowed)
    if not (math.isfinite(number) and low <= number <= high):
        raise _wrong_value(name, value, allowed)
    return number


def strict_probability(name: str, value: object) -> float:
    """Return `value` as a probability strictly between 0 and 1, not so small that its inverse is out of bounds."""
    allowed = f"a number strictly between 0 and 1, and at least {1 / LARGEST_NUMBER:g}"
    number = _float(name, value, allowed)
    if not 1 / LARGEST_NUMBER <= number < 1:  # NaN too
        raise _wrong_value(name, value, allowed)
    return number


def order(name: str, value: object) -> float:
    """Return `value`, the order of a loss or an entropy, as a float in [1e-300, inf]; refuse bool, text and NaN."""
    allowed = "a number >= 1e-300 or infinity"  # below it, 1 / order is no longer a float
    number = _float(name, value, allowed)
    if not 1e-300 <= number:  # NaN too
        raise _wrong_value(name, value, allowed)
    return number


def integer(name: str, value: object, low: float = -math.inf, high: float = math.inf) -> int:
    """Return `value` as an int in [low, high]; refuse bool, text and floats."""
    allowed = f"an integer{_range(low, high)}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise _wrong_type(name, value, allowed)
    number = int(value)
    if not low <= number <= high:
        raise _wrong_value(name, value, allowed)
    return number


def choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """Return `value` if it is one of the allowed words."""
    listed = " or ".join(repr(word) for word in allowed)
    if not isinstance(value, str):
        raise _wrong_type(name, value, listed)
    if value not in allowed:
        raise _wrong_value(name, value, listed)
    return value


def flag(name: str, value: object) -> bool:
    """Return `value` if it is True or False."""
    if not isinstance(value, bool):
        raise _wrong_type(name, value, "True or False")
    return value


def instance(name: str, value: object, kind: type[T]) -> T:
    """Return `value` if it is an instance of `kind`."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise _wrong_type(name, value, f"{article} {kind.__name__}")
    return value


def joint_table(name: str, value: object, shape: tuple[int, int] | None = (2, 2)) -> np.ndarray:
    """Return `value` as a read-only table of probabilities that sum to one; shape None allows any size."""
    size = "two-dimensional" if shape is None else f"{shape[0]} x {shape[1]}"
    allowed = f"a {size} table of probabilities that sum to one"
    numbers = _numeric(name, value, allowed)
    # Among numbers, NumPy has turned a bool into one.
    if any(isinstance(entry, (bool, np.bool_)) for entry in np.array(value, dtype=object).flat):
        raise TypeError(f"{name} must be {allowed}, got {value!r} of type {numbers.dtype}")
    table = numbers.astype(float)
    if table.ndim != 2 or shape not in (None, table.shape):
        raise ValueError(f"{name} must be {allowed}, got shape {table.shape}")
    if not (np.isfinite(table).all() and (table >= 0).all()):
        raise ValueError(f"{name} must be {allowed}, got the cells {table.tolist()}")
    with np.errstate(over="ignore"):
        total = table.sum()
    if abs(total - 1) > sum_tolerance(numbers.dtype, table.size):
        raise ValueError(f"{name} must be {allowed}, got the sum {float(total)!r}; divide by it if that was meant")
    table /= total
    table.flags.writeable = False
    return table


def sum_tolerance(dtype: np.dtype, count: int) -> float:
    """Return by how much the sum of `count` probabilities of this type may differ from one."""
    # They were divided by a total of that type: each addition of the total and the division are off by half a unit in
    # the last place. Twice that, for a total that was rounded before.
    return max(SUM_TOLERANCE, count * float(np.finfo(dtype).eps)) if dtype.kind == "f" else SUM_TOLERANCE


def array(name: str, value: object, low: float = -math.inf, high: float = math.inf) -> np.ndarray:
    """Return `value` as an array of floats in [low, high]; refuse bool, text, NaN and infinities."""
    allowed = f"an array of finite numbers{_range(low, high)}"
    given = _numeric(name, value, allowed)
    with np.errstate(over="ignore"):  # an extended number beyond the largest double
        numbers = given.astype(float)  # before the comparison: the bounds may be no numbers of a smaller type
    wrong = ~(np.isfinite(numbers) & (low <= numbers) & (numbers <= high))
    if wrong.any():
        raise ValueError(f"{name} must be {allowed}, got {given[wrong][:5].tolist()}")
    return numbers


def bits(name: str, value: object) -> np.ndarray:
    """Return `value` as a one-dimensional array of the integers 0 and 1; take floats that are 0 or 1 and booleans too.

    A column of bits becomes one of floats when it once had missing values, and one of booleans when it is a comparison.
    """
    allowed = "a one-dimensional array of zeros and ones"
    try:
        numbers = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be {allowed}, got a ragged list") from None
    if numbers.dtype.kind not in "biuf" or isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be {allowed}, got {type(value).__name__} with values of type {numbers.dtype}")
    if numbers.ndim != 1 or numbers.size == 0:
        raise ValueError(f"{name} must be {allowed} and not empty, got shape {numbers.shape}")
    wrong = ~np.isin(numbers, (0, 1))  # NaN too
    if wrong.any():
        raise ValueError(f"{name} must be {allowed}, got other values: {np.unique(numbers[wrong])[:5].tolist()}")
    return numbers.astype(int)


def labels(name: str, value: object, n: int, empty: bool = False) -> np.ndarray:
    """Return `value` as a one-dimensional array of integers in [0, n), with entries unless `empty`."""
    allowed = f"a one-dimensional array of integers in [0, {n - 1}]"
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be {allowed}, got a ragged list") from None
    if empty and array.size == 0:
        return np.zeros(0, int)
    if array.dtype.kind not in "iu" or isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be {allowed}, got {type(value).__name__} with values of type {array.dtype}")
    if array.ndim != 1 or array.size == 0 or array.min() < 0 or array.max() >= n:
        raise ValueError(f"{name} must be {allowed}, got shape {array.shape}: {array.ravel()[:5].tolist()}")
    return array


def same_shape(x: np.ndarray, y: np.ndarray) -> None:
    """Refuse records with an x but no y, or the other way round."""
    if x.shape != y.shape:
        raise ValueError(f"x and y must have the same shape, got {x.shape} and {y.shape}")


def _float(name: str, value: object, allowed: str) -> float:
    """Return `value` as a float, infinite beyond the largest one; refuse what is no real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _wrong_type(name, value, allowed)
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf


def _numeric(name: str, value: object, allowed: str) -> np.ndarray:
    """Return `value` as an array of numbers as they are; refuse masked entries, bool, text and ragged nesting."""
    try:
        numbers = np.asarray(value)
    except ValueError:  # ragged nesting
        raise _wrong_value(name, value, allowed) from None
    if numbers.dtype.kind not in "iuf" or isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be {allowed}, got {value!r} of type {numbers.dtype}")
    return numbers


def _wrong_type(name: str, value: object, allowed: str) -> TypeError:
    return TypeError(f"{name} must be {allowed}, got {value!r} of type {type(value).__name__}")


def _wrong_value(name: str, value: object, allowed: str) -> ValueError:
    return ValueError(f"{name} must be {allowed}, got {value!r}")


def _range(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(high):
        return f" >= {_bound(low)}"
    if math.isinf(low):
        return f" <= {_bound(high)}"
    return f" in [{_bound(low)}, {_bound(high)}]"


def _bound(number: float) -> str:
    """Return a bound in few digits, never another number but for rounding (1 / 1e50 is 1e-50); an integer in full."""
    short = str(number) if isinstance(number, int) else f"{number:g}"
    return short if math.isclose(float(short), number, rel_tol=1e-15) else repr(number)
