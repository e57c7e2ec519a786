"""What comes out of training: the learned mechanism, how it was learned, and what the adversary believes."""

from __future__ import annotations  # the reference then shows ArrayLike by its name

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks
from gaplib.training.beliefs import TrainedAdversary
from gaplib.training.exploitability import exploitability
from gaplib.training.games import Game, sample_of
from gaplib.training.protocols import Mechanism


@dataclass(frozen=True, eq=False)
class History:
    """How training went; arrays of the same length, one entry for each 10 iterations of Algorithm 1.

    Attributes
    ----------
    iteration : numpy.ndarray of int
        The last of the 10.
    loss : numpy.ndarray
        The adversary's loss on the minibatches, averaged over the 10; in nats under log-loss. Under alpha-loss of an
        order above 64 it is that of order 64, which the privatizer is trained against, and under 0-1 loss that of the
        rising order.
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
        What was learned: of the paper's privatizers a `BinaryKernel` or an `AffineGaussian`, of a `NeuralPrivatizer` a
        `NetworkMechanism`. None if the game diverged.
    distortion : float
        Its expected distortion over the training sample, at most 1.005 D. A mechanism that spent more has been brought
        back to D, but for one trained as printed.
    history : History
    test_accuracy : float
        How often the trained adversary is right on the test sample, released through the mechanism. NaN without a
        test sample.
    test_cross_entropy : float
        The mean log-loss of its beliefs there, in nats, whatever loss it was trained under.
    iterations : int
        How many were played; fewer than asked for only if training was interrupted.
    complete : bool
        Whether training went to its end. Otherwise the mechanism is what had been learned by then.
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
    iterations: int
    complete: bool
    diverged: bool
    _adversary: TrainedAdversary = field(repr=False)

    @cached_property
    def exploitability(self) -> float:
        """How much a fresh adversary gains over the trained one, in nats of log-loss.

        An adversary is fitted to the finished mechanism, and the trained one's loss minus the fresh one's is taken on
        records that the fresh one has not seen, over the training sample released once more. Well
        above 0, the privatizer had an opponent that did not see what it should, and its mechanism hides less than the
        history says. A fresh adversary that finds no more comes out a little below 0, since it sees half the records:
        over the rows of the paper's tables at -.001, with a standard deviation of .0005. NaN for fewer than 100
        records, for vectors and for a game that diverged. It is computed when it is first
        asked for, in some milliseconds.
        """
        sample = sample_of(self.game, self.seed)
        return exploitability(self._adversary, self.mechanism, sample.x, sample.y, self.seed)

    def belief(self, x_hat: ArrayLike) -> np.ndarray:
        """Return the trained adversary's belief that Y = 1, elementwise.

        It is meant to be best under the loss that the game is about: the adversary learns the posterior, and under
        alpha-loss its log odds are multiplied by alpha (`gaplib.losses.tilted_posterior`). Under 0-1 loss all beliefs
        on the right side of 1/2 are best; this is the posterior.

        Parameters
        ----------
        x_hat : array_like of float, any shape
            Releases; vectors along the last axis.

        Returns
        -------
        numpy.ndarray
            Numbers in [0, 1], of the shape of `x_hat`; for vectors without the last axis.

        Raises
        ------
        TypeError, ValueError
            If `x_hat` holds anything but finite numbers.
        """
        return self._adversary.belief(_checks.array("x_hat", x_hat))


class Interrupted(KeyboardInterrupt):
    """Training was interrupted; `results` has what was learned.

    Attributes
    ----------
    results : list of Result or None
        In the order of the games. `Result.complete` tells the finished ones from those that were in the middle of
        their training; None where a game had not begun.
    """

    def __init__(self, results: Sequence[Result | None]) -> None:
        done = sum(result is not None and result.complete for result in results)
        begun = sum(result is not None for result in results) - done
        super().__init__(
            f"interrupted with {done} of {len(results)} games finished and {begun} begun: "
            "see .results of this exception"
        )
        self.results = list(results)

    def __reduce__(self) -> tuple[type, tuple[list[Result | None]]]:
        return type(self), (self.results,)
