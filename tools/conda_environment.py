"""Write `environment.yml`, for conda and Binder, with the versions of `requirements.lock`."""

import re
from pathlib import Path

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


if __name__ == "__main__":
    (ROOT / "environment.yml").write_text(environment((ROOT / "requirements.lock").read_text()))
