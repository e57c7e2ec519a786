"""What is done with the records of one sample."""

from __future__ import annotations  # the reference then shows ArrayLike by its name

from dataclasses import dataclass

import numpy as np

from gaplib import _checks, _random
from gaplib.mechanisms.saved import Saved

ROUNDING = 1e-6  # of the shares that a solver returns


@dataclass(frozen=True, eq=False)
class SamplePlan(Saved):
    """What is done with each record of a sample: pairs of records with different Y are released at their midpoints.

    Attributes
    ----------
    x : numpy.ndarray, shape (n, d)
        The records.
    pairs : numpy.ndarray of int, shape (k, 2)
        The numbers of a record with Y=0 and of one with Y=1.
    shares : numpy.ndarray, shape (k,)
        With what probability each pair is released together; those of a record sum to at most one.
    points : numpy.ndarray, shape (k, d)
        Where.

    Raises
    ------
    TypeError, ValueError
        If an attribute is not as described.
    """

    x: np.ndarray
    pairs: np.ndarray
    shares: np.ndarray
    points: np.ndarray

    def __post_init__(self) -> None:
        x, points = _checks.array("x", self.x), _checks.array("points", self.points)
        shares = _checks.array("shares", self.shares, 0, 1 + ROUNDING)
        if x.ndim != 2 or x.size == 0:
            raise ValueError(f"x must have the shape (n, d), got {x.shape}")
        k = shares.size
        if shares.ndim != 1 or np.shape(self.pairs) != (k, 2) or points.shape != (k, x.shape[1]):
            raise ValueError(
                f"pairs, shares and points must have the shapes (k, 2), (k,) and (k, {x.shape[1]}), got "
                f"{np.shape(self.pairs)}, {shares.shape} and {points.shape}"
            )
        records = _checks.labels("pairs", np.ravel(self.pairs), len(x), empty=True)
        used = np.bincount(records, np.repeat(shares, 2), len(x)).max()
        if used > 1 + ROUNDING:
            raise ValueError(f"shares must sum to at most one for each record, got {float(used)!r}")

    def distortion(self) -> float:
        """Return the mean squared distance between the release and the record.

        Returns
        -------
        float
        """
        squares = ((self.points[:, np.newaxis] - self.x[self.pairs]) ** 2).sum(axis=(1, 2))
        return float(self.shares @ squares) / len(self.x)

    def privatize(self, seed: int) -> np.ndarray:
        """Release the records of the sample.

        Parameters
        ----------
        seed : int >= 0
            For the records that are in more pairs than one, or partly in a pair.

        Returns
        -------
        numpy.ndarray, shape (n, d)

        Raises
        ------
        TypeError, ValueError
            If `seed` is not an integer >= 0.
        """
        uniform = _random.generator(seed, "SamplePlan.privatize").random(len(self.x))
        release, used = self.x.copy(), np.zeros(len(self.x))
        for pair, share, point in zip(self.pairs, self.shares, self.points, strict=True):
            for record in pair:
                if used[record] <= uniform[record] < used[record] + share:
                    release[record] = point
                used[record] += share
        return release
