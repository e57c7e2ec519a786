"""What comes out of training: the learned mechanism, how it was learned, and what the adversary believes."""

from __future__ import annotations  # the reference then shows ArrayLike by its name

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks
from gaplib.training.games import Game
from gaplib.training.protocols import Mechanism


@dataclass(frozen=True, eq=False)
class History:
    """How training went; arrays of the same length, one entry for each 10 iterations of Algorithm 1.

    Attributes
    ----------
    iteration : numpy.ndarray of int
        The last of the 10.
    loss : numpy.ndarray
        The adversary's loss on the minibatches, averaged over the 10; in nats under log-loss.
    distortion : numpy.ndarray
        The expected distortion of the privatizer's iterates, averaged.
    multiplier : numpy.ndarray
        What a unit of distortion costs the privatizer, in units of the loss, averaged: at the end the price of the
        budget. For the penalty method this is the average slope of the penalty.
    """

    iteration: np.ndarray
    loss: np.ndarray
    distortion: np.ndarray
    multiplier: np.ndarray


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of one game.

    Attributes
    ----------
    game : Game
    seed : int
    mechanism : Mechanism or None
        What was learned: of the paper's privatizers a `BinaryKernel` or an `AffineGaussian`. None if the game diverged.
    distortion : float
        Its expected distortion over the training sample.
    history : History
    test_accuracy : float
        How often the trained adversary is right on the test sample, released through the mechanism. NaN without a
        test sample.
    test_cross_entropy : float
        The mean log-loss of its beliefs there, in nats, whatever loss it was trained under.
    diverged : bool
        Whether a parameter, loss or distortion became infinite or NaN. All other numbers are NaN then.
    """

    game: Game
    seed: int
    mechanism: Mechanism | None
    distortion: float
    history: History
    test_accuracy: float
    test_cross_entropy: float
    diverged: bool
    _adversary: Callable[[np.ndarray], np.ndarray] = field(repr=False)

    def belief(self, x_hat: ArrayLike) -> np.ndarray:
        """Return the trained adversary's belief that Y = 1, elementwise.

        Parameters
        ----------
        x_hat : array_like of float, any shape
            Releases.

        Returns
        -------
        numpy.ndarray
            Numbers in [0, 1], of the shape of `x_hat`.

        Raises
        ------
        TypeError, ValueError
            If `x_hat` holds anything but finite numbers.
        """
        return self._adversary(_checks.array("x_hat", x_hat))


class Interrupted(KeyboardInterrupt):
    """Training was interrupted; `results` has what was finished.

    Attributes
    ----------
    results : list of Result or None
        In the order of the games; None where a game was not finished.
    """

    def __init__(self, results: list[Result | None]) -> None:
        done = sum(result is not None for result in results)
        super().__init__(f"interrupted with {done} of {len(results)} games finished: see .results of this exception")
        self.results = results
