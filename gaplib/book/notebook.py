"""What every notebook of the book does: a quiet kernel, checked parameters, claims, recorded results."""

import gaplib.book._threads  # noqa: F401, I001  (before NumPy)

import json
import os
import sys
import warnings
from typing import Any

import numpy as np

from gaplib import _checks
from gaplib.book import parameters
from gaplib.book.chapters import HOLDS, RECORDED

# Enough for any comparison in the book, and few enough that another processor's last bits do not show.
_RECORDED_DIGITS = 9
# Figures below their cells.
MPLBACKEND = "module://matplotlib_inline.backend_inline"


def start(names: dict[str, Any]) -> None:
    """Make the kernel quiet and check the parameters; the first call of every notebook.

    It stands in the cell after the parameters, before anything slow is imported.

    Parameters
    ----------
    names : dict
        The notebook's ``globals()``: the values of its parameters, and the cells that ran.

    Raises
    ------
    TypeError, ValueError
        If a parameter has the wrong type or a value that is not allowed, or if papermill set a name that the notebook
        does not declare.

    Examples
    --------
    ``notebook.start(globals())``
    """
    set_environment()
    if "In" in names:  # a kernel, and not a program made of the notebook
        show_as_usual()
    parameters.check_history(names.get("In", []), names)


def set_environment() -> None:
    """Set what TensorFlow reads when it is imported."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    # Not only chatter: oneDNN's kernels also change the low bits of a result.
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"


def show_as_usual() -> None:
    """Have figures shown below their cells and warnings as Python does, whatever the caller's environment asks for."""
    os.environ["MPLBACKEND"] = MPLBACKEND
    if "matplotlib" in sys.modules:
        sys.modules["matplotlib"].use(MPLBACKEND)
    if sys.warnoptions:
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        warnings.filterwarnings("default", category=DeprecationWarning, module="__main__")


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
    print(HOLDS + statement)


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
            {RECORDED + "text/plain": repr(value), RECORDED + "application/json": json.dumps(value)},
            metadata={"scrapbook": {"name": name, "mime_prefix": RECORDED}},
            raw=True,
        )


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
