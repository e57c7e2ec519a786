"""Mechanisms on the line that do not see Y and move records to chosen points."""

from __future__ import annotations  # the reference then shows ArrayLike by its name

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks, _random
from gaplib._weighted_normal import parts
from gaplib.mechanisms.saved import Saved
from gaplib.models import GaussianMixture


@dataclass(frozen=True, eq=False, init=False)
class PiecewiseKernel(Saved):
    """A mechanism on the line that does not see Y: some records of a cell are released at chosen points.

    A record in cell i is released at ``points[e]`` with probability ``probabilities[e]``, for each e with
    ``cells[e] == i``, and else as it is.

    Parameters
    ----------
    edges : array_like of float, shape (n + 1,)
        The ends of the n cells, increasing. What lies outside is released as it is.
    cells : array_like of int in [0, n), shape (E,)
    points : array_like of float, shape (E,)
    probabilities : array_like of float in [0, 1], shape (E,)
        Those of a cell sum to at most one.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> model = GaussianMixture(prior=.5, mu=3, var0=1, var1=1)
    >>> round(PiecewiseKernel([-1, 0, 1], [0, 1], [0, 0], [1, 1]).distortion(model), 6)
    0.010216
    """

    edges: np.ndarray
    cells: np.ndarray
    points: np.ndarray
    probabilities: np.ndarray

    def __init__(self, edges: ArrayLike, cells: ArrayLike, points: ArrayLike, probabilities: ArrayLike) -> None:
        edges = _checks.array("edges", edges)
        if edges.ndim != 1 or edges.size < 2 or not (np.diff(edges) > 0).all():
            raise ValueError(f"edges must increase and have at least two entries, got {edges.ravel()[:5].tolist()}")
        cells = _checks.labels("cells", cells, edges.size - 1, empty=True)
        points, probabilities = _checks.array("points", points), _checks.array("probabilities", probabilities, 0, 1)
        if not cells.shape == points.shape == probabilities.shape:
            raise ValueError(
                f"cells, points and probabilities must have the same length, got {cells.shape}, {points.shape} and "
                f"{probabilities.shape}"
            )
        total = np.bincount(cells, probabilities, edges.size - 1)
        if total.max() > 1 + 1e-12:
            raise ValueError(f"probabilities must sum to at most one in each cell, got {float(total.max())!r}")
        for name, value in (("edges", edges), ("cells", cells), ("points", points), ("probabilities", probabilities)):
            value = value.copy()
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def kept(self) -> np.ndarray:
        """The probability with which a record of each cell is released as it is, shape (n,)."""
        return np.maximum(1 - np.bincount(self.cells, self.probabilities, self.edges.size - 1), 0)

    def distortion(self, model: GaussianMixture) -> float:
        """Return E[(Xhat - X)^2], the expected squared distortion, from the moments of the cells.

        Parameters
        ----------
        model : GaussianMixture

        Returns
        -------
        float

        Raises
        ------
        TypeError
            If `model` is not a `GaussianMixture`.
        """
        _checks.instance("model", model, GaussianMixture)
        low, high = self.edges[self.cells], self.edges[self.cells + 1]
        moved = sum(part.second_moment(low, high, self.points) for part in parts(model))
        return float(self.probabilities @ np.broadcast_to(moved, self.cells.shape))

    def released(self, model: GaussianMixture) -> tuple[np.ndarray, np.ndarray]:
        """Return the masses that are released at the chosen points.

        What else is released has the density of X times `kept`, cell by cell.

        Parameters
        ----------
        model : GaussianMixture

        Returns
        -------
        points : numpy.ndarray, shape (K,)
            The different points, increasing.
        masses : numpy.ndarray, shape (K, 2)
            ``P(Xhat=points[k], Y=j)``.

        Raises
        ------
        TypeError
            If `model` is not a `GaussianMixture`.
        """
        _checks.instance("model", model, GaussianMixture)
        points, at = np.unique(self.points, return_inverse=True)
        masses = np.zeros((points.size, 2))
        for j, part in enumerate(parts(model)):
            cells = part.mass(self.edges[:-1], self.edges[1:])
            np.add.at(masses[:, j], at, cells[self.cells] * self.probabilities)
        return points, masses

    def privatize(self, x: ArrayLike, y: ArrayLike, seed: int) -> np.ndarray:
        """Release each record through the mechanism, independently of the others.

        Parameters
        ----------
        x : array_like of float, shape (n,)
            The public numbers.
        y : array_like of the integers 0 and 1, shape (n,)
            The private bits; the release does not depend on them.
        seed : int >= 0
            The same seed gives the same release.

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
        uniform = _random.generator(seed, "PiecewiseKernel.privatize").random(x.size)
        # The entries of a cell stand side by side: the uniform number of a record, added to those of the cells before
        # its own, finds one of them, or falls beyond the last.
        order = np.argsort(self.cells, kind="stable")
        steps = np.concatenate([[0.0], np.cumsum(self.probabilities[order])])
        first = np.searchsorted(self.cells[order], np.arange(self.edges.size))
        cell = np.searchsorted(self.edges, x, side="right") - 1
        inside = (0 <= cell) & (cell < self.edges.size - 1)
        cell = np.where(inside, cell, 0)
        entry = np.searchsorted(steps, steps[first[cell]] + uniform, side="right") - 1
        moved = inside & (entry < first[cell + 1])
        release = x.copy()
        release[moved] = self.points[order][entry[moved]]
        return release
