"""All runs of a sweep in one table: a row is a run, a column a parameter, a recorded number or a fact of the run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from gaplib._terminal import printable
from gaplib.book.sweep import store
from gaplib.book.sweep.plan import Plan

_KINDS = (
    (lambda value: isinstance(value, str), "string"),
    (lambda value: isinstance(value, bool), "boolean"),
    (lambda value: isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63, "Int64"),
    (lambda value: isinstance(value, float) or (type(value) is int and abs(value) < 2**53), "float64"),
)
# A text that begins so is a formula to a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_FACTS = ("status", "error", "seconds", "started", "host", "processor")


def gather(folder: Path, plan: Plan) -> pd.DataFrame:
    """Return the table of the runs that ended.

    Columns are the parameters by name; what the notebook recorded, where dictionaries are taken apart
    (``name.key``) and lists are JSON; and ``run.name``, ``run.status``, ``run.error``, ``run.seconds``,
    ``run.started``, ``run.host``, ``run.processor``, ``run.notebook`` (relative to the folder), and ``run.`` with each
    version.
    """
    rows = []
    for run in plan.runs:
        result = store.kept(folder, run.name)
        if result is not None:
            rows.append(row(folder, run.name, run.parameters, result))
    first = [*plan.swept, *plan.fixed]
    table = pd.DataFrame(rows, dtype=object) if rows else pd.DataFrame(columns=[*first, "run.status", "run.notebook"])
    facts = [name for name in table.columns if name.startswith("run.")]
    recorded = [name for name in table.columns if name not in first and name not in facts]
    return table[[*first, *recorded, *facts]].apply(of_one_kind)


def row(folder: Path, name: str, parameters: dict, result: dict) -> dict:
    """Return the row of one run."""
    recorded = dict(flat(result["recorded"]))
    # A notebook may record a number under the name of a parameter, or of a fact of the run.
    taken = {key for key in recorded if key in parameters or key.startswith("run.")}
    recorded = {f"recorded.{key}" if key in taken else key: value for key, value in recorded.items()}
    facts = {"run.name": name} | {f"run.{key}": result[key] for key in _FACTS}
    path = store.notebook_path(folder, name)
    facts["run.notebook"] = path.relative_to(folder).as_posix() if path.exists() else ""
    line = parameters | recorded | facts | {f"run.{key}": value for key, value in result["versions"].items()}
    return {writable(key): writable(value) for key, value in line.items()}


def flat(recorded: dict, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what was recorded as pairs of a name and a number, text or truth value."""
    for key, value in recorded.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def writable(value: Any) -> Any:
    """Return a value as a cell of a table: lists as JSON; in texts what UTF-8 cannot hold as Python writes it."""
    if isinstance(value, list):
        return json.dumps(value)
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value


def of_one_kind(column: pd.Series) -> pd.Series:
    """Return a column as Parquet wants it: truth values, integers, numbers or texts; a mixture becomes JSON."""
    values = column.dropna().tolist()
    for is_kind, dtype in _KINDS:
        if all(map(is_kind, values)):
            return column.astype(dtype)
    return column.map(json.dumps, na_action="ignore").astype("string")


def write(folder: Path, table: pd.DataFrame) -> None:
    """Write the table as ``results.parquet`` and ``results.csv``."""
    store.write(folder / "results.parquet", lambda file: table.to_parquet(file, index=False, engine="pyarrow"))
    plain = table.rename(columns=harmless)
    for name in plain.select_dtypes("string"):
        plain[name] = plain[name].map(harmless, na_action="ignore")
    store.write(folder / "results.csv", lambda file: plain.to_csv(file, index=False, lineterminator="\n", mode="wb"))


def harmless(text: str) -> str:
    """Return a text on which nothing acts: an apostrophe before a formula, control characters as Python writes them."""
    try:
        float(text)
    except ValueError:
        shown = "\n".join(map(printable, text.split("\n")))
        return f"'{shown}" if text.startswith(_FORMULA) else shown
    return text
