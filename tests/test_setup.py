"""What a fresh clone promises: the lock, the environments, the commands, the licences, a quick import."""

import ast
import re
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import conda_environment  # noqa: E402  (found by the line above)

LOCK = (ROOT / "requirements.lock").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def declared():
    groups = [PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values()]
    return [requirement for group in groups for requirement in group]


def test_every_pin_of_the_lock_has_hashes_and_no_host():
    entries = re.split(r"\n(?=[a-z0-9])", LOCK)
    assert len(entries) > 100
    for entry in entries:
        assert re.match(r"[a-z0-9-]+(\[\w+\])?==\S+", entry), entry[:80]
        assert "--hash=sha256:" in entry, entry[:80]
    assert "://" not in LOCK and "index-url" not in LOCK


def test_lock_has_what_the_project_asks_for():
    locked = {canonical(re.match(r"[\w-]+", pin)[0]) for pin in conda_environment.pins(LOCK)}
    wanted = [*declared(), *PROJECT["build-system"]["requires"]]
    assert {canonical(re.match(r"[\w-]+", requirement)[0]) for requirement in wanted} <= locked


def test_installed_versions_are_the_locked_ones():
    from importlib import metadata

    for pin in conda_environment.pins(LOCK):
        name, version = re.match(r"([\w-]+)==([\w.+]+)", pin).groups()
        if ";" not in pin:
            assert metadata.version(name) == version


def test_conda_environment_is_made_from_the_lock():
    text = (ROOT / "environment.yml").read_text()
    assert text == conda_environment.environment(LOCK), "run make lock"
    environment = yaml.safe_load(text)
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert pip[-1] == "-e ."
    assert len(pip) - 1 == len(re.findall(r"^[\w-]+==", LOCK, re.MULTILINE))


def test_every_dependency_says_why_it_is_there():
    text = (ROOT / "pyproject.toml").read_text()
    for requirement in declared():
        line = next(line for line in text.splitlines() if f'"{requirement}"' in line)
        assert re.search(r"# \S.{10,}", line), line


def test_readme_opens_with_a_figure_and_the_two_commands():
    figure, commands = README.index("!["), README.index("make book")
    assert figure < commands < README.index("make test") < 3000
    assert (ROOT / re.search(r"!\[.+\]\((.+?)\)", README)[1]).is_file()


@pytest.mark.parametrize("page", ["README.md", "book/howto.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_every_command_that_is_named_exists(page):
    text = (ROOT / page).read_text()
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    assert named and named <= targets
    wanted = {"book", "test", "test-fast", "lint", "site", "pdf", "notebooks", "lab", "bench", "env", "lock", "clean"}
    assert wanted <= targets


def imported(file):
    """The modules of gaplib that a file imports, by the first name after `gaplib`."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "gaplib":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gaplib."):
            yield node.module.split(".")[1]


def test_the_map_of_the_code_is_complete_and_imports_point_up():
    table = re.search(r"\| module of `gaplib` \|.+?\n\n", CONTRIBUTING, re.DOTALL)[0]
    order = [name for line in table.strip().splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    files = {file: file.relative_to(ROOT / "gaplib").parts[0] for file in (ROOT / "gaplib").rglob("*.py")}
    files = {file: name.removesuffix(".py") for file, name in files.items() if not name.startswith("__")}
    assert sorted(order) == sorted(set(files.values()))
    upward = [(name, other) for file, name in files.items() for other in imported(file) if other != name]
    assert len(upward) > 10
    assert [(name, other) for name, other in upward if order.index(other) >= order.index(name)] == []


def test_the_paths_and_modules_that_contributing_names_exist():
    named = re.findall(r"`((?:book|gaplib|tests|tools)/[\w./]+|\w+\.(?:md|lock|yml))`", CONTRIBUTING)
    assert len(named) > 8
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_map_names_every_tool_and_folder():
    map_of_files = re.search(r"```\n(_config.yml.+?)```", CONTRIBUTING, re.DOTALL)[1]
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    folders = {f"{path.split('/')[0]}/" for path in tracked if "/" in path}
    assert [name for name in sorted(folders) if name not in map_of_files] == []
    tools = [path.name for path in (ROOT / "tools").glob("*.py")]
    assert [name for name in sorted(tools) if name not in map_of_files] == []


def test_the_quick_question_that_contributing_shows_has_the_form_that_is_checked():
    import test_notebooks

    form = re.search(r"```markdown\n(::::\{admonition\} Quick.+?)\n```", CONTRIBUTING, re.DOTALL)[1]
    shown = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(form)])
    assert len(list(test_notebooks.quick_questions(shown))) == 1


def test_changelog_has_the_version():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert PROJECT["project"]["version"] in text
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= {
        "Added",
        "Changed",
        "Deprecated",
        "Removed",
        "Fixed",
        "Security",
    }


def test_the_readme_s_example_prints_what_it_says():
    code = re.search(r"```python\n(.+?)```", README, re.DOTALL)[1]
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == re.search(r"# (0\.65 .+)", code)[1]


def test_supported_pythons_agree():
    assert PROJECT["project"]["requires-python"] == ">=3.11,<3.14"
    assert "(3, 11) <= sys.version_info[:2] <= (3, 13)" in MAKEFILE


def test_licences_and_citation():
    assert "BSD 3-Clause License" in (ROOT / "LICENSE").read_text()
    assert "Attribution 4.0 International" in (ROOT / "LICENSE-CC-BY-4.0.txt").read_text()
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["project"]["version"]
    assert citation["references"][0]["title"] == "Context-Aware Generative Adversarial Privacy"


def test_no_lock_with_host_names_is_tracked():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    assert not {"uv.lock", "pylock.toml"} & set(tracked)


THEORY = "from gaplib import models, mechanisms, leakage, losses, binary"


def test_theory_loads_neither_tensorflow_nor_matplotlib():
    heavy = {"tensorflow", "keras", "matplotlib", "IPython", "cvxpy"}
    code = f"{THEORY}; import sys; print(sorted({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "[]", run.stderr


def test_import_takes_less_than_half_a_second():
    # Processor time: on a busy machine the clock on the wall measures the neighbours.
    code = f"import time; start = time.process_time(); {THEORY}; print(time.process_time() - start)"
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(5)
    ]
    assert statistics.median(times) < 0.5
