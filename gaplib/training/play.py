"""The playing of one program, from start to end, from a checkpoint, or until somebody interrupts."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gaplib import _random
from gaplib.training._tensorflow import claim, single, tf
from gaplib.training.checkpoints import Checkpoint, Moment
from gaplib.training.engine import Fixed, Rules, Schedule, State, alternating_minimax, start
from gaplib.training.games import Game
from gaplib.training.outcomes import result_of
from gaplib.training.programs import Entry, Program, entries_of, stacked, width_of
from gaplib.training.protocols import Batch, Privatizer
from gaplib.training.results import Interrupted, Result
from gaplib.training.samples import BLOCK, minibatches


class Standing(NamedTuple):
    """How far the games are; replaced as a whole, so that an interrupt never finds half of it."""

    state: State
    iterations: int


def play(
    program: Program,
    games: Sequence[tuple[Game, int]],
    advance: Callable[[int], object],
    checkpoint: Checkpoint | None = None,
    watch: Callable[[list[Result]], object] | None = None,
) -> list[Result]:
    """Play games, each with its seed, to the end.

    Parameters
    ----------
    program : Program
    games : sequence of pairs (Game, int)
    advance : callable
        Is told the number of iterations, whenever some have been played.
    checkpoint : Checkpoint, optional
        Where to go on from, and to write to.
    watch : callable, optional
        Is told what the games have learned so far, whenever some iterations have been played.

    Returns
    -------
    list of Result
        In the order of the games.

    Raises
    ------
    Interrupted
        On Ctrl-C, with what these games have learned so far.
    """
    claim()
    entries = entries_of(games, program.rules.privatizer)
    for entry in entries:
        if entry.sample.hides_nothing:
            warnings.warn(
                f"there is nothing to hide, since x or y is the same in all training records: {entry.game.label}, "
                f"seed {entry.seed}; its mechanism is the identity",
                RuntimeWarning,
                stacklevel=3,  # whoever called `train`
            )
    state, fixed = _start(entries, program.rules)
    schedule = Schedule(*map(single, (program.steps, program.learning_rate, program.k, program.alpha)))
    blocks = _blocks(entries, program)
    iterate = alternating_minimax(program.rules)
    standing = Standing(state, 0)
    records: list[np.ndarray] = []

    def moment() -> Moment:
        played = np.concatenate([np.empty((0, 3, len(games)), np.float32), *records])[: standing.iterations]
        return Moment([part.numpy() for part in tf.nest.flatten(standing.state)], played, standing.iterations)

    found = checkpoint.load(moment()) if checkpoint else None
    if found:
        records = [found.course]
        standing = Standing(tf.nest.pack_sequence_as(state, [single(part) for part in found.state]), found.iterations)
        for _ in range(0, found.iterations, BLOCK):  # what was drawn for them is drawn again
            next(blocks)
        advance(found.iterations)
    try:
        while (first := standing.iterations) < program.steps:
            state, record = iterate(standing.state, next(blocks), fixed, schedule, single(first))
            records.append(record.numpy())
            standing = Standing(state, min(first + BLOCK, program.steps))
            advance(standing.iterations - first)
            if watch:
                watch(_results(program, entries, standing, moment().course))
            if checkpoint and (checkpoint.is_due() or standing.iterations == program.steps):
                checkpoint.save(moment())
        return _results(program, entries, standing, moment().course)
    except KeyboardInterrupt:
        if standing.iterations == 0:
            raise Interrupted([None] * len(games)) from None
        if checkpoint:
            checkpoint.save(moment())
        raise Interrupted(_results(program, entries, standing, moment().course)) from None


def rehearse(program: Program, game: Game, seed: int) -> None:
    """Try what a privatizer promises, before anything is played: its mechanism, and probabilities that sum to one.

    Parameters
    ----------
    program : Program
    game : Game
    seed : int

    Raises
    ------
    TypeError, ValueError
        If it does not keep its promise. Wrong shapes are refused when the program is compiled.
    """
    claim()
    privatizer = program.rules.privatizer
    (entry,) = entries_of([(game, seed)], privatizer)
    start = np.asarray(privatizer.start(entry.budget, _first(entry, "privatizer")), float)
    mechanism = privatizer.mechanism(start, entry.constants, entry.units)
    if not callable(getattr(mechanism, "privatize", None)):
        raise TypeError(
            "Privatizer.mechanism must return something with the method privatize(x, y, seed), "
            f"got {mechanism!r} of type {type(mechanism).__name__}"
        )
    batch = _encoder(entry, privatizer)(np.arange(min(entry.n, program.minibatch))[np.newaxis])
    batch = Batch(*map(single, _filled_up(batch, width_of(batch.x.shape[1], program.width))))
    for parameters in (start, start + np.cos(np.arange(start.size))):  # two halves may be a start, and sum to one
        release = privatizer.release(single([parameters]), stacked([entry.constants]), batch)
        if release.outcomes.shape.rank < 3 or release.probability.shape.rank != 3:
            return
        outcomes = release.outcomes.shape[2] / release.probability.shape[2]  # a probability may be that of them all
        total = outcomes * tf.reduce_sum(release.probability, axis=2).numpy()
        # In single precision, whatever the formula.
        if not (np.abs(total - 1) < 1e-4).all() or tf.reduce_min(release.probability) < -1e-4:
            worst = total.flat[np.abs(total - 1).argmax()]
            raise ValueError(
                "the probability of Privatizer.release must be at least 0 and sum to one over the outcomes of each "
                f"record, got {release.probability[0, 0].numpy().tolist()} for the first, and the sum {worst:g}"
            )


def _start(entries: Sequence[Entry], rules: Rules) -> tuple[State, Fixed]:
    """Return the state before the first iteration, and what stays as it is."""
    theta_p = [
        rules.privatizer.start(entry.budget, _first(entry, "privatizer"))
        if entry.game.start is None
        else rules.privatizer.parameters_of(entry.game.start, entry.units)  # type: ignore[attr-defined]  # Game saw to it
        for entry in entries
    ]
    theta_a = [rules.adversary.start(_first(entry, "adversary")) for entry in entries]
    fixed = Fixed(
        constants=stacked(entry.constants for entry in entries),
        budget=single([entry.budget for entry in entries]),
        violation_unit=single([rules.privatizer.violation_unit(entry.budget) for entry in entries]),
        release_unit=single([[entry.release_unit] for entry in entries]),
    )
    return start(single(theta_p), single(theta_a)), fixed


def _first(entry: Entry, player: str) -> np.random.Generator:
    """Return what a player's first parameters are drawn from."""
    return _random.generator(entry.seed, f"training.{player}")


def _blocks(entries: Sequence[Entry], program: Program) -> Iterator[Batch]:
    """Yield block after block of minibatches: a `Batch` with a leading axis of iterations.

    Games with the same seed and number of records share their order, and with the same records their minibatches.
    """
    orders = {
        (seed, n): minibatches(seed, n, min(n, program.minibatch))
        for seed, n in {(entry.seed, entry.n) for entry in entries}
    }
    distinct = {(entry.seed, entry.sample): entry for entry in entries}
    encoders = {key: _encoder(entry, program.rules.privatizer) for key, entry in distinct.items()}
    while True:
        rows = {key: next(order) for key, order in orders.items()}
        encoded = {key: encoders[key](rows[entry.seed, entry.n]) for key, entry in distinct.items()}
        sizes = {batch.x.shape[1] for batch in encoded.values()}
        width = width_of(max(sizes), program.width)
        if sizes != {width}:
            encoded = {key: _filled_up(batch, width) for key, batch in encoded.items()}
        of_games = [encoded[entry.seed, entry.sample] for entry in entries]
        batch = Batch(*(single(np.stack(parts, axis=1)) for parts in zip(*of_games, strict=True)))
        yield batch._replace(weight=tf.broadcast_to(batch.weight, batch.x.shape[:3]))


def _filled_up(batch: Batch, width: int) -> Batch:
    """Return the minibatches with the last record of each repeated, with no weight, up to this number of records."""
    missing = ((0, 0), (0, width - batch.x.shape[1]))
    weight = np.pad(np.broadcast_to(batch.weight, batch.x.shape[:2]), missing)
    x, y, noise = (np.pad(part, missing + ((0, 0),) * (part.ndim - 2), mode="edge") for part in batch[:3])
    return Batch(x, y, noise, weight)


def _encoder(entry: Entry, privatizer: Privatizer) -> Callable[[np.ndarray], Batch]:
    return privatizer.encoder(entry.sample, entry.units, _random.generator(entry.seed, "training.noise"))


def _results(program: Program, entries: Sequence[Entry], standing: Standing, course: np.ndarray) -> list[Result]:
    complete = standing.iterations == program.steps
    theta_p, theta_a = _learned(program, standing), standing.state.adversary.parameters.numpy()
    learned = zip(entries, theta_p, theta_a, course.transpose(2, 1, 0), strict=True)
    return [result_of(program, *of_game, complete) for of_game in learned]


def _learned(program: Program, standing: Standing) -> np.ndarray:
    """Return the mean of those of the privatizer's iterates that count, the last of which may be missing yet."""
    count = 1 if program.rules.as_printed else max(program.steps // 4, 1)
    so_far = count - (program.steps - standing.iterations)
    if so_far <= 0:
        return standing.state.privatizer.parameters.numpy()
    average = standing.state.average.numpy()
    return average if so_far == count else average * (count / so_far)
