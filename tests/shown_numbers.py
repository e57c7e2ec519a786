"""Outputs of a notebook, compared by the digits that they show.

Another processor rounds the last bits of a number in another way, and a digit on the edge of rounding flips. So numbers
are compared as numbers, to one unit of the last digit that is printed or recorded.
"""

import ast
import math
import re

# A decimal as it is printed. Integers count things: they are compared as text.
_DECIMAL = re.compile(r"(?<![\w.])[-+]?(?:(?:\d+\.\d*|\.\d+)(?:e[-+]?\d+)?|\d+e[-+]?\d+)")
# What double precision leaves of a zero after thousands of operations on numbers of order one.
_ZERO = 1e-12
# `gaplib.book.notebook.record` keeps nine significant digits: one unit of the last.
_RECORDED = 1e-8


class Shown(str):
    """A text that equals another one which shows the same numbers."""

    def __eq__(self, other):
        return isinstance(other, str) and same(str(self), str(other))

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


def same(text, other):
    """Whether two outputs show the same."""
    if text == other:
        return True
    try:
        return _same_value(ast.literal_eval(text), ast.literal_eval(other))  # as `record` writes them
    except (ValueError, SyntaxError):
        pass
    # A number with another sign or length moves what stands beside it.
    words, others = (" ".join(_DECIMAL.sub(" # ", one).split()) for one in (text, other))
    return words == others and all(map(_same_decimal, _DECIMAL.findall(text), _DECIMAL.findall(other)))


def _same_value(value, other):
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(_same_value(value[key], other[key]) for key in value)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_same_value, value, other))
    if float in (type(value), type(other)) and {type(value), type(other)} <= {float, int}:
        return math.isclose(value, other, rel_tol=_RECORDED, abs_tol=_ZERO)
    return type(value) is type(other) and value == other


def _same_decimal(text, other):
    value, also = float(text), float(other)
    unit = max(map(_unit, (text, other)))
    # 1.5, because the difference of two decimals is itself rounded.
    return abs(value - also) < 1.5 * unit or max(abs(value), abs(also)) < _ZERO


def _unit(text):
    """The unit of the last digit of a decimal."""
    mantissa, _, exponent = text.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
