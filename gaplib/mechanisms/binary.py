"""Mechanisms for bits."""

from __future__ import annotations  # the reference then shows ArrayLike by its name

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks, _random
from gaplib.mechanisms.saved import Saved
from gaplib.models import BinaryModel


@dataclass(frozen=True)
class BinaryKernel(Saved):
    """The probability that the public bit is released unchanged, for each pair of bits (Section 3.1.1 of the paper).

    The mechanism is private-data independent (PDI) if ``s00 == s01`` and ``s10 == s11``: it does not use Y.
    Otherwise it is private-data dependent (PDD).

    Parameters
    ----------
    s00 : float in [0, 1]
        ``P(Xhat=0 | X=0, Y=0)``.
    s01 : float in [0, 1]
        ``P(Xhat=0 | X=0, Y=1)``.
    s10 : float in [0, 1]
        ``P(Xhat=1 | X=1, Y=0)``.
    s11 : float in [0, 1]
        ``P(Xhat=1 | X=1, Y=1)``.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not a number in [0, 1].

    Examples
    --------
    >>> BinaryKernel(1, 1, 1, .5).distortion(BinaryModel.xor(.5, .25))
    0.1875
    """

    s00: float
    s01: float
    s10: float
    s11: float

    def __post_init__(self) -> None:
        for name in ("s00", "s01", "s10", "s11"):
            object.__setattr__(self, name, _checks.real(name, getattr(self, name), 0, 1))

    @property
    def keep(self) -> np.ndarray:
        """The parameters as a table, ``keep[i, j] = sij``, shape (2, 2)."""
        return np.array([[self.s00, self.s01], [self.s10, self.s11]])

    def distortion(self, model: BinaryModel) -> float:
        """Return P(Xhat != X), the expected Hamming distortion.

        Parameters
        ----------
        model : BinaryModel

        Returns
        -------
        float

        Raises
        ------
        TypeError
            If `model` is not a `BinaryModel`.
        """
        joint = _checks.instance("model", model, BinaryModel).joint
        return float((joint * (1 - self.keep)).sum())

    def released(self, model: BinaryModel) -> np.ndarray:
        """Return the joint distribution of what the adversary sees and what it wants.

        Parameters
        ----------
        model : BinaryModel

        Returns
        -------
        numpy.ndarray, shape (2, 2)
            ``released[k, j] = P(Xhat=k, Y=j)``: the mass that stays in row k and the mass flipped into it.

        Raises
        ------
        TypeError
            If `model` is not a `BinaryModel`.
        """
        joint = _checks.instance("model", model, BinaryModel).joint
        return joint * self.keep + (joint * (1 - self.keep))[::-1]

    def privatize(self, x: ArrayLike, y: ArrayLike, seed: int) -> np.ndarray:
        """Release each record through the mechanism, independently of the others.

        Parameters
        ----------
        x : array_like of zeros and ones, shape (n,)
            The public bits: integers, floats or booleans.
        y : array_like of zeros and ones, shape (n,)
            The private bits, likewise. A PDI mechanism takes them too, and its release does not depend on them.
        seed : int >= 0
            The same seed gives the same release. The stream is independent of the one that
            `BinaryModel.sample` draws from with the same seed.

        Returns
        -------
        numpy.ndarray of int, shape (n,)

        Raises
        ------
        TypeError, ValueError
            If `x` or `y` holds anything but 0 and 1, their lengths differ, or `seed` is not an integer >= 0.
        """
        x, y = _checks.bits("x", x), _checks.bits("y", y)
        _checks.same_shape(x, y)
        uniform = _random.generator(seed, "BinaryKernel.privatize").random(x.size)
        return np.where(uniform < self.keep[x, y], x, 1 - x)
