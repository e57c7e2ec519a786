"""The four-parameter optimum of the Gaussian mixture and the paper's grid search: time beside the error reached.

Run `python benchmarks/gaussian_solvers.py`. The problems are the 36 rows of the paper's Tables 2 to 5. The reference is
a general optimizer over all four parameters from many starts, which shares no theorem with what is measured.
"""

import math
import time

import numpy as np
from scipy.optimize import minimize

from gaplib import gaussian, leakage
from gaplib._normals import TwoNormals
from gaplib.book import paper
from gaplib.mechanisms import AffineGaussian

STEPS = (1 / 10, 1 / 20, 1 / 40, 1 / 80)
STARTS = 20


def rows():
    for number in (2, 4, 3, 5):
        for row in paper.table(number):
            yield paper.DATASETS[row["dataset"]], row["D"]


def grid_search(model, D, step):
    """The paper's search over (epsilon, w0, w1) in the unit cube, its Equations 42 and 43; the accuracy is exact."""
    t = np.linspace(0, 1, round(1 / step) + 1)
    p = model.prior
    cosine, sine = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
    e0, e1 = math.sqrt(D / (1 - p)) * sine, math.sqrt(D / p) * cosine
    beta0, gamma0 = np.multiply.outer(e0, cosine), np.multiply.outer(e0, sine)
    beta1, gamma1 = np.multiply.outer(e1, cosine), np.multiply.outer(e1, sine)
    least = math.inf
    for i in range(t.size):  # one epsilon at a time, to bound the memory
        gap = 2 * model.mu - beta0[i][:, np.newaxis] - beta1[i]
        var0, var1 = model.var0 + gamma0[i][:, np.newaxis] ** 2, model.var1 + gamma1[i] ** 2
        least = min(least, float(TwoNormals(p, gap, var0, var1).map_accuracy().min()))
    return least


def many_starts(model, D):
    """The least accuracy a simplex search finds; the mechanism is a direction, scaled to the budget or below."""
    rng = np.random.default_rng(round(D) + round(10 * model.prior) + round(100 * model.var0))
    weights = np.sqrt([1 - model.prior, model.prior, 1 - model.prior, model.prior])

    def accuracy(v):
        scale = math.sqrt(D) / max(np.linalg.norm(v), math.sqrt(D))
        beta0, beta1, gamma0, gamma1 = v * scale / weights
        return leakage.map_accuracy(model, AffineGaussian(beta0, beta1, abs(gamma0), abs(gamma1)))

    options = {"maxfev": 2000, "xatol": 1e-9, "fatol": 1e-13}
    return min(
        minimize(accuracy, math.sqrt(D) * rng.normal(size=4), method="Nelder-Mead", options=options).fun
        for _ in range(STARTS)
    )


def measure(solve):
    """Wall and processor seconds for all rows, and the values."""
    wall, processor = time.perf_counter(), time.process_time()
    values = np.array([solve(model, D) for model, D in rows()])
    return time.perf_counter() - wall, time.process_time() - processor, values


def main():
    count = len(list(rows()))
    exact = measure(lambda model, D: gaussian.optimal_affine(model, D).value)
    seconds, _, reference = measure(many_starts)
    best = np.minimum(reference, exact[2])
    print(f"{count} rows; reference: simplex search, {STARTS} starts, {seconds:.0f} s\n")
    print(f"{'solver':34}{'evaluations':>12}{'wall s':>9}{'CPU s':>9}{'worst error':>13}")

    def line(name, evaluations, wall, processor, values):
        print(f"{name:34}{evaluations:>12}{wall:9.3f}{processor:9.3f}{np.max(values - best):13.1e}")

    line("optimal_affine, 0-1 loss", "", *exact)
    wall, processor, _ = measure(lambda model, D: gaussian.optimal_affine(model, D, "log").value)
    print(f"{'optimal_affine, log-loss':34}{'':12}{wall:9.3f}{processor:9.3f}")
    for step in STEPS:
        name = f"grid search of the paper, 1/{round(1 / step)}"
        line(
            name, (round(1 / step) + 1) ** 3 * count, *measure(lambda model, D, step=step: grid_search(model, D, step))
        )
    print(f"\nthe reference itself misses the lower of the two by at most {np.max(reference - best):.1e}")


if __name__ == "__main__":
    main()
