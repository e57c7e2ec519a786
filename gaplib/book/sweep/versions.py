"""What computes a result: versions of the packages that make the numbers, and the kind of processor."""

import functools
import hashlib
import importlib.metadata
import platform
from pathlib import Path

import gaplib

# Those that the notebooks compute with.
PACKAGES = ("numpy", "scipy", "tensorflow", "keras", "highspy", "pulp", "sympy", "cvxpy", "clarabel", "pandas")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages, and gaplib's with a digest of its source.

    Runs with other versions are other runs: their numbers may differ in the last digits, or in more. Read anew each
    time, because a worker can live longer than the code on its disk.
    """
    found = {"python": platform.python_version(), "gaplib": f"{gaplib.__version__}+{source_digest()}"}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:  # a notebook may need none of it
            found[name] = "not installed"
    return found


def source_digest() -> str:
    """Return a short hash of gaplib's code and data; this folder, which only runs notebooks, is left out."""
    root = Path(gaplib.__file__).parent
    files = [path for path in sorted(root.rglob("*")) if path.suffix in (".py", ".csv")]
    whole = hashlib.sha256()
    for path in files:
        if Path(__file__).parent not in path.parents:
            whole.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()[:12]


@functools.cache
def processor() -> str:
    """Return the kind of processor: the last digits of a number can depend on it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:  # not Linux
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
