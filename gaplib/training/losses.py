"""The adversary's loss, from the log odds of its belief.

`gaplib.losses` states the same losses for beliefs. Training starts from log odds, because a belief that rounds to 0 has
no gradient.
"""

from gaplib.training._tensorflow import tf
from gaplib.training.protocols import Batch


def alpha_loss(log_odds: tf.Tensor, y: tf.Tensor, alpha: float | tf.Tensor) -> tf.Tensor:
    """Return the alpha-loss of the belief sigmoid(log_odds) that Y = 1 (Equations 6 and 7 of the paper), elementwise.

    Parameters
    ----------
    log_odds : tf.Tensor
    y : tf.Tensor
        The value that Y has, 0 or 1; its shape and that of `log_odds` must fit.
    alpha : float >= 1, or a tf.Tensor > 1
        At 1 the log-loss.

    Returns
    -------
    tf.Tensor
        In nats if alpha is 1.
    """
    log_belief = -tf.nn.softplus((1 - 2 * y) * log_odds)  # in the value that Y has
    if isinstance(alpha, (int, float)) and alpha == 1:
        return -log_belief
    exponent = 1 - 1 / alpha
    return -tf.math.expm1(exponent * log_belief) / exponent


def empirical_loss(log_odds: tf.Tensor, batch: Batch, probability: tf.Tensor, alpha: float | tf.Tensor) -> tf.Tensor:
    """Return the adversary's empirical loss (Equations 9 to 11 of the paper), one number for each game.

    A release with two possible outcomes is averaged over exactly: no outcome is drawn.

    Parameters
    ----------
    log_odds : tf.Tensor, shape (G, R, O)
        Of Y = 1, for each game, record and outcome of the release.
    batch : Batch
        With R records for each of G games.
    probability : tf.Tensor, fits (G, R, O)
        Of each outcome.
    alpha : float >= 1

    Returns
    -------
    tf.Tensor, shape (G,)
    """
    loss = alpha_loss(log_odds, batch.y[..., tf.newaxis], alpha)
    return tf.reduce_sum(batch.weight[..., tf.newaxis] * probability * loss, axis=(1, 2))


def printed_loss(log_odds: tf.Tensor, batch: Batch, probability: tf.Tensor, alpha: float | tf.Tensor) -> tf.Tensor:
    """Return what Section 3.2 of the paper prints for the binary model: the loss of the *averaged* belief.

    Arguments and result are those of `empirical_loss`; where a release has one outcome only, the two are the same. By
    Jensen's inequality this loss is the smaller one. If both players use it, as here, a PDI mechanism gains nothing in
    it by small distortions: chapter 11 of the book has the region.
    """
    if log_odds.shape[2] == 1:  # nothing to average
        return empirical_loss(log_odds, batch, probability, alpha)
    belief = tf.clip_by_value(tf.reduce_sum(probability * tf.sigmoid(log_odds), axis=2), 1e-6, 1 - 1e-6)
    return empirical_loss((tf.math.log(belief) - tf.math.log1p(-belief))[..., tf.newaxis], batch, 1.0, alpha)
