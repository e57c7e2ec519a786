"""What mechanisms on the line release: masses of (Xhat, Y), exact for the accuracy, by quadrature for the rest."""

from __future__ import annotations

import numpy as np

from gaplib import _line_pdd
from gaplib._weighted_normal import crossings, parts
from gaplib.mechanisms import PiecewiseKernel, TransportMap
from gaplib.models import GaussianMixture

# A Gaussian has less than 1e-22 of its mass beyond this many standard deviations.
_REACH = 10
_LEGENDRE = np.polynomial.legendre.leggauss(16)
# Panel ends around a point at which the posterior turns, in units of the width of the turn.
_TURN = np.array([-16, -8, -4, -2, -1, 0, 1, 2, 4, 8, 16])


def masses(model: GaussianMixture, mechanism: TransportMap | PiecewiseKernel) -> np.ndarray:
    """Return masses of (Xhat, Y) over sets on which the same Y is likelier everywhere, shape (K, 2)."""
    if isinstance(mechanism, PiecewiseKernel):
        ends = np.sort(np.concatenate([[-np.inf], mechanism.edges, crossings(*parts(model)), [np.inf]]))
        stay = _masses_between(model, ends)
        return np.concatenate([stay * _kept(mechanism, ends)[:, np.newaxis], mechanism.released(model)[1]])
    rows = []
    for low, high in _outside(mechanism):
        inner = [x for x in crossings(*parts(model)) if low < x < high]
        rows.append(_masses_between(model, np.array([low, *inner, high])))
    for low, high in mechanism.intervals:
        rows.append(_masses_inside(model, mechanism.model, _line_pdd.Interval(low, high)))
    return np.concatenate(rows)


def rule(model: GaussianMixture, mechanism: TransportMap | PiecewiseKernel) -> np.ndarray:
    """Return masses of (Xhat, Y) at the points of a quadrature rule, shape (K, 2)."""
    ends = _panel_ends(model)
    if isinstance(mechanism, PiecewiseKernel):
        ends = np.sort(np.concatenate([ends, mechanism.edges]))
        panels = _panels(model, ends) * _kept(mechanism, ends)[:, np.newaxis, np.newaxis]
        return np.concatenate([panels.reshape(-1, 2), mechanism.released(model)[1]])
    rows = []
    for low, high in _outside(mechanism):
        rows.append(_panels(model, np.unique(np.clip(ends, low, high))).reshape(-1, 2))
    for low, high in mechanism.intervals:
        mass, at = _at_shares(mechanism.model, _line_pdd.Interval(low, high))
        ratio = np.stack([np.exp(_log_ratio(model, mechanism.model, x, j)) for j, x in enumerate(at)], axis=-1)
        rows.append(mass * _line_pdd.WEIGHT[:, np.newaxis] * ratio)
    return np.concatenate(rows)


def _outside(mechanism: TransportMap) -> list[tuple[float, float]]:
    ends = [-np.inf, *(end for interval in mechanism.intervals for end in interval), np.inf]
    return list(zip(ends[::2], ends[1::2], strict=True))


def _kept(mechanism: PiecewiseKernel, ends: np.ndarray) -> np.ndarray:
    """Return the probability of being released as it is, between any two of `ends` that part the cells."""
    kept = np.concatenate([[1.0], mechanism.kept, [1.0]])
    return kept[np.searchsorted(mechanism.edges, ends[:-1], side="right")]


def _masses_between(model: GaussianMixture, ends: np.ndarray) -> np.ndarray:
    return np.stack([part.mass(ends[:-1], ends[1:]) for part in parts(model)], axis=-1)


def _at_shares(model: GaussianMixture, interval: _line_pdd.Interval) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
    mass, x, y = _line_pdd.partners(*parts(model), interval)
    return mass, (x, y)


def _log_ratio(model: GaussianMixture, other: GaussianMixture, x: np.ndarray, y: int) -> np.ndarray:
    if model == other:
        return np.zeros_like(x)
    return parts(model)[y].log_density(x) - parts(other)[y].log_density(x)


def _masses_inside(model: GaussianMixture, own: GaussianMixture, interval: _line_pdd.Interval) -> np.ndarray:
    """Return the masses between the points at which the released densities of `model` change places.

    Partners x and y have the same released density under the map's own model: under another, x is likelier by the
    ratio of its densities under the two models, and y by its.
    """
    a, b = parts(model)
    if model == own:
        return np.array([[a.mass(*interval), b.mass(*interval)]])

    def partner(x: np.ndarray) -> np.ndarray:
        return _line_pdd.transported(*parts(own), interval, x)

    def likelier(x: np.ndarray) -> np.ndarray:
        return _log_ratio(model, own, x, 0) > _log_ratio(model, own, partner(x), 1)

    # Half of the points are even in x and half in the mass, because the map may turn on the scale of either.
    even = np.linspace(*interval, 2001)
    x = np.unique(np.concatenate([even, _at_shares(own, interval)[1][0]]))
    change = likelier(x[:-1]) != likelier(x[1:])
    low, high = x[:-1][change], x[1:][change]
    for _ in range(60):
        middle = (low + high) / 2
        same = likelier(middle) == likelier(low)
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    ends = np.array([interval.low, *low, interval.high])
    y = np.array([interval.low, *partner(low), interval.high])
    return np.stack([a.mass(ends[:-1], ends[1:]), b.mass(y[:-1], y[1:])], axis=-1)


def _panel_ends(model: GaussianMixture) -> np.ndarray:
    a, b = parts(model)
    ends = [part.mean + part.sd * np.linspace(-_REACH, _REACH, 41) for part in (a, b)]
    for x in crossings(a, b):
        slope = abs(a.standard(x) / a.sd - b.standard(x) / b.sd)
        ends.append(x + _TURN / max(slope, 1 / max(a.sd, b.sd)))
    every = np.concatenate(ends)
    reach = min(part.mean - _REACH * part.sd for part in (a, b)), max(part.mean + _REACH * part.sd for part in (a, b))
    return np.sort(np.clip(every, *reach))


def _panels(model: GaussianMixture, ends: np.ndarray) -> np.ndarray:
    """Return the masses at the points of each panel, shape (panels, points, 2)."""
    nodes, weights = _LEGENDRE
    half = np.diff(ends)[:, np.newaxis] / 2
    x = ends[:-1, np.newaxis] + half * (1 + nodes)
    return np.stack([half * weights * part.density(x) for part in parts(model)], axis=-1)
