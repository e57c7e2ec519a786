"""Times of the book, wall clock, each with what was reached: import, site, and the whole book."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMPORT = """
import sys, time
start = time.perf_counter()
from gaplib import models, mechanisms, leakage, losses, binary
print(time.perf_counter() - start, "tensorflow" in sys.modules)
"""


def import_times(runs: int = 9) -> tuple[list[float], bool]:
    """Return the seconds that a fresh interpreter takes to import the theory, and whether TensorFlow came along."""
    outputs = [
        subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True) for _ in range(runs)
    ]
    words = [output.stdout.split() for output in outputs]
    return [float(seconds) for seconds, _ in words], any(loaded == "True" for _, loaded in words)


def build(*options: str) -> tuple[float, int]:
    """Return the seconds that a strict build takes, and how many pages it made."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, ROOT / "tools" / "build_site.py", "--out", folder, *options]
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds = time.perf_counter() - start
        return seconds, len(list((Path(folder) / "_build" / "html").rglob("*.html")))


if __name__ == "__main__":
    seconds, tensorflow = import_times()
    spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
    print(
        f"import gaplib   {statistics.median(seconds):6.2f} s (median of {len(seconds)}; {spread}); "
        f"TensorFlow loaded: {tensorflow}"
    )
    for name, options in (("make site", []), ("make book", ["--execute"])):
        seconds, pages = build(*options)
        print(f"{name:<15} {seconds:6.2f} s; {pages} pages, no warning")
