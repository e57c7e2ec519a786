"""The least MAP accuracy of the Gaussian mixture over all mechanisms that see Y: one unknown per crossing.

Around each crossing of the two densities lies an interval on which both are used up: equal masses, moved onto each
other by the monotone map T, each record to the midpoint of x and its partner. All intervals share the chain cost
``K = integral of (T(x) - x)``, and ``1 / K`` is the price of distortion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy  # scipy.optimize is loaded when it is first used

from gaplib._weighted_normal import REACH, Part, crossings, log_odds

# Nodes of the mass quadrature: the share t of an interval's mass is a logistic function of evenly spaced numbers. In
# them the quantile functions are analytic in a strip of half-width pi, whatever the two densities are, so a trapezoid
# rule of step 1/2 errs by exp(-4 pi^2), and what lies beyond 40 has a share of exp(-40).
_TAU = np.arange(-40, 40.25, 0.5)
SHARE, REST = 1 / (1 + np.exp(-_TAU)), 1 / (1 + np.exp(_TAU))
WEIGHT = 0.5 * SHARE * REST
# Panels towards both ends of an interval, where the map may turn on any scale.
_DYADIC = np.concatenate([[0], 0.5 ** np.arange(24, 0, -1), 1 - 0.5 ** np.arange(2, 25), [1]])
_LEGENDRE = np.polynomial.legendre.leggauss(6)
# Below this width, in units of the distance on which the densities change, an interval is what its first term says.
_TINY = 1e-5
# A crossing with less mass than this beyond it can change no digit of the value.
_NOTHING = 1e-18


class Interval(NamedTuple):
    """An interval on which both measures have the same mass."""

    low: float
    high: float


class Crossing(NamedTuple):
    """A point at which `left`, the larger measure on its left, becomes the smaller one.

    An interval around it stays in [low, high]. On its outer side, "left" or "right", the larger measure is left over:
    `excess` of it, if nothing is moved.
    """

    at: float
    left: Part
    right: Part
    low: float
    high: float
    outer: str

    @property
    def excess(self) -> float:
        """Return what is left over if nothing is moved."""
        return self.excess_beyond(Interval(self.at, self.at))

    def excess_beyond(self, interval: Interval) -> float:
        """Return what is left over beyond the interval on the outer side."""
        if self.outer == "left":
            return max(self.left.below(interval.low) - self.right.below(interval.low), 0.0)
        return max(self.right.above(interval.high) - self.left.above(interval.high), 0.0)


def accuracy_floor(a: Part, b: Part, D: float) -> tuple[float, list[Interval], float]:
    """Return the least accuracy within the budget D, the intervals of an optimal map, and the price."""
    prior = max(a.weight, b.weight)
    found = _crossings(a, b)
    if not found:
        return prior, [], 0.0
    # The one measure is used up but for what is left of the other on its outer sides.
    inner = found[0].right if found[0].outer == "left" else found[0].left
    unmoved = inner.weight + math.fsum(crossing.excess for crossing in found)
    if unmoved - prior <= np.finfo(float).eps:
        return prior, [], 0.0  # the release cannot tell more than the prior, as far as rounding can tell
    if D == 0:
        return unmoved, [], math.inf
    kept = [crossing for crossing in found if crossing.excess > _NOTHING]
    intervals, chain, saturated = _spend(kept, D)
    if saturated:
        return prior, intervals, 0.0
    left_over = math.fsum(crossing.excess_beyond(interval) for crossing, interval in zip(kept, intervals, strict=True))
    value = inner.weight + left_over
    if value - prior <= np.finfo(float).eps:
        return prior, intervals, 0.0
    return value, intervals, math.exp(-chain)


def _crossings(a: Part, b: Part) -> list[Crossing]:
    points = crossings(a, b)
    if not points:
        return []
    q, slope, _ = log_odds(a, b)
    left, right = (a, b) if 2 * q * (points[0] - (a.mean + b.mean) / 2) + slope > 0 else (b, a)
    ends = [-math.inf, *points, math.inf]
    found = []
    for number, at in enumerate(points):
        # Beyond its reach the measure that is moved in from there has no mass left.
        low = max(ends[number], min(left.mean - REACH * left.sd, at - left.sd))
        high = min(ends[number + 2], max(right.mean + REACH * right.sd, at + right.sd))
        # With two crossings the wide measure is left over outside; with one, the likelier Y is used up last.
        outer = ("left", "right")[number] if len(points) == 2 else "left" if left.weight <= right.weight else "right"
        found.append(Crossing(at, left, right, low, high, outer))
        left, right = right, left
    return found


def _spend(kept: list[Crossing], D: float) -> tuple[list[Interval], float, bool]:
    """Return the intervals that spend D at one chain cost K, ln K, and whether they hide all that can be hidden."""
    tiny = [_first_term(crossing) for crossing in kept]
    # K = k w^3 and D = d w^5 in the width w of a tiny interval.
    spend = math.fsum(d * k ** (-5 / 3) for _, k, d in tiny)
    if spend > 0:
        first = 3 / 5 * (math.log(D) - math.log(spend))
        if first <= min(math.log(k) + 3 * math.log(width) for width, k, _ in tiny):
            return [_interval(crossing, first, {}) for crossing in kept], first, False

    # The unknown is the width of the interval that can hide the most; the other follows from its chain cost.
    lead = kept.index(max(kept, key=lambda crossing: crossing.excess))
    known: dict[float, float] = {}  # ln K of the other by the logarithm of its width, each computed once

    def intervals(log_width: float) -> tuple[list[Interval], float]:
        own = _of_width(kept[lead], math.exp(log_width))
        if len(kept) == 1:
            return [own], math.nan
        chain = _log(_cost(kept[lead], own))
        other = _interval(kept[1 - lead], chain, known)
        return ([own, other] if lead == 0 else [other, own]), chain

    def beyond(found: list[Interval]) -> tuple[float, float]:
        """Return by how much the budget is overspent, and by how much two intervals overlap: both grow."""
        over = _log(math.fsum(_distortion(c, i) for c, i in zip(kept, found, strict=True))) - math.log(D)
        if len(kept) == 1:
            return over, -math.inf
        return over, (found[0].high - found[1].low) / (kept[1].at - kept[0].at)

    def missing(log_width: float) -> float:
        return max(beyond(intervals(log_width)[0]))

    widest = _widest(kept[lead])
    low, high = math.log(tiny[lead][0]), math.log(widest.high - widest.low)
    # Between the width that the first term says and one that no moves of all the mass undercut.
    _, _, d = tiny[lead]
    guess = max(math.log(2 * D) / 2, (math.log(D) - math.log(d)) / 5 if d > 0 else low)
    low, high = _bracket(missing, min(max(guess, low), high), low, high)
    log_width = low
    if low < high:
        log_width = scipy.optimize.brentq(missing, low, high, xtol=1e-13, rtol=1e-13)
    found, _ = intervals(log_width)
    over, overlap = beyond(found)
    if len(found) == 2 and found[0].high > found[1].low:  # two that meet may overlap by rounding
        meeting = (found[0].high + found[1].low) / 2
        found = [found[0]._replace(high=meeting), found[1]._replace(low=meeting)]
    return found, _log(_cost(kept[lead], found[lead])), overlap > over or over < -1e-6


def _bracket(function: Callable[[float], float], guess: float, low: float, high: float) -> tuple[float, float]:
    """Return a short interval around the root of an increasing function, or twice the end that it lies beyond."""
    step = 0.4 if function(guess) < 0 else -0.4
    while True:
        following = min(max(guess + step, low), high)
        if following == guess:
            return guess, guess
        if (function(following) < 0) == (step < 0):
            return (guess, following) if step > 0 else (following, guess)
        guess, step = following, 1.5 * step


def _log(value: float) -> float:
    """Return the logarithm; of nothing, something below all that occurs."""
    return math.log(value) if value > 0 else -1e3


@lru_cache(maxsize=16)  # asked for again and again by every search
def _first_term(crossing: Crossing) -> tuple[float, float, float]:
    """Return the width below which the first terms say all, and the factors of K = k w^3 and D = d w^5."""
    slope = abs(_log_ratio_slope(crossing))
    scale = slope + math.fsum(
        (1 + abs(part.standard(crossing.at))) / part.sd for part in (crossing.left, crossing.right)
    )
    density = crossing.left.density(crossing.at)
    return _TINY / scale, slope / 12, slope**2 * density / 240


def _log_ratio_slope(crossing: Crossing) -> float:
    left, right = crossing.left, crossing.right
    return float(left.standard(crossing.at) / left.sd - right.standard(crossing.at) / right.sd)


def _interval(crossing: Crossing, chain: float, known: dict[float, float]) -> Interval:
    """Return the interval with the chain cost exp(chain), or the widest one; `known` remembers what was computed."""
    tiny, k, _ = _first_term(crossing)
    first = (chain - math.log(k)) / 3
    if first <= math.log(tiny):
        half = math.exp(first) / 2
        return Interval(crossing.at - half, crossing.at + half)
    if not known:
        widest = _widest(crossing)
        known[math.log(tiny)] = math.log(k) + 3 * math.log(tiny)
        known[math.log(widest.high - widest.low)] = _log(_cost(crossing, widest))

    def missing(log_width: float) -> float:
        if log_width not in known:
            known[log_width] = _log(_cost(crossing, _of_width(crossing, math.exp(log_width))))
        return known[log_width] - chain

    low = max(width for width, cost in known.items() if cost < chain)
    high = min((width for width, cost in known.items() if cost >= chain), default=low)
    if low < high:  # otherwise this is the widest
        low = scipy.optimize.brentq(missing, low, high, xtol=1e-10, rtol=1e-14)
    return _of_width(crossing, math.exp(low))


def _of_width(crossing: Crossing, width: float) -> Interval:
    """Return the interval of this width."""
    left, right = crossing.left, crossing.right

    def surplus(low: float) -> float:
        return left.log_mass(low, low + width) - right.log_mass(low, low + width)

    low, high = max(crossing.low, crossing.at - width), min(crossing.at, crossing.high - width)
    if low >= high or surplus(low) <= 0:
        return Interval(low, low + width)
    if surplus(high) >= 0:
        return Interval(high, high + width)
    at = scipy.optimize.brentq(surplus, low, high, xtol=1e-300, rtol=1e-15)
    return Interval(at, at + width)


def _widest(crossing: Crossing) -> Interval:
    """Return the widest interval: one end cannot go further."""
    left, right, low, high = crossing.left, crossing.right, crossing.low, crossing.high
    if left.log_mass(low, high) > right.log_mass(low, high):
        low = scipy.optimize.brentq(
            lambda x: left.log_mass(x, high) - right.log_mass(x, high), low, crossing.at, xtol=1e-300, rtol=1e-15
        )
    else:
        high = scipy.optimize.brentq(
            lambda x: left.log_mass(low, x) - right.log_mass(low, x), crossing.at, high, xtol=1e-300, rtol=1e-15
        )
    return Interval(low, high)


def partners(left: Part, right: Part, interval: Interval) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the mass of the interval, and the points x of `left` and their partners at the shares SHARE of it."""
    mass = math.exp(min(left.log_mass(*interval), 0.0))
    low, high = interval

    def at(part: Part) -> np.ndarray:
        return np.clip(part.quantile(part.below(low) + mass * SHARE, part.above(high) + mass * REST), low, high)

    return mass, at(left), at(right)


def transported(source: Part, target: Part, interval: Interval, x: np.ndarray) -> np.ndarray:
    """Return the partners of records x in the interval: as much of `target` lies below them as of `source` below x."""
    low, high = interval
    under, over = source.split(low, x, high)
    return np.clip(target.quantile(target.below(low) + under, target.above(high) + over), low, high)


def _distortion(crossing: Crossing, interval: Interval) -> float:
    tiny, _, d = _first_term(crossing)
    width = interval.high - interval.low
    if width <= tiny:
        return d * width**5
    mass, x, y = partners(crossing.left, crossing.right, interval)
    return float(mass * (WEIGHT @ (y - x) ** 2)) / 2


def _cost(crossing: Crossing, interval: Interval) -> float:
    """Return the chain cost, the integral of T(x) - x over the interval."""
    tiny, k, _ = _first_term(crossing)
    left, right = crossing.left, crossing.right
    low, high = interval
    if high - low <= tiny:
        return k * (high - low) ** 3
    scales = np.arange(-8, 9)
    turns = np.clip(left.mean + left.sd * scales, low, high)
    images = transported(right, left, interval, np.clip(right.mean + right.sd * scales, low, high))
    ends = np.sort(np.concatenate([low + (high - low) * _DYADIC, turns, images]))
    nodes, weights = _LEGENDRE
    half = np.diff(ends)[:, np.newaxis] / 2
    x = (ends[:-1, np.newaxis] + half * (1 + nodes)).ravel()
    jump = transported(left, right, interval, x) - x
    return float((half * weights).ravel() @ jump)
