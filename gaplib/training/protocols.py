"""The contracts of the game: what a privatizer, an adversary and a constraint must have, and what passes between them.

All games of a study are played at once. So a player is a value without state: what it has learned is a tensor that the
engine keeps, with a row for each game. In the shapes below G is the number of games, B of minibatches in a block, R of
records in a minibatch, O of possible outcomes of a release, and P of parameters. Where x is a vector of d numbers,
every array of records or releases has one more axis, the last, of length d.

A class that derives from one of these contracts cannot leave out one of its methods; only `reduced` and `for_vectors`
have a default. Players and constraints must be hashable, best as frozen dataclasses: games whose players are equal are
played in one compiled program.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from gaplib import _random
from gaplib.training._tensorflow import tf
from gaplib.training.samples import Sample


class Units(NamedTuple):
    """What one game is measured in, so that its numbers are of order one and a step of .01 suits all data.

    Parameters
    ----------
    center : float or numpy.ndarray of shape (d,)
        The x that is zero in the game.
    unit : float > 0
        The change of x that is one in the game. Distortion and budget are in its square.
    """

    center: float | np.ndarray
    unit: float


class Batch(NamedTuple):
    """A minibatch of each game, in units of the game. A block of minibatches has one more axis, the first.

    Parameters
    ----------
    x, y : tf.Tensor, shape (G, R)
        Public and private data.
    noise : tf.Tensor, shape (G, R) or (G, R, any)
        The privatizer's.
    weight : tf.Tensor, shape (G, R)
        What each record counts. Weights sum to one in each game.
    """

    x: tf.Tensor
    y: tf.Tensor
    noise: tf.Tensor
    weight: tf.Tensor


class Release(NamedTuple):
    """What becomes of a minibatch.

    Parameters
    ----------
    outcomes : tf.Tensor, shape (G, R, O)
        The possible releases of each record, in units of the game.
    probability : tf.Tensor, fits (G, R, O)
        Of each outcome. No outcome is drawn: losses are averaged over them exactly.
    """

    outcomes: tf.Tensor
    probability: tf.Tensor


class Mechanism(Protocol):
    """What a game leaves behind, such as the classes of `gaplib.mechanisms`."""

    def privatize(self, x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
        """Release each record, in the units of the data.

        Parameters
        ----------
        x, y : numpy.ndarray, shape (n,)
            Records.
        seed : int

        Returns
        -------
        numpy.ndarray, shape (n,)
        """


@dataclass(frozen=True)
class Diluted:
    """A mechanism that releases a share of the records through another one, and the others as they are.

    Attributes
    ----------
    mechanism : Mechanism
    share : float in [0, 1]
        It spends this share of the distortion of `mechanism`.
    """

    mechanism: Mechanism
    share: float

    def privatize(self, x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
        """Release each record.

        Parameters
        ----------
        x, y : numpy.ndarray, shape (n,)
            Records.
        seed : int

        Returns
        -------
        numpy.ndarray, shape (n,)
        """
        chosen = _random.generator(seed, "Diluted.privatize").random(len(x)) < self.share
        return np.where(chosen, self.mechanism.privatize(x, y, seed), x)


class Privatizer(Protocol):
    """A family of mechanisms that can be trained, and how it wants its data."""

    @abstractmethod
    def units(self, sample: Sample) -> Units:
        """Return what a game is measured in.

        Parameters
        ----------
        sample : Sample

        Returns
        -------
        Units

        Raises
        ------
        ValueError
            If this privatizer is not for such data.
        """

    @abstractmethod
    def encoder(self, sample: Sample, units: Units, noise: np.random.Generator) -> Callable[[np.ndarray], Batch]:
        """Return the function that makes minibatches of a sample.

        Parameters
        ----------
        sample : Sample
        units : Units
        noise : numpy.random.Generator
            What noise is drawn from; the same for games with the same seed.

        Returns
        -------
        callable
            From the numbers of the records of a block of minibatches, an array of int of shape (B, S), to a `Batch` of
            arrays of shape (B, R): R is S, or less where equal records are merged. The weights need only broadcast.
        """

    @abstractmethod
    def release_unit(self, sample: Sample, units: Units, budget: float) -> float:
        """Return what a release is divided by before the adversary sees it.

        Parameters
        ----------
        sample : Sample
        units : Units
        budget : float
            D in units of the game.

        Returns
        -------
        float > 0
            In units of the game.
        """

    @abstractmethod
    def violation_unit(self, budget: float) -> float:
        """Return the excess of distortion that counts as one violation of the budget.

        Parameters
        ----------
        budget : float
            D in units of the game.

        Returns
        -------
        float > 0
            In units of the game.
        """

    @abstractmethod
    def constants(self, sample: Sample, units: Units, kind: str, budget: float) -> tuple[np.ndarray, ...]:
        """Return what the mechanism of one game depends on beside its parameters, such as frequencies in its sample.

        Parameters
        ----------
        sample : Sample
        units : Units
        kind : {"pdd", "pdi"}
            Whether the mechanism may use Y.
        budget : float
            D in units of the game.

        Returns
        -------
        tuple of numpy.ndarray
            Of shapes that are the same in all games.

        Raises
        ------
        ValueError
            If there is no mechanism of this kind.
        """

    @abstractmethod
    def start(self, budget: float, random: np.random.Generator) -> np.ndarray:
        """Return the first parameters of one game.

        Parameters
        ----------
        budget : float
            D in units of the game.
        random : numpy.random.Generator
            Of this game.

        Returns
        -------
        numpy.ndarray, shape (P,)
        """

    @abstractmethod
    def release(self, parameters: tf.Tensor, constants: tuple[tf.Tensor, ...], batch: Batch) -> Release:
        """Return what becomes of a minibatch, differentiable in the parameters.

        Parameters
        ----------
        parameters : tf.Tensor, shape (G, P)
        constants : tuple of tf.Tensor
            Those of all games, with a leading game axis.
        batch : Batch

        Returns
        -------
        Release
        """

    @abstractmethod
    def distortion(self, parameters: tf.Tensor, constants: tuple[tf.Tensor, ...]) -> tf.Tensor | None:
        """Return the expected distortion over the training sample, differentiable in the parameters.

        What ``as_printed`` holds to the budget instead is the squared error of a minibatch. A family for which the
        expectation is no formula returns None: then training looks at the minibatches too, and what was learned needs
        a method ``distortion(x, y)`` that measures it on records.

        Parameters
        ----------
        parameters : tf.Tensor, shape (G, P)
        constants : tuple of tf.Tensor
            Those of all games, with a leading game axis.

        Returns
        -------
        tf.Tensor, shape (G,), or None
            In units of the game.
        """

    @abstractmethod
    def mechanism(self, parameters: np.ndarray, constants: tuple[np.ndarray, ...], units: Units) -> Mechanism:
        """Return the mechanism that one game has learned.

        Parameters
        ----------
        parameters : numpy.ndarray, shape (P,)
        constants : tuple of numpy.ndarray
            Those of this game, of the shapes that `constants` gave them.
        units : Units

        Returns
        -------
        Mechanism
            In the units of the data.
        """

    def reduced(self, mechanism: Mechanism, share: float) -> Mechanism:
        """Return a mechanism that spends a share of the distortion of a learned one, which has broken its budget.

        Only this method has a default: the share of the records is released through the mechanism, and the others as
        they are. Most families have something better.

        Parameters
        ----------
        mechanism : Mechanism
        share : float in [0, 1]
            At 0 every record is released as it is.

        Returns
        -------
        Mechanism
        """
        return Diluted(mechanism, share)

    def for_vectors(self, d: int) -> "Privatizer":
        """Return the privatizer that plays where x is a vector. By default there is none.

        Parameters
        ----------
        d : int
            How many numbers it has.

        Returns
        -------
        Privatizer

        Raises
        ------
        ValueError
            If this privatizer is not for such data.
        """
        raise ValueError(f"privatizer must be one for vectors where x has the shape (n, d), got {self!r}")


class Adversary(Protocol):
    """A family of functions that can be trained to say from a release how likely Y = 1 is."""

    @abstractmethod
    def start(self, random: np.random.Generator) -> np.ndarray:
        """Return the first parameters of one game.

        Parameters
        ----------
        random : numpy.random.Generator
            Of this game.

        Returns
        -------
        numpy.ndarray, shape (P,)
        """

    @abstractmethod
    def log_odds(self, parameters: tf.Tensor, x_hat: tf.Tensor) -> tf.Tensor:
        """Return the log odds of Y = 1, differentiable in both arguments.

        Parameters
        ----------
        parameters : tf.Tensor, shape (G, P)
        x_hat : tf.Tensor, shape (G, N)
            Releases, centred, in units of the game and divided by `Privatizer.release_unit`.

        Returns
        -------
        tf.Tensor, shape (G, N)
        """

    def for_vectors(self, d: int) -> "Adversary":
        """Return the adversary that plays where x is a vector. By default there is none.

        Parameters
        ----------
        d : int
            How many numbers it has.

        Returns
        -------
        Adversary

        Raises
        ------
        ValueError
            If this adversary is not for such data.
        """
        raise ValueError(f"adversary must be one for vectors where x has the shape (n, d), got {self!r}")


class Constraint(Protocol):
    """How the privatizer is held to its budget: a term of its loss, and a multiplier that may change as it trains.

    A violation is the distortion minus the budget, divided by `Privatizer.violation_unit`: one schedule serves every D.
    """

    @abstractmethod
    def term(self, violation: tf.Tensor, multiplier: tf.Tensor, progress: tf.Tensor) -> tf.Tensor:
        """Return what is added to the privatizer's loss.

        Parameters
        ----------
        violation : tf.Tensor, shape (G,)
            Of each game; negative within the budget.
        multiplier : tf.Tensor, shape (G,)
            Of each game; zero at first.
        progress : tf.Tensor
            How much of the training is over, from 0 to 1.

        Returns
        -------
        tf.Tensor, shape (G,)
        """

    @abstractmethod
    def price(self, violation: tf.Tensor, multiplier: tf.Tensor, progress: tf.Tensor) -> tf.Tensor:
        """Return the derivative of `term` in the violation: what one more costs.

        Parameters
        ----------
        violation, multiplier, progress : tf.Tensor
            As for `term`.

        Returns
        -------
        tf.Tensor, shape (G,)
        """

    @abstractmethod
    def update(self, violation: tf.Tensor, multiplier: tf.Tensor, progress: tf.Tensor) -> tf.Tensor:
        """Return the multiplier of the next step.

        Parameters
        ----------
        violation, multiplier, progress : tf.Tensor
            As for `term`.

        Returns
        -------
        tf.Tensor, shape (G,)
        """


def check(name: str, value: object, contract: type) -> None:
    """Refuse a value that lacks a method of the contract, or that cannot be told from others."""
    if isinstance(value, type):
        raise TypeError(f"{name} must be a {contract.__name__}, not a class: write {value.__name__}()")
    methods = [name for name, method in vars(contract).items() if getattr(method, "__isabstractmethod__", False)]
    missing = [method for method in methods if not callable(getattr(value, method, None))]
    if missing:
        raise TypeError(
            f"{name} must be a {contract.__name__}, got {value!r} of type {type(value).__name__}, "
            f"which has no {', '.join(missing)}"
        )
    try:
        hash(value)
    except TypeError:
        raise TypeError(f"{name} must be hashable, for example a frozen dataclass, got {value!r}") from None
