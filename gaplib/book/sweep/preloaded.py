"""A process that has imported what a notebook imports, and forks a kernel for each of its runs.

It runs no cell and computes nothing. So a kernel has a process, a namespace and modules of its own, as if it had been
started afresh, without the seconds that the imports take. The process is started by `gaplib.book.sweep.kernels`::

    python -m gaplib.book.sweep.preloaded SOCKET

SOCKET is the number of an open socket. The first line that arrives there is a JSON list of import statements, every
other one an order; each is answered by a line. The process ends when the socket is closed.
"""

import ast
import contextlib
import gc
import importlib
import itertools
import json
import os
import re
import socket
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import nbformat

# What notebooks compute with. Their other imports, such as modules of one's own, may do anything, and do it in the run.
_PACKAGES = {"cvxpy", "gaplib", "keras", "matplotlib", "numpy", "pandas", "pulp", "scipy", "sklearn", "sympy"}
# What may set what an import reads, such as the backend of Keras; magics are calls with their name.
_SETTING = re.compile(r"\benviron\b|\bputenv\b|'(set_)?env'|\bsys\.(path|modules)\b")
# What every kernel imports when it starts.
_KERNEL = (
    "ipykernel.kernelapp",
    "ipykernel.debugger",
    "IPython.core.completerlib",
    "IPython.core.oinspect",
    "IPython.extensions.storemagic",
    "gaplib.book.sweep.surrogates",
    "numpy.random",
    "sqlite3",
)
# The modules with random numbers of their own whose seed a fork would share; that of `random` sees to it itself.
_DRAWING = {"numpy.random", "sympy.core.random"}
# The one thread that an import may start: the memory of PyArrow, which knows what a fork is.
_HARMLESS = {"jemalloc_bg_thd"}


def statements(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the import statements of a notebook that can be executed before it runs.

    There are none unless it begins with those of `gaplib.book.notebook`, which sets the threads of NumPy: in another
    notebook NumPy takes those that it finds. Nor are those that follow a setting that an import may read.

    Parameters
    ----------
    notebook : nbformat.NotebookNode

    Returns
    -------
    list of str
    """
    code = [node for cell in notebook.cells if cell.cell_type == "code" for node in _parsed(cell.source)]
    before = itertools.takewhile(lambda node: not _SETTING.search(ast.unparse(node)), code)
    imports = [node for node in before if isinstance(node, (ast.Import, ast.ImportFrom))]
    if not imports or ast.unparse(imports[0]) != "from gaplib.book import notebook":
        return []
    return [ast.unparse(node) for node in imports if _packages(node) <= _PACKAGES]


def _parsed(source: str) -> list[ast.stmt]:
    """Return the statements of a cell, its magics as the calls that IPython makes of them."""
    with contextlib.suppress(SyntaxError, ValueError):
        return ast.parse(source).body
    from IPython.core.inputtransformer2 import TransformerManager  # here, because few cells need it

    with contextlib.suppress(SyntaxError, ValueError):
        return ast.parse(TransformerManager().transform_cell(source)).body
    return []


def _packages(node: ast.Import | ast.ImportFrom) -> set[str]:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return {name.split(".")[0] for name in names}


def serve(orders: socket.socket) -> dict | None:
    """Import, say what speaks against a fork, and answer every order with the number of the process of a kernel.

    In that process it returns the order, and None when no more come.
    """
    with contextlib.suppress(ConnectionError), orders.makefile("rw", encoding="utf-8") as stream:

        def answer(value: object) -> None:
            stream.write(json.dumps(value) + "\n")
            stream.flush()

        before = dict(os.environ)
        said = load(json.loads(stream.readline() or "[]"))
        set_by_imports = {name: value for name, value in os.environ.items() if before.get(name) != value}
        # A run that is forked would miss these threads, and its notebook that message.
        answer([*sorted(threads() - _HARMLESS), *([said.decode(errors="replace")] if said else [])])
        gc.freeze()  # a kernel that collects garbage need not look at, and so copy, what is here
        for line in stream:
            forget_ended()  # not the one that this line orders: its number must not be given away yet
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # Python counts the harmless thread, too
                kernel = os.fork()
            if not kernel:
                order = json.loads(line)
                return order | {"environment": order["environment"] | set_by_imports}
            answer(kernel)
    forget_ended()
    return None


def forget_ended() -> None:
    """Take note of the kernels that have ended, and so of the time that they took."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def load(imports: list[str]) -> bytes:
    """Import what a kernel needs, and what the notebook imports, as the notebook would; return what that wrote."""
    from gaplib.book import notebook  # first, since it sets the threads of NumPy

    notebook.set_environment()
    notebook.show_as_usual()
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # the debugger has something to say that the kernel suppresses
    for name in _KERNEL:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    with written() as file:
        for statement in imports:
            with contextlib.suppress(Exception):  # the run itself says what is wrong with it
                exec(statement, {"__name__": "__main__"})  # whose warnings are shown
        sys.stdout.flush()
        file.seek(0)
        return file.read()


@contextlib.contextmanager
def written() -> Iterator[IO[bytes]]:
    """Have what this process writes go to a file."""
    usual = [(number, os.dup(number)) for number in (1, 2)]
    with tempfile.TemporaryFile() as file:
        try:
            for number, _ in usual:
                os.dup2(file.fileno(), number)
            yield file
        finally:
            for number, copy in usual:
                os.dup2(copy, number)
                os.close(copy)


def threads() -> set[str]:
    """Return the names of the threads of this process but the first: a fork would not have them."""
    tasks = Path("/proc/self/task")
    return {(task / "comm").read_text().strip() for task in tasks.iterdir() if task.name != str(os.getpid())}


def become_kernel(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Be the kernel that was ordered, until it is told to end."""
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()  # what kills it reaches what it has started
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # an import may have looked for it, and found the one of the worker
    for name in _DRAWING & sys.modules.keys():
        sys.modules[name].seed()  # as unforeseeable as in a process of its own
    sys.argv = ["ipykernel_launcher", *arguments]
    IPKernelApp.launch_instance(arguments, parent_handle=os.getppid())
    control = IPKernelApp.instance().control_thread
    control.stop()  # ipykernel stops it only after the thread that it may still wait for, and the end takes seconds
    control.join()


if __name__ == "__main__":
    if Path(sys.path[0] or ".").resolve() == Path.cwd():  # as ipykernel_launcher does; IPython adds it again
        del sys.path[0]
    with socket.socket(fileno=int(sys.argv[1])) as socket_of_orders:
        ordered = serve(socket_of_orders)
    if ordered is not None:
        become_kernel(**ordered)  # here at the end, where Python goes on to what it does when a program ends
