"""Which runs a sweep consists of: every combination of the values of its parameters, each with a name of its own."""

import hashlib
import itertools
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from gaplib.book import chapters, parameters
from gaplib.book.parameters import Parameter
from gaplib.book.sweep import fingerprint, grid
from gaplib.book.sweep.grid import MOST_RUNS
from gaplib.book.sweep.versions import versions

# Names of files: short enough for any file system, with the digest that tells runs apart.
_READABLE, _DIGEST = 80, 16


@dataclass(frozen=True)
class Run:
    """One run: all parameters of the notebook with their values, and a name that belongs to them alone."""

    name: str
    parameters: dict


@dataclass(frozen=True)
class Plan:
    """A sweep.

    Attributes
    ----------
    notebook : str
        The notebook's name.
    folder : str
        Where it lies, and so where other chapters are looked for.
    source : str
        The notebook to run, as JSON, without outputs.
    swept : dict of str to list
        The parameters with several values, and those values.
    fixed : dict
        The other parameters.
    runs : list of Run
        Every combination, the last of the swept parameters changing fastest.
    versions : dict of str to str
        What computes: packages, and a digest of what the notebook uses of gaplib.
    """

    notebook: str
    folder: str
    source: str
    swept: dict
    fixed: dict
    runs: list
    versions: dict


def make_plan(notebook: str, given: list[tuple[str, str]], axes: list[str], seeds: int | None) -> Plan:
    """Return the plan of a sweep. No cell of the notebook is executed.

    Parameters
    ----------
    notebook : str
        The path of a notebook, or the name of a chapter, such as ``"03_binary_pdd"``.
    given : list of (name, text)
        Parameters that have the same value in all runs.
    axes : list of str
        Parameters that vary, such as ``"D=1:9"``, ``"D=0:1:0.25"`` or ``"prior=.5,.75"``. Ends are included.
    seeds : int or None
        Number of runs with seeds of their own, from the notebook's parameter ``seed`` on.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        If the file is no notebook or its parameters are not declared, a name is not a parameter or is given twice, a
        value is not allowed, or the plan has more than a million runs.
    TypeError
        If a value has the wrong type.
    FileNotFoundError
        If there is no such notebook.
    """
    path = chapters.find(notebook)
    content = read(path)
    declared = parameters.declared(content)
    refuse_unknown_and_repeated([name for name, _ in [*given, *map(grid.split, axes)]], declared)
    values = {name: parameter.default for name, parameter in declared.items()}
    values |= {name: declared[name].parse(text) for name, text in given}
    swept = {name: grid.values(declared[name], spec) for name, spec in map(grid.split, axes)}
    if seeds is not None:
        swept["seed"] = seed_axis(seeds, values, swept, declared)
    size = math.prod(len(axis) for axis in swept.values())
    if size > MOST_RUNS:
        raise ValueError(f"a sweep must have at most {MOST_RUNS:,} runs, got {size:,}")
    now = versions(content)
    identity = {"code": fingerprint.of_cells(content), "versions": now}
    points = (values | dict(zip(swept, point, strict=True)) for point in itertools.product(*swept.values()))
    runs = [Run(name_of(point, declared, identity), point) for point in points]
    fixed = {name: value for name, value in values.items() if name not in swept}
    return Plan(path.stem, str(path.resolve().parent), without_outputs(content), swept, fixed, runs, now)


def read(path: Path) -> nbformat.NotebookNode:
    """Return a notebook."""
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:  # of what a damaged file makes of the readers, each has its own kind
        raise ValueError(f"notebook must be a Jupyter notebook, got {path}: {type(error).__name__}") from error


def refuse_unknown_and_repeated(names: list[str], declared: dict[str, Parameter]) -> None:
    """Refuse a name that is not a parameter, in the words of the notebook itself, or that is given twice."""
    for name in names:
        if name not in declared:
            raise ValueError(parameters.unknown(name, declared))
        if names.count(name) > 1:
            raise ValueError(f"parameter {name!r} is given more than once")


def seed_axis(seeds: int, values: dict, swept: dict, declared: dict[str, Parameter]) -> list[int]:
    """Return the first seeds of the runs: with a parameter ``seeds`` a run uses so many, and the next begins there."""
    if not isinstance(values.get("seed"), int):
        raise ValueError(
            "--seeds needs a notebook with an integer parameter 'seed'; this one has: " + ", ".join(values)
        )
    if "seed" in swept or "seeds" in swept:
        raise ValueError("--seeds sets 'seed'; it cannot be combined with a grid of 'seed' or 'seeds'")
    if not 1 <= seeds <= MOST_RUNS:
        raise ValueError(f"--seeds must be an integer in [1, {MOST_RUNS:,}], got {seeds:,}")
    used = values.get("seeds", 1)
    width = max(1, used) if isinstance(used, int) else 1
    found = [values["seed"] + i * width for i in range(seeds)]
    for value in found:
        declared["seed"].check(value)
    return found


def listed(values: list) -> str:
    """Return values in words; of many, the first and the last."""
    texts = [str(value) for value in values]
    if len(texts) > 12:
        texts = [*texts[:3], "...", texts[-1]]
    return f"{', '.join(texts)}" + (f" ({len(values)} values)" if len(values) > 12 else "")


def without_outputs(content: nbformat.NotebookNode) -> str:
    """Return the notebook as JSON, without outputs, which every run makes anew."""
    content = nbformat.from_dict(content)
    for cell in content.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return nbformat.writes(content)


def name_of(point: dict[str, Any], declared: dict[str, Parameter], identity: dict) -> str:
    """Return a name for the files of a run: what is not as the notebook has it, and a digest of all that matters.

    It does not depend on the sweep, so that a larger grid finds the runs of a smaller one.
    """
    said = ",".join(f"{name}={value}" for name, value in point.items() if value != declared[name].default)
    safe = re.sub(r"[^\w.,=+-]", "_", said).encode()[:_READABLE]  # file systems count bytes
    readable = safe.decode(errors="ignore") or "defaults"
    whole = json.dumps(identity | {"parameters": point}, sort_keys=True)
    return f"{readable}-{hashlib.sha256(whole.encode()).hexdigest()[:_DIGEST]}"
