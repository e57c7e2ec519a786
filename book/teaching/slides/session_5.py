"""Session 5: log-loss, and the game learned from records."""

from functools import cache

import numpy as np
from drawing import ADVERSARY, BLUE, GREEN, GREY, INK, PALE, PRIVATIZER, RED, arrow, box, diagram, mark
from matplotlib import pyplot as plt
from recorded import training
from scipy.special import entr
from scipy.stats import norm

from gaplib import gaussian
from gaplib.book import paper
from gaplib.leakage import map_accuracy, mutual_information
from gaplib.mechanisms import AffineGaussian
from gaplib.models import GaussianMixture

FIRST, THIRD = paper.DATASETS[1], paper.DATASETS[3]
PLAYED = GaussianMixture(0.75, 3, 4, 1)  # the game of chapter 10, which is recorded
SIZES = (500, 2000, 8000, 32000)


def path(share):
    """Dataset 1 at D = 1, with this share of the budget spent on Y = 0, half of it as noise."""
    parts = np.sqrt([share, 1 - share])
    return AffineGaussian(*parts, *parts)


def frozen(mechanism):
    """Accuracy of the rule that guesses 1 above zero, which answers the mechanism with equal shares."""
    means = FIRST.means + mechanism.shifts
    return float(FIRST.p_y @ norm.cdf(np.array([-1, 1]) * means / np.sqrt(FIRST.variances + mechanism.scales**2)))


@cache
def sampling_errors():
    """Mean distance, over 60 samples, of the accuracy that the optimum of a sample leaves from the least one."""
    least = gaussian.optimal_affine(THIRD, 3).value
    errors = []
    for n in SIZES:
        found = [
            gaussian.optimal_affine(GaussianMixture.from_sample(*THIRD.sample(n, seed)), 3).mechanism
            for seed in range(60)
        ]
        errors.append(np.mean([abs(map_accuracy(THIRD, one) - least) for one in found]))
    return np.array(errors)


def values():
    """The numbers that the text states."""
    played = training("unequal")
    guess, log = (gaussian.optimal_affine(THIRD, 4, loss=loss).mechanism for loss in ("0-1", "log"))
    return {
        "guess_accuracy": map_accuracy(THIRD, guess),
        "log_accuracy": map_accuracy(THIRD, log),
        "guess_nats": mutual_information(THIRD, guess),
        "log_nats": mutual_information(THIRD, log),
        "price": played["optimum"]["price"],
        "reached": played["history"]["multiplier"][-1],
        "records": played["records"],
        "least": SIZES[0],
        "most": SIZES[-1],
    }


def two_optima():
    figure, axes = plt.subplots(1, 2)
    budgets = np.linspace(0, 7, 29)
    for loss, color, style in (("0-1", RED, "-"), ("log", BLUE, "--")):
        found = [gaussian.optimal_affine(THIRD, d, loss=loss).mechanism for d in budgets]
        axes[0].plot(budgets, [map_accuracy(THIRD, one) for one in found], style, color=color)
        axes[1].plot(budgets, [mutual_information(THIRD, one) for one in found], style, color=color)
    axes[0].set(xlabel="budget $D$", ylabel="accuracy on $Y$")
    axes[1].set(xlabel="budget $D$", ylabel="information (nats)")
    mark(axes[0], 3.4, 0.93, "optimum for\nlog-loss", BLUE)
    mark(axes[0], 2.2, 0.79, "for a guess", RED, ha="right")
    return figure


def certainty():
    figure, axis = plt.subplots()
    u = np.linspace(0, 1, 401)
    axis.plot(u, entr(u) + entr(1 - u), color=BLUE)
    axis.plot(u, np.minimum(u, 1 - u), "--", color=RED)
    for low, high in ((0.8, 0.95),):
        axis.axvspan(low, high, color=PALE, linewidth=0)
        mark(axis, (low + high) / 2, 0.72, "both guess 1", GREY, ha="center")
    mark(axis, 0.13, 0.56, "log-loss", BLUE, ha="right")
    mark(axis, 0.29, 0.2, "0-1 loss", RED)
    axis.set(xlabel="posterior of $Y = 1$", ylabel="expected loss", xlim=(0, 1), ylim=(0, 0.76))
    return figure


def turns():
    figure, axis = diagram()
    box(axis, (1.5, 2.5), (2.3, 1.5), "minibatch\nof records")
    box(axis, (5.7, 4.0), (3.2, 1.4), "privatizer", PRIVATIZER, fontsize=26)
    box(axis, (10.2, 2.5), (2.8, 1.5), "adversary", ADVERSARY, fontsize=26)
    arrow(axis, (2.2, 3.35), (4.0, 4.0))
    arrow(axis, (7.4, 4.0), (9.6, 3.35))
    axis.text(8.6, 4.1, "releases", ha="left", va="center")
    arrow(axis, (8.7, 2.2), (6.9, 1.4), color=ADVERSARY)
    box(axis, (5.5, 0.95), (2.6, 1.0), "loss", GREY, fontsize=24)
    arrow(axis, (5.5, 1.55), (5.6, 3.2), color=PRIVATIZER)
    axis.text(8.3, 1.0, r"$k$ steps down", ha="left", va="center", color=ADVERSARY)
    axis.text(5.3, 2.4, "one step up", ha="right", va="center", color=PRIVATIZER)
    return figure


def price_settles():
    figure, axis = plt.subplots()
    played = training("unequal")
    axis.plot(played["history"]["iteration"], played["history"]["multiplier"], color=BLUE, linewidth=3)
    axis.axhline(played["optimum"]["price"], color=INK, linestyle="--", linewidth=3)
    mark(axis, 2980, played["optimum"]["price"] * 1.06, "exact price", INK, ha="right", va="bottom")
    axis.set(xlabel="iteration", ylabel="multiplier", xlim=(0, 3000), ylim=(0, None))
    return figure


def belief():
    figure, axis = plt.subplots()
    played = training("unequal")
    low, high, bins = played["grid"]
    centers = np.linspace(low, high, bins + 1)[:-1] + (high - low) / bins / 2
    moment = played["moments"][-1]
    counts = np.array(moment["released"], dtype=float)
    total = counts.sum(axis=0)
    axis.fill_between(centers, total / total.max(), color=PALE, linewidth=0)
    seen = total >= 50
    axis.plot(centers[seen], counts[1, seen] / total[seen], "o", color=RED, markersize=9)
    axis.plot(centers, np.array(moment["belief"]) / 1000, color=BLUE)
    mark(axis, 2.6, 0.72, "adversary's belief", BLUE)
    mark(axis, -2.7, 0.45, "share of $Y = 1$\namong the releases", RED, ha="right")
    mark(axis, 4.2, 0.2, "where releases fall", GREY)
    axis.set(xlabel="release", ylabel="belief in $Y = 1$", xlim=(low, high), ylim=(0, 1.02))
    return figure


def frozen_and_answered():
    figure, axis = plt.subplots()
    shares = np.linspace(0.5, 1, 51)
    axis.plot(shares, [frozen(path(one)) for one in shares], color=BLUE)
    axis.plot(shares, [map_accuracy(FIRST, path(one)) for one in shares], "--", color=RED)
    mark(axis, 0.99, 0.9665, "adversary held fixed", BLUE, ha="right")
    mark(axis, 0.83, 0.9775, "adversary answers", RED, ha="right")
    axis.set(xlabel="share of the budget spent on $Y = 0$", ylabel="accuracy on $Y$", xlim=(0.5, 1))
    return figure


def records():
    figure, axis = plt.subplots()
    errors = sampling_errors()
    line = np.array(SIZES) ** -0.5
    axis.loglog(SIZES, errors, "o-", color=BLUE)
    axis.loglog(SIZES, errors[0] * line / line[0], ":", color=GREEN)
    mark(axis, SIZES[1] * 1.15, errors[1] * 1.35, "mean error of the optimum of a sample", BLUE)
    mark(axis, SIZES[0] * 1.1, errors[2], "dotted: half for four times the records", GREEN)
    axis.set_xticks(SIZES, [f"{n:,}" for n in SIZES])
    axis.set_yticks([0.001, 0.002, 0.005], ["0.001", "0.002", "0.005"])
    axis.minorticks_off()
    axis.set(xlabel="records", ylabel="error in accuracy")
    return figure
