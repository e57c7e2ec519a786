"""Make an nbgrader course of the assignments, with the students' versions in its folder `release`.

python tools/assignments.py FOLDER
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import outputs

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "book" / "teaching" / "assignments"
MATHJAX = ROOT / "book" / "extra" / "mathjax"


def names() -> list[str]:
    """Return the names of the assignments."""
    return sorted(path.stem for path in TEMPLATE.glob("source/*/*.ipynb"))


def nbgrader(course: Path, *arguments: str) -> None:
    """Run one nbgrader command in a course."""
    # nbgrader starts `alembic` by its bare name: it must find the one of this environment.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    command = [sys.executable, "-m", "nbgrader", *arguments]
    subprocess.run(command, cwd=course, env=os.environ | {"PATH": path}, check=True)


def make_course(course: Path) -> None:
    """Copy the assignments into a course and generate what students get.

    Parameters
    ----------
    course : Path
        A new or empty folder, or one that an earlier call made.

    Raises
    ------
    FileExistsError
        If the folder holds something else, links, what was edited since, or submissions: to overwrite their assignments
        could cost marks.
    subprocess.CalledProcessError
        If nbgrader reports an error.
    """
    if (course / "submitted").exists():
        raise FileExistsError(f"course must be a folder without submissions, got {course}")
    ignore = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__")
    release = outputs.free_of_links(course, "release")
    others = {f"release/{name}" for name in outputs.files_in(release)} - set(outputs.made(course, "assignments"))
    if others:
        raise FileExistsError(f"{course / min(others)} was not made by this tool; move it elsewhere, or delete it")
    with outputs.new_version(course, "assignments") as new:
        shutil.copytree(TEMPLATE, new, dirs_exist_ok=True, ignore=ignore)
        shutil.copytree(MATHJAX, new / "mathjax")  # for the pages of feedback
        made = outputs.files_in(new)
    for name in names():
        nbgrader(course, "generate_assignment", name, "--force")
    made |= {f"release/{name}" for name in outputs.files_in(release)}
    outputs.record(course, "assignments", made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the course is made")
    course = parser.parse_args().folder.absolute()
    try:
        make_course(course)
    except (FileExistsError, subprocess.CalledProcessError) as error:
        sys.exit(f"The assignments were not made: {error}")
    print(f"The students' notebooks are in {course / 'release'}")


if __name__ == "__main__":
    main()
