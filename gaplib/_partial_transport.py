"""Partial optimal transport between two finite measures: how much mass can be matched at a price of the cost."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import scipy  # scipy.optimize is loaded when it is first used

from gaplib._frontier import Corner, Frontier

# HiGHS solves programs with so many pairs in a fraction of a second; larger ones go to POT's network simplex.
HIGHS_PAIRS = 2500


class Matching(NamedTuple):
    """A plan between two measures and potentials u, v >= 0 that bound it: u + v >= 1 - price x cost."""

    plan: np.ndarray
    u: np.ndarray
    v: np.ndarray


def frontier(left: np.ndarray, right: np.ndarray, cost: np.ndarray) -> Frontier:
    """Return the curve of (cost, -matched mass) of the plans between two measures with finite costs >= 0."""
    positive = cost[cost > 0]
    # Where a pair costs more than it hides, only pairs that cost nothing are matched.
    dearest = 2 / positive.min() if positive.size else 1.0

    def solve(price: float) -> Corner:
        return corner(left, right, cost, price, match(left, right, cost, price))

    return Frontier(solve, solve(dearest), solve(0.0))


def corner(left: np.ndarray, right: np.ndarray, cost: np.ndarray, price: float, matching: Matching) -> Corner:
    """Return the matching as a corner; its potentials are made feasible, whatever the solver's rounding."""
    u = np.maximum(matching.u, 0)
    v = np.maximum((1 - price * cost - u[:, np.newaxis]).max(axis=0), 0)
    plan = matching.plan
    return Corner(price, float((plan * cost).sum()), -float(plan.sum()), -float(left @ u + right @ v), plan)


def match(left: np.ndarray, right: np.ndarray, cost: np.ndarray, price: float) -> Matching:
    """Return the plan with the most matched mass less price x cost; at price 0, of the most mass, the cheapest."""
    solver = _by_highs if cost.size <= HIGHS_PAIRS else by_network_simplex
    plan, u, v = solver(left, right, cost, price)
    return Matching(_within(plan, left, right), u, v)


def _within(plan: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the plan without what it takes too much from either measure, by the solver's rounding."""
    plan = np.maximum(plan, 0)
    for axis, most in ((1, left), (0, right)):
        used = plan.sum(axis=axis)
        plan = plan * np.expand_dims(np.where(used > most, most / np.where(used > 0, used, 1), 1), axis)
    return plan


def _by_highs(left: np.ndarray, right: np.ndarray, cost: np.ndarray, price: float) -> Matching:
    n, m = cost.shape
    rows = scipy.sparse.vstack(
        [
            scipy.sparse.kron(scipy.sparse.eye_array(n), np.ones((1, m))),
            scipy.sparse.kron(np.ones((1, n)), scipy.sparse.eye_array(m)),
        ]
    ).tocsr()
    bounds = np.concatenate([left, right])
    if price > 0:
        # A pair that costs more than it hides is never used, however dear it is.
        result = linprog(np.minimum(price * cost - 1, 1).ravel(), A_ub=rows, b_ub=bounds)
        duals = -result.ineqlin.marginals
    else:
        # All of the smaller measure is matched: its rows are equations.
        full = np.arange(n + m) < n if left.sum() <= right.sum() else np.arange(n + m) >= n
        result = linprog(
            cost.ravel() / (cost.max() or 1.0),
            A_eq=rows[full],
            b_eq=bounds[full],
            A_ub=rows[~full],
            b_ub=bounds[~full] + 1e-15,
        )
        duals = np.where(full, 1.0, 0.0)  # no more than the smaller measure can be matched
    return Matching(result.x.reshape(n, m), duals[:n], duals[n:])


def linprog(objective: np.ndarray, **constraints: Any) -> Any:
    """Minimize by HiGHS, at its tightest tolerances or, where they cannot be reached, at its own."""
    for options in ({"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}, {}):
        result = scipy.optimize.linprog(objective, method="highs", options=options, **constraints)
        if result.status == 0:
            return result
    raise RuntimeError(f"HiGHS reports {result.message!r}")


def by_network_simplex(
    left: np.ndarray,
    right: np.ndarray,
    cost: np.ndarray,
    price: float,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> Matching:
    """Return the same by POT; `start` are potentials (u, v) at about this price."""
    solve = pot().lp.emd
    n, m = cost.shape
    # One dummy on each side takes what stays unmatched: what is gained by a match, 1, is saved there by halves.
    if price > 0:
        a, b = np.append(left, right.sum()), np.append(right, left.sum())
        table = np.full((n + 1, m + 1), 0.5)
        np.minimum(price * cost, 1, out=table[:n, :m])
        table[n, m] = 0
    else:
        spare = right.sum() - left.sum()
        a, b = np.append(left, max(spare, 0)), np.append(right, max(-spare, 0))
        table = np.zeros((n + 1, m + 1))
        table[:n, :m] = cost / max(float(cost.max()), 1e-300)
        table[n, m] = 10.0
    if start is not None and price > 0:
        start = np.append(0.5 - start[0], 0.0), np.append(0.5 - start[1], 0.0)
    else:
        start = None
    plan, log = solve(
        a, b, table, numItermax=10_000_000, log=True, center_dual=False, potentials_init=start, check_marginals=False
    )
    if log["warning"] is not None:
        raise RuntimeError(f"POT's network simplex reports {log['warning']!r}")
    plan = plan[:n, :m]
    if price == 0:
        full = left.sum() <= right.sum()
        return Matching(plan, np.full(n, float(full)), np.full(m, float(not full)))
    plan = np.where(price * cost < 1, plan, 0)  # what costs as much as it hides may as well stay
    # Feasible potentials: alpha_i + beta_j <= price x cost_ij, and both dummies' are taken off.
    alpha, beta = log["u"], log["v"]
    return Matching(plan, 0.5 - alpha[:n] - beta[m], 0.5 - beta[:m] - alpha[n])


def pot() -> ModuleType:
    """Import POT, without the frameworks that it would load if they are installed."""
    for backend in ("TENSORFLOW", "JAX", "PYTORCH", "CUPY"):
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{backend}", "1")
    try:
        import ot  # type: ignore[import-untyped]
    except ImportError:
        raise ImportError("POT solves large transport problems: install gaplib with its extra transport") from None
    return ot
