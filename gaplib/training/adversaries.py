"""The adversary's side of the game: networks that give the log odds of Y = 1 from the release.

As a privatizer, an adversary is an object without state, and its parameters are a tensor with a row for each game.
"""

from dataclasses import dataclass

import numpy as np

from gaplib.training._tensorflow import tf


@dataclass(frozen=True)
class BinaryAdversary:
    """A belief for each value of the released bit (Section 3.2 of the paper): an input and an output, two layers.

    The parameters are the log odds of Y=1 given Xhat=0 and given Xhat=1. In the paper's terms they are those of
    :math:`1-\\theta_{a,0}` and of :math:`\\theta_{a,1}`.
    """

    def start(self, random: np.random.Generator) -> np.ndarray:
        """Believe one half everywhere."""
        return np.zeros(2)

    def log_odds(self, parameters: tf.Tensor, x_hat: tf.Tensor) -> tf.Tensor:
        """Return the log odds of Y = 1, shape (G, N), for released bits of shape (G, N)."""
        at_0, at_1 = tf.split(parameters, 2, axis=1)
        return (1 - x_hat) * at_0 + x_hat * at_1


@dataclass(frozen=True)
class NetworkAdversary:
    """The three-layer network with leaky ReLUs of Section 4.2 of the paper: input, hidden units, output.

    Layers are counted as for the binary model, whose "two-layer" networks have an input and an output only.

    Parameters
    ----------
    width : int
        Number of hidden units. The best log odds are a quadratic function of the release; so many line segments
        follow it closely.
    """

    width: int = 16

    def start(self, random: np.random.Generator) -> np.ndarray:
        """Put the bends of the hidden units evenly over four standard deviations of the release."""
        slopes = random.choice([-1.0, 1.0], self.width)
        offsets = -slopes * np.linspace(-2, 2, self.width)
        return np.concatenate([slopes, offsets, random.standard_normal(self.width) / np.sqrt(self.width), [0.0]])

    def log_odds(self, parameters: tf.Tensor, x_hat: tf.Tensor) -> tf.Tensor:
        """Return the log odds of Y = 1, shape (G, N), for standardized releases of shape (G, N)."""
        slopes, offsets, weights, bias = tf.split(parameters, [self.width] * 3 + [1], axis=1)
        hidden = tf.nn.leaky_relu(slopes[..., tf.newaxis] * x_hat[:, tf.newaxis] + offsets[..., tf.newaxis])
        return tf.reduce_sum(weights[..., tf.newaxis] * hidden, axis=1) + bias
