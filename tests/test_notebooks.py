"""What every committed notebook has, and what it may not have. (nbval re-runs them; see pyproject.toml.)"""

import csv
import io
import itertools
import re
import shutil

import nbformat
import notebooks as tool
import pytest
from matplotlib.image import imread
from project import REFERENCE, ROOT, TRAINED, python

from gaplib.book import chapters, parameters

PATHS = tool.committed()


@pytest.fixture(params=PATHS, ids=[path.stem for path in PATHS])
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return nbformat.read(path, as_version=4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook):
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def tagged(notebook, tag):
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", [])]


def start_cell(notebook):
    """The first cell that runs, after the one that installs gaplib on Colab and the parameters."""
    return next(cell for cell in code(notebook) if not {"colab", "parameters"} & set(cell.metadata.get("tags", [])))


def is_trained(notebook):
    return any("gaplib.training" in cell.source for cell in code(notebook))  # also in a program that a cell starts


def test_there_are_notebooks():
    assert PATHS


def test_outputs_belong_to_the_code(notebook):
    assert notebook.metadata["gap"]["sources"] == tool.digest(notebook), "edited, not re-run: make notebooks"
    counts = [cell.execution_count for cell in code(notebook)]
    assert counts == list(range(1, len(counts) + 1))


def test_an_edit_without_a_run_is_noticed(notebook):
    code(notebook)[-1].source += "\n1 + 1"
    assert notebook.metadata["gap"]["sources"] != tool.digest(notebook)


def test_nothing_in_it_changes_from_run_to_run(path, notebook):
    before = nbformat.writes(notebook)
    tool.normalize(notebook)
    assert nbformat.writes(notebook) == before
    text = path.read_text()
    # No path of the machine it ran on.
    assert not re.search(r"/(home|root|tmp|work|Users|private)/", text)
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]


def test_normalizing_refuses_stderr():
    output = nbformat.v4.new_output("stream", name="stderr", text="a warning")
    cell = nbformat.v4.new_code_cell("f()", outputs=[output])
    with pytest.raises(ValueError, match="a cell writes to stderr"):
        tool.normalize(nbformat.v4.new_notebook(cells=[cell]))


def test_normalizing_joins_what_was_printed():
    outputs = [nbformat.v4.new_output("stream", name="stdout", text=text) for text in ("one\n", "two\n")]
    cell = nbformat.v4.new_code_cell("f()", outputs=outputs)
    tool.normalize(nbformat.v4.new_notebook(cells=[cell]))
    assert [output.text for output in cell.outputs] == ["one\ntwo\n"]


def test_every_figure_says_what_is_to_be_seen(notebook):
    for cell in code(notebook):
        if any("image/png" in output.get("data", {}) for output in cell.outputs):
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt) > 40, f"no alt text on the figure of: {cell.source[:60]}"


def test_figures_stand_on_white(notebook):
    for cell in code(notebook):
        if any("image/png" in output.get("data", {}) for output in cell.outputs):
            corner = imread(io.BytesIO(tool.figure(cell)))[0, 0]
            assert (corner == 1).all()  # red, green, blue, and opaque


def test_it_opens_with_its_number_goals_running_time_and_a_quiet_kernel(path, notebook):
    opening = notebook.cells[0].source
    assert re.match(rf"# {int(path.stem[:2])} · \w", opening)  # links and the contents of the PDF show the title
    assert "**You will learn**" in opening
    assert re.search(r"\*\*Running time\*\*:\s+under\s+\d+ seconds\s+on\s+two\s+cores", opening)
    first = start_cell(notebook).source
    assert first.startswith("from gaplib.book import notebook\n\nnotebook.start(globals())\n")


def test_the_last_run_took_no_longer_than_the_opening_says(path, notebook):
    """Both are shown to readers. If this fails, the machine was busy, or the opening is out of date."""
    stated = int(re.search(r"under\s+(\d+) seconds", notebook.cells[0].source)[1])
    with tool.STATUS.open(encoding="utf-8", newline="") as file:
        (line,) = [line for line in csv.DictReader(file) if line["notebook"] == path.stem]
    assert int(line["seconds"]) <= stated


def test_parameters_are_declared_and_limited(path, notebook):
    cells = tagged(notebook, "parameters")
    assert len(cells) == 1 or (path.stem in REFERENCE and not cells)
    for cell in cells:
        assert start_cell(notebook) is notebook.cells[notebook.cells.index(cell) + 1]  # it checks them
        # papermill's help leaves out a line with a second equals sign.
        assert [line for line in cell.source.splitlines() if line.count("=") != 1] == []
    for parameter in parameters.declared(notebook).values():
        assert parameter.meaning, f"{parameter.name} does not say what it is"
        # An interval that is not written as gaplib.book.parameters reads it would be part of the meaning.
        assert parameter.allowed or parameter.type in ("bool", "str"), f"{parameter.name} has no limits"


def test_it_has_three_exercises_each_with_a_solution_that_runs(path, notebook):
    if path.stem in REFERENCE:
        return
    exercises = re.findall(r":::\{exercise\}.*\n:label: (\S+)", prose(notebook))
    assert len(exercises) >= 3
    cells, solutions = notebook.cells, {}
    inside = None
    for cell in cells:
        if cell.cell_type == "code" and inside:
            solutions[inside] += 1
        for line in cell.source.splitlines() if cell.cell_type == "markdown" else []:
            if match := re.match(r":::\{solution-start\} (\S+)", line):
                inside = match[1]
                solutions[inside] = 0
            elif line.startswith(":::{solution-end}"):
                inside = None
    assert sorted(solutions) == sorted(exercises)
    assert min(solutions.values()) >= 1, "a solution without a cell that runs"


GRADES = {"★ easy": 1, "★★ medium": 2, "★★★ hard": 3}


def test_its_exercises_say_how_hard_they_are_and_get_harder(path, notebook):
    if path.stem in REFERENCE:
        return
    titles = re.findall(r"^:::\{exercise\} (.+)$", prose(notebook), re.MULTILINE)
    grades = [GRADES[title.split(" · ")[1]] for title in titles]
    assert grades == sorted(grades)
    assert grades[0] == 1 < grades[-1]


def quick_questions(notebook):
    """The cells with a quick question, as (number of the cell, question, answer); the answer must be folded."""
    form = (
        r"::::\{admonition\} Quick question\n:class: hint quick-question\n\n(.+)\n\n"
        r":::\{admonition\} Answer\n:class: dropdown\n\n(.+)\n:::\n::::"
    )
    for number, cell in enumerate(notebook.cells):
        if "Quick question" in cell.source:
            match = re.fullmatch(form, cell.source, re.DOTALL)
            assert match, f"not a quick question with a folded answer: {cell.source}"
            yield number, *match.groups()


def test_it_asks_quick_questions_on_the_way(path, notebook):
    asked = list(quick_questions(notebook))
    if path.stem in REFERENCE:
        assert not asked
        return
    assert len(asked) >= 2
    for _, question, answer in asked:  # under a minute: short, and an answer that says why
        assert "?" in question and len(question.split()) <= 90 and 20 <= len(answer.split()) <= 90
    # A pause after a step: code or a figure stands before it and before the next one, and all before the exercises.
    places = [0, *(number for number, _, _ in asked)]
    (exercises,) = [
        i for i, cell in enumerate(notebook.cells) if re.search(r"^## Exercises$", cell.source, re.MULTILINE)
    ]
    assert places[-1] < exercises
    for before, here in itertools.pairwise(places):
        assert any(cell.cell_type == "code" for cell in notebook.cells[before:here])


def test_it_ends_with_a_summary_and_its_claims(notebook):
    assert re.search(r"^## Summary$", prose(notebook), re.MULTILINE)
    *_, before, last = notebook.cells
    assert last.cell_type == "code" and "notebook.claim(" in last.source
    assert "hide-cell" in last.metadata.tags  # a reader sees how many hold
    if is_trained(notebook):  # what is recorded may change in its last digits on another processor, a claim may not
        assert "notebook.record(" in before.source and "nbval-check-output" in last.metadata.tags
        assert "notebook.record(" not in last.source
    else:
        assert "notebook.record(" in last.source


def test_open_code_is_short(notebook):
    """Outside solutions, which are folded, a cell that is not folded has at most 25 lines."""
    solution = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            solution = cell.source.rfind("{solution-start}") > cell.source.rfind("{solution-end}") or (
                solution and "{solution-end}" not in cell.source
            )
        elif not (solution or {"hide-input", "hide-cell"} & set(cell.metadata.get("tags", []))):
            assert len(cell.source.splitlines()) <= 25, cell.id


def test_open_code_is_narrow(path, notebook):
    """Without a click, and in solutions, no line of code is wider than the page's column of text."""
    for cell in code(notebook):
        if not {"hide-input", "hide-cell"} & set(cell.metadata.get("tags", [])):
            # At 1280 pixels 88 characters fit between both sidebars; other fonts are a little wider.
            assert max(map(len, cell.source.splitlines())) <= 84, cell.id


def test_only_notebooks_that_train_are_checked_by_their_claims_alone(path, notebook):
    assert is_trained(notebook) == (path.stem in TRAINED)


def test_labels_are_unique_over_the_book():
    pattern = r"^:label: (\S+)|^\s*\$\$ *\((\S+)\)|\$\$ \((eq-\S+)\)"
    labels = []
    for path in PATHS:
        text = prose(nbformat.read(path, as_version=4))
        labels += [next(filter(None, found)) for found in re.findall(pattern, text, re.MULTILINE)]
    assert len(labels) == len(set(labels))


def test_recorded_names_are_unique_over_the_book():
    names = [name for path in PATHS for name in chapters.results(path)]
    assert len(names) == len(set(names))


def test_colab_cell_follows_the_one_setting(notebook):
    address = tool.public_address()
    expected = nbformat.from_dict(notebook)
    tool.set_colab_cell(expected, address)
    assert [cell.source for cell in expected.cells] == [cell.source for cell in notebook.cells], "run make notebooks"


def test_colab_cell_comes_and_goes(notebook):
    sources = [cell.source for cell in notebook.cells]
    tool.set_colab_cell(notebook, "https://github.com/example/gap")
    assert "%pip install -q git+https://github.com/example/gap" in notebook.cells[0].source
    tool.set_colab_cell(notebook, "")
    assert not tagged(notebook, "colab")
    assert [cell.source for cell in notebook.cells] == sources


def test_assets_are_the_figures_of_the_notebooks(notebook):
    for cell in code(notebook):
        if name := cell.metadata.get("gap", {}).get("asset"):
            assert (tool.ASSETS / name).read_bytes() == tool.figure(cell)


@pytest.mark.slow
def test_a_notebook_that_fails_leaves_the_committed_one_as_it_was(tmp_path):
    path = tmp_path / "fails.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")]), path)
    before = path.read_bytes()
    run = python(tool.__file__, path)
    assert run.returncode != 0 and "ZeroDivisionError" in run.stdout
    assert path.read_bytes() == before


@pytest.mark.slow
def test_nbval_compares_what_a_training_notebook_claims_and_all_of_any_other(tmp_path):
    shutil.copy(ROOT / "notebooks" / "conftest.py", tmp_path)
    stale = nbformat.v4.new_output("stream", name="stdout", text="before")
    for name, module, tags in [
        ("lax", "gaplib.training", []),
        ("claim", "gaplib.training", ["nbval-check-output"]),
        ("strict", "gaplib.binary", []),
    ]:
        # The module's name is what counts; to import it would take seconds.
        cell = nbformat.v4.new_code_cell(f"# {module}\nprint('after')", outputs=[stale], execution_count=1)
        cell.metadata.tags = tags
        notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": tool.KERNEL})
        nbformat.write(notebook, tmp_path / f"{name}.ipynb")
    # The path is where the conftest finds its helper.
    command = ["-m", "pytest", "--nbval", "-p", "no:xdist", "-rA", "--color=no", tmp_path]
    output = python(*command, cwd=tmp_path, PYTHONPATH=str(ROOT / "tests")).stdout
    assert re.findall(r"^(PASSED|FAILED) (\w+)\.ipynb", output, re.MULTILINE) == [
        ("PASSED", "lax"),
        ("FAILED", "claim"),
        ("FAILED", "strict"),
    ], output
