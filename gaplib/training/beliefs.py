"""What a trained adversary believes, as a function of the release in the units of the data."""

from dataclasses import dataclass

import numpy as np

from gaplib.training import _tensorflow
from gaplib.training._tensorflow import tf
from gaplib.training.protocols import Adversary


@dataclass(frozen=True, eq=False)
class TrainedAdversary:
    """An adversary with what it has learned in one game.

    Attributes
    ----------
    adversary : Adversary
    parameters : numpy.ndarray of float32, shape (P,)
    center : float or numpy.ndarray of shape (d,)
        What is subtracted from a release before the adversary sees it.
    unit : float
        What it is divided by then.
    learned_order, played_order : float
        Of the alpha-loss that the adversary was trained under, and of the one that the game is about; 1 is log-loss.
    """

    adversary: Adversary
    parameters: np.ndarray
    center: float | np.ndarray
    unit: float
    learned_order: float
    played_order: float

    def posterior_log_odds(self, x_hat: np.ndarray) -> np.ndarray:
        """Return the log odds of Y = 1 that the adversary has learned, elementwise.

        The best belief under alpha-loss is the tilted posterior: its log odds are alpha times those of the posterior.
        """
        return self._outputs(x_hat) / self.learned_order

    def belief(self, x_hat: np.ndarray) -> np.ndarray:
        """Return the belief that Y = 1, best under the loss that the game is about, elementwise."""
        log_odds = self._outputs(x_hat) * (self.played_order / self.learned_order)
        return np.exp(-np.logaddexp(0, -log_odds))

    def _outputs(self, x_hat: np.ndarray) -> np.ndarray:
        _tensorflow.claim()
        vector = np.shape(self.center)
        records = np.shape(x_hat)[: np.ndim(x_hat) - len(vector)]
        inputs = _tensorflow.single((np.reshape(x_hat, (1, -1, *vector)) - self.center) / self.unit)
        outputs = self.adversary.log_odds(tf.constant(self.parameters[np.newaxis]), inputs)
        return outputs.numpy().astype(float).reshape(records)
