"""The page of an audit: the promise first, then risk against utility, attackers, risks by record, and use."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from string import Template
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from gaplib.tabular.auditing import Audit

# Legible for colour-blind readers, and in dark mode on the figure's own white.
_ATTACK, _CONTROL, _BASELINE = "#b2182b", "#2166ac", "#555555"
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 640, 380, 70, 60
_UNITS = {"std": "standard deviations", "none": "the columns' own units"}

PROMISE = """\
<p><b>Against whom:</b> somebody who sees the released columns of a record, knows how the table came about and what such
tables look like, and guesses its private value. <b>For which secret:</b> the column <i>$private</i>, and no other.
<b>How far:</b> on average over the records, not for each of them in the worst case.</p>
<p><b>Not promised:</b> differential privacy; anything for a second release of the same people, for another secret, or
for records from another distribution. The rows keep their order, which must not tell the private value either. An
attacker better than those below may guess more. What was measured rests on $attacked records, what attackers knew on
$learned; intervals say how far that goes, each for its own number.</p>
<div class="wide" tabindex="0" role="region" aria-label="Two kinds of promise">
<table><caption>Two kinds of promise</caption>
<thead><tr><th></th><th>this release</th><th>differential privacy</th></tr></thead>
<tbody>
<tr><th>hides</th><td>one chosen column</td><td>that a person takes part, or a whole record</td></tr>
<tr><th>against</th><td>who knows the distribution</td><td>whoever knows anything</td></tr>
<tr><th>holds</th><td>on average, for this distribution</td><td>always, for each person</td></tr>
<tr><th>is measured by</th><td>how often the private value is guessed</td><td>epsilon (and delta)</td></tr>
<tr><th>a second release</th><td>needs a new audit of both together</td><td>adds to epsilon</td></tr>
</tbody></table></div>"""

_PAGE = Template("""\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Audit of a release: $title</title>
<style>
body{font:1rem/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
.wide{overflow-x:auto;margin:1rem 0}table{border-collapse:collapse}
caption{text-align:left;font-weight:600;position:sticky;left:0;max-width:calc(100vw - 2rem)}
th,td{padding:.2rem .7rem;border-bottom:1px solid #ccc;text-align:left}td.n{text-align:right}
h1{overflow-wrap:anywhere}svg{max-width:100%;height:auto;background:#fff}
@media(max-width:40rem){svg{font-size:17px}}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}th,td{border-color:#555}}
</style></head><body>
<h1>Audit of a release: the private column $title</h1>
<h2>What is promised</h2>
$promise
<h2>Who guesses how often</h2>
<p>$summary</p>
$order$attacks
<h2>Risk and utility</h2>
$map
<h2>Risk by record</h2>
<p>The probability that the best attacker gives to the private value of each record that it attacks.</p>
$risks
<h2>What was changed</h2>
$distortion
<h2>What it does to use</h2>
$use
</body></html>
""")


def page(audit: Audit, others: Sequence[tuple[str, Audit]], left_out: Sequence[tuple[str, str]] = ()) -> str:
    """Return the page of an audit, with others on the map, and why some are not."""
    title = html.escape(str(audit.private))
    return _PAGE.substitute(
        title=title,
        promise=Template(PROMISE).substitute(private=title, learned=audit.n_learned, attacked=audit.n_attacked),
        summary=_summary(audit),
        order=_order(audit.order),
        attacks=_attacks(audit),
        map=_map([("this release", audit), *others]) + _left_out(left_out),
        risks=_histogram(audit.risk),
        distortion=_cost(audit)
        + _gaps(audit.gaps)
        + _table(audit.distortion, "By column; the square in its own unit, and as a share of its variance"),
        use=_table(audit.use, "Statistics before and after"),
    )


def _summary(audit: Audit) -> str:
    if math.isnan(audit.attack):
        return "No attacker could be trained: there are too few records, or they have one private value."
    return (
        f"The best of four attackers guesses {audit.attack:.3f} of the private values from the release and "
        f"{audit.control:.3f} from the original; without any column, by the most frequent value, it would be "
        f"{audit.baseline[0]:.3f}."
    )


def _order(warning: str) -> str:
    return f"<p><b>Warning:</b> {html.escape(warning)}. No attacker below uses it.</p>\n" if warning else ""


def _cost(audit: Audit) -> str:
    shown = "was not computed" if math.isnan(audit.cost) else f"is {_number(audit.cost)}"
    return (
        f"<p>The mean cost of a record's change {shown}: squares in {_UNITS[audit.scale]}, and one "
        "for each category that changes and each value that goes missing or comes back.</p>\n"
    )


def _gaps(names: Sequence[object]) -> str:
    if not names:
        return ""
    shown = ", ".join(html.escape(str(name)) for name in names)
    return f"<p>Values are missing for the same records as before, so the release shows which these are: {shown}.</p>\n"


def _left_out(left_out: Sequence[tuple[str, str]]) -> str:
    return "".join(f"<p>Not on the map: {html.escape(name)}: {html.escape(why)}.</p>\n" for name, why in left_out)


def _attacks(audit: Audit) -> str:
    rows = {
        name: [_interval(*(row[f"{part}{end}"] for end in ("", "_low", "_high"))) for part in ("attack", "control")]
        for name, row in audit.attacks.iterrows()
    }
    rows["baseline"] = [_interval(*audit.baseline)] * 2
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["release", "original"])
    given_up = (
        "<p>An attacker that, on some of the records it learns from, guesses no better than by the most frequent value "
        "gives up: it guesses that value, and its share is the baseline's among the records attacked.</p>\n"
    )
    return given_up + _table(frame, "Share of private values that are guessed, with 95 % intervals")


def _table(frame: pd.DataFrame, caption: str) -> str:
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in ("", *frame.columns))
    lines = []
    for name, *cells in frame.itertuples():
        shown = "".join(f'<td class="n">{html.escape(_cell(cell))}</td>' for cell in cells)
        lines.append(f"<tr><th>{html.escape(str(name))}</th>{shown}</tr>")
    body = "\n".join(lines)
    table = f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
    return f'<div class="wide" tabindex="0" role="region" aria-label="{caption}">{table}</div>'


def _cell(cell: object) -> str:
    return _number(cell) if isinstance(cell, float) else str(cell)


def _number(value: float) -> str:
    if math.isnan(value):
        return "not computed"
    shown = f"{value:,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.4g}"
    return shown.replace("-", "\u2212")  # a line may break behind a hyphen


def _interval(value: float, low: float, high: float) -> str:
    return "not computed" if math.isnan(value) else f"{value:.3f} ({low:.3f} to {high:.3f})"


def _map(audits: Sequence[tuple[str, Audit]]) -> str:
    """Return the risk-utility map: cost of the change across, accuracy of the best attacker up."""
    drawn = [(name, one) for name, one in audits if not (math.isnan(one.attack) or math.isnan(one.cost))]
    if not drawn:
        return "<p>Not computed.</p>"
    reference = drawn[0][1]
    across = f"mean cost of a change: squares in {_UNITS[reference.scale]}"
    if (reference.distortion["kind"] == "categories").any():
        across += ", plus changed categories"
    right = max(one.cost for _, one in drawn) * 1.15 or 1.0
    heights = [end for _, one in drawn for end in (*_best(one), one.control, one.baseline[0])]
    low, high = max(min(heights) - 0.05, 0), min(max(heights) + 0.05, 1)

    def place(x: float, y: float) -> tuple[float, float]:
        across = _LEFT + x / right * (_WIDTH - _LEFT - 20)
        return across, 20 + (high - y) / (high - low) * (_HEIGHT - _BOTTOM - 20)

    parts = [_axes(place, right, low, high, across, "share of private values guessed")]
    for value, colour, text in (
        (reference.control, _CONTROL, "original"),
        (reference.baseline[0], _BASELINE, "most frequent value"),
    ):
        (x0, y0), (x1, _) = place(0, value), place(right, value)
        parts.append(
            f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y0:.1f}" stroke="{colour}" stroke-dasharray="6 4"/>'
        )
        # Where little was changed, releases are near the original, and where much, near the most frequent value.
        at, anchor = (x1, "end") if text == "original" else (x0 + 6, "start")
        parts.append(_text(at, y0 + 15, text, anchor, colour))
    named: dict[tuple[float, float], list[str]] = {}
    for number, (name, one) in enumerate(drawn):
        x, y = place(one.cost, one.attack)
        _, bottom, top = _best(one)
        ends = place(one.cost, bottom)[1], place(one.cost, top)[1]
        parts.append(f'<line x1="{x:.1f}" y1="{ends[0]:.1f}" x2="{x:.1f}" y2="{ends[1]:.1f}" stroke="{_ATTACK}"/>')
        fill = _ATTACK if number == 0 else "#fff"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{fill}" stroke="{_ATTACK}"/>')
        named.setdefault((round(x), round(y)), []).append(name)  # beyond saturation all budgets give one release
    for (x, y), names in named.items():
        right_of = x < _WIDTH - 150
        parts.append(
            _text(x + (8 if right_of else -8), y - 6, ", ".join(names), "start" if right_of else "end", _ATTACK)
        )
    label = "Risk against utility: the best attacker's accuracy by the cost of the change, one point for each release."
    note = (
        "<p>Below and to the left is better. The filled point is this release"
        + ("; others are named by their budgets, which count as the axis does" if len(drawn) > 1 else "")
        + ". The dashed lines are those of this release.</p>\n"
    )
    return _figure(parts, label) + note


def _best(audit: Audit) -> tuple[float, float, float]:
    row = audit.attacks.loc[audit.attacks["attack"].idxmax()]
    return float(row["attack"]), float(row["attack_low"]), float(row["attack_high"])


def _histogram(risk: np.ndarray) -> str:
    there = risk[~np.isnan(risk)]
    if there.size == 0:
        return "<p>Not computed.</p>"
    counts, edges = np.histogram(there, bins=10, range=(0, 1))
    shares = counts / counts.sum()
    high = float(shares.max()) * 1.1

    def place(x: float, y: float) -> tuple[float, float]:
        return _LEFT + x * (_WIDTH - _LEFT - 20), 20 + (high - y) / high * (_HEIGHT - _BOTTOM - 20)

    parts = [_axes(place, 1.0, 0.0, high, "probability of the private value", "share of records")]
    for share, left, right in zip(shares, edges[:-1], edges[1:], strict=True):
        (x0, top), (x1, bottom) = place(left, float(share)), place(right, 0.0)
        parts.append(
            f'<rect x="{x0 + 1:.1f}" y="{top:.1f}" width="{x1 - x0 - 2:.1f}" height="{bottom - top:.1f}" '
            f'fill="{_ATTACK}"/>'
        )
    return _figure(parts, "Histogram of the risk by record, in ten classes from 0 to 1.")


def _axes(place, right: float, low: float, high: float, across: str, up: str) -> str:  # type: ignore[no-untyped-def]
    (x0, y0), (x1, y1) = place(0, low), place(right, high)
    parts = [f'<path d="M{x0:.1f} {y1:.1f}V{y0:.1f}H{x1:.1f}" fill="none" stroke="#222"/>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = place(right * share, low + (high - low) * share)
        parts.append(_text(x, y0 + 18, f"{right * share:.2g}", "middle"))
        parts.append(_text(x0 - 8, y + 4, f"{low + (high - low) * share:.2f}", "end"))
    parts.append(_text((x0 + x1) / 2, _HEIGHT - 14, across, "middle"))
    middle = (y0 + y1) / 2
    parts.append(
        f'<text x="16" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 16 {middle:.1f})">{up}</text>'
    )
    return "".join(parts)


def _text(x: float, y: float, text: str, anchor: str, colour: str = "#222") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{html.escape(text)}</text>'


def _figure(parts: Sequence[str], label: str) -> str:
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" font-size="13"'
    return f'<svg role="img" aria-label="{html.escape(label)}" {size} font-family="sans-serif">{"".join(parts)}</svg>'
