"""Write `environment.yml`, for conda and Binder, with the versions of `requirements.lock`."""

import re
from pathlib import Path

import outputs

ROOT = Path(__file__).resolve().parent.parent
# pip refuses an editable project beside hashes, so conda's users get the same versions without hashes.
HEADER = """\
# Made by `make lock` from requirements.lock: the same versions, without the hashes, and gaplib itself.
name: gap
channels:
  - conda-forge
dependencies:
  - python=3.11
  - pip
  - pip:
"""


def pins(lock: str) -> list[str]:
    """Return the lock's requirements, each with its version and the platforms it is for."""
    return [line.rstrip(" \\") for line in lock.splitlines() if re.match(r"[a-z0-9]", line)]


def environment(lock: str) -> str:
    """Return the text of `environment.yml`."""
    lines = [f'      - "{pin}"' if ";" in pin else f"      - {pin}" for pin in pins(lock)]
    return HEADER + "\n".join(lines) + "\n      - -e .\n"


def write(file: Path, lock: str) -> None:
    """Write the file. Raises `FileExistsError` if there is one that this tool did not make."""
    if file.exists() and not file.read_text().startswith(HEADER.splitlines()[0]):
        raise FileExistsError(f"{file} was not made by this tool; move it elsewhere, or delete it")
    outputs.replace_file(file, environment(lock).encode())


if __name__ == "__main__":
    write(ROOT / "environment.yml", (ROOT / "requirements.lock").read_text())
