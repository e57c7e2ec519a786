"""What computes a result: versions of the packages that make the numbers, and the kind of processor."""

import functools
import importlib.metadata
import platform
from pathlib import Path

import nbformat

import gaplib
from gaplib.book.sweep import fingerprint

# Those that the notebooks compute with.
PACKAGES = ("numpy", "scipy", "tensorflow", "keras", "highspy", "pulp", "sympy", "cvxpy", "clarabel", "pandas")


def versions(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Return the versions that a notebook computes with: Python's, the packages', and gaplib's.

    Runs with other versions are other runs: their numbers may differ in the last digits, or in more.

    Parameters
    ----------
    notebook : nbformat.NotebookNode

    Returns
    -------
    dict of str to str
        By name; gaplib's has twelve digits of `fingerprint.of_library`.
    """
    library = f"{gaplib.__version__}+{fingerprint.of_library(notebook)[:12]}"
    return {"python": platform.python_version(), "gaplib": library} | {name: _version(name) for name in PACKAGES}


def different(here: dict[str, str], there: dict[str, str]) -> str:
    """Say which versions are others here than there; empty if none is.

    Parameters
    ----------
    here, there : dict of str to str
        From `versions`.

    Returns
    -------
    str
    """
    return ", ".join(
        f"{name} {here.get(name)} and not {there[name]}" for name in there if here.get(name) != there[name]
    )


def _version(package: str) -> str:
    try:
        about = importlib.metadata.distribution(package).read_text("METADATA") or ""
        # `importlib.metadata.version` reads the whole text as an email, forty milliseconds for each run
        return next(line.split()[1] for line in about.splitlines() if line.startswith("Version: "))
    except importlib.metadata.PackageNotFoundError:  # a notebook may need none of it
        return "not installed"


@functools.cache
def processor() -> str:
    """Return the kind of processor: the last digits of a number can depend on it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:  # not Linux
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
