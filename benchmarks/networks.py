"""Networks as privatizers: processor seconds a game, beside the accuracy reached and the true optimum.

Run `python benchmarks/networks.py [SEEDS]`. On the line the accuracy is that of the released distributions, by
histograms that are fitted to one half of the nodes and judge the other, and by the same ones judged on what they were
fitted to. In space two fresh attackers that train on new records judge new records: a histogram along the axis of the
means, and logistic regression on random ReLU features, of which a part looks along that axis.
"""

import sys
import time

import numpy as np
from scipy.special import expit, ndtri

from gaplib import transport
from gaplib.book import paper
from gaplib.training import Game, NeuralPrivatizer, train

BUDGETS = (1, 3, 6)
DIMENSIONS = (2, 8, 16)


def on_the_line(model, mechanism, n=100_000, bins=1000):
    """Accuracy of the MAP adversary, from below and from above."""
    means, sds = model.means, np.sqrt(model.variances)
    low, high = (means - 7 * sds).min(), (means + 7 * sds).max()
    mass = np.zeros((2, bins, 2))
    for j in (0, 1):
        x = means[j] + sds[j] * ndtri((np.arange(n) + 0.5) / n)
        points, probability = mechanism.outcomes(x, np.full(n, j))
        z = np.column_stack([x, points])
        weight = np.column_stack([1 - probability.sum(axis=1), probability]) * model.p_y[j] / n
        cell = np.clip(((z - low) / (high - low) * bins).astype(int), 0, bins - 1)
        for half in (0, 1):
            mass[half, :, j] = np.bincount(cell[half::2].ravel(), weight[half::2].ravel(), bins)
    guess = mass.argmax(axis=2)[..., np.newaxis]
    fresh = sum(np.take_along_axis(mass[1 - half], guess[half], 1).sum() for half in (0, 1))
    return fresh, mass.sum(axis=0).max(axis=1).sum()


def in_space(d, n, seed):
    """Dataset 1 in a random direction of d dimensions: x, y, and the direction."""
    random = np.random.default_rng(seed)
    rotation = np.linalg.qr(np.random.default_rng(d).normal(size=(d, d)))[0]
    y = random.integers(0, 2, n)
    x = random.standard_normal((n, d))
    x[:, 0] += 3 * (2 * y - 1)
    return x @ rotation.T, y, rotation[:, 0]


def attacked(mechanism, d, n=40_000, seed=5):
    """The larger accuracy of two fresh attackers, and the distortion across the axis of the means."""
    x, y, axis = in_space(d, 2 * n, seed)
    z = mechanism.privatize(x, y, seed)
    cell = np.clip(((z @ axis + 7) / 14 * 150).astype(int), 0, 149)
    counts = [np.bincount(cell[:n][y[:n] == j], minlength=150) for j in (0, 1)]
    by_histogram = (np.argmax(counts, axis=0)[cell[n:]] == y[n:]).mean()
    random = np.random.default_rng(0)
    directions = random.normal(size=(d, 300))
    directions /= np.linalg.norm(directions, axis=0)
    directions[:, :40] = axis[:, np.newaxis]
    features = np.column_stack([np.ones(2 * n), z, np.maximum(z @ directions + random.uniform(-5, 5, 300), 0)])
    known, weights = features[:n], np.zeros(features.shape[1])
    for _ in range(8):
        belief = expit(known @ weights)
        curvature = (known * np.maximum(belief * (1 - belief), 0.01)[:, np.newaxis]).T @ known
        slope = known.T @ (belief - y[:n]) + weights
        weights -= np.linalg.solve(curvature + np.eye(weights.size), slope)
    by_features = ((features[n:] @ weights > 0) == y[n:]).mean()
    moved = z - x
    return max(by_histogram, by_features), ((moved**2).sum(axis=1) - (moved @ axis) ** 2).mean()


def timed(games, seeds):
    start = time.process_time()
    results = train(games, loss="0-1", seed=seeds, progress=False)
    return (time.process_time() - start) / len(games), results


def main(seeds=5):
    for kind, privatizer in (("pdd", NeuralPrivatizer()), ("pdi", NeuralPrivatizer(noise=1, moves=3))):
        optimal = transport.optimal_pdd if kind == "pdd" else transport.optimal_pdi
        rows = [(model, D, optimal(model, D).value) for model in paper.DATASETS.values() for D in BUDGETS]
        rows = [(model, D, best) for model, D, best in rows if best > max(model.p_y) + 1e-4]
        games = [Game(model, D, kind, privatizer=privatizer) for model, D, _ in rows for _ in range(seeds)]
        seconds, results = timed(games, list(range(seeds)) * len(rows))
        print(f"{kind}: {seconds:.1f} s a game, compilation included")
        for i, (model, D, best) in enumerate(rows):
            brackets = [on_the_line(model, result.mechanism) for result in results[i * seeds : (i + 1) * seeds]]
            gaps = np.mean(brackets, axis=1) - best
            width = np.ptp(brackets, axis=1).max()
            print(f"  {model}, D={D}: {best:.4f} {gaps.mean():+.4f} (worst {gaps.max():+.4f}, bracket {width:.4f})")
    best = {D: transport.optimal_pdd(paper.DATASETS[1], D).value for D in BUDGETS[:2]}
    for d in DIMENSIONS:
        for n in (20_000, 200_000):  # the fewer records, the more the players learn of them by heart
            x, y, _ = in_space(d, n, 0)
            seconds, results = timed([Game((x, y), D) for D in best], 0)
            for D, result in zip(best, results, strict=True):
                accuracy, across = attacked(result.mechanism, d)
                gap = f"{best[D]:.4f} {accuracy - best[D]:+.4f}, across {across:.3f}"
                print(f"d={d}, {n} records, D={D}: {gap}, {seconds:.1f} s a game")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
