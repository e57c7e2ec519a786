"""The kernel of a run: a fork of a process that has imported what the notebook imports, or a fresh one.

Both are processes of their own. A fresh one takes half a second and more of imports, which a fork finds done.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Any as Anything
from traitlets import Dict, List, Unicode

# IPython loads it in the kernel; where it is missing, or the kernel is another one, a run does without.
_EXTENSION = "gaplib.book.sweep.surrogates"
# How a kernel of Python is started, after the interpreter and its options.
_LAUNCHER = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]
# A worker does one run after the other in each of its threads; for each it has one process that forks.
_of_thread = threading.local()


class RunKernel(AsyncKernelManager):
    """The kernel of a run, with an environment of its own: workers of one process may serve several sweeps."""

    environment = Dict(config=True)
    imports = List(Unicode(), config=True, help="Statements to execute before a kernel is forked; if none, it is not.")
    code = Anything(config=True, help="The versions of what is imported: of others it is imported anew.")

    async def start_kernel(self, extra_arguments: list[str], **options: Any) -> None:  # type: ignore[override]
        """Start it, asynchronously, which jupyter_client does not declare."""
        # A kernel that is told to end says so on the terminal of the command, unless it is told to be quiet.
        more = [f"--IPKernelApp.extra_extensions={_EXTENSION}", "--log-level=50"] if self.ipykernel else []
        options["env"] = os.environ | self.environment
        spec = self.kernel_spec
        if self.imports and spec is not None and is_of_this_python(spec.argv, spec.env):
            self.provisioner = Forking(kernel_id=self.kernel_id, kernel_spec=spec, parent=self)
            self.provisioner.preloaded = preloaded(self.imports, self.code)
        await super().start_kernel(extra_arguments=[*extra_arguments, *more], **options)


def is_of_this_python(argv: list[str], environment: dict[str, str]) -> bool:
    """Whether a kernel is the one of this environment, on a system where a process can be forked safely."""
    names = {"python", "python3", f"python3.{sys.version_info.minor}", sys.executable}
    return (
        hasattr(os, "pidfd_open") and argv[:1] != [] and argv[0] in names and argv[1:] == _LAUNCHER and not environment
    )


class Forking(LocalProvisioner):
    """What starts a kernel for jupyter_client: by a fork if there is a process that can, afresh otherwise."""

    preloaded: "Preloaded | None" = None

    async def launch_kernel(self, cmd: list[str], **options: Any) -> KernelConnectionInfo:
        """Start the kernel."""
        folder = os.fspath(options.get("cwd") or Path.cwd())
        order = {"arguments": cmd[3:], "folder": folder, "environment": dict(options["env"])}
        process = self.preloaded.fork(order) if self.preloaded else None
        if process is None:
            return await super().launch_kernel(cmd, **options)
        self.process = process  # type: ignore[assignment]
        self.pid, self.pgid, self.cwd = process.pid, process.pid, folder
        return self.connection_info


class Forked:
    """A process that another one forked, with the part of `subprocess.Popen` that `LocalProvisioner` uses."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._process = os.pidfd_open(pid)
        weakref.finalize(self, os.close, self._process)

    def _ended(self, limit: float | None) -> bool:
        poll = select.poll()
        poll.register(self._process, select.POLLIN)
        return bool(poll.poll(limit))

    def poll(self) -> int | None:
        """Return 0 if it has ended, in whatever way: only its parent knows."""
        return 0 if self._ended(0) else None

    def wait(self) -> int:
        """Wait for its end."""
        self._ended(None)
        return 0

    def send_signal(self, number: int) -> None:
        """Send a signal."""
        signal.pidfd_send_signal(self._process, number)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


class Preloaded:
    """A process of `gaplib.book.sweep.preloaded`.

    Parameters
    ----------
    imports : list of str
        The statements that it executes.

    Attributes
    ----------
    process : subprocess.Popen
    """

    def __init__(self, imports: list[str]) -> None:
        ours, theirs = socket.socketpair()
        number = theirs.fileno()
        command = [sys.executable, "-m", "gaplib.book.sweep.preloaded", str(number)]
        with theirs:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, pass_fds=[number], start_new_session=True
            )
        self._orders = ours
        self._stream = ours.makefile("rw", encoding="utf-8")
        try:
            self._can_fork = self._ask(imports) == []  # nothing that a fork would miss
        except (OSError, ValueError):
            self._can_fork = False

    def _ask(self, question: object) -> Any:
        self._stream.write(json.dumps(question) + "\n")
        self._stream.flush()
        return json.loads(self._stream.readline())

    def fork(self, order: dict) -> Forked | None:
        """Return a new kernel, or None if the process cannot fork, or is gone."""
        if not self._can_fork:
            return None
        try:
            return Forked(self._ask(order))
        except (OSError, ValueError):
            self._can_fork = False
            return None

    def close(self) -> None:
        """End the process."""
        self._orders.close()
        self._stream.close()
        self.process.wait()


def preloaded(imports: list[str], code: object) -> Preloaded:
    """Return the process of this thread that has imported this, started anew if it is none, or has other code."""
    wanted = (imports, code)
    if getattr(_of_thread, "has", None) != wanted or _of_thread.preloaded.process.poll() is not None:
        if hasattr(_of_thread, "preloaded"):
            _of_thread.preloaded.close()
        _of_thread.preloaded, _of_thread.has = Preloaded(imports), wanted
    return _of_thread.preloaded
