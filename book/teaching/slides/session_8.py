"""Session 8: a table of one's own. The heights are those of the survey in chapter 21."""

from functools import cache
from importlib.resources import files

import numpy as np
import pandas as pd
from drawing import BLUE, GREEN, GREY, INK, KINDS, LINES, PALE, RED, arrow, box, diagram, mark, tile
from matplotlib import pyplot as plt
from sklearn.model_selection import train_test_split

from gaplib import gaussian, leakage, transport
from gaplib.mechanisms import AffineGaussian
from gaplib.models import GaussianMixture
from gaplib.tabular import TablePrivatizer, audit

TABLES = files("gaplib.book") / "data" / "tables"
D = 15.0  # cm², the mean squared change
METHODS = {
    "Laplace noise": ("laplace", "pdi"),
    "Gaussian noise": ("gaussian", "pdi"),
    "transport, blind": ("transport", "pdi"),
    "affine": ("affine", "pdd"),
    "transport": ("transport", "pdd"),
}


@cache
def heights():
    """Height and sex of the people in the survey."""
    return pd.read_csv(TABLES / "nhefs.csv")[["sex", "height"]]


@cache
def audited(name):
    """One split: the people who were not fitted, their release by a method, and the audit of it."""
    method, kind = METHODS[name]
    fitted, others = train_test_split(heights(), test_size=0.5, stratify=heights()["sex"], random_state=0)
    released = TablePrivatizer("sex", D, method=method, kind=kind, scale="none").fit(fitted).transform(others)
    return others, released, audit(others, released, "sex", 0)


@cache
def theory():
    """What two normal distributions with the moments of the table would leave to the best adversary."""
    pair = GaussianMixture.from_sample(heights()["height"], (heights()["sex"] == "male").astype(int))
    noise = AffineGaussian(0, 0, np.sqrt(D), np.sqrt(D))
    return {
        "Gaussian noise": leakage.map_accuracy(pair, noise),
        "transport, blind": transport.optimal_pdi(pair, D).value,
        "affine": gaussian.optimal_affine(pair, D).value,
        "transport": transport.optimal_pdd(pair, D).value,
    }


@cache
def fitted_and_others():
    """How often the sex of penguins is guessed: on those that were fitted, and on others; a row for each of 3 splits."""
    birds = pd.read_csv(TABLES / "penguins.csv").dropna()
    rows = []
    for seed in range(3):
        halves = train_test_split(birds, test_size=0.5, stratify=birds.sex, random_state=seed)
        mechanism = TablePrivatizer("sex", budget=2.0, random_state=seed).fit(halves[0])
        rows.append([audit(half, mechanism.transform(half), "sex", seed).attack for half in halves])
    return np.array(rows)


@cache
def recipe():
    """How often each attacker guesses the sex if each height is reduced by the mean of its group."""
    table = heights()
    moved = table["height"] - table.groupby("sex")["height"].transform("mean") + table["height"].mean()
    found = audit(table, moved.to_frame("height"), "sex", 0).attacks["attack"]
    digits = pd.Series((moved % 1).round(6).to_numpy())
    known, others = train_test_split(np.arange(len(table)), test_size=0.5, random_state=0)
    sex = pd.Series(table["sex"].to_numpy())
    rule = sex[known].groupby(digits[known]).agg(lambda one: one.mode()[0])
    return {**found, "the digits": float((digits[others].map(rule) == sex[others]).mean())}


def surest():
    """Share of right guesses in each tenth of the people, the surest first."""
    risk = audited("transport")[2].risk
    risk = risk[~np.isnan(risk)]
    order = np.argsort(-np.maximum(risk, 1 - risk), kind="stable")
    return np.array([(part > 0.5).mean() for part in np.array_split(risk[order], 10)])


def values():
    """The numbers that the text states."""
    found = audited("transport")[2]
    penguins = fitted_and_others().mean(axis=0)
    attacks = recipe()
    table = heights().groupby("sex")["height"].mean()
    return {
        "D": D,
        "people": len(heights()),
        "apart": abs(table["male"] - table["female"]),
        "control": found.control,
        "attack": found.attack,
        "baseline": found.baseline[0],
        "fitted": penguins[0],
        "others": penguins[1],
        "linear": attacks["logistic regression"],
        "digits": attacks["the digits"],
        "surest": surest()[0],
        "average": found.attack,
    }


def promise():
    figure, axis = diagram()
    lines = (
        ("hides", "one chosen column", "a whole record"),
        ("against", "whoever knows the distribution", "anybody, whatever they know"),
        ("holds", "on average", "for each person"),
        ("measured by", "how often it is guessed", r"$\varepsilon$"),
        ("rests on", "a sample and an audit", "a proof"),
    )
    for x, name in ((4.7, "this release"), (9.4, "differential privacy")):
        axis.text(x, 4.8, name, ha="center", va="center", fontsize=24)
    for i, (name, ours, theirs) in enumerate(lines):
        y = 3.55 - 0.88 * i
        axis.text(0.1, y + 0.4, name, va="center")
        tile(axis, (2.4, y), (4.6, 0.8), ours, "#dbe9f4", fontsize=19)
        tile(axis, (7.1, y), (4.6, 0.8), theirs, PALE, fontsize=19)
    return figure


def two_releases():
    figure, axes = plt.subplots(1, 2, sharey=True)
    others, released, _ = audited("transport")
    edges = np.arange(140, 201, 2)
    for axis, frame, name in ((axes[0], others, "height (cm)"), (axes[1], released, "released height (cm)")):
        women, men = (np.histogram(frame["height"][others["sex"] == sex], edges)[0] for sex in ("female", "male"))
        middle = edges[:-1] + 1
        axis.bar(middle, women, 1.9, color=KINDS[0])
        axis.bar(middle, -men, 1.9, color=KINDS[1])
        both = np.minimum(women, men)
        axis.bar(middle, both, 1.9, color="#4a5560")
        axis.bar(middle, -both, 1.9, color="#4a5560")
        axis.axhline(0, color=INK, linewidth=2)
        axis.set(xlabel=name, yticks=[], xlim=(142, 198))
        axis.spines["left"].set_visible(False)
    mark(axes[0], 143, 45, "women", LINES[0])
    mark(axes[0], 184, -55, "men", LINES[1])
    mark(axes[1], 176, 70, "dark:\nboth alike", INK)
    return figure


def halves():
    figure, axis = diagram()
    box(axis, (1.4, 2.5), (2.2, 1.7), "the table")
    box(axis, (5.2, 4.0), (2.8, 1.4), "one half", BLUE)
    box(axis, (5.2, 1.0), (2.8, 1.4), "other half", RED)
    box(axis, (10.2, 4.0), (3.0, 1.4), "mechanism", BLUE, fontsize=24)
    box(axis, (10.2, 1.0), (3.0, 1.4), "attackers", RED, fontsize=24)
    arrow(axis, (2.6, 3.0), (3.7, 3.8))
    arrow(axis, (2.6, 2.0), (3.7, 1.2))
    arrow(axis, (6.7, 4.0), (8.6, 4.0), "fit")
    arrow(axis, (6.7, 1.4), (8.6, 3.4))
    arrow(axis, (10.2, 3.2), (10.2, 1.8))
    mark(axis, 10.5, 2.5, "release", INK, va="center")
    return figure


def three_numbers():
    figure, axis = plt.subplots()
    found = audited("transport")[2]
    best = found.attacks["attack"].idxmax()
    control = found.attacks["control"].idxmax()
    rows = (
        ("no column at all", found.baseline, GREY),
        ("the release", tuple(found.attacks.loc[best, ["attack", "attack_low", "attack_high"]]), RED),
        ("the original", tuple(found.attacks.loc[control, ["control", "control_low", "control_high"]]), BLUE),
    )
    for place, (_, (value, low, high), color) in enumerate(rows):
        axis.errorbar(
            value, place, xerr=[[value - low], [high - value]], fmt="o", color=color, capsize=12, markersize=18
        )
        mark(axis, value, place + 0.3, f"{value:.2f}", color, ha="center", fontsize=24)
    axis.set_yticks(range(3), [name for name, _, _ in rows])
    axis.tick_params(axis="y", length=0, labelsize=24)
    axis.set(xlabel="share of the secrets guessed", xlim=(0.4, 1), ylim=(-0.5, 2.6))
    return figure


def risk():
    figure, axis = plt.subplots()
    found = audited("transport")[2].risk
    found = found[~np.isnan(found)]
    bins = np.linspace(0, 1, 21)
    counts, _, bars = axis.hist(
        found, bins, weights=np.full(len(found), 1 / len(found)), color="#56B4E9", edgecolor="white"
    )
    for bar, left in zip(bars, bins, strict=False):
        if left >= 0.8 - 1e-9:
            bar.set_facecolor(RED)
    axis.axvline(found.mean(), color=INK, linestyle="--")
    mark(axis, found.mean() - 0.01, counts.max() * 1.06, "mean", INK, ha="right")
    mark(axis, 0.985, counts.max() * 0.62, "found out", RED, ha="right")
    axis.set(xlabel="probability that the attacker gives to the truth", ylabel="share of people", xlim=(0, 1))
    return figure


def five_methods():
    figure, axis = plt.subplots()
    names = list(METHODS)[::-1]
    for place, name in enumerate(names):
        axis.plot(audited(name)[2].attack, place, "o", color=RED, markersize=18)
        if name in theory():
            axis.plot(theory()[name], place, "|", color=INK, markersize=34, markeredgewidth=5)
    axis.axvline(audited("transport")[2].control, color=BLUE, linestyle="--")
    mark(axis, audited("transport")[2].control + 0.005, 0.4, "as they\nare", BLUE)
    axis.plot([], [], "o", color=RED, markersize=18, label="best attacker")
    axis.plot([], [], "|", color=INK, markersize=30, markeredgewidth=5, label="theory", linestyle="")
    axis.set_yticks(range(len(names)), names)
    axis.tick_params(axis="y", length=0)
    axis.set(xlabel="share whose sex is guessed", xlim=(0.5, 0.93), ylim=(-0.6, 4.5))
    axis.legend(loc="upper left")
    return figure


def same_records():
    figure, axis = plt.subplots()
    found = fitted_and_others()
    bars = axis.bar([0, 1], found.mean(axis=0), 0.55, color=[BLUE, RED])
    axis.bar_label(bars, fmt="%.2f", padding=12, fontsize=26)
    axis.set_xticks([0, 1], ["the penguins that were fitted", "others"])
    axis.tick_params(axis="x", length=0, labelsize=22)
    axis.set(ylabel="share guessed", ylim=(0.4, 0.85), xlim=(-0.6, 1.6))
    return figure


def attackers():
    figure, axis = plt.subplots()
    found = recipe()
    names = [name.replace(" ", "\n", 1) for name in found]
    bars = axis.bar(range(len(found)), list(found.values()), 0.62, color=[BLUE] + [RED] * (len(found) - 1))
    axis.bar_label(bars, fmt="%.2f", padding=5, fontsize=24)
    axis.set_xticks(range(len(found)), names)
    axis.tick_params(axis="x", length=0)
    axis.set(ylabel="share guessed", ylim=(0.4, 1.1))
    return figure


def tenths():
    figure, axis = plt.subplots()
    found, average = surest(), values()["average"]
    axis.bar(range(1, 11), found, 0.75, color=[RED] + ["#f0b08a"] * 9)
    axis.axhline(average, color=BLUE, linestyle="--")
    mark(axis, 10.5, average + 0.05, "average", BLUE, ha="right")
    axis.set(
        xlabel="tenth of the people, the surest first", ylabel="share guessed", ylim=(0.3, 1.05), xticks=range(1, 11)
    )
    axis.tick_params(axis="x", length=0)
    return figure


def checklist():
    figure, axis = diagram()
    points = (
        ("No public column is a copy of the secret.", BLUE),
        ("Audited on records that were not fitted.", BLUE),
        ("The control is well above the baseline.", BLUE),
        ("No long tail of risks.", RED),
        ("Digits as coarse as before.", RED),
        ("Table, mechanism and seed stay at home.", GREEN),
    )
    for i, (text, color) in enumerate(points):
        y = 4.75 - 0.88 * i
        axis.add_patch(plt.Rectangle((0.4, y - 0.28), 0.56, 0.56, facecolor="white", edgecolor=color, linewidth=5))
        axis.text(1.4, y, text, va="center", fontsize=26)
    return figure
