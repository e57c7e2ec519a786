"""Which runs a sweep consists of: every combination of the values of its parameters, each with a name of its own."""

import ast
import hashlib
import itertools
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import nbformat
from papermill import inspect_notebook

from gaplib import _checks
from gaplib.book import notebook as helper
from gaplib.book.sweep.versions import versions

# A slip of the keyboard such as 0:1e9:1e-3 should fail at once, not fill the memory.
LARGEST = 1_000_000
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
    source : str
        The notebook to run, as JSON, without outputs.
    swept : dict of str to list
        The parameters with several values, and those values.
    fixed : dict
        The other parameters.
    runs : list of Run
        Every combination, the last of the swept parameters changing fastest.
    versions : dict of str to str
        What computes: packages, and a digest of gaplib's own source.
    """

    notebook: str
    source: str
    swept: dict
    fixed: dict
    runs: list
    versions: dict


def make_plan(notebook: str, given: list, grid: list, seeds: int | None) -> Plan:
    """Return the plan of a sweep.

    Parameters
    ----------
    notebook : str
        The path of a notebook, or the name of a committed one, such as ``"03_binary_pdd"``.
    given : list of (name, text)
        Parameters that have the same value in all runs.
    grid : list of str
        Parameters that vary, such as ``"D=1:9"``, ``"D=0:1:0.25"`` or ``"prior=.5,.75"``. Ends are included.
    seeds : int or None
        Number of runs with seeds of their own, from the notebook's parameter ``seed`` on.

    Raises
    ------
    ValueError
        If a name is not a parameter of the notebook or is given twice, a value is out of its range, or the plan
        has more than a million runs.
    TypeError
        If a value has the wrong type.
    FileNotFoundError
        If there is no such notebook.
    """
    path = find(notebook)
    declared = parameters_of(path)
    values = {name: declared[name].default for name in declared}
    kinds = {name: declared[name].kind for name in declared}
    swept = {}
    named = [name for name, _ in given] + [name for name, _ in map(split_axis, grid)]
    for name in named:
        known(name, kinds)
        if named.count(name) > 1:
            raise ValueError(f"parameter {name!r} is given more than once")
    for name, text in given:
        values[name] = parse(name, text, kinds[name])
    for name, spec in map(split_axis, grid):
        swept[name] = axis(name, spec, kinds[name])
    if seeds is not None:
        swept["seed"] = seed_axis(seeds, values, swept)
    size = math.prod(len(axis) for axis in swept.values())
    if size > LARGEST:
        raise ValueError(f"a sweep must have at most {LARGEST:,} runs, got {size:,}")
    content = nbformat.read(path, as_version=4)
    now = versions()
    identity = {"code": digest(content), "versions": now}
    points = [values | dict(zip(swept, point, strict=True)) for point in itertools.product(*swept.values())]
    check_points(content, points)
    defaults = {name: said.default for name, said in declared.items()}
    runs = [Run(name_of(point, defaults, identity), point) for point in points]
    fixed = {name: value for name, value in values.items() if name not in swept}
    return Plan(path.stem, without_outputs(content), swept, fixed, runs, now)


def find(notebook: str) -> Path:
    """Return the path of a notebook, given as a path or as the name of a committed one."""
    for path in (Path(notebook), helper.COMMITTED / notebook, helper.COMMITTED / f"{notebook}.ipynb"):
        if path.suffix == ".ipynb" and path.is_file():
            return path
    raise FileNotFoundError(f"notebook must be the path of a notebook or the name of a committed one, got {notebook!r}")


@dataclass(frozen=True)
class Parameter:
    """What the parameters cell says of one parameter."""

    kind: str
    default: object


def parameters_of(path: Path) -> dict[str, Parameter]:
    """Return the parameters of a notebook by name, in its order."""
    found = {}
    unformatted = str(path).replace("{", "{{").replace("}", "}}")  # papermill fills in what stands in braces
    for name, said in inspect_notebook(unformatted).items():
        kind, default = said["inferred_type_name"], literal(name, said["default"])
        if kind not in _PARSERS:  # not annotated: as the default is
            kind = type(default).__name__
        found[name] = Parameter(kind, float(default) if kind == "float" and isinstance(default, int) else default)
    return found


def literal(name: str, text: str) -> object:
    """Return the default of a parameter."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise ValueError(f"the default of parameter {name!r} must be written as a literal, got {text!r}") from None


def known(name: str, kinds: dict) -> None:
    """Refuse a name that is not a parameter, in the words of the notebook itself."""
    if name not in kinds:
        raise ValueError(_checks.unknown_parameter(name, kinds))


def split_axis(text: str) -> tuple[str, str]:
    """Return the name and the values of ``NAME=VALUES``."""
    name, sign, spec = text.partition("=")
    if not (sign and name and spec):
        raise ValueError(f"grid must be NAME=VALUES, such as D=1:9 or prior=.5,.75, got {text!r}")
    return name.strip(), spec


def axis(name: str, spec: str, kind: str) -> list:
    """Return the values that ``1:9``, ``0:1:0.25`` or ``.5,.75`` stands for, each once, in the order given."""
    texts = []
    for part in spec.split(","):
        texts += steps(name, part) if ":" in part and kind in ("float", "int") else [part]
        if len(texts) > LARGEST:
            raise ValueError(f"{name} must have at most {LARGEST:,} values, got {spec!r}")
    return list({repr(value): value for value in (parse(name, text, kind) for text in texts)}.values())


def steps(name: str, part: str) -> list[str]:
    """Return the numbers from FIRST to LAST, both included: FIRST:LAST or FIRST:LAST:STEP, in exact decimals."""
    allowed = f"{name} must be FIRST:LAST or FIRST:LAST:STEP, with STEP > 0 and LAST >= FIRST, got {part!r}"
    try:
        first, last, step = [Decimal(text.strip()) for text in [*part.split(":"), "1"][:3]]
        number = int((last - first) / step) + 1
    except (ArithmeticError, ValueError):
        raise ValueError(allowed) from None
    if (
        part.count(":") > 2
        or not all(number.is_finite() for number in (first, last, step))
        or step <= 0
        or last < first
    ):
        raise ValueError(allowed)
    if number > LARGEST:
        raise ValueError(f"{name} must have at most {LARGEST:,} values, got {part!r}")
    return [format(first + i * step, "f") for i in range(number)]


def seed_axis(seeds: int, values: dict, swept: dict) -> list[int]:
    """Return the first seeds of the runs: with a parameter ``seeds`` a run uses so many, and the next begins there."""
    if "seed" not in values:
        raise ValueError("--seeds needs a notebook with the parameter 'seed'; this one has: " + ", ".join(values))
    if "seed" in swept or "seeds" in swept:
        raise ValueError("--seeds sets 'seed'; it cannot be combined with a grid of 'seed' or 'seeds'")
    if seeds < 1:
        raise ValueError(f"--seeds must be an integer >= 1, got {seeds}")
    width = max(1, values.get("seeds", 1))
    return [values["seed"] + i * width for i in range(seeds)]


def listed(values: list) -> str:
    """Return values in words; of many, the first and the last."""
    texts = [str(value) for value in values]
    if len(texts) > 12:
        texts = [*texts[:3], "...", texts[-1]]
    return f"{', '.join(texts)}" + (f" ({len(values)} values)" if len(values) > 12 else "")


def _float(text: str) -> float:
    return float(text)


def _flag(text: str) -> bool:
    return {"true": True, "false": False}[text.strip().lower()]


def _text(text: str) -> str:
    return text


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


# For each annotation of a parameters cell: how its text is read, and what it must be.
_PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "float": (_float, "a number"),
    "int": (int, "an integer"),
    "bool": (_flag, "True or False"),
    "str": (_text, "a text"),
}


def parse(name: str, text: str, kind: str) -> Any:
    """Return the value that a text stands for, by the type that the notebook declares."""
    read, allowed = _PARSERS.get(kind, (_literal, "a Python literal"))
    try:
        return read(text)
    except (ValueError, KeyError):
        raise TypeError(f"{name} must be {allowed}, got {text!r}") from None


def check_points(content: nbformat.NotebookNode, points: list[dict]) -> None:
    """Have the notebook's own check look at every run, so that a bad value stops the sweep before it begins."""
    check = check_cell(content)
    if check is None:
        return
    code = compile(check, "<check of parameters>", "exec")
    for point in points:
        try:
            exec(code, {"notebook": helper, "In": []} | point)
        except NameError:  # the check uses a name of an earlier cell: the run itself will tell
            return


def check_cell(content: nbformat.NotebookNode) -> str | None:
    """Return the cell after the parameters, if it is one call of ``notebook.check_parameters`` and no other code."""
    cells = [cell for cell in content.cells if cell.cell_type == "code"]
    after = [b.source for a, b in itertools.pairwise(cells) if "parameters" in a.metadata.get("tags", [])]
    try:
        body = ast.parse(after[0]).body
    except (IndexError, SyntaxError):
        return None
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    is_check = isinstance(call, ast.Call) and ast.unparse(call.func) == "notebook.check_parameters"
    return after[0] if is_check else None


def digest(content: nbformat.NotebookNode) -> str:
    """Return a hash of the code."""
    code = [cell.source for cell in content.cells if cell.cell_type == "code"]
    return hashlib.sha256("\0".join(code).encode()).hexdigest()


def without_outputs(content: nbformat.NotebookNode) -> str:
    """Return the notebook as JSON, without outputs, which every run makes anew."""
    content = nbformat.from_dict(content)
    for cell in content.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return nbformat.writes(content)


def name_of(parameters: dict, defaults: dict, identity: dict) -> str:
    """Return a name for the files of a run: what is not as the notebook has it, and a digest of all that matters.

    It does not depend on the sweep, so that a larger grid finds the runs of a smaller one.
    """
    said = ",".join(f"{name}={value}" for name, value in parameters.items() if value != defaults[name])
    safe = re.sub(r"[^\w.,=+-]", "_", said).encode()[:_READABLE]  # file systems count bytes
    readable = safe.decode(errors="ignore") or "defaults"
    whole = json.dumps(identity | {"parameters": parameters}, sort_keys=True)
    return f"{readable}-{hashlib.sha256(whole.encode()).hexdigest()[:_DIGEST]}"
