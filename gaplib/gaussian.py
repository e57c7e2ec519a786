"""Optimal mechanisms of the binary Gaussian mixture, among those that shift X and add Gaussian noise."""

import math
from collections.abc import Callable

import numpy as np
import scipy  # scipy.optimize is loaded when it is first used: that takes longer than all other imports together

from gaplib import _checks, _normals, leakage
from gaplib._normals import Numbers
from gaplib.mechanisms import AffineGaussian
from gaplib.models import GaussianMixture
from gaplib.optimum import Optimum


def optimal_pdi(model: GaussianMixture, D: float) -> Optimum:
    """Return the PDI mechanism X + beta + gamma N that a MAP adversary reads least well (Theorem 2 of the paper).

    All of the budget is noise: ``beta = 0``, ``gamma = sqrt(D)``.

    Parameters
    ----------
    model : GaussianMixture
        With equal variances.
    D : float in [0, 1e50]
        Budget: the largest allowed mean squared distortion.

    Returns
    -------
    Optimum
        No budget hides Y entirely, if ``mu > 0``.

    Raises
    ------
    TypeError, ValueError
        If `model` is not a `GaussianMixture`, its variances differ, or `D` is not a number in its range.
    """
    _equal_variances(model, "Theorem 2")
    gamma = math.sqrt(_budget(D))
    mechanism = AffineGaussian(0, 0, gamma, gamma)
    _, noise0, noise1 = _gains(model, mechanism)
    return _optimum(model, mechanism, (1 - model.prior) * noise0 + model.prior * noise1)


def optimal_shift(model: GaussianMixture, D: float) -> Optimum:
    """Return the shift of the two laws that a MAP adversary reads least well (Theorem 3 of the paper, completed).

    The two laws move towards each other by ``beta = min(sqrt(D / (p (1-p))), 2 mu)`` in all, ``beta0 = p beta`` and
    ``beta1 = (1-p) beta``. The theorem as printed holds up to ``D = 4 mu^2 p (1-p)``, where they meet.

    Parameters
    ----------
    model : GaussianMixture
        With equal variances.
    D : float in [0, 1e50]
        Budget: the largest allowed mean squared distortion.

    Returns
    -------
    Optimum
        ``price`` is infinite at D = 0, where the first shift costs nothing, if it helps.

    Raises
    ------
    TypeError, ValueError
        If `model` is not a `GaussianMixture`, its variances differ, or `D` is not a number in its range.
    """
    _equal_variances(model, "Theorem 3")
    mechanism = _mechanism(model, _longest_shift(model, _budget(D)), 0, 0)
    return _optimum(model, mechanism, _gains(model, mechanism)[0])


def optimal_shift_noise(model: GaussianMixture, D: float) -> Optimum:
    """Return the best shift with the same noise for both Y (Theorem 4 of the paper, solved).

    With ``c = p (1-p)``, ``S = D + sigma^2`` and ``M = 4 mu^2 c`` the total shift is

    .. math:: \\beta = \\min\\{S / (2 \\mu c),\\; \\sqrt{D / c},\\; 2 \\mu\\},

    and the noise takes what is left of the budget: all three regimes of the problem that the paper (its Equations 41
    and 42) leaves as non-convex. From ``D = M`` on the two laws are the same.

    Parameters
    ----------
    model : GaussianMixture
        With equal variances.
    D : float in [0, 1e50]
        Budget: the largest allowed mean squared distortion.

    Returns
    -------
    Optimum
        ``price`` is infinite at D = 0, where the first shift costs nothing, if it helps.

    Raises
    ------
    TypeError, ValueError
        If `model` is not a `GaussianMixture`, its variances differ, or `D` is not a number in its range.
    """
    _equal_variances(model, "Theorem 4")
    D, spread = _budget(D), model.prior * (1 - model.prior)
    beta, noise = _longest_shift(model, D), 0.0
    slope = 2 * model.mu * spread
    if slope * beta > D + model.var0:
        beta = (D + model.var0) / slope
        noise = max(D - spread * beta**2, 0.0)
    mechanism = _mechanism(model, beta, noise, noise)
    # Where there is noise too, a unit of budget buys the same with it.
    return _optimum(model, mechanism, _gains(model, mechanism)[0])


def optimal_affine(model: GaussianMixture, D: float, loss: str = "0-1") -> Optimum:
    """Return the best of all mechanisms that shift X and add Gaussian noise: four parameters, any variances.

    The last problem of Section 4.1.2 of the paper, which is not convex. Both leakages grow with the distance of the
    two means, so the shifts are ``beta0 = p beta`` and ``beta1 = (1-p) beta``, and the budget binds wherever the
    leakage can still fall. Hold the ratio of the two released variances fixed: then the best shift is the one of
    Theorem 4, whatever the ratio. So, as long as less can leak, every optimum lies on one of three curves with one
    unknown each:

    - both noises are positive, mu > 0, and with c = p (1-p)

      .. math:: \\beta = \\frac{D + (1-p)\\,\\sigma_0^2 + p\\,\\sigma_1^2}{2 \\mu c};

    - there is no noise where Y=0, and the rest of the budget is noise where Y=1;
    - there is no noise where Y=1.

    Each curve is evaluated on a grid that is dense on every scale on which the leakage may turn, ends included, and
    every valley of the grid is refined. The global optimum is the lowest point found.

    Parameters
    ----------
    model : GaussianMixture
    D : float in [0, 1e50]
        Budget: the largest allowed mean squared distortion.
    loss : {"0-1", "log"}
        The adversary's loss. The leakage is the MAP accuracy, or the mutual information I(Y; Xhat).

    Returns
    -------
    Optimum
        ``value`` is the MAP accuracy, or I(Y; Xhat) in nats. From the budget on at which nothing more can be hidden,
        the mechanism is the cheapest that hides as much, so the distortion at a huge budget is that point of
        saturation. ``price`` is in units of `value`, and infinite at D = 0 if a first shift helps.

    Raises
    ------
    TypeError, ValueError
        If `model` is not a `GaussianMixture`, `D` not a number in its range, or `loss` not one of the two.
    """
    _checks.instance("model", model, GaussianMixture)
    D = _budget(D)
    _checks.choice("loss", loss, ("0-1", "log"))
    last = _mechanism(model, *(_cheapest_useless(model) if loss == "0-1" else _cheapest_merge(model)))
    if D >= last.distortion(model):
        value = float(model.p_y.max()) if loss == "0-1" else 0.0
        return Optimum(value, last, last.distortion(model), 0.0)
    mechanism = _mechanism(model, *_search(model, D, loss))
    return _optimum(model, mechanism, _price(model, mechanism, loss), loss)


def _budget(D: object) -> float:
    return _checks.real("D", D, 0, _checks.LARGEST)


def _equal_variances(model: object, theorem: str) -> None:
    model = _checks.instance("model", model, GaussianMixture)
    if model.var0 != model.var1:
        raise ValueError(
            f"model must have equal variances, as {theorem} assumes, got var0 = {model.var0:g} and "
            f"var1 = {model.var1:g}; optimal_affine takes any variances"
        )


def _longest_shift(model: GaussianMixture, D: float) -> float:
    """Return the total shift that D buys, up to the one at which the two means meet."""
    spread = model.prior * (1 - model.prior)
    return min(math.sqrt(D / spread), 2 * model.mu)


def _mechanism(model: GaussianMixture, beta: float, noise0: float, noise1: float) -> AffineGaussian:
    """Return the mechanism with the total shift `beta`, divided at the least cost, and the given variances of noise."""
    # The smaller shift is what the larger one leaves: so means that are to meet do meet, in floats too.
    if model.prior >= 0.5:
        beta0 = model.prior * beta
        beta1 = beta - beta0
    else:
        beta1 = (1 - model.prior) * beta
        beta0 = beta - beta1
    return AffineGaussian(beta0, beta1, math.sqrt(noise0), math.sqrt(noise1))


def _optimum(model: GaussianMixture, mechanism: AffineGaussian, price: float, loss: str = "0-1") -> Optimum:
    measure = leakage.map_accuracy if loss == "0-1" else leakage.mutual_information
    value = max(measure(model, mechanism), 0.0)  # rounding
    return Optimum(value, mechanism, mechanism.distortion(model), float(price))


def _price(model: GaussianMixture, mechanism: AffineGaussian, loss: str) -> float:
    """Return the shadow price at an optimum: what one more unit of budget buys."""
    gains = _gains(model, mechanism, loss)
    spread = model.prior * (1 - model.prior)
    spent = spread * (mechanism.beta0 + mechanism.beta1) ** 2, *(model.p_y * mechanism.scales**2)
    if sum(spent) == 0:
        return max(*gains, 0.0)
    # All that is in use buys the same. Where the optimum is flat, most of the budget says it best.
    price = sum(gain * part for gain, part in zip(gains, spent, strict=True) if part > 0) / sum(spent)
    return max(float(price), 0.0)  # rounding, where nothing helps


def _gains(model: GaussianMixture, mechanism: AffineGaussian, loss: str = "0-1") -> tuple[float, float, float]:
    """Return how much less leaks per unit of distortion spent on more shift, on noise for Y=0, on noise for Y=1."""
    means, variances = mechanism.released(model)
    gap, beta = float(means[1] - means[0]), mechanism.beta0 + mechanism.beta1
    slopes = _normals.accuracy_slopes if loss == "0-1" else _normals.entropy_slopes
    in_gap, in_var0, in_var1 = map(float, slopes(model.prior, gap, *variances) * (1 if loss == "0-1" else -1))
    cost = 2 * model.prior * (1 - model.prior) * beta
    if gap <= 0:
        shift = 0.0  # the means have met
    elif cost > 0:
        shift = in_gap / cost
    else:
        shift = math.inf if in_gap > 0 else 0.0  # the first shift costs nothing
    return shift, -in_var0 / (1 - model.prior), -in_var1 / model.prior


def _cheapest_merge(model: GaussianMixture) -> tuple[float, float, float]:
    """Return the shift and the two noises that make the two laws equal."""
    return 2 * model.mu, max(model.var1 - model.var0, 0.0), max(model.var0 - model.var1, 0.0)


def _cheapest_useless(model: GaussianMixture) -> tuple[float, float, float]:
    """Return the shift and the noises of least distortion that make the prior the adversary's best guess.

    Of the laws N(0, r) of the rarer Y and N(gap, f) of the other, the rarer one is nowhere likelier if and only if
    ``f >= r`` and ``gap^2 <= (f - r) (K - ln(f / r))``, with K twice the log odds of the prior. What is left is a
    search over (r, f): one of them is without noise, a problem in one unknown, or ``f / r`` is the root of an equation
    and r the vertex of a parabola.
    """
    rare, often = (1 - model.prior, model.prior) if model.prior >= 0.5 else (model.prior, 1 - model.prior)
    r0, f0 = (model.var0, model.var1) if model.prior >= 0.5 else (model.var1, model.var0)
    K, spread = 2 * math.log(often / rare), rare * often

    def shift(r: Numbers, f: Numbers) -> np.ndarray:
        """Return the least total shift that hides Y at the variances r <= f <= r exp(K)."""
        return np.maximum(2 * model.mu - np.sqrt(np.maximum((f - r) * (K - np.log(f / r)), 0)), 0)

    def cost(r: Numbers, f: Numbers) -> np.ndarray:
        return spread * shift(r, f) ** 2 + rare * (r - r0) + often * (f - f0)

    def best_on_edge(path: Callable[[Numbers], tuple[Numbers, Numbers]], low: float, high: float) -> float:
        """Return the best t in [low, high] for the variances path(t)."""
        t = np.linspace(low, high, 1001)
        at = int(cost(*path(t)).argmin())
        bounds = t[max(at - 1, 0)], t[min(at + 1, t.size - 1)]
        if bounds[0] == bounds[1]:
            return t[at]
        inner = scipy.optimize.minimize_scalar(
            lambda t: cost(*path(t)), bounds=bounds, method="bounded", options={"xatol": 1e-12}
        )
        return min(t[at], inner.x, key=lambda t: cost(*path(t)))

    candidates = [(max(r0, f0), max(r0, f0))]  # equal laws
    # t = ln(f / r). No more noise than would make the two laws equal.
    most = f0 + (spread * 4 * model.mu**2 + rare * max(f0 - r0, 0) + often * max(r0 - f0, 0)) / often
    low, high = max(math.log(f0 / r0), 0.0), min(math.log(most / r0), K)
    if low <= high:
        candidates.append((r0, r0 * math.exp(best_on_edge(lambda t: (r0, r0 * np.exp(t)), low, high))))
    high = min(math.log(f0 / r0), K)
    if high >= 0:
        candidates.append((f0 * math.exp(-best_on_edge(lambda t: (f0 * np.exp(-t), f0), 0.0, high)), f0))
    if K > 0:
        # Both noises pay the same per unit: often * dg/dr = rare * dg/df for the bound g on gap^2.
        ratio = math.exp(
            scipy.optimize.brentq(
                lambda t: often * (t + math.expm1(t) - K) - rare * (K - t + math.expm1(-t)),
                0,
                min(K, math.log1p(2 * K)),
                xtol=1e-15,
            )
        )
        bound = (ratio - 1) * (K - math.log(ratio))  # g = r * bound
        r = (2 * model.mu * spread * math.sqrt(bound) / (spread * bound + rare + often * ratio)) ** 2
        if r >= r0 and r * ratio >= f0:
            candidates.append((r, r * ratio))
    r, f = min(candidates, key=lambda at: cost(*at))
    noise0, noise1 = (r - r0, f - f0) if model.prior >= 0.5 else (f - f0, r - r0)
    return float(shift(r, f)), max(noise0, 0.0), max(noise1, 0.0)


def _search(model: GaussianMixture, D: float, loss: str) -> tuple[float, float, float]:
    """Return the shift and the two noises of the least leakage, for a budget that binds."""
    p, spread = model.prior, model.prior * (1 - model.prior)
    reach = 4 * model.mu**2 * spread

    def laws(left: Numbers, share: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return the released laws: `left` of the budget is no shift, and `share` of that is noise where Y=1."""
        beta = np.sqrt(np.maximum(D - left, 0) / spread)
        # 2 mu - beta, without its cancellation
        gap = (reach - D + left) / spread / (2 * model.mu + beta) if model.mu > 0 else 0 * left
        return gap, model.var0 + (1 - share) * left / (1 - p), model.var1 + share * left / p

    def leakage_at(left: Numbers, share: Numbers, points: int = 16) -> np.ndarray:
        if loss == "0-1":
            return _normals.map_accuracy(p, *laws(left, share))
        return -_normals.conditional_entropy(p, *laws(left, share), points)

    lefts, shares = _grid(model, D)
    branches = [(lambda left: (left, 0.0), lefts), (lambda left: (left, 1.0), lefts)]
    # Both noises positive: then the shift is that of Theorem 4.
    slope = 2 * model.mu * spread
    both = D + p * model.var1 + (1 - p) * model.var0
    if both < slope * _longest_shift(model, D):
        branches.append((lambda share: (max(D - spread * (both / slope) ** 2, 0.0), share), shares))

    valleys = []
    for branch, grid in branches:
        coarse = leakage_at(*branch(grid), points=8)
        for at in _valleys(coarse):
            low, high = grid[max(at - 1, 0)], grid[min(at + 1, grid.size - 1)]
            valleys.append((coarse[at], branch, grid[at], low, high))

    refined = []
    for _, branch, at, low, high in sorted(valleys, key=lambda valley: valley[0])[:8]:
        # The unknown is the distance from the lower end, which the grid has made as fine as it must be.
        inner = scipy.optimize.minimize_scalar(
            lambda t, branch=branch, low=low: leakage_at(*branch(low + t)),
            bounds=(0, high - low),
            method="bounded",
            options={"xatol": 1e-9 * (high - low)},
        )
        refined += [(leakage_at(*branch(at)), *branch(at)), (inner.fun, *branch(low + inner.x))]
    _, left, share = min(refined, key=lambda found: found[0])
    beta = min(math.sqrt(max(D - left, 0) / spread), 2 * model.mu)
    return beta, float((1 - share) * left / (1 - p)), float(share * left / p)


def _grid(model: GaussianMixture, D: float) -> tuple[np.ndarray, np.ndarray]:
    """Return how much of the budget may be noise, and which share of it Y=1 may get, for the search to begin with.

    Both are dense on every scale on which the leakage may turn.
    """
    spread = model.prior * (1 - model.prior)
    least = max(D - 4 * model.mu**2 * spread, 0.0)
    scale = math.sqrt(min(model.var0, model.var1)) / 10
    turn = np.linspace(0, np.pi / 2, 101)
    gaps = np.geomspace(scale, max(2 * model.mu, scale), 51)
    lefts = [
        least + (D - least) * np.sin(turn) ** 2,  # evenly in the shift
        D - spread * np.maximum(2 * model.mu - gaps, 0) ** 2,  # within some standard deviations of each other
        # noise comparable to the variance that is there already
        least + np.geomspace(1e-3, 1e3, 31) * model.var0 * (1 - model.prior),
        least + np.geomspace(1e-3, 1e3, 31) * model.var1 * model.prior,
    ]
    small = [
        np.geomspace(min(0.01, variance * mass / max(D, 1 / _checks.LARGEST) / 10), 0.5, 51)
        for variance, mass in ((model.var0, 1 - model.prior), (model.var1, model.prior))
    ]
    shares = [np.array([0, 1]), 1 - small[0], small[1], np.linspace(0, 1, 101)]
    return np.unique(np.clip(np.concatenate(lefts), least, D)), np.unique(np.concatenate(shares))


def _valleys(values: np.ndarray) -> np.ndarray:
    """Return the indices of the entries that no neighbour is below; of a level stretch, its ends."""
    padded = np.pad(values, 1, constant_values=np.inf)
    low = (values <= padded[:-2]) & (values <= padded[2:])
    level = (values == padded[:-2]) & (values == padded[2:])
    return np.flatnonzero(low & ~level)
