"""The parameters of a notebook, as its parameters cell declares them.

A line of the cell declares one parameter: name, type, default, meaning, and what is allowed::

    D: float = 0.1  # budget, the largest probability of a flip, in [0, 0.5]
    n: int = 1000  # records in the simulation, in [1, 10000000]
    seed: int = 0  # seed of the simulation, in [0, inf)
    kind: str = "pdd"  # whether the mechanism sees Y, "pdd" or "pdi"
    quick: bool = False  # True trains with fewer steps

The text is read, never executed. So the commands, the pages of the book and the notebook itself share one declaration,
and papermill shows it with ``--help-notebook``.
"""

import ast
import difflib
import io
import re
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import nbformat

from gaplib import _checks

_INTERVAL = re.compile(r"(.*), in \[([^,]+), (?:([^,]+)\]|inf\))")
_CHOICES = re.compile(r'(.*?), ("[^"]*"(?: or "[^"]*")+)')
_TYPES = ("float", "int", "bool", "str")


@dataclass(frozen=True)
class Parameter:
    """One line of a parameters cell.

    Attributes
    ----------
    name : str
    type : {"float", "int", "bool", "str"}
    default : float, int, bool or str
    meaning : str
        What it is, without what is allowed.
    allowed : str
        As declared: an interval, or words in quotes; empty if every value of the type is allowed.
    """

    name: str
    type: str
    default: float | int | bool | str
    meaning: str
    allowed: str = ""

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
        if self.type == "bool":
            _checks.flag(self.name, value)
        elif self.type == "float":
            _checks.real(self.name, value, *self._interval())
        elif self.type == "int":
            _checks.integer(self.name, value, *self._interval())
        elif self.allowed:
            _checks.choice(self.name, value, tuple(re.findall(r'"([^"]*)"', self.allowed)))
        else:
            _checks.instance(self.name, value, str)

    def _interval(self) -> tuple[float, ...]:
        if not self.allowed:
            return ()
        low, high = self.allowed.strip("[])").split(", ")
        number = int if self.type == "int" else float
        return (number(low),) if high == "inf" else (number(low), number(high))


def declared(notebook: nbformat.NotebookNode) -> dict[str, Parameter]:
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
        If a line is not ``name: type = default  # meaning, what is allowed``; the message says which.
    """
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    lines = source.splitlines()
    found = {}
    for statement in ast.parse(source).body:
        line = lines[statement.lineno - 1]
        parameter = _parameter(statement, comments.get(statement.end_lineno or 0, ""))
        if parameter is None:
            raise ValueError(
                "a parameter must be declared as `name: type = default  # meaning`, with a type out of "
                f"{', '.join(_TYPES)} and a default of that type, got {line!r}"
            )
        found[parameter.name] = parameter
    for parameter in found.values():
        parameter.check(parameter.default)
    return found


def _parameter(statement: ast.stmt, comment: str) -> Parameter | None:
    if not (
        isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and isinstance(statement.annotation, ast.Name)
        and statement.annotation.id in _TYPES
        and statement.value is not None
    ):
        return None
    try:
        default = ast.literal_eval(statement.value)
    except ValueError:
        return None
    kind = statement.annotation.id
    if kind == "float" and type(default) is int:
        default = float(default)
    if type(default).__name__ != kind:
        return None
    pattern = {"float": _INTERVAL, "int": _INTERVAL, "str": _CHOICES}.get(kind)
    match = pattern.fullmatch(comment) if pattern else None
    meaning = match[1] if match else comment
    return Parameter(statement.target.id, kind, default, meaning, comment[len(meaning) :].removeprefix(", in ").removeprefix(", "))


def check_history(history: Sequence[str], names: dict[str, object]) -> None:
    """Check the parameters of a running notebook by the cells that ran before.

    Papermill neither checks types nor refuses a name that the notebook does not have. This does both.

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
    parameters = next(filter(None, map(_declaration, reversed(history))), {})
    for name in _injected(history):
        if name not in parameters:
            raise ValueError(unknown(name, parameters))
    for name, parameter in parameters.items():
        parameter.check(names[name])


def _declaration(source: str) -> dict[str, Parameter]:
    """Return what a cell declares if it is a parameters cell; any other cell declares nothing."""
    try:
        return read(source)
    except (SyntaxError, ValueError, tokenize.TokenError):
        return {}


def _injected(history: Iterable[str]) -> list[str]:
    """Return the names that papermill's own cell assigns; the cell is known by its first line."""
    sources = [source for source in history if source.startswith("# Parameters\n")]
    assignments = [node for source in sources for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    return [target.id for node in assignments for target in node.targets if isinstance(target, ast.Name)]


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
