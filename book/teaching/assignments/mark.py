"""Mark the hand-ins of an assignment.

python mark.py NAME [--student STUDENT] [--force]
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from nbgrader.api import Gradebook

from marking import COURSE
from marking.cells import parts
from marking.files import NotMarkableError, contents, prepared, submitted
from marking.grades import rows


def prepare(assignment: str, only: str | None, force: bool) -> None:
    """Copy what was handed in to `prepared`, as nbgrader wants it. What has changed since loses its marked copy."""
    handed_in = submitted(assignment)
    for student in handed_in:
        for copies in ("prepared", "autograded"):
            refuse_links(COURSE / copies / student / assignment)
    made = parts(assignment)
    for student, folder in handed_in.items():
        if only in (None, student):
            target = COURSE / "prepared" / student / assignment
            try:
                files = prepared(contents(folder), assignment, made)
            except NotMarkableError:
                files = {}
            if force or not target.exists() or contents(target) != files:
                for old in (target, COURSE / "autograded" / student / assignment):
                    shutil.rmtree(old, ignore_errors=True)
                for path, data in files.items():
                    (target / path).parent.mkdir(parents=True, exist_ok=True)
                    (target / path).write_bytes(data)


def refuse_links(path: Path) -> None:
    """Write nowhere else than in the course."""
    for part in [path, *path.parents][: -len(COURSE.parents) - 1]:
        if part.is_symlink():
            sys.exit(f"{part} is a symbolic link, which is not followed.")


def autograde(assignment: str, options: list[str]) -> None:
    # nbgrader starts `alembic` by its bare name: it must find the one of this environment.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    command = [sys.executable, "-m", "nbgrader", "autograde", assignment, "--log-level=WARN", *options]
    command.append("--CourseDirectory.submitted_directory=prepared")
    subprocess.run(command, cwd=COURSE, env=os.environ | {"PATH": path}, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="the assignment")
    parser.add_argument("--student", help="mark the hand-in of this student only")
    parser.add_argument("--force", action="store_true", help="mark also what has not changed since it was marked")
    options = parser.parse_args()
    prepare(options.name, options.student, options.force)
    if list(COURSE.glob(f"prepared/{options.student or '*'}/{options.name}")):
        autograde(options.name, [f"--student={options.student}"] if options.student else [])
    with Gradebook(f"sqlite:///{COURSE / 'gradebook.db'}") as gradebook:
        for row in rows(gradebook, options.name):
            if options.student in (None, row["student_id"]):
                points = f", {row['program']:g} points by program" if row["program"] != "" else ""
                print(f"{row['student_id']}: {row['status']}{points}", *filter(None, [row["remarks"]]), sep="; ")


if __name__ == "__main__":
    main()
