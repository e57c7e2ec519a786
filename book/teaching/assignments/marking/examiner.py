"""In the kernel that runs the tests: has the student's code run elsewhere, and hands the tests what it returns."""

import atexit
import base64
import contextlib
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle
from pathlib import Path

START = 300  # seconds for Python and the teacher's own cells
REPLY = 2**26  # bytes that a function may return


class StudentError(Exception):
    """What went wrong in the student's code."""

    def _render_traceback_(self):
        """What IPython shows: the line of the test, and nothing of this module."""
        lines = [place for place in traceback.extract_tb(self.__traceback__) if place.filename != __file__]
        return [f"In line {lines[-1].lineno} of the test: {lines[-1].line}", str(self)]


class Stopped(Exception):
    """The process of the student is gone."""


@dataclass
class Cell:
    """A cell of code, in the order of the notebook."""

    kind: str  # "given" by the teacher, "answer" or "other" of the student
    source: str
    id: str = ""
    names: tuple[str, ...] = ()  # that an answer defines
    model: str = ""  # the teacher's answer
    seconds: float = 0
    # After a cell did not end, or ended Python: only its definitions run, then nothing of it.
    setbacks: int = 0
    replaced: bool = False  # by the model, since its functions do not end


class Process:
    """A process that runs a student's code, or the teacher's in order to be copied."""

    def __init__(self, pipe: Connection, pid: int, child: subprocess.Popen | None = None):
        self.pipe, self.pid, self.child = pipe, pid, child  # a copy is the child of another process
        atexit.register(self.stop)

    @classmethod
    def new(cls):
        """Start Python."""
        ours, theirs = Pipe()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-P", Path(__file__).with_name("candidate.py"), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=os.environ | {"MPLBACKEND": "module://matplotlib_inline.backend_inline"},
            )
        return cls(ours, process.pid, process)

    def copy(self):
        """Return a process with all that this one holds: in a moment, where a new one imports everything again."""
        ours, theirs = Pipe()
        with theirs:
            try:
                self.pipe.send_bytes(pickle.dumps(("copy",)))
                send_handle(self.pipe, theirs.fileno(), self.pid)
            except OSError as error:
                raise Stopped("ended Python") from error
            return Process(ours, self._answer(START))

    def ask(self, seconds: float, action: str, *arguments):
        try:
            self.pipe.send_bytes(pickle.dumps((action, *arguments)))
        except OSError as error:
            self.stop()
            raise Stopped("ended Python, or returned too much") from error
        return self._answer(seconds)

    def _answer(self, seconds: float):
        try:
            if self.pipe.poll(seconds):
                return json.loads(self.pipe.recv_bytes(REPLY))
        except (EOFError, OSError) as error:
            self.stop()
            raise Stopped("ended Python, or returned too much") from error
        self.stop()
        raise Stopped("did not end")

    def stop(self):
        """End the process and what it has started."""
        if self.pipe.closed:
            return
        self.pipe.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        if self.child:
            self.child.wait()


class Examiner:
    """Marks one hand-in.

    `names` is the namespace of the tests. The student's functions stand in it as functions that ask the student's
    process.
    """

    def __init__(self, cells: list[dict], names: dict):
        self.cells = [Cell(**cell) for cell in cells]
        self.opening = next((at for at, cell in enumerate(self.cells) if cell.kind != "given"), len(cells))
        self.names = names
        self.base: Process | None = None  # with the teacher's cells before the first of the student, to be copied
        self.notebook: Process | None = None  # with all cells so far
        self.end = 0
        self.alone: Process | None = None  # with one answer that cannot be harmed by others
        self.asked: Process | None = None
        self.answer: Cell | None = None
        self.seconds = 0.0
        self.remarks: list[str] = []

    def run(self, at: int) -> dict:
        """Run the next cell in the student's process; return what it prints and draws."""
        if at < self.opening:
            self.end = at + 1
            return {}
        process, cell = self._notebook(), self.cells[at]
        self.end = at + 1
        try:
            return self._run(process, cell)
        except Stopped as error:
            self.notebook = None
            what = f"the cell {cell.id}" if cell.id else "a cell of the student"
            self.remarks.append(f"{what} {error}")
            return {"text": f"After {cell.seconds:g} s at most: {self.remarks[-1]}.\n", "figures": []}

    def _notebook(self) -> Process:
        """The process in which the cells so far have run, started again if it is gone."""
        while self.notebook is None:
            self.notebook = self._opened()
            try:
                for cell in self.cells[self.opening : self.end]:
                    self._run(self.notebook, cell)
            except Stopped:
                self.notebook = None
        return self.notebook

    def _opened(self) -> Process:
        """Return a new process in which the teacher's first cells have run, and nothing of the student's."""
        for _ in range(2):  # a student may have ended the process that is copied
            try:
                if self.base is None:
                    self.base = Process.new()
                    for cell in self.cells[: self.opening]:
                        self.base.ask(START, "run", cell.source)
                return self.base.copy()
            except Stopped:
                self.base = None
        raise RuntimeError("the teacher's cells do not run")

    def _run(self, process: Process, cell: Cell) -> dict:
        try:
            if cell.kind == "given":
                return process.ask(START, "run", cell.source)
            if cell.replaced:
                return process.ask(START, "run", cell.model)
            if cell.setbacks < 2:
                return process.ask(cell.seconds, "define" if cell.setbacks else "run", cell.source)
            return {}
        except Stopped:
            cell.setbacks += 1
            raise

    def ask_notebook(self, at: int) -> None:
        """Let the tests that follow ask for the answer `at`, as the notebook stands."""
        self._ask(None if self.cells[at].replaced else self._notebook(), at)

    def ask_alone(self, at: int, with_definitions: bool) -> None:
        """Let the tests that follow ask for the answer `at`, with right answers in place of the others.

        Of the student's other cells only definitions are there, or nothing.
        """
        if self.alone:
            self.alone.stop()
            self.alone = None
        if not self.cells[at].replaced:
            self.alone = self._alone(at, self.cells[at + 1 :] + self.cells[:at] if with_definitions else [])
        self._ask(self.alone, at)

    def _alone(self, at: int, others: list[Cell]) -> Process | None:
        process, answer = self._opened(), self.cells[at]
        try:
            for cell in self.cells[self.opening : at]:
                if cell.kind == "given":
                    process.ask(START, "run", cell.source)
            for cell in self.cells:
                if cell.model and cell is not answer:
                    process.ask(START, "run", cell.model)
            process.ask(START, "protect")
            for cell in others:
                if cell.kind != "given" and cell.setbacks < 2:
                    process.ask(cell.seconds, "define", cell.source)
            process.ask(START, "restore")
            self._run(process, answer)
            if len(process.ask(answer.seconds, "look_up", list(answer.names))) < len(answer.names):
                process.ask(answer.seconds, "define", answer.source)  # an error came before the definition
        except Stopped:
            return None
        return process

    def _ask(self, process: Process | None, at: int) -> None:
        self.asked, self.answer = process, self.cells[at]
        self.seconds = self.answer.seconds
        for name in self.answer.names:
            self.names.pop(name, None)
        if process is None:
            found = {name: {"function": True} for name in self.answer.names}
        else:
            try:
                found = process.ask(self.seconds, "look_up", list(self.answer.names))
            except Stopped:
                found = {}
        for name, value in found.items():
            self.names[name] = self._function(name) if "function" in value else rebuilt(value["value"])

    def _function(self, name: str):
        def function(*arguments, **named):
            return self._call(name, arguments, named)

        function.__name__ = name
        return function

    def _call(self, name: str, arguments: tuple, named: dict):
        if self.asked is None:
            raise StudentError(f"{name}(...) is not called: its cell, or an earlier call, did not end, or ended Python")
        began = time.monotonic()
        try:
            reply = self.asked.ask(max(self.seconds, 0), "call", name, pickle.dumps((arguments, named)))
        except Stopped as error:
            if self.asked is self.notebook:
                self.notebook = None
            else:
                self.answer.replaced = True
                if self.notebook:
                    self.notebook.stop()
                    self.notebook = None
                self.remarks.append(f"{name} {error}")
            raise StudentError(f"{name}(...) {error}; all calls of a test may take {self.answer.seconds:g} s") from None
        self.seconds -= time.monotonic() - began
        if "error" in reply:
            raise StudentError("\n".join([reply["error"], reply.get("where", "")]).strip())
        return rebuilt(reply["value"])


def rebuilt(value):
    """The value of which `candidate.plain` made this."""
    if isinstance(value, list):
        return [rebuilt(item) for item in value]
    if not isinstance(value, dict):
        return value
    [(kind, content)] = value.items()
    if kind == "array":
        import numpy as np

        return np.load(io.BytesIO(base64.b64decode(content)), allow_pickle=False)[()]
    if kind == "program":
        return _program(**content)
    if kind == "frame":
        return _frame(**content)
    if kind == "dict":
        return {rebuilt(key): rebuilt(item) for key, item in content}
    if kind == "complex":
        return complex(*content)
    return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](rebuilt(content))


def _frame(index, columns):
    import pandas as pd

    names, values = [rebuilt(name) for name, _ in columns], [rebuilt(column) for _, column in columns]
    frame = pd.DataFrame(dict(enumerate(values)), index=rebuilt(index))
    return frame.set_axis(names, axis=1)  # which a student may have given twice


def _program(sense, variables, objective, constraints):
    import pulp

    made = [pulp.LpVariable(f"x{at}", *bounds) for at, bounds in enumerate(variables)]

    def expression(terms, constant):
        return pulp.LpAffineExpression([(made[at], factor) for at, factor in terms], constant)

    program = pulp.LpProblem("handed_in", sense)
    program += expression(*objective)
    for terms, constant, kind in constraints:
        program += pulp.LpConstraint(expression(terms, constant), kind)
    return program
