"""What goes into training and what comes out of it."""

from __future__ import annotations  # the reference then shows ArrayLike by its name

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks
from gaplib.mechanisms import AffineGaussian, BinaryKernel
from gaplib.models import BinaryModel, GaussianMixture
from gaplib.training.samples import Sample

TEST_RECORDS = 2000  # Section 3.3 and Section 4.3 of the paper


@dataclass(frozen=True, eq=False)
class Game:
    """One game: data, budget and class of mechanisms.

    Parameters
    ----------
    source : BinaryModel, GaussianMixture, or a pair of arrays (x, y)
        A law to draw records from, or the records themselves: y the integers 0 and 1; x too for a binary game,
        any other numbers for a Gaussian one. A pair is checked and copied.
    D : float in [0, 1e30]
        Budget: the largest allowed expected distortion, P(Xhat != X) or E[(Xhat - X)^2].
    kind : {"pdd", "pdi"}
        Private-data dependent or independent. For numbers "pdi" is X + beta + gamma N.
    n : int, optional
        Number of training records to draw; the paper's 10,000 (binary) or 20,000 (mixture) if not given. They are the
        first n of ``source.sample(n + 2000, seed)``, with the seed of `train`.
    test : pair of arrays (x, y), optional
        Test records, if `source` is a pair. From a law, 2,000 are drawn after the others.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not as described.

    Examples
    --------
    >>> Game(BinaryModel.xor(.5, .25), .1, "pdi").label
    'BinaryModel([[0.375, 0.125], [0.125, 0.375]]), D=0.1, pdi'
    """

    source: BinaryModel | GaussianMixture | tuple[Any, Any]
    D: float
    kind: str = "pdd"
    n: int | None = None
    test: tuple[Any, Any] | None = None

    def __post_init__(self) -> None:
        # Beyond 1e30 the square of a single-precision number is infinite.
        object.__setattr__(self, "D", _checks.real("D", self.D, 0, 1e30))
        _checks.choice("kind", self.kind, ("pdd", "pdi"))
        if isinstance(self.source, (BinaryModel, GaussianMixture)):
            if self.test is not None:
                raise ValueError("test must be left out where source is a law: test records are drawn from it")
            if self.n is not None:
                _checks.integer("n", self.n, 1, 10**8)
            return
        if self.n is not None:
            raise ValueError(f"n must be left out where source is a pair of arrays, got {self.n!r}")
        object.__setattr__(self, "source", _records("source", self.source))
        if self.test is not None:
            object.__setattr__(self, "test", _records("test", self.test))
            if not self._is_binary(self.test) and self.binary:
                raise ValueError("test must hold the integers 0 and 1 as its x, as source does")

    @property
    def binary(self) -> bool:
        """Whether X is a bit: then the mechanism is a `BinaryKernel`, else an `AffineGaussian`."""
        return isinstance(self.source, BinaryModel) or (isinstance(self.source, tuple) and self._is_binary(self.source))

    @property
    def records(self) -> int:
        """The number of training records."""
        if isinstance(self.source, tuple):
            return self.source[0].size
        return self.n or (10_000 if self.binary else 20_000)

    @property
    def label(self) -> str:
        """The settings in one line, for messages."""
        if isinstance(self.source, tuple):
            source = f"{self.source[0].size} records"
        elif isinstance(self.source, BinaryModel):
            source = f"BinaryModel({self.source.joint.tolist()})"
        else:
            source = repr(self.source)
        return f"{source}, D={self.D:g}, {self.kind}"

    @staticmethod
    def _is_binary(records: tuple[np.ndarray, np.ndarray]) -> bool:
        return records[0].dtype.kind in "iu" and bool(np.isin(records[0], (0, 1)).all())


def sample_of(game: Game, seed: int) -> Sample:
    """Return the records of a game.

    From a law they are ``source.sample(n + 2000, seed)``, the last 2,000 for the test.
    """
    if isinstance(game.source, tuple):
        x, y = game.source
        x_test, y_test = game.test or (x[:0], y[:0])
    else:
        x, y = game.source.sample(game.records + TEST_RECORDS, seed)
        x, x_test = np.split(x, [game.records])
        y, y_test = np.split(y, [game.records])
    return Sample(x, y, x_test, y_test, game.binary)


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
    mechanism : BinaryKernel, AffineGaussian or None
        The learned mechanism; None if the game diverged.
    distortion : float
        Its expected distortion under the training sample: the sample's label frequency (Gaussian) or cell
        frequencies (binary).
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
    mechanism: BinaryKernel | AffineGaussian | None
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


def _records(name: str, value: object) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        allowed = "a pair of arrays (x, y)" + (", a BinaryModel or a GaussianMixture" if name == "source" else "")
        raise TypeError(f"{name} must be {allowed}, got {value!r} of type {type(value).__name__}")
    # Training is in single precision: beyond 1e15 the square of a sum of squares is infinite.
    numbers = _checks.array(f"{name}[0] (x)", value[0], -1e15, 1e15)
    y = _checks.bits(f"{name}[1] (y)", value[1])
    if numbers.shape != y.shape:
        raise ValueError(f"{name} must be a pair of arrays of the same length, got {numbers.shape} and {y.shape}")
    x = np.array(value[0]) if np.asarray(value[0]).dtype.kind in "iu" else numbers.copy()
    return x, np.array(y)
