"""Optimal mechanisms of the binary Gaussian mixture, among those that shift X and add Gaussian noise."""

import math

import numpy as np

from gaplib import _checks
from gaplib._affine import (
    LOSSES,
    PRECISION,
    Loss,
    cheapest_mechanism,
    gains,
    longest_shift,
    optimum,
    refuse_unresolved,
)
from gaplib._affine_saturation import ShiftAndNoise, cheapest_merge
from gaplib._affine_search import least_leakage
from gaplib.mechanisms import AffineGaussian
from gaplib.models import GaussianMixture
from gaplib.optimum import Optimum

_ZERO_ONE = LOSSES["0-1"]  # the MAP adversary of Theorems 2 to 4


def optimal_pdi(model: GaussianMixture, D: float) -> Optimum:
    """Return the PDI mechanism X + beta + gamma N that a MAP adversary reads least well (Theorem 2 of the paper).

    All of the budget is noise: ``beta = 0``, ``gamma = sqrt(D)``.

    Parameters
    ----------
    model : GaussianMixture
        With equal variances.
    D : float in [0, 1e50]
        Budget: the largest allowed mean squared distortion.

    Returns
    -------
    Optimum
        No budget hides Y entirely, if ``mu > 0``.

    Raises
    ------
    TypeError, ValueError
        If `model` is not a `GaussianMixture`, its variances differ, or `D` is not a number in its range.
    """
    _equal_variances(model, "Theorem 2")
    gamma = math.sqrt(_budget(D))
    mechanism = AffineGaussian(0, 0, gamma, gamma)
    _, gain0, gain1 = gains(model, mechanism, _ZERO_ONE)
    return optimum(model, mechanism, (1 - model.prior) * gain0 + model.prior * gain1, _ZERO_ONE)


def optimal_shift(model: GaussianMixture, D: float) -> Optimum:
    """Return the shift that a MAP adversary reads least well (Theorem 3 of the paper, completed).

    The two means move towards each other by ``beta = min(sqrt(D / (p (1-p))), 2 mu)`` in all, ``beta0 = p beta`` and
    ``beta1 = (1-p) beta``. The theorem as printed holds up to ``D = 4 mu^2 p (1-p)``, where they meet.

    Parameters
    ----------
    model : GaussianMixture
        With equal variances.
    D : float in [0, 1e50]
        Budget: the largest allowed mean squared distortion.

    Returns
    -------
    Optimum
        ``price`` is infinite at D = 0, where the first shift costs nothing, if it helps.

    Raises
    ------
    TypeError, ValueError
        If `model` is not a `GaussianMixture`, its variances differ, or `D` is not a number in its range. Where mu is
        more than a million standard deviations: if `D` is so close to the budget with which the means meet that
        rounding changes the value by 1e-9.
    """
    _equal_variances(model, "Theorem 3")
    D = _budget(D)
    return _shift_and_common_noise(model, D, longest_shift(model, D), 0)


def optimal_shift_noise(model: GaussianMixture, D: float) -> Optimum:
    """Return the best shift with the same noise for both Y (Theorem 4 of the paper, solved).

    With ``c = p (1-p)``, ``S = D + sigma^2`` and ``M = 4 mu^2 c`` the total shift is

    .. math:: \\beta = \\min\\{S / (2 \\mu c),\\; \\sqrt{D / c},\\; 2 \\mu\\},

    and the noise takes what is left of the budget: all three regimes of the problem that the paper (its Equations 41
    and 42) leaves as non-convex. From ``D = M`` on the two distributions are the same.

    Parameters
    ----------
    model : GaussianMixture
        With equal variances.
    D : float in [0, 1e50]
        Budget: the largest allowed mean squared distortion.

    Returns
    -------
    Optimum
        ``price`` is infinite at D = 0, where the first shift costs nothing, if it helps.

    Raises
    ------
    TypeError, ValueError
        If `model` is not a `GaussianMixture`, its variances differ, or `D` is not a number in its range. Where mu is
        more than a million standard deviations: if `D` is so close to the budget with which the means meet that
        rounding changes the value by 1e-9.
    """
    _equal_variances(model, "Theorem 4")
    D = _budget(D)
    beta, noise = longest_shift(model, D), 0.0
    slope = 2 * model.mu * model.var_y
    if slope * beta > D + model.var0:
        beta = (D + model.var0) / slope
        noise = max(D - model.var_y * beta**2, 0.0)
    return _shift_and_common_noise(model, D, beta, noise)


def optimal_affine(model: GaussianMixture, D: float, loss: str = "0-1") -> Optimum:
    """Return the best of all mechanisms that shift X and add Gaussian noise: four parameters, any variances.

    The last problem of Section 4.1.2 of the paper, which is not convex. Both leakages grow with the distance of the
    two means, so the shifts are ``beta0 = p beta`` and ``beta1 = (1-p) beta``, and the budget binds wherever the
    leakage can still fall. Hold the ratio of the two released variances fixed: then the best shift is the one of
    Theorem 4, whatever the ratio. So, as long as less can leak, every optimum lies on one of three curves with one
    unknown each:

    - both noises are positive, mu > 0, and with c = p (1-p)

      .. math:: \\beta = \\frac{D + (1-p)\\,\\sigma_0^2 + p\\,\\sigma_1^2}{2 \\mu c};

    - there is no noise where Y=0, and the rest of the budget is noise where Y=1;
    - there is no noise where Y=1.

    Each curve is evaluated on a grid that is dense on every scale on which the leakage may turn, ends included, and
    every valley of the grid is refined. The global optimum is the lowest point found.

    Parameters
    ----------
    model : GaussianMixture
    D : float in [0, 1e50]
        Budget: the largest allowed mean squared distortion.
    loss : {"0-1", "log"}
        The adversary's loss. The leakage is the MAP accuracy, or the mutual information I(Y; Xhat).

    Returns
    -------
    Optimum
        ``value`` is the MAP accuracy, or I(Y; Xhat) in nats. From the budget on at which nothing more can be hidden,
        the mechanism is the cheapest that hides as much, so the distortion at a huge budget is that point of
        saturation. ``price`` is in units of `value`, and infinite at D = 0 if a first shift helps.

    Raises
    ------
    TypeError, ValueError
        If `model` is not a `GaussianMixture`, `D` not a number in its range, or `loss` not one of the two. Where mu is
        more than a million standard deviations: if `D` is so close to saturation that rounding changes the value by
        1e-9.
    """
    _checks.instance("model", model, GaussianMixture)
    D = _budget(D)
    adversary = LOSSES[_checks.choice("loss", loss, tuple(LOSSES))]
    last, least = cheapest_mechanism(model, adversary.saturation(model)), adversary.least(model)
    if adversary.leakage(model, last) > least + PRECISION:
        # Means that come from so far that floats cannot leave them a few standard deviations apart meet.
        last = cheapest_mechanism(model, cheapest_merge(model))
    end = last.distortion(model)
    if D >= end:
        refuse_unresolved(model, D, end, last, adversary)
        return Optimum(least, last, end, 0.0)
    mechanism = cheapest_mechanism(model, least_leakage(model, D, adversary))
    refuse_unresolved(model, D, end, mechanism, adversary)
    return optimum(model, mechanism, _price(model, mechanism, adversary), adversary)


def _budget(D: object) -> float:
    return _checks.real("D", D, 0, _checks.LARGEST_NUMBER)


def _equal_variances(model: object, theorem: str) -> None:
    model = _checks.instance("model", model, GaussianMixture)
    if model.var0 != model.var1:
        raise ValueError(
            f"model must have equal variances, as {theorem} assumes, got var0 = {model.var0:g} and "
            f"var1 = {model.var1:g}; optimal_affine takes any variances"
        )


def _shift_and_common_noise(model: GaussianMixture, D: float, beta: float, noise: float) -> Optimum:
    mechanism = cheapest_mechanism(model, ShiftAndNoise(beta, noise, noise))
    refuse_unresolved(model, D, 4 * model.mu**2 * model.var_y, mechanism, _ZERO_ONE)
    # Where there is noise too, a unit of budget buys the same with it.
    return optimum(model, mechanism, gains(model, mechanism, _ZERO_ONE)[0], _ZERO_ONE)


def _price(model: GaussianMixture, mechanism: AffineGaussian, loss: Loss) -> float:
    """Return the shadow price at the affine optimum: what one more unit of budget buys."""
    gain = gains(model, mechanism, loss)
    spent = np.array([model.var_y * (mechanism.beta0 + mechanism.beta1) ** 2, *(model.p_y * mechanism.scales**2)])
    used = spent > 0
    if not used.any():
        return max(*gain, 0.0)
    # All that is in use buys the same. Where the optimum is flat, most of the budget says it best.
    price = (np.array(gain)[used] * spent[used]).sum() / spent.sum()
    return max(float(price), 0.0)  # rounding, where nothing helps
