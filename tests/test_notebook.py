"""gaplib.notebook: the parameter check, claims, recorded results."""

import json
import os

import nbformat
import numpy as np
import pytest

from gaplib.book import notebook


def check(names, **declared):
    """Run `check_parameters` where a notebook would: in a namespace of its own."""
    scope = {"In": [], "notebook": notebook, "declared": declared} | names
    exec("notebook.check_parameters(**declared)", scope)


def injected(source):
    """The history of a kernel in which papermill ran its cell."""
    return {"In": ["", "from gaplib.book import notebook", "D: float = 1.0  # budget", f"# Parameters\n{source}\n"]}


def test_allowed_parameters_pass():
    check(
        {"D": 4, "q": 0.25, "seed": 0, "loss": "log", "quick": False},
        D=notebook.real(0),
        q=notebook.real(0, 1),
        seed=notebook.integer(0),
        loss=notebook.choice("log", "alpha"),
        quick=notebook.flag(),
    )


@pytest.mark.parametrize(
    "allowed, value, message",
    [
        (notebook.real(0), "1e-3", "D must be a finite number >= 0, got '1e-3' of type str"),
        (notebook.real(0), True, "D must be a finite number >= 0, got True of type bool"),
        (notebook.real(0), float("nan"), "D must be a finite number >= 0, got nan"),
        (notebook.real(0, 1), 1.5, r"D must be a finite number in \[0, 1\], got 1.5"),
        (notebook.integer(1), 1.0, "D must be an integer >= 1, got 1.0 of type float"),
        (notebook.integer(1, 9), 10, r"D must be an integer in \[1, 9\], got 10"),
        (notebook.flag(), "false", "D must be True or False, got 'false' of type str"),
        (notebook.flag(), 0, "D must be True or False, got 0"),
        (notebook.choice("log", "0-1"), "LOG", "D must be 'log' or '0-1', got 'LOG'"),
        (notebook.choice("log", "0-1"), 1, "D must be 'log' or '0-1', got 1 of type int"),
        (notebook.real(0), [1, 2], r"D must be a finite number >= 0, got \[1, 2\] of type list"),
    ],
)
def test_bad_parameters_are_refused_by_name(allowed, value, message):
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        check({"D": value}, D=allowed)


def test_misspelt_name_is_refused_with_a_hint():
    with pytest.raises(
        ValueError, match=r"^unknown parameter 'sed' \(did you mean 'seed'\?\); this notebook has: D, seed$"
    ):
        check({"D": 1.0, "seed": 0, "sed": 1} | injected("sed = 1"), D=notebook.real(0), seed=notebook.integer(0))


def test_a_notebook_without_parameters_refuses_any():
    check({})
    with pytest.raises(ValueError, match="unknown parameter 'D'; this notebook has: none"):
        check(injected("D = 2"))


def test_known_names_may_be_injected_and_other_variables_may_exist():
    check({"D": 2, "anything": 1} | injected("D = 2"), D=notebook.real(0))


def test_parameter_that_is_not_set_is_named():
    with pytest.raises(ValueError, match="^parameter 'D' is not set"):
        check({}, D=notebook.real(0))


def test_start_makes_tensorflow_quiet(monkeypatch):
    for name in ("TF_CPP_MIN_LOG_LEVEL", "TF_ENABLE_ONEDNN_OPTS"):
        monkeypatch.setenv(name, "unset")
    notebook.start()
    assert (os.environ["TF_CPP_MIN_LOG_LEVEL"], os.environ["TF_ENABLE_ONEDNN_OPTS"]) == ("3", "0")


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
    return notebook.results(path)


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
    results = notebook.results("03_binary_pdd")
    assert results["pdd_paper_saturation"] == {"0.5": 0.25, "0.75": 0.125}
    json.dumps(results)


def test_claims_are_read_back_in_order(tmp_path):
    printed = ["unrelated\nholds: the first\n", "holds: the second, with holds: inside\n"]
    outputs = [nbformat.v4.new_output("stream", name="stdout", text=text) for text in printed]
    cells = [nbformat.v4.new_code_cell("f()", outputs=[output]) for output in outputs]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "out.ipynb")
    assert notebook.claims(tmp_path / "out.ipynb") == ["the first", "the second, with holds: inside"]


def test_every_committed_notebook_has_claims():
    for path in notebook.COMMITTED.glob("*.ipynb"):
        assert len(notebook.claims(path)) >= 3, path.name


def test_results_of_a_notebook_that_is_not_there():
    with pytest.raises(
        FileNotFoundError, match="notebook must name a committed or an executed notebook, got '99_none'"
    ):
        notebook.results("99_none")
