"""One run, in the process that it falls to: it needs no folder in common with the command that asked for it."""

import errno
import platform
import tempfile
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import papermill
from traitlets.config import Config

from gaplib.book import notebook as helper
from gaplib.book.sweep.versions import processor, versions

DONE, FAILED, LOST = "done", "failed", "lost"


def execute(source: str, parameters: dict, expected: dict) -> tuple[dict, str]:
    """Run a notebook, and return its result and what it looks like after the run.

    Parameters
    ----------
    source : str
        The notebook, as JSON.
    parameters : dict
        What papermill sets.
    expected : dict of str to str
        The versions that the command has; a run under others would not be the run that was asked for.

    Returns
    -------
    result : dict
        ``status``: ``"done"``, ``"failed"`` if a cell raised an exception, ``"lost"`` if the run ended in another
        way, such as a kernel that was killed. ``recorded``: what the notebook recorded. ``error``, ``traceback``:
        texts, empty if it is done. ``seconds``, ``started``, ``host``, ``processor``, ``versions``.
    executed : str
        The notebook as JSON, as far as it ran.

    Raises
    ------
    RuntimeError
        If the versions here are others than expected.
    """
    if versions() != expected:
        raise RuntimeError(f"{platform.node()} has {different(versions(), expected)}")
    started, clock = datetime.now(UTC), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gap-run-", dir=place(), ignore_cleanup_errors=True) as folder:
        out = Path(folder) / "out.ipynb"
        error, status = None, DONE
        try:
            content = nbformat.reads(source, as_version=4)
            papermill.execute_notebook(content, out, parameters, progress_bar=False, config=sockets_in(folder))
        except papermill.PapermillExecutionError as raised:
            error, status = raised, LOST if is_of_the_machine(raised) else FAILED
        except Exception as raised:
            error, status = raised, LOST
        executed = out.read_text(encoding="utf-8") if out.exists() else source
        recorded = helper.results(out) if status == DONE else {}
    result = {
        "status": status,
        "recorded": recorded,
        "error": last_line(error),
        "traceback": text_of(error),
        "seconds": round(time.monotonic() - clock, 3),
        "started": started.isoformat(timespec="seconds"),
        "host": platform.node(),
        "processor": processor(),
        "versions": versions(),
    }
    return result, executed


def is_of_the_machine(error: papermill.PapermillExecutionError) -> bool:
    """Whether a cell failed for want of memory or space, or was interrupted: another time it may succeed."""
    return error.ename in ("MemoryError", "KeyboardInterrupt") or f"[Errno {errno.ENOSPC}]" in error.evalue


def place() -> str | None:
    """Return where a run may have its folder: where the system says, unless its path is too long for a socket.

    Papermill fills in what stands in braces, so there must be none either.
    """
    usual = tempfile.gettempdir()
    return "/tmp" if len(usual) > 70 or "{" in usual else None


def sockets_in(folder: str) -> Config:
    """Return the setting that has a kernel talk through files of its own.

    Kernels that start together can take each other's TCP port, and others on the machine can listen there. Without
    the path, all kernels of one working directory would share the same files.
    """
    return Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}})


def different(here: dict, there: dict) -> str:
    """Say which versions differ."""
    return ", ".join(
        f"{name} {here.get(name)} and not {there.get(name)}" for name in there if here.get(name) != there.get(name)
    )


def last_line(error: Exception | None) -> str:
    """Return the name and message of an error, as the last line of a traceback has them."""
    if error is None:
        return ""
    if isinstance(error, papermill.PapermillExecutionError):
        return f"{error.ename}: {error.evalue}"
    return traceback.format_exception_only(error)[-1].strip()


def text_of(error: Exception | None) -> str:
    """Return the traceback of an error: for one in a cell, the kernel's, without its colours."""
    if error is None:
        return ""
    if isinstance(error, papermill.PapermillExecutionError):
        from nbconvert.filters import strip_ansi

        return strip_ansi("\n".join(error.traceback))
    return "".join(traceback.format_exception(error))
