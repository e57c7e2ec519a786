"""The page that sums a sweep up: what failed, and how the recorded numbers change with the parameters."""

import base64
import io
import itertools
import math
from importlib import resources
from pathlib import Path
from statistics import fmean

import jinja2
import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gaplib.book import plots
from gaplib.book.sweep import store
from gaplib.book.sweep.plan import Plan, listed
from gaplib.book.sweep.store import DONE

# What a page can show and a reader can take in; the table has all.
MOST_FIGURES, MOST_PANELS, MOST_LINES, MOST_ROWS = 12, 6, 8, 200
_STYLES = ["-", "--", "-.", ":"]


def write(folder: Path, plan: Plan, table: pd.DataFrame) -> None:
    """Write ``summary.html``: one file without scripts, which needs no network.

    Parameters
    ----------
    folder : Path
        The folder of the sweep.
    plan : Plan
        What was asked for.
    table : DataFrame
        The runs that ended, from `table.gather`.
    """
    done = table[table["run.status"] == DONE]
    numbers = varying(plan, done)
    shown = numbers[:MOST_FIGURES]
    columns = [*plan.swept, *shown, "run.status", "run.seconds"] if len(table) else []
    failed = failures(folder, plan, table)
    source = resources.files("gaplib.book.sweep").joinpath("summary.html.j2").read_text(encoding="utf-8")
    page = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(source)
    text = page.render(
        plan=plan,
        counts={"planned": len(plan.runs)} | table["run.status"].value_counts().to_dict(),
        seconds=table["run.seconds"].sum() if len(table) else 0,
        processors=sorted(table["run.processor"].dropna().unique()) if len(table) else [],
        figures=[figure_of(plan, done, name) for name in shown],
        more=numbers[MOST_FIGURES:],
        failures=failed[:MOST_ROWS],
        more_failures=max(0, len(failed) - MOST_ROWS),
        columns=columns,
        rows=[
            ([readable(line[name]) for name in columns], line["run.notebook"])
            for line in table.head(MOST_ROWS).to_dict("records")
        ],
        cut=max(0, len(table) - MOST_ROWS),
        listed=listed,
    )
    content = text.encode(errors="backslashreplace")
    store.write(folder / "summary.html", lambda file: file.write(content))


def failures(folder: Path, plan: Plan, table: pd.DataFrame) -> list[dict]:
    """Return the runs that did not do what they should, each with its values, notebook and traceback."""
    return [
        {
            "values": ", ".join(f"{name} = {readable(line[name])}" for name in plan.swept) or plan.notebook,
            "status": line["run.status"],
            "error": line["run.error"],
            "notebook": line["run.notebook"],
            "traceback": (store.kept(folder, line["run.name"]) or line)["traceback"],
        }
        for line in table[table["run.status"] != DONE].to_dict("records")
    ]


def varying(plan: Plan, done: pd.DataFrame) -> list[str]:
    """Return the recorded numbers that differ between runs: the others do not depend on the swept parameters."""
    parameters = {*plan.swept, *plan.fixed}
    recorded = [name for name in done.columns if name not in parameters and not name.startswith("run.")]
    numeric = [name for name in recorded if str(done[name].dtype) in ("Int64", "float64")]
    return [name for name in numeric if done[name].nunique() > 1]


def deciding(plan: Plan, done: pd.DataFrame, quantity: str) -> list[str]:
    """Return the swept parameters on which a number depends; all, if too few runs ended to tell."""
    several = [name for name, values in plan.swept.items() if len(values) > 1]
    points = {run.name: run.parameters for run in plan.runs}
    numbers = [(points[run], number) for run, number in zip(done["run.name"], done[quantity], strict=True)]

    def decide(names: list[str]) -> bool:
        """Whether runs that agree in these parameters have the same number."""
        found: dict[str, float] = {}
        return all(found.setdefault(repr([at[name] for name in names]), number) == number for at, number in numbers)

    needed = [name for name in several if not decide([other for other in several if other != name])]
    return needed if decide(needed) else several


def roles(plan: Plan, names: list[str]) -> tuple[str, str | None, list[str]]:
    """Return the parameter of the horizontal axis, that of the panels, and those of the lines."""
    numeric = [name for name in names if are_numbers(plan.swept[name]) and name != "seed"]
    x = "D" if "D" in numeric else [*numeric, *names][0]
    rest = [name for name in names if name not in (x, "seed")]
    return x, rest[0] if rest else None, rest[1:]


def are_numbers(values: list) -> bool:
    """Whether values have a place on an axis."""
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def figure_of(plan: Plan, done: pd.DataFrame, quantity: str) -> dict:
    """Return one recorded number against a parameter on which it depends: a panel for each value of a second one.

    Lines tell apart the values of what remains. A line is the mean over the seeds, its band their least and largest.
    """
    done = done.dropna(subset=[quantity])
    x, panel, lines = roles(plan, deciding(plan, done, quantity))
    values = plan.swept[panel][:MOST_PANELS] if panel else [None]
    rows = -(-len(values) // 3)
    with matplotlib.rc_context():
        plots.use_style()
        matplotlib.rcParams["text.parse_math"] = False  # names and values are shown as they are
        figure = Figure(figsize=(3.3 * min(3, len(values)) + 1, 2.7 * rows + 0.5))
        axes = figure.subplots(rows, min(3, len(values)), sharex=True, sharey=True, squeeze=False).flat
        for axis, value in zip(axes, values, strict=False):
            part = done if panel is None else where(plan, done, {panel: value})
            draw(axis, part, plan, (x, lines), quantity)
            axis.set(xlabel=x, ylabel=quantity, title="" if panel is None else f"{panel} = {readable(value)}")
            axis.label_outer()
        for axis in list(axes)[len(values) :]:
            axis.remove()
        if lines:
            named = {str(line.get_label()): line for axis in figure.axes for line in axis.get_lines()}
            figure.legend(list(named.values()), list(named), loc="outside lower center", ncols=2)
        image = io.BytesIO()
        figure.savefig(image, format="png")
    cuts = (
        (len(plan.swept[panel]) - len(values) if panel else 0, f"values of {panel} are"),
        (len(combinations(plan, lines)) - MOST_LINES, f"combinations of {', '.join(lines)} are"),
    )
    numbers = done[quantity]
    alt = f"{quantity} against {x}" + (f", one panel for each of {len(values)} values of {panel}" if panel else "")
    return {
        "name": quantity,
        "image": base64.b64encode(image.getvalue()).decode(),
        "alt": f"{alt}. It lies between {readable(numbers.min())} and {readable(numbers.max())}.",
        "cut": " ".join(f"{number} more {what} in the table." for number, what in cuts if number > 0),
    }


def combinations(plan: Plan, names: list[str]) -> list[dict]:
    """Return every combination of the values of some swept parameters, in the order of the plan."""
    return [dict(zip(names, point, strict=True)) for point in itertools.product(*(plan.swept[name] for name in names))]


def where(plan: Plan, table: pd.DataFrame, values: dict) -> pd.DataFrame:
    """Return the runs whose parameters have these values, as the plan has them and not as a table shows them."""
    names = {run.name for run in plan.runs if all(run.parameters[name] == value for name, value in values.items())}
    return table[table["run.name"].isin(names)]


def draw(axis: Axes, part: pd.DataFrame, plan: Plan, roles: tuple[str, list[str]], quantity: str) -> None:
    """Draw the lines of one panel: a combination has the same colour in all of them, and a missing run leaves a gap."""
    x, lines = roles
    points = {run.name: run.parameters for run in plan.runs}
    of_seeds: dict[str, list[float]] = {}
    for name, number in zip(part["run.name"], part[quantity], strict=True):
        key = repr([points[name][role] for role in (*lines, x)])
        of_seeds.setdefault(key, []).append(float(number))
    values = sorted(plan.swept[x]) if are_numbers(plan.swept[x]) else plan.swept[x]
    at = [float(value) for value in values] if are_numbers(values) else [str(value) for value in values]
    colors = list(plots.COLORS.values())
    for i, combination in enumerate(combinations(plan, lines)[:MOST_LINES]):
        found = [of_seeds.get(repr([*combination.values(), value]), [math.nan]) for value in values]
        mean, low, high = ([measure(numbers) for numbers in found] for measure in (fmean, min, max))
        color = colors[i % len(colors)]
        label = ", ".join(f"{name} = {readable(value)}" for name, value in combination.items())
        axis.plot(at, mean, _STYLES[i % len(_STYLES)], marker=".", label=label, color=color)
        axis.fill_between(at, low, high, alpha=0.2, linewidth=0, color=color)


def readable(value: object) -> str:
    """Return a value as a person writes it; nothing for what is missing."""
    if pd.isna(value):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
