"""The other way to a network: fit it to what the optimum of a sample does with its records."""

from __future__ import annotations  # the reference then shows ArrayLike by its name

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks, _random, transport
from gaplib.mechanisms import NetworkMechanism, SamplePlan
from gaplib.training._tensorflow import claim, single, tf
from gaplib.training.engine import Player, adam
from gaplib.training.neural import NeuralPrivatizer
from gaplib.training.protocols import Batch
from gaplib.training.samples import BLOCK, Sample, minibatches

LEARNING_RATE = 0.02  # at first; it falls to 0 along a cosine, as in the game
MINIBATCH = 256


def fit_plan(
    x: ArrayLike, y: ArrayLike, D: float, privatizer: NeuralPrivatizer | None = None, steps: int = 3000, seed: int = 0
) -> NetworkMechanism:
    """Return a network that does with any record what the optimum of a sample does with records like it; Y is seen.

    The plan of `gaplib.transport.of_sample` says for each record with what probability it moves, and where to. The gate
    is fitted to the one by log-loss, the move to the other by least squares. No adversary takes part. Where the budget
    is broken, gates are closed by a common factor; where it is not spent, nothing is done about it.

    Parameters
    ----------
    x : array_like of float, shape (n,) or (n, d)
        Records; see `gaplib.transport.of_sample` for how many fit.
    y : array_like of zeros and ones, shape (n,)
        The private bits, of both values.
    D : float in [0, 1e30]
        Budget: the largest allowed mean squared distance, on these records.
    privatizer : NeuralPrivatizer, optional
        The network, with one move, no noise and no jitter.
    steps : int from 1 to 1e6
        Of Adam, each on a minibatch of 256 records.
    seed : int >= 0
        Of the order of the records.

    Returns
    -------
    NetworkMechanism

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    ImportError
        Without POT, which the extra ``transport`` of gaplib brings.
    """
    x, y = _checks.array("x", x), _checks.bits("y", y)
    if len(np.unique(y)) == 1:
        raise ValueError(f"y must hold both values, or there is nothing to match, got only {y[0]} in {len(y)} records")
    D = _checks.real("D", D, 0, 1e30)
    privatizer = _checks.instance("privatizer", privatizer or NeuralPrivatizer(), NeuralPrivatizer)
    privatizer = privatizer.for_kind("pdd")
    if privatizer.moves != 1 or privatizer.noise or privatizer.jitter:
        raise ValueError(f"privatizer must have one move, no noise and no jitter, got {privatizer!r}")
    _checks.integer("steps", steps, 1, 10**6)
    _checks.integer("seed", seed, 0)
    plan = transport.of_sample(x, y, D).mechanism
    claim()
    if x.ndim == 2:
        privatizer = privatizer.for_vectors(x.shape[1])
    sample = Sample(x, y, x[:0], y[:0])
    units = privatizer.units(sample)
    share, target = _targets(plan)  # type: ignore[arg-type]  # of_sample returns such plans
    target = (target - np.reshape(units.center, (1, -1))) / units.unit
    records = Batch((x - units.center) / units.unit, y.astype(float), np.zeros((len(y), 0)), share)
    constants = privatizer.constants(sample, units, "pdd", D / units.unit**2)
    parameters = _descend(privatizer, constants, records, target, D / units.unit**2, steps, seed)
    mechanism = privatizer.mechanism(parameters, constants, units)
    spent = mechanism.distortion(x, y)
    return mechanism if spent <= D else privatizer.reduced(mechanism, D / spent)


def _targets(plan: SamplePlan) -> tuple[np.ndarray, np.ndarray]:
    """Return with what probability each record moves, and where to on average, shapes (n,) and (n, d)."""
    n, d = plan.x.shape
    records, shares = plan.pairs.ravel(), np.repeat(plan.shares, 2)
    total = np.bincount(records, shares, n)
    sums = [np.bincount(records, shares * np.repeat(plan.points[:, k], 2), n) for k in range(d)]
    target = np.where(total > 0, np.stack(sums) / np.maximum(total, 1e-300), plan.x.T)
    return np.minimum(total, 1.0), target.T


def _descend(
    privatizer: NeuralPrivatizer,
    constants: tuple[np.ndarray, ...],
    records: Batch,
    target: np.ndarray,
    budget: float,
    steps: int,
    seed: int,
) -> np.ndarray:
    """Return the parameters of the fitted network; the weight of a record is the probability that it moves."""
    first = single(privatizer.start(budget, _random.generator(seed, "training.privatizer"))[np.newaxis])
    of_games = tuple(single(part[np.newaxis]) for part in constants)

    @tf.function(jit_compile=True, autograph=False)
    def step(player: Player, batch: Batch, goal: tf.Tensor, t: tf.Tensor) -> Player:
        with tf.GradientTape() as tape:
            tape.watch(player.parameters)
            release = privatizer.release(player.parameters, of_games, batch)
            moved, point = release.probability[..., 1], release.outcomes[:, :, 1]
            error = (tf.reshape(point, goal.shape) - goal) ** 2
            share = batch.weight
            gate = -share * tf.math.log(moved + 1e-7) - (1 - share) * tf.math.log(1 - moved + 1e-7)
            loss = tf.reduce_mean(gate + share * tf.reduce_sum(error, axis=2))
        rate = LEARNING_RATE * (1 + tf.cos(np.pi * t / steps)) / 2
        return adam(player, tape.gradient(loss, player.parameters), rate, t + 1)

    player = Player(first, tf.zeros_like(first), tf.zeros_like(first))
    parts = [np.asarray(part, np.float32) for part in records]
    goal = target.astype(np.float32)
    size = min(MINIBATCH, len(goal))
    blocks = minibatches(seed, len(goal), size)
    for t in range(steps):
        if t % BLOCK == 0:
            rows = next(blocks)
        row = rows[t % BLOCK]
        batch = Batch(*(single(part[row][np.newaxis]) for part in parts))
        player = step(player, batch, single(goal[row][np.newaxis]), single(float(t)))
    return player.parameters.numpy()[0].astype(float)
