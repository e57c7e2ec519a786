"""What a wrong answer costs the adversary, and the answer that costs least.

A hard rule names a value of Y for each release, a soft rule a belief: a distribution of Y. The releases and the private
values are counted from 0, and ``released[k, j] = P(Xhat=k, Y=j)`` is their joint distribution, of any size.
"""

from __future__ import annotations  # the reference then shows ArrayLike by its name

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks


def squared_loss(guess: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return the squared loss of a hard decision (Equation 3 of the paper), elementwise.

    .. math:: \\ell(\\hat y, y) = (\\hat y - y)^2.

    Parameters
    ----------
    guess : array_like of float, any shape
        What the adversary says, in the unit of `y`.
    y : array_like of float
        The value that Y has. Its shape and that of `guess` must fit by NumPy's broadcasting.

    Returns
    -------
    numpy.ndarray of float
        In the squared unit of `y`.

    Raises
    ------
    TypeError, ValueError
        If `guess` or `y` holds anything but finite numbers, or their shapes do not fit.
    """
    guess, y = _broadcast(guess, y)
    return (guess - y) ** 2


def zero_one_loss(guess: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return the 0-1 loss of a hard decision (Equation 4 of the paper), elementwise: 0 if right, 1 if wrong.

    Parameters
    ----------
    guess : array_like of float, any shape
        The value that the adversary names.
    y : array_like of float
        The value that Y has. Its shape and that of `guess` must fit by NumPy's broadcasting.

    Returns
    -------
    numpy.ndarray of float
        Of zeros and ones.

    Raises
    ------
    TypeError, ValueError
        If `guess` or `y` holds anything but finite numbers, or their shapes do not fit.
    """
    guess, y = _broadcast(guess, y)
    return np.not_equal(guess, y).astype(float)


def log_loss(belief: ArrayLike) -> np.ndarray:
    """Return the log-loss of a soft decision (Equation 6 of the paper), elementwise.

    .. math:: \\ell(P_h, y) = -\\ln P_h(y \\mid \\hat x).

    Parameters
    ----------
    belief : array_like of float in [0, 1], any shape
        The probability that the adversary gave to the value that Y has.

    Returns
    -------
    numpy.ndarray of float
        In nats; infinite where the belief was 0.

    Raises
    ------
    TypeError, ValueError
        If `belief` holds anything but numbers in [0, 1].
    """
    return alpha_loss(belief, 1)


def alpha_loss(belief: ArrayLike, alpha: float) -> np.ndarray:
    """Return the alpha-loss of a soft decision (Equation 7 of the paper), elementwise.

    .. math:: \\ell_\\alpha(P_h, y) = \\frac{\\alpha}{\\alpha-1}
       \\left(1 - P_h(y \\mid \\hat x)^{1 - 1/\\alpha}\\right).

    Parameters
    ----------
    belief : array_like of float in [0, 1], any shape
        The probability that the adversary gave to the value that Y has.
    alpha : float > 0 or inf
        The limits are meant at 1, where the loss is `log_loss`, and at infinity, where it is ``1 - belief``, the
        probability that a guess drawn from the belief is wrong. The paper uses alpha > 1.

    Returns
    -------
    numpy.ndarray of float
        At least 0. Where the belief was 0: alpha / (alpha - 1) if alpha > 1, infinite otherwise.

    Raises
    ------
    TypeError, ValueError
        If `belief` holds anything but numbers in [0, 1], or `alpha` is not a number > 0.
    """
    belief, alpha = _checks.array("belief", belief, 0, 1), _checks.order("alpha", alpha)
    exponent = 1 - 1 / alpha
    with np.errstate(divide="ignore", over="ignore"):  # a belief of 0 that comes true may cost infinitely much
        log_belief = np.log(belief)
        # expm1, because 1 - belief**exponent leaves only rounding errors when alpha is near 1. `+ 0.0` turns the -0
        # of a certain belief into 0.
        return (-np.expm1(exponent * log_belief) / exponent if exponent else -log_belief) + 0.0


def expected_loss(released: ArrayLike, loss: ArrayLike) -> float:
    """Return the adversary's expected loss, L(h, g) (Equation 1 of the paper).

    Parameters
    ----------
    released : array_like, shape (k, m)
        ``released[k, j] = P(Xhat=k, Y=j)``.
    loss : array_like, broadcast to shape (k, m)
        ``loss[k, j]``: what the rule loses if Xhat=k and Y=j. May be infinite; where ``released`` is 0 it does not
        count.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If `released` is not a joint distribution, or `loss` does not hold numbers for each of its entries.
    """
    released = _checks.joint_table("released", released, shape=None)
    try:
        loss = np.asarray(loss)
    except ValueError:  # ragged nesting
        raise ValueError(f"loss must be a table of numbers, got {loss!r}") from None
    if loss.dtype.kind not in "iuf":
        raise TypeError(f"loss must be a table of numbers, got values of type {loss.dtype}")
    try:
        loss = np.broadcast_to(loss, released.shape)
    except ValueError:
        raise ValueError(f"loss must fit the shape {released.shape} of released, got shape {loss.shape}") from None
    if np.isnan(loss).any() or np.isneginf(loss).any():
        raise ValueError("loss must be a table of numbers or infinity, got NaN or minus infinity")
    cells = released > 0
    return float((released[cells] * loss[cells]).sum())


def conditional_mean(released: ArrayLike, values: ArrayLike) -> np.ndarray:
    """Return the rule that is best under squared loss, E[Y | Xhat=k] (Section 2.2 of the paper).

    Parameters
    ----------
    released : array_like, shape (k, m)
        ``released[k, j] = P(Xhat=k, Y=values[j])``.
    values : array_like of float, shape (m,)
        The values of Y.

    Returns
    -------
    numpy.ndarray, shape (k,)
        For a release that never occurs every guess is as good; this one is the mean of `values`.

    Raises
    ------
    TypeError, ValueError
        If `released` is not a joint distribution, or `values` not m finite numbers.
    """
    beliefs = posterior(released)
    values = _checks.array("values", values)
    if values.shape != beliefs.shape[1:]:
        raise ValueError(f"values must have shape {beliefs.shape[1:]}, one for each column, got {values.shape}")
    return beliefs @ values


def map_guess(released: ArrayLike) -> np.ndarray:
    """Return the rule that is best under 0-1 loss, the likeliest Y for each release (Section 2.2 of the paper).

    Parameters
    ----------
    released : array_like, shape (k, m)
        ``released[k, j] = P(Xhat=k, Y=j)``.

    Returns
    -------
    numpy.ndarray of int, shape (k,)
        The column of the largest entry of each row. Of equals, the first: the paper draws one at random, which
        changes the guess and not its expected loss.

    Raises
    ------
    TypeError, ValueError
        If `released` is not a joint distribution.
    """
    return _checks.joint_table("released", released, shape=None).argmax(axis=1)


def posterior(released: ArrayLike) -> np.ndarray:
    """Return the rule that is best under log-loss, the posterior P(Y=j | Xhat=k) (Section 2.2 of the paper).

    Parameters
    ----------
    released : array_like, shape (k, m)
        ``released[k, j] = P(Xhat=k, Y=j)``.

    Returns
    -------
    numpy.ndarray, shape (k, m)
        Each row sums to one. For a release that never occurs every belief is as good; this one is uniform.

    Raises
    ------
    TypeError, ValueError
        If `released` is not a joint distribution.
    """
    return tilted_posterior(released, 1)


def tilted_posterior(released: ArrayLike, alpha: float) -> np.ndarray:
    """Return the rule that is best under alpha-loss, the tilted posterior (Section 2.2 of the paper).

    .. math:: P_h^*(y \\mid \\hat x) = \\frac{P(y \\mid \\hat x)^\\alpha}{\\sum_{y'} P(y' \\mid \\hat x)^\\alpha}.

    Parameters
    ----------
    released : array_like, shape (k, m)
        ``released[k, j] = P(Xhat=k, Y=j)``.
    alpha : float > 0 or inf
        At 1 the posterior itself; at infinity the MAP rule, with ties shared equally.

    Returns
    -------
    numpy.ndarray, shape (k, m)
        Each row sums to one. For a release that never occurs every belief is as good; this one is uniform.

    Raises
    ------
    TypeError, ValueError
        If `released` is not a joint distribution, or `alpha` is not a number > 0.
    """
    released = _checks.joint_table("released", released, shape=None)
    alpha = _checks.order("alpha", alpha)
    largest = released.max(axis=1, keepdims=True)
    # Each row is divided by its largest cell, so that a large power leaves a one in it, not zeros throughout.
    weights = np.divide(released, largest, out=np.ones_like(released), where=largest > 0) ** alpha
    return weights / weights.sum(axis=1, keepdims=True)


def _broadcast(guess: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    guess, y = _checks.array("guess", guess), _checks.array("y", y)
    try:
        np.broadcast_shapes(guess.shape, y.shape)
    except ValueError:
        raise ValueError(f"guess and y must have shapes that fit, got {guess.shape} and {y.shape}") from None
    return guess, y
