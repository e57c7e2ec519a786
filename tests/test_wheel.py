"""A built wheel, installed by itself outside the clone: the theory, and the commands on tables."""

import os
import re
import tomllib
import venv
import zipfile

import numpy as np
import pytest
from project import ROOT, python, run, tracked

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
# Not part of what a data holder installs.
BOOK = {"tensorflow", "keras", "jupyterlab", "ipython", "matplotlib", "sphinx", "papermill", "dask", "distributed"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    # From a copy of what is under version control: a build leaves folders beside the sources.
    for path in tracked("pyproject.toml", "README.md", "LICENSE", "gaplib"):
        (folder / "source" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "source" / path).write_bytes((ROOT / path).read_bytes())
    words = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--wheel-dir", folder, folder / "source"]
    built = python("-m", "pip", "wheel", *words)
    assert built.returncode == 0, built.stdout
    (path,) = folder.glob("gaplib-*.whl")
    return path


def names(requirements):
    return {re.match(r"[\w-]+", requirement)[0].lower() for requirement in requirements}


def test_the_theory_and_the_table_need_neither_tensorflow_nor_the_book():
    assert names(PROJECT["project"]["dependencies"]) == {"numpy", "scipy", "pulp", "highspy"}
    assert not BOOK & names(EXTRAS["tabular"])
    assert "tensorflow" in names(EXTRAS["training"]) and names(EXTRAS["training"]) <= names(EXTRAS["book"])
    assert names(EXTRAS["tabular"]) <= names(EXTRAS["book"])


@pytest.mark.slow
def test_the_wheel_has_every_package_and_its_files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    assert {path for path in tracked("gaplib") if not path.endswith(".md")} <= inside
    assert PROJECT["project"]["version"] in wheel.name


@pytest.mark.slow
def test_the_command_runs_where_nothing_else_is_installed(wheel, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    interpreter = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    clean = {"PYTHONPATH": "", "PYTHONNOUSERSITE": "1"}
    words = ["install", "--quiet", "--disable-pip-version-check", f"gaplib[tabular] @ {wheel.as_uri()}"]
    installed = run(interpreter, "-m", "pip", *words, cwd=tmp_path, **clean)
    if re.search(
        "No matching distribution|Could not find a version|Temporary failure|NewConnectionError", installed.stdout
    ):
        pytest.skip(f"the packages of gaplib[tabular] cannot be had here: {installed.stdout.strip().splitlines()[-1]}")
    assert installed.returncode == 0, installed.stdout
    listed = run(interpreter, "-m", "pip", "list", "--format=freeze", cwd=tmp_path, **clean).stdout.lower()
    assert not BOOK & set(re.findall(r"^([\w-]+)==", listed, re.MULTILINE))
    theory = (
        "from gaplib import transport, models; print(transport.optimal_pdd(models.GaussianMixture(.5, 1, 1, 1), .1))"
    )
    assert run(interpreter, "-c", theory, cwd=tmp_path, **clean).returncode == 0

    random = np.random.default_rng(0)
    lines = [f"{'mf'[y]},{170 - 10 * y + random.normal(0, 7):.2f}" for y in random.integers(0, 2, 300)]
    (tmp_path / "table.csv").write_text("\n".join(["sex,height", *lines]) + "\n")
    words = ["release", "table.csv", "--private", "sex", "--budget", "0.3", "--out", "released.csv", "--save", "m.npz"]
    released = run(interpreter, "-m", "gaplib", *words, "--report", "report.html", cwd=tmp_path, **clean)
    assert released.returncode == 0, released.stdout
    assert len((tmp_path / "released.csv").read_text().splitlines()) == 301
    audited = run(
        interpreter, "-m", "gaplib", "audit", "table.csv", "released.csv", "--private", "sex", cwd=tmp_path, **clean
    )
    assert audited.returncode == 0 and "gradient boosting" in audited.stdout
    # What a network and what the book needs is asked for in words.
    words = ["release", "table.csv", "--private", "sex", "--budget", "0.3", "--method", "neural", "--out", "n.csv"]
    learned = run(interpreter, "-m", "gaplib", *words, cwd=tmp_path, **clean)
    assert learned.returncode == 2 and learned.stdout.strip().endswith(
        "install gaplib with its extras training,tabular"
    )
    assert "Traceback" not in learned.stdout and not (tmp_path / "n.csv").exists()
    swept = run(interpreter, "-m", "gaplib", "sweep", "03_binary_pdd", cwd=tmp_path, **clean)
    assert swept.returncode != 0 and "the extra book of gaplib" in swept.stdout and "Traceback" not in swept.stdout
