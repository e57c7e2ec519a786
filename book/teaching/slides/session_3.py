"""Session 3: beliefs instead of guesses, numbers instead of bits."""

import numpy as np
from drawing import ADVERSARY, BLUE, GREY, INK, KINDS, LINES, PALE, PRIVATIZER, RED, arrow, box, diagram, mark
from matplotlib import pyplot as plt
from scipy.special import entr
from scipy.stats import norm

from gaplib import binary, gaussian
from gaplib.book import paper
from gaplib.leakage import map_accuracy, mutual_information
from gaplib.mechanisms import AffineGaussian
from gaplib.models import BinaryModel, GaussianMixture

UNEVEN = BinaryModel.xor(0.75, 0.25)
MIRRORED = BinaryModel.xor(0.6, 0.25)
THIRD = paper.DATASETS[3]
NOISE = 3.0
AS_IT_IS = AffineGaussian(0, 0, 0, 0)


def entropy(u):
    return entr(u) + entr(1 - u)


def beliefs(table):
    """P(Y = 1) after each release."""
    return table[:, 1] / table.sum(axis=1)


def saturations():
    """The budgets at which the accuracy, and the information, end."""
    start = binary.optimal_pdd(UNEVEN, 0)
    delta = np.linalg.det(UNEVEN.joint)
    return (start.value - UNEVEN.p_y.max()) / start.price, delta / UNEVEN.p_y.max()


def values():
    """The numbers that the text states."""
    end_map, end_mi = saturations()
    between = binary.optimal_mi(UNEVEN, end_map).mechanism
    return {
        "map": end_map,
        "mi": end_mi,
        "left": mutual_information(UNEVEN, between),
        "raw": map_accuracy(THIRD, AS_IT_IS),
        "noisy": gaussian.optimal_pdi(THIRD, NOISE).value,
    }


def draw_chord(axis, table, color):
    """The chord of a release, and its gap over the prior."""
    ends = beliefs(table)
    axis.plot(ends, entropy(ends), "o-", color=color)
    return np.interp(table[:, 1].sum(), np.sort(ends), entropy(ends)[np.argsort(ends)])


def chord():
    figure, axis = plt.subplots()
    u, prior = np.linspace(0, 1, 301), UNEVEN.p_y[1]
    axis.plot(u, entropy(u), color=INK)
    low = draw_chord(axis, UNEVEN.joint, BLUE)
    axis.plot([prior, prior], [low, entropy(prior)], color=RED, linewidth=9, solid_capstyle="butt")
    axis.plot([prior, prior], [0, low], ":", color=GREY)
    mark(axis, prior - 0.015, (low + entropy(prior)) / 2, "leakage", RED, ha="right")
    mark(axis, prior + 0.01, 0.05, r"prior $\pi$", GREY)
    mark(axis, 0.1, 0.25, r"$h(u)$")
    for k, (x, side) in enumerate(zip(beliefs(UNEVEN.joint), ("right", "left"), strict=True)):
        mark(axis, x + (0.02 if k else -0.02), entropy(x) + 0.03, rf"after $\hat X = {k}$", BLUE, ha=side)
    axis.set(xlabel="belief $u$ in $Y = 1$", ylabel="entropy (nats)", xlim=(0, 1), ylim=(0, 0.75))
    return figure


def three_chords():
    figure, axis = plt.subplots()
    u, prior = np.linspace(0.15, 0.85, 301), UNEVEN.p_y[1]
    axis.plot(u, entropy(u), color=INK)
    for d, color in ((0, "#9cc7e3"), (0.05, "#4f9bcb"), (0.1, BLUE)):
        draw_chord(axis, binary.optimal_mi(UNEVEN, d).mechanism.released(UNEVEN), color)
        ends = beliefs(binary.optimal_mi(UNEVEN, d).mechanism.released(UNEVEN))
        mark(axis, ends.min() - 0.008, entropy(ends.min()), f"$D = {d}$", ha="right", va="bottom")
    axis.axvline(prior, color=GREY, linestyle=":")
    mark(axis, prior + 0.005, 0.54, r"prior $\pi$", GREY)
    axis.set(xlabel="belief in $Y = 1$", ylabel="entropy (nats)", xlim=(0.15, 0.85), ylim=(0.52, 0.72))
    return figure


def mirror():
    figure, axis = plt.subplots()
    budgets = np.linspace(0, 0.39, 79)
    found = np.array([beliefs(binary.optimal_mi(MIRRORED, d, "pdi").mechanism.released(MIRRORED)) for d in budgets])
    for k in (0, 1):
        axis.plot(budgets, found[:, k], color=LINES[k])
        mark(axis, 0.05, found[10, k] + (0.06 if k else -0.06), rf"after $\hat X = {k}$", LINES[k])
    axis.axhline(0.5, color=GREY, linestyle=":")
    axis.plot([0.2, 0.2], found[40], color=INK, linewidth=2)
    for k in (0, 1):
        mark(axis, 0.205, (found[40, k] + 0.5) / 2, "equal", INK)
    axis.set(xlabel="budget $D$", ylabel="belief in $Y = 1$", xlim=(0, 0.4), ylim=(0.15, 0.85))
    return figure


def two_saturations():
    figure, axes = plt.subplots(1, 2)
    budgets = np.linspace(0, 0.25, 101)
    end_map, end_mi = saturations()
    axes[0].plot(budgets, [binary.optimal_pdd(UNEVEN, d).value for d in budgets], color=BLUE)
    axes[0].plot(end_map, UNEVEN.p_y.max(), "o", color=INK)
    axes[0].set(ylabel="accuracy on $Y$", ylim=(0.6, 0.76))
    axes[1].plot(budgets, [binary.optimal_mi(UNEVEN, d).value for d in budgets], color=RED)
    axes[1].plot(end_mi, 0, "o", color=INK, clip_on=False)
    axes[1].set(ylabel="information (nats)", ylim=(0, 0.13))
    for axis in axes:
        axis.axvspan(end_map, end_mi, color=PALE, linewidth=0)
        axis.set(xlabel="budget $D$", xlim=(0, 0.25), xticks=[0, 0.1, 0.2])
    return figure


def weighted(model, x):
    """The two densities times their priors."""
    return model.p_y[:, None] * norm.pdf(x, model.means[:, None], np.sqrt(model.variances)[:, None])


def overlap(axis, model, x):
    """Draw the two weighted densities; the adversary's error is grey."""
    both = weighted(model, x)
    axis.fill_between(x, both.min(axis=0), color="#9aa5b1", linewidth=0)
    for j in (0, 1):
        axis.plot(x, both[j], color=LINES[j])
    axis.set(yticks=[], xlim=(x[0], x[-1]), xlabel="release")
    axis.spines["left"].set_visible(False)


def noise():
    figure, axes = plt.subplots(1, 2, sharey=True)
    x = np.linspace(-9, 9, 601)
    noisy = GaussianMixture(THIRD.prior, THIRD.mu, THIRD.var0 + NOISE, THIRD.var1 + NOISE)
    for axis, model, name in zip(axes, (THIRD, noisy), ("$X$", rf"$X + \gamma N$, $D = {NOISE:.0f}$"), strict=True):
        overlap(axis, model, x)
        axis.set_title(name)
    mark(axes[0], -3, 0.13, "$Y = 0$", LINES[0], ha="center")
    mark(axes[0], 5.4, 0.25, "$Y = 1$", LINES[1], ha="center")
    return figure


def distance():
    figure, axis = plt.subplots()
    alphas = np.linspace(0, 6.4, 129)
    for prior, color, style in ((0.75, BLUE, "-"), (0.5, RED, "--")):
        models = [GaussianMixture(prior, alpha / 2, 1, 1) for alpha in alphas]
        axis.plot(alphas, [map_accuracy(m, AS_IT_IS) for m in models], style, color=color)
    for d in (0, 3, 8):
        alpha = 2 * THIRD.mu / np.sqrt(THIRD.var0 + d)
        value = gaussian.optimal_pdi(THIRD, d).value
        axis.plot(alpha, value, "o", color=INK)
        mark(axis, alpha + 0.12, value - 0.05, f"$D = {d}$")
    mark(axis, 0.4, 0.79, "$p = 3/4$", BLUE)
    mark(axis, 0.85, 0.6, "$p = 1/2$", RED)
    axis.set(xlabel=r"distance $\alpha$ of the means in standard deviations", ylabel="accuracy on $Y$")
    axis.set(xlim=(0, 6.4), ylim=(0.48, 1.02))
    return figure


def processing():
    figure, axis = diagram()
    box(axis, (1.2, 3.4), (1.6, 1.4), "$X$", fontsize=28)
    box(axis, (5.3, 3.4), (2.4, 1.4), "less noise", PRIVATIZER, fontsize=22)
    box(axis, (10.3, 3.4), (2.6, 1.4), "more noise", ADVERSARY, fontsize=22)
    arrow(axis, (2.05, 3.4), (4.05, 3.4), "add noise")
    arrow(axis, (6.55, 3.4), (8.95, 3.4), "add the rest", ADVERSARY)
    axis.text(5.3, 1.5, "whoever sees this ...", ha="center", va="center")
    axis.text(10.3, 1.5, "... can make this", ha="center", va="center", color=ADVERSARY)
    axis.text(6.0, 0.5, "A shift can be undone, noise can be added.", ha="center", va="center", fontsize=24)
    return figure


def two_thresholds():
    figure, axis = plt.subplots()
    model, x = GaussianMixture(0.5, 1.5, 4, 1), np.linspace(-8, 9, 1701)
    both = weighted(model, x)
    guess = both.argmax(axis=0)
    for j in (0, 1):
        axis.fill_between(x, -0.03, -0.012, where=guess == j, color=KINDS[j], linewidth=0)
    overlap(axis, model, x)
    for at in x[:-1][np.diff(guess) != 0]:
        axis.axvline(at, color=INK, linestyle=":")
    mark(axis, -4.6, 0.09, "$Y = 0$", LINES[0], ha="center")
    mark(axis, 2.5, 0.17, "$Y = 1$", LINES[1])
    for at, j in ((-4, 0), (1.9, 1), (6.6, 0)):
        mark(axis, at, -0.047, f"guess {j}", INK, ha="center")
    axis.set(ylim=(-0.06, 0.21))
    return figure
