"""Players that are networks: for numbers and vectors, with no family of mechanisms in mind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gaplib import _checks
from gaplib.mechanisms import NetworkMechanism
from gaplib.training import networks
from gaplib.training._tensorflow import tf
from gaplib.training.encodings import PrivatizerOfNumbers
from gaplib.training.protocols import Adversary, Batch, Release, Units
from gaplib.training.samples import Sample

SPREAD = 3.0  # the standard deviation of records in units of the game
# How fast the privatizer's weights move, in those of the adversary. Where both are equally fast, the privatizer profits
# from what the adversary has not seen yet, and piles releases up there.
PACE = 0.3
# How steep the first layers are, for records of standard deviation one. On the line the optimum has edges, and so has
# the posterior given its release; a network that begins smooth takes long to form them. In space it must begin smooth:
# what it does across the direction that tells Y apart is random at first, is hardly unlearned, and gives records away.
PRIVATIZER_GAIN, ADVERSARY_GAIN = 1.5, 3.0
PRIVATIZER_GAIN_IN_SPACE, ADVERSARY_GAIN_IN_SPACE = 0.3, 1.0
# What the last layer says at first, as a share of what the others would let it: next to nothing. A random move tells Y
# apart where it hid nothing, so gates would close, and those of one value of Y for good: the other value then bears all
# of the moving, far from the optimum. Not quite nothing, or moves remain alike.
FIRST_WORD = 0.03
# What the network says about moving or staying counts so many times as log odds: gates then close within a short way,
# and where the optimum does not move a record, nothing is spent.
GATE_GAIN = 6.0
# Log odds of a gate beyond this bound are pulled back, by this factor times the mean square of what is beyond. A low
# order opens nearly all gates, as far as it can, and a higher one has to close those of records without a partner: out
# where the odds are millions to one there is no slope to do it by.
WITHIN_REACH, PULL = 6.0, 0.01
# In space both players would learn a small sample by heart. So each minibatch has its records moved at random, in each
# coordinate by a share of its standard deviation: so many times the root of dimensions by records, but no more than the
# second number. With many records less does, and what is blurred is not quite what is there.
BLUR = (10.0, 0.3)
# Numbers of noise and moves, and jitter. Where Y is not seen, the optimum brings records of many places together, even
# all of an interval at one number. A network does so only nearly, and what it brings together tells Y by its order; the
# narrower it is, the further an adversary lags behind in learning that. So it is not to be narrower than the jitter.
SUITS = {"pdd": (0, 1, 0.0), "pdi": (0, 2, 0.2)}


@dataclass(frozen=True)
class NeuralPrivatizer(PrivatizerOfNumbers):
    """A network that says how far a record may move, and with what probability it does: a `NetworkMechanism`.

    A mechanism that leaves most records alone and moves some far has to decide which; record plus move cannot, so a
    gate stands beside the move, and the loss is averaged over both outcomes exactly. While it trains, the
    distortion is that of the minibatches, and in the end that of all records.

    Where a mechanism sees Y, the optimum on the line is deterministic, and the network takes no noise. Where it does
    not, the optimum brings records of many places together. A network does so only nearly, and the order of what it
    brings together would tell Y; so it blurs each move by a little normal noise, the jitter.

    In many dimensions a game needs records more than steps, for both players learn a small sample by heart. Records are
    therefore moved a little at random while the network trains, the more the fewer there are. Chapter 20 of the book
    records how near all of this comes to the optimum.

    A game can end far from the optimum. Judge what was learned by a fresh attacker, and play several seeds.

    Parameters
    ----------
    width : int from 1 to 10,000
        Units of each hidden layer.
    depth : int from 1 to 10
        Number of hidden layers.
    noise : int from 0 to 1,000, optional
        How many numbers of normal noise the network takes with each record; 0 if not given.
    moves : int from 1 to 100, optional
        How many moves it may choose between, each with a probability of its own. If not given, 1 where Y is seen, and 2
        where it is not.
    jitter : float from 0 to 1, optional
        The standard deviation of the normal noise in every move, for vectors its root mean squared length, in units of
        the root of the budget, or of the standard deviation of the records if that is less. At most its square is the
        share of the budget that is spent on it. If not given, 0 where Y is seen, and .2 where it is not.
    dimension : int, optional
        What `for_vectors` fills in: the length of records that are vectors.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not as described.
    """

    width: int = 32
    depth: int = 2
    noise: int | None = None
    moves: int | None = None
    jitter: float | None = None
    dimension: int | None = None

    def __post_init__(self) -> None:
        _check_network(self)
        if self.noise is not None:
            _checks.integer("noise", self.noise, 0, 1000)
        if self.moves is not None:
            _checks.integer("moves", self.moves, 1, 100)
        if self.jitter is not None:
            _checks.real("jitter", self.jitter, 0, 1)

    @property
    def _shape(self) -> tuple[int, int, int]:
        """The length of a record, and how many numbers of noise and moves there are."""
        d, of_kind = self.dimension or 1, self.for_kind("pdd")
        return d, of_kind.noise or 0, of_kind.moves or 1

    @property
    def _layers(self) -> networks.Layers:
        d, noise, moves = self._shape
        return networks.layers_of(d + 1 + noise, self.width, self.depth, moves * (1 + d))

    def for_kind(self, kind: str) -> NeuralPrivatizer:
        """Take the noise, the moves and the jitter that suit this kind, where they were not given.

        Parameters
        ----------
        kind : {"pdd", "pdi"}
            Whether Y is seen.

        Returns
        -------
        NeuralPrivatizer

        Raises
        ------
        TypeError, ValueError
            If `kind` is not one of the two.
        """
        _checks.choice("kind", kind, ("pdd", "pdi"))
        noise, moves, jitter = SUITS[kind]
        return replace(
            self,
            noise=noise if self.noise is None else self.noise,
            moves=moves if self.moves is None else self.moves,
            jitter=jitter if self.jitter is None else self.jitter,
        )

    def for_vectors(self, d: int) -> NeuralPrivatizer:
        """Take vectors of this length."""
        return replace(self, dimension=d)

    def encoder(self, sample: Sample, units: Units, noise: np.random.Generator) -> Callable[[np.ndarray], Batch]:
        """Return the function that takes records one by one, and draws for each numbers of noise, and of jitter."""
        x = ((sample.x - units.center) / units.unit).astype(np.float32)
        y = sample.y.astype(np.float32)
        d, numbers, _ = self._shape
        numbers += d if self.jitter else 0
        factor, most = BLUR
        blur = np.float32(min(factor * np.sqrt(d / len(y)), most) * SPREAD / np.sqrt(d))

        def encode(rows: np.ndarray) -> Batch:
            each = np.full((len(rows), 1), 1 / rows.shape[1])
            taken = x[rows]
            if self.dimension:
                taken = taken + blur * noise.standard_normal(taken.shape, np.float32)
            return Batch(taken, y[rows], noise.standard_normal((*rows.shape, numbers), np.float32), each)

        return encode

    def constants(self, sample: Sample, units: Units, kind: str, budget: float) -> tuple[np.ndarray, ...]:
        """Return 1 if the network sees Y, and else 0; and the standard deviation of the jitter of each coordinate."""
        useful = min(budget, SPREAD**2)  # the variance of the records, for which they can all be released alike
        jitter = (self.jitter or 0.0) * np.sqrt(useful / self._shape[0])
        return np.array([float(kind == "pdd")]), np.array([jitter])

    def start(self, budget: float, random: np.random.Generator) -> np.ndarray:
        """Draw weights that move every second record, by next to nothing."""
        gain = PRIVATIZER_GAIN_IN_SPACE if self.dimension else PRIVATIZER_GAIN
        layers = networks.start(self._layers, random, gain)
        if not self.dimension:  # on the line bends can lie evenly
            weight, bias = layers[0]
            weight[0] = gain * np.where(np.arange(self.width) % 2, 1, -1)
            bias[:] = gain * random.permutation((np.arange(self.width) + 0.5) / self.width * 3 - 1.5)
        layers[-1][0][:] *= FIRST_WORD
        return networks.flat(layers) / PACE

    def release(self, parameters: tf.Tensor, constants: tuple[tf.Tensor, ...], batch: Batch) -> Release:
        """Return for each record that it stays, and its moves."""
        sees_y, jitter = constants
        _, noise, moves = self._shape
        x = batch.x if self.dimension else batch.x[..., tf.newaxis]
        y = (2 * batch.y - 1) * sees_y
        inputs = tf.concat([x / SPREAD, y[..., tf.newaxis], batch.noise[..., :noise]], axis=2)
        outputs = networks.apply(PACE * parameters, self._layers, inputs)
        log_odds, move = _within_reach(GATE_GAIN * outputs[..., :moves]), SPREAD * outputs[..., moves:]
        probability = tf.nn.softmax(tf.concat([tf.zeros_like(log_odds[..., :1]), log_odds], axis=2))
        if self.dimension:
            x = x[:, :, tf.newaxis]
            move = tf.reshape(move, [*move.shape[:2], moves, self.dimension])
        if self.jitter:
            shake = jitter[:, tf.newaxis] * batch.noise[..., noise:]
            move += shake[:, :, tf.newaxis] if self.dimension else shake
        return Release(tf.concat([x, x + move], axis=2), probability)

    def distortion(self, parameters: tf.Tensor, constants: tuple[tf.Tensor, ...]) -> None:
        """Return None: it has no formula."""
        return None

    def mechanism(self, parameters: np.ndarray, constants: tuple[np.ndarray, ...], units: Units) -> NetworkMechanism:
        """Return the `NetworkMechanism`; where it does not see Y, without that input."""
        sees_y, jitter = constants
        d, noise, _ = self._shape
        layers = networks.unflat(PACE * parameters, self._layers)
        if not sees_y[0]:
            weight, bias = layers[0]
            layers[0] = np.delete(weight, d, axis=0), bias
        layers[-1] = tuple(part * self._gain for part in layers[-1])
        weights, biases = zip(*layers, strict=True)
        seen, scale = bool(sees_y[0]), SPREAD * units.unit
        return NetworkMechanism(
            weights, biases, np.asarray(units.center), scale, seen, noise, jitter=float(jitter[0]) / SPREAD
        )

    def parameters_of(self, mechanism: NetworkMechanism, units: Units) -> np.ndarray:
        """Return the parameters with which this network is a learned one, but for its `share` and its `jitter`.

        Parameters
        ----------
        mechanism : NetworkMechanism
        units : Units
            Of the game to come, which need not be those of the game that it was learned in.

        Returns
        -------
        numpy.ndarray, shape (P,)

        Raises
        ------
        ValueError
            If its layers are others.
        """
        d, _, _ = self._shape
        layers = [(w.astype(float), b.astype(float)) for w, b in zip(mechanism.weights, mechanism.biases, strict=True)]
        weight, bias = layers[0]
        scale = SPREAD * units.unit
        away = np.reshape((units.center - mechanism.center) / mechanism.scale, -1)
        weight, bias = weight.copy(), bias + away @ weight[:d]
        weight[:d] *= scale / mechanism.scale
        if not mechanism.sees_y:
            weight = np.insert(weight, d, 0.0, axis=0)
        layers[0] = weight, bias
        shapes = [weight.shape for weight, _ in layers]
        if shapes != self._layers or mechanism.center.size != d:
            raise ValueError(f"start must have layers of the shapes {self._layers}, got {shapes}")
        moves = np.where(np.arange(shapes[-1][1]) < self._shape[2], 1.0, mechanism.scale / scale)
        layers[-1] = tuple(part * moves / self._gain for part in layers[-1])
        return networks.flat(layers) / PACE

    @property
    def _gain(self) -> np.ndarray:
        """How often each output counts."""
        d, _, moves = self._shape
        return np.repeat([GATE_GAIN, 1.0], [moves, moves * d])

    def reduced(self, mechanism: NetworkMechanism, share: float) -> NetworkMechanism:  # type: ignore[override]
        """Move each record with this share of its probabilities."""
        return replace(mechanism, share=mechanism.share * share)


@dataclass(frozen=True)
class NeuralAdversary(Adversary):
    """A network from the release to the log odds of Y = 1.

    Parameters
    ----------
    width : int from 1 to 10,000
        Units of each hidden layer.
    depth : int from 1 to 10
        Number of hidden layers.
    dimension : int, optional
        What `for_vectors` fills in: the length of releases that are vectors.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not as described.
    """

    width: int = 48
    depth: int = 2
    dimension: int | None = None

    def __post_init__(self) -> None:
        _check_network(self)

    @property
    def _layers(self) -> networks.Layers:
        return networks.layers_of(self.dimension or 1, self.width, self.depth, 1)

    def for_vectors(self, d: int) -> NeuralAdversary:
        """Take vectors of this length."""
        return replace(self, dimension=d)

    def start(self, random: np.random.Generator) -> np.ndarray:
        """Draw weights."""
        gain = ADVERSARY_GAIN_IN_SPACE if self.dimension else ADVERSARY_GAIN
        return networks.flat(networks.start(self._layers, random, gain))

    def log_odds(self, parameters: tf.Tensor, x_hat: tf.Tensor) -> tf.Tensor:
        """Send each release through the network."""
        inputs = x_hat if self.dimension else x_hat[..., tf.newaxis]
        return networks.apply(parameters, self._layers, inputs, tf.nn.relu)[..., 0]


@tf.custom_gradient
def _within_reach(log_odds: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
    """Return the log odds as they are; what descends them also descends the pull on those beyond the bound."""
    beyond = log_odds - tf.clip_by_value(log_odds, -WITHIN_REACH, WITHIN_REACH)
    of_game = float(np.prod(log_odds.shape[1:]))
    return tf.identity(log_odds), lambda slope: slope + 2 * PULL / of_game * beyond


def _check_network(player: NeuralPrivatizer | NeuralAdversary) -> None:
    _checks.integer("width", player.width, 1, 10_000)
    _checks.integer("depth", player.depth, 1, 10)
    if player.dimension is not None:
        _checks.integer("dimension", player.dimension, 1, 10_000)
