"""Run a hand-in: the teacher's cells and the tests in the kernel, the student's cells in a process of their own."""

import ast
import json

import nbformat
from nbgrader import utils
from nbgrader.preprocessors import Execute
from traitlets import Dict, Float

from marking import COURSE
from marking.cells import parts

_START = "import sys; sys.path.insert(0, {course!r}); from marking.examiner import Examiner as __Examiner; sys.path.pop(0)"
_MAKE = "__examiner = __Examiner({cells!r}, globals())"


class ExecuteApart(Execute):
    """In place of nbgrader's step that runs a notebook.

    A test asks the student's functions for values and gets copies. If it fails, it is run once more, with the answer alone.
    """

    seconds = Float(30, help="What a cell of a student, and a test of an answer, may take.").tag(config=True)
    seconds_for = Dict(help="Other times, by the grade_id of an answer.").tag(config=True)

    def preprocess(self, nb, resources, km=None):
        assignment = {part.id: part for part in parts(resources["nbgrader"]["assignment"])}
        answers = [name for part in assignment.values() for name in part.names]
        self.plan, self.places, cells, answer = [], {}, [], None
        for cell in nb.cells:
            part = assignment.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            step = None
            if cell.cell_type == "code" and part is None:
                step = {"kind": "other", "source": cell.source, "seconds": self.seconds}
            elif cell.cell_type == "code" and part.is_answer:
                step = {
                    "kind": "answer",
                    "source": cell.source,
                    "id": part.id,
                    "names": part.names,
                    "model": part.cell.source,
                    "seconds": self.seconds_for.get(part.id, self.seconds),
                }
                answer = len(cells), part.is_filled_by(cell.source)
            elif cell.cell_type == "code" and not part.is_test and not _uses(cell.source, answers):
                step = {"kind": "given", "source": cell.source}
            self.plan.append({"at": len(cells) if step else None, "kind": step and step["kind"], "answer": answer})
            self.plan[-1]["test"] = bool(part and part.is_test)
            cells += [step] if step else []
        self.cells = cells
        nb, resources = super().preprocess(nb, resources, km)
        nb.metadata.marking = nb.metadata.get("marking", {"remarks": []})
        nb.metadata.marking["remarks"] += self.remarks
        return nb, resources

    def preprocess_cell(self, cell, resources, index):
        plan = self.plan[index]
        if index == 0:
            self._tell(index, _START.format(course=str(COURSE)))
            self._tell(index, _MAKE.format(cells=self.cells))
        if cell.cell_type == "code" and plan["kind"] in ("answer", "other"):
            self._show(cell, json.loads(self._tell(index, f"import json; print(json.dumps(__examiner.run({plan['at']})))")))
        elif plan["test"] and plan["answer"]:
            self._test(cell, index, *plan["answer"])
        elif cell.cell_type == "code":
            self.execute_cell(cell, index)
            if plan["kind"] == "given":
                self._tell(index, f"__examiner.run({plan['at']})")
        if index == len(self.plan) - 1:
            self.remarks = json.loads(self._tell(index, "import json; print(json.dumps(__examiner.remarks))"))
        return cell, resources

    def _test(self, cell, index: int, answer: int, filled: bool) -> None:
        self._tell(index, f"__examiner.ask_notebook({answer})")
        self.execute_cell(cell, index)
        points, most = utils.determine_grade(cell)
        if filled and points < most:
            self._tell(index, f"__examiner.ask_alone({answer})")
            self.execute_cell(cell, index)

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


def _uses(source: str, names: list[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(ast.parse(source)))
