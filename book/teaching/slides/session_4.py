"""Session 4: shifts that see Y, noise that sees Y."""

import numpy as np
from drawing import BLUE, GREEN, GREY, INK, LINES, PALE, PURPLE, RED, mark
from matplotlib import pyplot as plt
from matplotlib.colors import BoundaryNorm, ListedColormap
from scipy.stats import norm

from gaplib import gaussian
from gaplib.book import paper
from gaplib.leakage import map_accuracy
from gaplib.mechanisms import AffineGaussian
from gaplib.models import GaussianMixture

FIRST, THIRD = paper.DATASETS[1], paper.DATASETS[3]
AS_IT_IS = AffineGaussian(0, 0, 0, 0)
D = 3.0


def merge(model):
    """The budget at which the two means meet."""
    return 4 * model.mu**2 * model.var_y


def deviation():
    """The optimum of dataset 1 at D = 1, the rule x > 0 held fixed, and a mechanism that moves only Y = 0."""
    optimum = gaussian.optimal_affine(FIRST, 1)
    other = AffineGaussian(1, 0, 1, 0)
    frozen = FIRST.p_y @ norm.cdf((FIRST.mu - other.shifts) / np.sqrt(FIRST.variances + other.scales**2))
    return optimum.value, float(frozen), map_accuracy(FIRST, other)


def values():
    """The numbers that the text states."""
    shift = gaussian.optimal_shift(THIRD, D).mechanism
    coin = (map_accuracy(FIRST, AS_IT_IS) + 0.5) / 2
    return {
        "D": D,
        "beta0": shift.beta0,
        "beta1": shift.beta1,
        "merge": merge(THIRD),
        "half": merge(FIRST) / 2,
        "coin": coin,
        "family": gaussian.optimal_affine(FIRST, merge(FIRST) / 2).value,
        "met": map_accuracy(FIRST, AffineGaussian(3, 3, 0, 0)),
        "passed": map_accuracy(FIRST, AffineGaussian(3, 5, 0, 0)),
        "cost": AffineGaussian(3, 5, 0, 0).distortion(FIRST),
        "noise": gaussian.optimal_pdi(FIRST, 1).value,
        "shift": gaussian.optimal_shift(FIRST, 1).value,
    }


def bare(axis):
    axis.set(yticks=[])
    axis.spines["left"].set_visible(False)


def cut():
    figure, axis = plt.subplots()
    x, height = np.linspace(-6, 7, 651), 0.11
    densities = norm.pdf(x, -0.8, 1.6), norm.pdf(x, 1.7, 1)
    axis.axhline(height, color=INK, linestyle=":")
    spans = []
    for density, color, level in zip(densities, LINES, (-0.015, -0.035), strict=True):
        axis.plot(x, density, color=color)
        inside = x[density > height]
        spans.append((inside[0], inside[-1]))
        axis.plot([inside[0], inside[-1]], [level, level], color=color, linewidth=9, solid_capstyle="butt")
    left, right = max(s[0] for s in spans), min(s[1] for s in spans)
    axis.fill_between(x, 0, height, where=(x > left) & (x < right), color=PALE, linewidth=0)
    mark(axis, (left + right) / 2, 0.055, "shared", ha="center")
    mark(axis, -5.9, height + 0.015, "one height", GREY)
    axis.set(ylim=(-0.05, 0.42), xlim=(-6, 7), xlabel="release")
    bare(axis)
    return figure


def error():
    figure, axis = plt.subplots()
    gaps = np.linspace(0, 7, 141)
    for prior, color, style, at in ((0.5, BLUE, "-", (0.75, 0.38)), (0.75, RED, "--", (0.1, 0.24))):
        accuracy = [map_accuracy(GaussianMixture(prior, gap / 2, 4, 1), AS_IT_IS) for gap in gaps]
        axis.plot(gaps, 1 - np.array(accuracy), style, color=color)
        mark(axis, *at, "$p = 1/2$" if prior == 0.5 else "$p = 3/4$", color)
    axis.set(xlabel="distance of the means", ylabel="adversary's error", xlim=(0, 7), ylim=(0, 0.42))
    return figure


def shifts():
    figure, axis = plt.subplots()
    x = np.linspace(-6, 6, 601)
    shift = gaussian.optimal_shift(THIRD, D).mechanism
    moved = THIRD.means + shift.shifts
    for j, height in ((0, 0.115), (1, 0.32)):
        axis.plot(x, THIRD.p_y[j] * norm.pdf(x, THIRD.means[j], 1), ":", color=LINES[j], linewidth=3)
        axis.plot(x, THIRD.p_y[j] * norm.pdf(x, moved[j], 1), color=LINES[j])
        style = {"arrowstyle": "-|>", "color": LINES[j], "linewidth": 4, "mutation_scale": 28}
        axis.annotate("", xy=(moved[j], height), xytext=(THIRD.means[j], height), arrowprops=style)
    mark(axis, -3.2, 0.15, "$Y = 0$, rare", LINES[0])
    mark(axis, 3.3, 0.3, "$Y = 1$", LINES[1])
    axis.set(xlim=(-6, 6), ylim=(0, 0.35), xlabel="release")
    bare(axis)
    return figure


def families():
    figure, axis = plt.subplots()
    budgets = np.linspace(0, 9, 91)
    for solver, color, style, name, at in (
        (gaussian.optimal_pdi, RED, "--", "noise only", (6.2, 0.9)),
        (gaussian.optimal_shift, GREEN, "-.", "shift only", (4.5, 0.845)),
        (gaussian.optimal_shift_noise, BLUE, "-", "shift and noise", (2.6, 0.76)),
    ):
        axis.plot(budgets, [solver(FIRST, d).value for d in budgets], style, color=color)
        mark(axis, *at, name, color, ha="right" if solver is gaussian.optimal_shift_noise else "left")
    axis.set(xlabel="budget $D$", ylabel="accuracy on $Y$", xlim=(0, 9), ylim=(0.48, 1.01))
    return figure


def regimes():
    figure, axis = plt.subplots()
    budgets, priors = np.linspace(0.02, 10, 90), np.linspace(0.03, 0.97, 61)
    area = np.empty((priors.size, budgets.size))
    for i, prior in enumerate(priors):
        model = GaussianMixture(prior, 3, 1, 1)
        for k, d in enumerate(budgets):
            found = gaussian.optimal_shift_noise(model, d).mechanism
            area[i, k] = 2 if d >= merge(model) else found.gamma0 > 1e-9
    axis.pcolormesh(budgets, priors, area, cmap=ListedColormap(["#cfe3f1", "#f7dcae", "#e3e6e9"]), rasterized=True)
    for at, text in (
        ((7.95, 0.5), "shift\nonly"),
        ((3.5, 0.5), "shift and noise"),
        ((8.6, 0.87), "merged:\nnothing left"),
    ):
        axis.text(*at, text, ha="center", va="center", fontsize=24)
    axis.set(xlabel="budget $D$", ylabel="$P(Y = 1)$")
    return figure


def turns_over():
    figure, axis = plt.subplots()
    budgets, end = np.linspace(0.05, 11, 400), merge(THIRD)
    alpha = 2 * THIRD.mu - np.sqrt(budgets / THIRD.var_y)
    alpha[np.abs(alpha) < 1e-9] = np.nan
    eta = np.log((1 - THIRD.prior) / THIRD.prior)
    printed = THIRD.p_y[1] * norm.sf(-alpha / 2 + eta / alpha) + THIRD.p_y[0] * norm.sf(-alpha / 2 - eta / alpha)
    before, beyond = budgets < end, budgets > end
    axis.plot(budgets[beyond], printed[beyond], color=RED)
    axis.plot(budgets[before], printed[before], color=BLUE)
    axis.axhline(THIRD.p_y.max(), color=GREY, linestyle=":")
    axis.axvline(end, color=GREY, linestyle=":")
    mark(axis, 2.7, 0.94, "the optimum", BLUE)
    mark(axis, end + 0.2, 0.35, "the printed formula", RED)
    mark(axis, 0.1, THIRD.p_y.max() - 0.04, "prior", GREY)
    mark(axis, end + 0.1, 0.93, "the means meet", GREY)
    axis.set(xlabel="budget $D$", ylabel="accuracy on $Y$", xlim=(0, 11), ylim=(0, 1.02))
    return figure


def member(d, beta, share):
    """The mechanism with the total shift beta; `share` of the rest of the budget is noise where Y = 1."""
    p, left = THIRD.prior, max(d - THIRD.var_y * beta**2, 0)
    return AffineGaussian(p * beta, (1 - p) * beta, np.sqrt((1 - share) * left / (1 - p)), np.sqrt(share * left / p))


def longest(d):
    return min(np.sqrt(d / THIRD.var_y), 2 * THIRD.mu)


def both_noises(d):
    """The shift of the branch with two noises."""
    return (d + THIRD.variances @ THIRD.p_y) / (2 * THIRD.mu * THIRD.var_y)


def landscape():
    figure, axis = plt.subplots()
    d = D
    betas, shares = np.linspace(0.55 * longest(d), longest(d), 81), np.linspace(0, 1, 61)
    heights = [[map_accuracy(THIRD, member(d, beta, share)) for beta in betas] for share in shares]
    best = gaussian.optimal_affine(THIRD, d)
    excess = np.array(heights) - best.value
    levels = [0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 1]
    axis.contourf(betas, shares, excess.clip(0), levels=levels, cmap="Blues_r", norm=BoundaryNorm(levels, 256))
    axis.plot(betas[[0, -1]], [0, 0], color="#E69F00", linewidth=9, clip_on=False)
    axis.plot(betas[[0, -1]], [1, 1], color=GREEN, linewidth=9, clip_on=False)
    axis.plot([both_noises(d)] * 2, [0, 1], color=RED, linewidth=7)
    m = best.mechanism
    noise = THIRD.p_y * np.array([m.gamma0, m.gamma1]) ** 2
    axis.plot(
        m.beta0 + m.beta1, noise[1] / noise.sum(), "*", color="white", markeredgecolor=INK, markersize=34, zorder=5
    )
    axis.set(xlabel="total shift", ylabel="share of noise at $Y = 1$", xlim=betas[[0, -1]])
    return figure


def branches():
    figure, axis = plt.subplots()
    d = D
    betas = np.linspace(0.78 * longest(d), longest(d), 121)
    for share, color, style, name in (
        (0, "#B36B00", "-", "noise at $Y = 0$ only"),
        (1, GREEN, "--", "noise at $Y = 1$ only"),
    ):
        heights = np.array([map_accuracy(THIRD, member(d, beta, share)) for beta in betas])
        axis.plot(betas, heights, style, color=color)
        low = heights.argmin()
        axis.plot(betas[low], heights[low], "o", color=color, markersize=15)
        mark(axis, betas[45] - 0.04, heights[45] - 0.001, name, color, ha="right", va="top")
    best = gaussian.optimal_affine(THIRD, d)
    axis.plot(best.mechanism.beta0 + best.mechanism.beta1, best.value, "*", color=RED, markersize=30)
    mark(axis, both_noises(d), best.value - 0.0028, "noise at both", RED, ha="center")
    axis.set(xlabel="total shift", ylabel="accuracy on $Y$", xlim=betas[[0, -1]], ylim=(best.value - 0.005, None))
    return figure


def passing():
    figure, axis = plt.subplots()
    betas = np.linspace(0, 6, 121)
    axis.plot(betas, [map_accuracy(FIRST, AffineGaussian(3, beta, 0, 0)) for beta in betas], color=BLUE)
    found = values()
    for beta, value, text in ((3, found["met"], "the means meet"), (5, found["passed"], "all of the budget spent")):
        axis.plot(beta, value, "o", color=RED, markersize=15)
        mark(
            axis,
            beta + (0.0 if beta == 3 else -0.15),
            value + (-0.05 if beta == 3 else 0.05),
            text,
            RED,
            ha="center" if beta == 3 else "right",
        )
    axis.set(
        xlabel=r"shift $\beta_1$ of $Y = 1$, at $\beta_0 = 3$", ylabel="accuracy on $Y$", xlim=(0, 6), ylim=(0.4, 1)
    )
    return figure


def coin():
    figure, axis = plt.subplots()
    end = merge(FIRST)
    budgets = np.linspace(0, end, 91)
    axis.plot(budgets, [gaussian.optimal_affine(FIRST, d).value for d in budgets], color=BLUE)
    axis.plot([0, end], [map_accuracy(FIRST, AS_IT_IS), 0.5], "o--", color=RED)
    found = values()
    axis.plot([found["half"]] * 2, [found["coin"], found["family"]], color=INK, linewidth=2)
    mark(axis, 3.4, 0.88, "best of the family", BLUE)
    mark(axis, 2.6, 0.74, "a coin between\nthe two ends", RED, ha="right")
    axis.set(xlabel="budget $D$", ylabel="accuracy on $Y$", xlim=(0, 9.1), ylim=(0.48, 1.02))
    return figure


def no_equilibrium():
    figure, axis = plt.subplots()
    heights = deviation()
    names = ("the optimum,\nannounced", "a deviation,\nrule held fixed", "the deviation,\nanswered")
    bars = axis.bar(range(3), heights, 0.6, color=[BLUE, PURPLE, RED])
    axis.bar_label(bars, fmt="%.4f", padding=4, fontsize=24)
    axis.set_xticks(range(3), names)
    axis.tick_params(axis="x", length=0)
    axis.set(ylabel="accuracy on $Y$", ylim=(0.93, 0.985))
    return figure
