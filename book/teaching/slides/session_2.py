"""Session 2: two bits against an adversary that guesses."""

import numpy as np
from drawing import ADVERSARY, BLUE, GREEN, GREY, INK, PALE, PURPLE, RED, diagram, joint_bars, mark, tile
from matplotlib import pyplot as plt

from gaplib import binary
from gaplib.leakage import map_accuracy
from gaplib.mechanisms import BinaryKernel
from gaplib.models import BinaryModel

EVEN, UNEVEN = BinaryModel.xor(0.5, 0.25), BinaryModel.xor(0.75, 0.25)
D = 0.1
BUDGETS = np.linspace(0, 0.35, 141)
AS_IT_IS = BinaryKernel(1, 1, 1, 1)


def saturation(model, solver):
    """The budget from which on the accuracy is the prior."""
    start = solver(model, 0)
    return (start.value - model.p_y.max()) / start.price


def values():
    """The numbers that the text states."""
    blind, sees = binary.optimal_pdi(UNEVEN, 0).price, binary.optimal_pdd(UNEVEN, 0).price
    return {
        "before": map_accuracy(UNEVEN, AS_IT_IS),
        "after": binary.optimal_pdd(UNEVEN, D).value,
        "prior": UNEVEN.p_y.max(),
        "kappa": blind,
        "price": sees,
        "saturation": saturation(UNEVEN, binary.optimal_pdd),
        "blind": saturation(UNEVEN, binary.optimal_pdi),
        "q": 0.25,
    }


def bars():
    figure, axis = plt.subplots()
    joint_bars(axis, UNEVEN.joint, "X")
    axis.set(ylabel="probability", xlim=(-0.6, 1.6))
    return figure


def best_flips():
    figure, axes = plt.subplots(1, 2, sharey=True)
    joint_bars(axes[0], UNEVEN.joint, "X")
    joint_bars(axes[1], binary.optimal_pdd(UNEVEN, D).mechanism.released(UNEVEN), r"\hat X")
    found = values()
    axes[0].set(ylabel="probability", title=f"before: right {found['before']:.2f}")
    axes[1].set(title=f"after: right {found['after']:.2f}")
    return figure


def dual_line(model, rule, price):
    """The bound of a rule h(j | k) and a price, over the budgets."""
    keep, flip = rule, rule[::-1] + price
    return (model.joint * np.minimum(keep, flip)).sum() - price * BUDGETS


def dual_lines():
    figure, axis = plt.subplots()
    axis.plot(BUDGETS, [binary.optimal_pdd(UNEVEN, d).value for d in BUDGETS], color=INK, linewidth=6)
    guess_release, always = np.eye(2), np.array([[0, 1], [0, 1]])
    for rule, price, color, name, at in (
        (guess_release, 1, BLUE, r"guess $\hat X$, price 1", (0.308, 0.418)),
        (always, 0, RED, "always guess 1, price 0", (0.345, 0.648)),
        (guess_release, 0.75, GREEN, r"guess $\hat X$, price 3/4", (0.005, 0.46)),
        ((guess_release + always) / 2, 0.5, PURPLE, "a coin, price 1/2", (0.345, 0.585)),
    ):
        axis.plot(BUDGETS, dual_line(UNEVEN, rule, price), "--", color=color, linewidth=3)
        mark(axis, *at, name, color, ha="right" if at[0] > 0.3 else "left")
    mark(axis, 0.05, 0.73, "optimum")
    axis.set(xlabel="budget $D$", ylabel="accuracy on $Y$", xlim=(0, 0.35), ylim=(0.4, 0.77))
    return figure


def price():
    figure, axis = plt.subplots()
    for model, color, style, name in ((EVEN, BLUE, "-", "$p = 1/2$"), (UNEVEN, RED, "--", "$p = 3/4$")):
        end = saturation(model, binary.optimal_pdd)
        axis.step(BUDGETS, [binary.optimal_pdd(model, d).price for d in BUDGETS], style, color=color, where="post")
        mark(axis, end + 0.005, 0.6, name, color)
    axis.set(xlabel="budget $D$", ylabel="price: accuracy lost per flip", xlim=(0, 0.35), ylim=(-0.03, 1.1))
    return figure


def closed_form():
    figure, axis = plt.subplots()
    found = values()
    axis.plot(BUDGETS, [binary.optimal_pdd(UNEVEN, d).value for d in BUDGETS], color=BLUE, linewidth=6)
    axis.axhline(UNEVEN.p_y[1], color=RED, linestyle="--", linewidth=3)
    axis.axhline(UNEVEN.p_y[0], color=PURPLE, linestyle="--", linewidth=3)
    axis.plot(BUDGETS, found["before"] - BUDGETS, "--", color=GREEN, linewidth=3)
    axis.plot(found["saturation"], found["prior"], "o", color=INK)
    mark(axis, 0.345, UNEVEN.p_y[1] + 0.03, "$P(Y=1)$", RED, ha="right")
    mark(axis, 0.005, UNEVEN.p_y[0] + 0.03, "$P(Y=0)$", PURPLE)
    mark(axis, 0.21, 0.56, "$A_0 - D$", GREEN)
    mark(axis, found["saturation"] + 0.005, found["prior"] + 0.035, r"saturation $D^\star$")
    axis.set(xlabel="budget $D$", ylabel="accuracy on $Y$", xlim=(0, 0.35), ylim=(0.34, 0.78))
    return figure


def segments():
    figure, axis = plt.subplots()
    most = UNEVEN.joint[0, 0], UNEVEN.joint[1, 1]
    for budget, color in ((0.04, "#9cc7e3"), (0.08, "#4f9bcb"), (0.12, BLUE)):
        ends = np.array([0, min(budget, most[0])])
        axis.plot(ends, budget - ends, color=color, linewidth=7, solid_capstyle="round")
        mark(axis, budget + 0.002, 0.007, f"$D = {budget}$")
    axis.set(xlabel="mass flipped where $X = Y = 0$", ylabel="where $X = Y = 1$", xlim=(0, 0.16), ylim=(0, 0.135))
    return figure


def four_rules():
    figure, axis = plt.subplots()
    w, (p0, p1), q = np.linspace(0, 1, 101), UNEVEN.p_y, 0.25
    right = q + (1 - 2 * q) * w
    lines = np.array([right, 1 - right, np.full_like(w, p0), np.full_like(w, p1)])
    axis.axvspan(1 - D, 1, color=PALE, linewidth=0)
    for line, color in zip(lines, (BLUE, GREEN, PURPLE, RED), strict=True):
        axis.plot(w, line, color=color, linewidth=3)
    axis.plot(w, lines.max(axis=0), color=INK, linewidth=7, alpha=0.35)
    best = binary.optimal_pdi(UNEVEN, D)
    axis.plot(1 - D, best.value, "o", color=INK, markersize=16)
    mark(axis, 0.22, 0.33, r"guess $\hat X$", BLUE)
    mark(axis, 0.02, 0.77, "guess the opposite", GREEN)
    mark(axis, 0.5, p1 + 0.025, "always 1", RED, ha="center")
    mark(axis, 0.5, p0 - 0.03, "always 0", PURPLE, ha="center")
    mark(axis, 0.95, 0.5, "budget", GREY, ha="center")
    axis.set(xlabel="probability $w$ that $X$ is kept", ylabel="accuracy on $Y$", xlim=(0, 1), ylim=(0.23, 0.8))
    return figure


def blind_flips():
    figure, axis = diagram()
    flipped = 8
    wrong = round(flipped * values()["q"])
    states = ["right"] * (flipped - wrong) + ["wrong"] * wrong
    other = {"right": "wrong", "wrong": "right"}
    colors = {"right": "#bfe3d5", "wrong": "#f4c7b0"}
    for y, row, name in ((3.2, states, "guess before"), (1.4, [other[s] for s in states], "guess after")):
        axis.text(0.1, y + 0.55, name, va="center")
        for i, state in enumerate(row):
            tile(axis, (2.4 + 1.19 * i, y), (1.15, 1.1), state, colors[state], fontsize=22)
    axis.text(2.4, 4.65, "eight records, flipped without seeing $Y$", va="center")
    lost = flipped - 2 * wrong
    axis.text(
        7.2, 0.6, rf"right guesses lost: {flipped - wrong} $-$ {wrong} = {lost} of {flipped}", ha="center", va="center",
        fontsize=26, color=ADVERSARY,
    )  # fmt: skip
    return figure


def blind_or_not():
    figure, axis = plt.subplots()
    found = values()
    for solver, color, style, name, at in (
        (binary.optimal_pdd, BLUE, "-", "sees $Y$", (0.022, 0.665)),
        (binary.optimal_pdi, RED, "--", "does not see $Y$", (0.12, 0.71)),
    ):
        axis.plot(BUDGETS, [solver(UNEVEN, d).value for d in BUDGETS], style, color=color)
        axis.plot(saturation(UNEVEN, solver), found["prior"], "o", color=color)
        mark(axis, *at, name, color)
    axis.set(xlabel="budget $D$", ylabel="accuracy on $Y$", xlim=(0, 0.35), ylim=(0.6, 0.76))
    return figure
