"""What the tools write: over nothing that they did not make, and through no symbolic link."""

import shutil
from pathlib import Path

import assignments
import build_pdf
import build_site
import conda_environment
import nbformat
import notebooks
import outputs
import pytest
import results
import slides
from project import ROOT, python


def snapshot(folder):
    """Everything in a folder: the text of files, where links lead."""
    return {
        path.relative_to(folder): path.readlink() if path.is_symlink() else path.is_dir() or path.read_bytes()
        for path in folder.rglob("*")
    }


def make(folder, files):
    with outputs.new_version(folder, "test") as new:
        for name, text in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_text(text)


def texts(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".made-by-test"
    }


def test_a_new_version_takes_the_place_of_the_old_one(tmp_path):
    out = tmp_path / "deep" / "out"
    make(out, {"one": "1", "in/two": "2"})
    make(out, {"one": "3", "in/three": "4"})
    assert texts(out) == {"one": "3", "in/three": "4"}
    (out / "notes").write_text("a reader's")
    make(out, {"one": "5"})
    assert texts(out) == {"one": "5", "notes": "a reader's"}
    assert [path.name for path in out.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("name", [".", "in/.."])
def test_the_folder_may_be_where_one_is(tmp_path, monkeypatch, name):
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    for text in "12":
        make(Path(name), {"one": text})
    assert texts(tmp_path) == {"out/one": "2"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_fails_leaves_the_old_version(tmp_path):
    make(tmp_path / "out", {"one": "1"})
    with pytest.raises(ZeroDivisionError), outputs.new_version(tmp_path / "out", "test") as new:
        (new / "one").write_text("2")
        raise ZeroDivisionError
    assert texts(tmp_path / "out") == {"one": "1"}


def changed(out):
    (out / "one").write_text("edited")


def added(out):
    (out / "new").write_text("a reader's")


def linked(out):
    (out / "one").unlink()
    (out / "one").symlink_to(out.parent / "victim")


def linked_folder(out):
    (out.parent / "victim").mkdir()
    (out / "in").symlink_to(out.parent / "victim")


def link(out):
    out.rename(out.parent / "elsewhere")
    out.symlink_to(out.parent / "elsewhere")


def listed_outside(out):
    (out.parent / "victim").write_text("a reader's")
    (out / ".made-by-test").write_text(f"{'0' * 64}  ../victim\n")


def listed_wrongly(out):
    (out / ".made-by-test").write_bytes(b"\xff\n")


def another_tool(out):
    (out / ".made-by-test").rename(out / ".made-by-another")


def a_file(out):
    for path in out.iterdir():
        path.unlink()
    out.rmdir()
    out.write_text("a reader's")


MEDDLING = [changed, added, linked, linked_folder, link, listed_outside, listed_wrongly, another_tool, a_file]


@pytest.mark.parametrize("meddle", MEDDLING)
def test_what_the_tool_did_not_make_is_left_alone(tmp_path, meddle):
    out = tmp_path / "out"
    make(out, {"one": "1"})
    meddle(out)
    before = snapshot(tmp_path)
    with pytest.raises(FileExistsError, match=str(tmp_path)):
        make(out, {"one": "2", "new": "2", "in/two": "2"})
    assert snapshot(tmp_path) == before


@pytest.fixture
def planted(tmp_path):
    """A folder with a file of somebody."""
    folder = tmp_path / "planted"
    folder.mkdir()
    (folder / "notes.txt").write_text("a reader's")
    return folder


def refused(monkeypatch, program, *arguments):
    """Run a program, as the command line does; return what it ends with."""
    monkeypatch.setattr("sys.argv", [program.__file__, *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        program.main()
    assert isinstance(end.value.code, str)
    return end.value.code


@pytest.mark.parametrize("kind", ["folder", "link"])
@pytest.mark.parametrize("tool", ["slides", "site", "course"])
def test_no_tool_takes_a_folder_of_others(monkeypatch, tmp_path, planted, tool, kind):
    if kind == "link":
        (tmp_path / "link").symlink_to(tmp_path / "empty")
        (tmp_path / "empty").mkdir()
    folder = tmp_path / ("link" if kind == "link" else "planted")
    if tool == "site":
        (tmp_path / "book" / "_build").mkdir(parents=True)
        folder.rename(tmp_path / "book" / "_build" / "html")
    program, *arguments = {
        "slides": [slides, "--out", folder],
        "site": [build_site, "--out", tmp_path / "book"],
        "course": [assignments, folder],
    }[tool]
    before = snapshot(tmp_path)
    message = refused(monkeypatch, program, *arguments)
    assert ("symbolic link" if kind == "link" else "new or empty folder") in message and "\n" not in message
    assert snapshot(tmp_path) == before


def test_a_link_in_place_of_build_is_not_followed(monkeypatch, tmp_path, planted):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "_build").symlink_to(planted)
    assert "_build is a symbolic link" in refused(monkeypatch, build_site, "--out", tmp_path / "book")
    assert [path.name for path in planted.iterdir()] == ["notes.txt"]


def test_slides_do_not_take_the_checkout():
    with pytest.raises(FileExistsError, match="new or empty folder"):
        slides.write(ROOT)


def test_the_pdf_replaces_only_a_pdf_of_the_book(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("")
    (tmp_path / "notes.pdf").write_text("a reader's")
    (tmp_path / "notes.html").write_text("a reader's")
    (tmp_path / "link.pdf").symlink_to(tmp_path / "nowhere.pdf")
    before = snapshot(tmp_path)
    for name, reason in (("notes.pdf", "was not made by this tool"), ("link.pdf", "is a symbolic link")):
        with pytest.raises(FileExistsError, match=reason):
            build_pdf.build(ROOT, site, tmp_path / name, "no browser")
    assert snapshot(tmp_path) == before


def test_environment_yml_of_others_is_left_alone(tmp_path):
    file = tmp_path / "environment.yml"
    conda_environment.write(file, "numpy==2.0 \\\n")
    conda_environment.write(file, "numpy==2.1 \\\n")
    assert "numpy==2.1" in file.read_text()
    file.write_text("name: mine\n")
    with pytest.raises(FileExistsError, match="was not made by this tool"):
        conda_environment.write(file, "numpy==2.1 \\\n")
    assert file.read_text() == "name: mine\n"


@pytest.fixture
def link_to(tmp_path):
    """A function that makes a link to a file of somebody, which it names."""

    def plant(name):
        (tmp_path / "victim").write_text("a reader's")
        (tmp_path / name).symlink_to(tmp_path / "victim")
        return tmp_path / name

    yield plant
    assert (tmp_path / "victim").read_text() == "a reader's"
    assert any(path.is_symlink() for path in tmp_path.iterdir())


def test_results_follow_no_link(link_to):
    with pytest.raises(FileExistsError, match="symbolic link"):
        results.write(results.summary(), link_to("summary.csv"))


def test_the_status_page_follows_no_link(link_to):
    file = link_to("status.csv")
    with pytest.raises(FileExistsError, match="symbolic link"):
        notebooks.write_status([{"notebook": notebooks.committed()[0].stem}], file)


@pytest.mark.parametrize("option", [[], ["--no-run"]])
def test_notebooks_follow_no_link(monkeypatch, link_to, option):
    assert "symbolic link" in refused(monkeypatch, notebooks, *option, link_to("one.ipynb"))


@pytest.mark.parametrize("name", ["../out.png", "/tmp/out.png", "figure.txt"])
def test_a_notebook_names_no_file_outside_of_the_figures(tmp_path, name):
    output = nbformat.v4.new_output("display_data", data={"image/png": "AAAA"})
    cell = nbformat.v4.new_code_cell(outputs=[output], metadata={"gap": {"asset": name}})
    with pytest.raises(ValueError, match="name of a PNG file"):
        notebooks.write_assets(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "assets")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_marking_leaves_the_course_through_no_link(tmp_path, planted):
    course = tmp_path / "course"
    shutil.copytree(assignments.TEMPLATE, course, ignore=shutil.ignore_patterns("__pycache__"))
    (name, *_) = assignments.names()
    hand_in = course / "submitted" / "student" / name
    hand_in.mkdir(parents=True)
    shutil.copy(assignments.TEMPLATE / "source" / name / f"{name}.ipynb", hand_in)
    (course / "prepared").symlink_to(planted)
    run = python(course / "mark.py", name, cwd=course)
    assert run.returncode == 1 and "prepared is a symbolic link" in run.stdout
    assert [path.name for path in planted.iterdir()] == ["notes.txt"]


@pytest.mark.slow
def test_grades_replace_only_grades(tmp_path):
    code = """if True:
        import sys, types
        from marking.grades import Grades
        Grades(to=sys.argv[1]).export(types.SimpleNamespace(assignments=[]))"""
    file = tmp_path / "grades.csv"
    for text, complaint in (
        (None, ""),
        ("assignment,mine\n", "is no earlier table of grades"),
        ("link", "is no earlier table"),
    ):
        if text == "link":
            file.rename(tmp_path / "victim")
            file.symlink_to(tmp_path / "victim")
        elif text:
            file.write_text(text)
        for _ in range(2):
            run = python("-c", code, file, cwd=assignments.TEMPLATE)
            assert (run.returncode != 0) == bool(complaint) and complaint in run.stdout
    assert (tmp_path / "victim").read_text() == "assignment,mine\n"
