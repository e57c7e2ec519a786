"""The optimum over all mechanisms: time beside the error reached.

Run `python benchmarks/transport.py`. Side by side with gaplib stand a plain linear program over kernels on a grid of
the line, by HiGHS, and POT called by hand on a sample, where a budget is a bisection over the mass. Times are those of
the processor; nothing here uses two.
"""

import time

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, kron, vstack
from scipy.stats import norm

from gaplib import leakage, transport
from gaplib._partial_transport import pot
from gaplib.book import paper
from gaplib.models import GaussianMixture

# The optimum by two computations that share no code with gaplib, rounded at the ninth digit or later.
KNOWN = {
    (0.5, 3, 1, 1): {1: 0.85211670376, 3: 0.71814072943, 6: 0.58656193330},
    (0.75, 3, 1, 1): {1: 0.86395591951, 2: 0.79822872328},
    (0.5, 3, 1, 4): {1: 0.80118548317},
    (0.75, 3, 4, 1): {1: 0.84242953294},
}
PDI = [((0.5, 3, 1, 1), 1), ((0.5, 3, 1, 1), 3), ((0.5, 3, 1, 4), 1), ((0.5, 1, 1, 1), 0.1), ((0.75, 3, 4, 1), 1)]


def timed(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def grid_program(model, D, n):
    """The least accuracy over all kernels between n letters of an even grid, PDI, by HiGHS."""
    sds = np.sqrt(model.variances)
    edges = np.linspace((model.means - 5 * sds).min(), (model.means + 5 * sds).max(), n + 1)
    joint = np.stack(
        [p * np.diff(norm(m, s).cdf(edges)) for p, m, s in zip(model.p_y, model.means, sds, strict=True)], 1
    )
    joint /= joint.sum()
    table = (edges[:, None] - edges)[:-1, :-1] ** 2
    arrives = [kron(joint[:, [j]].T, eye_array(n)) for j in (0, 1)]
    rows = [hstack([rows, -eye_array(n)]) for rows in arrives]
    budget = csr_array(np.concatenate([(joint.sum(axis=1)[:, None] * table).ravel(), np.zeros(n)])[None])
    result = linprog(
        np.concatenate([np.zeros(n * n), np.ones(n)]),
        A_ub=vstack([*rows, budget]).tocsr(),
        b_ub=np.append(np.zeros(2 * n), D),
        A_eq=hstack([kron(eye_array(n), np.ones((1, n))), csr_array((n, n))]).tocsr(),
        b_eq=np.ones(n),
    )
    return result.fun


def pot_by_hand(x, y, D, steps=10):
    """The optimum of a sample by bisection over the mass that `ot.partial.partial_wasserstein` takes."""
    ot = pot()
    cost = ot.dist(x[y == 0], x[y == 1]) / 2
    weights = [np.full((y == label).sum(), 1 / len(y)) for label in (0, 1)]
    low, high = 0.0, float(min(weights[0].sum(), weights[1].sum()))
    for _ in range(steps):
        mass = (low + high) / 2
        plan = ot.partial.partial_wasserstein(*weights, cost, m=mass, numItermax=10**7)
        low, high = (mass, high) if (plan * cost).sum() <= D else (low, mass)
    return 1 - low, high - low


def main():
    pot()  # imports are not what is measured
    transport.optimal_pdi(GaussianMixture(0.5, 1, 1, 1), 0.1)

    worst = 0.0
    for mixture, values in KNOWN.items():
        for D, value in values.items():
            worst = max(worst, abs(transport.optimal_pdd(GaussianMixture(*mixture), D).value - value))
    print(f"line, PDD: {worst:.0e} from the known values, which are rounded at 5e-12 or more")

    rows = [
        (GaussianMixture(row["prior"], 3, row["var0"], row["var1"]), row["D"])
        for n in (2, 3, 4, 5)
        for row in paper.table(n)
    ]
    times, errors = [], []
    for model, D in rows:
        seconds, found = timed(lambda model=model, D=D: transport.optimal_pdd(model, D))
        times.append(seconds)
        errors.append(abs(leakage.map_accuracy(model, found.mechanism) - found.value))
    print(
        f"line, PDD, the paper's {len(rows)} rows: {sum(times):.2f} s, slowest {1e3 * max(times):.1f} ms, "
        f"map and value {max(errors):.0e} apart"
    )

    for gap in (5e-4, 1e-4, 1e-5):
        results = [
            timed(lambda m=m, D=D, gap=gap: transport.optimal_pdi(GaussianMixture(*m), D, gap=gap)) for m, D in PDI
        ]
        print(
            f"line, PDI, gap {gap:.0e} asked: slowest of {len(PDI)} {max(t for t, _ in results):.2f} s, largest gap "
            f"{max(found.gap for _, found in results):.1e}"
        )
    mixture, D = PDI[2]
    exact = transport.optimal_pdi(GaussianMixture(*mixture), D, gap=1e-5).value
    for n in (40, 80):
        seconds, value = timed(lambda n=n: grid_program(GaussianMixture(*mixture), D, n))
        print(
            f"line, PDI, a program over kernels on {n} points: {seconds:.2f} s, "
            f"{abs(value - exact):.1e} from the optimum"
        )

    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(2000, 2)) - 1, rng.normal(size=(2000, 2)) + 1])
    y = np.repeat([0, 1], 2000)
    seconds, found = timed(lambda: transport.of_sample(x, y, 0.3))
    print(f"2 x 2,000 records in the plane: {seconds:.1f} s, accuracy {found.value:.6f}, gap {found.gap:.0e}")
    seconds, (value, width) = timed(lambda: pot_by_hand(x, y, 0.3))
    print(f"POT by hand, bisection over the mass: {seconds:.1f} s, accuracy {value:.6f}, within {width:.0e}")


if __name__ == "__main__":
    main()
