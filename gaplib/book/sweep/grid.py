"""The values of a parameter that varies, as a command line writes them: ``1:9``, ``0:1:0.25``, ``.5,.75``."""

import ast
from decimal import Decimal
from typing import Any

from gaplib.book.parameters import Parameter

# A slip of the keyboard such as 0:1e9:1e-3 should fail at once, not fill the memory.
MOST_RUNS = 1_000_000


def split(text: str) -> tuple[str, str]:
    """Return the name and the values of ``NAME=VALUES``."""
    name, sign, spec = text.partition("=")
    if not (sign and name and spec):
        raise ValueError(f"grid must be NAME=VALUES, such as D=1:9 or prior=.5,.75, got {text!r}")
    return name.strip(), spec


def values(parameter: Parameter, spec: str) -> list[Any]:
    """Return the values that a text stands for, each once, in the order given.

    Parameters
    ----------
    parameter : Parameter
    spec : str
        Values with commas between them. Of a number also ``FIRST:LAST`` or ``FIRST:LAST:STEP``; both ends are included.

    Returns
    -------
    list

    Raises
    ------
    TypeError, ValueError
        If a value has another type or is not allowed, the steps do not end at LAST, or there are more than a million.
    """
    found = _lists(parameter, spec) if parameter.type == "list" else _parsed(parameter, spec)
    return list({repr(value): value for value in found}.values())


def _parsed(parameter: Parameter, spec: str) -> list[Any]:
    texts: list[str] = []
    for part in spec.split(","):
        texts += _steps(parameter.name, part) if ":" in part and parameter.type in ("float", "int") else [part]
        if len(texts) > MOST_RUNS:
            raise ValueError(f"{parameter.name} must have at most {MOST_RUNS:,} values, got {spec!r}")
    return [parameter.parse(text) for text in texts]


def _lists(parameter: Parameter, spec: str) -> list[Any]:
    """Return lists with commas between them: their own commas are not those that part them."""
    try:
        found = ast.literal_eval(f"[{spec}]")
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise TypeError(f"{parameter.name} must be lists, such as [1, 2],[3], got {spec!r}") from None
    for value in found:
        parameter.check(value)
    return found


def _steps(name: str, part: str) -> list[str]:
    """Return the numbers from FIRST to LAST, in exact decimals."""
    allowed = f"{name} must be FIRST:LAST or FIRST:LAST:STEP, with STEP > 0 and LAST >= FIRST, got {part!r}"
    try:
        first, last, step = [Decimal(text.strip()) for text in [*part.split(":"), "1"][:3]]
        number = int((last - first) / step) + 1
        rest = (last - first) % step
    except (ArithmeticError, ValueError):
        raise ValueError(allowed) from None
    if part.count(":") > 2 or not (first.is_finite() and last.is_finite() and step > 0 and last >= first):
        raise ValueError(allowed)
    if number > MOST_RUNS:
        raise ValueError(f"{name} must have at most {MOST_RUNS:,} values, got {part!r}")
    if rest:
        end = first + (number - 1) * step
        raise ValueError(
            f"{name} must reach LAST in whole steps; {part} ends at {end}, and the next step is {end + step}"
        )
    return [str(first + i * step) for i in range(number)]
