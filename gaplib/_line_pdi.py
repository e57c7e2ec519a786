"""The least MAP accuracy of the Gaussian mixture over all mechanisms that do not see Y, between two bounds.

What counts is the lean ``w = b - a`` of the two densities, and ``eta = |w| / (a + b)``: to cancel lean at x against
lean at x' costs ``c(x, x') = (x - x')^2 / (eta(x) + eta(x'))``. The line is cut into cells that lean to one side each.
Above the optimum lies a mechanism that treats the records of a cell alike, with its exact distortion; below it a
dual solution, linear in every cell, that is made feasible for all x and x'.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gaplib._frontier import Corner, Frontier, Point
from gaplib._line_pdd import accuracy_floor
from gaplib._partial_transport import Matching, by_network_simplex, corner
from gaplib._weighted_normal import Part, crossings, log_odds

# Standard deviations that the cells reach: beyond, less than 1e-12 of the mass.
_REACH = 7.2
_BEYOND = 1e-12
_ROUNDING = 1e-10
# Cells of the first cut, and from how many on no finer one is tried.
_FIRST, _MOST = 120, 1500


class Cells(NamedTuple):
    """The cells that lean to one side: their ends, their lean and where it is, and the moments of all their records."""

    low: np.ndarray
    high: np.ndarray
    lean: np.ndarray
    centroid: np.ndarray
    per_lean: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    eta: np.ndarray
    slope: np.ndarray
    bend: np.ndarray

    @property
    def middle(self) -> np.ndarray:
        """Return the middles."""
        return (self.low + self.high) / 2

    @property
    def half(self) -> np.ndarray:
        """Return half the widths."""
        return (self.high - self.low) / 2


class Cut(NamedTuple):
    """One discrete problem: the cells, those that lean to Y=0 and to Y=1, the cost of pairs, and its curve."""

    edges: np.ndarray
    sides: tuple[Cells, Cells]
    numbers: tuple[np.ndarray, np.ndarray]
    cost: np.ndarray
    frontier: Frontier
    potentials: dict[float, Matching]


class Found(NamedTuple):
    """A mechanism's accuracy, the bound below the optimum, the price, and the mechanism's entries."""

    value: float
    floor: float
    price: float
    edges: np.ndarray
    cells: np.ndarray
    points: np.ndarray
    probabilities: np.ndarray


def solve(a: Part, b: Part, budgets: list[float], gap: float) -> list[Found]:
    """Return a mechanism for each budget, with bounds no further apart than `gap` if _MOST cells are enough for it."""
    # No mechanism that does not see Y does better than the best that does.
    sure = [accuracy_floor(a, b, D)[0] - _ROUNDING for D in budgets]
    edges = _edges(a, b, _FIRST)
    best: dict[int, Found] = {}
    left = list(range(len(budgets)))
    coarse: Frontier | None = None
    while left:
        cut = _cut(a, b, edges)
        errors = np.zeros(edges.size - 1)
        for number in left:
            known = best.get(number)
            point, error = _bounds(cut, sure[number], budgets[number], gap, coarse)
            found = _found(cut, point)
            if known:  # a mechanism and a bound may come from different cells
                found = (found if found.value < known.value else known)._replace(floor=max(found.floor, known.floor))
            best[number] = found
            errors += error
        left = [number for number in left if best[number].value - best[number].floor > gap]
        if edges.size >= _MOST:
            break
        coarse = cut.frontier
        edges = _refined(edges, errors)
    return [best[number] for number in range(len(budgets))]


def _edges(a: Part, b: Part, n: int) -> np.ndarray:
    """Return the ends of the first cells: even on the scale of either density, with an end at each crossing."""
    steps = np.linspace(-_REACH, _REACH, n // 2 + 1)
    points = crossings(a, b)
    ends = np.concatenate([a.mean + a.sd * steps, b.mean + b.sd * steps])
    inside = [x for x in points if ends.min() < x < ends.max()]
    # A narrow density is large enough to matter a little beyond its own steps: up to the crossings.
    between = np.linspace(inside[0], inside[-1], n // 4 if len(inside) == 2 else 0) if inside else np.zeros(0)
    return _distinct(np.concatenate([ends, inside, between]), inside)


def _distinct(ends: np.ndarray, keep: list[float]) -> np.ndarray:
    """Return the ends in order, without those that rounding cannot tell apart; those in `keep` are exact."""
    ends = np.unique(ends)
    apart = np.concatenate([[True], np.diff(ends) > 1e-13 * np.abs(ends).max()])
    for x in keep:
        at = np.searchsorted(ends, x)
        apart[max(at - 1, 0) : at + 2] &= abs(ends[max(at - 1, 0) : at + 2] - x) > 1e-13 * np.abs(ends).max()
        apart[at] = True
    return ends[apart]


def _refined(edges: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return twice as many cells: each is divided evenly, those with more error more often."""
    share = error ** (1 / 3)  # of n parts each has an error of 1 / n^3
    share = share / share.sum() if share.sum() > 0 else np.full(error.size, 1 / error.size)
    pieces = 1 + np.round(error.size * share).astype(int)
    ends = [
        np.linspace(low, high, n, endpoint=False) for low, high, n in zip(edges[:-1], edges[1:], pieces, strict=True)
    ]
    return np.append(np.concatenate(ends), edges[-1])


def _cut(a: Part, b: Part, edges: np.ndarray) -> Cut:
    low, high = edges[:-1], edges[1:]
    lean = b.mass(low, high) - a.mass(low, high)
    middle = (low + high) / 2
    sign = np.sign(b.log_density(middle) - a.log_density(middle))
    numbers = np.flatnonzero((sign < 0) & (lean < 0)), np.flatnonzero((sign > 0) & (lean > 0))
    sides = tuple(_cells(a, b, low[at], high[at]) for at in numbers)
    zero, one = sides
    m0, m1 = zero.per_lean[:, np.newaxis], one.per_lean
    within = m0 * zero.variance[:, np.newaxis] + m1 * one.variance
    cost = within + (zero.mean[:, np.newaxis] - one.mean) ** 2 * (m0 / (m0 + m1) * m1)
    potentials: dict[float, Matching] = {}

    def at(price: float) -> Corner:
        near = min(potentials, key=lambda other: abs(np.log(other / price))) if potentials else None
        start = None if near is None else potentials[near]
        matching = by_network_simplex(zero.lean, one.lean, cost, price, None if start is None else (start.u, start.v))
        if price > 0:
            potentials[price] = matching._replace(plan=np.zeros(0))
        return corner(zero.lean, one.lean, cost, price, matching)

    shape = (zero.lean.size, one.lean.size)
    first = Corner(np.inf, 0.0, 0.0, 0.0, np.zeros(shape))
    return Cut(edges, (zero, one), numbers, cost, Frontier(at, first, at(0.0)), potentials)


def _cells(a: Part, b: Part, low: np.ndarray, high: np.ndarray) -> Cells:
    middle, half = (low + high) / 2, (high - low) / 2
    mass = [part.mass(low, high) for part in (a, b)]
    first = [part.first_moment(low, high, middle) for part in (a, b)]
    lean = np.abs(mass[1] - mass[0])
    total = np.maximum(mass[0] + mass[1], 1e-300)
    mean = np.clip((first[0] + first[1]) / total, -half, half)
    second = (a.second_moment(low, high, middle) + b.second_moment(low, high, middle)) / total
    centroid = np.clip((first[1] - first[0]) / np.where(lean > 0, mass[1] - mass[0], 1), -half, half)
    # eta = tanh(|L| / 2) of the log odds L. Its tangent in the middle, bent upwards by at most `bend`, lies above it.
    q, slope, level = log_odds(a, b)
    x = middle - (a.mean + b.mean) / 2
    odds = (q * x + slope) * x + level
    sign = np.sign(odds)
    squeeze = 1 / np.cosh(np.minimum(abs(odds) / 2, 300)) ** 2
    ends = [np.abs((q * (x + s * half) + slope) * (x + s * half) + level) for s in (-1, 1)]
    least = np.minimum(*ends)  # |L| in the cell is at least that, or at most a vertex below it
    vertex = -slope / (2 * q) if q != 0 else np.inf
    least = np.where(abs(vertex - x) < half, 0, least)
    bend = np.maximum(sign * q, 0) / (2 * np.cosh(np.minimum(least / 2, 300)) ** 2)
    return Cells(
        low,
        high,
        lean,
        middle + centroid,
        total / np.maximum(lean, 1e-300),
        middle + mean,
        np.maximum(second - mean**2, 0),
        np.tanh(abs(odds) / 2),
        sign * (2 * q * x + slope) * squeeze / 2,
        bend,
    )


def _bounds(cut: Cut, sure: float, D: float, gap: float, coarse: Frontier | None) -> tuple[Point, np.ndarray]:
    """Return the best mechanism of these cells with a bound below all mechanisms, and where the two part."""
    zero, one = cut.sides
    unmoved = (1 + zero.lean.sum() + one.lean.sum()) / 2
    point = cut.frontier.at(D, gap / 8, coarse)
    # What the mechanism loses: records of a cell are released together.
    loss = [
        point.price * point.solution.sum(axis=axis) * cells.per_lean * cells.variance
        for cells, axis in zip(cut.sides, (1, 0), strict=True)
    ]
    value, price = unmoved + point.leakage, cut.frontier.tightest(D)
    floor, more = -math.inf, [np.zeros(cells.lean.size) for cells in cut.sides]
    # Every price bounds. What a bound loses to the size of the cells is less at a lower price, with longer moves.
    while price > 0 and value - max(floor, sure) > gap:
        bound, *blame = _dual(cut, price, cut.potentials[price])
        below = unmoved - _BEYOND - price * D - bound
        if below <= floor:
            break
        floor, more = below, blame
        price /= 4
        cut.frontier.probe(price)
    error = np.zeros(cut.edges.size - 1)
    for number, lost, unknown in zip(cut.numbers, loss, more, strict=True):
        error[number] = lost + unknown
    return point._replace(leakage=value, floor=max(floor, sure)), error


def _dual(cut: Cut, price: float, matching: Matching) -> tuple[float, np.ndarray, np.ndarray]:
    """Return an upper bound of the most that can be hidden at this price, less what it costs; and the cells' errors.

    u(x) = max(0, u_i + s_i (x - x_i)) in cell i, and v likewise. For every theta, c >= 2 theta |x - x'| - theta^2
    (eta(x) + eta(x')), a sum of a function of x and one of x', and eta lies below its bent tangents: so feasibility
    for all x and x' in two cells is a number.
    """
    zero, one = cut.sides
    K = 1 / price
    distance = one.middle - zero.middle[:, np.newaxis]
    side = np.sign(distance)
    both = zero.eta[:, np.newaxis] + one.eta
    # Any theta will do: the best one gives c, and for pairs that cost much more than K a smaller one is enough.
    theta = np.minimum(np.abs(distance) / both, 2 * K / np.abs(distance))
    gain = K - (2 * np.abs(distance) - theta * both) * theta
    along0 = 2 * theta * side + theta**2 * zero.slope[:, np.newaxis]  # -dc/dx
    along1 = -2 * theta * side + theta**2 * one.slope
    u, slope0 = _tangent(gain - K * matching.v, along0)
    v, slope1 = _tangent((gain - u[:, np.newaxis]).T, along1.T)
    half0, half1 = zero.half[:, np.newaxis], one.half
    bent0 = theta**2 * zero.bend[:, np.newaxis] * half0**2
    # Where u is zero nearly everywhere, zero is the better of the two functions that it is not below.
    linear = np.abs(along0 - slope0[:, np.newaxis]) * half0 - u[:, np.newaxis]
    flat = np.abs(along0) * half0
    loose0 = np.minimum(linear, flat) + bent0
    loose1 = np.abs(along1 - slope1) * half1 + theta**2 * one.bend * half1**2
    slack = gain + loose0 + loose1
    # A cell with next to no lean may have the potential K, at which it asks nothing of its partners.
    light = zero.lean < 1e-9 / zero.lean.size
    slack[light] = -np.inf
    asks = slack.argmax(axis=0)
    partners = np.arange(one.lean.size)
    v = slack[asks, partners]
    hidden = _integral(zero, u, slope0)
    hidden[light] = K * zero.lean[light]
    bound = price * float(hidden.sum() + np.minimum(_integral(one, v, slope1), K * one.lean).sum())
    # What the bound loses, in the cells that are to blame.
    counts = price * np.where(v > -np.abs(slope1) * one.half, one.lean, 0)
    loss0 = np.bincount(
        asks, counts * (np.minimum(linear + u[:, np.newaxis], flat) + bent0)[asks, partners], zero.lean.size
    )
    return bound, loss0, counts * loose1[asks, partners]


def _tangent(worth: np.ndarray, along: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest worth in each row, and the slope of what attains it."""
    best = worth.argmax(axis=1)
    rows = np.arange(len(worth))
    return worth[rows, best], along[rows, best]


def _integral(cells: Cells, value: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Return an upper bound, mostly exact, of the integrals of max(0, value + slope (x - middle)) over the lean."""
    low, high = (np.maximum(value + s * slope * cells.half, 0) for s in (-1, 1))
    share = (cells.centroid - cells.low) / (cells.high - cells.low)
    return cells.lean * ((1 - share) * low + share * high)


def _found(cut: Cut, point: Point) -> Found:
    zero, one = cut.sides
    i, j = np.nonzero(point.solution)
    plan = point.solution[i, j]
    pull0, pull1 = zero.per_lean[i], one.per_lean[j]
    meeting = (zero.mean[i] * pull0 + one.mean[j] * pull1) / (pull0 + pull1)
    cells = np.concatenate([cut.numbers[0][i], cut.numbers[1][j]])
    share = np.concatenate([plan / zero.lean[i], plan / one.lean[j]])
    share /= np.maximum(np.bincount(cells, share, cut.edges.size - 1), 1)[cells]  # rounding
    return Found(point.leakage, point.floor, point.price, cut.edges, cells, np.concatenate([meeting, meeting]), share)
