"""A Gaussian density times a weight: masses, quantiles and moments that stay accurate in the tails."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy  # scipy.special is loaded when it is first used: that takes longer than all other imports together

from gaplib.models import GaussianMixture

Numbers = Any  # a float or an array; what comes back is of the same kind

_LEGENDRE = np.polynomial.legendre.leggauss(10)
# Beyond so many standard deviations a Gaussian has a mass below the smallest float.
REACH = 37.0


class Part(NamedTuple):
    """The measure P(X in dx, Y=j) of one value of Y: `weight` times the density of N(mean, sd^2)."""

    weight: float
    mean: float
    sd: float

    def standard(self, x: Numbers) -> Numbers:
        """Return x in standard deviations from the mean."""
        return (x - self.mean) / self.sd

    def below(self, x: Numbers) -> Numbers:
        """Return the mass in (-inf, x]."""
        return self.weight * scipy.special.ndtr(self.standard(x))

    def above(self, x: Numbers) -> Numbers:
        """Return the mass in [x, inf)."""
        return self.weight * scipy.special.ndtr(-self.standard(x))

    def mass(self, low: Numbers, high: Numbers) -> np.ndarray:
        """Return the mass in [low, high], as a difference of the smaller tails."""
        low, high = self.standard(low), self.standard(high)
        flip = low > -high
        smaller, larger = np.where(flip, -high, low), np.where(flip, -low, high)
        return self.weight * (scipy.special.ndtr(larger) - scipy.special.ndtr(smaller))

    def split(self, low: float, x: np.ndarray, high: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the masses in [low, x] and [x, high]: each point's tail serves both."""
        z, ndtr = self.standard(x), scipy.special.ndtr
        left, tail = z < 0, ndtr(-np.abs(z))
        z_low, z_high = self.standard(low), self.standard(high)
        if z_low < 0:
            under = np.where(left, tail - ndtr(z_low), ndtr(-z_low) - tail)
        else:
            under = ndtr(-z_low) - tail
        if z_high > 0:
            over = np.where(left, ndtr(z_high) - tail, tail - ndtr(-z_high))
        else:
            over = ndtr(z_high) - tail
        return self.weight * under, self.weight * over

    def log_mass(self, low: float, high: float) -> float:
        """Return the logarithm of the mass in [low, high], where the mass itself may be below all floats."""
        low, high = self.standard(low), self.standard(high)
        if low > 0:
            low, high = -high, -low
        larger, smaller = scipy.special.log_ndtr(high), scipy.special.log_ndtr(low)
        left = -math.expm1(smaller - larger)
        return math.log(self.weight) + larger + math.log(left) if left > 0 else -math.inf

    def quantile(self, below: np.ndarray, above: np.ndarray) -> np.ndarray:
        """Return the x with the mass `below` under it and `above` over it, from the smaller of the two."""
        low = below <= above
        smaller = np.where(low, below, above) / self.weight
        z = scipy.special.ndtri(np.clip(smaller, 0, 0.5))  # differences of masses may be negative by rounding
        return self.mean + self.sd * np.where(low, z, -z)

    def first_moment(self, low: Numbers, high: Numbers, z: Numbers) -> np.ndarray:
        """Return the integral of x - z over [low, high]."""
        nodes, weights = _LEGENDRE
        a, b = self.standard(low), self.standard(high)
        half = np.expand_dims((b - a) / 2, -1)
        u = np.expand_dims(a, -1) + half * (1 + nodes)
        off = (u - np.expand_dims(self.standard(z), -1)) * np.exp(-(u**2) / 2)
        narrow = (half * weights * off).sum(axis=-1) / math.sqrt(2 * math.pi)
        ends = (np.exp(-(a**2) / 2) - np.exp(-(b**2) / 2)) / math.sqrt(2 * math.pi)
        wide = ends - self.standard(z) * self.mass(low, high) / self.weight
        return self.weight * self.sd * np.where(b - a < 0.5, narrow, wide)

    def second_moment(self, low: Numbers, high: Numbers, z: Numbers) -> np.ndarray:
        """Return the integral of (x - z)^2 over [low, high]."""
        a, b = self.standard(low), self.standard(high)
        at = self.standard(z)
        phi_a, phi_b = np.exp(-(a**2) / 2), np.exp(-(b**2) / 2)
        ends = ((a - 2 * at) * phi_a - (b - 2 * at) * phi_b) / math.sqrt(2 * math.pi)
        exact = (1 + at**2) * self.mass(low, high) + self.weight * ends
        # In a narrow cell the terms cancel: there a short rule is exact.
        nodes, weights = _LEGENDRE
        half = np.expand_dims((b - a) / 2, -1)
        u = np.expand_dims(a, -1) + half * (1 + nodes)
        integrand = (u - np.expand_dims(at, -1)) ** 2 * np.exp(-(u**2) / 2)
        narrow = self.weight * (half * weights * integrand).sum(axis=-1) / math.sqrt(2 * math.pi)
        return self.sd**2 * np.where(b - a < 0.5, narrow, exact)

    def log_density(self, x: Numbers) -> Numbers:
        """Return the logarithm of the weighted density."""
        return math.log(self.weight / self.sd) - math.log(2 * math.pi) / 2 - self.standard(x) ** 2 / 2

    def density(self, x: Numbers) -> Numbers:
        """Return the weighted density."""
        return np.exp(self.log_density(x))


def parts(model: GaussianMixture, unit: float = 1.0) -> tuple[Part, Part]:
    """Return the measures of Y=0 and Y=1, with lengths measured in `unit`."""
    return (
        Part(1 - model.prior, -model.mu / unit, math.sqrt(model.var0) / unit),
        Part(model.prior, model.mu / unit, math.sqrt(model.var1) / unit),
    )


def log_odds(a: Part, b: Part) -> tuple[float, float, float]:
    """Return q, l, c with ln(b / a) = q x^2 + l x + c, x measured from midway between the two means."""
    half = (b.mean - a.mean) / 2
    inverse0, inverse1 = 1 / a.sd**2, 1 / b.sd**2
    level = math.log(b.weight) - math.log(a.weight) + math.log(a.sd / b.sd)
    q = (inverse0 - inverse1) / 2
    return q, half * (inverse0 + inverse1), half**2 * q + level


def crossings(a: Part, b: Part) -> list[float]:
    """Return the points at which the two densities change places, in order."""
    centre, half = (a.mean + b.mean) / 2, (b.mean - a.mean) / 2
    q, slope, level = log_odds(a, b)
    if q == 0:
        return [centre - level / slope] if slope != 0 else []
    # The discriminant without the terms that cancel.
    discriminant = (2 * half / (a.sd * b.sd)) ** 2 - 4 * q * (level - half**2 * q)
    if discriminant <= 0:
        return []
    root = -(slope + math.copysign(math.sqrt(discriminant), slope)) / 2
    return sorted(centre + x for x in (root / q, level / root) if math.isfinite(x))
