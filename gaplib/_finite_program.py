"""The least MAP accuracy of a finite model over all mechanisms.

For a bit it is partial transport between the two values of Y (PDD) or between the letters that lean to one and those
that lean to the other (PDI); for more private values it is the linear program over all kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy  # scipy.sparse is loaded when it is first used

from gaplib._frontier import Corner, Frontier, Point
from gaplib._partial_transport import frontier, linprog

# A letter that leans less than this does so by the rounding of its cells.
_NO_LEAN = 1e-15


class Program(NamedTuple):
    """A problem for every budget: `at` answers for one, as a kernel of shape (n, m, K)."""

    frontier: Frontier
    least_distortion: float
    offset: float
    kernel: Callable[[np.ndarray], np.ndarray]

    def at(self, D: float) -> tuple[Point, np.ndarray]:
        """Return the optimum at the budget D >= least_distortion, in units of accuracy, and its kernel."""
        point = self.frontier.at(max(D - self.least_distortion, 0.0))
        point = point._replace(leakage=self.offset + point.leakage, floor=self.offset + point.floor)
        return point, self.kernel(point.solution)


def program(joint: np.ndarray, table: np.ndarray, kind: str) -> Program:
    """Return the problem with ``joint[i, j]``, the distortions ``table[i, k]``, and the kind "pdd" or "pdi"."""
    least = table.min(axis=1)
    # What even the cheapest letter of release costs has to be paid; the rest is what there is to choose.
    spare = table - least[:, np.newaxis]
    build = _kernel_program if joint.shape[1] > 2 else _pdd_transport if kind == "pdd" else _pdi_transport
    return build(joint, spare, kind, float(joint.sum(axis=1) @ least))


def _pdd_transport(joint: np.ndarray, spare: np.ndarray, kind: str, least: float) -> Program:
    zeros, ones = np.flatnonzero(joint[:, 0] > 0), np.flatnonzero(joint[:, 1] > 0)
    cost, meeting = _pair_costs(spare[zeros], spare[ones])

    def kernel(plan: np.ndarray) -> np.ndarray:
        moved = np.zeros((*joint.shape, spare.shape[1]))
        i, j = np.nonzero(plan)
        np.add.at(moved[:, 0], (zeros[i], meeting[i, j]), plan[i, j])
        np.add.at(moved[:, 1], (ones[j], meeting[i, j]), plan[i, j])
        return _kernel(moved, joint, spare)

    return Program(_frontier(joint[zeros, 0], joint[ones, 1], cost), least, 1.0, kernel)


def _pdi_transport(joint: np.ndarray, spare: np.ndarray, kind: str, least: float) -> Program:
    lean = joint[:, 1] - joint[:, 0]
    zeros, ones = np.flatnonzero(lean < -_NO_LEAN), np.flatnonzero(lean > _NO_LEAN)
    mass = joint.sum(axis=1)
    # Per unit of lean, all of the letter's mass has to be moved.
    per_lean = spare * (mass / np.where(lean != 0, abs(lean), 1))[:, np.newaxis]
    cost, meeting = _pair_costs(per_lean[zeros], per_lean[ones])

    def kernel(plan: np.ndarray) -> np.ndarray:
        moved = np.zeros((joint.shape[0], spare.shape[1]))
        i, j = np.nonzero(plan)
        np.add.at(moved, (zeros[i], meeting[i, j]), plan[i, j])
        np.add.at(moved, (ones[j], meeting[i, j]), plan[i, j])
        own = _kernel(moved[:, np.newaxis], abs(lean)[:, np.newaxis], spare)
        return np.repeat(own, joint.shape[1], axis=1)

    offset = (1 + float(abs(lean).sum())) / 2
    return Program(_frontier(-lean[zeros], lean[ones], cost), least, offset, kernel)


def _frontier(left: np.ndarray, right: np.ndarray, cost: np.ndarray) -> Frontier:
    if cost.size == 0:  # nothing to match
        nothing = Corner(0.0, 0.0, 0.0, 0.0, np.zeros(cost.shape))
        return Frontier(lambda price: nothing, nothing, nothing)
    return frontier(left, right, cost)


def _pair_costs(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what it costs to release two letters as one, the cheapest, and which that is."""
    cost, meeting = np.zeros((len(left), len(right))), np.zeros((len(left), len(right)), int)
    for i, row in enumerate(left):
        both = row + right
        meeting[i] = both.argmin(axis=1)
        cost[i] = both.min(axis=1)
    return cost, meeting


def _kernel(moved: np.ndarray, mass: np.ndarray, spare: np.ndarray) -> np.ndarray:
    """Return the kernel that moves ``moved[i, j, k]`` of ``mass[i, j]``, and releases the rest at the least cost."""
    share = moved / np.where(mass > 0, mass, 1)[..., np.newaxis]
    total = share.sum(axis=-1)
    share /= np.maximum(total, 1)[..., np.newaxis]
    rows = np.arange(len(mass))
    share[rows, :, spare.argmin(axis=1)] += np.maximum(1 - total, 0)
    return share


def _kernel_program(joint: np.ndarray, spare: np.ndarray, kind: str, least: float) -> Program:
    """Return the program over all kernels: variables are the masses of (X, Y, Xhat), or of (X, Xhat) without Y."""
    (n, m), K = joint.shape, spare.shape[1]
    mass = joint if kind == "pdd" else joint.sum(axis=1, keepdims=True)
    groups = mass.shape[1]  # the private values that a kernel tells apart
    size = n * groups * K
    share = np.ones((n, m)) if kind == "pdd" else joint / np.where(mass > 0, mass, 1)
    # Row (k, j): the mass of (Xhat=k, Y=j) is at most t_k.
    i, j, k = (index.ravel() for index in np.indices((n, m, K)))
    variable = (i * groups + (j if groups > 1 else 0)) * K + k
    arrives = scipy.sparse.csr_array((share[i, j], (k * m + j, variable)), shape=(K * m, size))
    guess = scipy.sparse.hstack([arrives, -scipy.sparse.kron(scipy.sparse.eye_array(K), np.ones((m, 1)))]).tocsr()
    leave = scipy.sparse.hstack(
        [
            scipy.sparse.kron(scipy.sparse.eye_array(n * groups), np.ones((1, K))),
            scipy.sparse.csr_array((n * groups, K)),
        ]
    ).tocsr()
    costs = np.repeat(spare, groups, axis=0).ravel()

    bounds = np.array([(0.0, np.inf)] * size + [(-np.inf, np.inf)] * K)

    def corner(price: float, result: Any, rule: np.ndarray | None) -> Corner:
        flow = np.maximum(result.x[:size].reshape(n, groups, K), 0)
        total = flow.sum(axis=2)
        flow = flow * (mass / np.where(total > 0, total, 1))[..., np.newaxis]
        distortion = float(flow.ravel() @ costs)
        leakage = float((arrives @ flow.ravel()).reshape(K, m).max(axis=1).sum())
        return Corner(price, distortion, leakage, _dual(price, rule), flow)

    def _dual(price: float, rule: np.ndarray | None) -> float:
        """Return what the adversary gets who guesses j at k with probability ``rule[k, j]``, whatever is released."""
        if rule is None:
            return float(joint.sum(axis=0).max())
        if kind == "pdd":
            return float((joint * (price * spare[:, np.newaxis] + rule.T).min(axis=2)).sum())
        return float((price * mass * spare + joint @ rule.T).min(axis=1).sum())

    def solve(price: float) -> Corner:
        # A moved mass hides no more than itself: what is dearer than that is never moved.
        objective = np.concatenate([np.minimum(price * costs, 2), np.ones(K)])
        result = linprog(objective, A_ub=guess, b_ub=np.zeros(K * m), A_eq=leave, b_eq=mass.ravel(), bounds=bounds)
        rule = np.maximum(-result.ineqlin.marginals.reshape(K, m), 0)
        rule /= rule.sum(axis=1, keepdims=True)
        return corner(price, result, rule)

    def cheapest_useless() -> Corner:
        total = scipy.sparse.csr_array(np.concatenate([np.zeros(size), np.ones(K)])[np.newaxis])
        result = linprog(
            np.concatenate([costs / (costs.max() or 1.0), np.zeros(K)]),
            A_ub=scipy.sparse.vstack([guess, total]).tocsr(),
            b_ub=np.append(np.zeros(K * m), joint.sum(axis=0).max() + 1e-13),
            A_eq=leave,
            b_eq=mass.ravel(),
            bounds=bounds,
        )
        return corner(0.0, result, None)

    def kernel(flow: np.ndarray) -> np.ndarray:
        own = _kernel(flow, mass, spare)
        return own if kind == "pdd" else np.repeat(own, m, axis=1)

    positive = spare[spare > 0]
    dearest = 2 / positive.min() if positive.size else 1.0
    return Program(Frontier(solve, solve(dearest), cheapest_useless()), least, 0.0, kernel)
