"""Closed forms, linear programs and the convex solver of the binary model: time per solve beside the error reached.

Run `python benchmarks/binary_solvers.py`. The problems are random joint distributions, a third of them with nearly
empty cells, and budgets up to 0.4. An error is the distance of the reported value from a reference that shares no code
with what is measured: exact fractions for the MAP adversary, a bisection at 40 digits for mutual information.
"""

import time
import warnings
from fractions import Fraction

import cvxpy as cp
import mpmath
import numpy as np
import pulp

from gaplib import binary
from gaplib.models import BinaryModel

PROBLEMS = 100
SEED = 0


def problems():
    rng = np.random.default_rng(SEED)
    for i in range(PROBLEMS):
        joint = rng.dirichlet(np.full(4, 0.2 if i % 3 == 0 else 1.0)).reshape(2, 2)
        yield BinaryModel(joint / joint.sum()), float(rng.uniform(0, 0.4))


def map_reference(model, D, kind):
    """Least accuracy of the MAP adversary, by the closed form in exact fractions."""
    p = [[Fraction(float(cell)) for cell in row] for row in model.joint]
    D = Fraction(D)
    prior = max(p[0][0] + p[1][0], p[0][1] + p[1][1])
    slope = 1 if kind == "pdd" else max(abs(row[1] - row[0]) / sum(row) for row in p if sum(row) > 0)
    return float(max(prior, max(p[0]) + max(p[1]) - slope * D))


def mi_reference(model, D, kind):
    """Least I(Y; Xhat) by bisection over the split of the budget, at 40 digits."""
    with mpmath.workdps(40):
        p = [[mpmath.mpf(float(cell)) for cell in row] for row in model.joint]
        if p[0][0] * p[1][1] < p[0][1] * p[1][0]:
            p = p[::-1]
        y = [p[0][j] + p[1][j] for j in (0, 1)]
        if kind == "pdd":
            saturation = (p[0][0] * p[1][1] - p[0][1] * p[1][0]) / max(y)
            y_given_flip = [[1, 0], [0, 1]]
        else:
            saturation = min(sum(p[0]), sum(p[1]))
            y_given_flip = [[cell / sum(row) for cell in row] for row in p]
        if D >= saturation:
            return 0.0

        def released(split):
            mass = D - split, split
            leaving = [[mass[k] * y_given_flip[k][j] for j in (0, 1)] for k in (0, 1)]
            return [[p[k][j] - leaving[k][j] + leaving[1 - k][j] for j in (0, 1)] for k in (0, 1)]

        def rises(split):
            (a, b), (c, d) = released(split)
            w = [y_given_flip[0][j] + y_given_flip[1][j] for j in (0, 1)]
            return (a / (a + b)) ** w[0] * (b / (a + b)) ** w[1] > (c / (c + d)) ** w[0] * (d / (c + d)) ** w[1]

        low, high = mpmath.mpf(0), mpmath.mpf(D)
        for _ in range(130):
            middle = (low + high) / 2
            low, high = (low, middle) if rises(middle) else (middle, high)
        t = released(low)
        cells = [(t[k][j], sum(t[k]) * y[j]) for k in (0, 1) for j in (0, 1)]
        return float(sum(a * mpmath.log(a / b) for a, b in cells if a > 0))


def by_cbc(program):
    program.solve(pulp.PULP_CBC_CMD(msg=False))
    return pulp.value(program.objective)


def by_clarabel(model, D, kind):
    joint = model.joint
    keep = cp.Variable((2, 2))
    flipped = cp.multiply(joint, 1 - keep)
    released = joint - flipped + flipped[::-1]
    x, y = cp.sum(released, axis=1), joint.sum(axis=0)
    leakage = cp.sum(cp.rel_entr(released, cp.vstack([x[0] * y, x[1] * y])))
    constraints = [keep >= 0, keep <= 1, cp.sum(flipped) <= D] + ([keep[:, 0] == keep[:, 1]] if kind == "pdi" else [])
    problem = cp.Problem(cp.Minimize(leakage), constraints)
    with warnings.catch_warnings():
        # Clarabel says so when it stops short of its tolerance; the table shows by how much.
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        return problem.solve(solver=cp.CLARABEL)


METHODS = {
    ("MAP", "pdd"): {
        "closed form": lambda m, D: binary.optimal_pdd(m, D).value,
        "program, HiGHS": lambda m, D: binary.optimal_pdd(m, D, method="lp").value,
        "program, CBC": lambda m, D: by_cbc(binary.pdd_program(m, D)),
    },
    ("MAP", "pdi"): {
        "closed form": lambda m, D: binary.optimal_pdi(m, D).value,
        "program, HiGHS": lambda m, D: binary.optimal_pdi(m, D, method="lp").value,
        "program, CBC": lambda m, D: by_cbc(binary.pdi_program(m, D)),
    },
    ("MI", "pdd"): {
        "one equation": lambda m, D: binary.optimal_mi(m, D, "pdd").value,
        "CVXPY, Clarabel": lambda m, D: by_clarabel(m, D, "pdd"),
    },
    ("MI", "pdi"): {
        "one equation": lambda m, D: binary.optimal_mi(m, D, "pdi").value,
        "CVXPY, Clarabel": lambda m, D: by_clarabel(m, D, "pdi"),
    },
}


def measure(method, cases, references):
    """Return the median time of a solve in seconds and the largest error."""
    method(*cases[0])  # imports and caches
    seconds, errors = [], []
    for case, reference in zip(cases, references, strict=True):
        start = time.perf_counter()
        value = method(*case)
        seconds.append(time.perf_counter() - start)
        errors.append(abs(value - reference))
    return float(np.median(seconds)), max(errors)


def main():
    cases = list(problems())
    print(f"{PROBLEMS} random problems (seed {SEED}); median time per solve, largest error\n")
    print(f"{'leakage':8s} {'kind':5s} {'method':16s} {'ms':>9s} {'error':>9s}")
    for (leakage, kind), methods in METHODS.items():
        reference = map_reference if leakage == "MAP" else mi_reference
        references = [reference(model, D, kind) for model, D in cases]
        for name, method in methods.items():
            seconds, error = measure(method, cases, references)
            print(f"{leakage:8s} {kind.upper():5s} {name:16s} {1e3 * seconds:9.3f} {error:9.1e}")


if __name__ == "__main__":
    main()
