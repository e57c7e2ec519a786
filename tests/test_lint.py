"""Style, layout, types and imports of the code, and the hooks that run before a commit."""

import re
import shutil
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
import yaml
from project import ROOT, python, run, tracked

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
COMMITTED = ROOT / "notebooks" / "03_binary_pdd.ipynb"


# Ruff


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=["mistakes", "layout"])
def test_ruff_finds_nothing(command):
    result = python("-m", "ruff", *command)
    assert result.returncode == 0, result.stdout


def test_ruff_looks_at_everything():
    lines = python("-m", "ruff", "check", "--show-files").stdout.splitlines()
    assert set(map(Path, tracked("*.py", "*.ipynb"))) <= {Path(line).relative_to(ROOT) for line in lines}


MISTAKES = {
    "gaplib/new.py": ("import os\n", {"F401", "D100"}),
    "gaplib/other.py": ('"""A module."""\n\n\ndef f(x=[]):\n    return x\n', {"B006", "D103"}),
    "gaplib/one.py": ('"""A module."""\n\nimport numpy as np\n\nnp.random.seed(0)\n', {"NPY002"}),
    "tests/test_new.py": (f"x = '{'long' * 30}'\n", {"E501"}),
    "notebooks/conftest.py": ("import os\n\nx = undefined\n", {"F401", "F821"}),
}


@pytest.mark.parametrize("path", MISTAKES)
def test_ruff_finds_mistakes(path):
    source, expected = MISTAKES[path]
    options = ["--output-format", "concise", "--stdin-filename", ROOT / path]
    result = python("-m", "ruff", "check", *options, "-", input=source)
    assert set(re.findall(r": ([A-Z]+\d+) ", result.stdout)) == expected, result.stdout


# Types

READ_BY_MYPY = ROOT / ".mypy_cache"  # all runs share it: to read NumPy takes longest
MYPY = "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", READ_BY_MYPY


def test_library_tools_and_extensions_have_no_type_error():
    result = python(*MYPY)
    assert result.returncode == 0, result.stdout
    files = int(re.search(r"in (\d+) source files", result.stdout)[1])
    assert files == sum(len(list((ROOT / folder).rglob("*.py"))) for folder in ("gaplib", "tools", "book/_ext"))


PROGRAM = """
import numpy as np
from gaplib import leakage, losses
from gaplib.binary import optimal_pdd
from gaplib.models import BinaryModel, GaussianMixture
from gaplib.training import Game, train

model = BinaryModel([[0.25, 0.25], [0.1, 0.4]])
value: float = optimal_pdd(model, 0.1).value + leakage.map_accuracy(model, optimal_pdd(model, D=1).mechanism)
costs: np.ndarray = losses.log_loss([0.5, 1])
results = train([Game(GaussianMixture(prior=0.5, mu=3, var0=1, var1=1), 1.0), Game(([0, 1], [0, 1]), 0.1)], seed=[0, 1])
accuracy: float = results[0].test_accuracy
"""
WRONG = {
    "optimal_pdd(model, '0.1')": "arg-type",
    "optimal_pdd(model)": "call-arg",
    "BinaryModel.xor(0.5, 0.25).prior": "attr-defined",
    "GaussianMixture.from_sample([1, 2], None)": "arg-type",
    "train([model])": "list-item",
    "results[0].mechanism.s00": "union-attr",
}


def test_the_types_that_a_user_sees(tmp_path):
    (tmp_path / "right.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(PROGRAM + "\n".join(WRONG) + "\n")
    files = ["right.py", "wrong.py"]
    result = python(*MYPY, *files, cwd=tmp_path, MYPYPATH=str(ROOT))
    errors = re.findall(r"^(\w+)\.py:(\d+): error: .*\[([\w-]+)\]", result.stdout, re.MULTILINE)
    first = PROGRAM.count("\n") + 1
    # A wrong line may be wrong in more than one way.
    assert dict.fromkeys(errors).keys() >= {("wrong", str(first + i), kind) for i, kind in enumerate(WRONG.values())}, (
        result.stdout
    )
    assert {file for file, _, _ in errors} == {"wrong"}, result.stdout
    assert {int(line) for _, line, _ in errors} == set(range(first, first + len(WRONG))), result.stdout


def test_a_function_without_types_is_refused(tmp_path):
    (tmp_path / "new.py").write_text("def f(x):\n    return x\n")
    result = python(*MYPY, "new.py", cwd=tmp_path)
    assert "[no-untyped-def]" in result.stdout


# Imports

LINT_IMPORTS = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"]
CONTRACTS = {contract["id"]: contract for contract in PROJECT["tool"]["importlinter"]["contracts"]}


def test_imports_keep_every_contract():
    result = run(*LINT_IMPORTS)
    assert result.returncode == 0, result.stdout


# A module and a line that breaks the contract.
VIOLATIONS = {
    "layers": ("leakage.py", "from gaplib import binary"),
    "book": ("book/notebook.py", "from gaplib.book import sweep"),
    "training": ("training/adversaries.py", "from gaplib.training import engine"),
    "mechanisms": ("mechanisms/finite.py", "from gaplib.mechanisms import affine"),
    "tabular": ("tabular/columns.py", "from gaplib.tabular import command"),
    "learned": ("tabular/plans.py", "def late():\n    from gaplib.training import train"),
    "tables": ("leakage.py", "def late():\n    import pandas"),
    "circles": ("training/samples.py", "from gaplib.training import train"),
    "tensorflow": ("gaussian.py", "def late():\n    import tensorflow"),
    "notebooks": ("jobs/__init__.py", "import papermill"),
    "dask": ("training/train.py", "from dask import delayed"),
    "solvers": ("mechanisms/saved.py", "import pulp"),
}


def test_every_contract_is_broken_once():
    assert set(VIOLATIONS) == set(CONTRACTS)


@pytest.mark.parametrize("contract", VIOLATIONS)
def test_a_broken_contract_is_found(contract, tmp_path):
    module, line = VIOLATIONS[contract]
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "gaplib", tmp_path / "gaplib")
    with open(tmp_path / "gaplib" / module, "a") as file:
        file.write(f"\n\n{line}\n")
    result = run(*LINT_IMPORTS, "--contract", contract, cwd=tmp_path)
    assert result.returncode != 0, result.stdout
    squeezed = "".join(result.stdout.split())  # the tool wraps names, and may leave no space behind them
    assert f"{CONTRACTS[contract]['name']}BROKEN".replace(" ", "") in squeezed


# Hooks


def test_hooks_come_from_the_lock_and_run_what_make_lint_runs():
    extras = PROJECT["project"]["optional-dependencies"]["test"]
    assert {"ruff", "mypy", "import-linter", "pre-commit"} <= {re.match(r"[\w-]+", line)[0] for line in extras}
    hooks = [hook for repo in HOOKS["repos"] for hook in repo["hooks"]]
    assert [repo["repo"] for repo in HOOKS["repos"]] == ["local"]
    assert all(hook["language"] == "system" and hook["entry"].startswith(".venv/bin/") for hook in hooks)
    (recipe,) = re.findall(r"^lint: env\n((?:\t.+\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    tools = {line.split("/")[1].split()[0] for line in recipe.splitlines()}
    assert tools == {"ruff", "mypy", "lint-imports"}
    assert tools < {re.split(r"[/ ]", hook["entry"])[2] for hook in hooks}


@pytest.fixture
def commit(tmp_path):
    """A function that runs the hooks over files of a repository of our settings; returns the finished process."""
    for name in (".pre-commit-config.yaml", "pyproject.toml", "notebooks/ruff.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for folder in ("tools", "book/_ext"):  # the second for what the first import
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / ".venv").symlink_to(sys.prefix)
    assert run("git", "init", "-q", cwd=tmp_path).returncode == 0

    def commit(path):
        assert run("git", "add", path, cwd=tmp_path).returncode == 0
        # A program that would fetch anything finds no way out.
        away = dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")
        caches = {"PRE_COMMIT_HOME": str(tmp_path / "cache"), "MYPY_CACHE_DIR": str(READ_BY_MYPY)}
        arguments = ["run", "--color", "never", "--files", path]
        return python("-m", "pre_commit", *arguments, cwd=tmp_path, **caches, **away)

    return commit


@pytest.mark.slow
def test_hooks_pass_a_committed_notebook(commit, tmp_path):
    copy = tmp_path / "notebooks" / COMMITTED.name
    shutil.copy(COMMITTED, copy)
    result = commit(copy)
    assert result.returncode == 0 and result.stdout.count("Passed") == 2, result.stdout
    assert copy.read_bytes() == COMMITTED.read_bytes()


@pytest.mark.slow
def test_hooks_normalize_a_notebook_that_was_opened_and_saved(commit, tmp_path):
    copy = tmp_path / "notebooks" / COMMITTED.name
    notebook = nbformat.read(COMMITTED, as_version=4)
    notebook.metadata["language_info"]["version"] = "3.11.0"
    for cell in notebook.cells:
        cell.metadata["collapsed"] = False
        cell.metadata["execution"] = {"iopub.execute_input": "2020-01-01T00:00:00Z"}
    nbformat.write(notebook, copy)
    assert copy.read_bytes() != COMMITTED.read_bytes()
    result = commit(copy)
    assert result.returncode != 0 and "files were modified by this hook" in result.stdout, result.stdout
    assert copy.read_bytes() == COMMITTED.read_bytes()


@pytest.mark.slow
def test_hooks_refuse_a_notebook_whose_outputs_are_stale(commit, tmp_path):
    copy = tmp_path / "notebooks" / COMMITTED.name
    notebook = nbformat.read(COMMITTED, as_version=4)
    notebook.cells[-1].source += "\n"
    nbformat.write(notebook, copy)
    dirty = copy.read_bytes()
    result = commit(copy)
    assert result.returncode != 0, result.stdout
    assert re.search(r"its code was edited, and not run .*; run: \.venv/bin/python tools/notebooks\.py", result.stdout)
    assert copy.read_bytes() == dirty


@pytest.mark.slow
def test_hooks_refuse_cells_that_ran_in_another_order(commit, tmp_path):
    copy = tmp_path / "notebooks" / COMMITTED.name
    notebook = nbformat.read(COMMITTED, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    code[0].execution_count, code[1].execution_count = 2, 1
    nbformat.write(notebook, copy)
    result = commit(copy)
    assert result.returncode != 0 and "were not run from top to bottom" in result.stdout, result.stdout


@pytest.mark.slow
def test_hooks_refuse_stderr(commit, tmp_path):
    copy = tmp_path / "notebooks" / COMMITTED.name
    notebook = nbformat.read(COMMITTED, as_version=4)
    notebook.cells[-1].outputs.append(nbformat.v4.new_output("stream", name="stderr", text="a warning"))
    nbformat.write(notebook, copy)
    result = commit(copy)
    assert result.returncode != 0 and "a cell writes to stderr" in result.stdout, result.stdout


@pytest.mark.slow
def test_hooks_mend_the_layout_of_code(commit, tmp_path):
    program = tmp_path / "tools" / "new.py"
    program.write_text('"""A program."""\nimport os\nprint( 1 )\n')
    result = commit(program)
    assert result.returncode != 0, result.stdout
    assert program.read_text() == '"""A program."""\n\nprint(1)\n'
