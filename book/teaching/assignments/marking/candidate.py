"""The process in which a student's code runs: `python candidate.py PIPE`.

It gets cells to run and functions to call, with copies of the arguments, and sends back data: numbers, texts, arrays,
tables, lists, linear programs. Nothing that the code does here reaches the tests in any other way.
"""

import ast
import base64
import builtins
import contextlib
import io
import itertools
import json
import os
import pickle
import resource
import sys
import threading
import time
import traceback
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle

import numpy as np
import pulp
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.inputtransformer2 import TransformerManager
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

TEXT = 20_000  # characters that are kept of what a cell prints
FIGURES = 10
ITEMS = 1_000_000  # that an iterator may give
MEMORY = 8 * 2**30  # bytes


class Printed(io.TextIOBase):
    """Keeps the beginning of what is printed."""

    def __init__(self):
        self.start_again()

    def start_again(self):
        self.parts, self.room = [], TEXT

    def write(self, text):
        if self.room > 0:
            self.parts.append(text[: self.room])
            self.room -= len(text)
            if self.room <= 0:
                self.parts.append(f"\n... cut off after {TEXT} characters\n")
        return len(text)

    def text(self):
        return "".join(self.parts)


def no_input(*_):
    raise EOFError("input() gets no answer while an assignment is marked")


def no_exit(*_):
    print("exit() does nothing while an assignment is marked")


class Candidate:
    """The student's notebook: names, and what can be asked of them."""

    def __init__(self):
        settings = Config()
        settings.HistoryManager.enabled = False
        self.shell = InteractiveShell.instance(config=settings, display_pub_class=CapturingDisplayPublisher)
        self.shell.colors = "nocolor"
        self.shell.enable_gui = lambda gui=None: None  # which `%matplotlib inline` calls
        self.names = self.shell.user_ns
        self.printed = sys.stdout = sys.stderr = Printed()
        builtins.input = no_input
        self.names["exit"] = self.names["quit"] = no_exit
        self.protected = {}
        sys.path.insert(0, "")  # a module beside the notebook

    def run(self, source: str) -> dict:
        """Run a cell; return what it prints and draws."""
        self.printed.start_again()
        self.shell.display_pub.outputs.clear()
        self.shell.run_cell(source)
        figures = [output["data"].get("image/png") for output in self.shell.display_pub.outputs]
        figures = [figure for figure in figures if figure][:FIGURES]
        coded = [figure if isinstance(figure, str) else base64.b64encode(figure).decode() for figure in figures]
        return {"text": self.printed.text(), "figures": coded}

    def define(self, source: str) -> dict:
        """Run of a cell only what defines names: no loops, no changes of what is there."""
        try:
            body = ast.parse(TransformerManager().transform_cell(source)).body
        except SyntaxError:
            return {}
        for node in body:
            if _defines_names(node):
                try:
                    exec(compile(ast.Module([node], []), "<cell>", "exec"), self.names)
                except BaseException:
                    continue
        return {}

    def protect(self) -> dict:
        """Remember what the names stand for now."""
        self.protected = dict(self.names)
        return {}

    def restore(self) -> dict:
        """Let protected names stand for what they stood for, and names of Python for what they are."""
        self.names.update(self.protected)
        for name in set(self.names) & set(vars(builtins)) - set(self.protected):
            if getattr(self.names[name], "__module__", "__main__") in ("__main__", None):
                del self.names[name]
        return {}

    def look_up(self, names: list[str]) -> dict:
        """Which of the names are functions, and the values of the others."""
        found = {}
        for name in names:
            if name in self.names:
                value = self.names[name]
                with contextlib.suppress(Exception):  # then the tests miss the name
                    found[name] = {"function": True} if callable(value) else {"value": plain(value)}
        return found

    def call(self, name: str, packed: bytes) -> dict:
        """Call a function of the student with arguments of its own."""
        self.printed.start_again()
        arguments, named = pickle.loads(packed)
        try:
            with self.shell.builtin_trap:
                value = plain(self.names[name](*arguments, **named))
        except BaseException as error:
            return {"error": f"{name}(...) raised {type(error).__name__}: {error}", "where": _where(error)}
        untouched, untouched_named = pickle.loads(packed)
        for before, after in zip([*untouched, *untouched_named.values()], [*arguments, *named.values()], strict=True):
            if _contents(before) != _contents(after):
                return {"error": f"{name}(...) changes its argument, which was {before!r} and is {after!r} afterwards"}
        return {"value": value}


def _defines_names(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        inside = [part for target in targets for part in ast.walk(target)]
        return not any(isinstance(part, (ast.Attribute, ast.Subscript)) for part in inside)
    return isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _where(error: BaseException) -> str:
    """The lines of the student's code that led to an error."""
    lines = traceback.format_exception(type(error), error, error.__traceback__.tb_next)
    return "".join(lines)[-4000:]


def _contents(argument):
    """What changes if the argument does."""
    if isinstance(argument, np.ndarray):
        return argument.shape, argument.dtype, argument.tobytes()
    if isinstance(argument, (list, tuple)):
        return [_contents(item) for item in argument]
    if isinstance(argument, dict):
        return [(repr(key), _contents(item)) for key, item in argument.items()]
    if _is_frame(argument):
        return argument.to_csv()
    return repr(argument) if isinstance(argument, (int, float, str)) else None


def _is_frame(value) -> bool:
    """Whether it is a table of pandas, which is imported only where an assignment needs it."""
    return type(value).__module__.partition(".")[0] == "pandas" and getattr(value, "ndim", 0) == 2


def plain(value):
    """What JSON can carry of a value, and `examiner.rebuilt` makes a value of again.

    Raises
    ------
    TypeError
        If it is not a number, a text, an array, a table, a linear program, or a list, tuple, set or dict of these.
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, pulp.LpProblem):
        return {"program": _program(value)}
    if _is_frame(value):
        columns = [[plain(name), plain(value.iloc[:, at].tolist())] for at, name in enumerate(value.columns)]
        return {"frame": {"index": plain(value.index.tolist()), "columns": columns}}
    if isinstance(value, dict):
        return {"dict": [[plain(key), plain(item)] for key, item in value.items()]}
    for kind in (tuple, set, frozenset):
        if isinstance(value, kind):
            return {kind.__name__: [plain(item) for item in value]}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if hasattr(value, "__next__") or isinstance(value, (range, type({}.keys()), type({}.values()), type({}.items()))):
        return [plain(item) for item in itertools.islice(value, ITEMS)]
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if hasattr(value, "__array__"):
        array = np.array(value, subok=False)
        if array.dtype == object and array.ndim == 1:  # a column of names
            return [plain(item) for item in array.tolist()]
        if array.dtype == object:
            array = array.astype(float)
        file = io.BytesIO()
        np.save(file, array, allow_pickle=False)
        return {"array": base64.b64encode(file.getvalue()).decode()}
    if hasattr(value, "__float__"):
        return float(value)
    raise TypeError(
        f"it returns a {type(value).__name__}; a test can take numbers, texts, arrays, tables and lists of these"
    )


def _program(program: pulp.LpProblem) -> dict:
    """A linear program by the numbers of its variables."""
    variables = program.variables()
    number = {id(variable): at for at, variable in enumerate(variables)}

    def terms(expression):
        return [[number[id(variable)], float(factor)] for variable, factor in expression.items()]

    objective = program.objective if program.objective is not None else pulp.LpAffineExpression()
    return {
        "sense": program.sense,
        "variables": [
            [*(None if end is None else float(end) for end in (v.lowBound, v.upBound)), v.cat] for v in variables
        ],
        "objective": [terms(objective), float(objective.constant)],
        "constraints": [[terms(c), float(c.constant), c.sense] for c in program.constraints.values()],
    }


def _end_with(parent: int) -> None:
    """End when the tests have ended, even out of an endless loop."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _copied(tests: Connection, children: list[int]) -> Connection | None:
    """Have a copy of this process made; return in the copy its own pipe, and nothing here."""
    theirs = Connection(recv_handle(tests))
    for child in children[:]:
        if os.waitpid(child, os.WNOHANG)[0]:
            children.remove(child)
    pid = os.fork()
    if pid:
        theirs.close()
        children.append(pid)
        tests.send_bytes(json.dumps(pid).encode())
        return None
    os.setsid()
    tests.close()  # the pipe of another process is none of the student's business
    children.clear()
    _watch()
    return theirs


def _watch() -> None:
    threading.Thread(target=_end_with, args=[os.getppid()], daemon=True).start()


def main(pipe: int) -> None:
    _watch()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    tests, candidate, children = Connection(pipe), Candidate(), []
    while True:
        action, *arguments = pickle.loads(tests.recv_bytes())
        if action == "copy":
            tests = _copied(tests, children) or tests
            continue
        try:
            reply = json.dumps(getattr(candidate, action)(*arguments))
        except Exception as error:  # the student's code has broken something that is needed here
            reply = json.dumps({"error": f"{type(error).__name__}: {error}"})
        tests.send_bytes(reply.encode())


if __name__ == "__main__":
    main(int(sys.argv[1]))
