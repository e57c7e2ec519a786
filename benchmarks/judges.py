"""What an adversary reads from a learned mechanism: for benchmarks/networks.py and tests/test_neural.py."""

import numpy as np
from scipy.special import expit, ndtri


def on_the_line(model, mechanism, n=100_000, bins=1000):
    """Two estimates of the MAP adversary's accuracy, one too low and one too high, from histograms of the release.

    The records are quantiles of each distribution, and gates are averaged over exactly. One half fits the adversary
    that judges the other: it is never better than the MAP adversary. Judged on what it was fitted to, it is never
    worse, but for the width of a bin.
    """
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
    """Dataset 1 in a random direction of d dimensions: x, y, and the direction.

    Across it nothing tells Y apart, so the optimum is that on the line.
    """
    random = np.random.default_rng(seed)
    rotation = np.linalg.qr(np.random.default_rng(d).normal(size=(d, d)))[0]
    y = random.integers(0, 2, n)
    x = random.standard_normal((n, d))
    x[:, 0] += 3 * (2 * y - 1)
    return x @ rotation.T, y, rotation[:, 0]


def attacked(mechanism, d, n=40_000, seed=5):
    """The larger accuracy of two fresh attackers on n new records, and the distortion across the axis of the means.

    They train on n other new records: a histogram along the axis, and logistic regression on random ReLU features, of
    which a part looks along that axis.
    """
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
    for _ in range(8):  # Newton's method
        belief = expit(known @ weights)
        curvature = (known * np.maximum(belief * (1 - belief), 0.01)[:, np.newaxis]).T @ known
        slope = known.T @ (belief - y[:n]) + weights
        weights -= np.linalg.solve(curvature + np.eye(weights.size), slope)
    by_features = ((features[n:] @ weights > 0) == y[n:]).mean()
    moved = z - x
    return max(by_histogram, by_features), ((moved**2).sum(axis=1) - (moved @ axis) ** 2).mean()
