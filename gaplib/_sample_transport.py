"""The least MAP accuracy of a sample, taken as a distribution: partial transport between its records."""

from __future__ import annotations

import os

import numpy as np
import scipy  # scipy.sparse is loaded when it is first used

from gaplib._frontier import Corner, Frontier, Point
from gaplib._partial_transport import Matching, by_network_simplex, corner

# What POT takes for each pair of records: the table, its copy, the plan, and the arcs of the network. Measured.
BYTES_PER_PAIR = 110
# A subset of so many records of each kind gives a first guess of the price in a moment.
_SUBSET = 300
# A corner more could move the accuracy by no more than this, far below what a sample says about its distribution.
_TOLERANCE = 1e-6


def solve(zeros: np.ndarray, ones: np.ndarray, D: float) -> Point:
    """Return the optimum within D of the records zeros (n0, d) and ones (n1, d), the plan in units of records."""
    few = None
    if min(len(zeros), len(ones)) > 2 * _SUBSET:
        few0, few1 = (group[:: len(group) // _SUBSET] for group in (zeros, ones))
        # Weights as in the sample, whatever the steps.
        few = _frontier(few0, few1, len(zeros) / len(few0), len(ones) / len(few1))
    return _frontier(zeros, ones).at(D, _TOLERANCE, few)


def _frontier(zeros: np.ndarray, ones: np.ndarray, weight0: float = 1.0, weight1: float = 1.0) -> Frontier:
    cost = _half_squares(zeros, ones)
    left, right = np.full(len(zeros), weight0), np.full(len(ones), weight1)
    n = left.sum() + right.sum()
    potentials: dict[float, Matching] = {}

    def solve(price: float) -> Corner:
        near = min(potentials, key=lambda other: abs(np.log(other / price))) if potentials and price > 0 else None
        start = None if near is None else (potentials[near].u, potentials[near].v)
        matching = by_network_simplex(left, right, cost, price, start)
        if price > 0:
            potentials[price] = matching._replace(plan=np.zeros(0))
        found = corner(left, right, cost, price, matching)
        # Of a plan nearly all entries are zero.
        return found._replace(
            solution=scipy.sparse.csr_array(found.solution),
            distortion=found.distortion / n,
            leakage=found.leakage / n,
            floor=found.floor / n,
        )

    positive = cost[cost > 0]
    last = solve(0.0)
    if positive.size == cost.size:
        first = Corner(np.inf, 0.0, 0.0, 0.0, scipy.sparse.csr_array(cost.shape))
    else:  # records in the same place can be matched for nothing
        first = solve(2 / positive.min()) if positive.size else last
    return Frontier(solve, first, last)


def _half_squares(zeros: np.ndarray, ones: np.ndarray) -> np.ndarray:
    """Return |x - x'|^2 / 2, exactly 0 for equal records."""
    cost = np.zeros((len(zeros), len(ones)))
    for column0, column1 in zip(zeros.T, ones.T, strict=True):
        cost += (column0[:, np.newaxis] - column1) ** 2
    return cost / 2


def most_records(n0: int, n1: int) -> int:
    """Return how many records of both kinds together, in this proportion, fit in the memory that is free."""
    share = n0 / (n0 + n1)
    return int((free_memory() / (BYTES_PER_PAIR * share * (1 - share))) ** 0.5)


def free_memory() -> float:
    """Return the bytes of memory that can be had, infinite where the system does not say."""
    try:
        with open("/proc/meminfo") as lines:
            return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        names = os.sysconf_names if hasattr(os, "sysconf_names") else {}
        if "SC_PHYS_PAGES" not in names:
            return float("inf")
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
