"""How a course marks: hand-ins are put in order, and students' code runs apart from the tests. See the page "Assignments"."""

from pathlib import Path

COURSE = Path(__file__).resolve().parent.parent
