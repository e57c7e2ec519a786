"""Players that are networks: what they learn against the optimum over all mechanisms, on the line and in space."""

import dataclasses
import re
import time
import zipfile
from itertools import pairwise

import judges
import numpy as np
import pytest
import scipy
from judges import in_space

from gaplib import gaussian, leakage, mechanisms, transport
from gaplib.mechanisms import NetworkMechanism
from gaplib.models import GaussianMixture
from gaplib.training import (
    AffinePrivatizer,
    Batch,
    Game,
    NetworkAdversary,
    NeuralAdversary,
    NeuralPrivatizer,
    Sample,
    Units,
    fit_plan,
    neural,
    train,
)
from gaplib.training._tensorflow import single, tf
from gaplib.training.checkpoints import Checkpoint
from gaplib.training.defaults import NETWORKS

DATASETS = {
    1: GaussianMixture(prior=0.5, mu=3, var0=1, var1=1),
    2: GaussianMixture(prior=0.5, mu=3, var0=4, var1=1),
    3: GaussianMixture(prior=0.75, mu=3, var0=1, var1=1),
    4: GaussianMixture(prior=0.75, mu=3, var0=4, var1=1),
}
RNG = np.random.default_rng(0)
QUICK = dict(loss="0-1", steps=30, progress=False)


def network(**given):
    """A mechanism with random weights."""
    settings = dict(center=np.asarray(1.0), scale=2.0, sees_y=True, noise=0) | given
    d, moves = np.asarray(settings["center"]).size, settings.pop("moves", 1)
    sizes = [d + settings["sees_y"] + settings["noise"], 8, 8, moves * (1 + d)]
    weights = tuple(RNG.normal(size=shape) / shape[0] for shape in pairwise(sizes))
    return NetworkMechanism(weights, tuple(RNG.normal(size=size) for size in sizes[1:]), **settings)


# The mechanism


SETTINGS = {"noise": 0, "moves": 1, "jitter": 0.0}
CASES = [
    dict(),
    dict(sees_y=False, noise=2),
    dict(sees_y=False, noise=1, moves=2, jitter=0.3),
    dict(moves=3, share=0.5),
    dict(center=np.array([1.0, -1, 0]), moves=2),
    dict(moves=2, jitter=0.5),
    dict(center=np.array([1.0, -1, 0]), moves=2, jitter=0.5),
]


@pytest.mark.parametrize("case", CASES)
def test_what_is_trained_is_what_is_released(case):
    """The engine's release and the mechanism's outcomes, by TensorFlow and by NumPy."""
    kind = "pdd" if case.get("sees_y", True) else "pdi"
    vector = np.shape(case.get("center", 0.0))
    privatizer = NeuralPrivatizer(8, 2, *(case.get(name, default) for name, default in SETTINGS.items()))
    privatizer = privatizer.for_vectors(*vector) if vector else privatizer
    x, y = RNG.normal(2, 3, (50, *vector)), RNG.integers(0, 2, 50)
    sample = Sample(x, y, x[:0], y[:0])
    units = privatizer.units(sample)
    parameters = privatizer.start(1.0, RNG) + RNG.normal(size=privatizer.start(1.0, RNG).size)
    constants = privatizer.constants(sample, units, kind, 1.0)
    batch = privatizer.encoder(sample, units, np.random.default_rng(1))(np.arange(50)[np.newaxis])
    batch = batch._replace(x=((x - units.center) / units.unit)[np.newaxis])  # vectors are seen blurred
    released = privatizer.release(
        single([parameters]), tuple(single([part]) for part in constants), Batch(*map(single, batch))
    )
    mechanism = privatizer.mechanism(parameters, constants, units)
    _, probability = mechanism.outcomes(x, y)
    trained = np.asarray(units.center) + units.unit * released.outcomes.numpy()[0]
    still, _ = dataclasses.replace(mechanism, jitter=0.0).outcomes(x, y)
    if not mechanism.noise:  # the noise is another one
        shake = mechanism.jitter * mechanism.scale * batch.noise[0].reshape(50, 1, *vector) if mechanism.jitter else 0
        # Single precision, in sums of a few dozen terms.
        np.testing.assert_allclose(still + shake, trained[:, 1:], rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(probability, released.probability.numpy()[0, :, 1:], atol=1e-4)
    np.testing.assert_allclose(released.probability.numpy().sum(axis=2), 1, atol=1e-5)
    squares = ((still - x[:, np.newaxis]) ** 2).reshape(50, still.shape[1], -1).sum(axis=2)
    squares += (mechanism.jitter * mechanism.scale) ** 2 * mechanism.center.size
    assert mechanism.distortion(x, y) == pytest.approx((probability * squares).sum(axis=1).mean())


@pytest.mark.parametrize("case", CASES)
def test_releases_occur_as_often_as_they_should(case):
    mechanism, n = network(**case), 20_000
    x, y = RNG.normal(size=(n, *mechanism.center.shape)), RNG.integers(0, 2, n)
    release = mechanism.privatize(x, y, 0)
    _, probability = mechanism.outcomes(x, y)
    stays = (release == x).reshape(n, -1).all(axis=1).mean()
    # Five standard errors.
    assert stays == pytest.approx(1 - probability.sum(axis=1).mean(), abs=5 * np.sqrt(0.25 / n))
    squares = ((release - x) ** 2).reshape(n, -1).sum(axis=1)
    assert squares.mean() == pytest.approx(mechanism.distortion(x, y), abs=5 * squares.std() / np.sqrt(n))
    np.testing.assert_array_equal(release, mechanism.privatize(x, y, 0))
    assert 0.1 < stays < 0.9 and (release != mechanism.privatize(x, y, 1)).any()


def test_without_y_the_release_does_not_depend_on_it():
    mechanism, x = network(sees_y=False, noise=1), RNG.normal(size=1000)
    np.testing.assert_array_equal(
        mechanism.privatize(x, np.zeros(1000, int), 0), mechanism.privatize(x, np.ones(1000, int), 0)
    )


def test_jitter_blurs_what_moves_and_nothing_else():
    still, n = network(moves=2), 20_000
    mechanism = dataclasses.replace(still, jitter=0.3)
    x, y = RNG.normal(size=n), RNG.integers(0, 2, n)
    points, probability = mechanism.outcomes(x, y)
    sharp, same = still.outcomes(x, y)
    np.testing.assert_array_equal(probability, same)
    shaken = (points - sharp)[:, 0] / (0.3 * mechanism.scale)
    assert scipy.stats.kstest(shaken, "norm").pvalue > 1e-3
    stays = mechanism.privatize(x, y, 0) == x
    np.testing.assert_array_equal(stays, still.privatize(x, y, 0) == x)
    # In expectation it costs its variance where a record moves.
    cost = probability.sum(axis=1).mean() * (0.3 * mechanism.scale) ** 2
    assert mechanism.distortion(x, y) == pytest.approx(still.distortion(x, y) + cost)


def test_far_records_are_released_too():
    release = network().privatize([1e300, -1e300, 0], [0, 1, 1], 0)
    assert np.isfinite(release).all()


@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_the_unit_of_the_records_makes_no_difference(unit):
    """Single precision knows no such numbers."""
    usual, x, y = network(sees_y=False, jitter=0.2), RNG.normal(size=1000), RNG.integers(0, 2, 1000)
    other = dataclasses.replace(usual, center=usual.center * unit, scale=usual.scale * unit)
    np.testing.assert_allclose(other.privatize(x * unit, y, 0) / unit, usual.privatize(x, y, 0), atol=1e-5)


def test_a_million_records_a_second():
    mechanism = network(sees_y=True)
    width = NETWORKS.privatizer.width
    mechanism = NetworkMechanism(
        (RNG.normal(size=(2, width)), RNG.normal(size=(width, width)), RNG.normal(size=(width, 2))),
        (np.zeros(width), np.zeros(width), np.zeros(2)),
        np.asarray(0.0),
        1.0,
        True,
        0,
    )
    x, y = DATASETS[1].sample(10**6, seed=0)
    seconds = []
    for _ in range(3):  # the smallest: busy neighbours can only add to it
        start = time.process_time()
        mechanism.privatize(x, y, 0)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 1


@pytest.mark.parametrize("case", CASES)
def test_networks_are_kept(case, tmp_path):
    mechanism = network(**case)
    mechanism.save(tmp_path / "network.npz")
    loaded = mechanisms.load(tmp_path / "network.npz")
    x, y = RNG.normal(size=(500, *mechanism.center.shape)), RNG.integers(0, 2, 500)
    np.testing.assert_array_equal(loaded.privatize(x, y, 3), mechanism.privatize(x, y, 3))


@pytest.mark.parametrize("name", ["weights_1", "biases_0", "center", "sees_y", "noise", "share", "jitter"])
def test_a_damaged_network_is_refused(name, tmp_path):
    path = tmp_path / "network.npz"
    network().save(path)
    with zipfile.ZipFile(path) as archive:
        content = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    for other in (None, content["header.npy"], content["weights_0.npy"]):
        changed = {key: value for key, value in (content | {f"{name}.npy": other}).items() if value is not None}
        with zipfile.ZipFile(path, "w") as archive:
            for key, value in changed.items():
                archive.writestr(key, value)
        if other is None and name in ("share", "jitter"):
            continue  # one is meant
        with pytest.raises(ValueError, match="path must be that of"):
            mechanisms.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(weights=()), "biases must be one for each of the 0 weights"),
        (dict(weights=(np.zeros((3, 2)),)), r"must have the shapes \(2, n\)"),
        (dict(biases=(np.zeros(3),)), r"must have the shapes \(2, n\)"),
        (dict(weights=(np.zeros((2, 3)),), biases=(np.zeros(3),)), "weights must end with 2 outputs"),
        (dict(weights=(np.full((2, 2), np.nan),)), r"weights\[0\] must be"),
        (dict(center=np.zeros((1, 1))), "center must have the shape"),
        (dict(scale=0.0), "scale must be"),
        (dict(noise=-1), "noise must be"),
        (dict(share=1.5), "share must be"),
        (dict(jitter=-0.1), "jitter must be"),
    ],
)
def test_a_network_is_checked(change, message):
    good = dict(
        weights=(np.zeros((2, 2)),), biases=(np.zeros(2),), center=np.asarray(0.0), scale=1.0, sees_y=True, noise=0
    )
    NetworkMechanism(**good)
    with pytest.raises(ValueError, match=message):
        NetworkMechanism(**good | change)


def test_records_must_fit_the_network():
    mechanism = network(center=np.zeros(3))
    for x in (np.zeros(4), np.zeros((4, 2)), np.zeros((3, 3))):
        with pytest.raises(ValueError, match=r"x must have the shape \(4, 3\)"):
            mechanism.privatize(x, [0, 1, 0, 1], 0)


# Games


def test_vectors_are_played_by_networks():
    x, y, _ = in_space(3, 300, 0)
    game = Game((x, y), 1, test=(x[:10], y[:10]))
    assert game.setting.privatizer == NeuralPrivatizer(noise=0, moves=1, jitter=0.0, dimension=3)
    assert game.setting.adversary == NeuralAdversary(dimension=3)
    (result,) = train([game], **QUICK)
    assert result.mechanism.privatize(x, y, 0).shape == (300, 3)
    assert result.belief(x).shape == (300,) and 0 <= result.test_accuracy <= 1
    assert np.isnan(result.exploitability)  # for numbers only
    assert result.distortion <= 1.005


@pytest.mark.parametrize("player", [dict(privatizer=AffinePrivatizer()), dict(adversary=NetworkAdversary())])
def test_players_of_numbers_refuse_vectors(player):
    x, y, _ = in_space(3, 100, 0)
    (name,) = player
    with pytest.raises(ValueError, match=rf"{name} must be one for vectors .* got {re.escape(repr(player[name]))}"):
        Game((x, y), 1, **player)


@pytest.mark.parametrize(
    "player", [dict(privatizer=NeuralPrivatizer(dimension=2)), dict(adversary=NeuralAdversary(dimension=2))]
)
def test_players_of_vectors_refuse_numbers(player):
    (name,) = player
    with pytest.raises(ValueError, match=f"{name} must leave its dimension out"):
        Game((np.arange(10.0), np.arange(10) % 2), 1, **player)


def test_records_and_test_records_must_be_alike():
    x, y, _ = in_space(3, 100, 0)
    for test in ((x[:, :2], y), (x[:, 0], y)):
        with pytest.raises(ValueError, match="test must hold records like those of source"):
            Game((x, y), 1, test=test)
    for records in (x[:, :, np.newaxis], x[:, :0]):
        with pytest.raises(ValueError, match=r"source must be a pair of arrays of the same length, of shapes \(n,\)"):
            Game((records, y), 1)


@pytest.mark.slow
def test_units_of_vectors_do_not_matter():
    x, y, _ = in_space(2, 400, 0)
    one, other = train([Game((x, y), 1), Game((1000 * x + 7, y), 1e6)], **QUICK)
    assert other.distortion == pytest.approx(1e6 * one.distortion, rel=1e-2)


@pytest.mark.slow
def test_networks_train_to_the_same_bits():
    game = Game(DATASETS[1], 1, privatizer=NeuralPrivatizer(8), adversary=NeuralAdversary(8), n=500)
    first, second = (train([game], **QUICK)[0] for _ in range(2))
    for one, other in zip(first.mechanism.weights, second.mechanism.weights):
        np.testing.assert_array_equal(one, other)
    (beside, _) = train(
        [game, Game(DATASETS[2], 3, privatizer=NeuralPrivatizer(8), adversary=NeuralAdversary(8))], **QUICK
    )
    assert beside.distortion == pytest.approx(first.distortion, rel=1e-3)  # rounding, that thirty steps amplify


@pytest.mark.slow
def test_the_other_players_may_play_against_a_network():
    games = [
        Game(DATASETS[1], 1, privatizer=NeuralPrivatizer(8), adversary=NetworkAdversary(), n=1000),
        Game(DATASETS[1], 1, adversary=NeuralAdversary(8), n=1000),
        Game(DATASETS[1], 1, "pdi", privatizer=NeuralPrivatizer(8, noise=2, moves=3), n=1000),
    ]
    for result in train(games, **QUICK):
        assert result.distortion <= 1.005 and np.isfinite(result.exploitability)


def test_no_slope_as_printed():
    with pytest.raises(ValueError, match="as_printed must be False under 0-1 loss"):
        train([Game(DATASETS[1], 1)], loss="0-1", as_printed=True)
    with pytest.raises(ValueError, match="alpha must be left out under 0-1"):
        train([Game(DATASETS[1], 1)], loss="0-1", alpha=2)


# What is learned. Bars are what the issue of such players asks for: means are nearer.


@pytest.fixture(scope="module")
def on_the_line():
    """A game of each dataset whose optimum is above the prior, where Y is seen."""
    players = dict(privatizer=NeuralPrivatizer())
    return train([Game(DATASETS[n], D, **players) for n, D in ((1, 3), (2, 3), (3, 1), (4, 3))], loss="0-1")


@pytest.mark.slow
def test_the_optimum_over_all_mechanisms_is_near(on_the_line):
    gaps = []
    for result in on_the_line:
        model, D = result.game.source, result.game.D
        low, high = judges.on_the_line(model, result.mechanism)
        assert high - low < 0.001
        gaps.append(high - transport.optimal_pdd(model, D).value)
        assert gaps[-1] > -0.001  # the optimum is one, but for the bins and what the budget allows
    assert max(gaps) < 0.015 and np.mean(gaps) < 0.01, gaps


@pytest.mark.slow
def test_no_member_of_the_paper_s_family_comes_near(on_the_line):
    for result in on_the_line:
        _, high = judges.on_the_line(result.game.source, result.mechanism)
        assert high < gaussian.optimal_affine(result.game.source, result.game.D).value - 0.02


@pytest.mark.slow
def test_networks_keep_the_budget(on_the_line):
    for result in on_the_line:
        x, y = result.game.source.sample(22_000, 0)
        spent = result.mechanism.distortion(x[:20_000], y[:20_000])
        assert spent == pytest.approx(result.distortion) and 0.97 * result.game.D < spent <= 1.005 * result.game.D


@pytest.mark.slow
def test_the_released_records_say_the_same(on_the_line):
    """The formula of the gates against a release that is drawn."""
    for result in on_the_line:
        model = result.game.source
        x, y = model.sample(200_000, seed=9)
        release = result.mechanism.privatize(x, y, 1)
        spent = ((release - x) ** 2).mean()
        # Three standard errors of the squares, and of the sample that was trained on.
        noise = ((release - x) ** 2).std() * (1 / np.sqrt(x.size) + 1 / np.sqrt(20_000))
        assert spent == pytest.approx(result.distortion, abs=3 * noise)
        _, high = judges.on_the_line(model, result.mechanism)
        right = ((result.belief(release) > 0.5) == (y == 1)).mean()
        assert right < high + 3 * np.sqrt(0.25 / x.size)  # no adversary is better


def test_a_gate_far_beyond_reach_is_pulled_back():
    bound, count = neural.WITHIN_REACH, 3
    log_odds = tf.constant([[[-2.0 * bound], [bound - 1], [bound + 1]]])
    with tf.GradientTape() as tape:
        tape.watch(log_odds)
        same = neural._within_reach(log_odds)
        objective = tf.reduce_sum(5 * same)
    np.testing.assert_array_equal(same, log_odds)
    pull = 5 + 2 * neural.PULL / count * np.array([-bound, 0, 1])
    np.testing.assert_allclose(tf.squeeze(tape.gradient(objective, log_odds)), pull, rtol=1e-6)


def test_each_seed_begins_with_weights_of_its_own():
    games = [Game(DATASETS[1], 3, privatizer=NeuralPrivatizer(8), n=500)] * 2
    one, other = (r.mechanism.weights[0] for r in train(games, loss="0-1", seed=[0, 1], steps=1))
    assert np.abs(one - other).max() > 0.1


@pytest.mark.slow
def test_no_start_ends_with_one_kind_alone_moved():
    """With louder first moves and gates out of reach, one start of eight ended .14 above the optimum.

    Twelve starts end .016 to .025 above it after so few steps.
    """
    model, D = DATASETS[1], 6
    game = Game(model, D, privatizer=NeuralPrivatizer())
    for result in train([game] * 8, loss="0-1", seed=range(8), steps=1000):
        _, high = judges.on_the_line(model, result.mechanism)
        assert high < transport.optimal_pdd(model, D).value + 0.04, result.seed


def test_under_zero_one_loss_the_affine_family_finds_its_map_optimum():
    games = [Game(DATASETS[n], D) for n, D in ((1, 4), (2, 4), (3, 3), (3, 4), (4, 5), (4, 6))]
    for result in train(games, loss="0-1"):
        reached = leakage.map_accuracy(result.game.source, result.mechanism)
        best = gaussian.optimal_affine(result.game.source, result.game.D).value
        # As far as order 8 comes (.001, chapter 13), and what 20,000 records cannot tell (.002).
        assert reached < best + 0.004, result.game.label
        assert result.distortion <= 1.005 * result.game.D


@pytest.mark.slow
def test_without_y_the_optimum_is_near():
    """With far means it is a fold, with near ones nearly one number for a whole interval."""
    near = GaussianMixture(prior=0.5, mu=1, var0=1, var1=1)
    games = [Game(m, D, "pdi", privatizer=NeuralPrivatizer()) for m, D in ((DATASETS[1], 3), (near, 0.1), (near, 0.3))]
    for result in train(games, loss="0-1"):
        model, D = result.game.source, result.game.D
        assert result.mechanism.jitter > 0 and result.mechanism.noise == 0  # nobody asked for it
        _, high = judges.on_the_line(model, result.mechanism)
        assert high < transport.optimal_pdi(model, D, gap=1e-3).value + 0.02
        assert result.distortion <= 1.005 * D


def test_a_network_can_be_fitted_to_a_plan():
    model, D = DATASETS[1], 3
    x, y = model.sample(2000, seed=0)
    mechanism = fit_plan(x, y, D)
    assert mechanism.distortion(x, y) <= D
    _, high = judges.on_the_line(model, mechanism)
    # Measured .037 above the optimum with 3,000 records: no adversary finds what the fit leaves. The best affine
    # mechanism is .15 above.
    assert high < transport.optimal_pdd(model, D).value + 0.06
    with pytest.raises(ValueError, match="privatizer must have one move, no noise and no jitter"):
        fit_plan(x, y, D, privatizer=NeuralPrivatizer(moves=2))
    with pytest.raises(ValueError, match="privatizer must have one move, no noise and no jitter"):
        fit_plan(x, y, D, privatizer=NeuralPrivatizer(jitter=0.1))


def test_a_plan_of_vectors_can_be_fitted():
    x, y, axis = in_space(2, 400, 0)
    mechanism = fit_plan(x, y, 3, steps=300)
    moved = mechanism.privatize(x, y, 0) - x
    assert (moved**2).sum(axis=1).mean() == pytest.approx(3, rel=0.2)
    assert ((moved @ axis) ** 2).mean() > 0.9 * (moved**2).sum(axis=1).mean()  # towards the others


def test_a_checkpoint_of_networks_goes_on_to_the_same_bits(monkeypatch, tmp_path):
    game = Game(DATASETS[1], 1, privatizer=NeuralPrivatizer(8), adversary=NeuralAdversary(8), n=500)
    settings = dict(loss="0-1", steps=300, progress=False)
    (whole,) = train([game], **settings)
    saved = Checkpoint.save

    def save_and_stop(checkpoint, moment):
        saved(checkpoint, moment)
        raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "is_due", lambda _: True)
    monkeypatch.setattr(Checkpoint, "save", save_and_stop)
    with pytest.raises(KeyboardInterrupt):
        train([game], **settings, checkpoint=tmp_path)
    monkeypatch.setattr(Checkpoint, "save", saved)
    (resumed,) = train([game], **settings, checkpoint=tmp_path)
    for one, other in zip(whole.mechanism.weights, resumed.mechanism.weights):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_in_space_the_optimum_is_near():
    """Read by fresh attackers that train on new records."""
    d, D, n = 8, 3, 20_000
    x, y, _ = in_space(d, 100_000, 0)  # with few records the players learn these by heart
    (result,) = train([Game((x, y), D)], loss="0-1")
    right, across = judges.attacked(result.mechanism, d, n)
    best = transport.optimal_pdd(DATASETS[1], D).value  # across the axis nothing tells Y apart
    error = np.sqrt(0.25 / n)
    assert best - 3 * error < right < best + 0.02 + 3 * error
    assert result.distortion <= 1.005 * D
    assert across < 0.02 * D  # what is wasted


@pytest.mark.slow
def test_in_space_both_values_of_y_are_moved():
    """Gates that one of them closes at first stay closed for long, or for good: then only the other is hidden."""
    x, y, _ = in_space(16, 20_000, 0)
    (result,) = train([Game((x, y), 3)], loss="0-1", steps=300, progress=False)
    _, probability = result.mechanism.outcomes(x, y)
    # The optimum moves about half of each. With a start that moves at random it was .03 of one after so many steps.
    assert min(probability[y == j].sum(axis=1).mean() for j in (0, 1)) > 0.2


# Starts from what was learned


@pytest.mark.parametrize("case", [case for case in CASES if "share" not in case])
def test_a_learned_mechanism_can_be_started_from(case):
    """In units of another game too."""
    mechanism = network(**case)
    d, moves = mechanism.center.size, case.get("moves", 1)
    privatizer = NeuralPrivatizer(8, 2, mechanism.noise, moves, dimension=d if mechanism.center.ndim else None)
    units = Units(mechanism.center + 2.0, 1.7)
    jitter = mechanism.jitter * mechanism.scale / units.unit
    constants = np.array([float(mechanism.sees_y)]), np.array([jitter])
    again = privatizer.mechanism(privatizer.parameters_of(mechanism, units), constants, units)
    x, y = RNG.normal(size=(50, *mechanism.center.shape)), RNG.integers(0, 2, 50)
    for one, other in zip(mechanism.outcomes(x, y), again.outcomes(x, y)):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)  # single precision


def test_a_start_is_checked():
    start, models = network(), DATASETS[1]
    for settings, message in (
        (dict(), "start must be left out where privatizer is no NeuralPrivatizer"),
        (dict(privatizer=NeuralPrivatizer()), r"start must have layers of the shapes .* got \[\(2, 8\)"),
        (dict(privatizer=NeuralPrivatizer(8), kind="pdi"), "start must have layers"),
    ):
        with pytest.raises(ValueError, match=message):
            train([Game(models, 1, start=start, **settings)], **QUICK)
    with pytest.raises(TypeError, match="start must be"):
        Game(models, 1, privatizer=NeuralPrivatizer(), start=1)


def test_a_plan_needs_both_values():
    with pytest.raises(ValueError, match="y must hold both values"):
        fit_plan(np.arange(4.0), np.ones(4, int), 1)
