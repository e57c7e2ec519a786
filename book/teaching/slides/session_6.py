"""Session 6: what learners reach, and which loss they should train with."""

from functools import cache

import numpy as np
from drawing import BLUE, GREEN, GREY, INK, PALE, PURPLE, RED, diagram, mark, tile
from matplotlib import pyplot as plt
from recorded import results, table

from gaplib.book import paper
from gaplib.leakage import arimoto_conditional_entropy
from gaplib.mechanisms import AffineGaussian

THIRD = paper.DATASETS[3]
TRAP, ORDER = 5.0, 8
VERDICTS = {"derived": GREEN, "reproduced by training": BLUE, "seen in our runs": "#56B4E9"}
OTHERS = {"consistent as printed": "#9aa5b1", "corrected": "#E69F00", "not reproduced": RED}


@cache
def rows():
    """Accuracies of the paper's 36 games, a row for each and a column for each source."""
    found = table("gaussian_rows")
    return found[found.quantity == "p_detect"].pivot(index=["dataset", "D"], columns="source", values="value")


def excess(source, over):
    """How far the accuracies of a source are above those of an optimum."""
    return rows()[source] - rows()[over]


def values():
    """The numbers that the text states."""
    worst = excess("paper", "optimum, log-loss").idxmax()
    row = rows().loc[worst]
    counts = table("summary").set_index("part of the paper").loc["all"]
    binary = results("11_binary_learned")
    return {
        "games": len(rows()),
        "dataset": worst[0],
        "D": worst[1],
        "paper": row["paper"],
        "ours": row["learned, log-loss"],
        "optimum": row["optimum, log-loss"],
        "worst": max(binary["blearn_worst_accuracy"].values()),
        "statements": int(counts.sum()),
        "derived": int(counts["derived"]),
        "corrected": int(counts["corrected"]),
        "missed": int(counts["not reproduced"]),
        "order": ORDER,
        "trap": TRAP,
        "apart": excess("learned, log-loss", "optimum, 0-1 loss").max(),
        "furthest": excess("learned, log-loss", "optimum, log-loss").abs().max(),
        "close": excess("learned, alpha-loss of order 8", "optimum, 0-1 loss").max(),
    }


def figure_5():
    figure, axes = plt.subplots(1, 2, sharey=True)
    found = table("figure_5")
    found = found[found.quantity == "accuracy"]
    for axis, p in zip(axes, (0.5, 0.75), strict=True):
        for kind, color in (("pdd", BLUE), ("pdi", RED)):
            one = found[(found.p == p) & (found.kind == kind)]
            for source, style in (("optimum, 0-1 loss", "-"), ("learned, log-loss", "o")):
                part = one[one.source == source].sort_values("D")
                axis.plot(part.D, part.value, style, color=color, markersize=11)
        axis.set(title=f"$P(X = 1) = {p:g}$", xlabel="budget $D$")
    axes[0].set_ylabel("accuracy on $Y$")
    mark(axes[0], 0.22, 0.67, "does not see $Y$", RED)
    mark(axes[0], 0.13, 0.55, "sees $Y$", BLUE, ha="right")
    return figure


def whose_error():
    figure, axis = plt.subplots()
    found = results("11_binary_learned")
    optimum = np.array(found["blearn_accuracy_optimum"])
    learned = 1000 * (np.array(found["blearn_accuracy_mean"]) - optimum)
    perfect = 1000 * (np.array(found["blearn_accuracy_perfect"]) - optimum)
    ends = np.array([min(perfect.min(), learned.min()), max(perfect.max(), learned.max())]) * 1.1
    axis.plot(ends, ends, ":", color=GREY)
    axis.plot(perfect, learned, "o", color=BLUE, alpha=0.6)
    mark(axis, ends[0] * 0.75, ends[1] * 0.5, "on the line: the error is the sample's", INK)
    axis.set(xlabel="error of the sample's exact optimum (in thousandths)", ylabel="of the learned one")
    return figure


def all_rows():
    figure, axis = plt.subplots()
    for source, color, marker, name in (
        ("paper", RED, "s", "paper"),
        ("learned, log-loss", BLUE, "o", "trained again"),
    ):
        axis.plot(range(len(rows())), excess(source, "optimum, log-loss"), marker, color=color, label=name)
    axis.axhline(0, color=INK, linewidth=2)
    sizes = rows().groupby("dataset").size()
    starts = np.r_[0, sizes.cumsum()]
    for start in starts[1:-1]:
        axis.axvline(start - 0.5, color=PALE)
    axis.set_xticks((starts[:-1] + starts[1:] - 1) / 2, [f"dataset {n}" for n in sizes.index])
    axis.tick_params(axis="x", length=0)
    axis.set(ylabel="accuracy above the optimum")
    axis.legend(loc="upper left")
    return figure


def one_row():
    figure, axis = plt.subplots()
    found = values()
    names = ("exact optimum", "trained again", "paper's run")
    bars = axis.barh(names, [found["optimum"], found["ours"], found["paper"]], 0.6, color=[PALE, BLUE, RED])
    axis.bar_label(bars, fmt="%.3f", padding=8, fontsize=24)
    axis.set(xlabel="accuracy on $Y$", xlim=(0.75, 0.95))
    axis.tick_params(axis="y", length=0, labelsize=24)
    return figure


def weights():
    figure, axis = plt.subplots()
    t = np.linspace(0.01, 0.99, 401)
    for alpha, color, name, at in (
        (1, BLUE, r"$\alpha = 1$: log-loss", (0.115, 12)),
        (2, GREEN, r"$\alpha = 2$", (0.25, 1.2)),
        (8, PURPLE, r"$\alpha = 8$", (0.57, 10)),
    ):
        weight = alpha * (t * (1 - t)) ** (alpha - 2) * (t**alpha + (1 - t) ** alpha) ** (1 / alpha - 2)
        axis.plot(t, weight, color=color)
        mark(axis, *at, name, color)
    axis.axvline(0.5, color=RED, linestyle="--")
    mark(axis, 0.57, 13.6, r"$\alpha = \infty$: one threshold", RED)
    axis.set(xlabel="threshold of the MAP adversary", ylabel="weight", xlim=(0, 1), ylim=(0, 15))
    return figure


def orders():
    figure, axis = plt.subplots()
    low, high = (excess(f"learned, {loss}", "optimum, 0-1 loss") for loss in ("log-loss", "alpha-loss of order 8"))
    shown = low[low > 0.004].sort_values().index
    for place, row in enumerate(shown):
        axis.plot([place, place], [low[row], high[row]], color=PALE, linewidth=6)
    axis.plot(range(len(shown)), low[shown], "s", color=RED, label="trained against log-loss")
    axis.plot(range(len(shown)), high[shown], "o", color=BLUE, label=f"against order {ORDER}")
    axis.axhline(0, color=INK, linewidth=2)
    axis.set_xticks(range(len(shown)), [f"{dataset}/{d:g}" for dataset, d in shown])
    axis.set(xlabel="dataset / budget", ylabel="accuracy above\nthe MAP optimum")
    axis.legend(loc="upper left")
    return figure


def least_loss(noise):
    """The least loss of order 8 in dataset 3, with this noise at Y = 1 and the rest of the budget as shift."""
    p = THIRD.prior
    beta = np.sqrt((TRAP - p * noise**2) / THIRD.var_y)
    mechanism = AffineGaussian(p * beta, (1 - p) * beta, 0, abs(noise))
    rest = (ORDER - 1) / ORDER
    return (1 - np.exp(-rest * arimoto_conditional_entropy(THIRD, mechanism, ORDER))) / rest


def trap():
    figure, axis = plt.subplots()
    noises = np.linspace(-1.8, 1.8, 121)
    losses = np.array([least_loss(noise) for noise in noises])
    axis.plot(noises, losses, color=BLUE)
    axis.plot(0, least_loss(0.0), "o", color=RED, markersize=18)
    for sign in (-1, 1):
        best = losses.argmax()
        axis.plot(sign * abs(noises[best]), losses[best], "*", color=GREEN, markersize=28)
    mark(axis, 0, least_loss(0.0) - 0.12 * np.ptp(losses), "slope zero", RED, ha="center")
    mark(axis, abs(noises[losses.argmax()]), losses.max() + 0.1 * np.ptp(losses), "optimum", GREEN, ha="center")
    axis.set(xlabel=r"noise $\gamma_1$ at $Y = 1$, the rest is shift", ylabel="adversary's loss")
    axis.set(ylim=(losses.min() - 0.1 * np.ptp(losses), losses.max() + 0.2 * np.ptp(losses)), xlim=(-1.8, 1.8))
    return figure


def doubtful():
    figure, axis = plt.subplots()
    z = np.linspace(-8, 6, 401)
    b = 1 / (1 + np.exp(-z))
    for alpha, color, name, at in (
        (1, BLUE, r"$\alpha = 1$", (-6, 0.93)),
        (2, GREEN, r"$\alpha = 2$", (-3.4, 0.42)),
        (8, PURPLE, r"$\alpha = 8$", (-0.75, 0.2)),
    ):
        axis.plot(z, b ** (1 - 1 / alpha) * (1 - b), color=color)
        mark(axis, *at, name, color, ha="right" if alpha == 2 else "left")
    mark(axis, -7.9, 0.16, "surely wrong", GREY)
    mark(axis, 5.9, 0.16, "surely right", GREY, ha="right")
    axis.set(xlabel="log odds of the true value", ylabel="gradient", xlim=(-8, 6), ylim=(0, 1.05))
    return figure


def verdicts():
    figure, axis = plt.subplots()
    counts = table("summary").set_index("part of the paper").drop("all")
    left = np.zeros(len(counts))
    for name, color in (VERDICTS | OTHERS).items():
        axis.barh(range(len(counts)), counts[name], 0.7, left=left, color=color, edgecolor="white", label=name)
        left += counts[name]
    axis.set_yticks(
        range(len(counts)), [part.replace(", introduction, conclusion", "\nand conclusion") for part in counts.index]
    )
    axis.invert_yaxis()
    axis.tick_params(axis="y", length=0)
    axis.set(xlabel="statements of the paper")
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def left_open():
    figure, axis = diagram()
    columns = ("a guess,\nsees $Y$", "a guess,\nblind to $Y$", "a belief")
    colors = {"formula": "#bfe3d5", "program": "#dbe9f4", "bounds": "#f7dcae", "open": "#f4c7b0"}
    lines = (
        ("two bits", ("formula", "formula", "formula")),
        ("a bit in letters", ("program", "program", "open")),
        ("a bit in a number", ("formula", "bounds", "bounds")),
        ("more private values", ("program", "program", "open")),
    )
    for j, name in enumerate(columns):
        axis.text(5.1 + 2.7 * j, 4.55, name, ha="center", va="center")
    for i, (name, cells) in enumerate(lines):
        y = 3.0 - 0.98 * i
        axis.text(0.1, y + 0.45, name, va="center")
        for j, cell in enumerate(cells):
            tile(axis, (3.8 + 2.7 * j, y), (2.62, 0.9), cell, colors[cell])
    return figure
