"""What makes a finished run stale: code that it uses, and nothing else."""

import shutil

import nbformat
import pytest

from gaplib.book.sweep import fingerprint

CELLS = ("import numpy as np\n\nfrom gaplib import binary", "def f(x):\n    return x  # x\n\nprint(f(1))")


def notebook(*sources):
    """A notebook of these code cells."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


def used(*sources, root=fingerprint.ROOT):
    """The files of gaplib that a notebook of these cells uses."""
    return {path.relative_to(root).as_posix() for path in fingerprint.files_used(notebook(*sources), root)}


@pytest.fixture
def package(tmp_path):
    """A copy of the package, to edit."""
    ignored = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(fingerprint.ROOT, tmp_path / "gaplib", ignore=ignored)


def edit(path, old, new):
    """Replace a text that is there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


# Cells.


@pytest.mark.parametrize(
    "old, new",
    [
        ("  # x", ""),
        ("return x", "return (x)"),
        ("    return x", '    """Return x."""\n    return x'),
        ("\n\nprint", "\n\n\n# Show it.\nprint"),
    ],
)
def test_comments_docstrings_and_layout_of_a_cell_make_no_other_run(old, new):
    assert old in CELLS[1]
    assert fingerprint.of_cells(notebook(*CELLS)) == fingerprint.of_cells(
        notebook(CELLS[0], CELLS[1].replace(old, new))
    )


@pytest.mark.parametrize("other", [CELLS[:1], CELLS[::-1], (*CELLS, "1"), (CELLS[0], CELLS[1].replace("(1)", "(2)"))])
def test_other_code_of_a_cell_does(other):
    assert fingerprint.of_cells(notebook(*CELLS)) != fingerprint.of_cells(notebook(*other))


def test_magics_are_read_and_what_is_no_python_counts_as_it_is():
    code = "%matplotlib inline\nfrom gaplib import binary"
    assert "binary.py" in used(code)
    assert fingerprint.of_cells(notebook(code)) == fingerprint.of_cells(notebook(code + "  # why"))
    assert fingerprint.of_cells(notebook("x <- 1")) != fingerprint.of_cells(notebook("x <- 2; <-"))


# Modules.


def test_modules_are_followed_through_their_imports():
    found = used(*CELLS)
    assert {"__init__.py", "binary.py", "models.py", "leakage.py", "_checks.py"} <= found
    assert not [path for path in found if path.startswith(("training", "book", "jobs")) or path == "gaussian.py"]


@pytest.mark.parametrize(
    "source",
    [
        "import gaplib.losses",
        "import gaplib.losses as l",
        "from gaplib.losses import log_loss",
        "from gaplib import losses",
        "def f():\n    from gaplib import losses",
        "PROGRAM = '''\n    import sys\n    from gaplib import losses\n'''",
        "import importlib\nimportlib.import_module('gaplib.losses')",
        "!python -m gaplib.losses",
        "subprocess.run([sys.executable, '-m', 'gaplib.losses', 'x'])",
        "print(f'{1} gaplib.losses')",
    ],
)
def test_a_module_counts_however_it_is_named(source):
    assert "losses.py" in used(source)


@pytest.mark.parametrize(
    "source",
    [
        "# from gaplib import losses",
        "def f():\n    '''As gaplib.losses does.'''",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gaplib import losses",
        "from gaplibrary import losses",
        "import losses",
    ],
)
def test_what_is_never_run_does_not_count(source):
    assert "losses.py" not in used(source)


def test_the_command_counts_where_it_is_started():
    found = used("subprocess.run([sys.executable, '-m', 'gaplib', 'run'])")
    assert {"__main__.py", "book/sweep/command.py", "book/sweep/execution.py", "jobs/work.py"} <= found
    assert {"jobs/preload.py", "book/sweep/surrogates.py", "book/sweep/summary.html.j2"} <= found  # named in texts
    assert "__main__.py" not in used("importlib.util.find_spec('gaplib')")


def test_data_count_with_the_module_that_names_them():
    assert "book/data/printed_tables.csv" in used("from gaplib.book import paper")
    assert "book/data/printed_tables.csv" not in used("from gaplib.book import plots")


@pytest.mark.parametrize(
    "file, old, new, stale",
    [
        ("binary.py", '"""', '"""Another first line.\n\n', False),
        ("binary.py", "import ", "# a comment\nimport ", False),
        ("binary.py", "def optimal_pdd(", "def another():\n    return 1\n\n\ndef optimal_pdd(", True),
        ("_checks.py", "= 1e-12", "= 2e-12", True),  # of a module that it uses through another one
        ("losses.py", "import ", "import os\nimport ", False),  # unused
        ("book/sweep/execution.py", "import ", "import json\nimport ", False),  # runs it, and is not used by it
        ("book/data/register.csv", "id,", "id,verdict,", False),
    ],
)
def test_an_edit_makes_runs_stale_that_use_it(package, file, old, new, stale):
    before = fingerprint.of_library(notebook(*CELLS), package)
    assert before == fingerprint.of_library(notebook(*CELLS))  # the same code in another folder
    edit(package / file, old, new)
    assert (fingerprint.of_library(notebook(*CELLS), package) != before) == stale


def test_an_edit_of_data_makes_runs_stale_that_use_them(package):
    code = notebook("from gaplib.book import paper")
    before = fingerprint.of_library(code, package)
    edit(package / "book" / "data" / "printed_tables.csv", "0.5214", "0.5215")
    assert fingerprint.of_library(code, package) != before
