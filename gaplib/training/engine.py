"""Algorithm 1 of the paper for many games at once.

Every tensor has a leading game axis and losses are never mixed along it, so the gradient of their sum is each game's
own gradient, and Adam, which works elementwise, is an independent Adam for each game.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gaplib.training._tensorflow import tf
from gaplib.training.adversaries import BinaryAdversary, NetworkAdversary
from gaplib.training.constraints import AugmentedLagrangian, Penalty
from gaplib.training.losses import empirical_loss, printed_loss
from gaplib.training.privatizers import AffinePrivatizer, BinaryPrivatizer
from gaplib.training.samples import BLOCK

LEARNING_RATE = 0.01  # Adam's, for both players (Section 4.3 of the paper)
# The longer of Adam's two memories. With the usual .999 one large gradient slows a parameter for 1000 steps, a third
# of the whole run.
MEMORIES = (0.9, 0.99)


class Batch(NamedTuple):
    """A minibatch of each game, shapes (G, R): records, noise for the privatizer, weights that sum to one."""

    x: tf.Tensor
    y: tf.Tensor
    noise: tf.Tensor
    weight: tf.Tensor


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

    tie: tf.Tensor  # from what is trained to the privatizer's parameters, shape (G, P, P)
    law: tf.Tensor  # of the training sample, as far as the distortion depends on it, shape (G, cells)
    budget: tf.Tensor  # D, shape (G,)
    scale: tf.Tensor  # the unit of violations, shape (G,)
    spread: tf.Tensor  # what the adversary's input is divided by, shape (G, 1)


@dataclass(frozen=True)
class Rules:
    """What all games of one compiled program share.

    Attributes
    ----------
    privatizer, adversary, constraint
        See `privatizers`, `adversaries` and `constraints`.
    alpha : float
        Of the adversary's loss; 1 is log-loss.
    k : int
        Steps of the adversary for each step of the privatizer.
    as_printed : bool
        Constrain the minibatch's distortion rather than the expected one, average the belief rather than the loss,
        and never shorten the step.
    """

    privatizer: BinaryPrivatizer | AffinePrivatizer
    adversary: BinaryAdversary | NetworkAdversary
    constraint: Penalty | AugmentedLagrangian
    alpha: float
    k: int
    as_printed: bool


@lru_cache(maxsize=32)
def alternating_minimax(rules: Rules) -> Callable[..., tuple[State, tf.Tensor]]:
    """Return Algorithm 1, compiled: a function that plays a block of its iterations.

    Its arguments are the `State`, the minibatches as a `Batch` with the additional leading axis BLOCK, what is
    `Fixed`, the number of the first iteration t (from 0) and T, both as floats. It returns the new state and, for each
    iteration, the adversary's loss, the expected distortion and the price of distortion, shape (BLOCK, 3, G).
    """
    loss_of = printed_loss if rules.as_printed else empirical_loss

    def adversary_loss(
        theta_a: tf.Tensor, x_hat: tf.Tensor, chance: tf.Tensor, batch: Batch, fixed: Fixed
    ) -> tf.Tensor:
        flat = tf.reshape(x_hat, [x_hat.shape[0], -1]) / fixed.spread
        log_odds = tf.reshape(rules.adversary.log_odds(theta_a, flat), x_hat.shape)
        return loss_of(log_odds, batch, chance, rules.alpha)

    def release(theta_p: tf.Tensor, batch: Batch, fixed: Fixed) -> tuple[tf.Tensor, tf.Tensor]:
        return rules.privatizer.release(tf.linalg.matvec(fixed.tie, theta_p), batch)

    def violation_of(theta_p: tf.Tensor, x_hat: tf.Tensor, chance: tf.Tensor, batch: Batch, fixed: Fixed) -> tf.Tensor:
        if rules.as_printed:  # of this minibatch, with its noise
            error = tf.reduce_sum(chance * (x_hat - batch.x[..., tf.newaxis]) ** 2, axis=2)
            distortion = tf.reduce_sum(batch.weight * error, axis=1)
        else:  # in expectation over the training sample
            distortion = rules.privatizer.distortion(tf.linalg.matvec(fixed.tie, theta_p), fixed.law)
        return (distortion - fixed.budget) / fixed.scale

    def iterate(state: State, batch: Batch, fixed: Fixed, t: tf.Tensor, T: tf.Tensor) -> tuple[State, tf.Tensor]:
        progress = tf.minimum(t / T, 1.0)
        decay = 1.0 if rules.as_printed else (1 + tf.cos(np.pi * progress)) / 2
        step_size = tf.where(t < T, LEARNING_RATE * decay, 0.0)  # what is left of the last block changes nothing

        # The adversary's turn: k steps down its own loss, at a fixed release.
        x_hat, chance = release(state.privatizer.parameters, batch, fixed)
        adversary = state.adversary
        for j in range(rules.k):
            with tf.GradientTape() as tape:
                tape.watch(adversary.parameters)
                loss = adversary_loss(adversary.parameters, x_hat, chance, batch, fixed)
            gradient = tape.gradient(loss, adversary.parameters)
            adversary = adam(adversary, gradient, step_size, rules.k * t + j + 1)

        # The privatizer's turn: one step up the loss of the new adversary, within the budget.
        with tf.GradientTape() as tape:
            theta_p = state.privatizer.parameters
            tape.watch(theta_p)
            x_hat, chance = release(theta_p, batch, fixed)
            loss = adversary_loss(adversary.parameters, x_hat, chance, batch, fixed)
            violation = violation_of(theta_p, x_hat, chance, batch, fixed)
            objective = -loss + rules.constraint.term(violation, state.multiplier, progress)
        privatizer = adam(state.privatizer, tape.gradient(objective, theta_p), step_size, t + 1)

        price = rules.constraint.price(violation, state.multiplier, progress) / fixed.scale
        multiplier = rules.constraint.update(state.multiplier, violation, progress)
        expected = rules.privatizer.distortion(tf.linalg.matvec(fixed.tie, theta_p), fixed.law)
        return State(privatizer, adversary, multiplier, state.average), tf.stack([loss, expected, price])

    @tf.function(jit_compile=True)
    def play(state: State, minibatches: Batch, fixed: Fixed, first: tf.Tensor, T: tf.Tensor) -> tuple[State, tf.Tensor]:
        # first and T are floats, because XLA would compile anew for every other value of an integer.
        history = tf.TensorArray(tf.float32, BLOCK, element_shape=[3, state.multiplier.shape[0]])
        averaged = 1.0 if rules.as_printed else tf.maximum(tf.floor(T / 4), 1.0)  # of the last iterates
        for i in tf.range(BLOCK):
            t = first + tf.cast(i, tf.float32)
            batch = Batch(*(part[i] for part in minibatches))
            state, record = iterate(state, batch, fixed, t, T)
            weight = tf.where((T - averaged <= t) & (t < T), 1 / averaged, 0.0)
            state = state._replace(average=state.average + weight * state.privatizer.parameters)
            history = history.write(i, record)
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
