"""Mechanisms for finitely many letters."""

from __future__ import annotations  # the reference then shows ArrayLike by its name

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks, _random
from gaplib._distortion_table import Distortion, distortion_table
from gaplib.mechanisms.saved import Saved
from gaplib.models import BinaryModel, FiniteModel


@dataclass(frozen=True, eq=False, init=False)
class FiniteKernel(Saved):
    """The probability of each release, for each letter and each private value.

    Parameters
    ----------
    kernel : array_like, shape (n, m, K)
        ``kernel[i, j, k] = P(Xhat=k | X=i, Y=j)``. It is private-data independent (PDI) if it is the same for all j.
        Kept as a read-only float array, with rows divided by their sums.

    Raises
    ------
    TypeError, ValueError
        If `kernel` is not a table of this shape of probabilities that sum to one over k within 1e-9.

    Examples
    --------
    >>> model = FiniteModel([[.4, .1], [.1, .4]])
    >>> FiniteKernel([[[1, 0], [1, 0]], [[.5, .5], [.5, .5]]]).distortion(model)
    0.25
    """

    kernel: np.ndarray

    def __init__(self, kernel: ArrayLike) -> None:
        table = _checks.array("kernel", kernel, 0, 1 + 1e-9)
        if table.ndim != 3 or table.size == 0:
            raise ValueError(f"kernel must have the shape (n, m, K), got {table.shape}")
        total = table.sum(axis=2)
        if abs(total - 1).max() > 1e-9:
            worst = float(total.ravel()[abs(total - 1).argmax()])
            raise ValueError(f"kernel must sum to one over its last axis, got the sum {worst!r}")
        table = table / total[..., np.newaxis]
        table.flags.writeable = False
        object.__setattr__(self, "kernel", table)

    def _joint(self, model: FiniteModel | BinaryModel) -> np.ndarray:
        if not isinstance(model, BinaryModel):
            _checks.instance("model", model, FiniteModel)
        if model.joint.shape != self.kernel.shape[:2]:
            raise ValueError(
                f"model must have the {self.kernel.shape[0]} letters and {self.kernel.shape[1]} private values of the "
                f"kernel, got {model.joint.shape}"
            )
        return model.joint

    def distortion(self, model: FiniteModel | BinaryModel, distortion: Distortion = None) -> float:
        """Return the expected distortion.

        Parameters
        ----------
        model : FiniteModel or BinaryModel
            Of the kernel's letters and private values.
        distortion : {"hamming", "squared"}, array_like of shape (n, K), or None
            The cost of each release of each letter. The two words need the letters themselves as releases; None is
            "squared" where letters have points, and "hamming" elsewhere.

        Returns
        -------
        float

        Raises
        ------
        TypeError, ValueError
            If `model` or `distortion` does not fit the kernel.
        """
        joint = self._joint(model)
        table = distortion_table(model, distortion)
        if table.shape[1] != self.kernel.shape[2]:
            raise ValueError(
                f"distortion must have a column for each of the {self.kernel.shape[2]} letters of release, got shape "
                f"{table.shape}"
            )
        return float(np.einsum("ij,ijk,ik->", joint, self.kernel, table))

    def released(self, model: FiniteModel | BinaryModel) -> np.ndarray:
        """Return the joint distribution of what the adversary sees and what it wants.

        Parameters
        ----------
        model : FiniteModel or BinaryModel
            Of the kernel's letters and private values.

        Returns
        -------
        numpy.ndarray, shape (K, m)
            ``released[k, j] = P(Xhat=k, Y=j)``.

        Raises
        ------
        TypeError, ValueError
            If `model` does not fit the kernel.
        """
        return np.einsum("ij,ijk->kj", self._joint(model), self.kernel)

    def privatize(self, x: ArrayLike, y: ArrayLike, seed: int) -> np.ndarray:
        """Release each record through the mechanism, independently of the others.

        Parameters
        ----------
        x : array_like of int in [0, n), shape (r,)
            Letters, by their numbers.
        y : array_like of int in [0, m), shape (r,)
            Private values.
        seed : int >= 0
            The same seed gives the same release.

        Returns
        -------
        numpy.ndarray of int, shape (r,)
            The letters of release, by their numbers.

        Raises
        ------
        TypeError, ValueError
            If `x` or `y` is not as described, their lengths differ, or `seed` is not an integer >= 0.
        """
        x, y = _checks.labels("x", x, self.kernel.shape[0]), _checks.labels("y", y, self.kernel.shape[1])
        _checks.same_shape(x, y)
        uniform = _random.generator(seed, "FiniteKernel.privatize").random(x.size)
        steps = np.cumsum(self.kernel, axis=2)[x, y]
        return (uniform[:, np.newaxis] * steps[:, -1:] >= steps).sum(axis=1)
