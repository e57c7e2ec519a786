"""The times that the project holds itself to: processor seconds, beside a mark measured in the same run.

python benchmarks/speeds.py            measures all rows, in well over an hour, and writes book/data/speeds.csv
python benchmarks/speeds.py NAME ...   measures the rows of these names, and leaves the others as they are

A second of the processor depends on the machine and on what else it does; the ratio to a mark of the same run depends
on them far less. What a process and all that it starts have used counts, on however many cores.
"""

import csv
import gzip
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "book" / "data" / "speeds.csv"
BIN = Path(sys.executable).parent
COLUMNS = ("row", "measured", "beside it", "reached, and when")
KERAS_GAMES, SWEEP_RUNS, PHONE = 3, 100, {"width": 390, "height": 844}


class Row(NamedTuple):
    """A line of the table: what was measured, the mark beside it (or none) in the same unit, and the quality."""

    measured: float
    mark: str = ""
    of_mark: float | None = None
    reached: str = ""


def children(call: Callable[[], object]) -> tuple[float, object]:
    """Return the processor seconds of the processes that a call starts and waits for, and what it returns."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    value = call()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, value


def run(*command: object) -> str:
    """Return what a command prints; if it fails, say so and stop: of a failure no time counts."""
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{done.stderr}\n{command[1]} failed")
    return done.stdout


def make_book() -> Row:
    with tempfile.TemporaryDirectory() as folder:
        build = partial(run, BIN / "python", "tools/build_site.py", "--execute", "--out", folder)
        seconds, _ = children(build)
        return Row(seconds, reached=f"{len(list(Path(folder).rglob('*.html')))} pages, no warning")


def tests(*options: str) -> Row:
    seconds, output = children(partial(run, BIN / "python", "-m", "pytest", "-n", "2", "-q", *options))
    return Row(seconds, reached=output.splitlines()[-1].strip("= "))


def imported() -> Row:
    code = "import sys; from gaplib import binary, gaussian, transport; print('tensorflow' in sys.modules)"
    seconds, output = children(partial(run, sys.executable, "-c", code))
    numpy, _ = children(partial(run, sys.executable, "-c", "import numpy"))
    return Row(seconds, "the import of NumPy alone", numpy, f"TensorFlow loaded: {str(output).strip()}")


def games_warm() -> Row:
    import training

    training.together(training.STUDY, 0)  # compiles
    qualities, _, seconds = training.timed(training.together, training.STUDY, 1)
    begin = time.process_time()
    for game in training.STUDY[:KERAS_GAMES]:
        training.keras_game(*game)
    keras = (time.process_time() - begin) * len(training.STUDY) / KERAS_GAMES
    errors = [abs(error) for error, _ in qualities]
    return Row(
        seconds,
        f"a Keras loop, from {KERAS_GAMES} games",
        keras,
        f"accuracy off by {sum(errors) / len(errors):.4f} on average, {max(errors):.4f} at worst",
    )


def games_cold() -> Row:
    code = "import training; training.together(training.STUDY, 0)"
    seconds, _ = children(partial(run, sys.executable, "-c", f"import sys; sys.path.insert(0, 'benchmarks'); {code}"))
    alone, _ = children(partial(run, sys.executable, "-c", "import tensorflow"))
    return Row(seconds, "the import of TensorFlow alone", alone)


def sweep() -> Row:
    import sweeps

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "quick.ipynb"
        sweeps.write_notebook(path)
        swept, _ = children(lambda: sweeps.sweep(path, folder / "runs", SWEEP_RUNS, "--workers", "2"))
        here = time.process_time()
        alone, _ = children(lambda: sweeps.bare(path, folder, SWEEP_RUNS // 5))
        alone = 5 * (alone + time.process_time() - here)
        return Row(swept, f"papermill alone, from {SWEEP_RUNS // 5} runs", alone, "every recorded number right")


def set_up() -> Row:
    """From the archives that pip keeps: what is unpacked, compiled to bytecode and linked."""
    with tempfile.TemporaryDirectory() as name:
        python, pip = Path(name) / "bin" / "python", ("-m", "pip", "install", "--quiet")
        environment, _ = children(partial(run, sys.executable, "-m", "venv", name))
        packages, _ = children(partial(run, python, *pip, "--require-hashes", "-r", "requirements.lock"))
        project, _ = children(partial(run, python, *pip, "--no-deps", "--no-build-isolation", "-e", "."))
        parts = f"{environment:.0f} s the environment, {packages:.0f} s its packages, {project:.0f} s the project"
        return Row(environment + packages + project, reached=parts)


def plan_of_sample() -> Row:
    import numpy as np
    import transport as by_hand

    from gaplib import transport

    by_hand.pot()
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(2000, 2)) - 1, rng.normal(size=(2000, 2)) + 1])
    y = np.repeat([0, 1], 2000)
    seconds, found = by_hand.timed(lambda: transport.of_sample(x, y, 0.3))
    mark, (value, _) = by_hand.timed(lambda: by_hand.pot_by_hand(x, y, 0.3))
    return Row(seconds, "bisection with POT by hand", mark, f"accuracy {found.value:.6f}, POT {value:.6f}")


def unseen_on_the_line() -> Row:
    import transport as by_hand

    from gaplib import transport
    from gaplib.models import GaussianMixture

    mixture, D = by_hand.PDI[2]
    model = GaussianMixture(*mixture)
    transport.optimal_pdi(model, 2 * D, gap=1e-3)  # imports
    seconds, found = by_hand.timed(lambda: transport.optimal_pdi(model, D, gap=1e-4))
    mark, value = by_hand.timed(lambda: by_hand.grid_program(model, D, 80))
    reached = f"gap {found.gap:.0e}; the mark {abs(value - found.value):.0e} away"
    return Row(seconds, "a linear program over kernels on 80 points, HiGHS", mark, reached)


def heaviest_page() -> Row:
    import build_pdf
    from playwright.sync_api import sync_playwright

    pages = sorted(path for path in (ROOT / "_build" / "html").rglob("*.html") if "_static" not in path.parts)
    if not pages:
        raise SystemExit("the heaviest page needs a built site: make site")
    with sync_playwright() as playwright:
        browser = build_pdf.launch(playwright, build_pdf.find_browser())
        weights = {path.name: weight(browser, path) for path in pages}
        browser.close()
    name = max(weights, key=weights.__getitem__)
    return Row(weights[name], reached=f"{name}; text compressed by gzip, as servers send it")


def weight(browser, path: Path) -> float:
    """Return the kilobytes that a browser on a phone asks for when it first comes to a page."""
    loaded: set[Path] = set()
    context = browser.new_context(viewport=PHONE)
    tab = context.new_page()
    tab.on("requestfinished", lambda request: loaded.add(file_of(request.url)))
    tab.goto(path.as_uri(), wait_until="networkidle")
    context.close()
    return sum(sent(file) for file in loaded if file.is_file()) / 1000


def sent(file: Path) -> int:
    """Return the bytes that a server sends of a file."""
    text = file.suffix in {".html", ".css", ".js", ".svg", ".json"}
    return len(gzip.compress(file.read_bytes())) if text else file.stat().st_size


def file_of(url: str) -> Path:
    return Path(unquote(urlsplit(url).path))


# Name, what it is, the aim, its unit, and how it is measured.
ROWS = {
    "book": ("`make book`, after set-up", 450, "CPU s", make_book),
    "test": ("`make test`", 900, "CPU s", tests),
    "test-fast": ("`make test-fast`", 45, "CPU s", partial(tests, "-m", "not slow", "tests")),
    "import": ("the import of the theory", "", "CPU s", imported),
    "warm": ("36 Gaussian games, compiled", 0.55, "CPU s", games_warm),
    "cold": ("36 Gaussian games from the start of a process", 2.5, "CPU s", games_cold),
    "sweep": (f"a sweep of {SWEEP_RUNS} runs of next to nothing, two workers", "", "CPU s", sweep),
    "sample": ("the optimum of 2 x 2,000 records in the plane", "", "CPU s", plan_of_sample),
    "line": ("the optimum on the line, Y unseen", "", "CPU s", unseen_on_the_line),
    "set-up": ("set-up, without downloads", "", "CPU s", set_up),
    "page": ("the heaviest page at 390 px, first visit", 800, "kB", heaviest_page),
}


def processor() -> str:
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def stored() -> dict[str, dict[str, str]]:
    if not TABLE.exists():
        return {}
    with TABLE.open(newline="", encoding="utf-8") as file:
        return {line["row"].partition(":")[0]: line for line in csv.DictReader(file)}


def number(value: float) -> str:
    """Two significant digits: more would not be the same tomorrow."""
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def line(name: str) -> dict[str, str]:
    what, aim, unit, measure = ROWS[name]
    row = measure()
    measured = f"{number(row.measured)} {unit}" + (f"; aim {aim}" if aim else "")
    beside = f"{number(row.measured / row.of_mark)} of {row.mark} ({number(row.of_mark)})" if row.of_mark else ""
    when = f"{date.today().isoformat()}, {processor()}, Python {platform.python_version()}"
    reached = f"{row.reached}; {when}" if row.reached else when
    return dict(zip(COLUMNS, (f"{name}: {what}", measured, beside, reached), strict=True))


def main(names: list[str]) -> None:
    unknown = sorted(set(names) - set(ROWS))
    if unknown:
        raise SystemExit(f"no row is named {', '.join(unknown)}; allowed: {', '.join(ROWS)}")
    sys.path[:0] = [str(ROOT / "tools")]
    lines = stored()
    for name in names or ROWS:
        lines[name] = line(name)
        print("; ".join(value for value in lines[name].values() if value), flush=True)
        with TABLE.open("w", newline="", encoding="utf-8") as file:  # after each row: what finished is kept
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines[name] for name in ROWS if name in lines)


if __name__ == "__main__":
    main(sys.argv[1:])
