"""How a course marks: hand-ins are put in order, and students' code runs apart from the tests.

The page "Assignments" of the book says what a teacher sees of it.
"""

from pathlib import Path

COURSE = Path(__file__).resolve().parent.parent
