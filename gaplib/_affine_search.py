"""The global search for the best shift and noises of a Gaussian mixture: four parameters, one unknown at a time."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy

from gaplib import _checks
from gaplib._affine import PRECISION, Loss, longest_shift
from gaplib._affine_saturation import ShiftAndNoise
from gaplib._normals import Numbers, TwoNormals
from gaplib.models import GaussianMixture

# How a budget is spent: how much of it on noise, and which fraction of that on noise where Y=1. The rest is shift.
Spending = tuple[Numbers, Numbers]
Curve = Callable[[Numbers], Spending]

# How far from the end of a curve to look whether the leakage rises from there, in units of the first step of its grid.
# Where the first shift is free, even the smallest may decide.
_CLOSE = np.geomspace(1e-14, 0.1, 14)


def least_leakage(model: GaussianMixture, D: float, loss: Loss) -> ShiftAndNoise:
    """Return the shift and the noises that leak least, for a budget that binds.

    On each curve of `_curves` the leakage is evaluated on a grid, and each of its valleys refined that may be lowest.
    """

    def leak(curve: Curve, unknown: Numbers) -> np.ndarray:
        return loss.objective(_released(model, D, curve(unknown)))

    valleys = []
    for curve, grid in _curves(model, D):
        # In parts: the system takes longer to give the memory for larger arrays than to compute what is in them.
        parts = (grid[start : start + 16] for start in range(0, grid.size, 16))
        coarse = np.concatenate([loss.coarse(_released(model, D, curve(part))) for part in parts])
        for at in _valleys(coarse):
            rise = coarse[max(at - 2, 0) : at + 3].max() - coarse[at]
            low, high = grid[max(at - 1, 0)], grid[min(at + 1, grid.size - 1)]
            valleys.append((coarse[at], rise, curve, (grid[at], low, high)))
    valleys.sort(key=lambda valley: valley[0])

    refined = []
    for value, rise, curve, around in valleys[:8]:
        # Between the points of the grid it falls by less than the valley is deep on them.
        if value - rise <= valleys[0][0] + PRECISION:
            least, unknown = _bottom(partial(leak, curve), *around)
            refined.append((least, curve(unknown)))
    _, (noise, fraction1) = min(refined, key=lambda found: found[0])
    beta = min(math.sqrt(max(D - noise, 0) / model.var_y), 2 * model.mu)
    return ShiftAndNoise(beta, *map(float, _noises(model, (noise, fraction1))))


def _bottom(leak: Callable[[Numbers], np.ndarray], at: float, low: float, high: float) -> tuple[float, float]:
    """Return the least value of `leak` from `low` to `high`, and where it is; on the grid that is `at`."""
    on_grid = float(leak(at)), at
    # Many valleys are the ends of curves, to which a search would come last.
    if at in (low, high) and (leak(at + (low + high - 2 * at) * _CLOSE) > on_grid[0] - 1e-15).all():  # its rounding
        return on_grid
    # The unknown is the distance from the lower end, which the grid has made as fine as it must be.
    inner = scipy.optimize.minimize_scalar(
        lambda t: leak(low + t), bounds=(0, high - low), method="bounded", options={"xatol": 1e-8 * (high - low)}
    )
    return min(on_grid, (float(inner.fun), low + inner.x))


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


def _curves(model: GaussianMixture, D: float) -> list[tuple[Curve, np.ndarray]]:
    """Return the curves with one unknown on which every optimum lies, each with a grid of its unknown."""
    noises, fractions = _noise_grid(model, D), _fraction_grid(model, D)
    curves: list[tuple[Curve, np.ndarray]] = [
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
    turn = np.linspace(0, np.pi / 2, 41)
    scale = math.sqrt(min(model.var0, model.var1)) / 10
    gaps = np.geomspace(scale, max(2 * model.mu, scale), 21)
    grids = [
        least + (D - least) * np.sin(turn) ** 2,  # evenly in the shift
        D - model.var_y * np.maximum(2 * model.mu - gaps, 0) ** 2,  # means within some standard deviations
        # noise comparable to the variance that is there already
        least + np.geomspace(1e-3, 1e3, 13) * model.var0 * (1 - model.prior),
        least + np.geomspace(1e-3, 1e3, 13) * model.var1 * model.prior,
    ]
    return np.unique(np.clip(np.concatenate(grids), least, D))


def _fraction_grid(model: GaussianMixture, D: float) -> np.ndarray:
    """Return which fraction of the noise Y=1 may get, dense near 0 and 1 where a variance begins to change."""
    small0, small1 = (
        np.geomspace(min(0.01, variance * prior / max(D, 1 / _checks.LARGEST_NUMBER) / 10), 0.5, 21)
        for variance, prior in zip(model.variances, model.p_y, strict=True)
    )
    return np.unique(np.concatenate([np.array([0, 1]), 1 - small0, small1, np.linspace(0, 1, 41)]))


def _valleys(values: np.ndarray) -> np.ndarray:
    """Return the indices of the entries that no neighbour is below; of a level stretch, its ends."""
    padded = np.pad(values, 1, constant_values=np.inf)
    low = (values <= padded[:-2]) & (values <= padded[2:])
    level = (values == padded[:-2]) & (values == padded[2:])
    return np.flatnonzero(low & ~level)
