"""The curve of least leakage against distortion, traced by its price.

Where mechanisms mix, the curve is convex. For a price, one program gives the corner that minimizes leakage + price x
distortion; a budget lies between two corners, and what mixes them is optimal if no corner lies below their chord.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

# How well the curve of a smaller problem has to be known to guess a price.
_ROUGH = 1e-6


class Corner(NamedTuple):
    """A mechanism that is optimal at a price.

    `floor` is a lower bound of leakage + price x distortion over all mechanisms, from a dual solution. `solution` is
    any array: mixtures of solutions are solutions.
    """

    price: float
    distortion: float
    leakage: float
    floor: float
    solution: Any


class Point(NamedTuple):
    """What is optimal at a budget: `leakage` can be undercut down to `floor` and no further."""

    leakage: float
    floor: float
    price: float
    solution: Any


class Frontier:
    """The curve between its two ends; corners are found when a budget asks for them, and kept.

    Parameters
    ----------
    solve : function of a price, which returns a `Corner`
    first, last : Corner
        The least leakage without distortion, and the least distortion at which no more can be hidden.
    """

    def __init__(self, solve: Callable[[float], Corner], first: Corner, last: Corner) -> None:
        self._solve = solve
        self._corners = [first, last] if last.distortion > first.distortion else [first]
        self._floors = [(corner.price, corner.floor) for corner in (first, last) if math.isfinite(corner.price)]

    def floor(self, D: float) -> float:
        """Return the lower bound of the leakage at D that is known so far."""
        return max(floor - price * D for price, floor in self._floors)

    def tightest(self, D: float) -> float:
        """Return the price whose lower bound at D is the largest known."""
        return max(self._floors, key=lambda floor: floor[1] - floor[0] * D)[0]

    def probe(self, price: float) -> None:
        """Find the corner at a price."""
        self._add(self._solve(price))

    def at(self, D: float, tolerance: float = 1e-13, like: Frontier | None = None) -> Point:
        """Return the optimum at the budget D, within `tolerance`; `like` is the curve of a smaller, similar problem."""
        if D >= self._corners[-1].distortion:
            last = self._corners[-1]
            return Point(last.leakage, self.floor(D), 0.0, last.solution)
        if D <= self._corners[0].distortion:
            first = self._corners[0]
            return Point(first.leakage, self.floor(D), first.price, first.solution)
        if like is not None:
            self._approach(D, like)
        while True:
            low, high = self._around(D)
            price = (low.leakage - high.leakage) / (high.distortion - low.distortion)
            leakage = low.leakage - price * (D - low.distortion)
            if leakage - self.floor(D) <= tolerance or not self._add(self._solve(price)):
                break
        share = (D - low.distortion) / (high.distortion - low.distortion)
        solution = low.solution if share == 0 else (1 - share) * low.solution + share * high.solution
        return Point(leakage, self.floor(D), price, solution)

    def _approach(self, D: float, like: Frontier) -> None:
        """Find corners close to D on both sides, at prices that differ from those of `like` by one factor."""
        aim, factor = D, 1.0
        for _ in range(3):
            price = factor * like.at(aim, _ROUGH).price
            if not 0 < price < math.inf:
                return
            corner = self._solve(price)
            self._add(corner)
            reference = like.at(corner.distortion, _ROUGH).price
            if not 0 < reference < math.inf:
                return
            factor = price / reference
            # Once close, aim a little beyond D, so that it comes to lie between two corners.
            aim = D if aim == D and abs(corner.distortion - D) > D / 50 else D + 1.5 * (D - corner.distortion)

    def _around(self, D: float) -> tuple[Corner, Corner]:
        number = next(i for i, corner in enumerate(self._corners) if corner.distortion > D)
        return self._corners[number - 1], self._corners[number]

    def _add(self, corner: Corner) -> bool:
        """Keep the corner if it lies below the chord of its neighbours; say whether it does."""
        self._floors.append((corner.price, corner.floor))
        if not self._corners[0].distortion < corner.distortion < self._corners[-1].distortion:
            return False
        low, high = self._around(corner.distortion)
        slope = (low.leakage - high.leakage) / (high.distortion - low.distortion)
        below = low.leakage - slope * (corner.distortion - low.distortion) - corner.leakage
        if below <= 1e-15 or corner.distortion <= low.distortion:
            return False
        self._corners.insert(self._corners.index(high), corner)
        return True
