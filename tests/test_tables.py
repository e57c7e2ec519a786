"""Tables of results: what is shown where, and what is refused."""

import re

import nbformat
import notebooks as tool
import pytest

from gaplib.book import tables

COLUMNS = {"$D$": [1, 2], "ours": [0.8501, -1e-9], "which": ["a|b", None]}


@pytest.fixture
def shown(monkeypatch):
    """A function that shows a table and returns what is displayed."""
    found = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: found.append(bundle))

    def show(*args, **settings):
        tables.show(*args, **settings)
        return found.pop()

    return show


def test_the_same_numbers_in_both_forms(shown):
    bundle = shown(COLUMNS, "What it is.", "tab-x", digits=2, marks={"ours": ["good", ""]})
    cells = re.findall(r"<td[^>]*>(.*?)</td>", bundle["text/html"])
    assert cells == ["1", "0.85 ✓", "a|b", "2", "0.00", ""]
    rows = [line for line in bundle["text/markdown"].splitlines() if line.startswith("| ")]
    assert rows == [
        "| $D$ | ours | which |",
        "| --: | --: | :-- |",
        "| 1 | [0.85 ✓]{.good} | a\\|b |",
        "| 2 | 0.00 |  |",
    ]
    assert ":name: tab-x\n" in bundle["text/markdown"] and "{table} What it is.\n" in bundle["text/markdown"]
    assert bundle["text/plain"] == "What it is."


def test_numbers_in_words_stand_on_the_right_too(shown):
    columns = {
        "range": ["0.1 ± 0.02", "∞", ""],
        "counts": ["1", "-2.50", "\N{EN DASH}"],
        "rows": ["1", "printed", ""],
        "flags": [True, False, True],
    }
    bundle = shown(columns, "What it is.", "tab-x")
    assert "\n| --: | --: | :-- | :-- |\n" in bundle["text/markdown"]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"name": "x"}, "name must begin with tab-, got 'x'"),
        ({"digits": 10}, "digits"),
        ({"columns": {"a": [1], "b": [1, 2]}}, "one length"),
        ({"marks": {"ours": ["good"]}}, "one length"),
        ({"marks": {"theirs": ["good", ""]}}, "'theirs'"),
        ({"marks": {"ours": ["best", ""]}}, "'best'"),
        ({"columns": {}}, "columns must"),
    ],
)
def test_what_is_no_table_is_refused(shown, settings, named):
    with pytest.raises(ValueError, match=re.escape(named)):
        shown(**{"columns": COLUMNS, "caption": "What it is.", "name": "tab-x"} | settings)


def test_what_is_folded_on_the_site_is_folded_in_jupyterlab_and_claims_are_counted():
    cells = [
        nbformat.v4.new_code_cell("1", metadata={"tags": ["hide-input"]}),
        nbformat.v4.new_code_cell("2", metadata={"jupyter": {"source_hidden": True, "lab": 1}}),
        nbformat.v4.new_code_cell(
            "3",
            metadata={"tags": ["hide-cell"]},
            outputs=[nbformat.v4.new_output("stream", text="holds: a\nand\nholds: b\n")],
        ),
    ]
    tool.normalize(nbformat.v4.new_notebook(cells=cells))
    assert [cell.metadata.get("jupyter") for cell in cells] == [
        {"source_hidden": True},
        {"lab": 1},
        {"source_hidden": True, "outputs_hidden": True},
    ]
    assert cells[2].metadata["mystnb"]["code_prompt_show"] == "2 checks hold"
