"""One run, in the process that it falls to: it needs no folder in common with the command that asked for it."""

import errno
import platform
import tempfile
import time
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import nbformat
import papermill
from traitlets.config import Config

from gaplib.book import chapters
from gaplib.book.sweep.kernels import RunKernel
from gaplib.book.sweep.plan import Plan, Run
from gaplib.book.sweep.preloaded import statements
from gaplib.book.sweep.store import DONE, FAILED, LOST
from gaplib.book.sweep.versions import different, processor, versions

if TYPE_CHECKING:
    from distributed import Client


def execute(source: str, folder: str, expected: dict, run: Run, *, preload: bool = False) -> tuple[dict, str]:
    """Run a notebook, and return its result and what it looks like after the run.

    Parameters
    ----------
    source : str
        The notebook, as JSON.
    folder : str
        Where the notebook looks for other chapters.
    expected : dict of str to str
        The versions that the command has; a run under others would not be the run that was asked for.
    run : Run
        Its parameters are what papermill sets.
    preload : bool
        Whether what the notebook imports stays in a process that forks the kernels of this and later runs.

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
    content = nbformat.reads(source, as_version=4)
    here = versions(content)
    if here != expected:
        raise RuntimeError(f"{platform.node()} has {different(here, expected)}")
    started, clock = datetime.now(UTC), time.monotonic()
    status, error = DONE, None
    kernel: dict[str, Any] = {"environment": {chapters.FOLDER: folder}}
    if preload:
        kernel |= {"imports": statements(content), "code": here}
    try:
        content = papermill.execute_notebook(content, None, run.parameters, prepare_only=True)
        content.metadata.papermill.input_path = None  # would be the whole notebook once more
        with new_folder(socket_folder()) as sockets, new_folder() as temporary:
            kernel["environment"]["TMPDIR"] = temporary
            run_cells(content, kernel, sockets)
    except papermill.PapermillExecutionError as raised:
        status, error = LOST if is_of_the_machine(raised) else FAILED, raised
    except Exception as raised:
        status, error = LOST, raised
    result = {
        "status": status,
        "recorded": chapters.recorded(content) if status == DONE else {},
        "error": last_line(error),
        "traceback": text_of(error),
        "seconds": round(time.monotonic() - clock, 3),
        "started": started.isoformat(timespec="seconds"),
        "host": platform.node(),
        "processor": processor(),
        "versions": here,
    }
    return result, nbformat.writes(content)


def run_cells(content: nbformat.NotebookNode, kernel: dict, sockets: str) -> None:
    """Run the cells in place, in a kernel that talks through files in a folder of its own.

    Kernels that start together can take each other's TCP port, and others on the machine can listen there. Without
    the path, all kernels of one working directory would share the same files.
    """
    connection = {"transport": "ipc", "ip": f"{sockets}/kernel"}
    engines = papermill.engines.papermill_engines
    engines.execute_notebook_with_engine(
        None,
        content,
        kernel_name=engines.nb_kernel_name(None, content),
        progress_bar=False,
        kernel_manager_class=RunKernel,
        config=Config({"RunKernel": kernel | connection}),
    )
    papermill.execute.raise_for_execution_errors(content, None)


def is_of_the_machine(error: papermill.PapermillExecutionError) -> bool:
    """Whether a cell failed for want of memory or space, or was interrupted: another time it may succeed."""
    return error.ename in ("MemoryError", "KeyboardInterrupt") or f"[Errno {errno.ENOSPC}]" in error.evalue


def new_folder(place: str | None = None) -> tempfile.TemporaryDirectory:
    """Return a folder of the run, which goes with it."""
    return tempfile.TemporaryDirectory(prefix="gap-run-", dir=place, ignore_cleanup_errors=True)


def socket_folder() -> str | None:
    """Return where the sockets of a run lie: where the system says, unless its path is too long for one."""
    return "/tmp" if len(tempfile.gettempdir()) > 70 else None


def last_line(error: BaseException | None) -> str:
    """Return the name and message of an error, as the last line of a traceback has them."""
    if error is None:
        return ""
    if isinstance(error, papermill.PapermillExecutionError):
        return f"{error.ename}: {error.evalue}"
    return traceback.format_exception_only(error)[-1].strip()


def text_of(error: BaseException | None) -> str:
    """Return the traceback of an error: for one in a cell, the kernel's, without its colours."""
    if error is None:
        return ""
    if isinstance(error, papermill.PapermillExecutionError):
        from nbconvert.filters import strip_ansi  # here, because few runs fail

        return strip_ansi("\n".join(error.traceback))
    return "".join(traceback.format_exception(error))


def check_workers(client: "Client", plan: Plan) -> None:
    """Look at what the workers of a cluster would compute with.

    Parameters
    ----------
    client : distributed.Client
    plan : Plan

    Raises
    ------
    RuntimeError
        If a worker lacks gaplib, or has other versions than the plan.
    """
    try:
        there = client.run(versions_of, plan.source)
    except Exception as error:
        raise RuntimeError(f"a worker cannot do runs of gaplib: {last_line(error)}") from error
    for address, found in there.items():
        if others := different(found, plan.versions):
            raise RuntimeError(f"the worker at {address} has {others}: install the same lock on all")


def versions_of(source: str) -> dict[str, str]:
    """Return the versions that a notebook, given as JSON, computes with here."""
    return versions(nbformat.reads(source, as_version=4))


def lost(error: BaseException, expected: dict) -> tuple[dict, None]:
    """Return the result of a run that did not come back: its worker was killed, or was the wrong one.

    Parameters
    ----------
    error : Exception
        From `gaplib.jobs.work.Lost`.
    expected : dict of str to str
        The versions that the command has.

    Returns
    -------
    result : dict
        As of `execute`.
    executed : None
    """
    nothing = dict.fromkeys(("seconds", "started", "host", "processor"))
    text = {"error": last_line(error), "traceback": text_of(error)}
    return {"status": LOST, "recorded": {}, **text, **nothing, "versions": expected}, None
