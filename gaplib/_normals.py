"""Two normal distributions, one for each Y, and how well an adversary tells them apart."""

from __future__ import annotations  # a method of a class names the class

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

# So in every file of the core: `import scipy`, then scipy.special.f or scipy.optimize.f where it is called. SciPy loads
# its parts when they are first used; to load them with gaplib would take longer than all its other imports together.
import scipy

from gaplib.mechanisms import AffineGaussian
from gaplib.models import GaussianMixture

Numbers = float | np.ndarray

# A normal distribution has less than 1e-22 of its mass beyond this many standard deviations.
_REACH = 10
# Panel ends on both sides of a point at which the posterior turns, in units of the width of the turn. Further out the
# logarithm of the posterior differs from a polynomial by less than exp(-16 pi).
_TURN = np.array([-16, -8, -4, -2, -1, 0, 1, 2, 4, 8, 16])
# A normal that is narrower than the other by more than the root of this is a spike in it: a point found by its distance
# from the other's mean would have few digits left of its distance from the spike.
_STEEP = 1e4

_legendre = lru_cache(np.polynomial.legendre.leggauss)


@dataclass(frozen=True, eq=False)
class TwoNormals:
    """Xhat is N(0, var0) where Y=0 and N(gap, var1) where Y=1. Where the two stand makes no difference to any leakage.

    Parameters
    ----------
    prior : float or numpy.ndarray
        P(Y=1).
    gap : float or numpy.ndarray
        E[Xhat | Y=1] - E[Xhat | Y=0].
    var0, var1 : float or numpy.ndarray
        Var[Xhat | Y=0] and Var[Xhat | Y=1].

    The measures work elementwise on arrays that fit by NumPy's broadcasting; the slopes take numbers only.
    """

    prior: Numbers
    gap: Numbers
    var0: Numbers
    var1: Numbers

    @classmethod
    def released(cls, model: GaussianMixture, mechanism: AffineGaussian) -> TwoNormals:
        """Return what the adversary tells apart: the release of `mechanism`."""
        means, variances = mechanism.released(model)
        return cls(model.prior, means[1] - means[0], variances[0], variances[1])

    def map_accuracy(self) -> np.ndarray:
        """Return the probability that the likelier Y is the right one, exactly."""
        narrow, wide, distance = self._by_variance()
        low, high = _guess_narrow(narrow, wide, distance)
        shift, ratio = distance / np.sqrt(wide.variance), np.sqrt(narrow.variance / wide.variance)
        ndtr = scipy.special.ndtr
        if_narrow = ndtr(high) - ndtr(low)
        if_wide = ndtr(ratio * high - shift) - ndtr(ratio * low - shift)
        accuracy = wide.prior + narrow.prior * if_narrow - wide.prior * if_wide
        return np.maximum(accuracy, np.maximum(self.prior, 1 - self.prior))

    def map_accuracy_slopes(self) -> np.ndarray:
        """Return the derivatives of `map_accuracy` with respect to `gap`, `var0` and `var1`.

        By the envelope theorem the region of the guess may be held fixed.
        """
        narrow, wide, distance = self._by_variance()
        ends = np.array(_guess_narrow(narrow, wide, distance))
        inside = np.isfinite(ends) & (ends[0] < ends[1])
        ends = np.where(inside, ends, 0)
        # At an end of the region both distributions, weighted by their priors, have the same density.
        density = inside * narrow.prior * np.exp(-(ends**2) / 2) / np.sqrt(2 * np.pi * narrow.variance)
        x = ends * np.sqrt(narrow.variance)
        in_gap = np.sign(self.gap) * np.diff(density)[0]
        in_narrow = -np.diff(x * density)[0] / (2 * narrow.variance)
        in_wide = np.diff((x - distance) * density)[0] / (2 * wide.variance)
        return np.array([in_gap, in_wide, in_narrow] if self.var1 <= self.var0 else [in_gap, in_narrow, in_wide])

    def conditional_entropy(self, points: int = 16) -> np.ndarray:
        """Return H(Y | Xhat) in nats, with `points` Gauss-Legendre points in each panel."""
        _, mass, log_odds = self.quadrature(points=points)
        return (mass * _log_loss(log_odds)).sum(axis=-1).sum(axis=0)

    def conditional_entropy_slopes(self) -> np.ndarray:
        """Return the derivatives of `conditional_entropy` with respect to `gap`, `var0` and `var1`.

        By the envelope theorem the adversary's belief may be held fixed, and only the distributions move under it.
        """
        u, mass, log_odds = self.quadrature()
        loss = mass * _log_loss(log_odds)
        in_gap = (loss[1] * u[1]).sum() / np.sqrt(self.var1)
        in_variances = (loss * (u**2 - 1)).sum(axis=-1) / (2 * np.array([self.var0, self.var1]))
        return np.array([in_gap, *in_variances])

    def table(self, order: float = 1.0) -> np.ndarray:
        """Return masses of (Xhat, Y), a row for each point of `quadrature`, shape (K, 2); numbers only."""
        _, (mass0, mass1), (log_odds0, log_odds1) = self.quadrature(order)
        expit = scipy.special.expit
        rows0 = np.stack([mass0 * expit(-log_odds0), mass0 * expit(log_odds0)], axis=-1)
        rows1 = np.stack([mass1 * expit(log_odds1), mass1 * expit(-log_odds1)], axis=-1)
        return np.concatenate([rows0, rows1])

    def quadrature(self, order: float = 1.0, points: int = 16) -> _Rule:
        """Return quadrature rules for expectations of functions of the posterior, in one pass for Y=0 and for Y=1.

        Parameters
        ----------
        order : float > 0
            The rules are fine enough for powers of the posterior with this exponent too.
        points : int
            Gauss-Legendre points in each panel.
        """
        prior, gap, var0, var1 = np.broadcast_arrays(self.prior, self.gap, self.var0, self.var1)
        priors, variances = np.stack([1 - prior, prior]), np.stack([var0, var1])
        own, other = _Normal(priors, variances), _Normal(priors[::-1], variances[::-1])
        return _rule(own, other, np.stack([gap, -gap]), order, points)

    def _by_variance(self) -> tuple[_Normal, _Normal, Numbers]:
        """Return the one with the smaller variance, of equals that of Y=1, the other, and how far apart they are."""
        swap = self.var1 <= self.var0
        prior0, prior1 = 1 - self.prior, self.prior
        narrow = _Normal(np.where(swap, prior1, prior0), np.minimum(self.var0, self.var1))
        wide = _Normal(np.where(swap, prior0, prior1), np.maximum(self.var0, self.var1))
        return narrow, wide, np.abs(self.gap)


class _Normal(NamedTuple):
    """One of the two, without its mean."""

    prior: Numbers  # the probability of its Y
    variance: Numbers


class _Rule(NamedTuple):
    """A quadrature rule for each Y, arrays of the shape of the fields between an axis of Y and one of the points.

    Points in standard deviations from the mean of Xhat given this Y, their masses, which sum to the probability of this
    Y, and the logarithm of the odds of the *other* Y at them.
    """

    u: np.ndarray
    mass: np.ndarray
    log_odds: np.ndarray


def _log_loss(log_odds: np.ndarray) -> np.ndarray:
    """Return ln(1 + exp(log_odds)), in less than half the time of NumPy's logaddexp."""
    return np.maximum(log_odds, 0) + np.log1p(np.exp(-abs(log_odds)))


def _log_odds(own: _Normal, other: _Normal, gap: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return a, b, c with ln P(other Y | u) / P(own Y | u) = a u^2 + b u + c, and the discriminant b^2 - 4 a c.

    u is Xhat standardized by `own`, `gap` the mean of the other less that of the own. The discriminant is taken apart
    so that nothing cancels.
    """
    a = (other.variance - own.variance) / other.variance / 2
    b = np.sqrt(own.variance / other.variance) * (gap / np.sqrt(other.variance))
    level = np.log(other.prior) - np.log(own.prior) + np.log(own.variance / other.variance) / 2
    squared = (gap / np.sqrt(other.variance)) ** 2
    return a, b, level - squared / 2, squared - 4 * a * level


def _guess_narrow(narrow: _Normal, wide: _Normal, distance: Numbers) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval on which the Y of the narrow one is guessed, between two roots or nowhere.

    They are standardized by the narrow one, and measured from its mean towards the wide one, which is `distance` away.
    """
    a, b, c, discriminant = _log_odds(narrow, wide, distance)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        q = -(b + np.sqrt(np.maximum(discriminant, 0))) / 2
        low, high = q / a, c / q
    # Equal distributions: only the priors count. No root: the narrow one is nowhere likelier.
    everywhere = (a == 0) & (b == 0) & (c < 0)
    nowhere = ~everywhere & ~((discriminant > 0) & (q < 0))
    low = np.where(everywhere, -np.inf, np.where(nowhere, 0, low))
    high = np.where(everywhere, np.inf, np.where(nowhere, 0, high))
    return low, high


def _rule(own: _Normal, other: _Normal, gap: Numbers, order: float, points: int) -> _Rule:
    a, b, c, discriminant = np.broadcast_arrays(*_log_odds(own, other, gap))
    # t is measured from the mean of the own one, or from the vertex of the log odds, which is the spike.
    steep = abs(a) > _STEEP
    a_steep = np.where(steep, a, 1)
    origin = np.where(steep, -b / (2 * a_steep), 0)
    b, c = np.where(steep, 0, b), np.where(steep, -discriminant / (4 * a_steep), c)
    ends = _panel_ends(a, b, c, discriminant, order, origin)
    x, weight = _legendre(points)
    half = np.diff(ends, axis=-1)[..., np.newaxis] / 2
    t = ends[..., :-1, np.newaxis] + half * (1 + x)
    u = origin[..., np.newaxis, np.newaxis] + t
    mass = half * weight * np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi)
    t, u, mass = (array.reshape(*a.shape, -1) for array in (t, u, mass))
    log_odds = (a[..., np.newaxis] * t + b[..., np.newaxis]) * t + c[..., np.newaxis]
    return _Rule(u, np.asarray(own.prior)[..., np.newaxis] * mass, log_odds)


def _panel_ends(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, discriminant: np.ndarray, order: float, origin: np.ndarray
) -> np.ndarray:
    """Return panel ends in [-_REACH, _REACH] less `origin`, dense where the posterior turns."""
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
    coarse = np.arange(-_REACH, _REACH + 1, 2) - origin[..., np.newaxis]
    return np.sort(np.concatenate([coarse, np.clip(fine, coarse[..., :1], coarse[..., -1:])], axis=-1), axis=-1)
