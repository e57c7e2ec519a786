"""The parameters of a notebook, as its parameters cell declares them.

A line of the cell declares one parameter: name, type, default, meaning, and what is allowed::

    D: float = 0.1  # budget, the largest probability of a flip, in [0, 0.5]
    n: int = 1000  # records in the simulation, in [1, 10000000]
    seed: int = 0  # seed of the simulation, in [0, inf)
    kind: str = "pdd"  # whether the mechanism sees Y, "pdd" or "pdi"
    quick: bool = False  # True trains with fewer steps

The text is read, never executed. So the commands, the pages of the book and the notebook itself share one declaration,
and papermill shows it with ``--help-notebook``. Chapters have no other types. Somebody's own notebook may also have
lists, ``T | None``, and lines without a type, which then is that of the default.
"""

import ast
import difflib
import io
import json
import math
import re
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from gaplib import _checks

if TYPE_CHECKING:
    import nbformat

_INTERVAL = re.compile(r"(?:(.*?),? )??in ([\[(]) *([^][(),]+), *([^][(),]+)([\])])")
_WORDS = re.compile(r'(.*?), ("[^"]*"(?:(?:, | or )"[^"]*")+)')
_OPTIONAL = re.compile(r"(?:typing\.)?Optional\[(.+)\]|(.+) \| None|None \| (.+)")
_LIST = re.compile(r"(?:typing\.)?[lL]ist(?:\[.+\])?")
# Exponents beyond this belong to no float, and the integer would fill the memory.
_MOST_DIGITS = 400
# What reading a text as Python or as a value may raise, one that is nested too deep included.
_UNREADABLE = (ValueError, KeyError, TypeError, ArithmeticError, SyntaxError, MemoryError, RecursionError)


@dataclass(frozen=True)
class Parameter:
    """One line of a parameters cell.

    Attributes
    ----------
    name : str
    type : {"float", "int", "bool", "str", "list"}
    default : float, int, bool, str, list or None
    meaning : str
        What it is, without what is allowed.
    allowed : tuple
        Of a number the least and the largest one, both allowed if finite; of a text the allowed words. Empty if every
        value of the type is allowed.
    optional : bool
        Whether None is allowed as well.
    """

    name: str
    type: str
    default: Any
    meaning: str
    allowed: tuple = ()
    optional: bool = False

    def check(self, value: object) -> None:
        """Refuse a value of another type, or one that is not allowed.

        Parameters
        ----------
        value : object

        Raises
        ------
        TypeError
            If `value` has another type. Text is the usual case: YAML reads ``1e-3`` as text (``1.0e-3`` is the
            number), and ``-p flag false`` passes the word.
        ValueError
            If `value` is not allowed; the message names the parameter, the value and what is allowed.
        """
        if value is None and self.optional:
            return
        try:
            self._check(value)
        except (TypeError, ValueError) as error:
            if self.optional:
                raise type(error)(f"{error}; None is allowed too") from None
            raise

    def _check(self, value: object) -> None:
        if self.type == "bool":
            _checks.flag(self.name, value)
        elif self.type == "float":
            _checks.real(self.name, value, *self.allowed)
        elif self.type == "int":
            _checks.integer(self.name, value, *self.allowed)
        elif self.type == "str" and self.allowed:
            _checks.choice(self.name, value, self.allowed)
        elif self.type == "str":
            _checks.instance(self.name, value, str)
        elif not _is_plain_list(value):
            kind = type(value).__name__
            raise TypeError(f"{self.name} must be a list of numbers, texts or lists, got {value!r} of type {kind}")

    def parse(self, text: str) -> Any:
        """Return the value that a text stands for, as it is typed on a command line.

        Parameters
        ----------
        text : str
            Of an integer also ``1e5``, of a truth value ``true`` or ``False``, of a list a Python literal.

        Returns
        -------
        float, int, bool, str, list or None

        Raises
        ------
        TypeError
            If the text stands for no value of this type.
        ValueError
            If the value is not allowed.
        """
        if self.optional and text.strip() == "None":
            return None
        read, what = _PARSERS[self.type]
        try:
            value = read(text.strip() if self.type != "str" else text)
        except _UNREADABLE:
            raise TypeError(f"{self.name} must be {what}, got {text!r}") from None
        self.check(value)
        return value


def declared(notebook: "nbformat.NotebookNode") -> dict[str, Parameter]:
    """Return what the cell tagged ``parameters`` of a notebook declares.

    Parameters
    ----------
    notebook : nbformat.NotebookNode

    Returns
    -------
    dict of str to Parameter
        By name, in the order of the cell; empty if there is no such cell.

    Raises
    ------
    ValueError
        If a line of the cell is not a declaration.
    """
    for cell in notebook.cells:
        if "parameters" in cell.metadata.get("tags", []):
            return read(cell.source)
    return {}


def read(source: str) -> dict[str, Parameter]:
    """Return what the text of a parameters cell declares.

    Parameters
    ----------
    source : str

    Returns
    -------
    dict of str to Parameter
        By name, in the order of the cell.

    Raises
    ------
    ValueError
        If a line is not ``name: type = default  # meaning, what is allowed``, or the default is not allowed; the
        message says which.
    TypeError
        If a default has another type than its line says.
    """
    try:
        statements = ast.parse(source).body
        comments = _comments(source)
    except (tokenize.TokenError, *_UNREADABLE) as error:
        raise ValueError(f"the parameters cell must be plain Python, got: {error}") from None
    found = {}
    for statement in statements:
        if isinstance(statement, (ast.Import, ast.ImportFrom)) or _is_docstring(statement):
            continue  # declares nothing
        parameter = _parameter(statement, comments.get(statement.end_lineno or 0, ""))
        if parameter is None:
            raise ValueError(
                "a parameter must be declared as `name: type = default  # meaning`, with the type "
                f"{', '.join(_PARSERS)} or one of these `| None`, and a literal of this type as default, got "
                f"{ast.get_source_segment(source, statement)!r}"
            )
        parameter.check(parameter.default)
        found[parameter.name] = parameter
    return found


def check_history(history: Sequence[str], names: dict[str, object]) -> None:
    """Check the parameters of a running notebook by the cells that ran before.

    Papermill neither checks types nor refuses a name that the notebook does not have. This does both. The parameters
    cell is the last one that consists of annotated defaults alone.

    Parameters
    ----------
    history : sequence of str
        The cells that ran, IPython's ``In``.
    names : dict
        The values, by name.

    Raises
    ------
    TypeError, ValueError
        If a value has the wrong type or is not allowed, or if papermill set a name that is not declared.
    """
    cells = [source for source in history if _declares(source)]
    parameters = read(cells[-1]) if cells else {}
    for name in _injected(history):
        if name not in parameters:
            raise ValueError(unknown(name, parameters))
    for name, parameter in parameters.items():
        parameter.check(names[name])


def unknown(name: str, parameters: Iterable[str]) -> str:
    """Return the message for a name that a notebook does not have, with the one that may have been meant.

    Parameters
    ----------
    name : str
    parameters : iterable of str
        The names that it has.

    Returns
    -------
    str
    """
    same = [other for other in parameters if other.lower() == name.lower()]
    close = same or difflib.get_close_matches(name, parameters, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return f"unknown parameter {name!r}{hint}; this notebook has: {', '.join(parameters) or 'none'}"


def _parameter(statement: ast.stmt, comment: str) -> Parameter | None:
    """Return what a statement declares, or None if it is no declaration."""
    target: ast.expr
    if isinstance(statement, ast.AnnAssign):
        target, annotation = statement.target, ast.unparse(statement.annotation)
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, annotation = statement.targets[0], ""
    else:
        return None
    if not isinstance(target, ast.Name) or statement.value is None:
        return None
    try:
        default = ast.literal_eval(statement.value)
    except _UNREADABLE:
        return None
    match = _OPTIONAL.fullmatch(annotation)
    kind = next(filter(None, match.groups())) if match else annotation or type(default).__name__
    kind = "list" if _LIST.fullmatch(kind) else kind
    if kind not in _PARSERS:
        return None
    if kind == "float" and type(default) is int:
        default = float(default)
    meaning, allowed = _meaning(target.id, kind, comment)
    return Parameter(target.id, kind, default, meaning, allowed, optional=match is not None)


def _meaning(name: str, kind: str, comment: str) -> tuple[str, tuple]:
    """Take a comment apart: what the parameter means, and what is allowed."""
    if kind == "str" and (match := _WORDS.fullmatch(comment)):
        return match[1], tuple(re.findall(r'"([^"]*)"', match[2]))
    if kind in ("int", "float") and (match := _INTERVAL.fullmatch(comment)):
        meaning, opens, low, high, closes = match.groups()
        ends = [_end(kind, low), _end(kind, high)]
        if ends != [None, None]:  # otherwise it is prose, such as a unit in brackets
            whole = (opens == "[" or ends[0] == -math.inf) and (closes == "]" or ends[1] == math.inf)
            if None in ends or not whole or ends[0] > ends[1]:
                raise ValueError(
                    f"what is allowed of parameter {name!r} must be declared as `in [low, high]`, both ends allowed, "
                    f"or `in [low, inf)`, got {comment!r}"
                )
            return meaning or "", tuple(ends)
    return comment, ()


def _end(kind: str, text: str) -> Any:
    """Return the number at an end of an interval, or None if the text is none."""
    try:
        return math.copysign(math.inf, float(text)) if "inf" in text else _PARSERS[kind][0](text.strip())
    except _UNREADABLE:
        return None


def _comments(source: str) -> dict[int, str]:
    """Return the comments by the number of their line; a # in a text is none."""
    return {
        token.start[0]: token.string.lstrip("# ").rstrip()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _declares(source: str) -> bool:
    """Whether a cell consists of annotated defaults alone."""
    try:
        body = ast.parse(source).body
    except _UNREADABLE:  # a magic of IPython, for instance
        return False
    return bool(body) and all(isinstance(statement, ast.AnnAssign) and statement.value for statement in body)


def _injected(history: Iterable[str]) -> list[str]:
    """Return the names that papermill's own cell assigns; the cell is known by its first line."""
    sources = [source for source in history if source.startswith("# Parameters\n")]
    assignments = [node for source in sources for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    return [target.id for node in assignments for target in node.targets if isinstance(target, ast.Name)]


def _integer(text: str) -> int:
    number = Decimal(text)
    if not number.is_finite() or number.adjusted() > _MOST_DIGITS or number != number.to_integral_value():
        raise ValueError
    return int(number)


def _flag(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def _text(text: str) -> str:
    text.encode()  # refuses bytes of the command line that are no text
    return text


def _list(text: str) -> list:
    value = ast.literal_eval(text)
    if not isinstance(value, list):
        raise ValueError
    return value


def _is_plain_list(value: object) -> bool:
    """Whether a value is a list that a file can hold."""
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return isinstance(value, list)


# How the text of each type is read, and what it must be.
_PARSERS: dict[str, tuple[Any, str]] = {
    "float": (float, "a number"),
    "int": (_integer, "an integer"),
    "bool": (_flag, "True or False"),
    "str": (_text, "a text"),
    "list": (_list, "a list, such as [1, 2]"),
}
