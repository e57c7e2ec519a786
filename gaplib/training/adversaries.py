"""The adversaries of the paper: a belief for each bit, a small network for numbers."""

from dataclasses import dataclass

import numpy as np

from gaplib import _checks
from gaplib.training._tensorflow import tf
from gaplib.training.protocols import Adversary


@dataclass(frozen=True)
class BinaryAdversary(Adversary):
    """A belief for each value of the released bit (Section 3.2 of the paper): an input and an output, two layers.

    The parameters are the log odds of Y=1 given Xhat=0 and given Xhat=1. In the paper's terms they are those of
    :math:`1-\\theta_{a,0}` and of :math:`\\theta_{a,1}`.
    """

    def start(self, random: np.random.Generator) -> np.ndarray:
        """Believe one half everywhere."""
        return np.zeros(2)

    def log_odds(self, parameters: tf.Tensor, x_hat: tf.Tensor) -> tf.Tensor:
        """Look the released bit up."""
        at_0, at_1 = tf.split(parameters, 2, axis=1)
        return (1 - x_hat) * at_0 + x_hat * at_1


@dataclass(frozen=True)
class NetworkAdversary(Adversary):
    """The three-layer network with leaky ReLUs of Section 4.2 of the paper: input, hidden units, output.

    Layers are counted as for the binary model, whose "two-layer" networks have an input and an output only.

    Parameters
    ----------
    width : int from 1 to 10,000
        Number of hidden units. The best log odds are a quadratic function of the release; so many line segments
        follow it closely.

    Raises
    ------
    TypeError, ValueError
        If `width` is not such an integer.
    """

    width: int = 16

    def __post_init__(self) -> None:
        _checks.integer("width", self.width, 1, 10_000)

    def start(self, random: np.random.Generator) -> np.ndarray:
        """Put the bends of the hidden units evenly over four standard deviations of the release."""
        slopes = random.choice([-1.0, 1.0], self.width)
        offsets = -slopes * np.linspace(-2, 2, self.width)
        return np.concatenate([slopes, offsets, random.standard_normal(self.width) / np.sqrt(self.width), [0.0]])

    def log_odds(self, parameters: tf.Tensor, x_hat: tf.Tensor) -> tf.Tensor:
        """Send each release through the network."""
        slopes, offsets, weights, bias = tf.split(parameters, [self.width] * 3 + [1], axis=1)
        hidden = tf.nn.leaky_relu(slopes[..., tf.newaxis] * x_hat[:, tf.newaxis] + offsets[..., tf.newaxis])
        return tf.reduce_sum(weights[..., tf.newaxis] * hidden, axis=1) + bias
