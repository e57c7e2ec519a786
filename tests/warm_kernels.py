"""Kernels of Jupyter that have in memory already what the chapters import, for tests that start many.

    python warm_kernels.py serve SOCKET                        imports, and waits for orders
    python warm_kernels.py start SOCKET -f CONNECTION_FILE     in place of `python -m ipykernel_launcher`

A kernel is a fork of the server, which itself runs no cell and computes nothing: so it has a namespace, modules and a
working directory of its own, like one that was started afresh. What a chapter forgets to import might be there; its
run in a fresh kernel, by nbval, finds that.
"""

import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
import traceback

THEORY = (
    "gaplib.book.notebook",  # first, since it sets the threads of NumPy
    "gaplib.book.paper",
    "gaplib.book.plots",
    "gaplib.book.sampling",
    "gaplib.binary",
    "gaplib.gaussian",
    "gaplib.transport",
    "cvxpy",
    "ipykernel.kernelapp",
    "matplotlib.pyplot",
    "matplotlib_inline.backend_inline",
    "scipy.integrate",
    "scipy.optimize",
    "scipy.special",
    "scipy.stats",
    "sympy",
)
TRAINING = ("gaplib.training", "keras")


class WarmKernels:
    """The server, seen from a test: while it runs, a notebook gets its kernel there, if `environment` is set."""

    def __init__(self, folder):
        self.address = folder / "socket"
        spec = folder / "kernels" / "python3"
        spec.mkdir(parents=True)
        start = [sys.executable, "-I", "-S", __file__, "start", str(self.address), "-f", "{connection_file}"]
        about = {"argv": start, "display_name": "Python 3", "language": "python"}
        (spec / "kernel.json").write_text(json.dumps(about))
        self.environment = {"JUPYTER_PATH": str(folder)}
        command = [sys.executable, "-P", __file__, "serve", str(self.address)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        # Processor seconds that the imports took, which no kernel takes again.
        self.imports = json.loads(self.process.stdout.readline())

    def seconds(self):
        """What the last kernel used of the processor, with all that it started."""
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(str(self.address))
            server.sendall(b"null\n")
            return json.loads(server.makefile().read())

    def stop(self):
        self.process.communicate()


def serve(address):
    """Start a kernel for each order, one after the other, and answer how long the last one has worked.

    It ends with its standard input, which belongs to the tests, whatever becomes of them.
    """
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # a kernel whose server is gone ends
    imports = {}
    for name, modules in (("theory", THEORY), ("training", TRAINING)):
        began = time.process_time()
        for module in modules:
            __import__(module)
        imports[name] = time.process_time() - began
    gc.freeze()  # a kernel that collects garbage need not look at, and so copy, what is here
    seconds = 0.0
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print(json.dumps(imports), flush=True)
        while sys.stdin not in first_of(listening, sys.stdin):
            connection, _ = listening.accept()
            with connection:
                line, streams, *_ = socket.recv_fds(connection, 2**20, 3)
                while not line.endswith(b"\n"):
                    line += connection.recv(2**20)
                if order := json.loads(line):
                    kernel = os.fork()
                    if not kernel:
                        become_kernel(streams, **order)
                    for stream in streams:
                        os.close(stream)
                    code, seconds = wait(kernel, connection)
                with contextlib.suppress(OSError):  # who asked may be gone
                    connection.sendall(json.dumps(code if order else seconds).encode())


def become_kernel(streams, arguments, folder, environment):
    """Be the kernel that was ordered."""
    from ipykernel.kernelapp import IPKernelApp

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["ipykernel_launcher", *arguments]
    try:
        IPKernelApp.launch_instance(arguments)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def wait(kernel, connection):
    """Return the exit code and processor seconds of a kernel, which ends with who ordered it, and with the tests."""
    ended = os.pidfd_open(kernel)
    if ended not in first_of(ended, connection, sys.stdin):
        os.kill(kernel, signal.SIGKILL)
    os.close(ended)
    _, status, used = os.wait4(kernel, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


def first_of(*streams):
    """Wait for the first of the streams that has something to read, or has ended; return all that do."""
    return select.select(streams, [], [])[0]


def start(address, *arguments):
    """Order a kernel, and end with it."""
    order = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [json.dumps(order).encode() + b"\n"], [0, 1, 2])
        return int(server.makefile().read() or 1)


if __name__ == "__main__":
    sys.exit({"serve": serve, "start": start}[sys.argv[1]](*sys.argv[2:]))
