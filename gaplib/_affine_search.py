"""The global search for the best shift and noises of a Gaussian mixture: four parameters, one unknown at a time."""

import math
from collections.abc import Callable

import numpy as np
import scipy

from gaplib import _checks
from gaplib._affine import Loss, longest_shift
from gaplib._affine_saturation import ShiftAndNoise
from gaplib._normals import Numbers, TwoNormals
from gaplib.models import GaussianMixture

# How a budget is spent: how much of it on noise, and which fraction of that on noise where Y=1. The rest is shift.
Spending = tuple[Numbers, Numbers]


def least_leakage(model: GaussianMixture, D: float, loss: Loss) -> ShiftAndNoise:
    """Return the shift and the noises that leak least, for a budget that binds.

    On each curve of `_curves` the leakage is evaluated on a grid, and each of its valleys refined.
    """

    def leak(spending: Spending) -> np.ndarray:
        return loss.objective(_released(model, D, spending))

    valleys = []
    for curve, grid in _curves(model, D):
        coarse = loss.coarse(_released(model, D, curve(grid)))
        for at in _valleys(coarse):
            low, high = grid[max(at - 1, 0)], grid[min(at + 1, grid.size - 1)]
            valleys.append((coarse[at], curve, grid[at], low, high))

    refined = []
    for _, curve, at, low, high in sorted(valleys, key=lambda valley: valley[0])[:8]:
        # The unknown is the distance from the lower end, which the grid has made as fine as it must be.
        inner = scipy.optimize.minimize_scalar(
            lambda t, curve=curve, low=low: leak(curve(low + t)),
            bounds=(0, high - low),
            method="bounded",
            options={"xatol": 1e-9 * (high - low)},
        )
        refined += [(leak(curve(at)), curve(at)), (inner.fun, curve(low + inner.x))]
    _, (noise, fraction1) = min(refined, key=lambda found: found[0])
    beta = min(math.sqrt(max(D - noise, 0) / model.var_y), 2 * model.mu)
    return ShiftAndNoise(beta, *map(float, _noises(model, (noise, fraction1))))


def _released(model: GaussianMixture, D: float, spending: Spending) -> TwoNormals:
    noise, _ = spending
    beta = np.sqrt(np.maximum(D - noise, 0) / model.var_y)
    # 2 mu - beta, without its cancellation
    room = 4 * model.mu**2 * model.var_y - D
    gap = (room + noise) / model.var_y / (2 * model.mu + beta) if model.mu > 0 else 0 * noise
    noise0, noise1 = _noises(model, spending)
    return TwoNormals(model.prior, gap, model.var0 + noise0, model.var1 + noise1)


def _noises(model: GaussianMixture, spending: Spending) -> tuple[Numbers, Numbers]:
    """Return the variances of the noise where Y=0 and where Y=1."""
    noise, fraction1 = spending
    return (1 - fraction1) * noise / (1 - model.prior), fraction1 * noise / model.prior


def _curves(model: GaussianMixture, D: float) -> list[tuple[Callable[[Numbers], Spending], np.ndarray]]:
    """Return the curves with one unknown on which every optimum lies, each with a grid of its unknown."""
    noises, fractions = _noise_grid(model, D), _fraction_grid(model, D)
    curves: list[tuple[Callable[[Numbers], Spending], np.ndarray]] = [
        (lambda noise: (noise, 0.0), noises),
        (lambda noise: (noise, 1.0), noises),
    ]
    # Both noises positive: then the shift is that of Theorem 4.
    slope = 2 * model.mu * model.var_y
    size = D + model.prior * model.var1 + (1 - model.prior) * model.var0
    if size < slope * longest_shift(model, D):
        noise = max(D - model.var_y * (size / slope) ** 2, 0.0)
        curves.append((lambda fraction1: (noise, fraction1), fractions))
    return curves


def _noise_grid(model: GaussianMixture, D: float) -> np.ndarray:
    """Return how much of the budget may be noise, dense on every scale on which the leakage may turn."""
    least = max(D - 4 * model.mu**2 * model.var_y, 0.0)  # what even the longest shift leaves
    turn = np.linspace(0, np.pi / 2, 101)
    scale = math.sqrt(min(model.var0, model.var1)) / 10
    gaps = np.geomspace(scale, max(2 * model.mu, scale), 51)
    grids = [
        least + (D - least) * np.sin(turn) ** 2,  # evenly in the shift
        D - model.var_y * np.maximum(2 * model.mu - gaps, 0) ** 2,  # means within some standard deviations
        # noise comparable to the variance that is there already
        least + np.geomspace(1e-3, 1e3, 31) * model.var0 * (1 - model.prior),
        least + np.geomspace(1e-3, 1e3, 31) * model.var1 * model.prior,
    ]
    return np.unique(np.clip(np.concatenate(grids), least, D))


def _fraction_grid(model: GaussianMixture, D: float) -> np.ndarray:
    """Return which fraction of the noise Y=1 may get, dense near 0 and 1 where a variance begins to change."""
    small0, small1 = (
        np.geomspace(min(0.01, variance * prior / max(D, 1 / _checks.LARGEST_NUMBER) / 10), 0.5, 51)
        for variance, prior in zip(model.variances, model.p_y, strict=True)
    )
    return np.unique(np.concatenate([np.array([0, 1]), 1 - small0, small1, np.linspace(0, 1, 101)]))


def _valleys(values: np.ndarray) -> np.ndarray:
    """Return the indices of the entries that no neighbour is below; of a level stretch, its ends."""
    padded = np.pad(values, 1, constant_values=np.inf)
    low = (values <= padded[:-2]) & (values <= padded[2:])
    level = (values == padded[:-2]) & (values == padded[2:])
    return np.flatnonzero(low & ~level)
