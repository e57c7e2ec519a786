"""What the solvers of the Gaussian mixture share: the two losses, and what a unit of distortion buys."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gaplib import leakage
from gaplib._affine_saturation import ShiftAndNoise, cheapest_merge, cheapest_useless
from gaplib._normals import TwoNormals
from gaplib.mechanisms import AffineGaussian
from gaplib.models import GaussianMixture
from gaplib.optimum import Optimum

# How well the value of an optimum is known. Where the rounding of the budget changes it by more, the budget is refused.
PRECISION = 1e-9


@dataclass(frozen=True)
class Loss:
    """What an adversary with this loss learns, and all that the solvers need of it.

    Attributes
    ----------
    leakage : what the mechanism leaks, the value of an optimum
    objective : the same of two normals, up to a constant; elementwise
    coarse : the objective to fewer digits, in less time
    slopes : the derivatives of the objective in gap, var0 and var1
    saturation : the cheapest way to leak as little as can be
    least : what leaks then
    """

    leakage: Callable[[GaussianMixture, AffineGaussian], float]
    objective: Callable[[TwoNormals], np.ndarray]
    coarse: Callable[[TwoNormals], np.ndarray]
    slopes: Callable[[TwoNormals], np.ndarray]
    saturation: Callable[[GaussianMixture], ShiftAndNoise]
    least: Callable[[GaussianMixture], float]


LOSSES = {
    "0-1": Loss(
        leakage=leakage.map_accuracy,
        objective=TwoNormals.map_accuracy,
        coarse=TwoNormals.map_accuracy,
        slopes=TwoNormals.map_accuracy_slopes,
        saturation=cheapest_useless,
        least=lambda model: float(model.p_y.max()),
    ),
    # I(Y; Xhat) = H(Y) - H(Y | Xhat), and H(Y) is constant.
    "log": Loss(
        leakage=leakage.mutual_information,
        objective=lambda normals: -normals.conditional_entropy(),
        coarse=lambda normals: -normals.conditional_entropy(points=8),
        slopes=lambda normals: -normals.conditional_entropy_slopes(),
        saturation=cheapest_merge,
        least=lambda model: 0.0,
    ),
}


def longest_shift(model: GaussianMixture, D: float) -> float:
    """Return the total shift that D buys, up to the one at which the two means meet."""
    return min(math.sqrt(D / model.var_y), 2 * model.mu)


def cheapest_mechanism(model: GaussianMixture, wanted: ShiftAndNoise) -> AffineGaussian:
    """Return the mechanism of least distortion with this total shift and this noise: ``beta0 / beta1 = p / (1-p)``."""
    # The smaller shift is what the larger one leaves: so means that are to meet do meet, in floats too.
    if model.prior >= 0.5:
        beta0 = model.prior * wanted.beta
        beta1 = wanted.beta - beta0
    else:
        beta1 = (1 - model.prior) * wanted.beta
        beta0 = wanted.beta - beta1
    return AffineGaussian(beta0, beta1, math.sqrt(wanted.noise0), math.sqrt(wanted.noise1))


def optimum(model: GaussianMixture, mechanism: AffineGaussian, price: float, loss: Loss) -> Optimum:
    """Return the optimal `mechanism` with its value and distortion."""
    value = max(loss.leakage(model, mechanism), 0.0)  # rounding
    return Optimum(value, mechanism, mechanism.distortion(model), float(price))


def refuse_unresolved(model: GaussianMixture, D: float, end: float, mechanism: AffineGaussian, loss: Loss) -> None:
    """Refuse a budget that brings the two means so close, from so far, that its rounding decides what leaks.

    From the budget `end` on there is nothing left to hide.
    """
    if D >= end * (1 + 8 * np.finfo(float).eps):
        return
    released = TwoNormals.released(model, mechanism)
    rounding = 2 * np.spacing(2 * model.mu)  # of the distance of the means: they are differences of larger numbers
    gaps = np.maximum(released.gap + np.array([-rounding, rounding]), 0)
    leaks = loss.objective(TwoNormals(model.prior, gaps, released.var0, released.var1))
    if np.ptp(leaks) > PRECISION:
        widths = " and ".join(f"{math.sqrt(variance):g}" for variance in (released.var0, released.var1))
        raise ValueError(
            f"D must be above {end!r}, or less by so much that floats can tell how far apart the two means are left, "
            f"got {D!r}: with mu = {model.mu:g} their distance is known to {rounding:.1g}, and the standard deviations "
            f"of the release are {widths}"
        )


def gains(model: GaussianMixture, mechanism: AffineGaussian, loss: Loss) -> tuple[float, float, float]:
    """Return how much less leaks per unit of distortion spent on more shift, on noise for Y=0, on noise for Y=1."""
    released = TwoNormals.released(model, mechanism)
    in_gap, in_var0, in_var1 = map(float, loss.slopes(released))
    cost = 2 * model.var_y * (mechanism.beta0 + mechanism.beta1)
    if released.gap <= 0:
        shift = 0.0  # the means have met
    elif cost > 0:
        shift = in_gap / cost
    else:
        shift = math.inf if in_gap > 0 else 0.0  # the first shift costs nothing
    return shift, -in_var0 / (1 - model.prior), -in_var1 / model.prior
