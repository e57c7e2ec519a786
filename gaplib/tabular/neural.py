"""What a network learns in the game against another, for columns of numbers and a private bit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gaplib import _checks
from gaplib.mechanisms import NetworkMechanism
from gaplib.tabular.columns import Records
from gaplib.tabular.space import Space

# Records at once: the last bits of a product of matrices depend on how many rows they have.
_BLOCK = 4096
FEWEST_RECORDS = 200  # of smaller tables both players learn the records by heart


@dataclass(frozen=True)
class Neural:
    """A network that says how far a record may move, and with what probability it does; it is applied by NumPy.

    Attributes
    ----------
    columns : numpy.ndarray of int, shape (d,)
        Which of the numbers it may move: those that are not constant.
    centers, units : numpy.ndarray, shape (d,)
        The network works in units in which the fitted records are centred and have the mean square one. A missing
        number enters as the mean of its column, and stays missing.
    network : NetworkMechanism
    """

    columns: np.ndarray
    centers: np.ndarray
    units: np.ndarray
    network: NetworkMechanism

    @property
    def draws(self) -> int:
        """How many uniform numbers each record takes."""
        return 1

    def points(self, records: Records) -> np.ndarray:
        """Return what the network takes for these records, shape (n, d), or (n,) if d is one."""
        z = (records.numbers[:, self.columns] - self.centers) / self.units
        return np.where(np.isnan(z), 0.0, z).reshape(len(records), *self.network.center.shape)

    def release(self, records: Records, labels: np.ndarray, uniform: np.ndarray) -> Records:
        """Return the release of each record; `uniform` has the shape (n, 1)."""
        n, numbers = len(records), records.numbers.copy()
        filled = np.arange(-(-n // _BLOCK) * _BLOCK) % max(n, 1)  # up to whole blocks
        for rows in filled.reshape(-1, _BLOCK):
            z = self.points(records.take(rows))
            points, probability = self.network.outcomes(z, labels[rows])
            below = np.cumsum(probability, axis=1)
            chosen = (uniform[rows] >= below).sum(axis=1)
            moved = np.flatnonzero(chosen < below.shape[1])
            step = (points[moved, chosen[moved]] - z[moved]).reshape(-1, len(self.columns)) * self.units
            at = np.ix_(rows[moved], self.columns)
            numbers[at] = records.numbers[at] + step
        return Records(numbers, records.codes)


def neural(space: Space, records: Records, labels: np.ndarray, kind: str, D: float, seed: int) -> Neural:
    """Return what the game teaches a network, within the mean cost D on these records.

    Raises
    ------
    ImportError
        Without TensorFlow.
    ValueError
        If training fails.
    """
    known = ~np.isnan(records.numbers)
    columns = np.flatnonzero(np.nanmax(records.numbers, axis=0) > np.nanmin(records.numbers, axis=0))
    used = known[:, columns].any(axis=1)
    z = np.where(known, (records.numbers - space.centers) / space.units, 0.0)[np.ix_(used, columns)]
    variance = float((z**2).sum() / max(len(z), 1))
    if variance == 0 or len(np.unique(labels[used])) < 2:
        raise ValueError("the method 'neural' needs columns of which one varies, for both private values")
    scale = math.sqrt(variance)
    z = z / scale
    # What is missing costs nothing, so that the rest may cost more. All that is known is hidden by the release of the
    # mean, which costs the variance: a larger budget would only be wasted.
    budget = min(D / variance / used.mean(), 1.0)
    network = _learned(z[:, 0] if len(columns) == 1 else z, labels[used], kind, budget, seed)
    return Neural(columns, space.centers[columns], scale * space.units[columns], network)


def _learned(x: np.ndarray, labels: np.ndarray, kind: str, D: float, seed: int) -> NetworkMechanism:
    try:
        from gaplib import training  # here, because it loads TensorFlow, which only this method needs
    except ImportError:
        raise ImportError(
            "the method 'neural' needs TensorFlow: install gaplib with its extras training,tabular"
        ) from None
    # A mechanism that does not see Y has to release records of one place at several. Three moves do that better than
    # three with a number of noise each: over them the loss is averaged exactly, and a release in parts draws no noise.
    privatizer = training.NeuralPrivatizer(noise=0, moves=1 if kind == "pdd" else 3, jitter=0.0)
    game = training.Game((x, labels), D, kind, privatizer=privatizer)
    (result,) = training.train([game], loss="0-1", seed=seed, progress=False)
    if result.mechanism is None:
        raise ValueError("the method 'neural' has failed: its training diverged; 'transport' needs none")
    return _checks.instance("mechanism", result.mechanism, NetworkMechanism)
