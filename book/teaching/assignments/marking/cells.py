"""Put the cells of a hand-in in order: the teacher's own, with the student's answers and other cells between them."""

import ast
import re
from dataclasses import dataclass, field

import nbformat
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from marking import COURSE

_HIDDEN = re.compile(r"^ *### BEGIN HIDDEN TESTS\n.*?^ *### END HIDDEN TESTS\n?", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Part:
    """A cell of the assignment, as the teacher made it."""

    cell: nbformat.NotebookNode
    text: str  # of an answer: what stands there before a student answers
    names: tuple[str, ...] = ()  # what an answer in code defines

    @property
    def id(self) -> str:
        return self.cell.metadata.nbgrader.grade_id

    @property
    def is_answer(self) -> bool:
        return self.cell.metadata.nbgrader.solution

    @property
    def is_code(self) -> bool:
        return self.cell.cell_type == "code"

    @property
    def is_test(self) -> bool:
        return self.is_code and self.cell.metadata.nbgrader.grade and not self.is_answer

    def defined_in(self, source: str) -> bool:
        """Whether the code defines what the answer should; by the text, since it may have a syntax error."""
        return any(
            re.search(rf"^(?:(?:async )?def|class) {name}\b|^{name}\s*=(?!=)", source, re.M) for name in self.names
        )

    def is_filled_by(self, source: str) -> bool:
        return _words(source) not in ("", _words(self.text))


@dataclass
class Order:
    """The cells of a hand-in in order, and what was found on the way."""

    cells: list[nbformat.NotebookNode] = field(default_factory=list)
    answered: int = 0  # answers in code that are not as they were given
    found: int = 0  # answers in code of which there is a trace
    remarks: list[str] = field(default_factory=list)


def parts(assignment: str) -> list[Part]:
    """The cells of an assignment, in the order of its notebook, with the texts that nbgrader keeps, hidden tests too."""
    notebook = nbformat.read(COURSE / "source" / assignment / f"{assignment}.ipynb", as_version=4)
    with Gradebook(f"sqlite:///{COURSE / 'gradebook.db'}") as gradebook:
        texts = {cell.name: cell.source for cell in gradebook.find_notebook(assignment, assignment).source_cells}
    found = []
    for cell in notebook.cells:
        if (name := _grade_id(cell)) in texts:
            answer = cell.cell_type == "code" and cell.metadata.nbgrader.solution
            found.append(Part(cell, texts[name], _names(cell.source) if answer else ()))
    return found


def _names(source: str) -> tuple[str, ...]:
    """The names that code defines at its top level."""
    names = []
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return tuple(names)


def _grade_id(cell: nbformat.NotebookNode) -> str | None:
    marks = cell.metadata.get("nbgrader")
    return marks.get("grade_id") if isinstance(marks, dict) else None


def _words(text: str) -> str:
    """A text without the spaces and line ends that programs change on their own."""
    return " ".join(text.split())


def in_order(cells: list[nbformat.NotebookNode], assignment: list[Part]) -> Order:
    """Return a hand-in with every cell of the assignment once, in its place.

    The teacher's cells are as the teacher made them. An answer is known by its mark, or by the name that it defines.
    Every other cell of the student stands before the cell of the assignment that it stood before.
    """
    order = Order()
    anchors = _known(cells, assignment)
    chosen = {part.id: _answer(cells, part, assignment, anchors) for part in assignment if part.is_answer}
    # Of answers in one cell, the first tells where it stands.
    anchors |= {at: name for name, places in reversed(chosen.items()) for at in places}
    for part in assignment:
        if part.is_answer and part.is_code:
            order.found += bool(chosen[part.id])
            order.answered += any(part.is_filled_by(cells[at].source) for at in chosen[part.id])
    lost = [part.id for part in assignment if (part.is_code or part.is_answer) and part.id not in anchors.values()]
    lost = [name for name in lost if not chosen.get(name)]  # an answer may share its cell with another
    if lost:
        order.remarks.append(f"missing cells were put back: {', '.join(lost)}")
    if strange := [name for name, places in chosen.items() if any(_grade_id(cells[at]) != name for at in places)]:
        order.remarks.append(f"answers were found in other cells than their own: {', '.join(strange)}")
    before = _others(cells, assignment, anchors)
    for part in assignment:
        order.cells += before.get(part.id, [])
        order.cells.append(_restored(part, [cells[at] for at in chosen.get(part.id, [])]))
    order.cells += before.get(None, [])
    return order


def _known(cells: list[nbformat.NotebookNode], assignment: list[Part]) -> dict[int, str]:
    """The places of the teacher's cells in a hand-in, by their marks or else by their texts; of copies, the first."""
    ids = {part.id for part in assignment if not part.is_answer}
    texts = {_words(_HIDDEN.sub("", part.text)): part.id for part in assignment if not part.is_answer}
    places: dict[str, int] = {}
    for at, cell in enumerate(cells):
        name = _grade_id(cell) if _grade_id(cell) in ids else texts.get(_words(cell.source))
        if name and cell.source.strip():
            places.setdefault(name, at)
    return {at: name for name, at in places.items()}


def _answer(cells, part: Part, assignment: list[Part], anchors: dict[int, str]) -> list[int]:
    """Where an answer stands in a hand-in; in words it may stand in several cells."""
    if part.is_code:
        candidates = [
            at for at in range(len(cells)) if _grade_id(cells[at]) == part.id or part.defined_in(cells[at].source)
        ]

        def preference(at: int) -> tuple:
            source = cells[at].source
            return part.is_filled_by(source), part.defined_in(source), _grade_id(cells[at]) == part.id, at

        return [max(candidates, key=preference)] if candidates else []
    marked = [at for at, cell in enumerate(cells) if _grade_id(cell) == part.id]
    filled = [at for at in marked if part.is_filled_by(cells[at].source) or cells[at].get("attachments")]
    if filled:
        return filled[-1:]
    # Written below the task, but not into the cell that is marked.
    task = assignment[assignment.index(part) - 1].id
    start = max([at for at, name in anchors.items() if name == task] + marked, default=len(cells))
    found = []
    for at in range(start + 1, len(cells)):
        if at in anchors:
            break
        if _is_text(cells[at]):
            found.append(at)
    if not found and not marked:  # then a person should see all that the student wrote
        found = [at for at in range(len(cells)) if at not in anchors and _is_text(cells[at])]
    return found or marked[-1:]


def _is_text(cell) -> bool:
    return cell.cell_type != "code" and _grade_id(cell) is None and bool(cell.source.strip())


def _others(cells, assignment: list[Part], anchors: dict[int, str]) -> dict[str | None, list[nbformat.NotebookNode]]:
    """The student's other cells, by the cell of the assignment before which they stood."""
    answers = {part.id: part for part in assignment if part.is_answer}
    given = {part.id for part in assignment} - set(answers)
    before: dict[str | None, list[nbformat.NotebookNode]] = {}
    following = None
    for at in reversed(range(len(cells))):
        cell = cells[at]
        if at in anchors:
            following = anchors[at]
            continue
        mark = _grade_id(cell)
        untouched = mark in answers and not answers[mark].is_filled_by(cell.source)
        stub = any(part.is_code and not part.is_filled_by(cell.source) for part in answers.values())
        if mark in given or untouched or (stub and cell.source.strip()) or not cell.source.strip():
            continue
        before.setdefault(following, []).insert(0, _plain(cell, cell.cell_type))
    return before


def _plain(cell, cell_type: str) -> nbformat.NotebookNode:
    """A cell with its text, and the pictures that were pasted into it."""
    make = {"code": nbformat.v4.new_code_cell, "raw": nbformat.v4.new_raw_cell}.get(
        cell_type, nbformat.v4.new_markdown_cell
    )
    new = make(cell.source)
    if cell_type == "markdown" and isinstance(cell.get("attachments"), dict):
        new.attachments = cell.attachments
    return new


def _restored(part: Part, answer: list[nbformat.NotebookNode]) -> nbformat.NotebookNode:
    new = _plain(nbformat.from_dict({"source": part.text}), part.cell.cell_type)
    if answer:
        new = _plain(answer[0], part.cell.cell_type)
        new.source = "\n\n".join(cell.source for cell in answer)
        for cell in answer[1:]:
            new.setdefault("attachments", {}).update(cell.get("attachments", {}))
    new.metadata.nbgrader = dict(part.cell.metadata.nbgrader)
    return new


class PutInOrder(NbGraderPreprocessor):
    """The first step of `nbgrader autograde`."""

    def preprocess(self, nb, resources):
        order = in_order(nb.cells, parts(resources["nbgrader"]["assignment"]))
        nb.cells = order.cells
        remarks = nb.metadata.get("marking", {}).get("remarks", [])
        nb.metadata = nbformat.from_dict({"marking": {"remarks": remarks + order.remarks}})
        return nb, resources
