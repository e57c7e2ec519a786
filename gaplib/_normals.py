"""Two Gaussian laws, one for each Y, and how well an adversary tells them apart.

Every function takes ``prior`` = P(Y=1), the distance ``gap`` = E[Xhat | Y=1] - E[Xhat | Y=0], and the variances
``var0``, ``var1`` of Xhat given Y. Where the two laws stand on the line makes no difference to any leakage.
"""

from functools import lru_cache

import numpy as np
import scipy  # scipy.special is loaded when it is first used: that takes longer than all other imports together

Numbers = float | np.ndarray
_Pair = tuple[np.ndarray, np.ndarray]
_Rule = tuple[np.ndarray, np.ndarray, np.ndarray]

# A Gaussian has less than 1e-22 of its mass beyond this many standard deviations.
_REACH = 10
# Panel ends on both sides of a point at which the posterior turns, in units of the width of the turn. Further out the
# logarithm of the posterior differs from a polynomial by less than exp(-16 pi).
_TURN = np.array([-16, -8, -4, -2, -1, 0, 1, 2, 4, 8, 16])


def map_accuracy(prior: Numbers, gap: Numbers, var0: Numbers, var1: Numbers) -> np.ndarray:
    """Return the chance that the likelier Y is the right one, exactly; elementwise.

    The law with the smaller variance is guessed between the two roots of a quadratic, or nowhere.
    """
    _, (narrow, wide), (prior_narrow, prior_wide) = _decision(prior, gap, var0, var1)
    return np.maximum(prior_wide + prior_narrow * narrow - prior_wide * wide, np.maximum(prior, 1 - prior))


def _decision(prior: Numbers, gap: Numbers, var0: Numbers, var1: Numbers) -> tuple[_Pair, _Pair, _Pair]:
    """Return the region where the law with the smaller variance is guessed, its chances, and the priors.

    The region is an interval ``(low, high)`` in units of the narrow law, measured from its mean towards the wide one.
    """
    swap = var1 <= var0
    prior_narrow, prior_wide = np.where(swap, prior, 1 - prior), np.where(swap, 1 - prior, prior)
    narrow, wide = np.minimum(var0, var1), np.maximum(var0, var1)
    a, b, c, discriminant = _log_odds(prior_wide, prior_narrow, np.abs(gap), narrow, wide)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        q = -(b + np.sqrt(np.maximum(discriminant, 0))) / 2
        low, high = q / a, c / q
    # Equal laws: only the priors count. No root: the narrow law is nowhere likelier.
    everywhere = (a == 0) & (b == 0) & (c < 0)
    nowhere = ~everywhere & ~((discriminant > 0) & (q < 0))
    low = np.where(everywhere, -np.inf, np.where(nowhere, 0, low))
    high = np.where(everywhere, np.inf, np.where(nowhere, 0, high))
    shift, ratio = abs(gap) / np.sqrt(wide), np.sqrt(narrow / wide)
    inside = (
        scipy.special.ndtr(high) - scipy.special.ndtr(low),
        scipy.special.ndtr(ratio * high - shift) - scipy.special.ndtr(ratio * low - shift),
    )
    return (low, high), inside, (prior_narrow, prior_wide)


def accuracy_slopes(prior: Numbers, gap: Numbers, var0: Numbers, var1: Numbers) -> np.ndarray:
    """Return the derivatives of `map_accuracy` with respect to `gap`, `var0` and `var1`; numbers, not arrays.

    By the envelope theorem the region of the guess may be held fixed.
    """
    (low, high), _, (prior_narrow, _) = _decision(prior, gap, var0, var1)
    ends = np.array([low, high])
    finite = np.isfinite(ends) & (low < high)
    ends = np.where(finite, ends, 0)
    # At an end of the region both laws, weighted by their priors, have the same density.
    narrow, wide = min(var0, var1), max(var0, var1)
    density = finite * prior_narrow * np.exp(-(ends**2) / 2) / np.sqrt(2 * np.pi * narrow)
    x = ends * np.sqrt(narrow)
    in_gap = np.diff(density)[0]
    in_narrow = -np.diff(x * density)[0] / (2 * narrow)
    in_wide = np.diff((x - abs(gap)) * density)[0] / (2 * wide)
    in_var0, in_var1 = (in_wide, in_narrow) if var1 <= var0 else (in_narrow, in_wide)
    return np.array([np.sign(gap) * in_gap, in_var0, in_var1])


def _log_odds(
    share_other: Numbers, share_own: Numbers, gap: Numbers, own: Numbers, other: Numbers
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return a, b, c with ln P(other | x) / P(own | x) = a u^2 + b u + c, and the discriminant b^2 - 4 a c.

    u is x standardized by the law `own`, `gap` the mean of the other law less that of the own. The discriminant is
    taken apart so that nothing cancels.
    """
    a = (other - own) / other / 2
    b = np.sqrt(own / other) * (gap / np.sqrt(other))
    level = np.log(share_other) - np.log(share_own) + np.log(own / other) / 2
    distance = (gap / np.sqrt(other)) ** 2
    return a, b, level - distance / 2, distance - 4 * a * level


def nodes(
    prior: Numbers, gap: Numbers, var0: Numbers, var1: Numbers, order: float = 1.0, points: int = 16
) -> list[_Rule]:
    """Return a quadrature rule for expectations of functions of the posterior; elementwise.

    Parameters
    ----------
    prior, gap, var0, var1 : float or numpy.ndarray, broadcast to a shape S
    order : float > 0
        The rule is fine enough for powers of the posterior with this exponent too.
    points : int
        Gauss-Legendre points in each panel.

    Returns
    -------
    list of two tuples ``(u, mass, logit)``, arrays of shape S + (K,)
        For Y=0 and Y=1: points u in standard deviations from the mean of Xhat given this Y, their masses, which
        sum to P(Y), and the logarithm of the odds of the *other* Y at them.
    """
    return [
        _nodes(1 - prior, prior, gap, var0, var1, order, points),
        _nodes(prior, 1 - prior, -gap, var1, var0, order, points),
    ]


def _nodes(
    share_own: Numbers, share_other: Numbers, gap: Numbers, own: Numbers, other: Numbers, order: float, points: int
) -> _Rule:
    a, b, c, discriminant = np.broadcast_arrays(*_log_odds(share_other, share_own, gap, own, other))
    ends = _panel_ends(a, b, c, discriminant, order)
    x, w = _legendre(points)
    half = np.diff(ends, axis=-1)[..., np.newaxis] / 2
    u = ends[..., :-1, np.newaxis] + half * (1 + x)
    mass = half * w * np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi)
    u, mass = (v.reshape(*a.shape, -1) for v in (u, mass))
    logit = (a[..., np.newaxis] * u + b[..., np.newaxis]) * u + c[..., np.newaxis]
    return u, np.asarray(share_own)[..., np.newaxis] * mass, logit


_legendre = lru_cache(np.polynomial.legendre.leggauss)


def _panel_ends(a: np.ndarray, b: np.ndarray, c: np.ndarray, discriminant: np.ndarray, order: float) -> np.ndarray:
    """Return panel ends in [-_REACH, _REACH], dense where the posterior turns: near the roots of the log odds."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = np.sqrt(np.maximum(discriminant, 0))
        q = -(b + np.copysign(root, b)) / 2
        vertex = -b / (2 * a)
        turns = np.stack([np.where(discriminant > 0, q / a, vertex), np.where(discriminant > 0, c / q, vertex), vertex])
        width = np.minimum(np.pi / root, np.sqrt(np.pi / abs(a)))
    width = np.where(np.isfinite(width), width, _REACH)
    turns = np.where(np.isfinite(turns), turns, _REACH)
    scales = _TURN if order == 1 else np.union1d(_TURN, _TURN / order)
    fine = turns[..., np.newaxis] + width[..., np.newaxis] * scales
    fine = np.moveaxis(fine, 0, -2).reshape(*a.shape, -1)
    coarse = np.broadcast_to(np.arange(-_REACH, _REACH + 1, 2), (*a.shape, _REACH + 1))
    return np.sort(np.concatenate([coarse, np.clip(fine, -_REACH, _REACH)], axis=-1), axis=-1)


def conditional_entropy(prior: Numbers, gap: Numbers, var0: Numbers, var1: Numbers, points: int = 16) -> np.ndarray:
    """Return H(Y | Xhat) in nats; elementwise."""
    rule = nodes(prior, gap, var0, var1, points=points)
    return sum((mass * np.logaddexp(0, logit)).sum(axis=-1) for _, mass, logit in rule)


def entropy_slopes(prior: Numbers, gap: Numbers, var0: Numbers, var1: Numbers) -> np.ndarray:
    """Return the derivatives of `conditional_entropy` with respect to `gap`, `var0` and `var1`; numbers, not arrays.

    By the envelope theorem the adversary's belief may be held fixed, and only the laws move under it.
    """
    (u0, mass0, logit0), (u1, mass1, logit1) = nodes(prior, gap, var0, var1)
    loss0, loss1 = mass0 * np.logaddexp(0, logit0), mass1 * np.logaddexp(0, logit1)
    in_gap = (loss1 * u1).sum() / np.sqrt(var1)
    return np.array([in_gap, (loss0 * (u0**2 - 1)).sum() / (2 * var0), (loss1 * (u1**2 - 1)).sum() / (2 * var1)])


def table(prior: Numbers, gap: Numbers, var0: Numbers, var1: Numbers, order: float = 1.0) -> np.ndarray:
    """Return masses of (Xhat, Y) as a table with a row for each point of `nodes`, shape (K, 2)."""
    (_, mass0, logit0), (_, mass1, logit1) = nodes(prior, gap, var0, var1, order)
    rows0 = np.stack([mass0 * scipy.special.expit(-logit0), mass0 * scipy.special.expit(logit0)], axis=-1)
    rows1 = np.stack([mass1 * scipy.special.expit(logit1), mass1 * scipy.special.expit(-logit1)], axis=-1)
    return np.concatenate([rows0, rows1])
