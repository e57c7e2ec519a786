"""The privatizer's side of the game: parametrized mechanisms that can be trained.

A privatizer is a frozen object without state. Its parameters are a tensor of shape (G, P), a row for each game, so
that all games are trained at once. The engine needs of it what `BinaryPrivatizer` and `AffinePrivatizer` have:

``start(D, kind)``
    The first parameters of one game, shape (P,), and the matrix that ties them, shape (P, P): the engine trains
    ``tie @ parameters``, and a PDI mechanism ties what belongs to Y=0 to what belongs to Y=1.
``release(parameters, batch)``
    The possible outcomes for each record, shape (G, R, O), and their probabilities, which must have gradients.
``distortion(parameters, law)``
    The expected distortion under the training sample, shape (G,), for the law that `law(sample)` gave.
``mechanism(parameters, unit)``
    One game's mechanism, as `gaplib.mechanisms` knows it.

A neural privatizer has one outcome per record, as the affine one; where its distortion is no formula of the
parameters, it is an average over a batch.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gaplib.mechanisms import AffineGaussian, BinaryKernel
from gaplib.training._tensorflow import tf
from gaplib.training.samples import Sample

if TYPE_CHECKING:
    from gaplib.training.engine import Batch

# (x, y) of the four cells of the binary model, in the order of BinaryKernel's parameters.
CELLS = np.array([(0, 0), (0, 1), (1, 0), (1, 1)], np.float32)


@dataclass(frozen=True)
class BinaryPrivatizer:
    """The kernel s of Section 3.2 of the paper: a two-layer network, that is, a table.

    The parameters are the log odds of s00, s01, s10, s11, so that every step leaves them probabilities.
    """

    def start(self, D: float, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Keep nine bits in ten: the adversary has something to learn, and the privatizer to decide."""
        tie = np.repeat([[1, 0, 0, 0], [0, 0, 1, 0]], 2, axis=0) if kind == "pdi" else np.eye(4)
        return np.full(4, np.log(9.0)), tie

    def law(self, sample: Sample) -> np.ndarray:
        """Return how often each of the four cells occurs in the sample."""
        return np.bincount((2 * sample.x + sample.y).astype(int), minlength=4) / sample.x.size

    def scale(self, D: float) -> float:
        """Return the unit of violations: the budget, or one flip in twenty if that is more."""
        return max(D, 0.05)

    def release(self, parameters: tf.Tensor, batch: "Batch") -> tuple[tf.Tensor, tf.Tensor]:
        """Return both outcomes and the probability of each."""
        keep = tf.sigmoid(parameters)
        x = batch.x[..., tf.newaxis]
        return tf.concat([x, 1 - x], axis=2), tf.stack([keep, tf.sigmoid(-parameters)], axis=2)

    def distortion(self, parameters: tf.Tensor, law: tf.Tensor) -> tf.Tensor:
        """Return P(Xhat != X) (Section 3.2 of the paper)."""
        return tf.reduce_sum(law * tf.sigmoid(-parameters), axis=1)

    def mechanism(self, parameters: np.ndarray, unit: float) -> BinaryKernel:
        """Return the `BinaryKernel`."""
        return BinaryKernel(*(1 / (1 + np.exp(-parameters))))


@dataclass(frozen=True)
class AffinePrivatizer:
    """The mechanism g(X, Y) of Section 4.2 of the paper; its parameters are beta0, beta1, gamma0, gamma1."""

    def start(self, D: float, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Spend half the budget, four fifths of it on noise.

        A start without noise stays without: the slope in a gamma vanishes at zero, and under alpha-loss the pure shift
        may be a saddle only.
        """
        if kind == "pdi":  # X + beta + gamma N
            tie = np.array([[1, 0, 0, 0], [-1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]])
        else:
            tie = np.eye(4)
        return np.sqrt(D) * np.array([0.3, 0.3, 0.6, 0.6]), tie

    def law(self, sample: Sample) -> np.ndarray:
        """Return the label frequencies; the affine mechanism's distortion needs no more."""
        return np.array([1 - sample.y.mean(), sample.y.mean()])

    def scale(self, D: float) -> float:
        """Return the unit of violations: the budget, or a hundredth of the variance of X (9 here) if that is more."""
        return max(D, 0.09)

    def release(self, parameters: tf.Tensor, batch: "Batch") -> tuple[tf.Tensor, tf.Tensor]:
        """Return X + (1-Y) (beta0 + gamma0 N) - Y (beta1 - gamma1 N), the only outcome once N is drawn."""
        beta0, beta1, gamma0, gamma1 = tf.split(parameters, 4, axis=1)
        shift = (1 - batch.y) * beta0 - batch.y * beta1
        scale = (1 - batch.y) * gamma0 + batch.y * gamma1
        return (batch.x + shift + scale * batch.noise)[..., tf.newaxis], tf.ones([1, 1, 1])

    def distortion(self, parameters: tf.Tensor, law: tf.Tensor) -> tf.Tensor:
        """Return E[(Xhat - X)^2] for the label frequencies of the sample."""
        beta0, beta1, gamma0, gamma1 = tf.unstack(parameters, axis=1)
        return law[:, 0] * (beta0**2 + gamma0**2) + law[:, 1] * (beta1**2 + gamma1**2)

    def mechanism(self, parameters: np.ndarray, unit: float) -> AffineGaussian:
        """Return the `AffineGaussian`; N is symmetric, so the sign of a gamma means nothing."""
        beta0, beta1, gamma0, gamma1 = (unit * parameters).tolist()
        return AffineGaussian(beta0, beta1, abs(gamma0), abs(gamma1))
