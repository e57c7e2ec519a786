"""What a sweep costs beyond its runs: `python benchmarks/sweeps.py [RUNS]`, by default 1,000; that takes some minutes.

The notebook does nothing but record a number, so a run is little more than the start of a kernel. Its quality is that
every recorded number is the right one. Scaling is measured with a notebook that keeps one core busy. MB is the most
memory that the command itself has had; workers and kernels are other processes.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import pandas as pd
import papermill

from gaplib.book import chapters

PARAMETERS = "D: float = 1.0  # budget\nbusy: int = 0  # steps of a loop, in [0, inf)"
START = "from gaplib.book import notebook\n\nnotebook.start(globals())"
WORK = "for _ in range(busy):\n    pass\nnotebook.record(twice=2 * D)"
BUSY = 40_000_000
# The command in a process of its own, which says at its end how much memory it has had.
COMMAND = """
import json, resource, sys
from gaplib.__main__ import main
code = main(json.loads(sys.argv[1]))
print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def write_notebook(path: Path) -> None:
    """Write the notebook."""
    cells = [
        nbformat.v4.new_code_cell(PARAMETERS, id="parameters", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(START, id="start"),
        nbformat.v4.new_code_cell(WORK, id="work"),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)


def sweep(path: Path, out: Path, runs: int, *more: str) -> tuple[float, float]:
    """Do a sweep, and return its seconds and the memory of the command in MB."""
    words = ["sweep", str(path), "--grid", f"D=1:{runs}", "--out", str(out), *more]
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", COMMAND, json.dumps(words)], capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    code, megabytes = done.stdout.splitlines()[-1].split()
    assert code == "0", done.stderr
    if "--dry-run" not in more:
        table = pd.read_csv(out / "results.csv")
        assert len(table) == runs and (table["twice"] == 2 * table["D"]).all()
    return seconds, float(megabytes)


def bare(path: Path, folder: Path, runs: int) -> float:
    """Run the notebook by papermill alone, one run after the other in one process, and return the seconds."""
    begin = time.perf_counter()
    for i in range(runs):
        out = folder / f"{i}.ipynb"
        papermill.execute_notebook(path, out, {"D": float(i), "busy": 0}, progress_bar=False)
        assert chapters.results(out) == {"twice": 2.0 * i}
    return time.perf_counter() - begin


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        path = folder / "quick.ipynb"
        write_notebook(path)
        few = 20
        empty, _ = sweep(path, folder / "one", 1, "--workers", "1")  # starts the cluster, writes the summary
        alone = bare(path, folder, few)
        one, _ = sweep(path, folder / "few", few, "--workers", "1")
        print(f"papermill alone     {alone / few:6.2f} s a run")
        print(f"sweep, one worker   {(one - empty) / (few - 1):6.2f} s a run, and {empty:.1f} s for a sweep of one run")
        busy = {n: sweep(path, folder / f"busy{n}", 8, "--workers", n, "-p", "busy", str(BUSY))[0] for n in "12"}
        print(
            f"8 busy runs         {busy['1']:6.1f} s on one worker, {busy['2']:.1f} s on two: "
            f"{busy['1'] / busy['2']:.2f} times"
        )
        for number in (runs // 10, runs):
            out = folder / f"many{number}"
            planned, _ = sweep(path, out, number, "--dry-run")
            done, most = sweep(path, out, number)
            resumed, least = sweep(path, out, number)
            print(
                f"{number:6d} runs         {done / number:6.2f} s a run on all cores, {most:.0f} MB; "
                f"planned in {planned:.1f} s, resumed in {resumed:.1f} s, {least:.0f} MB"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
