"""What is played together: the program that games share, and each game as it takes part."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gaplib import _checks
from gaplib.training._tensorflow import single, tf
from gaplib.training.engine import Rules
from gaplib.training.games import Game, samples_of
from gaplib.training.protocols import Privatizer, Units
from gaplib.training.samples import Sample


@dataclass(frozen=True)
class Program:
    """What games must share to be played together.

    Attributes
    ----------
    rules : Rules
    steps : int
        Iterations of Algorithm 1, its T.
    minibatch : int
        Number of records; a game with fewer is its own minibatch.
    width : int
        What minibatches are filled up to, with records of no weight: so one compiled program serves samples of many
        sizes.
    learning_rate : float
    k : int
        Steps of the adversary for each step of the privatizer.
    alpha : float
        Of the adversary's loss; 1 is log-loss.
    """

    rules: Rules
    steps: int
    minibatch: int
    width: int
    learning_rate: float
    k: int
    alpha: float


@dataclass(frozen=True, eq=False)
class Entry:
    """A game that takes part: with its seed, its records, and how its privatizer sees them."""

    game: Game
    seed: int
    sample: Sample
    units: Units
    budget: float  # in units of the game
    release_unit: float
    constants: tuple[np.ndarray, ...]

    @property
    def n(self) -> int:
        """Number of training records."""
        return len(self.sample.y)


def width_of(size: int, largest: int) -> int:
    """Return the power of two that `size` is filled up to, or `largest` if that is less, but at least `size`."""
    return max(size, min(1 << (size - 1).bit_length(), largest))


def entries_of(games: Iterable[tuple[Game, int]], privatizer: Privatizer) -> list[Entry]:
    """Return the games, each with its seed, as they take part."""
    games = list(games)
    return [_entry(*game, sample, privatizer) for game, sample in zip(games, samples_of(games), strict=True)]


def stacked(constants: Iterable[tuple[np.ndarray, ...]]) -> tuple[tf.Tensor, ...]:
    """Return the constants of several games with a leading game axis."""
    return tuple(single(of_all) for of_all in zip(*constants, strict=True))


def _entry(game: Game, seed: int, sample: Sample, privatizer: Privatizer) -> Entry:
    units = privatizer.units(sample)
    budget = game.D / units.unit**2
    # Rounded, so that the adversary is asked for its belief as it was trained.
    release_unit = float(single(privatizer.release_unit(sample, units, budget)))
    constants = _checks.instance("Privatizer.constants", privatizer.constants(sample, units, game.kind, budget), tuple)
    return Entry(game, seed, sample, units, budget, release_unit, constants)
