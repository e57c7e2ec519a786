"""gaplib.book.notebook and chapters: a quiet kernel with checked parameters, claims, recorded results."""

import json
import os
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from gaplib.book import chapters, notebook

ROOT = Path(__file__).resolve().parent.parent


def test_start_makes_tensorflow_quiet(monkeypatch):
    for name in ("TF_CPP_MIN_LOG_LEVEL", "TF_ENABLE_ONEDNN_OPTS"):
        monkeypatch.setenv(name, "unset")
    notebook.start({})
    assert (os.environ["TF_CPP_MIN_LOG_LEVEL"], os.environ["TF_ENABLE_ONEDNN_OPTS"]) == ("3", "0")


def test_start_checks_the_parameters():
    names = {"In": ["", "D: float = 1.0  # budget, in [0, inf)"], "D": -1.0}
    with pytest.raises(ValueError, match="^D must be a finite number >= 0, got -1.0"):
        notebook.start(names)


@pytest.mark.slow
def test_the_caller_s_environment_does_not_change_what_is_shown():
    """Figures would be missing under another backend, and warnings of libraries would stand on the page."""
    sources = [
        "from gaplib.book import notebook\n\nnotebook.start(globals())",
        "import matplotlib.pyplot as plt\n\nplt.plot([1, 2])\nplt.show()",
        "import warnings\n\nwarnings.warn_explicit('old', DeprecationWarning, 'library.py', 1, module='library')",
    ]
    content = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(content).execute(env=os.environ | {"MPLBACKEND": "agg", "PYTHONWARNINGS": "default"})
    start, figure, warning = (cell.outputs for cell in content.cells)
    assert ["image/png" in output.data for output in figure] == [True]
    assert (start, warning) == ([], [])


def test_claim(capsys):
    notebook.claim("two is even", 2 % 2 == 0)
    notebook.claim("a numpy truth value will do", np.bool_(True))
    assert capsys.readouterr().out == "holds: two is even\nholds: a numpy truth value will do\n"
    with pytest.raises(AssertionError, match="^does not hold: two is odd$"):
        notebook.claim("two is odd", 2 % 2 == 1)
    # Anything non-empty counts as true in Python; a claim must be a truth value.
    for value in ("False", 1, None, np.array([True, True])):
        with pytest.raises(TypeError, match="holds must be True or False"):
            notebook.claim("something", value)


def recorded(tmp_path, monkeypatch, **values):
    """Record values as a cell would, write the notebook, and read them back."""
    outputs = []

    def display(data, metadata, raw):
        assert raw
        outputs.append(nbformat.v4.new_output("display_data", data=data, metadata=metadata))

    monkeypatch.setattr("IPython.display.display", display)
    notebook.record(**values)
    path = tmp_path / "run.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=outputs)]), path)
    return chapters.results(path)


def test_what_is_recorded_is_read_back(tmp_path, monkeypatch):
    values = {
        "number": np.float64(1) / 3,
        "count": np.int64(3),
        "curve": np.array([0.1, 0.2]),
        "table": {"p": [1, 2.5, None], 0.5: "text"},
        "flag": True,
    }
    assert recorded(tmp_path, monkeypatch, **values) == {
        "number": 0.333333333,
        "count": 3,
        "curve": [0.1, 0.2],
        "table": {"p": [1, 2.5, None], "0.5": "text"},
        "flag": True,
    }


@pytest.mark.parametrize(
    "value, error", [(float("nan"), ValueError), ([1, np.inf], ValueError), (object(), TypeError), (1j, TypeError)]
)
def test_what_cannot_be_recorded_is_named(value, error):
    with pytest.raises(error, match="^result must be"):
        notebook.record(result=value)


def test_results_of_the_committed_chapter():
    results = chapters.results("03_binary_pdd")
    assert results["pdd_paper_saturation"] == {"0.5": 0.25, "0.75": 0.125}
    json.dumps(results)


def test_claims_are_read_back_in_order(tmp_path):
    printed = ["unrelated\nholds: the first\n", "holds: the second, with holds: inside\n"]
    outputs = [nbformat.v4.new_output("stream", name="stdout", text=text) for text in printed]
    cells = [nbformat.v4.new_code_cell("f()", outputs=[output]) for output in outputs]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "out.ipynb")
    assert chapters.claims(tmp_path / "out.ipynb") == ["the first", "the second, with holds: inside"]


def test_every_committed_notebook_has_claims():
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        assert len(chapters.claims(path)) >= 3, path.name


@pytest.fixture
def executed(tmp_path):
    """A folder with an executed chapter in its folder `notebooks`."""
    output = nbformat.v4.new_output("stream", name="stdout", text="holds: so it is\n")
    cell = nbformat.v4.new_code_cell("f()", outputs=[output])
    (tmp_path / "notebooks").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "notebooks" / "01_toy.ipynb")
    return tmp_path


def test_chapters_lie_where_is_told(executed, monkeypatch):
    monkeypatch.setenv(chapters.FOLDER, str(executed / "notebooks"))
    assert chapters.claims("01_toy") == ["so it is"]
    assert chapters.find("01_toy") == chapters.find("01_toy.ipynb") == executed / "notebooks" / "01_toy.ipynb"
    monkeypatch.chdir(executed / "notebooks")  # what is told counts, also where they lie
    monkeypatch.setenv(chapters.FOLDER, str(executed))
    with pytest.raises(FileNotFoundError, match="got '01_toy'"):
        chapters.find("01_toy")


@pytest.mark.parametrize("where", [".", "notebooks"])
def test_untold_they_lie_in_the_working_directory_or_its_notebooks(executed, monkeypatch, where):
    monkeypatch.delenv(chapters.FOLDER)
    monkeypatch.chdir(executed / where)
    assert chapters.find("01_toy").samefile(executed / "notebooks" / "01_toy.ipynb")


def test_any_notebook_is_found_by_its_path(executed):
    path = executed / "notebooks" / "01_toy.ipynb"
    assert chapters.find(path) == chapters.find(str(path)) == path


@pytest.mark.parametrize("name", ["99_none", "", "..", "notebooks/03_binary_pdd"])
def test_a_notebook_that_is_not_there(name):
    with pytest.raises(FileNotFoundError, match=f"name of a chapter, got {name!r}; chapters are looked for in "):
        chapters.results(name)
    with pytest.raises(TypeError, match="notebook must be a text or a path, got 3 of type int"):
        chapters.results(3)
