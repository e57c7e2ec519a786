"""Session 7: the optimum over all mechanisms, and networks that look for it."""

from itertools import pairwise

import numpy as np
from drawing import BLUE, GREEN, GREY, INK, KINDS, LINES, PALE, PURPLE, RED, SIZE, arrow, box, diagram, mark
from matplotlib import pyplot as plt
from recorded import results, table
from scipy.stats import binom, norm

from gaplib import gaussian, transport
from gaplib.book import paper
from gaplib.leakage import map_accuracy
from gaplib.mechanisms import AffineGaussian
from gaplib.models import FiniteModel, GaussianMixture

FIRST, THIRD = paper.DATASETS[1], paper.DATASETS[3]
AS_IT_IS = AffineGaussian(0, 0, 0, 0)
# The records of the task, and the corner of chapter 18.
ZEROS, ONES = np.array([0, 1, 2]), np.array([2, 3, 5])
PLACES = (0, 1, 3)
MASSES = ((0.30, 0.05), (0.10, 0.10), (0.10, 0.35))  # of Y = 0 and Y = 1, the example of chapter 18
SCORES = np.arange(8)
D = 1.0


def pair_cost(x, other):
    """What it costs to bring two records to their midpoint."""
    return (x - other) ** 2 / 2


def scores():
    """The scores of chapter 18, their optimum, and the places of its releases."""
    joint = np.stack([binom.pmf(SCORES, 7, q) / 2 for q in (0.3, 0.65)], axis=1)
    halves = np.arange(0, 7.25, 0.5)
    model = FiniteModel(joint / joint.sum(), points=SCORES)
    return model, transport.optimal_pdd(model, 0.3, (SCORES[:, None] - halves) ** 2), halves


def values():
    """The numbers that the text states."""
    model, optimum, _ = scores()
    networks = table("networks")
    space = networks[(networks.part == "space") & (networks.D == 3)]
    line = networks[networks.part == "line"]
    recorded = results("18_true_optimum")["opt_dataset_3"]
    digits = results("20_learned_without_a_family")
    chain = pair_cost(*PLACES[:2]) + pair_cost(*PLACES[1:])
    return {
        "before": model.joint.max(axis=1).sum(),
        "after": optimum.value,
        "short": chain,
        "long": pair_cost(PLACES[0], PLACES[2]),
        "prior_cost": recorded["saturation"],
        "independence": transport.independence_cost(THIRD),
        "raw": map_accuracy(THIRD, AS_IT_IS),
        "moved": transport.optimal_pdd(THIRD, D).value,
        "family": gaussian.optimal_affine(FIRST, D).value,
        "optimum": transport.optimal_pdd(FIRST, D).value,
        "excess": (line.accuracy - line.optimum).mean(),
        "dimensions": int(space.d.max()),
        "space": (space.accuracy - space.optimum).max(),
        "bound": digits["nets_digits_moments_bound"],
        "pair_13": pair_cost(1, 3),
        "two_pairs": pair_cost(1, 2) + pair_cost(2, 3),
    }


def line_of(axis, points, y, color, name):
    """Records on a line."""
    axis.plot(points, np.full(len(points), y), "o", color=color, markersize=34, markeredgecolor=INK)
    mark(axis, -1.3, y, name)


def records():
    figure, axis = plt.subplots(figsize=(SIZE[0], 3.2))
    line_of(axis, ZEROS, 1, KINDS[0], "$Y = 0$")
    line_of(axis, ONES, 0, KINDS[1], "$Y = 1$")
    axis.set(xlim=(-1.4, 5.5), ylim=(-0.5, 1.5), yticks=[], xticks=range(6))
    axis.spines["left"].set_visible(False)
    return figure


def mirrored(axis, places, mass, width):
    """Bars of Y = 0 upwards and of Y = 1 downwards; what is common to both is dark."""
    for j, sign in ((0, 1), (1, -1)):
        axis.bar(places, sign * mass[:, j], width, color=KINDS[j])
        axis.bar(places, sign * mass.min(axis=1), width, color="#4a5560")
    axis.axhline(0, color=INK, linewidth=2)
    axis.set(yticks=[], xticks=SCORES[::1])
    axis.spines["left"].set_visible(False)


def plan():
    figure, axes = plt.subplots(1, 2, sharey=True)
    model, optimum, halves = scores()
    mirrored(axes[0], SCORES, model.joint, 0.7)
    mirrored(axes[1], halves, optimum.mechanism.released(model), 0.4)
    for axis, name in zip(axes, ("score", "release"), strict=True):
        axis.set_xlabel(name)
    mark(axes[0], 4.3, 0.13, "$Y = 0$", LINES[0])
    mark(axes[0], 0.0, -0.13, "$Y = 1$", LINES[1])
    mark(axes[1], 4.6, 0.17, "dark: common\nto both", INK)
    return figure


def chain():
    figure, axis = plt.subplots()
    for x, masses in zip(PLACES, MASSES, strict=True):
        for j, mass in enumerate(masses):
            # An area is the mass.
            axis.plot(x, 1 - j, "o", color=KINDS[j], markersize=110 * mass**0.5, markeredgecolor=INK)
    for start, end in pairwise(PLACES):
        axis.plot([start, end], [1, 0], color=BLUE, linewidth=5, zorder=0)
        mark(
            axis,
            (start + end) / 2 + (-0.08 if start == 0 else 0.16),
            0.5,
            f"{pair_cost(start, end):g}",
            BLUE,
            fontsize=26,
            ha="right" if start == 0 else "left",
        )
    axis.plot([PLACES[0], PLACES[-1]], [1, 0], ":", color=RED, linewidth=5, zorder=0)
    mark(axis, 1.12, 0.28, f"direct: {pair_cost(PLACES[0], PLACES[-1]):g}", RED, fontsize=26)
    axis.plot([1, 1], [0, 1], color=GREY, linewidth=5, zorder=0)
    mark(axis, 1, 1.24, "free, given up", GREY, ha="center")
    mark(axis, -0.45, 1, "$Y = 0$", ha="right")
    mark(axis, -0.45, 0, "$Y = 1$", ha="right")
    axis.set(xlim=(-0.9, 3.4), ylim=(-0.35, 1.35), yticks=[], xticks=PLACES)
    axis.spines["left"].set_visible(False)
    return figure


def two_costs():
    figure, axis = plt.subplots()
    found = values()
    bars = axis.barh(
        ["independence", "only the prior"], [found["independence"], found["prior_cost"]], 0.6, color=[RED, BLUE]
    )
    axis.bar_label(bars, fmt="%.2f", padding=8, fontsize=24)
    axis.tick_params(axis="y", length=0, labelsize=24)
    axis.set(xlabel="least distortion, dataset 3", xlim=(0, 7.6))
    return figure


def weighted(x):
    """The densities of dataset 3 times their priors."""
    return THIRD.p_y[:, None] * norm.pdf(x, THIRD.means[:, None], np.sqrt(THIRD.variances)[:, None])


def midpoints():
    figure, axis = plt.subplots()
    optimum = transport.optimal_pdd(THIRD, D)
    x = np.linspace(-5, 5, 1001)
    for low, high in optimum.mechanism.intervals:
        axis.axvspan(max(low, x[0]), min(high, x[-1]), color=PALE, linewidth=0, alpha=0.6)
    for j, style in ((0, "-"), (1, "--")):
        moved = optimum.mechanism.privatize(x, np.full(x.size, j), seed=0)
        axis.plot(x, moved, style, color=LINES[j])
    mark(axis, -4.8, 1.0, "$Y = 0$ moves up", LINES[0])
    mark(axis, 1.1, -2.3, "$Y = 1$ moves down", LINES[1])
    axis.set(xlabel="record $x$", ylabel=r"release $\hat x$", xlim=(-5, 5), ylim=(-5, 5))
    return figure


def indistinguishable():
    figure, axis = plt.subplots()
    optimum = transport.optimal_pdd(THIRD, D)
    x = np.linspace(-5, 6, 1101)
    released = optimum.mechanism.released(THIRD, x).T
    axis.fill_between(x, released.min(axis=0), color="#9aa5b1", linewidth=0)
    for j, style in ((0, "-"), (1, "--")):
        axis.plot(x, weighted(x)[j], ":", color=LINES[j], linewidth=2)
        axis.plot(x, released[j], style, color=LINES[j])
    mark(axis, -3.0, 0.13, "$Y = 0$", LINES[0], ha="center")
    mark(axis, 4.2, 0.25, "$Y = 1$", LINES[1])
    axis.set(xlabel="release", yticks=[], xlim=(-5, 6), ylim=(0, 0.34))
    axis.spines["left"].set_visible(False)
    return figure


def families():
    figure, axis = plt.subplots()
    budgets = np.unique(np.r_[0.1, np.linspace(0, 9, 19)])
    for name, solver, color, style, at in (
        ("noise", gaussian.optimal_pdi, RED, "-", (6.3, 0.9)),
        ("four parameters", gaussian.optimal_affine, "#B36B00", "--", (4.6, 0.83)),
    ):
        axis.plot(budgets, [solver(FIRST, d).value for d in budgets], style, color=color)
        mark(axis, *at, name, color)
    blind = transport.trade_off(FIRST, budgets, "pdi")
    axis.plot(budgets, [one.value for one in blind], color="#56B4E9", linewidth=7)
    axis.plot(budgets, [one.value for one in transport.trade_off(FIRST, budgets)], "--", color=BLUE)
    mark(axis, 1.9, 0.68, "all mechanisms,\nblind or not", BLUE, ha="right")
    axis.set(xlabel="budget $D$", ylabel="accuracy on $Y$", xlim=(0, 9), ylim=(0.48, 1.01))
    return figure


def sparse():
    figure, axis = plt.subplots()
    found = {tuple(int(word) for word in key.split() if word.isdigit()): value for key, value in samples().items()}
    dimensions = sorted({d for _, d in found})
    for (records, color), offset in zip(((50, RED), (150, PURPLE), (450, GREEN)), (0.015, -0.005, -0.025), strict=True):
        line = [found[records, d] for d in dimensions]
        axis.plot(dimensions, line, "o-", color=color)
        mark(axis, 17.5, line[-1] + offset, f"{records} records", color)
    true = transport.optimal_pdd(GaussianMixture(0.5, 1, 1, 1), 0.5).value
    axis.axhline(true, color=BLUE, linestyle="--")
    mark(axis, 31, true + 0.03, "the true optimum", BLUE, ha="right")
    axis.set(xscale="log", xlabel="dimension", ylabel="optimum of a sample", xlim=(0.9, 32), ylim=(0.5, 0.95))
    axis.set_xticks(dimensions, [str(d) for d in dimensions])
    axis.minorticks_off()
    return figure


def samples():
    """Optima of samples, as chapter 19 recorded them."""
    return results("19_optimum_on_the_line")["line_sample"]


def gate():
    figure, axis = diagram()
    box(axis, (1.3, 2.5), (2.0, 1.5), "record\n$x,\\ y$")
    box(axis, (5.0, 2.5), (2.6, 2.0), "network", BLUE, fontsize=26)
    arrow(axis, (2.4, 2.5), (3.6, 2.5))
    for y, name, color in ((4.0, "gate $g$: does it move?", GREEN), (1.0, "move $v$: how far?", PURPLE)):
        arrow(axis, (6.4, 2.5 + 0.3 * np.sign(y - 2.5)), (7.5, y), color=color)
        axis.text(7.65, y, name, ha="left", va="center", color=color, fontsize=24)
    axis.text(7.65, 2.85, r"$\hat X = x + v$ with probability $g$,", ha="left", va="center", fontsize=21)
    axis.text(7.65, 2.15, r"$\hat X = x$ otherwise", ha="left", va="center", fontsize=21)
    return figure


def near_the_optimum():
    figure, axis = plt.subplots()
    found = results("20_learned_without_a_family")
    rows = [row for row in found["nets_rows"] if row.startswith("dataset")]
    optimum, family = (np.array(found[name][: len(rows)]) for name in ("nets_optimum", "nets_family"))
    networks = table("networks")
    line = networks[networks.part == "line"]
    axis.plot(range(len(rows)), family, "s", color="#B36B00", label="best of four parameters")
    for place, row in enumerate(rows):
        case, d = row.split("/")
        learned = line[(line.case == case) & (line.D == float(d))].accuracy
        axis.plot(place, learned.mean(), "o", color=RED, label="networks" if place == 0 else None)
    axis.plot(range(len(rows)), optimum, "_", color=BLUE, markersize=34, markeredgewidth=5, label="all mechanisms")
    axis.set_xticks(range(len(rows)), [row.removeprefix("dataset ") for row in rows])
    axis.set(xlabel="dataset / budget", ylabel="accuracy on $Y$")
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def attackers():
    figure, axis = plt.subplots()
    networks = table("networks")
    of_seeds = networks[(networks.part == "space") & (networks.D == 3) & (networks.records == 20000)]
    space = of_seeds.groupby("d", as_index=False)[["accuracy", "margin", "optimum"]].mean()
    places = np.arange(len(space))
    axis.errorbar(places, space.accuracy, space.margin, fmt="o", color=RED, capsize=8, markersize=14)
    axis.plot(places, space.optimum, "_", color=BLUE, markersize=60, markeredgewidth=5)
    mark(axis, places[-1] + 0.1, space.accuracy.iloc[-1] + 0.006, "best attacker", RED)
    mark(axis, places[-1] + 0.25, space.optimum.iloc[-1] - 0.004, "optimum", BLUE)
    family = gaussian.optimal_affine(FIRST, 3).value
    axis.axhline(family, color="#B36B00", linestyle="--")
    mark(axis, places[0] - 0.4, family - 0.012, "best of four parameters, on the line", "#B36B00")
    axis.set_xticks(places, [f"{d} dimensions" for d in space.d])
    axis.set(ylabel="accuracy on $Y$", xlim=(-0.5, len(space) - 0.2), ylim=(0.69, 0.89))
    axis.tick_params(axis="x", length=0)
    return figure


def digits():
    figure, axis = plt.subplots()
    found = {
        tuple(key.split("/")): value for key, value in results("20_learned_without_a_family")["nets_digits"].items()
    }
    methods = (("noise", GREY), ("game", BLUE), ("plan", GREEN))
    for place, (method, color) in enumerate(methods):
        for d, shift, alpha in (("1", -0.2, 0.55), ("2", 0.2, 1)):
            bar = axis.bar(place + shift, found[method, d], 0.38, color=color, alpha=alpha)
            axis.bar_label(bar, fmt="%.3f", padding=-30, color="white" if alpha == 1 else INK)
    axis.axhline(found["nothing done", "0"], color=INK, linestyle=":")
    axis.set_xticks(range(3), ["noise", "a game", "a fitted plan"])
    axis.tick_params(axis="x", length=0, labelsize=24)
    axis.set(ylabel="best attacker's accuracy", ylim=(0.8, 1.0))
    mark(axis, 2.45, found["nothing done", "0"] + 0.006, "pictures as they are", ha="right")
    return figure
