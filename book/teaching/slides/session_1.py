"""Session 1: the smart meter, two promises, the game and its losses."""

import numpy as np
from drawing import ADVERSARY, BLUE, GREEN, GREY, KINDS, PALE, PRIVATIZER, PURPLE, RED, arrow, box, diagram, mark, tile
from matplotlib import pyplot as plt

from gaplib import binary, losses
from gaplib.leakage import map_accuracy
from gaplib.mechanisms import BinaryKernel
from gaplib.models import BinaryModel

# The eight households of chapter 1: load, presence, and the load that is published.
LOAD = np.array([1, 0, 1, 1, 0, 0, 1, 0])
HOME = np.array([1, 0, 1, 0, 0, 1, 1, 0])
PUBLISHED = np.array([1, 0, 0, 1, 1, 0, 1, 0])
STORY = BinaryModel.xor(0.5, 0.25)
D = 0.15
UNEVEN = BinaryModel.xor(0.75, 0.25)
BELIEF = 0.8
ORDER = 2


def randomized_response(f):
    """Flip each bit with the probability f, whatever Y."""
    return BinaryKernel(*[1 - f] * 4)


def best_reply_to(rule, model, budget):
    """The least accuracy that a privatizer who knows the adversary's rule, a guess for each release, leaves to it."""
    right = np.array([[rule[i] == j for j in (0, 1)] for i in (0, 1)], dtype=float)
    gain = (model.joint * (right - right[::-1])).clip(0)  # what a flip of the whole entry takes
    return (model.joint * right).sum() - min(budget, model.joint[gain > 0].sum())


def values():
    """The numbers that the text states."""
    optimum = binary.optimal_pdd(UNEVEN, 0.2)
    released = optimum.mechanism.released(UNEVEN)
    one = np.array([[1 - BELIEF, BELIEF]])
    honest, tilted = losses.posterior(one)[0], losses.tilted_posterior(one, ORDER)[0]
    return {
        "households": len(LOAD),
        "changed": int((LOAD != PUBLISHED).sum()),
        "before": int((LOAD == HOME).sum()),
        "after": int((PUBLISHED == HOME).sum()),
        "q": STORY.joint[0, 1] + STORY.joint[1, 0],
        "D": D,
        "rr": map_accuracy(STORY, randomized_response(D)),
        "pdd": binary.optimal_pdd(STORY, D).value,
        "belief": BELIEF,
        "order": ORDER,
        "mean": losses.conditional_mean(one, [0, 1])[0],
        "square": losses.expected_loss(one, losses.squared_loss(BELIEF, np.array([[0, 1]]))),
        "wrong": losses.expected_loss(one, losses.zero_one_loss(1, np.array([[0, 1]]))),
        "log": losses.expected_loss(one, losses.log_loss(honest)[None]),
        "tilted": tilted[1],
        "alpha": losses.expected_loss(one, losses.alpha_loss(tilted, ORDER)[None]),
        "trap": optimum.value,
        "trap_guess": float(np.diag(released).sum()),
        "trap_answered": best_reply_to((0, 1), UNEVEN, 0.2),
        "epsilon": float(np.log((1 - D) / D)),
    }


def rows(axis, names, lines, left=2.2, right_marks=()):
    """A table with a column for each household."""
    width, height = (12 - left) / len(LOAD), 4.6 / (len(lines) + 1)
    for i in range(len(LOAD)):
        axis.text(left + (i + 0.5) * width, 4.6, str(i + 1), ha="center", va="center", color=GREY)
    axis.text(0.1, 4.6, "household", va="center", color=GREY)
    for row, (name, texts, colors) in enumerate(zip(names, lines, right_marks, strict=True)):
        bottom = 4.6 - height * (row + 1.35)
        axis.text(0.1, bottom + height / 2, name, va="center")
        for i, (text, color) in enumerate(zip(texts, colors, strict=True)):
            tile(axis, (left + i * width, bottom), (width, height * 0.94), text, color, fontsize=22)


def words(bits, names):
    return [names[bit] for bit in bits]


def households():
    figure, axis = diagram()
    lines = [words(LOAD, ("low", "high")), words(HOME, ("away", "home"))]
    colors = [[PALE if bit else "#f2f4f6" for bit in LOAD], [KINDS[bit] for bit in HOME]]
    rows(axis, ("public:\nload $X$", "private:\n$Y$"), lines, right_marks=colors)
    return figure


def loads():
    figure, axis = diagram()
    lines = [words(LOAD, ("low", "high")), ["?"] * len(HOME)]
    colors = [[PALE if bit else "#f2f4f6" for bit in LOAD], ["#fdf3e1"] * len(HOME)]
    rows(axis, ("public:\nload $X$", "your guess\nof $Y$"), lines, right_marks=colors)
    return figure


def two_changes():
    figure, axis = diagram()
    colors = [[PALE if bit else "#f2f4f6" for bit in LOAD]]
    colors += [[KINDS[1] if new != old else pale for new, old, pale in zip(PUBLISHED, LOAD, colors[0], strict=True)]]
    lines = [words(LOAD, ("low", "high")), words(PUBLISHED, ("low", "high"))]
    for release in (LOAD, PUBLISHED):
        lines.append(["right" if hit else "wrong" for hit in release == HOME])
        colors.append(["#bfe3d5" if hit else "#f4c7b0" for hit in release == HOME])
    order = [0, 2, 1, 3]
    names = ("load $X$", "guess from $X$", r"release $\hat X$", r"guess from $\hat X$")
    rows(axis, names, [lines[i] for i in order], left=2.8, right_marks=[colors[i] for i in order])
    return figure


def flips():
    figure, axis = plt.subplots()
    f = np.linspace(0.005, 0.5, 200)
    axis.plot(f, np.log((1 - f) / f), color=BLUE)
    axis.plot([D, D, 0], [0, np.log((1 - D) / D), np.log((1 - D) / D)], ":", color=GREY)
    axis.plot(D, np.log((1 - D) / D), "o", color=RED)
    axis.set(xlabel="probability $f$ of a flip", ylabel=r"$\varepsilon$", xlim=(0, 0.5), ylim=(0, 5))
    mark(axis, 0.2, 4.2, r"$\varepsilon = \ln\,\frac{1-f}{f}$", fontsize=34)
    mark(axis, 0.03, 4.5, "tells all", GREY)
    mark(axis, 0.49, 0.6, "tells nothing", GREY, ha="right")
    return figure


def bound():
    figure, axis = plt.subplots()
    f = np.linspace(0.01, 0.5, 120)
    epsilon = np.log((1 - f) / f)
    axis.plot(epsilon, 1 - f, color=RED)
    axis.plot(epsilon, [map_accuracy(STORY, randomized_response(one)) for one in f], color=BLUE)
    axis.axhline(0.5, color=GREY, linestyle=":")
    axis.set(xlabel=r"$\varepsilon$ of randomized response", ylabel="accuracy on $Y$", xlim=(0, 4), ylim=(0.48, 1))
    mark(axis, 2.2, 0.84, "at most, for every distribution", RED)
    mark(axis, 1.7, 0.61, "in the story", BLUE)
    return figure


def equal_distortion():
    figure, axis = plt.subplots()
    budgets = np.linspace(0, 0.5, 101)
    axis.plot(budgets, [map_accuracy(STORY, randomized_response(d)) for d in budgets], color=RED)
    axis.plot(budgets, [binary.optimal_pdd(STORY, d).value for d in budgets], color=BLUE)
    axis.axhline(0.5, color=GREY, linestyle=":")
    axis.set(xlabel="probability of a flip", ylabel="accuracy on $Y$", xlim=(0, 0.5), ylim=(0.48, 0.77))
    mark(axis, 0.24, 0.66, "randomized response", RED)
    mark(axis, 0.15, 0.57, "sees $Y$", BLUE, ha="right")
    mark(axis, 0.02, 0.51, "prior", GREY)
    return figure


def misspecified():
    figure, axis = plt.subplots()
    truths = np.linspace(0, 1, 201)
    models = [BinaryModel.xor(0.5, truth) for truth in truths]
    built = binary.optimal_pdd(STORY, D).mechanism
    axis.plot(truths, [map_accuracy(m, randomized_response(D)) for m in models], color=RED)
    axis.plot(truths, [map_accuracy(m, built) for m in models], color=BLUE)
    q = values()["q"]
    axis.axvline(q, color=GREY, linestyle=":")
    axis.set(
        xlabel="true probability that $Y$ differs from $X$", ylabel="accuracy on $Y$", xlim=(0, 1), ylim=(0.48, 1.01)
    )
    mark(axis, q + 0.01, 0.97, "assumed", GREY)
    mark(axis, 0.56, 0.7, "built for the\nassumed $q$", BLUE, ha="right")
    mark(axis, 0.98, 0.62, "randomized response", RED, ha="right")
    return figure


def players():
    figure, axis = diagram()
    box(axis, (1.2, 2.5), (1.9, 1.7), "record\n$X,\\ Y$")
    box(axis, (4.8, 2.5), (2.6, 1.9), "privatizer\n$g$", PRIVATIZER, fontsize=26)
    box(axis, (9.0, 2.5), (2.6, 1.9), "adversary\n$h$", ADVERSARY, fontsize=26)
    arrow(axis, (2.2, 2.5), (3.45, 2.5))
    arrow(axis, (6.15, 2.5), (7.65, 2.5), r"$\hat X$")
    arrow(axis, (10.35, 2.5), (11.4, 2.5))
    axis.text(11.7, 2.5, r"$\hat Y$", ha="center", va="center", fontsize=28)
    arrow(axis, (4.8, 4.3), (4.8, 3.5))
    axis.text(4.8, 4.55, "randomness", ha="center", va="center")
    axis.text(4.5, 0.9, "distortion at most $D$", ha="center", va="center", color=PRIVATIZER)
    axis.text(9.2, 0.9, "knows $g$ and the distribution", ha="center", va="center", color=ADVERSARY)
    return figure


def one_problem_each():
    figure, axis = plt.subplots()
    table = binary.optimal_pdd(UNEVEN, 0.1).mechanism.released(UNEVEN)
    for j in (0, 1):
        axis.barh([1, 0], table[:, j], 0.55, left=table[:, 0] * j, color=KINDS[j], edgecolor="white", linewidth=3)
    for k, y in ((0, 1), (1, 0)):
        posterior = table[k] / table[k].sum()
        for j in (0, 1):
            at = table[k, :j].sum() + table[k, j] / 2
            axis.text(at, y, f"{posterior[j]:.2f}", ha="center", va="center")
        mark(axis, table[k].sum() + 0.015, y, f"best guess: {table[k].argmax()}", ADVERSARY)
    for j, at in ((0, 0.2), (1, 0.55)):
        axis.text(at, 0.5, f"$Y = {j}$", ha="center", va="center", color=("#0072B2", "#B36B00")[j])
    axis.set(yticks=[1, 0], yticklabels=[r"$\hat X = 0$", r"$\hat X = 1$"], xlim=(0, 0.9), xlabel="probability")
    axis.tick_params(axis="y", labelsize=26, length=0)
    return figure


def four_losses():
    figure, axis = plt.subplots()
    belief = np.linspace(0.02, 1, 300)
    axis.plot(belief, losses.log_loss(belief), color=BLUE)
    axis.plot(belief, losses.alpha_loss(belief, ORDER), color=GREEN)
    axis.plot(belief, losses.alpha_loss(belief, 8), color=PURPLE)
    axis.plot(belief, 1 - belief, "--", color=RED)
    axis.set(xlabel="belief in the value that turns out true", ylabel="loss", xlim=(0, 1), ylim=(0, 3.2))
    mark(axis, 0.11, 2.6, r"log-loss ($\alpha = 1$)", BLUE)
    mark(axis, 0.03, 1.85, rf"$\alpha = {ORDER}$", GREEN)
    mark(axis, 0.02, 1.22, r"$\alpha = 8$", PURPLE)
    mark(axis, 0.3, 0.4, r"$\alpha = \infty$: 0-1", RED, ha="right")
    return figure


def tilt():
    figure, axis = plt.subplots()
    u = np.linspace(0, 1, 301)
    for alpha, color, style in ((1, BLUE, "-"), (2, GREEN, "-"), (8, PURPLE, "-")):
        axis.plot(u, u**alpha / (u**alpha + (1 - u) ** alpha), style, color=color)
    axis.plot(u, u > 0.5, "--", color=RED)
    axis.set(xlabel="posterior of $Y = 1$", ylabel="belief stated", xlim=(0, 1), ylim=(-0.02, 1.02))
    mark(axis, 0.27, 0.33, "honest, $\\alpha = 1$", BLUE, ha="right")
    mark(axis, 0.29, 0.09, r"$\alpha = 2$", GREEN)
    mark(axis, 0.65, 0.93, r"$\alpha = 8$", PURPLE)
    mark(axis, 0.49, 0.97, r"MAP, $\alpha = \infty$", RED, ha="right")
    return figure


def two_replies():
    found = values()
    figure, axis = plt.subplots()
    heights = [[found["trap_guess"], found["trap"]], [found["trap_answered"], found["trap"]]]
    for i, (color, name) in enumerate(
        ((PALE, "against the optimal mechanism"), (RED, "if the privatizer knows the rule"))
    ):
        bars = axis.bar(np.arange(2) + 0.4 * i - 0.2, heights[i], 0.38, color=color, label=name)
        axis.bar_label(bars, fmt="%.3f", padding=4)
    axis.set_xticks([0, 1], [r"guess $\hat X$", "always guess 1"])
    axis.set(ylabel="accuracy on $Y$", ylim=(0.4, 0.78), xlim=(-0.6, 1.6))
    axis.tick_params(axis="x", length=0, labelsize=24)
    figure.legend(loc="outside upper center", ncols=2)
    return figure
