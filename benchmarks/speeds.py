"""The times that the project holds itself to: processor seconds, beside a mark measured in the same run.

python benchmarks/speeds.py            measures all rows, in well over an hour, and writes book/data/speeds.csv,
                                       and the table of the page, book/data/speeds.txt
python benchmarks/speeds.py NAME ...   measures the rows of these names, and leaves the others as they are

A second of the processor depends on the machine and on what else it does; the ratio to a mark of the same run depends
on them far less. What a process and all that it starts have used counts, on however many cores.
"""

import csv
import ctypes
import gzip
import io
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "book" / "data" / "speeds.csv"
BIN = Path(sys.executable).parent
PAGE = TABLE.with_suffix(".txt")
SHOWN = ("what", "measured", "aim", "beside it", "quality")
WIDTHS = "29 14 13 24 20"  # per cent
COLUMNS = ("name", *SHOWN, "measured on")
ADOPT = 36  # of prctl, on Linux: have the processes that others leave behind
KERAS_GAMES, SWEEP_RUNS, PHONE = 3, 100, {"width": 390, "height": 844}


class Row(NamedTuple):
    """What was measured, the mark beside it (or none) in the same unit, and the quality that was reached."""

    measured: float
    mark: str = ""
    of_mark: float | None = None
    quality: str = ""


def children(call: Callable[[], object]) -> tuple[float, object]:
    """Return the processor seconds of all processes that a call starts, and what it returns.

    Of those that nobody waited for, too, such as what a worker had started that was killed.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    value = call()
    with suppress(ChildProcessError):
        while True:
            os.wait()
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
        return Row(seconds, quality=f"{len(list(Path(folder).rglob('*.html')))} pages, no warning")


def tests(*options: str) -> Row:
    seconds, output = children(partial(run, BIN / "python", "-m", "pytest", "-n", "2", "-q", *options))
    return Row(seconds, quality=output.splitlines()[-1].strip("= "))


def imported() -> Row:
    code = "import sys; from gaplib import binary, gaussian, transport; print('tensorflow' in sys.modules)"
    seconds, output = children(partial(run, sys.executable, "-c", code))
    numpy, _ = children(partial(run, sys.executable, "-c", "import numpy"))
    loaded = "loaded, too" if str(output).strip() == "True" else "not loaded"
    return Row(seconds, "importing NumPy alone", numpy, f"TensorFlow is {loaded}")


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
        f"the usual loop in Keras, from {KERAS_GAMES} games",
        keras,
        f"MAP accuracy {sum(errors) / len(errors):.4f} from the optimum on average, {max(errors):.4f} at worst",
    )


def games_cold() -> Row:
    code = "import training; training.together(training.STUDY, 0)"
    seconds, _ = children(partial(run, sys.executable, "-c", f"import sys; sys.path.insert(0, 'benchmarks'); {code}"))
    alone, _ = children(partial(run, sys.executable, "-c", "import tensorflow"))
    return Row(seconds, "importing TensorFlow alone", alone)


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
        return Row(swept, f"papermill alone, from {SWEEP_RUNS // 5} runs", alone, "every recorded number is right")


def set_up() -> Row:
    """From the archives that pip keeps: what is unpacked, compiled to bytecode and linked."""
    with tempfile.TemporaryDirectory() as name:
        python, pip = Path(name) / "bin" / "python", ("-m", "pip", "install", "--quiet")
        environment, _ = children(partial(run, sys.executable, "-m", "venv", name))
        packages, _ = children(partial(run, python, *pip, "--require-hashes", "-r", "requirements.lock"))
        project, _ = children(partial(run, python, *pip, "--no-deps", "--no-build-isolation", "-e", "."))
        parts = (
            f"{environment:.0f} s for an empty environment, {packages:.0f} s for packages, {project:.0f} s for gaplib"
        )
        return Row(environment + packages + project, quality=parts)


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
    return Row(seconds, "a bisection with the library POT", mark, f"MAP accuracy {found.value:.6f}; POT {value:.6f}")


def unseen_on_the_line() -> Row:
    import transport as by_hand

    from gaplib import transport
    from gaplib.models import GaussianMixture

    mixture, D = by_hand.PDI[2]
    model = GaussianMixture(*mixture)
    transport.optimal_pdi(model, 2 * D, gap=1e-3)  # imports
    seconds, found = by_hand.timed(lambda: transport.optimal_pdi(model, D, gap=1e-4))
    mark, value = by_hand.timed(lambda: by_hand.grid_program(model, D, 80))
    quality = f"within {found.gap:.0e} of the optimum, proved; the linear program is {abs(value - found.value):.0e} off"
    return Row(seconds, "a linear program on 80 points by HiGHS", mark, quality)


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
    return Row(weights[name], quality=f"it is {name}, text compressed as servers send it")


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


# For each name: what the table calls it, its aim, its unit, and how it is measured.
ROWS = {
    "book": ("Building the book, with every notebook run afresh: `make book`", "450 s", "s", make_book),
    "test": ("All tests: `make test`", "900 s", "s", tests),
    "test-fast": ("The tests before a push: `make test-fast`", "45 s", "s", partial(tests, "-m", "not slow", "tests")),
    "import": ("Importing gaplib without training", "", "s", imported),
    "warm": ("Training the 36 games of Tables 2 to 5, programs compiled before", "0.55 s", "s", games_warm),
    "cold": ("The same from the start of Python, with imports and compilation", "2.5 s", "s", games_cold),
    "sweep": (
        f"A sweep of {SWEEP_RUNS} runs on two workers, of a notebook that does almost nothing",
        "0.5 times papermill",
        "s",
        sweep,
    ),
    "sample": ("The optimum for a sample of 4,000 records in the plane", "", "s", plan_of_sample),
    "line": ("The optimum for two Gaussians, if Y is not seen", "", "s", unseen_on_the_line),
    "set-up": ("Setting up the environment, downloads not counted: `make env`", "", "s", set_up),
    "page": ("The heaviest page, visited for the first time with a phone", "800 kB", "kB", heaviest_page),
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
        return {line["name"]: line for line in csv.DictReader(file)}


def store(lines: dict[str, dict[str, str]]) -> None:
    """Write what was measured, and the table that the page shows of it."""
    ordered = [lines[name] for name in ROWS if name in lines]
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(ordered)
    PAGE.write_text(page(ordered), encoding="utf-8")


def page(lines: list[dict[str, str]]) -> str:
    """Return the table as the page includes it; its caption says on which day and machine the rows were measured."""
    days: dict[str, list[str]] = {}
    for i, line in enumerate(lines, 1):
        days.setdefault(line["measured on"], []).append(str(i))
    said = [f"{day} (rows {', '.join(rows)})" if len(days) > 1 else day for day, rows in days.items()]
    rows = io.StringIO()
    csv.writer(rows, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
        [SHOWN, *([line[column] for column in SHOWN] for line in lines)]
    )
    head = f"```{{csv-table}} What readers and users run and load. Measured on {'; '.join(said)}."
    return f"{head}\n:header-rows: 1\n:class: stacked\n:widths: {WIDTHS}\n\n{rows.getvalue()}```\n"


def number(value: float) -> str:
    """Two significant digits: more would not be the same tomorrow."""
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def line(name: str) -> dict[str, str]:
    what, aim, unit, measure = ROWS[name]
    row = measure()
    beside = f"{number(row.measured / row.of_mark)} times {row.mark} ({number(row.of_mark)} {unit})" if row.mark else ""
    when = f"{date.today().isoformat()}, {processor()}, Python {platform.python_version()}"
    values = (name, what, f"{number(row.measured)} {unit}", aim, beside, row.quality, when)
    return dict(zip(COLUMNS, values, strict=True))


def main(names: list[str]) -> None:
    unknown = sorted(set(names) - set(ROWS))
    if unknown:
        raise SystemExit(f"no row is named {', '.join(unknown)}; allowed: {', '.join(ROWS)}")
    sys.path[:0] = [str(ROOT / "tools")]
    lines = stored()
    for name in names or ROWS:
        lines[name] = line(name)
        print("; ".join(value for value in lines[name].values() if value), flush=True)
        store(lines)  # after each row: what finished is kept


if __name__ == "__main__":
    main(sys.argv[1:])
