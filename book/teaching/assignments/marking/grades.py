"""What becomes of each hand-in: points of programs and of persons apart, and a status."""

import csv
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin

from marking import COURSE
from marking.cells import parts
from marking.files import NotMarkableError, contents, prepared, submitted

COLUMNS = (
    "assignment",
    "student_id",
    "last_name",
    "first_name",
    "timestamp",
    "status",
    "program",
    "words",
    "late_submission_penalty",
    "score",
    "max_score",
    "remarks",
)
MARKED, WORDS, WAITS, ABSENT = "marked", "words not yet marked", "not yet marked", "not handed in"


def rows(gradebook: Gradebook, assignment: str) -> list[dict]:
    """One row for each student of the course. `score` is there only if the marking is complete."""
    handed_in, known = submitted(assignment), {student.id: student for student in gradebook.students}
    made, found = parts(assignment), []
    for name in sorted(known.keys() | handed_in.keys()):
        row = dict.fromkeys(COLUMNS, "") | {"assignment": assignment, "student_id": name}
        if name in known:
            row |= {"last_name": known[name].last_name or "", "first_name": known[name].first_name or ""}
        row["max_score"] = gradebook.find_assignment(assignment).max_score
        row |= (
            {"status": ABSENT}
            if name not in handed_in
            else _outcome(gradebook, assignment, name, handed_in[name], made)
        )
        found.append(row)
    return found


def _outcome(gradebook: Gradebook, assignment: str, student: str, folder: Path, made) -> dict:
    files = contents(folder)
    try:
        ready = prepared(files, assignment, made)
    except NotMarkableError as reason:
        return {"status": f"not markable: {reason}"}
    notebook = COURSE / "autograded" / student / assignment / f"{assignment}.ipynb"
    stored = COURSE / "prepared" / student / assignment
    if not notebook.exists() or (stored.exists() and contents(stored) != ready):
        return {"status": WAITS}
    try:
        submission = gradebook.find_submission(assignment, student)
    except MissingEntry:
        return {"status": WAITS}
    by_person = {part.id for part in made if part.is_answer}
    grades = [grade for one in submission.notebooks for grade in one.grades]
    words = [grade for grade in grades if grade.name in by_person]
    program = sum(grade.score for grade in grades if grade.name not in by_person)
    complete = not any(grade.needs_manual_grade for grade in grades)
    remarks = nbformat.read(notebook, as_version=4).metadata.get("marking", {}).get("remarks", [])
    row = {
        "timestamp": submission.timestamp or "",
        "status": MARKED if complete else WORDS,
        "program": program,
        "words": "" if any(grade.needs_manual_grade for grade in words) else sum(grade.score for grade in words),
        "late_submission_penalty": submission.late_submission_penalty,
        "remarks": "; ".join(remarks),
    }
    return row | {"score": max(0.0, submission.score - submission.late_submission_penalty) if complete else ""}


class Grades(ExportPlugin):
    """`nbgrader export`."""

    def export(self, gradebook: Gradebook) -> None:
        path = Path(self.to or "grades.csv")
        if path.is_symlink() or (path.exists() and not path.read_bytes().startswith(",".join(COLUMNS).encode())):
            raise FileExistsError(f"{path} is no earlier table of grades; move it elsewhere, or give --to=FILE")
        with open(path, "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, COLUMNS)
            table.writeheader()
            for assignment in gradebook.assignments:
                for row in rows(gradebook, assignment.name):
                    chosen = not self.assignment or assignment.name in map(str, self.assignment)
                    if chosen and (not self.student or row["student_id"] in map(str, self.student)):
                        table.writerow(row)
