"""The folder of a sweep: one file of results and one notebook for each run that ended, written whole or not at all.

::

    results/runs/NAME.json      what came of a run; while it is missing, the run has not ended
    results/runs/NAME.ipynb     the notebook of that run
    results/results.parquet     all runs together, and the same as results.csv
    results/summary.html
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

RUNS = "runs"
_PARTIAL = ".partial"


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[None]:
    """Have the folder to oneself, empty of what an earlier command left half-written.

    Raises
    ------
    BlockingIOError
        If another command writes there now. A command that was killed holds nothing.
    """
    (folder / RUNS).mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(
                f"another command writes to {folder} now; wait for it, or name another folder"
            ) from None
        for half in [*folder.glob(f"*{_PARTIAL}"), *(folder / RUNS).glob(f"*{_PARTIAL}")]:
            half.unlink()
        yield


def keep(folder: Path, name: str, result: dict, executed: str | None) -> None:
    """Keep a run that ended. The result comes last: where it is, the notebook is."""
    notebook_path(folder, name).unlink(missing_ok=True)  # of an earlier attempt
    if executed is not None:
        write(notebook_path(folder, name), lambda path: path.write_text(executed, encoding="utf-8"))
    text = json.dumps(result, indent=1)
    write(result_path(folder, name), lambda path: path.write_text(text, encoding="utf-8"))


def kept(folder: Path, name: str) -> dict | None:
    """Return what came of a run, or None if it has not ended, or a disk has damaged what it left."""
    try:
        return result(folder, name) if result_path(folder, name).exists() else None
    except ValueError:
        return None


def result(folder: Path, name: str) -> dict:
    """Return what came of a run that has ended."""
    return json.loads(result_path(folder, name).read_text(encoding="utf-8"))


def result_path(folder: Path, name: str) -> Path:
    """Return where the result of a run is."""
    return folder / RUNS / f"{name}.json"


def notebook_path(folder: Path, name: str) -> Path:
    """Return where the notebook of a run is."""
    return folder / RUNS / f"{name}.ipynb"


def write(path: Path, fill: Callable[[Path], object]) -> None:
    """Write a file so that it is there whole or not at all, whatever happens meanwhile, a full disk included.

    Parameters
    ----------
    path : Path
        Where it shall be.
    fill : callable
        Writes the file whose path it is given.
    """
    partial = path.with_name(path.name + _PARTIAL)
    try:
        fill(partial)
        with open(partial, "rb") as file:
            os.fsync(file.fileno())  # a full disk, or one of the network, may say so only now
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
