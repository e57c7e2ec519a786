"""The cheapest shift and noises after which a Gaussian mixture leaks as little as can be."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

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
    likelier if and only if ``f >= r`` and ``gap^2 <= room``, where ``room = (f - r) (K - ln(f / r))`` and K is twice
    the log odds of the prior. The room is concave in (r, f), because ``(f - r) ln(f / r)`` is convex. So the distortion
    is convex in the two noises, and least where its slopes vanish: inside, where ``f / r`` is the root of an equation
    and r the vertex of a parabola, or on a side, where one Y is without noise. Each is the root of one equation, found
    to rounding.
    """
    rarer = 0 if model.prior >= 0.5 else 1
    rare, often = float(model.p_y[rarer]), float(model.p_y[1 - rarer])
    r0, f0 = float(model.variances[rarer]), float(model.variances[1 - rarer])
    K = 2 * _log_ratio(often, rare)

    def shift(place: _Place) -> float:
        """Return the least total shift that hides Y."""
        return max(2 * model.mu - math.sqrt(place.room), 0.0)

    def cost(place: _Place) -> float:
        return model.var_y * shift(place) ** 2 + rare * place.noise_r + often * place.noise_f

    def cheapest(side: Callable[[float], _Place], end: float, weight: float) -> _Place:
        """Return the place of least cost on a side, where noise of this weight is the only one."""

        def slope(u: float) -> float:
            # The sign of the cost's derivative in the noise. Times the root of the room, it is finite at room 0 too.
            place = side(u)
            return weight * math.sqrt(place.room) - model.var_y * shift(place) * place.growth

        return side(_root(slope, end))

    largest = max(r0, f0)
    candidates = [_Place(0.0, 0.0, largest - r0, largest - f0)]  # equal distributions
    beyond = _log_ratio(largest, r0) - K  # if positive, the rarer one is likelier far out, until it gets noise
    if beyond <= 0:
        candidates.append(cheapest(*_noise_where_frequent(r0, f0, K), often))
    if f0 >= r0:
        candidates.append(cheapest(*_noise_where_rare(r0, f0, beyond), rare))
    if K > 0:
        t = _log_ratio_with_both_noises(rare, often, K)
        bound = math.expm1(t) * (K - t)  # the room over r
        r = (2 * model.mu * model.var_y * math.sqrt(bound) / (model.var_y * bound + rare + often * math.exp(t))) ** 2
        f = r * math.exp(t)
        if r >= r0 and f >= f0:
            candidates.append(_Place(r * bound, 0.0, r - r0, f - f0))
    best = min(candidates, key=cost)
    noise = {rarer: best.noise_r, 1 - rarer: best.noise_f}
    return ShiftAndNoise(shift(best), noise[0], noise[1])


class _Place(NamedTuple):
    """Two noises that leave room for some gap: the square of the largest gap at which the rarer Y stays hidden."""

    room: float
    growth: float  # the derivative of the room in the only noise, on a side
    noise_r: float
    noise_f: float


def _noise_where_frequent(r0: float, f0: float, K: float) -> tuple[Callable[[float], _Place], float]:
    """Return the places with noise for the more frequent Y only, f = start exp(u), and the largest u."""
    start = max(r0, f0)
    end = K - _log_ratio(start, r0)

    def place(u: float) -> _Place:
        # Differences are added up from their values at u = 0: far from it and close to it, they keep their digits.
        more = start * math.expm1(u)
        spread, left = start - r0 + more, end - u
        return _Place(spread * left, left - spread / (start + more), 0.0, start - f0 + more)

    return place, end


def _noise_where_rare(r0: float, f0: float, beyond: float) -> tuple[Callable[[float], _Place], float]:
    """Return the places with noise for the rarer Y only, r = start exp(u), and the largest u, at which r = f."""
    first = r0 * math.expm1(max(beyond, 0.0))  # the noise without which the rarer one is likelier far out
    start = r0 + first

    def place(u: float) -> _Place:
        more = start * math.expm1(u)
        spread, left = max(f0 - start - more, 0.0), max(-beyond, 0.0) + u
        return _Place(spread * left, spread / (start + more) - left, first + more, 0.0)

    return place, max(_log_ratio(f0, start), 0.0)


def _log_ratio_with_both_noises(rare: float, often: float, K: float) -> float:
    """Return t = ln(f / r) where both noises buy the same per unit of distortion.

    For the room, a function of r and f, that is ``often * droom/dr = rare * droom/df``, an equation in t.
    """
    return _root(lambda t: often * (t + math.expm1(t) - K) - rare * (K - t + math.expm1(-t)), min(K, math.log1p(2 * K)))


def _log_ratio(large: float, small: float) -> float:
    """Return ln(large / small), exact to rounding also where it is nearly 0."""
    return math.log1p((large - small) / small)


def _root(rising: Callable[[float], float], end: float) -> float:
    """Return where in [0, end] a function passes from below 0 to above it, to a rounding of that place; or 0."""
    if rising(0.0) >= 0:
        return 0.0
    finfo = np.finfo(float)
    # A root may lie many powers of ten below the end.
    return scipy.optimize.brentq(rising, 0, end, xtol=finfo.tiny, rtol=4 * finfo.eps, maxiter=10_000)
