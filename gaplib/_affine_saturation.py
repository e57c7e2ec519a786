"""The cheapest shift and noises after which a Gaussian mixture leaks as little as can be."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from gaplib._normals import Numbers
from gaplib.models import GaussianMixture


class ShiftAndNoise(NamedTuple):
    """By how much the two means are moved towards each other in all, and the variances of the noise for Y=0 and Y=1."""

    beta: float
    noise0: float
    noise1: float


def cheapest_merge(model: GaussianMixture) -> ShiftAndNoise:
    """Return what makes the two released distributions equal, so that they tell nothing about Y."""
    return ShiftAndNoise(2 * model.mu, max(model.var1 - model.var0, 0.0), max(model.var0 - model.var1, 0.0))


def cheapest_useless(model: GaussianMixture) -> ShiftAndNoise:
    """Return what makes the prior the MAP adversary's best guess, whatever is released, at the least distortion.

    Write r for the released variance of the rarer Y and f for that of the more frequent one. The rarer one is nowhere
    likelier if and only if ``f >= r`` and ``gap^2 <= (f - r) (K - ln(f / r))``, with K twice the log odds of the prior.
    What is left is a search over (r, f): one of them is without noise, a problem in one unknown, or ``f / r`` is the
    root of an equation and r the vertex of a parabola.
    """
    rarer = 0 if model.prior >= 0.5 else 1
    rare, often = float(model.p_y[rarer]), float(model.p_y[1 - rarer])
    r0, f0 = float(model.variances[rarer]), float(model.variances[1 - rarer])
    K = 2 * math.log(often / rare)

    def shift(r: Numbers, f: Numbers) -> np.ndarray:
        """Return the least total shift that hides Y at the variances r <= f <= r exp(K)."""
        return np.maximum(2 * model.mu - np.sqrt(np.maximum((f - r) * (K - np.log(f / r)), 0)), 0)

    def cost(r: Numbers, f: Numbers) -> np.ndarray:
        return model.var_y * shift(r, f) ** 2 + rare * (r - r0) + often * (f - f0)

    candidates = [(max(r0, f0), max(r0, f0))]  # equal distributions
    # Noise for the more frequent Y only, t = ln(f / r); no more than would make the two distributions equal.
    most = f0 + (model.var_y * 4 * model.mu**2 + rare * max(f0 - r0, 0) + often * max(r0 - f0, 0)) / often
    low, high = max(math.log(f0 / r0), 0.0), min(math.log(most / r0), K)
    if low <= high:
        candidates.append((r0, r0 * math.exp(_least(lambda t: cost(r0, r0 * np.exp(t)), low, high))))
    # Noise for the rarer Y only.
    high = min(math.log(f0 / r0), K)
    if high >= 0:
        candidates.append((f0 * math.exp(-_least(lambda t: cost(f0 * np.exp(-t), f0), 0.0, high)), f0))
    if K > 0:
        ratio = _ratio_with_both_noises(rare, often, K)
        bound = (ratio - 1) * (K - math.log(ratio))  # on gap^2 / r
        r = (2 * model.mu * model.var_y * math.sqrt(bound) / (model.var_y * bound + rare + often * ratio)) ** 2
        if r >= r0 and r * ratio >= f0:
            candidates.append((r, r * ratio))
    r, f = min(candidates, key=lambda variances: cost(*variances))
    noise = {rarer: max(r - r0, 0.0), 1 - rarer: max(f - f0, 0.0)}
    return ShiftAndNoise(float(shift(r, f)), noise[0], noise[1])


def _least(cost: Callable[[Numbers], np.ndarray], low: float, high: float) -> float:
    """Return the t in [low, high] at which `cost` is least: on a grid, refined between the neighbours."""
    t = np.linspace(low, high, 1001)
    at = int(cost(t).argmin())
    bounds = t[max(at - 1, 0)], t[min(at + 1, t.size - 1)]
    if bounds[0] == bounds[1]:
        return t[at]
    inner = scipy.optimize.minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 1e-12})
    return min(t[at], inner.x, key=cost)


def _ratio_with_both_noises(rare: float, often: float, K: float) -> float:
    """Return f / r where both noises buy the same per unit of distortion.

    For the bound g(r, f) on gap^2 that is ``often * dg/dr = rare * dg/df``, an equation in t = ln(f / r).
    """
    return math.exp(
        scipy.optimize.brentq(
            lambda t: often * (t + math.expm1(t) - K) - rare * (K - t + math.expm1(-t)),
            0,
            min(K, math.log1p(2 * K)),
            xtol=1e-15,
        )
    )
