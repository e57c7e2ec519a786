"""The folder of a sweep: one file of results and one notebook for each run that ended, written whole or not at all.

::

    results/runs/NAME.json      what came of a run; while it is missing, the run has not ended
    results/runs/NAME.ipynb     the notebook of that run
    results/results.parquet     all runs together, and the same as results.csv
    results/summary.html

Nothing is written to, read from or removed through a symbolic link inside the folder, and no file that is not of a
sweep.
"""

import contextlib
import errno
import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

# How a run ends: all cells ran; a cell raised an exception; or in another way, such as a kernel that was killed.
DONE, FAILED, LOST = "done", "failed", "lost"
RUNS, TABLES = "runs", ("results.parquet", "results.csv", "summary.html")
# Held by the command that writes there, and the mark of a folder that is a sweep's.
_LOCK = ".gaplib-sweep"
_PARTIAL = ".partial"
# What a result must have to be one, with the types of its values.
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "status": str,
    "recorded": dict,
    "error": str,
    "traceback": str,
    "seconds": (int, float, type(None)),
    "started": (str, type(None)),
    "host": (str, type(None)),
    "processor": (str, type(None)),
    "versions": dict,
    "notebook_bytes": (int, type(None)),
}
# Deeper than any notebook records, and shallow enough for whatever reads it.
_DEEPEST = 100


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Have the folder to oneself, empty of what an earlier command left half-written.

    Raises
    ------
    BlockingIOError
        If another command writes there now. A command that was killed holds nothing.
    OSError
        If it cannot be a sweep's: it holds other files, links, or lies on a disk that is read-only or has no locks.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not os.path.lexists(folder / _LOCK) and any(folder.iterdir()):
        raise FileExistsError(f"out must be a new or empty folder, or one of an earlier run or sweep, got {folder}")
    lock = _open(folder / _LOCK, os.O_RDWR | os.O_CREAT)
    try:
        _hold(lock, folder)
        with contextlib.suppress(FileExistsError):
            (folder / RUNS).mkdir()
        if not stat.S_ISDIR((folder / RUNS).lstat().st_mode):
            raise NotADirectoryError(f"{folder / RUNS} must be a folder, and no link to one")
        runs = (path for kind in ("json", "ipynb") for path in (folder / RUNS).glob(f"*.{kind}{_PARTIAL}"))
        for half in [*runs, *(folder / f"{name}{_PARTIAL}" for name in TABLES)]:
            half.unlink(missing_ok=True)
        yield
    finally:
        os.close(lock)


def _hold(lock: int, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(f"another command writes to {folder} now; wait for it, or name another folder") from None
    except OSError as error:
        reason = f"no file locks, which keep two commands apart ({error.strerror})"
        raise OSError(f"the disk of {folder} has {reason}; name a folder on another one") from None


def keep(folder: Path, name: str, result: dict, executed: str | None) -> None:
    """Keep a run that ended. The result comes last: where it is, the notebook is.

    Parameters
    ----------
    folder : Path
    name : str
        Of the run.
    result : dict
        From `execution.execute`.
    executed : str or None
        The notebook as JSON; None if it did not come back.
    """
    notebook_path(folder, name).unlink(missing_ok=True)  # of an earlier attempt
    # Half of a pair of UTF-16, which UTF-8 cannot hold, is written as JSON writes it.
    content = None if executed is None else executed.encode(errors="backslashreplace")
    if content is not None:
        write(notebook_path(folder, name), lambda file: file.write(content))
    text = json.dumps(result | {"notebook_bytes": None if content is None else len(content)}, indent=1)
    write(result_path(folder, name), lambda file: file.write(text.encode()))


def kept(folder: Path, name: str) -> dict | None:
    """Return what came of a run, or None if it has not ended, or a disk or somebody has damaged what it left."""
    try:
        with open(_open(result_path(folder, name), os.O_RDONLY), encoding="utf-8") as file:
            result = json.load(file)
    except (OSError, ValueError, RecursionError, MemoryError):
        return None
    return result if _is_result(result) else None


def has_notebook(folder: Path, name: str, result: dict) -> bool:
    """Whether the notebook of a run is there as it was written."""
    try:
        status = notebook_path(folder, name).lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == result["notebook_bytes"]


def _is_result(value: object) -> bool:
    if not isinstance(value, dict) or not all(isinstance(value.get(key, ...), kind) for key, kind in _FIELDS.items()):
        return False
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        inside = (list(part.values()) if isinstance(part, dict) else part for part in level)
        level = [part for parts in inside for part in parts if isinstance(part, (dict, list))]
    return not level and value["status"] in (DONE, FAILED, LOST)


def result_path(folder: Path, name: str) -> Path:
    """Return where the result of a run is."""
    return folder / RUNS / f"{name}.json"


def notebook_path(folder: Path, name: str) -> Path:
    """Return where the notebook of a run is."""
    return folder / RUNS / f"{name}.ipynb"


def write(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Write a file so that it is there whole or not at all, whatever happens meanwhile, a full disk included.

    Parameters
    ----------
    path : Path
        Where it shall be.
    fill : callable
        Writes to the file that it is given.
    """
    partial = path.with_name(path.name + _PARTIAL)
    partial.unlink(missing_ok=True)
    try:
        with open(_open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())  # a full disk, or one of the network, may say so only now
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _open(path: Path, flags: int) -> int:
    """Open a file, but none that a symbolic link leads to, and wait for no pipe."""
    try:
        return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileExistsError(f"{path} is a symbolic link, which is not followed") from None
        raise
