"""The parts of the training engine, each against an independent oracle."""

import numpy as np
import pytest

from gaplib import losses
from gaplib.mechanisms import AffineGaussian, BinaryKernel
from gaplib.models import BinaryModel, GaussianMixture
from gaplib.training import (
    AffinePrivatizer,
    AugmentedLagrangian,
    Batch,
    BinaryAdversary,
    BinaryPrivatizer,
    NetworkAdversary,
    Penalty,
    Sample,
    Units,
)
from gaplib.training._tensorflow import THREADS, tf
from gaplib.training.defaults import LEARNING_RATE
from gaplib.training.encodings import CELLS
from gaplib.training.engine import MEMORIES, Player, adam
from gaplib.training.losses import alpha_loss, empirical_loss, printed_loss
from gaplib.training.protocols import Adversary, Constraint, Privatizer, check
from gaplib.training.samples import BLOCK, minibatches

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("alpha", [1, 1.5, 8])
def test_loss_of_log_odds_is_the_loss_of_the_belief(alpha):
    log_odds, y = RNG.uniform(-6, 6, 50), RNG.integers(0, 2, 50)
    of_1 = 1 / (1 + np.exp(-log_odds))
    expected = losses.alpha_loss(np.where(y == 1, of_1, 1 - of_1), alpha)
    # Single precision.
    assert alpha_loss(tf.constant(log_odds, tf.float32), tf.constant(y, tf.float32), alpha).numpy() == pytest.approx(
        expected, rel=1e-5, abs=1e-6
    )


def test_a_hopeless_belief_still_has_a_gradient():
    log_odds = tf.constant(-200.0)  # the belief itself rounds to 0
    with tf.GradientTape() as tape:
        tape.watch(log_odds)
        loss = alpha_loss(log_odds, 1.0, 1)
    assert loss.numpy() == pytest.approx(200) and tape.gradient(loss, log_odds).numpy() == pytest.approx(-1)


def test_adam_is_keras_adam():
    start, gradients = RNG.normal(size=(3, 4)), RNG.normal(size=(20, 3, 4))
    variable = tf.Variable(start, dtype=tf.float32)
    keras = tf.keras.optimizers.Adam(LEARNING_RATE, *MEMORIES, epsilon=1e-8)
    first = tf.constant(start, tf.float32)
    player = Player(first, tf.zeros_like(first), tf.zeros_like(first))
    for t, gradient in enumerate(gradients.astype(np.float32), 1):
        keras.apply_gradients([(tf.constant(gradient), variable)])
        player = adam(player, tf.constant(gradient), LEARNING_RATE, float(t))
    # Single precision: twenty steps of rounding.
    assert player.parameters.numpy() == pytest.approx(variable.numpy(), abs=1e-5)


@pytest.mark.parametrize("constraint", [Penalty(2.0, 8.0), AugmentedLagrangian(2.0, 8.0)])
def test_price_is_the_slope_of_the_term(constraint):
    violation = tf.constant([-1.0, -0.3, -0.01, 0.02, 0.5])
    for multiplier in (0.0, 0.7):
        fixed, progress = tf.fill([5], multiplier), 0.5
        with tf.GradientTape() as tape:
            tape.watch(violation)
            term = constraint.term(violation, fixed, progress)
        price = constraint.price(violation, fixed, progress).numpy()
        assert tape.gradient(term, violation).numpy() == pytest.approx(price, rel=1e-5, abs=1e-6)
        assert (price >= 0).all() and price[0] == 0  # a slack budget costs nothing: the slack is held at >= 0
        # rho is halfway between 2 and 8 in the logarithm.
        rho = 4.0
        expected = rho if isinstance(constraint, Penalty) else multiplier + rho * 0.5
        assert price[-1] == pytest.approx(expected)


def test_the_multiplier_rises_and_falls_but_not_below_zero():
    constraint = AugmentedLagrangian(1.0, 1.0, rate=0.1)
    moved = constraint.update(tf.constant([1.0, -1.0, -1.0]), tf.constant([0.5, 0.5, 0.01]), 0.0).numpy()
    assert moved == pytest.approx([0.6, 0.4, 0.0])


def in_one_game(parameters, constants):
    """The parameters and the constants of a game as the engine holds them: single precision, and a game axis."""
    return tf.constant([parameters], tf.float32), tuple(tf.constant([part], tf.float32) for part in constants)


def sample_of(x, y):
    x, y = np.array(x), np.array(y)
    return Sample(x, y, x[:0], y[:0])


@pytest.mark.parametrize("kind", ["pdd", "pdi"])
def test_binary_release_and_distortion_are_those_of_the_kernel(kind):
    sample = sample_of([0, 0, 0, 1, 1, 1, 1, 1, 1, 1], [0, 1, 1, 0, 0, 0, 1, 1, 1, 1])
    model, parameters = BinaryModel.from_sample(sample.x, sample.y), RNG.normal(size=4)
    privatizer = BinaryPrivatizer()
    units = privatizer.units(sample)
    constants = privatizer.constants(sample, units, kind, 1.0)
    kernel = privatizer.mechanism(parameters, constants, units)
    assert isinstance(kernel, BinaryKernel) and (kind == "pdi") == (
        kernel.s00 == kernel.s01 and kernel.s10 == kernel.s11
    )
    theta, known = in_one_game(parameters, constants)
    assert privatizer.distortion(theta, known).numpy()[0] == pytest.approx(kernel.distortion(model), rel=1e-5)
    encode = privatizer.encoder(sample, units, RNG)
    batch = Batch(*(tf.constant(part, tf.float32) for part in encode(np.arange(10)[None])))  # the whole sample
    x_hat, probability = (part.numpy()[0] for part in privatizer.release(theta, known, batch))
    released = np.zeros((2, 2))
    for cell, (_, y) in enumerate(CELLS.astype(int)):
        for outcome in (0, 1):
            released[int(x_hat[cell, outcome]), y] += batch.weight[0, cell] * probability[cell, outcome]
    assert released == pytest.approx(kernel.released(model), rel=1e-5)


@pytest.mark.parametrize(
    ("kind", "learned", "released"),
    [
        ("pdd", AffineGaussian(1.0, 0.4, 2.2, 0.6), [1.0, -0.4, -0.4 - 0.6, -0.4 - 0.6]),
        ("pdi", AffineGaussian(1.0, -1.0, 2.2, 2.2), [1.0, 1.0, 1.0 + 2.2, 1.0 + 2.2]),
    ],
)
def test_affine_release_and_distortion_are_those_of_the_mechanism(kind, learned, released):
    sample, parameters, unit = sample_of([1.0, 5.0, 3.0, 9.0], [0, 1, 1, 1]), np.array([0.5, 0.2, 1.1, -0.3]), 2.0
    privatizer = AffinePrivatizer()
    constants = privatizer.constants(sample, privatizer.units(sample), kind, 1.0)
    mechanism = privatizer.mechanism(parameters, constants, Units(0.0, unit))
    assert mechanism == learned
    theta, known = in_one_game(parameters, constants)
    distortion = unit**2 * privatizer.distortion(theta, known).numpy()[0]
    assert distortion == pytest.approx(mechanism.distortion(GaussianMixture(0.75, 3, 4, 1)), rel=1e-6)
    x, noise, weight = np.zeros((1, 4)), np.array([[0, 0, 1, 1]]), np.full((1, 4), 0.25)
    batch = Batch(*(tf.constant(part, tf.float32) for part in (x, sample.y[None], noise, weight)))
    x_hat, probability = privatizer.release(theta, known, batch)
    assert unit * x_hat.numpy().ravel() == pytest.approx(released)
    assert (probability.numpy() == 1).all()


def test_numbers_are_encoded_in_units_of_the_game():
    sample = sample_of([1.0, 5.0, 3.0, 9.0], [0, 1, 1, 1])
    privatizer = AffinePrivatizer()
    rows = np.array([[3, 0], [1, 1]])
    batch = privatizer.encoder(sample, privatizer.units(sample), np.random.default_rng(5))(rows)
    assert batch.x == pytest.approx(3 * (sample.x[rows] - 4.5) / sample.x.std(), rel=1e-6)  # single precision
    assert (batch.y == sample.y[rows]).all() and (batch.weight == 0.5).all()
    assert (batch.noise == np.random.default_rng(5).standard_normal((2, 2), np.float32)).all()


def test_players_have_what_the_contracts_ask_for():
    for player, contract in (
        (BinaryPrivatizer(), Privatizer),
        (AffinePrivatizer(), Privatizer),
        (BinaryAdversary(), Adversary),
        (NetworkAdversary(), Adversary),
        (Penalty(), Constraint),
        (AugmentedLagrangian(), Constraint),
    ):
        check("player", player, contract)


def test_a_class_that_leaves_a_method_out_has_no_objects():
    class Speechless(Adversary):
        def start(self, random):
            return np.zeros(1)

    with pytest.raises(TypeError, match="log_odds"):
        Speechless()


def test_printed_loss_is_the_smaller_one():
    batch = Batch(None, tf.constant([[0.0, 1.0]]), None, tf.constant([[0.4, 0.6]]))
    log_odds, probability = tf.constant([[[-1.0, 2.0], [-1.0, 2.0]]]), tf.constant([[[0.7, 0.3], [0.2, 0.8]]])
    of_1 = 1 / (1 + np.exp([1.0, -2.0]))
    exact = -0.4 * (0.7 * np.log(1 - of_1[0]) + 0.3 * np.log(1 - of_1[1]))
    exact -= 0.6 * (0.2 * np.log(of_1[0]) + 0.8 * np.log(of_1[1]))
    averaged = -0.4 * np.log(1 - of_1 @ [0.7, 0.3]) - 0.6 * np.log(of_1 @ [0.2, 0.8])
    assert empirical_loss(log_odds, batch, probability, 1).numpy() == pytest.approx([exact], rel=1e-5)
    assert printed_loss(log_odds, batch, probability, 1).numpy() == pytest.approx([averaged], rel=1e-5)
    assert averaged < exact


def test_each_pass_uses_every_record_once():
    order = minibatches(seed=0, n=20_000, size=200)
    first, later = next(order), next(order)
    for block in (first, later):
        assert block.shape == (BLOCK, 200) and (np.sort(block.ravel()) == np.arange(20_000)).all()
    assert (first != later).any()


@pytest.mark.parametrize(("size", "in_a_pass"), [(3, 6), (7, 7)])
def test_what_does_not_fill_a_minibatch_is_left_out_of_the_pass(size, in_a_pass):
    block = next(minibatches(seed=0, n=7, size=size))
    assert block.shape == (BLOCK, size)
    passes = block[: BLOCK // 2 * 2].reshape(-1, in_a_pass)
    assert (np.diff(np.sort(passes), axis=1) > 0).all()  # no record twice


def test_one_thread():
    assert tf.config.threading.get_intra_op_parallelism_threads() == THREADS
    assert tf.config.threading.get_inter_op_parallelism_threads() == THREADS
