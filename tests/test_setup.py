"""What a fresh clone promises: the lock, the environments, the commands, the licences, a quick import."""

import json
import re
import tomllib
from importlib import metadata

import conda_environment
import nbformat
import numpy as np
import pytest
import yaml
from project import ROOT, python, tracked
from test_notebooks import quick_questions

from gaplib.models import GaussianMixture

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
        assert re.match(r"[a-z0-9-]+(\[[\w-]+\])?==\S+", entry), entry[:80]
        assert "--hash=sha256:" in entry, entry[:80]
    assert "://" not in LOCK and "index-url" not in LOCK


def test_lock_has_what_the_project_asks_for():
    locked = {canonical(re.match(r"[\w-]+", pin)[0]) for pin in conda_environment.pins(LOCK)}
    wanted = [*declared(), *PROJECT["build-system"]["requires"]]
    assert {canonical(re.match(r"[\w-]+", requirement)[0]) for requirement in wanted} <= locked


def test_installed_versions_are_the_locked_ones():
    for pin in conda_environment.pins(LOCK):
        name, version = re.match(r"([\w-]+)(?:\[[\w-]+\])?==([\w.+]+)", pin).groups()
        if ";" not in pin:
            assert metadata.version(name) == version


def test_conda_environment_is_made_from_the_lock():
    text = (ROOT / "environment.yml").read_text()
    assert text == conda_environment.environment(LOCK), "run make lock"
    environment = yaml.safe_load(text)
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert pip[-1] == "-e ."
    assert len(pip) - 1 == len(re.findall(r"^[\w-]+(?:\[[\w-]+\])?==", LOCK, re.MULTILINE))


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


def section(title):
    """One section of CONTRIBUTING."""
    return re.search(rf"^## {title}\n(.+?)(?=^## )", CONTRIBUTING, re.DOTALL | re.MULTILINE)[1]


def named(text):
    """What the first columns of the tables in a text name."""
    rows = re.findall(r"^\| (`.+?) \|", text, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_the_map_of_the_library_names_every_module():
    library = ROOT / "gaplib"
    paths = [path for part in (".", "training", "jobs", "tabular", "book") for path in (library / part).iterdir()]
    modules = {path for path in paths if path.suffix == ".py" and path.name != "__init__.py"}
    packages = {path.parent for path in library.rglob("*/__init__.py")}
    names = {path.relative_to(library).with_suffix("").as_posix() for path in modules}
    names |= {f"{path.relative_to(library)}/" for path in packages}
    shown = named(section("Map of the library"))
    assert len(shown) == len(set(shown))
    assert set(shown) <= names
    assert {name for name in names - set(shown) if not name.startswith("_")} == set()


def test_the_map_of_the_core_has_the_order_of_the_contract():
    (contract,) = [one for one in PROJECT["tool"]["importlinter"]["contracts"] if one["id"] == "layers"]
    order = [name for layer in contract["layers"] for name in re.findall(r"\w+", layer)]
    core = [name for name in named(section("Map of the library")) if name in order and name != "__main__"]
    assert len(core) > 5
    assert core == sorted(core, key=order.index)


def test_the_map_of_the_repository_names_every_tool_and_folder():
    shown = named(section("Map of the repository"))
    folders = {f"{path.split('/')[0]}/" for path in tracked() if "/" in path}
    tools = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tools").glob("*.py")}
    assert folders | tools <= set(shown)


def test_the_paths_that_contributing_names_exist():
    text = CONTRIBUTING.replace(section("Map of the library"), "")  # whose names are relative to gaplib
    paths = re.findall(r"`((?:book|gaplib|tests|tools)/[\w./]+|\w+\.(?:md|lock|yml))`", text)
    assert len(paths) > 8
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_privatizer_that_contributing_shows_is_trained():
    from gaplib.training import Game, train  # here, because TensorFlow takes seconds to import

    code = re.search(r"```python\n(.+?)```", section("Add a privatizer"), re.DOTALL)[1]
    shown = {"__name__": "shown"}
    exec(code, shown)
    model = GaussianMixture(prior=0.75, mu=2, var0=1, var1=2)
    (result,) = train([Game(model, 2.0, "pdi", privatizer=shown["ErasingPrivatizer"]())], steps=20)
    x, y = model.sample(1000, seed=1)
    assert (
        result.mechanism.p0 == result.mechanism.p1 > 1 / (1 + np.exp(2))
    )  # the budget allows more than the start uses
    released = result.mechanism.privatize(x, y, seed=2)
    assert set(released[released != x]) == {result.mechanism.value}


def test_the_quick_question_that_contributing_shows_has_the_form_that_is_checked():
    form = re.search(r"```markdown\n(::::\{admonition\} Quick.+?)\n```", CONTRIBUTING, re.DOTALL)[1]
    shown = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(form)])
    assert len(list(quick_questions(shown))) == 1


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
    assert python("-c", code).stdout.strip() == re.search(r"# (0\.65 .+)", code)[1]


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
    assert not {"uv.lock", "pylock.toml"} & set(tracked())


# All of the core, as a chapter on theory imports it.
THEORY = "from gaplib import models, mechanisms, leakage, losses, optimum, binary, gaussian"
# Slow to load, and needed by the core only when it is called, or not at all.
SLOW = {"IPython", "cvxpy", "dask", "keras", "matplotlib", "nbformat", "pandas", "sympy", "tensorflow"}
SLOW |= {"pyarrow", "sklearn"}
SLOW |= {f"scipy.{part}" for part in ("integrate", "linalg", "optimize", "special", "stats")}
REPETITIONS = 7  # of the import; the first may have to compile the files


def test_theory_loads_nothing_slow():
    code = f"{THEORY}; import json, sys; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(python("-c", code).stdout))
    assert {"gaplib.gaussian", "numpy", "scipy"} <= loaded
    assert SLOW & loaded == set()


def test_training_loads_keras_only_for_those_who_use_it():
    code = """if True:
        import sys
        from gaplib.training import _tensorflow
        assert not {"keras", "matplotlib", "pandas", "sklearn"} & set(sys.modules)
        adam = _tensorflow.tf.keras.optimizers.Adam
        import keras
        assert adam is keras.optimizers.Adam
    """
    assert python("-c", code).stdout == ""


def test_import_of_the_theory_takes_less_than_a_fifth_of_a_second():
    # Processor time, because elapsed time includes what else the machine does. The smallest of several, because busy
    # neighbours, with whom a process shares its caches, can only add to it.
    code = f"import time; start = time.process_time(); {THEORY}; print(time.process_time() - start)"
    assert min(float(python("-c", code).stdout) for _ in range(REPETITIONS)) < 0.2
