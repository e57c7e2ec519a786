"""The privatizers of the paper: a table for bits, an affine mechanism for numbers."""

import math
from dataclasses import dataclass

import numpy as np

from gaplib.mechanisms import AffineGaussian, BinaryKernel
from gaplib.training._tensorflow import tf
from gaplib.training.encodings import PrivatizerOfBits, PrivatizerOfNumbers
from gaplib.training.protocols import Batch, Release, Units
from gaplib.training.samples import Sample


@dataclass(frozen=True)
class BinaryPrivatizer(PrivatizerOfBits):
    """The kernel s of Section 3.2 of the paper: a two-layer network, that is, a table.

    The parameters are the log odds of s00, s01, s10, s11, so that every step leaves them probabilities.
    """

    def tie(self, kind: str) -> np.ndarray:
        """Return the matrix from what is trained to the log odds: a PDI mechanism keeps x as often whatever y is.

        Parameters
        ----------
        kind : {"pdd", "pdi"}

        Returns
        -------
        numpy.ndarray, shape (4, 4)
        """
        return np.repeat([[1, 0, 0, 0], [0, 0, 1, 0]], 2, axis=0) if kind == "pdi" else np.eye(4)

    def constants(self, sample: Sample, units: Units, kind: str, budget: float) -> tuple[np.ndarray, ...]:
        """Return the tie, and how often each of the four cells occurs in the sample."""
        return self.tie(kind), np.bincount((2 * sample.x + sample.y).astype(int), minlength=4) / sample.x.size

    def start(self, budget: float, random: np.random.Generator) -> np.ndarray:
        """Keep nine bits in ten: the adversary has something to learn, and the privatizer to decide."""
        return np.full(4, np.log(9.0))

    def release(self, parameters: tf.Tensor, constants: tuple[tf.Tensor, ...], batch: Batch) -> Release:
        """Return both bits for each cell: x as it is, and x flipped."""
        tie, _ = constants
        log_odds = tf.linalg.matvec(tie, parameters)
        x = batch.x[..., tf.newaxis]
        return Release(tf.concat([x, 1 - x], axis=2), tf.stack([tf.sigmoid(log_odds), tf.sigmoid(-log_odds)], axis=2))

    def distortion(self, parameters: tf.Tensor, constants: tuple[tf.Tensor, ...]) -> tf.Tensor:
        """Return P(Xhat != X) (Section 3.2 of the paper)."""
        tie, of_cell = constants
        return tf.reduce_sum(of_cell * tf.sigmoid(-tf.linalg.matvec(tie, parameters)), axis=1)

    def mechanism(self, parameters: np.ndarray, constants: tuple[np.ndarray, ...], units: Units) -> BinaryKernel:
        """Return the `BinaryKernel`."""
        tie, _ = constants
        return BinaryKernel(*(1 / (1 + np.exp(-(tie @ parameters)))))

    def reduced(self, mechanism: BinaryKernel, share: float) -> BinaryKernel:  # type: ignore[override]
        """Flip each bit with this share of its probability."""
        return BinaryKernel(*(1 - share * (1 - mechanism.keep.ravel())))


@dataclass(frozen=True)
class AffinePrivatizer(PrivatizerOfNumbers):
    """The mechanism g(X, Y) of Section 4.2 of the paper; its parameters are beta0, beta1, gamma0, gamma1."""

    def tie(self, kind: str) -> np.ndarray:
        """Return the matrix from what is trained to the parameters: a PDI mechanism is X + beta + gamma N.

        Parameters
        ----------
        kind : {"pdd", "pdi"}

        Returns
        -------
        numpy.ndarray, shape (4, 4)
        """
        return np.array([[1, 0, 0, 0], [-1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]]) if kind == "pdi" else np.eye(4)

    def constants(self, sample: Sample, units: Units, kind: str, budget: float) -> tuple[np.ndarray, ...]:
        """Return the tie and the label frequencies; the distortion depends on nothing else of the sample."""
        return self.tie(kind), np.array([1 - sample.y.mean(), sample.y.mean()])

    def start(self, budget: float, random: np.random.Generator) -> np.ndarray:
        """Spend half the budget, four fifths of it on noise.

        Where training ends does not depend on it. A gamma of zero has a slope of zero, so exact descent would keep it;
        but the noise of minibatches pushes training off.
        """
        return np.sqrt(budget) * np.array([0.3, 0.3, 0.6, 0.6])

    def release(self, parameters: tf.Tensor, constants: tuple[tf.Tensor, ...], batch: Batch) -> Release:
        """Return X + (1-Y) (beta0 + gamma0 N) - Y (beta1 - gamma1 N), the only outcome once N is drawn."""
        tie, _ = constants
        beta0, beta1, gamma0, gamma1 = tf.split(tf.linalg.matvec(tie, parameters), 4, axis=1)
        shift = (1 - batch.y) * beta0 - batch.y * beta1
        scale = (1 - batch.y) * gamma0 + batch.y * gamma1
        return Release((batch.x + shift + scale * batch.noise)[..., tf.newaxis], tf.ones([1, 1, 1]))

    def distortion(self, parameters: tf.Tensor, constants: tuple[tf.Tensor, ...]) -> tf.Tensor:
        """Return E[(Xhat - X)^2] for the label frequencies of the sample."""
        tie, of_label = constants
        beta0, beta1, gamma0, gamma1 = tf.unstack(tf.linalg.matvec(tie, parameters), axis=1)
        return of_label[:, 0] * (beta0**2 + gamma0**2) + of_label[:, 1] * (beta1**2 + gamma1**2)

    def mechanism(self, parameters: np.ndarray, constants: tuple[np.ndarray, ...], units: Units) -> AffineGaussian:
        """Return the `AffineGaussian`; N is symmetric, so the sign of a gamma means nothing."""
        tie, _ = constants
        beta0, beta1, gamma0, gamma1 = (units.unit * (tie @ parameters)).tolist()
        return AffineGaussian(beta0, beta1, abs(gamma0), abs(gamma1))

    def reduced(self, mechanism: AffineGaussian, share: float) -> AffineGaussian:  # type: ignore[override]
        """Scale shifts and noise: distortion is the square of a length."""
        scaled = (
            math.sqrt(share) * part for part in (mechanism.beta0, mechanism.beta1, mechanism.gamma0, mechanism.gamma1)
        )
        return AffineGaussian(*(part + 0.0 for part in scaled))  # 0, not -0
