"""What every notebook of the book does: a quiet kernel, checked parameters, claims, recorded results."""

import gaplib._threads  # noqa: F401, I001  (before NumPy)

import ast
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from gaplib import _checks

# The results that later chapters and the site read are those of the committed notebooks, never of a re-run with
# other parameters: a re-run carries its own in its own file.
COMMITTED = Path(__file__).resolve().parent.parent / "notebooks"
# As MyST-NB's `glue` and scrapbook store a value: in the outputs, under a type that no page displays.
_PREFIX = "application/papermill.record/"
_HOLDS = "holds: "
# Enough for any comparison in the book, and few enough that another processor's last bits do not show.
_RECORDED_DIGITS = 9

Check = Callable[[str, object], object]


def start() -> None:
    """Make the kernel quiet; the first call of every notebook, before TensorFlow can be imported."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    # Not only chatter: oneDNN's kernels also change the low bits of a result.
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"


def real(low: float = -np.inf, high: float = np.inf) -> Check:
    """Allow a finite number in [low, high]; integers pass, text and bools do not.

    Parameters
    ----------
    low, high : float
        Both are allowed; without them every finite number is.

    Returns
    -------
    check
        For `check_parameters`.
    """
    return partial(_checks.real, low=low, high=high)


def integer(low: float = -np.inf, high: float = np.inf) -> Check:
    """Allow an integer in [low, high].

    Parameters
    ----------
    low, high : float
        Both are allowed if they are integers; without them every integer is.

    Returns
    -------
    check
        For `check_parameters`.
    """
    return partial(_checks.integer, low=low, high=high)


def choice(*allowed: str) -> Check:
    """Allow one of the given words.

    Parameters
    ----------
    *allowed : str
        The words.

    Returns
    -------
    check
        For `check_parameters`.
    """
    return partial(_checks.choice, allowed=allowed)


def flag() -> Check:
    """Allow True or False; the text "false", which Python counts as true, is refused.

    Returns
    -------
    check
        For `check_parameters`.
    """
    return _checks.flag


def folder() -> Check:
    """Allow the path of a folder, or an empty text.

    Returns
    -------
    check
        For `check_parameters`.
    """
    return _checks.folder


def check_parameters(**declared: Check) -> None:
    """Check the notebook's parameters; the cell after the one tagged ``parameters``.

    Papermill neither checks types nor refuses a name that the notebook does not have. This does both.

    Parameters
    ----------
    **declared : check
        One for each name of the parameters cell, made by `real`, `integer`, `choice`, `flag` or `folder`.

    Raises
    ------
    TypeError
        If a parameter has the wrong type. Text is the usual case: YAML reads ``1e-3`` as text (``1.0e-3`` is the
        number), and ``-p flag false`` passes the word.
    ValueError
        If a parameter is out of its range, is not set, or if papermill set a name that is not declared.

    Examples
    --------
    ``notebook.check_parameters(D=notebook.real(0), seed=notebook.integer(0))``
    """
    names = sys._getframe(1).f_globals
    for name in _injected(names.get("In", [])):
        if name not in declared:
            raise ValueError(_checks.unknown_parameter(name, declared))
    for name, check in declared.items():
        if name not in names:
            raise ValueError(f"parameter {name!r} is not set; run the parameters cell first")
        check(name, names[name])


def claim(statement: str, holds: bool) -> None:
    """Assert one claim of the notebook and print it.

    Parameters
    ----------
    statement : str
        The claim, in words.
    holds : bool
        Whether it holds, computed in the notebook.

    Raises
    ------
    TypeError
        If `statement` is not a text, or `holds` not a single truth value.
    AssertionError
        If it does not hold.
    """
    _checks.instance("statement", statement, str)
    if not isinstance(holds, (bool, np.bool_)):
        raise TypeError(f"holds must be True or False, got {holds!r} of type {type(holds).__name__}")
    if not holds:
        raise AssertionError(f"does not hold: {statement}")
    print(_HOLDS + statement)


def record(**results: object) -> None:
    """Record results in the output of the running cell, for later chapters, pages and sweeps.

    Parameters
    ----------
    **results : number, str, bool, None, array, or list or dict of these
        Floats are kept to 9 significant digits.

    Raises
    ------
    TypeError
        If a result is of another type.
    ValueError
        If a number is NaN or infinite.
    """
    from IPython.display import display  # here, because a program that only computes has no use for it

    plain = {name: _plain(name, value) for name, value in results.items()}
    for name, value in plain.items():
        display(
            {_PREFIX + "text/plain": repr(value), _PREFIX + "application/json": json.dumps(value)},
            metadata={"scrapbook": {"name": name, "mime_prefix": _PREFIX}},
            raw=True,
        )


def results(notebook: str | Path) -> dict:
    """Return what a notebook recorded.

    Parameters
    ----------
    notebook : str or Path
        The name of a committed notebook, such as ``"03_binary_pdd"``, or the path of any executed one.

    Returns
    -------
    dict
        Name to value.

    Raises
    ------
    TypeError
        If `notebook` is neither a text nor a path.
    FileNotFoundError
        If there is no such notebook. The committed ones are found beside an editable installation of `gaplib`.
    """
    return {
        output["metadata"]["scrapbook"]["name"]: json.loads(output["data"][_PREFIX + "application/json"])
        for output in _outputs(notebook)
        if "scrapbook" in output.get("metadata", {})
    }


def claims(notebook: str | Path) -> list[str]:
    """Return the statements that a notebook asserted, in its order.

    Parameters
    ----------
    notebook : str or Path
        As for `results`.

    Returns
    -------
    list of str
        The statements of its calls of `claim`.

    Raises
    ------
    TypeError
        If `notebook` is neither a text nor a path.
    FileNotFoundError
        If there is no such notebook.
    """
    printed = ["".join(output["text"]) for output in _outputs(notebook) if output.get("name") == "stdout"]
    lines = "\n".join(printed).splitlines()
    return [line.removeprefix(_HOLDS) for line in lines if line.startswith(_HOLDS)]


def _outputs(notebook: str | Path) -> list[dict]:
    if not isinstance(notebook, (str, Path)):
        raise TypeError(f"notebook must be a text or a path, got {notebook!r} of type {type(notebook).__name__}")
    path = Path(notebook)
    if path.suffix != ".ipynb":
        path = COMMITTED / f"{notebook}.ipynb"
    if not path.is_file():
        raise FileNotFoundError(f"notebook must name a committed or an executed notebook, got {notebook!r}: no {path}")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [output for cell in cells for output in cell.get("outputs", [])]


def _injected(history: list[str]) -> list[str]:
    """Return the names that papermill's injected cell assigns; the cell is known by its first line."""
    sources = [source for source in history if source.startswith("# Parameters\n")]
    assignments = [node for source in sources for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    return [target.id for node in assignments for target in node.targets if isinstance(target, ast.Name)]


def _plain(name: str, value: object) -> object:
    """Return `value` as what JSON can hold, floats rounded."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if not np.isfinite(value):
            raise ValueError(f"{name} must be finite to be recorded, got {value!r}")
        return float(f"{value:.{_RECORDED_DIGITS}g}")
    if isinstance(value, (list, tuple)):
        return [_plain(name, item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(name, item) for key, item in value.items()}
    raise TypeError(f"{name} must be a number, text, list or dict to be recorded, got {type(value).__name__}")
