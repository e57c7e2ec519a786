"""The playing of one program: games that share their players and the size of their minibatches, from start to end."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gaplib import _checks, _random
from gaplib.training._tensorflow import tf
from gaplib.training.engine import Fixed, Rules, Schedule, State, alternating_minimax, start
from gaplib.training.games import Game, samples_of
from gaplib.training.protocols import Adversary, Batch, Mechanism, Privatizer, Units
from gaplib.training.results import History, Result
from gaplib.training.samples import BLOCK, Sample, minibatches

RECORD_EVERY = 10  # iterations


@dataclass(frozen=True)
class Program:
    """What games must share to be played together.

    Attributes
    ----------
    rules : Rules
    steps : int
        Iterations of Algorithm 1, its T.
    minibatch : int
        Number of records.
    learning_rate : float
    """

    rules: Rules
    steps: int
    minibatch: int
    learning_rate: float


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
        return self.sample.x.size


def play(program: Program, games: Sequence[tuple[Game, int]], advance: Callable[[int], object]) -> list[Result]:
    """Play games, each with its seed, to the end.

    Parameters
    ----------
    program : Program
    games : sequence of pairs (Game, int)
    advance : callable
        Is told the number of iterations, whenever some have been played.

    Returns
    -------
    list of Result
        In the order of the games.
    """
    rules = program.rules
    entries = [_entry(*game, sample, rules.privatizer) for game, sample in zip(games, samples_of(games), strict=True)]
    state, fixed = _start(entries, rules)
    schedule = Schedule(_tensor(program.steps), _tensor(program.learning_rate))
    blocks = _blocks(entries, program)
    iterate = alternating_minimax(rules)
    records = []
    for first in range(0, program.steps, BLOCK):
        state, record = iterate(state, next(blocks), fixed, schedule, _tensor(first))
        records.append(record.numpy())
        advance(min(BLOCK, program.steps - first))
    course = np.concatenate(records)[: program.steps].transpose(2, 1, 0)
    learned = zip(entries, state.average.numpy(), state.adversary.parameters.numpy(), course, strict=True)
    return [_result(rules, *of_game) for of_game in learned]


def _entry(game: Game, seed: int, sample: Sample, privatizer: Privatizer) -> Entry:
    units = privatizer.units(sample)
    budget = game.D / units.unit**2
    # Rounded, so that the adversary is asked for its belief as it was trained.
    release_unit = float(_tensor(privatizer.release_unit(sample, units, budget)))
    constants = _checks.instance("Privatizer.constants", privatizer.constants(sample, units, game.kind), tuple)
    return Entry(game, seed, sample, units, budget, release_unit, constants)


def _start(entries: Sequence[Entry], rules: Rules) -> tuple[State, Fixed]:
    """Return the state before the first iteration, and what stays as it is."""
    theta_p = [rules.privatizer.start(entry.budget) for entry in entries]
    theta_a = [rules.adversary.start(_random.generator(entry.seed, "training.adversary")) for entry in entries]
    fixed = Fixed(
        constants=_stacked(entry.constants for entry in entries),
        budget=_tensor([entry.budget for entry in entries]),
        violation_unit=_tensor([rules.privatizer.violation_unit(entry.budget) for entry in entries]),
        release_unit=_tensor([[entry.release_unit] for entry in entries]),
    )
    return start(_tensor(theta_p), _tensor(theta_a)), fixed


def _blocks(entries: Sequence[Entry], program: Program) -> Iterator[Batch]:
    """Yield block after block of minibatches: a `Batch` with a leading axis of iterations.

    Games with the same seed and number of records share their order, and with the same records their minibatches.
    """
    orders = {key: minibatches(*key, program.minibatch) for key in {(entry.seed, entry.n) for entry in entries}}
    distinct = {(entry.seed, entry.sample): entry for entry in entries}
    encoders = {key: _encoder(entry, program.rules.privatizer) for key, entry in distinct.items()}
    while True:
        rows = {key: next(order) for key, order in orders.items()}
        encoded = {key: encoders[key](rows[entry.seed, entry.n]) for key, entry in distinct.items()}
        of_games = [encoded[entry.seed, entry.sample] for entry in entries]
        batch = Batch(*(_tensor(np.stack(parts, axis=1)) for parts in zip(*of_games, strict=True)))
        yield batch._replace(weight=tf.broadcast_to(batch.weight, batch.x.shape))


def _encoder(entry: Entry, privatizer: Privatizer) -> Callable[[np.ndarray], Batch]:
    return privatizer.encoder(entry.sample, entry.units, _random.generator(entry.seed, "training.noise"))


def _result(rules: Rules, entry: Entry, theta_p: np.ndarray, theta_a: np.ndarray, course: np.ndarray) -> Result:
    """Return the result of a game from what its players have learned, and its course, shape (3, T)."""
    belief = _belief(rules.adversary, theta_a, entry)
    parameters = theta_p.astype(float)
    loss, distortion, price = course.astype(float)
    of_distortion = entry.units.unit**2
    history = _history(loss, of_distortion * distortion, price / of_distortion)
    if not all(np.isfinite(part).all() for part in (parameters, theta_a, course)):
        return Result(entry.game, entry.seed, None, math.nan, history, math.nan, math.nan, True, belief)
    mechanism = rules.privatizer.mechanism(parameters, entry.constants, entry.units)
    spent = rules.privatizer.distortion(_tensor([parameters]), _stacked([entry.constants]))
    accuracy, cross_entropy = _test(mechanism, belief, entry.sample, entry.seed)
    distortion = of_distortion * float(spent[0])
    return Result(entry.game, entry.seed, mechanism, distortion, history, accuracy, cross_entropy, False, belief)


def _belief(adversary: Adversary, theta_a: np.ndarray, entry: Entry) -> Callable[[np.ndarray], np.ndarray]:
    """Return the belief that Y = 1 as a function of the release, in the units of the data."""
    parameters = tf.constant(theta_a[np.newaxis])
    center, unit = entry.units.center, entry.units.unit * entry.release_unit

    def belief(x_hat: np.ndarray) -> np.ndarray:
        inputs = _tensor((np.reshape(x_hat, (1, -1)) - center) / unit)
        log_odds = adversary.log_odds(parameters, inputs).numpy().astype(float)
        return np.exp(-np.logaddexp(0, -log_odds)).reshape(np.shape(x_hat))

    return belief


def _history(loss: np.ndarray, distortion: np.ndarray, price: np.ndarray) -> History:
    ends = np.append(np.arange(RECORD_EVERY, loss.size, RECORD_EVERY), loss.size)
    starts = np.concatenate([[0], ends[:-1]])
    means = [np.add.reduceat(values, starts) / (ends - starts) for values in (loss, distortion, price)]
    return History(ends, *means)


def _test(
    mechanism: Mechanism, belief: Callable[[np.ndarray], np.ndarray], sample: Sample, seed: int
) -> tuple[float, float]:
    """Return the accuracy and the cross-entropy of the adversary on the test sample."""
    if sample.x_test.size == 0:
        return math.nan, math.nan
    x_hat = mechanism.privatize(sample.x_test, sample.y_test, seed)
    of_1 = belief(x_hat)
    accuracy = np.mean((of_1 > 0.5) == (sample.y_test == 1))
    # The least positive number in place of 0: a belief that rounds to 0 was not meant as certainty.
    of_y = np.maximum(np.where(sample.y_test == 1, of_1, 1 - of_1), np.finfo(float).tiny)
    return float(accuracy), float(-np.log(of_y).mean())


def _tensor(value: object) -> tf.Tensor:
    with np.errstate(over="ignore"):  # what is too large for single precision becomes infinite: that game diverges
        return tf.constant(np.asarray(value, np.float32))


def _stacked(constants: Iterable[tuple[np.ndarray, ...]]) -> tuple[tf.Tensor, ...]:
    return tuple(_tensor(of_all) for of_all in zip(*constants, strict=True))
