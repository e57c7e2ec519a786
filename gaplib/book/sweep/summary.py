"""The page that sums a sweep up: what failed, and how the recorded numbers change with the parameters."""

import base64
import io
import itertools
import math
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
from gaplib.book.sweep.worker import DONE

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
    page = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(_PAGE)
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
    store.write(folder / "summary.html", lambda path: path.write_text(text, encoding="utf-8"))


def failures(folder: Path, plan: Plan, table: pd.DataFrame) -> list[dict]:
    """Return the runs that did not do what they should, each with its values, notebook and traceback."""
    return [
        {
            "values": ", ".join(f"{name} = {readable(line[name])}" for name in plan.swept) or plan.notebook,
            "status": line["run.status"],
            "error": line["run.error"],
            "notebook": line["run.notebook"],
            "traceback": store.result(folder, line["run.name"])["traceback"],
        }
        for line in table[table["run.status"] != DONE].to_dict("records")
    ]


def varying(plan: Plan, done: pd.DataFrame) -> list[str]:
    """Return the recorded numbers that differ between runs: the others do not depend on the swept parameters."""
    parameters = {*plan.swept, *plan.fixed}
    recorded = [name for name in done.columns if name not in parameters and not name.startswith("run.")]
    numeric = [name for name in recorded if str(done[name].dtype) in ("Int64", "float64")]
    return [name for name in numeric if done[name].nunique() > 1]


def roles(plan: Plan) -> tuple[str, str | None, list[str]]:
    """Return the parameter of the horizontal axis, that of the panels, and those of the lines."""
    several = [name for name, values in plan.swept.items() if len(values) > 1]
    numeric = [name for name in several if not isinstance(plan.swept[name][0], (str, bool)) and name != "seed"]
    x = "D" if "D" in numeric else [*numeric, *several][0]
    rest = [name for name in several if name not in (x, "seed")]
    return x, rest[0] if rest else None, rest[1:]


def figure_of(plan: Plan, done: pd.DataFrame, quantity: str) -> dict:
    """Return one recorded number against the horizontal parameter: a panel for each value of a second one.

    Lines tell apart the values of what remains. A line is the mean over the seeds, its band their least and largest.
    """
    x, panel, lines = roles(plan)
    values = plan.swept[panel][:MOST_PANELS] if panel else [None]
    rows = -(-len(values) // 3)
    with matplotlib.rc_context():
        plots.use_style()
        matplotlib.rcParams["text.parse_math"] = False  # names and values are shown as they are
        figure = Figure(figsize=(3.3 * min(3, len(values)) + 1, 2.7 * rows + 0.5))
        axes = figure.subplots(rows, min(3, len(values)), sharex=True, sharey=True, squeeze=False).flat
        for axis, value in zip(axes, values, strict=False):
            part = done if panel is None else where(plan, done, {panel: value})
            draw(axis, part.dropna(subset=[quantity]), plan, (x, lines), quantity)
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
    numbers = done[quantity].dropna()
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
    values = plan.swept[x] if isinstance(plan.swept[x][0], (str, bool)) else sorted(plan.swept[x])
    at = [str(value) if isinstance(value, (str, bool)) else float(value) for value in values]
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


_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sweep of {{ plan.notebook }}</title>
<style>
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; padding: 1rem; }
  img { max-width: 100%; height: auto; background: white; }
  figure { margin: 1.5rem 0; }
  .wide { overflow-x: auto; }
  table { border-collapse: collapse; }
  caption { text-align: left; }
  th, td { padding: .2rem .7rem; text-align: left; border-bottom: 1px solid #8886; font-variant-numeric: tabular-nums; }
  pre { overflow-x: auto; padding: .5rem; border: 1px solid #8886; font-size: .85rem; }
  summary { cursor: pointer; overflow-wrap: anywhere; }
</style>
</head>
<body>
<main>
<h1>Sweep of {{ plan.notebook }}</h1>
<p>{{ counts.planned }} runs planned: {{ counts.done or 0 }} done, {{ counts.failed or 0 }} failed,
{{ counts.lost or 0 }} lost, {{ counts.planned - (counts.done or 0) - (counts.failed or 0) - (counts.lost or 0) }}
not ended. A run has failed if a cell raised an exception; it is lost if it ended in another way, such as a process that
was killed, and the same command runs it again. All runs together took {{ "%.0f"|format(seconds) }} s.</p>
<p>All numbers: <a href="results.csv">results.csv</a> and <a href="results.parquet">results.parquet</a>.</p>

{% if failures %}
<h2>What did not succeed</h2>
{% for failure in failures %}
<details>
<summary><strong>{{ failure["values"] }}</strong> ({{ failure.status }}): {{ failure.error }}</summary>
{% if failure.notebook %}<p><a href="{{ failure.notebook|urlencode }}">The notebook, as far as it ran</a></p>{% endif %}
<div class="wide" tabindex="0"><pre>{{ failure.traceback }}</pre></div>
</details>
{% endfor %}
{% if more_failures %}<p>{{ more_failures }} more are in the table.</p>{% endif %}
{% endif %}

<h2>What was asked for</h2>
<div class="wide" tabindex="0">
<table>
<thead><tr><th scope="col">parameter</th><th scope="col">values</th></tr></thead>
{% for name, values in plan.swept.items() %}
<tr><th scope="row">{{ name }}</th><td>{{ listed(values) }}</td></tr>
{% endfor %}
{% for name, value in plan.fixed.items() %}
<tr><th scope="row">{{ name }}</th><td>{{ value }} in all runs</td></tr>
{% endfor %}
</table>
</div>

{% if figures %}
<h2>What came of it</h2>
<p>A line is the mean over the seeds, its band their least and largest value. Only numbers that differ between runs are
drawn.</p>
{% for figure in figures %}
<figure>
<img src="data:image/png;base64,{{ figure.image }}" alt="{{ figure.alt }}">
{% if figure.cut %}<figcaption>{{ figure.cut }}</figcaption>{% endif %}
</figure>
{% endfor %}
{% if more %}<p>Not drawn, but in the table: {{ more|join(", ") }}.</p>{% endif %}
{% endif %}

{% if rows %}
<h2>The runs</h2>
<div class="wide" tabindex="0">
<table>
<thead>
<tr>{% for name in columns %}<th scope="col">{{ name }}</th>{% endfor %}<th scope="col">notebook</th></tr>
</thead>
{% for values, notebook in rows %}
<tr>{% for value in values %}<td>{{ value }}</td>{% endfor %}<td>
{%- if notebook %}<a href="{{ notebook|urlencode }}">open</a>{% endif %}</td></tr>
{% endfor %}
</table>
</div>
{% if cut %}<p>{{ cut }} more runs are in the table.</p>{% endif %}
{% endif %}

<h2>What computed it</h2>
<p>{% for name, value in plan.versions.items() %}{{ name }} {{ value }}{{ ", " if not loop.last }}{% endfor %}.
{% if processors %}On {{ processors|join("; ") }}.{% endif %}</p>
</main>
</body>
</html>
"""
