"""Run a hand-in: the teacher's cells and the tests in the kernel, the student's cells in a process of their own."""

import ast
import json
from dataclasses import dataclass

import nbformat
from nbgrader import utils
from nbgrader.preprocessors import Execute
from traitlets import Dict, Float

from marking import COURSE
from marking.cells import Part, parts

_IMPORT = "import sys; sys.path.insert(0, {!r}); from marking.examiner import Examiner as __Examiner; del sys.path[0]"
_PRINT = "import json; print(json.dumps({}))"


@dataclass
class Step:
    """What to do at a cell. `cell` and `answer` are places in the list of the examiner's cells."""

    cell: int | None = None
    by_student: bool = False
    is_test: bool = False
    answer: int | None = None  # the last one before
    is_filled: bool = False  # that answer


class ExecuteApart(Execute):
    """In place of nbgrader's step that runs a notebook.

    A test asks the student's functions for values and gets copies. If it fails, it is run again: with the answer and what
    other cells define, and with the answer alone.
    """

    seconds = Float(30, help="What a cell of a student, and a test of an answer, may take.").tag(config=True)
    seconds_for = Dict(help="Other times, by the grade_id of an answer.").tag(config=True)

    def preprocess(self, nb, resources, km=None):
        self._plan(nb, parts(resources["nbgrader"]["assignment"]))
        nb, resources = super().preprocess(nb, resources, km)
        nb.metadata.marking.remarks += self.remarks
        return nb, resources

    def _plan(self, nb, assignment: list[Part]) -> None:
        by_id = {part.id: part for part in assignment}
        names = {name for part in assignment for name in part.names}
        self.steps, self.cells, self.remarks, answer, is_filled = [], [], [], None, False
        for cell in nb.cells:
            part = by_id.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            code = self._code(cell, part, names) if cell.cell_type == "code" else None
            if part and part.is_answer and part.is_code:
                answer, is_filled = len(self.cells), part.is_filled_by(cell.source)
            by_student = code is not None and code["kind"] != "given"
            place = None if code is None else len(self.cells)
            self.steps.append(Step(place, by_student, bool(part and part.is_test), answer, is_filled))
            self.cells += [] if code is None else [code]

    def _code(self, cell, part: Part | None, names: set[str]) -> dict | None:
        """What the examiner must know of a cell; nothing if it runs beside the tests only."""
        if part is None:
            return {"kind": "other", "source": cell.source, "seconds": self.seconds}
        if part.is_answer:
            seconds = self.seconds_for.get(part.id, self.seconds)
            answer = {"id": part.id, "names": part.names, "model": part.cell.source, "seconds": seconds}
            return answer | {"kind": "answer", "source": cell.source}
        if part.is_test or any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(ast.parse(cell.source))):
            return None
        return {"kind": "given", "source": cell.source}

    def preprocess_cell(self, cell, resources, index):
        step = self.steps[index]
        if index == 0:
            self._tell(index, _IMPORT.format(str(COURSE)))
            self._tell(index, f"__examiner = __Examiner({self.cells!r}, globals())")
        if step.by_student:
            self._show(cell, json.loads(self._tell(index, _PRINT.format(f"__examiner.run({step.cell})"))))
        elif step.is_test and step.answer is not None:
            self._test(cell, index, step)
        elif cell.cell_type == "code":
            self.execute_cell(cell, index)
            if step.cell is not None:
                self._tell(index, f"__examiner.run({step.cell})")
        if index == len(self.steps) - 1:
            self.remarks = json.loads(self._tell(index, _PRINT.format("__examiner.remarks")))
        return cell, resources

    def _test(self, cell, index: int, step: Step) -> None:
        for ask in ("ask_notebook({})", "ask_alone({}, True)", "ask_alone({}, False)"):
            self._tell(index, f"__examiner.{ask.format(step.answer)}")
            self.execute_cell(cell, index)
            points, most = utils.determine_grade(cell)
            if points == most or not step.is_filled:
                break

    def _tell(self, index: int, source: str) -> str:
        """Run a line of our own in the kernel; return what it prints."""
        cell, scratch = self.nb.cells[index], nbformat.v4.new_code_cell(source)
        try:
            self.execute_cell(scratch, index, store_history=False)
        finally:
            self.nb.cells[index] = cell
        for output in scratch.outputs:
            if output.output_type == "error":
                raise RuntimeError("\n".join(output.traceback))
        return "".join(output.text for output in scratch.outputs if output.get("name") == "stdout")

    def _show(self, cell, shown: dict) -> None:
        cell.outputs = []
        if shown.get("text"):
            cell.outputs.append(nbformat.v4.new_output("stream", name="stdout", text=shown["text"]))
        for figure in shown.get("figures", []):
            cell.outputs.append(nbformat.v4.new_output("display_data", {"image/png": figure}))
