"""The optimum of the sample, extended to new records: whom the records of each cell meet, and where.

Records are put into cells, so few that each knows its share of each private value. Between the cells the optimum is
computed. For a bit it is partial optimal transport: of the masses of the two values where the mechanism sees Y, of the
lean of the cells where it does not. For more private values it is the linear program over all kernels. A new record
does what the cell does in which it falls, unless it is far from all of them: it stays as it is, or is released at a
point where records of other cells are released too. So what an adversary can learn from a record that moved is the
number of a point, whatever else it knows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gaplib import _finite_program, _partial_transport
from gaplib.tabular.columns import Records
from gaplib.tabular.space import Nearest, Space, means, representatives

# Cells per column for n^(1/3) records, and at most: the best number of a histogram's cells grows like n^(1/3). Measured
# on Gaussian mixtures in one to four dimensions; twice or half as many change the accuracy by less than .01.
_CELLS, _MOST_CELLS_PER_ROOT = 1.5, 5.0
MOST_CELLS = 320
# The linear program for many private values has a variable for each two cells and each value.
MOST_PROGRAM_CELLS = 40
_TOLERANCE = 1e-6  # of the accuracy, far below what a sample says about it
_ROUNDS = 20  # of Lloyd's algorithm; what remains to be gained is far below the width of a cell
# Cells are where the fitted records are, so new ones lie further from them, and their changes cost more: measured by
# .3 of the budget for 500 records with four columns, and by less than .04 from this number of records for each column.
_TRIED_PER_COLUMN = 10_000
_FOLDS = 5
# A number is far from the others if it is further from nearly all of them than so many times what these span, and to
# move it by that much would spend the whole budget. It stays: otherwise cross-validation, which finds it in a cell of
# others, would save all of the budget for it, and one record of a million would leave all others as they are.
_FAR, _NEARLY_ALL = 5.0, (0.01, 0.99)
_NO_SHARE = 1e-9  # a probability that only the solver's rounding makes


@dataclass(frozen=True)
class Plan:
    """What is done with a record: its node has alternatives, and a uniform number chooses.

    A node is a cell together with a group of private values. Its last alternative is to stay.

    Attributes
    ----------
    space : Space
    groups : numpy.ndarray of int, shape (values,)
        The node of cell i and private value y is ``i + cells * groups[y]``; all 0 if the mechanism does not see Y.
    cells : Records
    first : numpy.ndarray of int, shape (nodes + 1,)
        Where the alternatives of a node begin.
    until : numpy.ndarray, shape (alternatives,)
        Up to which uniform number an alternative is chosen: cumulative probabilities.
    targets : Records
        What an alternative releases.
    bounds : numpy.ndarray, shape (2, p)
        A record with a number below the first or above the second stays.
    """

    space: Space
    groups: np.ndarray
    cells: Records
    first: np.ndarray
    until: np.ndarray
    targets: Records
    bounds: np.ndarray
    _search: list[Nearest] = field(default_factory=list, repr=False, compare=False)

    @property
    def draws(self) -> int:
        """How many uniform numbers each record takes."""
        return 1

    def release(self, records: Records, labels: np.ndarray, uniform: np.ndarray) -> Records:
        """Return the release of each record; `uniform` has the shape (n, 1)."""
        if not self._search:
            self._search.append(Nearest(self.space.points(self.cells)))
        node = self._search[0](self.space.points(records)) + len(self.cells) * self.groups[labels]
        owner = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        chosen = np.searchsorted(owner + self.until, node + uniform[:, 0], side="right")
        stay = self.first[node + 1] - 1
        # In the sum of a node's number and a uniform number a last digit may be lost.
        chosen = np.clip(chosen, self.first[node], stay)
        moves = ((chosen < stay) & ~_outside(records.numbers, self.bounds))[:, np.newaxis]
        target = self.targets.take(chosen)
        return Records(np.where(moves, target.numbers, records.numbers), np.where(moves, target.codes, records.codes))


@dataclass(frozen=True)
class _Nodes:
    """Points, the cost of releasing a record of the node at its own point, and the mass that is to be hidden."""

    points: Records
    spread: np.ndarray
    mass: np.ndarray


@dataclass(frozen=True)
class _Move:
    node: int
    share: float
    numbers: np.ndarray
    codes: np.ndarray


@dataclass(frozen=True)
class _Fitted:
    """Cells and what their nodes do, before the plan is built."""

    space: Space
    groups: np.ndarray
    cells: Records
    moves: list[_Move]

    def node(self, records: Records, labels: np.ndarray) -> np.ndarray:
        """Return the node of each record."""
        nearest = Nearest(self.space.points(self.cells))
        return nearest(self.space.points(records)) + len(self.cells) * self.groups[labels]

    def cost(self, records: Records, labels: np.ndarray) -> float:
        """Return the expected cost of releasing these records, summed over them."""
        node = self.node(records, labels)
        members = {m: records.take(np.flatnonzero(node == m)) for m in {move.node for move in self.moves}}
        spent = 0.0
        for move in self.moves:
            mine = members[move.node]
            target = Records(np.tile(move.numbers, (len(mine), 1)), np.tile(move.codes, (len(mine), 1)))
            spent += move.share * float(self.space.cost(mine, target).sum())
        return spent

    def reduced(self, factor: float) -> _Fitted:
        """Return the same with moves that are less likely by a factor, if it is one."""
        if factor >= 1:
            return self
        moves = [_Move(move.node, move.share * factor, move.numbers, move.codes) for move in self.moves]
        return _Fitted(self.space, self.groups, self.cells, moves)


def plan(
    space: Space, records: Records, labels: np.ndarray, values: int, kind: str, D: float, random: np.random.Generator
) -> Plan:
    """Return the plan for records with the private values `labels` in range(values).

    Its mean cost is at most D on these records and, as far as cross-validation sees it, on new ones.
    """
    bounds = _bounds(records.numbers, space.units * math.sqrt(len(labels) * D))
    near = np.flatnonzero(~_outside(records.numbers, bounds))
    records, labels = records.take(near), labels[near]

    def fit(rows: np.ndarray, D: float, random: np.random.Generator) -> _Fitted:
        return _fitted(space, records.take(rows), labels[rows], values, kind, D, random)

    n, aim, share = len(labels), D, 1.0
    if D > 0 and n <= _TRIED_PER_COLUMN * (records.numbers.shape[1] + records.codes.shape[1]):
        (trying,) = random.spawn(1)
        # The same part of each private value in every fold.
        fold = np.empty(n, int)
        order = trying.permutation(n)
        fold[order[np.argsort(labels[order], kind="stable")]] = np.arange(n) % _FOLDS

        def share_of(aim: float) -> float:
            """Return the share of the cost of new records, if `aim` is spent on those fitted, that is within D."""
            spent = 0.0
            for number in range(_FOLDS):
                rows = np.flatnonzero(fold == number)
                spent += fit(np.flatnonzero(fold != number), aim, trying).cost(records.take(rows), labels[rows])
            return D / max(spent / n, D)

        if values == 2:  # to aim lower hides more than to move less often, and takes as long again
            aim = D * share_of(D)
        share = share_of(aim)
    return _build(fit(np.arange(n), aim, random).reduced(share), bounds)


def _bounds(numbers: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Return the bounds of each column, shape (2, p); beyond nearly all numbers, they leave at least `least`."""
    # Without columns NumPy forgets that there are two.
    low, high = np.nanquantile(numbers, _NEARLY_ALL, axis=0).reshape(2, -1)
    margin = np.maximum(_FAR * (high - low), least)
    return np.stack([low - margin, high + margin])


def _outside(numbers: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return which records have a number beyond its bounds, shape (n,)."""
    return ((numbers < bounds[0]) | (numbers > bounds[1])).any(axis=1)


def _fitted(
    space: Space, records: Records, labels: np.ndarray, values: int, kind: str, D: float, random: np.random.Generator
) -> _Fitted:
    """Return what costs these records at most D."""
    n = len(labels)
    per_root = min(_CELLS * (records.numbers.shape[1] + records.codes.shape[1]), _MOST_CELLS_PER_ROOT)
    most = min(MOST_CELLS if values == 2 else MOST_PROGRAM_CELLS, math.ceil(per_root * n ** (1 / 3)))
    cells, cell = representatives(space, records, most, _ROUNDS, random)
    groups = np.arange(values) if kind == "pdd" else np.zeros(values, int)
    solve = _bit_moves if values == 2 else _many_moves
    fitted = _Fitted(space, groups, cells, solve(space, records, cells, cell, labels, groups, D))
    return fitted.reduced(D / max(fitted.cost(records, labels) / n, D)) if D > 0 else fitted


def _nodes(space: Space, records: Records, cells: Records, node: np.ndarray, groups: int) -> _Nodes:
    """Return the nodes with the means of their own records."""
    size = groups * len(cells)
    tiled = Records(np.tile(cells.numbers, (groups, 1)), np.tile(cells.codes, (groups, 1)))
    points = Records(means(records.numbers, node, tiled.numbers), tiled.codes)
    counts = np.bincount(node, minlength=size)
    spread = np.bincount(node, weights=space.cost(records, points.take(node)), minlength=size)
    # A new record is further from a mean of n records than these are, by the factor (n + 1) / (n - 1).
    factor = (counts + 1) / np.maximum(counts - 1, 1)
    return _Nodes(points, spread / np.maximum(counts, 1) * factor, counts / len(records))


def _bit_moves(
    space: Space, records: Records, cells: Records, cell: np.ndarray, labels: np.ndarray, groups: np.ndarray, D: float
) -> list[_Move]:
    """Match the masses of the two private values, or the lean of the cells.

    To move a unit of what is matched costs `weight` times the change. Of two records with weights a and b, the cheapest
    meeting point of numbers is their weighted mean, at a b / (a + b) times their squared distance, and of categories
    that of the heavier.
    """
    n = len(cells)
    node = cell + n * groups[labels]
    nodes = _nodes(space, records, cells, node, int(groups.max()) + 1)
    if groups[1]:
        matched, weight = nodes.mass, np.ones(2 * n)
        left, right = np.flatnonzero(matched[:n]), n + np.flatnonzero(matched[n:])
    else:
        lean = np.bincount(cell, weights=2.0 * labels - 1, minlength=n) / len(labels)
        # All of the cell's mass has to go with its lean.
        matched, weight = abs(lean), nodes.mass / np.where(lean == 0, 1, abs(lean))
        left, right = np.flatnonzero(lean < 0), np.flatnonzero(lean > 0)
    if not (len(left) and len(right)):
        return []
    squares, changes = space.costs(nodes.points.take(left), nodes.points.take(right))
    a, b = weight[left][:, np.newaxis], weight[right]
    cost = squares * a * b / (a + b) + changes * np.minimum(a, b)
    cost += a * nodes.spread[left][:, np.newaxis] + b * nodes.spread[right]
    unit = float(cost.max()) or 1.0
    frontier = _partial_transport.frontier(matched[left], matched[right], cost / unit)
    solution = frontier.at(D / unit, _TOLERANCE).solution
    moves = []
    for i, j in zip(*np.nonzero(solution > _NO_SHARE * matched.max()), strict=True):
        numbers, codes = _meeting(nodes.points, left[i], right[j], float(weight[left[i]]), float(weight[right[j]]))
        moves += [_Move(m, float(solution[i, j] / matched[m]), numbers, codes) for m in (left[i], right[j])]
    return moves


def _meeting(points: Records, i: int, j: int, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    heavier = i if a >= b else j
    # In this form equal numbers have themselves as mean, without rounding.
    mean = points.numbers[i] + (points.numbers[j] - points.numbers[i]) * (b / (a + b))
    return np.where(np.isnan(mean), points.numbers[heavier], mean), points.codes[heavier]


def _many_moves(
    space: Space, records: Records, cells: Records, cell: np.ndarray, labels: np.ndarray, groups: np.ndarray, D: float
) -> list[_Move]:
    """Return the moves of the linear program: a record stays, or is released at the point of some cell."""
    n, values = len(cells), len(groups)
    joint = np.zeros((n, values))
    np.add.at(joint, (cell, labels), 1 / len(labels))
    at_points = np.sum(space.costs(cells, cells), axis=0) + _nodes(space, records, cells, cell, 1).spread[:, np.newaxis]
    # What stays in a cell is no release of another cell: that is dearer than any other.
    stays = np.full((n, n), 4 * float(at_points.max()) or 1.0)
    np.fill_diagonal(stays, 0)
    table = np.column_stack([at_points, stays])
    unit = float(table.max()) or 1.0  # one cell: nothing is to be moved
    _, kernel = _finite_program.program(joint, table / unit, "pdd" if groups[-1] else "pdi").at(D / unit)
    moves = []
    for i, group, k in zip(*np.nonzero(kernel[:, : int(groups.max()) + 1] > _NO_SHARE), strict=True):
        if k != n + i:
            to = cells.take(np.array([k % n]))
            moves.append(_Move(group * n + i, float(kernel[i, group, k]), to.numbers[0], to.codes[0]))
    return moves


def _build(fitted: _Fitted, bounds: np.ndarray) -> Plan:
    """Return the plan whose nodes make these moves, and otherwise stay."""
    space, groups, cells, moves = fitted.space, fitted.groups, fitted.cells, fitted.moves
    n = len(cells) * (int(groups.max()) + 1)
    stays = [_Move(node, 0.0, cells.numbers[node % len(cells)], cells.codes[node % len(cells)]) for node in range(n)]
    ordered = sorted([*moves, *stays], key=lambda move: move.node)  # stable: to stay comes last
    owner = np.array([move.node for move in ordered])
    first = np.searchsorted(owner, np.arange(n + 1))
    until = np.cumsum([move.share for move in ordered])
    until = np.minimum(until - np.append(0, until)[first[owner]], 1)
    until[first[1:] - 1] = 1.0
    targets = Records(np.stack([move.numbers for move in ordered]), np.stack([move.codes for move in ordered]))
    return Plan(space, groups, cells, first, until, targets, bounds)
