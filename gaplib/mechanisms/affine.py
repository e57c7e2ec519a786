"""Shifts and Gaussian noise on the line."""

from __future__ import annotations  # the reference then shows ArrayLike by its name

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks, _random
from gaplib.mechanisms.saved import Saved
from gaplib.models import GaussianMixture

# The largest budget over the smallest prior. A rare Y can be moved and blurred as far as the square root of that.
_LARGEST_PARAMETER = _checks.LARGEST_NUMBER**2


@dataclass(frozen=True)
class AffineGaussian(Saved):
    """A shift and Gaussian noise for each value of the private bit (Section 4 of the paper).

    .. math:: \\hat X = X + (1-Y)(\\beta_0 + \\gamma_0 N) - Y(\\beta_1 - \\gamma_1 N), \\qquad N \\sim N(0, 1).

    Positive shifts move the two means of a `GaussianMixture` towards each other. The mechanism is private-data
    independent (PDI) if ``beta0 == -beta1`` and ``gamma0 == gamma1``.

    Parameters
    ----------
    beta0, beta1 : float in [-1e100, 1e100]
        The shift to the right where Y=0, and to the left where Y=1.
    gamma0, gamma1 : float in [0, 1e100]
        The standard deviation of the noise where Y=0, and where Y=1.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not a number in its range.

    Examples
    --------
    >>> AffineGaussian(1, 1, 0, 2).distortion(GaussianMixture(prior=.5, mu=3, var0=1, var1=1))
    3.0
    """

    beta0: float
    beta1: float
    gamma0: float
    gamma1: float

    def __post_init__(self) -> None:
        for name in ("beta0", "beta1", "gamma0", "gamma1"):
            low = 0 if name.startswith("gamma") else -_LARGEST_PARAMETER
            object.__setattr__(self, name, _checks.real(name, getattr(self, name), low, _LARGEST_PARAMETER))

    @property
    def shifts(self) -> np.ndarray:
        """E[Xhat - X | Y=j], shape (2,)."""
        return np.array([self.beta0, -self.beta1])

    @property
    def scales(self) -> np.ndarray:
        """The standard deviation of the noise given Y=j, shape (2,)."""
        return np.array([self.gamma0, self.gamma1])

    def distortion(self, model: GaussianMixture) -> float:
        """Return E[(Xhat - X)^2], the expected squared distortion.

        Parameters
        ----------
        model : GaussianMixture
            Only its prior matters.

        Returns
        -------
        float

        Raises
        ------
        TypeError
            If `model` is not a `GaussianMixture`.
        """
        _checks.instance("model", model, GaussianMixture)
        return float(model.p_y @ (self.shifts**2 + self.scales**2))

    def released(self, model: GaussianMixture) -> tuple[np.ndarray, np.ndarray]:
        """Return the distributions of the release: given Y, it is Gaussian again.

        Parameters
        ----------
        model : GaussianMixture

        Returns
        -------
        means : numpy.ndarray, shape (2,)
            E[Xhat | Y=j].
        variances : numpy.ndarray, shape (2,)
            Var[Xhat | Y=j].

        Raises
        ------
        TypeError
            If `model` is not a `GaussianMixture`.
        """
        _checks.instance("model", model, GaussianMixture)
        return model.means + self.shifts, model.variances + self.scales**2

    def privatize(self, x: ArrayLike, y: ArrayLike, seed: int) -> np.ndarray:
        """Release each record through the mechanism, independently of the others.

        Parameters
        ----------
        x : array_like of float, shape (n,)
            The public numbers.
        y : array_like of zeros and ones, shape (n,)
            The private bits: integers, floats or booleans.
        seed : int >= 0
            The same seed gives the same release. The stream is independent of the one that
            `GaussianMixture.sample` draws from with the same seed.

        Returns
        -------
        numpy.ndarray of float, shape (n,)

        Raises
        ------
        TypeError, ValueError
            If `x` holds anything but finite numbers, `y` anything but 0 and 1, their lengths differ, or `seed` is not
            an integer >= 0.
        """
        x, y = _checks.array("x", x), _checks.bits("y", y)
        _checks.same_shape(x, y)
        noise = _random.generator(seed, "AffineGaussian.privatize").standard_normal(x.size)
        return x + self.shifts[y] + self.scales[y] * noise
