"""The parts of the training engine, each against an independent oracle."""

import numpy as np
import pytest

from gaplib import losses
from gaplib.mechanisms import AffineGaussian, BinaryKernel
from gaplib.models import BinaryModel, GaussianMixture
from gaplib.training import AugmentedLagrangian, Penalty
from gaplib.training._tensorflow import THREADS, tf
from gaplib.training.engine import LEARNING_RATE, MEMORIES, Batch, Player, adam
from gaplib.training.losses import alpha_loss, empirical_loss, printed_loss
from gaplib.training.privatizers import CELLS, AffinePrivatizer, BinaryPrivatizer
from gaplib.training.samples import BLOCK, Draws

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
    moved = constraint.update(tf.constant([0.5, 0.5, 0.01]), tf.constant([1.0, -1.0, -1.0]), 0.0).numpy()
    assert moved == pytest.approx([0.6, 0.4, 0.0])


def test_binary_release_and_distortion_are_those_of_the_kernel():
    model, parameters = BinaryModel([[0.1, 0.2], [0.3, 0.4]]), RNG.normal(size=4)
    privatizer = BinaryPrivatizer()
    kernel = privatizer.mechanism(parameters, 1.0)
    assert isinstance(kernel, BinaryKernel)
    theta, law = tf.constant([parameters], tf.float32), tf.constant([model.joint.ravel()], tf.float32)
    assert privatizer.distortion(theta, law).numpy()[0] == pytest.approx(kernel.distortion(model), rel=1e-5)
    batch = Batch(tf.constant(CELLS[None, :, 0]), tf.constant(CELLS[None, :, 1]), None, law)
    x_hat, chance = (part.numpy()[0] for part in privatizer.release(theta, batch))
    released = np.zeros((2, 2))
    for cell, (_, y) in enumerate(CELLS.astype(int)):
        for outcome in (0, 1):
            released[int(x_hat[cell, outcome]), y] += model.joint.ravel()[cell] * chance[cell, outcome]
    assert released == pytest.approx(kernel.released(model), rel=1e-5)


def test_affine_release_and_distortion_are_those_of_the_mechanism():
    model, parameters, unit = GaussianMixture(0.75, 3, 4, 1), np.array([0.5, 0.2, 1.1, -0.3]), 2.0
    privatizer = AffinePrivatizer()
    mechanism = privatizer.mechanism(parameters, unit)
    assert mechanism == AffineGaussian(1.0, 0.4, 2.2, 0.6)
    theta = tf.constant([parameters], tf.float32)
    distortion = unit**2 * privatizer.distortion(theta, tf.constant([model.p_y], tf.float32)).numpy()[0]
    assert distortion == pytest.approx(mechanism.distortion(model), rel=1e-6)
    y, noise = np.array([[0, 1, 0, 1]]), np.array([[0, 0, 1, 1]])
    batch = Batch(*(tf.constant(part, tf.float32) for part in (np.zeros((1, 4)), y, noise, np.full((1, 4), 0.25))))
    x_hat, chance = privatizer.release(theta, batch)
    assert unit * x_hat.numpy().ravel() == pytest.approx([1.0, -0.4, 1.0 + 2.2, -0.4 - 0.6])
    assert (chance.numpy() == 1).all()


def test_printed_loss_is_the_smaller_one():
    batch = Batch(None, tf.constant([[0.0, 1.0]]), None, tf.constant([[0.4, 0.6]]))
    log_odds, chance = tf.constant([[[-1.0, 2.0], [-1.0, 2.0]]]), tf.constant([[[0.7, 0.3], [0.2, 0.8]]])
    of_1 = 1 / (1 + np.exp([1.0, -2.0]))
    exact = -0.4 * (0.7 * np.log(1 - of_1[0]) + 0.3 * np.log(1 - of_1[1]))
    exact -= 0.6 * (0.2 * np.log(of_1[0]) + 0.8 * np.log(of_1[1]))
    averaged = -0.4 * np.log(1 - of_1 @ [0.7, 0.3]) - 0.6 * np.log(of_1 @ [0.2, 0.8])
    assert empirical_loss(log_odds, batch, chance, 1).numpy() == pytest.approx([exact], rel=1e-5)
    assert printed_loss(log_odds, batch, chance, 1).numpy() == pytest.approx([averaged], rel=1e-5)
    assert averaged < exact


def test_each_pass_uses_every_record_once():
    draws = Draws(seed=0, n=20_000, noise=True)
    records, noise = draws.next_block()
    assert records.shape == noise.shape == (BLOCK, 200)
    assert (np.sort(records.ravel()) == np.arange(20_000)).all()
    later, other = draws.next_block()
    assert (np.sort(later.ravel()) == np.arange(20_000)).all() and (later != records).any()
    # Six standard errors of a mean, and of a correlation, of 20,000 normal numbers.
    assert abs(noise.mean()) < 6 / np.sqrt(20_000)
    assert abs(np.corrcoef(noise.ravel(), other.ravel())[0, 1]) < 6 / np.sqrt(20_000)


def test_small_samples_are_their_own_minibatch():
    records, _ = Draws(seed=0, n=7, noise=False).next_block()
    assert records.shape == (BLOCK, 7) and (np.sort(records, axis=1) == np.arange(7)).all()


def test_one_thread():
    assert tf.config.threading.get_intra_op_parallelism_threads() == THREADS
    assert tf.config.threading.get_inter_op_parallelism_threads() == THREADS
