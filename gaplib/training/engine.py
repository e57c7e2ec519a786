"""Algorithm 1 of the paper for many games at once.

Every tensor has a leading game axis and losses are never mixed along it, so the gradient of their sum is each game's
own gradient, and Adam, which works elementwise, is an independent Adam for each game.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gaplib.training._tensorflow import tf
from gaplib.training.losses import empirical_loss, printed_loss
from gaplib.training.protocols import Adversary, Batch, Constraint, Privatizer, Release
from gaplib.training.samples import BLOCK

# The longer of Adam's two memories. With the usual .999 one large gradient slows a parameter for 1000 steps, a third
# of the whole run.
MEMORIES = (0.9, 0.99)

# So many steps of the adversary are compiled one after the other, which runs a little faster; more are a loop, or the
# compiler would take a second for each.
UNROLLED = 5

# Of the adversary's beliefs in the privatizer's turn, at most. Only records within about 1/alpha of even odds pull at
# the privatizer. At order 64 the noise of a minibatch is as large as their pull and at 1000 four times as large, while
# the optimum hardly moves any more. Chapter 13 of the book trains without this limit and ends far off.
LARGEST_TILT = 64.0

# Under 0-1 loss the order of the alpha-loss rises, by equal factors, from the first to the last one; at this share of
# the iterations it is there. At a low order all records pull, and the adversary can follow; the optimum under a high
# one is that of 0-1 loss.
RISING_TILT = (2.0, 32.0)
RISEN = 0.8
# Meanwhile the adversary's step never falls below this share of the first one. It has to follow to the end: a release
# that it was slow to learn is one that the privatizer piles records up at.
LATE = 0.2


@dataclass(frozen=True)
class Rules:
    """What all games of one compiled program share.

    Attributes
    ----------
    privatizer, adversary, constraint
        See `protocols`.
    unrolled : int
        Steps of the adversary for each step of the privatizer, if not more than `UNROLLED`; otherwise 0.
    alpha_loss : bool
        Whether the adversary's loss is alpha-loss rather than log-loss.
    as_printed : bool
        Constrain the minibatch's distortion rather than the expected one, average the belief rather than the loss,
        train the adversary under alpha-loss itself, and never shorten the step.
    rising : bool
        Whether the order of that loss rises while they play.
    """

    privatizer: Privatizer
    adversary: Adversary
    constraint: Constraint
    unrolled: int
    alpha_loss: bool
    as_printed: bool
    rising: bool


class Player(NamedTuple):
    """The parameters of a player in each game, shape (G, P), and Adam's running moments of their gradient."""

    parameters: tf.Tensor
    mean: tf.Tensor
    square: tf.Tensor


class State(NamedTuple):
    """All that changes while the games are played."""

    privatizer: Player
    adversary: Player
    multiplier: tf.Tensor  # lambda, shape (G,)
    average: tf.Tensor  # of the last iterates of the privatizer, shape (G, P)


class Fixed(NamedTuple):
    """What each game is about."""

    constants: tuple[tf.Tensor, ...]  # the privatizer's, each with a leading game axis
    budget: tf.Tensor  # D, shape (G,)
    violation_unit: tf.Tensor  # shape (G,)
    release_unit: tf.Tensor  # shape (G, 1)


class Schedule(NamedTuple):
    """How long, how fast and under which loss to learn, as floats: XLA would compile anew for other integers."""

    T: tf.Tensor  # iterations
    learning_rate: tf.Tensor  # Adam's largest step, for both players
    k: tf.Tensor  # steps of the adversary for each step of the privatizer
    alpha: tf.Tensor  # of the adversary's loss; not looked at under log-loss


def start(theta_p: tf.Tensor, theta_a: tf.Tensor) -> State:
    """Return the state before the first iteration, from the first parameters of both players, shapes (G, P)."""

    def unmoved(parameters: tf.Tensor) -> Player:
        check_shape("the first parameters of a player in all games", parameters, (None, None))
        return Player(parameters, tf.zeros_like(parameters), tf.zeros_like(parameters))

    return State(unmoved(theta_p), unmoved(theta_a), tf.zeros(theta_p.shape[0]), tf.zeros_like(theta_p))


@lru_cache(maxsize=32)
def alternating_minimax(rules: Rules) -> Callable[..., tuple[State, tf.Tensor]]:
    """Return Algorithm 1, compiled: a function that plays a block of its iterations.

    Its arguments are the `State`, the minibatches as a `Batch` with the additional leading axis BLOCK, what is
    `Fixed`, the `Schedule`, and the number t of the first iteration (from 0), a float. It returns the new state and,
    for each iteration, the adversary's loss, the expected distortion and the price of distortion, shape (BLOCK, 3, G).
    """
    loss_of = printed_loss if rules.as_printed else empirical_loss

    def release_of(theta_p: tf.Tensor, batch: Batch, fixed: Fixed) -> Release:
        outcomes, probability = rules.privatizer.release(theta_p, fixed.constants, batch)
        records, vector = batch.x.shape[:2], batch.x.shape[2:]
        check_shape("the outcomes of Privatizer.release", outcomes, (*records, None, *vector))
        check_shape("the probability of Privatizer.release", probability, (None, None, None))
        return Release(outcomes, probability)

    def expected_distortion(theta_p: tf.Tensor, fixed: Fixed, release: Release, batch: Batch) -> tf.Tensor:
        distortion = rules.privatizer.distortion(theta_p, fixed.constants)
        if distortion is None:
            return distortion_of(release, batch)
        check_shape("Privatizer.distortion", distortion, fixed.budget.shape)
        return distortion

    def log_odds_of(theta_a: tf.Tensor, release: Release, fixed: Fixed) -> tf.Tensor:
        x_hat = release.outcomes
        games, vector = x_hat.shape[:1], x_hat.shape[3:]
        flat = tf.reshape(x_hat, [*games, -1, *vector]) / tf.reshape(fixed.release_unit, [-1, 1] + [1] * len(vector))
        log_odds = rules.adversary.log_odds(theta_a, flat)
        check_shape("Adversary.log_odds", log_odds, flat.shape[:2])
        return tf.reshape(log_odds, x_hat.shape[:3])

    def distortion_of(release: Release, batch: Batch) -> tf.Tensor:
        """Return the distortion of this minibatch, with its noise."""
        error = (release.outcomes - tf.expand_dims(batch.x, 2)) ** 2
        if len(error.shape) == 4:
            error = tf.reduce_sum(error, axis=3)
        return tf.reduce_sum(batch.weight * tf.reduce_sum(release.probability * error, axis=2), axis=1)

    def trained_loss(log_odds: tf.Tensor, batch: Batch, release: Release, schedule: Schedule) -> tf.Tensor:
        """Return the loss that the adversary descends: log-loss, which the posterior minimizes."""
        alpha = schedule.alpha if rules.alpha_loss and rules.as_printed else 1
        return loss_of(log_odds, batch, release.probability, alpha)

    def played_loss(
        log_odds: tf.Tensor, batch: Batch, release: Release, schedule: Schedule, progress: tf.Tensor
    ) -> tf.Tensor:
        """Return the loss that the privatizer climbs: that of the tilted posterior."""
        if rules.as_printed or not rules.alpha_loss:
            return trained_loss(log_odds, batch, release, schedule)
        alpha = tf.minimum(schedule.alpha, LARGEST_TILT)
        if rules.rising:
            first, last = RISING_TILT
            alpha = first * (last / first) ** tf.minimum(progress / RISEN, 1.0)
        return loss_of(alpha * log_odds, batch, release.probability, alpha)

    def iterate(state: State, batch: Batch, fixed: Fixed, schedule: Schedule, t: tf.Tensor) -> tuple[State, tf.Tensor]:
        progress = tf.minimum(t / schedule.T, 1.0)
        decay = 1.0 if rules.as_printed else (1 + tf.cos(np.pi * progress)) / 2
        # What is left of the last block changes nothing.
        step_size = tf.where(t < schedule.T, schedule.learning_rate * decay, 0.0)
        adversary_step = step_size
        if rules.rising:
            adversary_step = tf.where(t < schedule.T, schedule.learning_rate * tf.maximum(decay, LATE), 0.0)

        # The adversary's turn: k steps down its own loss, at a fixed release.
        release = release_of(state.privatizer.parameters, batch, fixed)

        def descend(adversary: Player, j: tf.Tensor) -> Player:
            with tf.GradientTape() as tape:
                tape.watch(adversary.parameters)
                loss = trained_loss(log_odds_of(adversary.parameters, release, fixed), batch, release, schedule)
            gradient = tape.gradient(loss, adversary.parameters)
            return adam(adversary, gradient, adversary_step, schedule.k * t + j + 1)

        adversary = state.adversary
        if rules.unrolled:
            for j in range(rules.unrolled):
                adversary = descend(adversary, j)
        else:
            _, adversary = tf.while_loop(
                lambda j, _: j < schedule.k, lambda j, adversary: (j + 1, descend(adversary, j)), (0.0, adversary)
            )

        # The privatizer's turn: one step up the loss of the new adversary, within the budget.
        with tf.GradientTape() as tape:
            theta_p = state.privatizer.parameters
            tape.watch(theta_p)
            release = release_of(theta_p, batch, fixed)
            log_odds = log_odds_of(adversary.parameters, release, fixed)
            loss = played_loss(log_odds, batch, release, schedule, progress)
            expected = expected_distortion(theta_p, fixed, release, batch)
            distortion = distortion_of(release, batch) if rules.as_printed else expected
            violation = (distortion - fixed.budget) / fixed.violation_unit
            objective = -loss + rules.constraint.term(violation, state.multiplier, progress)
        privatizer = adam(state.privatizer, tape.gradient(objective, theta_p), step_size, t + 1)

        price = rules.constraint.price(violation, state.multiplier, progress) / fixed.violation_unit
        multiplier = rules.constraint.update(violation, state.multiplier, progress)
        return State(privatizer, adversary, multiplier, state.average), tf.stack([loss, expected, price])

    # Loops are written out as `tf.while_loop`: TensorFlow's rewriting of Python's loops fails on Python 3.13.
    @tf.function(jit_compile=True, autograph=False)
    def play(
        state: State, minibatches: Batch, fixed: Fixed, schedule: Schedule, first: tf.Tensor
    ) -> tuple[State, tf.Tensor]:
        T = schedule.T
        averaged = 1.0 if rules.as_printed else tf.maximum(tf.floor(T / 4), 1.0)  # of the last iterates

        def play_next(i: tf.Tensor, state: State, history: tf.TensorArray) -> tuple[tf.Tensor, State, tf.TensorArray]:
            t = first + tf.cast(i, tf.float32)
            batch = Batch(*(part[i] for part in minibatches))
            state, record = iterate(state, batch, fixed, schedule, t)
            weight = tf.where((T - averaged <= t) & (t < T), 1 / averaged, 0.0)
            state = state._replace(average=state.average + weight * state.privatizer.parameters)
            return i + 1, state, history.write(i, record)

        history = tf.TensorArray(tf.float32, BLOCK, element_shape=[3, state.multiplier.shape[0]])
        _, state, history = tf.while_loop(lambda i, *_: i < BLOCK, play_next, (0, state, history))
        return state, history.stack()

    return play


def adam(player: Player, gradient: tf.Tensor, step_size: tf.Tensor, t: tf.Tensor) -> Player:
    """Return the player after step t (from 1) of Adam down the gradient."""
    short, long = MEMORIES
    mean = short * player.mean + (1 - short) * gradient
    square = long * player.square + (1 - long) * gradient**2
    unbiased_mean, unbiased_square = mean / (1 - short**t), square / (1 - long**t)
    parameters = player.parameters - step_size * unbiased_mean / (tf.sqrt(unbiased_square) + 1e-8)
    return Player(parameters, mean, square)


def check_shape(what: str, tensor: tf.Tensor, shape: Iterable[int | None]) -> None:
    """Refuse what a player returns in another shape: it might broadcast, and train something else."""
    if not tensor.shape.is_compatible_with(list(shape)):
        raise ValueError(f"{what} must have shape {tuple(shape)}, got {tuple(tensor.shape)}")
