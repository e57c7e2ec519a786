"""Runs and sweeps, with real processes: what is killed, interrupted or out of space resumes, and nothing is redone."""

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from collections import Counter
from pathlib import Path

import nbformat
import pandas as pd
import psutil
import pytest

from gaplib.__main__ import main
from gaplib._terminal import printable
from gaplib.book import chapters, parameters
from gaplib.book.sweep import command, execution, grid, plan, preloaded, store, summary, table
from gaplib.book.sweep import kernels as kernel

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

# A notebook that says when it runs, fails on demand, and waits while a file is missing.
PARAMETERS = """\
D: float = 1.0  # budget, in [0, 100]
prior: float = 0.5  # P(Y=1), in [0, 1]
seed: int = 0  # seed, in [0, inf)
mode: str = "plain"  # what to do, "plain" or "fail" or "die" or "wait"
"""
START = "from gaplib.book import notebook\n\nnotebook.start(globals())"
WORK = """\
import os
import time
from pathlib import Path

log, gate = os.environ.get("SWEEP_LOG"), os.environ.get("SWEEP_GATE", "")
if log:
    with open(log, "a") as file:
        file.write(f"{D} {prior} {seed}\\n")
if mode == "wait" and D > 2 or D == 66:
    for _ in range(1200):
        if Path(gate).exists():
            break
        time.sleep(0.05)
if mode == "fail" and D == 2:
    raise ZeroDivisionError(f"no <b>budget</b> of {D}")
if mode == "die" and D == 2 and not Path(gate).exists():
    os.kill(os.getpid(), 9)
notebook.record(accuracy=max(prior, 1 - D / 10) + seed / 1000, law={"D": D, "all": [1, 2]}, word="x", same=3)
"""


KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def write_notebook(path, declared, *sources):
    """Write a notebook with a parameters cell and more code cells, and return its path."""
    cells = [
        nbformat.v4.new_markdown_cell("# Toy", id="title"),
        nbformat.v4.new_code_cell(declared, id="parameters", metadata={"tags": ["parameters"]}),
        *(nbformat.v4.new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(sources)),
    ]
    path.parent.mkdir(exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), path)
    return path


@pytest.fixture
def toy(tmp_path):
    """The path of that notebook, in a folder with a blank and braces in its name, as folders can have."""
    return write_notebook(tmp_path / "a {folder}" / "toy.ipynb", PARAMETERS, START, WORK)


STARTED = []


@pytest.fixture(autouse=True)
def no_process_survives_its_test():
    yield
    for process in STARTED:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    STARTED.clear()


class Sweep:
    """A command that runs, with its log of executions."""

    def __init__(self, toy, *arguments):
        self.folder, self.log, self.gate = toy.parent / "out", toy.parent / "log", toy.parent / "gate"
        self.command = [sys.executable, "-m", "gaplib", "sweep", toy, "--out", self.folder, *map(str, arguments)]
        self.environment = os.environ | {"SWEEP_LOG": str(self.log), "SWEEP_GATE": str(self.gate)}

    def run(self, *more):
        """Run to the end, and return the finished process."""
        return subprocess.run([*self.command, *more], env=self.environment, capture_output=True, text=True, timeout=300)

    def start(self):
        """Start in a process group of its own, as a terminal does."""
        process = subprocess.Popen(
            self.command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            # A shell has its background jobs ignore Ctrl-C, and so would all that these tests start.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        STARTED.append(process)
        return process

    def ended(self):
        return sorted(path.stem for path in (self.folder / "runs").glob("*.json"))

    def executions(self):
        """How often each run was begun."""
        return Counter(self.log.read_text().splitlines()) if self.log.exists() else Counter()


def wait_until(happened, seconds=90):
    """Wait for something that other processes do."""
    for _ in range(seconds * 20):
        if happened():
            return
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds} s in vain")


def descendants(process):
    return psutil.Process(process.pid).children(recursive=True)


def kernels(process):
    """The kernels that its workers have forked."""

    def imports(p):
        return "gaplib.book.sweep.preloaded" in p.cmdline()

    return [p for p in descendants(process) if imports(p) and imports(p.parent())]


def until(process, word):
    """Read what a process prints up to the line with a word, and return it."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if word in line:
            break
    return "".join(lines)


def quiet(printed):
    """Whether nothing but the command itself has something to say."""
    return not re.search("Traceback|Cancelled|still alive|distributed|IPKernelApp|Exception", printed)


def gone(processes):
    return lambda: not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in processes)


# What is asked for.


@pytest.mark.parametrize(
    "spec, kind, values",
    [
        ("1:4", "float", [1.0, 2.0, 3.0, 4.0]),
        ("1:4", "int", [1, 2, 3, 4]),
        ("0:0.3:0.1", "float", [0.0, 0.1, 0.2, 0.3]),
        ("0:1:.25", "float", [0.0, 0.25, 0.5, 0.75, 1.0]),
        ("1e5,2e5", "int", [100000, 200000]),
        ("1:1e1:3", "int", [1, 4, 7, 10]),
        (".5,.75,.5", "float", [0.5, 0.75]),
        ("-2:2:2,7", "float", [-2.0, 0.0, 2.0, 7.0]),
        ("1e-3", "float", [0.001]),
        ("False,true", "bool", [False, True]),
        ("log,a:b", "str", ["log", "a:b"]),
        ("[4,5],[6]", "list", [[4, 5], [6]]),
    ],
)
def test_values_of_an_axis(spec, kind, values):
    found = grid.values(parameters.Parameter("D", kind, None, ""), spec)
    assert found == values and [type(value) for value in found] == [type(value) for value in values]


def test_a_plan_has_every_combination_once_with_all_parameters(toy):
    made = plan.make_plan(str(toy), [("mode", "fail")], ["D=1:3", "prior=.5,.75"], 2)
    wanted = {(D, prior, seed) for D in (1.0, 2.0, 3.0) for prior in (0.5, 0.75) for seed in (0, 1)}
    assert [set(run.parameters) for run in made.runs] == [{"D", "prior", "seed", "mode"}] * 12
    assert {(run.parameters["D"], run.parameters["prior"], run.parameters["seed"]) for run in made.runs} == wanted
    assert len({run.name for run in made.runs}) == 12
    assert made.fixed == {"mode": "fail"}


def test_a_larger_grid_finds_the_runs_of_a_smaller_one(toy):
    small = plan.make_plan(str(toy), [("prior", "0.50")], ["D=1:2"], None)
    large = plan.make_plan(str(toy), [], ["prior=.5,.75", "D=1,2,3"], None)
    assert {run.name for run in small.runs} < {run.name for run in large.runs}


def test_other_code_or_versions_make_other_runs(toy, monkeypatch):
    def names():
        return {run.name for run in plan.make_plan(str(toy), [], ["D=1:2"], None).runs}

    before = names()
    with monkeypatch.context() as patch:
        patch.setattr(plan, "versions", lambda notebook: {"numpy": "0"})
        assert not names() & before
    content = nbformat.read(toy, as_version=4)
    content.cells[0].source = "# Another title"
    content.cells[-1].source += "\n# a comment"
    nbformat.write(content, toy)
    assert names() == before
    content.cells[-1].source += "\n1 + 1"
    nbformat.write(content, toy)
    assert not names() & before


def test_seeds_of_runs_that_use_several_do_not_overlap():
    made = plan.make_plan("11_binary_learned", [("quick", "True"), ("seeds", "3"), ("seed", "10")], [], 3)
    assert [run.parameters["seed"] for run in made.runs] == [10, 13, 16]


BAD = [
    (["--grid", "d=1:9"], "unknown parameter 'd' (did you mean 'D'?); this notebook has: D, prior, seed, mode"),
    (["-p", "prior", "1.5"], "prior must be a finite number in [0, 1], got 1.5"),
    (["--grid", "prior=0:2:.5"], "prior must be a finite number in [0, 1], got 1.5"),
    (["-p", "prior", "half"], "prior must be a number, got 'half'"),
    (["-p", "seed", "1.5"], "seed must be an integer, got '1.5'"),
    (["-p", "D", "-1e-3"], "D must be a finite number in [0, 100], got -0.001"),
    (["-p", "D", "--retry"], "D must be a number, got '--retry'"),
    (["-p", "mode", "\udcff"], "mode must be a text, got '\\udcff'"),
    (["-p", "D", "nan"], "D must be a finite number in [0, 100], got nan"),
    (["-p", "mode", "sleep"], "mode must be 'plain' or 'fail' or 'die' or 'wait', got 'sleep'"),
    (["--grid", "D"], "grid must be NAME=VALUES, such as D=1:9 or prior=.5,.75, got 'D'"),
    (["--grid", "D="], "grid must be NAME=VALUES, such as D=1:9 or prior=.5,.75, got 'D='"),
    (["--grid", "D=9:1"], "D must be FIRST:LAST or FIRST:LAST:STEP, with STEP > 0 and LAST >= FIRST, got '9:1'"),
    (["--grid", "D=1:2:0"], "D must be FIRST:LAST or FIRST:LAST:STEP, with STEP > 0 and LAST >= FIRST, got '1:2:0'"),
    (["--grid", "D=1:inf"], "D must be FIRST:LAST or FIRST:LAST:STEP, with STEP > 0 and LAST >= FIRST, got '1:inf'"),
    (["--grid", "D=1,,2"], "D must be a number, got ''"),
    (
        ["--grid", "D=0:0.3:0.07"],
        "D must reach LAST in whole steps; 0:0.3:0.07 ends at 0.28, and the next step is 0.35",
    ),
    (["--grid", "D=1:2.5"], "D must reach LAST in whole steps; 1:2.5 ends at 2, and the next step is 3"),
    (["--grid", "D=1:2:nan"], "D must be FIRST:LAST or FIRST:LAST:STEP, with STEP > 0 and LAST >= FIRST, got"),
    (["--grid", "D=0:1e999999:1.0001e999995"], "D must"),  # of which each would fill a megabyte
    (["--grid", "D=0:1e9:1e-3"], "D must have at most 1,000,000 values, got '0:1e9:1e-3'"),
    (["--grid", "D=0:1:1e-5", "--grid", "prior=0:1:1e-3"], "a sweep must have at most 1,000,000 runs, got 100,101,001"),
    (["--grid", "D=1:2", "-p", "D", "1"], "parameter 'D' is given more than once"),
    (["--grid", "seed=1:2", "--seeds", "2"], "--seeds sets 'seed'; it cannot be combined with a grid of"),
    (["--seeds", "0"], "--seeds must be an integer in [1, 1,000,000], got 0"),
    (["--seeds", "1000000000"], "--seeds must be an integer in [1, 1,000,000], got 1,000,000,000"),
]


@pytest.mark.parametrize("arguments, message", BAD, ids=[" ".join(case[0]) for case in BAD])
def test_a_bad_command_runs_nothing_and_needs_no_memory(toy, arguments, message, capsys):
    out = toy.parent / "out"
    tracemalloc.start()
    assert main(["sweep", str(toy), "--out", str(out), *arguments]) == 2
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert capsys.readouterr().err.startswith(f"error: {message}")
    assert not out.exists()
    assert most < 50e6  # what a hundred thousand values take, which one of these commands asks for


def test_an_unknown_notebook_is_named(capsys):
    assert main(["run", "03_binary"]) == 2
    assert "got '03_binary'" in capsys.readouterr().err


def test_dry_run_prints_the_plan_and_does_nothing(toy, capsys):
    out = toy.parent / "out"
    assert main(["sweep", str(toy), "--grid", "D=1:9", "--grid", "prior=.5,.75", "--out", str(out), "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert "toy: 18 runs" in printed and "D: 1.0, 2.0, 3.0, 4.0" in printed and "18 to do" in printed
    assert not out.exists()


def test_planning_executes_nothing(tmp_path, capsys):
    file = tmp_path / "written"
    write = f"open({str(file)!r}, 'w').write('a')"
    path = write_notebook(tmp_path / "own.ipynb", "x: int = 1  # a number", f"notebook.start(x={write})", write)
    assert main(["sweep", str(path), "--grid", "x=1:3", "--dry-run"]) == 0
    assert "own: 3 runs" in capsys.readouterr().out
    write_notebook(path, f"x: int = {write}", "x")
    assert main(["sweep", str(path), "--grid", "x=1:3", "--dry-run"]) == 2
    assert "a parameter must be declared as" in capsys.readouterr().err
    assert not file.exists()


def test_lists_of_ones_own_notebook(tmp_path, capsys):
    path = write_notebook(tmp_path / "own.ipynb", "l: list[int] = [1]  # numbers\nm: int | None = None", "l")
    made = plan.make_plan(str(path), [], ["l=[4,5],[6]", "m=None,3"], None)
    assert made.swept == {"l": [[4, 5], [6]], "m": [None, 3]}
    assert len({run.name for run in made.runs}) == 4
    for words in (["-p", "l", "[3,4"], ["--grid", "l=[4,5],[6"], ["--grid", "l=4,5"]):
        assert main(["sweep", str(path), "--dry-run", *words]) == 2
        assert capsys.readouterr().err.startswith("error: l must be")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "[" * 200_000, '{"cells": 1, "nbformat": 4}'])
def test_a_file_that_is_no_notebook_is_refused(text, tmp_path, capsys):
    (tmp_path / "bad.ipynb").write_text(text)
    assert main(["run", str(tmp_path / "bad.ipynb")]) == 2
    assert "notebook must be a Jupyter notebook" in capsys.readouterr().err


def test_every_notebook_of_the_book_can_be_planned():
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        made = plan.make_plan(path.stem, [], [], None)
        (run,) = made.runs
        assert run.name.startswith("defaults-")
        assert made.folder == str(ROOT / "notebooks")
        declared = parameters.declared(nbformat.read(path, as_version=4))
        assert list(run.parameters) == list(declared)
        assert all(parameter.meaning for parameter in declared.values())


def test_the_command_is_there_at_once():
    """Help loads nothing that computes."""
    heavy = {"papermill", "pandas", "matplotlib", "dask", "nbformat", "numpy", "tqdm"}
    code = f"import sys; from gaplib.__main__ import parser; parser(); print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


@pytest.mark.parametrize("words", [["sweep"], ["run", "toy", "--grid", "D=1"], ["run", "toy", "-p", "D"], []])
def test_words_that_are_no_command(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2 and "usage: python -m gaplib" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error(toy):
    command = [sys.executable, "-m", "gaplib", "sweep", toy, "--grid", "D=1:9", "--dry-run"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()  # before the first line, as `| head -0` would
        assert process.stderr.read() == "" and process.wait() == 0


def test_the_clock_of_the_bar_goes_on_while_nothing_ends(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(command.sys, "stderr", Terminal())
    with command.progress(planned=3, waiting=2):
        wait_until(lambda: "00:02" in sys.stderr.getvalue(), 30)
    assert "1/3" in sys.stderr.getvalue()


def test_control_characters_of_others_reach_no_terminal():
    assert printable("a\x1b[31m\nb\u202e\ud800 é") == "a\\x1b[31m\\nb\\u202e\\ud800 é"


# What is kept.


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    file = tmp_path / "file"
    store.write(file, lambda opened: opened.write(b"old"))

    def break_off(opened):
        opened.write(b"ne")
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        store.write(file, break_off)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_the_folder_belongs_to_one_command(tmp_path, toy, capsys):
    out = toy.parent / "out"
    with store.locked(out):
        with pytest.raises(BlockingIOError), store.locked(out):
            pass
        assert main(["run", str(toy), "--out", str(out)]) == 2
    assert "another command writes to" in capsys.readouterr().err


def test_a_folder_with_files_of_others_is_left_alone(tmp_path, toy, capsys):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "results.csv").write_text("mine")
    for word in ("run", "sweep"):
        assert main([word, str(toy), "--out", str(mine)]) == 2
        assert "out must be a new or empty folder, or one of an earlier run or sweep" in capsys.readouterr().err
    assert [path.read_text() for path in mine.iterdir()] == ["mine"]


def test_only_what_a_sweep_left_half_written_is_removed(tmp_path):
    with store.locked(tmp_path):
        pass
    kept, gone = tmp_path / "film.partial", [tmp_path / "results.csv.partial", tmp_path / "runs" / "a.json.partial"]
    for path in [kept, *gone]:
        path.touch()
    with store.locked(tmp_path):
        pass
    assert kept.exists() and not any(path.exists() for path in gone)


def test_no_symbolic_link_is_followed(tmp_path, toy, capsys):
    """In a folder that several people write to, a link would lead what is written elsewhere, or empty a file there."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    secret = elsewhere / "secret"
    secret.write_text("secret")
    for name, target in ((".gaplib-sweep", secret), ("runs", elsewhere)):
        out = tmp_path / name.strip(".")
        with store.locked(out):
            pass
        path = out / name
        path.unlink() if path.is_file() else path.rmdir()
        path.symlink_to(target)
        assert main(["run", str(toy), "--out", str(out)]) == 2
        assert str(path) in capsys.readouterr().err
    out = tmp_path / "out"
    with store.locked(out):
        for path in (out / "results.csv", out / "results.csv.partial", store.result_path(out, "run")):
            path.symlink_to(secret)
        assert store.kept(out, "run") is None
        store.write(out / "results.csv", lambda file: file.write(b"new"))
        store.keep(out, "run", {}, None)
        assert (out / "results.csv").read_text() == "new"
    assert [path.read_text() for path in elsewhere.iterdir()] == ["secret"]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_disk_without_locks_is_named(number, toy, monkeypatch, capsys):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(store.fcntl, "flock", refuse)
    assert main(["sweep", str(toy), "--out", str(toy.parent / "out")]) == 2
    said = capsys.readouterr().err
    assert "has no file locks" in said and "goes on" not in said


def test_a_disk_that_is_read_only_is_named(toy, monkeypatch, capsys):
    def refuse(*_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "out")

    monkeypatch.setattr(store.os, "open", refuse)
    assert main(["sweep", str(toy), "--out", str(toy.parent / "out")]) == 2
    said = capsys.readouterr().err
    assert "Read-only file system" in said and "goes on" not in said


@pytest.mark.parametrize(
    "values, dtype",
    [
        ([1, None], "Int64"),
        ([1, 2.5], "float64"),
        ([True, None], "boolean"),
        (["a", None], "string"),
        ([1, "a"], "string"),
        ([True, 1], "string"),
        ([2**63], "string"),
        ([None, None], "string"),
    ],
)
def test_a_column_has_one_kind(values, dtype):
    assert str(table.of_one_kind(pd.Series(values, dtype=object)).dtype) == dtype


# What happens.


@pytest.mark.slow
def test_run_prints_what_was_recorded_and_is_not_repeated(toy, monkeypatch, capsys):
    monkeypatch.setenv("SWEEP_LOG", str(toy.parent / "log"))
    command = ["run", str(toy), "-p", "D", "4", "-p", "prior", ".25", "--out", str(toy.parent / "out")]
    assert main(command) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "accuracy = 0.6"
    assert chapters.results(printed[-1])["law"] == {"D": 4.0, "all": [1, 2]}
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines() == printed
    assert len((toy.parent / "log").read_text().splitlines()) == 1


@pytest.mark.slow
def test_a_run_finds_the_chapters_beside_its_notebook(tmp_path, monkeypatch, capsys):
    """Whatever the command itself was told, and wherever the worker is."""
    monkeypatch.setenv(chapters.FOLDER, str(tmp_path / "elsewhere"))
    code = "from gaplib.book import chapters, notebook\n\nnotebook.record(own=str(chapters.find('own')))"
    path = write_notebook(tmp_path / "mine" / "own.ipynb", "x: int = 1  # a number", code)
    assert main(["run", str(path), "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"own = {path}"


@pytest.mark.slow
def test_a_message_that_no_file_can_hold_is_kept(tmp_path, capsys):
    path = write_notebook(tmp_path / "own.ipynb", "x: int = 1  # a number", r"raise ValueError('\ud800 \x1b[31m x')")
    assert main(["sweep", str(path), "--workers", "1", "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert r"ValueError: \ud800 \x1b[31m x" in said and "\x1b" not in said
    (run,) = plan.make_plan(str(path), [], [], None).runs
    assert store.kept(tmp_path / "out", run.name)["error"] == "ValueError: \ud800 \x1b[31m x"
    (runs,) = pd.read_parquet(tmp_path / "out" / "results.parquet").to_dict("records")
    assert runs["run.error"] == "ValueError: \\ud800 \x1b[31m x"
    assert "ValueError: \\ud800" in (tmp_path / "out" / "summary.html").read_text()
    executed = nbformat.read(tmp_path / "out" / runs["run.notebook"], as_version=4)
    assert [output.evalue for cell in executed.cells for output in cell.get("outputs", [])] == ["\ud800 \x1b[31m x"]


@pytest.mark.slow
def test_a_failing_run_is_kept_and_stops_nobody(toy):
    sweep = Sweep(toy, "-p", "mode", "fail", "--grid", "D=1:3", "--seeds", 2)
    first = sweep.run()
    assert first.returncode == 1, first.stderr
    assert "6 runs: 4 done, 2 failed" in first.stdout
    assert "no <b>budget</b> of 2.0" in first.stderr and "Traceback" not in first.stderr
    runs = pd.read_parquet(sweep.folder / "results.parquet")
    again = pd.read_csv(sweep.folder / "results.csv")
    assert list(runs.columns) == list(again.columns) and len(runs) == len(again) == 6
    pd.testing.assert_frame_equal(runs.astype(object).fillna(""), again.astype(object).fillna(""), check_dtype=False)
    done = runs[runs["run.status"] == "done"]
    expected = [max(p, 1 - D / 10) + s / 1000 for D, p, s in zip(done["D"], done["prior"], done["seed"], strict=True)]
    assert done["accuracy"].tolist() == pytest.approx(expected, abs=1e-9)  # recorded to nine digits
    assert (done["law.D"] == done["D"]).all() and set(done["law.all"]) == {"[1, 2]"}
    assert (runs["run.seconds"] > 0).all() and set(runs["run.python"]) == {sys.version.split()[0]}
    for line in runs.to_dict("records"):
        assert (sweep.folder / line["run.notebook"]).is_file()
        assert (line["run.status"] == "failed") == (line["D"] == 2) == ("ZeroDivisionError" in line["run.error"])
    page = (sweep.folder / "summary.html").read_text()
    assert "6 runs planned: 4 done, 2 failed" in page
    assert page.count("<details>") == 2 and "&lt;b&gt;budget" in page and "<b>budget" not in page
    assert page.count("<img") == 2  # accuracy and law.D; what is the same in all runs is not drawn
    assert "http" not in page

    # What failed in a cell would fail again: only --retry tries.
    assert sweep.run().returncode == 1
    assert set(sweep.executions().values()) == {1}
    assert sweep.run("--retry").returncode == 1
    assert {key: n for key, n in sweep.executions().items() if n > 1} == {
        key: 2 for key in sweep.executions() if key.startswith("2.0 ")
    }


@pytest.mark.slow
def test_a_kernel_that_is_killed_is_lost_and_runs_again(toy):
    sweep = Sweep(toy, "-p", "mode", "die", "--grid", "D=1:3")
    first = sweep.run()
    assert first.returncode == 1 and "2 done, 1 lost" in first.stdout, first.stderr
    runs = pd.read_parquet(sweep.folder / "results.parquet")
    (line,) = runs[runs["run.status"] == "lost"].to_dict("records")
    assert "Kernel died" in line["run.error"]
    executed = nbformat.read(sweep.folder / line["run.notebook"], as_version=4)
    assert executed.cells[1].execution_count == 1  # as far as it came
    sweep.gate.touch()
    second = sweep.run()
    assert second.returncode == 0 and "3 runs: 3 done" in second.stdout
    assert sweep.executions() == {"1.0 0.5 0": 1, "2.0 0.5 0": 2, "3.0 0.5 0": 1}


def started(sweep):
    """Start a sweep of six runs, two of which end before the gate opens, and return it with two at the gate."""
    process = sweep.start()
    wait_until(lambda: (len(sweep.ended()) == 2 and len(sweep.executions()) == 4) or process.poll() is not None)
    assert process.poll() is None, process.stdout.read()
    return process


def resumed(sweep):
    """Run it again, and check that the first two runs were not repeated and every other one is there."""
    sweep.gate.touch()
    second = sweep.run()
    assert second.returncode == 0, second.stderr
    assert "2 ended before" in second.stdout and "6 runs: 6 done" in second.stdout
    executions = sweep.executions()
    assert [executions[f"{D}.0 0.5 0"] for D in range(1, 7)] == [1, 1, 2, 2, 1, 1]
    assert len(pd.read_csv(sweep.folder / "results.csv")) == 6
    assert not list(sweep.folder.rglob("*.partial"))


SIX = ("-p", "mode", "wait", "--grid", "D=1:6", "--workers", 2)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_a_command_that_is_killed_resumes(toy, sign):
    sweep = Sweep(toy, *SIX)
    process = started(sweep)
    children = descendants(process)
    assert len(kernels(process)) == 2
    process.send_signal(sign)
    process.communicate(timeout=60)
    assert process.returncode == (-signal.SIGKILL if sign == signal.SIGKILL else 130)
    wait_until(gone(children), 30)  # no worker and no kernel goes on
    assert len(sweep.ended()) == 2
    resumed(sweep)


@pytest.mark.slow
def test_ctrl_c_keeps_and_sums_up_what_ended(toy):
    sweep = Sweep(toy, *SIX)
    process = started(sweep)
    children = descendants(process)
    begin = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all
    printed = until(process, "interrupted")
    answered = time.monotonic() - begin
    printed += process.communicate(timeout=60)[0]
    assert process.returncode == 130, printed
    assert "interrupted; the same command goes on from here" in printed and "6 runs: 2 done" in printed
    assert quiet(printed), printed
    assert answered < 5  # one on an idle machine
    wait_until(gone(children), 30)
    assert len(pd.read_csv(sweep.folder / "results.csv")) == 2
    resumed(sweep)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_while_processes_start_is_quiet(toy, sign):
    sweep = Sweep(toy, *SIX)
    process = sweep.start()
    printed = until(process, "starting processes")
    wait_until(lambda: len(descendants(process)) >= 2)  # the first of those that a terminal would send Ctrl-C to
    os.killpg(process.pid, sign) if sign == signal.SIGINT else process.send_signal(sign)
    printed += process.communicate(timeout=60)[0]
    assert process.returncode == 130, printed
    assert "interrupted; the same command goes on from here" in printed and "6 runs: none ended" in printed
    assert quiet(printed), printed
    assert not sweep.executions()


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_only_its_run(toy):
    sweep = Sweep(toy, *SIX)
    process = started(sweep)
    one, _ = kernels(process)
    one.parent().parent().kill()
    wait_until(gone([one]), 30)
    sweep.gate.touch()
    printed = process.communicate(timeout=200)[0]
    assert process.returncode == 0, printed
    assert "6 runs: 6 done" in printed
    assert sorted(sweep.executions().values()) == [1, 1, 1, 1, 1, 2]


# It looks for what another run may have left, leaves it, and ends in its way.
TRACES = """\
import builtins, os, random, signal, sys, tempfile, threading, time
from pathlib import Path

import numpy as np

place = Path(tempfile.gettempdir())
seen = {
    "module": "left" in sys.modules, "attribute": hasattr(np, "left"), "builtin": hasattr(builtins, "left"),
    "variable": "LEFT" in os.environ, "folder": Path.cwd().name == "left", "file": (place / "left").exists(),
    "thread": "left" in [thread.name for thread in threading.enumerate()],
}
notebook.record(seen=[name for name in seen if seen[name]], drawn=[random.random(), np.random.random()])
notebook.record(parent=os.getppid(), place=str(place))
sys.modules["left"] = np.left = builtins.left = np
os.environ["LEFT"] = "left"
(place / "left").mkdir()
os.chdir(place / "left")
np.random.seed(0)
random.seed(0)
threading.Thread(target=time.sleep, args=(600,), name="left", daemon=True).start()
if D == 2:
    os._exit(0)
if D == 4:
    os.kill(os.getpid(), signal.SIGKILL)
if D == 6:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)
"""


@pytest.mark.slow
def test_a_run_neither_sees_nor_harms_another(tmp_path, capsys):
    path = write_notebook(tmp_path / "own.ipynb", "D: float = 1.0  # budget, in [0, 100]", START, TRACES)
    out = tmp_path / "out"
    assert main(["sweep", str(path), "--grid", "D=1:9", "--workers", "1", "--out", str(out)]) == 1
    results = {
        run.parameters["D"]: store.kept(out, run.name) for run in plan.make_plan(str(path), [], ["D=1:9"], None).runs
    }
    assert {D for D, result in results.items() if result["status"] == "lost"} == {2, 4, 6}, capsys.readouterr().err
    done = [result["recorded"] for result in results.values() if result["status"] == "done"]
    assert [result["seen"] for result in done] == [[]] * 6
    assert len({number for result in done for number in result["drawn"]}) == 12
    assert len({result["parent"] for result in done}) == 2  # one process forked all, until the sixth run killed it
    assert not any(Path(result["place"]).exists() for result in done)


# What the imports of Keras and SymPy do, without their seconds; a fork has it from the process before it.
IMPORTS = ["import tempfile; tempfile.gettempdir()", "import os; os.environ['SET'] = 'by an import'", "import sympy"]
ENDING = """\
import atexit, os, tempfile
from pathlib import Path

from sympy.core.random import rng

notebook.record(place=tempfile.gettempdir(), set=os.environ.get("SET"), drawn=rng.random())
atexit.register(Path(f"ended {D}").touch)
file = open(f"written {D}", "w")
file.write("whole")
"""


def test_a_fork_begins_and_ends_as_a_process_of_its_own(tmp_path, monkeypatch):
    path = write_notebook(tmp_path / "own.ipynb", "D: float = 1.0  # budget, in [0, 100]", START, ENDING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(execution, "statements", lambda _: IMPORTS)
    two = plan.make_plan(str(path), [], ["D=1,2"], None)
    results = [execution.execute(two.source, two.folder, two.versions, run, preload=True)[0] for run in two.runs]
    kernel._of_thread.preloaded.close()
    first, second = [result["recorded"] for result in results]
    assert first["place"] != second["place"]
    assert first["set"] == second["set"] == "by an import"
    assert first["drawn"] != second["drawn"]
    for D in (1.0, 2.0):
        assert (tmp_path / f"ended {D}").exists()
        assert (tmp_path / f"written {D}").read_text() == "whole"


def test_only_what_is_known_is_imported_before_a_run(tmp_path):
    def imported(*sources):
        return preloaded.statements(nbformat.read(write_notebook(tmp_path / "own.ipynb", *sources), as_version=4))

    book = "from gaplib.book import notebook"
    assert imported("x: int = 1", book, "import mine\nfrom scipy import stats\nif x:\n    import sympy", "%time x") == [
        book,
        "from scipy import stats",
    ]
    assert imported("import numpy", book) == []  # NumPy takes other threads there
    assert imported("import mine, numpy") == [] == imported("%time 1")
    assert imported("%time 1\nimport numpy", book) == []
    for setting in (
        "import os\nos.environ['KERAS_BACKEND'] = 'jax'",
        "%env KERAS_BACKEND jax",
        "sys.path[:0] = ['mine']",
    ):
        assert imported(book, "import numpy", f"{setting}\nimport keras") == [book, "import numpy"]


def order(code):
    """An order of a kernel, which ends at once since it gets no file to talk through."""
    return {"arguments": ["-f", f"/nowhere/{code}.json"], "folder": "/nowhere", "environment": {}}


def test_a_process_with_threads_is_not_forked():
    alone, busy = kernel.Preloaded([]), kernel.Preloaded(["import threading\nthreading.Timer(60, print).start()"])
    forked = alone.fork(order(1))
    assert forked.wait() == 0 == forked.poll()
    assert busy.fork(order(2)) is None
    busy.process.kill()
    busy.close()
    alone.process.kill()
    assert alone.fork(order(3)) is None  # nor one that is gone
    alone.close()


@pytest.mark.parametrize(
    "statement",
    [
        "print('read me')",
        "import os; os.write(2, b'read me')",
        "import warnings; warnings.warn('x', DeprecationWarning)",
    ],
)
def test_what_an_import_says_belongs_into_the_notebook(statement, capfd):
    loud = kernel.Preloaded([statement])
    assert loud.fork(order(4)) is None
    loud.close()
    assert capfd.readouterr() == ("", "")


def test_code_that_has_changed_is_imported_anew():
    first, same, other = kernel.preloaded([], 1), kernel.preloaded([], 1), kernel.preloaded([], 2)
    assert first is same and first.process.poll() is not None and other.process.poll() is None
    other.process.kill()
    other.process.wait()
    last = kernel.preloaded([], 2)
    assert last.process.poll() is None
    last.close()


@pytest.mark.parametrize("argv", [[], ["R", "-f", "{connection_file}"], ["/other/python", *kernel._LAUNCHER]])
def test_another_kernel_is_started_afresh(argv):
    assert kernel.is_of_this_python([sys.executable, *kernel._LAUNCHER], {})
    assert not kernel.is_of_this_python(argv, {})
    assert not kernel.is_of_this_python([sys.executable, *kernel._LAUNCHER], {"OMP_NUM_THREADS": "2"})


@pytest.fixture
def cluster(tmp_path):
    """A function that starts a Dask scheduler with two workers, as a user would, and returns its address."""
    processes = []

    def start(environment):
        file = tmp_path / f"scheduler-{len(processes)}.json"

        def dask(*arguments):
            command = [BIN / "dask", *arguments, "--scheduler-file", file]
            processes.append(subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL))
            return processes[-1]

        scheduler = dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        dask("worker", "--nworkers", "2", "--nthreads", "1", "--no-dashboard", "--death-timeout", "20")
        wait_until(file.exists)
        return json.loads(file.read_text())["address"], scheduler

    yield start
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait(30)


@pytest.mark.slow
def test_a_running_cluster_does_the_runs_and_its_end_loses_nothing(toy, cluster):
    sweep = Sweep(toy, *SIX[:-2])
    sweep.command += ["--scheduler", None]
    sweep.command[-1], scheduler = cluster(sweep.environment)
    process = started(sweep)
    scheduler.kill()
    printed = process.communicate(timeout=120)[0]
    assert process.returncode == 3, printed
    assert "the Dask scheduler is gone; the same command goes on from here" in printed
    assert "Traceback" not in printed, printed
    sweep.command[-1], _ = cluster(sweep.environment)
    resumed(sweep)


@pytest.mark.slow
def test_an_address_where_nobody_answers(toy):
    sweep = Sweep(toy, "--scheduler", "tcp://127.0.0.1:1")
    sweep.environment["DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"] = "1s"
    run = sweep.run()
    assert run.returncode == 3
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in run.stderr and "Traceback" not in run.stderr


def test_a_worker_with_other_versions_is_refused(toy):
    made = plan.make_plan(str(toy), [], [], None)

    class Client:
        def run(self, function, source):
            return {"tcp://1": function(source), "tcp://2": function(source) | {"numpy": "1.0"}}

    with pytest.raises(RuntimeError, match=r"the worker at tcp://2 has numpy 1.0 and not 2\."):
        execution.check_workers(Client(), made)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_stops_and_resumes(toy):
    sweep = Sweep(toy, "--grid", "D=1:12")
    sweep.folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", sweep.folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        first = sweep.run()
        assert first.returncode == 3, first.stderr
        assert "No space left on device" in first.stderr and "the same command goes on" in first.stderr
        ended = sweep.ended()
        assert 0 < len(ended) < 12
        assert not list(sweep.folder.rglob("*.partial"))
        assert all(store.kept(sweep.folder, name)["status"] == "done" for name in ended)
        subprocess.run(["mount", "-o", "remount,size=20m", sweep.folder], check=True)
        second = sweep.run()
        assert second.returncode == 0, second.stderr
        assert f"{len(ended)} ended before" in second.stdout and "12 runs: 12 done" in second.stdout
        repeated = [key for key, number in sweep.executions().items() if number > 1]
        assert len(repeated) <= 4  # those that ended when there was no room left
    finally:
        subprocess.run(["umount", "-l", sweep.folder], check=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, arguments",
    [
        ("03_binary_pdd", ["-p", "D", "0.2", "-p", "p", "0.6"]),
        ("12_gaussian_learned", ["-p", "D", "2", "-p", "quick", "True", "-p", "seeds", "1"]),
    ],
)
def test_the_same_parameters_give_the_same_numbers(name, arguments, tmp_path):
    """Alone under papermill, alone under the command, and in a sweep beside another run."""
    source = ROOT / "notebooks" / f"{name}.ipynb"
    command = [BIN / "papermill", "--no-progress-bar", source, tmp_path / "alone.ipynb", *arguments]
    subprocess.run(command, check=True, capture_output=True)
    alone = chapters.results(tmp_path / "alone.ipynb")
    assert main(["sweep", name, *arguments, "--seeds", "2", "--workers", "2", "--out", str(tmp_path / "many")]) == 0
    made = plan.make_plan(name, list(zip(arguments[1::3], arguments[2::3], strict=True)), [], 2)
    assert store.kept(tmp_path / "many", made.runs[0].name)["recorded"] == alone
    other = store.kept(tmp_path / "many", made.runs[1].name)["recorded"]
    assert (other == alone) == (name == "03_binary_pdd")  # whose recorded numbers come from no sample


# The page that sums up.


def result_of(made, **changed):
    """The result of a run that is done."""
    facts = {"status": "done", "recorded": {}, "error": "", "traceback": "", "seconds": 1.0, "versions": made.versions}
    return facts | {"started": "2026-01-01T00:00:00+00:00", "host": "here", "processor": "any"} | changed


@pytest.fixture
def summed_up(toy):
    """A function from a grid and a function of parameters to the page of a sweep whose runs recorded its values."""

    def make(grid, recorded):
        made = plan.make_plan(str(toy), [], grid, None)
        out = toy.parent / "made"
        for run in made.runs:
            value = recorded(run.parameters)
            failed = value is None
            result = result_of(made, recorded=value or {}, status="failed" if failed else "done", error="no" * failed)
            with store.locked(out):
                store.keep(out, run.name, result, "{}")
        runs = table.gather(out, made)
        table.write(out, runs)
        summary.write(out, made, runs)
        return made, runs, (out / "summary.html").read_text()

    return make


def test_a_line_has_the_same_colour_in_every_panel(summed_up, monkeypatch):
    """Also where the first panel lacks a line, which must not pass its colour or its name to the next one."""
    drawn = []
    draw = summary.draw
    monkeypatch.setattr(summary, "draw", lambda axis, *rest: (draw(axis, *rest), drawn.append(axis))[0])
    grid = ["D=1:3", "prior=.75,.5", "mode=plain,fail,die"]
    value = {"plain": 1, "fail": 2, "die": 3}

    def recorded(p):
        return (
            None
            if p["mode"] == "plain" and p["prior"] == 0.75
            else {"accuracy": value[p["mode"]] + p["D"] + p["prior"]}
        )

    made, _, page = summed_up(grid, recorded)
    assert len(drawn) == 2 and page.count("<img") == 1
    colours = {}
    for axis, prior in zip(drawn, made.swept["prior"]):
        assert axis.get_title() == f"prior = {prior}"
        for line in axis.get_lines():
            mode = line.get_label().removeprefix("mode = ")
            assert colours.setdefault(mode, line.get_color()) == line.get_color()
            shown = [number for number in line.get_ydata() if number == number]  # not NaN, a gap
            missing = mode == "plain" and prior == 0.75
            assert shown == ([] if missing else [value[mode] + D + prior for D in (1, 2, 3)])
    assert len(set(colours.values())) == 3


def test_what_a_page_leaves_out_is_said(summed_up):
    _, runs, page = summed_up(["D=0:2", "prior=0:1:.125", "mode=plain,fail"], lambda p: {"a": p["D"] + p["prior"]})
    assert "3 more values of prior are in the table." in page
    assert len(runs) == 54
    _, _, page = summed_up(["D=0:24", "prior=0:1:.125"], lambda p: None)
    assert "25 more are in the table" in page


def test_names_and_values_are_shown_as_they_are(summed_up):
    def recorded(p):
        return {"$\\foo$": p["D"], "D": 2 * p["D"], "run": {"status": "mine"}, "big": 2**2000, "text": "\ud800"}

    _, runs, page = summed_up(["D=1:3"], recorded)
    assert "$\\foo$ against D" in page
    assert runs["recorded.D"].tolist() == [2.0, 4.0, 6.0] and runs["D"].tolist() == [1.0, 2.0, 3.0]
    assert set(runs["recorded.run.status"]) == {"mine"} and set(runs["run.status"]) == {"done"}
    assert set(runs["big"]) == {str(2**2000)} and set(runs["text"]) == {"\\ud800"}


def test_a_number_is_drawn_against_what_it_depends_on(summed_up):
    """A saturation that is the same for every budget is no flat line over the budget."""

    def recorded(p):
        return {"accuracy": p["D"] + p["prior"], "saturation": p["prior"], "noise": p["seed"], "budget": p["D"]}

    made, runs, page = summed_up(["D=1:3", "prior=.5,.75", "seed=0:1"], recorded)
    deciding = {name: summary.deciding(made, runs, name) for name in ("accuracy", "saturation", "noise", "budget")}
    assert deciding == {"accuracy": ["D", "prior"], "saturation": ["prior"], "noise": ["seed"], "budget": ["D"]}
    for words in (
        "accuracy against D, one panel",
        "saturation against prior.",
        "noise against seed.",
        "budget against D.",
    ):
        assert words in page


def test_too_few_runs_do_not_tell_what_a_number_depends_on(summed_up):
    first, last = {"D": 1.0, "prior": 0.5}, {"D": 3.0, "prior": 0.75}
    _, _, page = summed_up(
        ["D=1:3", "prior=.5,.75"], lambda p: {"a": p["D"]} if p | first == p or p | last == p else None
    )
    assert "a against D, one panel for each of 2 values of prior" in page


def test_what_a_spreadsheet_would_compute_is_shown(summed_up):
    recorded = {"formula": "=1+1", "at": "@x", "number": "-1.5", "=name": "+y", "control": "a\x1b[31m", "plain": "a=b"}
    made, runs, _ = summed_up(["D=1:2"], lambda p: recorded)
    assert dict(runs.iloc[0][list(recorded)]) == recorded  # as it is, in the table of numbers
    shown = pd.read_csv(Path(made.folder) / "made" / "results.csv", dtype=str).iloc[0]
    assert shown["formula"] == "'=1+1" and shown["at"] == "'@x" and shown["'=name"] == "'+y"
    assert shown["number"] == "-1.5" and shown["plain"] == "a=b" and shown["control"] == "a\\x1b[31m"


DAMAGED = ['{"sta', "[]", "{}", '"x"', "null", '{"status": "done"}', "[" * 200_000, '{"a":' * 200_000, "\udcff"]


@pytest.mark.parametrize("text", DAMAGED, ids=[text[:20] for text in DAMAGED])
def test_a_damaged_result_is_no_result(text, toy):
    made = plan.make_plan(str(toy), [], [], None)
    out = toy.parent / "out"
    with store.locked(out):
        store.keep(out, "run", result_of(made), "{}")
        assert store.kept(out, "run")["recorded"] == {}
        store.result_path(out, "run").write_bytes(text.encode(errors="surrogateescape"))
        assert store.kept(out, "run") is None


@pytest.mark.parametrize(
    "changed",
    [{"status": "other"}, {"recorded": []}, {"seconds": "1"}, {"host": 1}, {"versions": None}, {"error": None}],
)
def test_a_result_with_other_fields_is_none(changed, toy):
    made = plan.make_plan(str(toy), [], [], None)
    out = toy.parent / "out"
    with store.locked(out):
        store.keep(out, "run", result_of(made, **changed), None)
        assert store.kept(out, "run") is None


def test_a_result_that_is_nested_too_deep_is_none(toy):
    made = plan.make_plan(str(toy), [], [], None)
    out, deep = toy.parent / "out", {}
    for _ in range(150):
        deep = {"deeper": [deep]}
    with store.locked(out):
        store.keep(out, "run", result_of(made, recorded=deep), None)
        assert store.kept(out, "run") is None


@pytest.mark.parametrize("content", [None, "", "{", "a link"])
def test_a_run_whose_notebook_is_damaged_has_not_ended(content, toy):
    made = plan.make_plan(str(toy), [], [], None)
    (run,) = made.runs
    out = toy.parent / "out"
    with store.locked(out):
        store.keep(out, run.name, result_of(made), "{}")
        assert command.ended(out, run, retry=False) is not None
        path = store.notebook_path(out, run.name)
        if content == "a link":
            path.rename(out / "moved")
            path.symlink_to(out / "moved")
        elif content is None:
            path.unlink()
        else:
            path.write_text(content)
        assert command.ended(out, run, retry=False) is None
