"""Feedback: the names of the tasks, formulas without a network, and its way back to the students."""

import base64
import re
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import List

from marking import COURSE

_MATHJAX = COURSE / "mathjax"


class NameTasks(NbGraderPreprocessor):
    """Write to each cell with points the task that it belongs to, and whether a person has yet to mark it."""

    display_data_priority = List().tag(config=True)  # which nbgrader sets for all steps

    def preprocess(self, nb, resources):
        place, task = resources["nbgrader"], ""
        with Gradebook(place["db_url"]) as gradebook:
            submission = gradebook.find_submission_notebook(place["notebook"], place["assignment"], place["student"])
            waiting = {grade.name for grade in submission.grades if grade.needs_manual_grade}
        for cell in nb.cells:
            marks = cell.metadata.get("nbgrader", {})
            if marks.get("locked") and (found := re.findall(r"\*\*(Task [\d.]+)\*\*", cell.source)):
                task = found[-1]
            if marks.get("grade"):
                cell.metadata.task = (
                    f"{task}, in words" if marks.solution else f"{task}: {marks.grade_id.removeprefix('test-')}"
                )
                cell.metadata.waits = marks.grade_id in waiting
        resources["mathjax"] = mathjax()
        resources["remarks"] = nb.metadata.get("marking", {}).get("remarks", [])
        return nb, resources


def mathjax() -> str:
    """The script of MathJax with its fonts inside, so that a page needs no other file."""

    def font(match: re.Match) -> str:
        [file] = _MATHJAX.rglob(match[1])
        return f"data:font/woff;base64,{base64.b64encode(file.read_bytes()).decode()}"

    return re.sub(r"%%URL%%/([\w-]+\.woff)", font, (_MATHJAX / "tex-mml-chtml.js").read_text(encoding="utf-8"))


class ReleaseFeedback(ExchangeReleaseFeedback):
    """`nbgrader release_feedback`, for those who handed in by the exchange: nobody else has a folder there."""

    def copy_files(self):
        folders = [path.parent for path in map(Path, COURSE.glob(f"feedback/*/{self.coursedir.assignment_id}/*.html"))]
        by_hand = sorted({folder.parent.name for folder in folders if not (folder / "submission_secret.txt").exists()})
        if by_hand:
            self.log.info("Handed in as files, to be given back as files: %s", ", ".join(by_hand))
        excluded = self.coursedir.student_id_exclude
        self.coursedir.student_id_exclude = ",".join(filter(None, [excluded, *by_hand]))
        try:
            super().copy_files()
        finally:
            self.coursedir.student_id_exclude = excluded
