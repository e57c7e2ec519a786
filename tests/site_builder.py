"""The tool that builds the site, run as a reader would."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = "https://github.com/example/gap"
BASEURL = "https://example.org/gap"  # where the site would stand


def run_site(*arguments):
    """Run `tools/build_site.py` as a reader would, and return the finished process with all its output in stdout."""
    command = [sys.executable, str(ROOT / "tools" / "build_site.py"), *map(str, arguments)]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
