"""Maps on the line that see Y and bring its two values together."""

from __future__ import annotations  # the reference then shows ArrayLike by its name

from dataclasses import astuple, dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks, _line_pdd
from gaplib._weighted_normal import Part, parts
from gaplib.mechanisms.saved import Saved
from gaplib.models import GaussianMixture


@dataclass(frozen=True)
class TransportMap(Saved):
    """A deterministic mechanism on the line that sees Y: inside intervals, records meet halfway.

    In each interval both values of Y have the same mass under `model`. A record there has a partner, the record of the
    other Y below which as much mass of the interval lies, and both are released at their midpoint. Outside the
    intervals X itself is released.

    Parameters
    ----------
    model : GaussianMixture
        The distribution that defines the partners.
    intervals : sequence of pairs of float
        Their ends ``(low, high)``, from left to right, without overlap.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the two masses of an interval differ by more than a millionth of them.

    Examples
    --------
    >>> model = GaussianMixture(prior=.5, mu=3, var0=1, var1=1)
    >>> TransportMap(model, [(-2, 2)]).privatize([-1.5, 2.5], [0, 1], seed=0).round(4)
    array([0.0393, 2.5   ])
    """

    model: GaussianMixture
    intervals: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        _checks.instance("model", self.model, GaussianMixture)
        pairs = _checks.array("intervals", self.intervals)
        if pairs.size == 0:
            pairs = pairs.reshape(0, 2)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or (np.diff(pairs.ravel()) < 0).any():
            raise ValueError(f"intervals must be pairs (low, high) from left to right, got {self.intervals!r}")
        object.__setattr__(self, "intervals", tuple((float(low), float(high)) for low, high in pairs))
        a, b = parts(self.model)
        for low, high in self.intervals:
            # Of two masses that are differences of rounded numbers no more than that can be said.
            rounding = 1e-15 * (a.density(low) + b.density(low) + a.density(high) + b.density(high)) * abs(low - high)
            if abs(a.mass(low, high) - b.mass(low, high)) > 1e-6 * a.mass(low, high) + rounding + 1e-15:
                raise ValueError(
                    f"intervals must hold the same mass of both Y, got ({low:g}, {high:g}) with "
                    f"{float(a.mass(low, high)):g} and {float(b.mass(low, high)):g}"
                )

    def distortion(self, model: GaussianMixture) -> float:
        """Return E[(Xhat - X)^2], the expected squared distortion.

        Parameters
        ----------
        model : GaussianMixture
            Of the records; it may be another than the one that defines the partners.

        Returns
        -------
        float
            By quadrature, to about 1e-13 of it for the model that defines the partners.

        Raises
        ------
        TypeError
            If `model` is not a `GaussianMixture`.
        """
        _checks.instance("model", model, GaussianMixture)
        total = 0.0
        for low, high in self.intervals:
            mass, x, y = _line_pdd.partners(*parts(self.model), _line_pdd.Interval(low, high))
            density = sum(_density_ratio(model, self.model, at, j) for j, at in enumerate((x, y)))
            total += float(mass * (_line_pdd.WEIGHT * density) @ (y - x) ** 2) / 4
        return total

    def released(self, model: GaussianMixture, z: ArrayLike) -> np.ndarray:
        """Return the joint density of the release and Y.

        Parameters
        ----------
        model : GaussianMixture
            Of the records.
        z : array_like of float, shape (n,)
            Where.

        Returns
        -------
        numpy.ndarray, shape (n, 2)
            The density of ``P(Xhat in dz, Y=j)``.

        Raises
        ------
        TypeError, ValueError
            If `model` is not a `GaussianMixture`, or `z` does not hold finite numbers.
        """
        _checks.instance("model", model, GaussianMixture)
        z = _checks.array("z", z)
        a, b = parts(self.model)
        density = np.stack([part.density(z) for part in parts(model)], axis=-1)
        for low, high in self.intervals:
            inside = (low < z) & (z < high)
            x, y = _meeting(a, b, _line_pdd.Interval(low, high), z[inside])
            # x and y move on as 1 / a and 1 / b do, and z as half their sum.
            both = 2 / (1 / np.maximum(a.density(x), 1e-300) + 1 / np.maximum(b.density(y), 1e-300))
            density[inside, 0] = both * _density_ratio(model, self.model, x, 0)
            density[inside, 1] = both * _density_ratio(model, self.model, y, 1)
        return density

    def privatize(self, x: ArrayLike, y: ArrayLike, seed: int) -> np.ndarray:
        """Release each record.

        Parameters
        ----------
        x : array_like of float, shape (n,)
            The public numbers.
        y : array_like of the integers 0 and 1, shape (n,)
            The private bits.
        seed : int >= 0
            Taken as by every mechanism; nothing is drawn.

        Returns
        -------
        numpy.ndarray of float, shape (n,)

        Raises
        ------
        TypeError, ValueError
            If `x` holds anything but finite numbers, `y` anything but 0 and 1, their lengths differ, or `seed` is not
            an integer >= 0.
        """
        x, y = _checks.array("x", x), _checks.bits("y", y)
        _checks.same_shape(x, y)
        _checks.integer("seed", seed, 0)
        release, own = x.copy(), parts(self.model)
        for low, high in self.intervals:
            for j in (0, 1):
                moved = (low < x) & (x < high) & (y == j)
                partner = _line_pdd.transported(own[j], own[1 - j], _line_pdd.Interval(low, high), x[moved])
                release[moved] = (x[moved] + partner) / 2
        return release

    def _arrays(self) -> dict[str, np.ndarray]:
        return {"model": np.array(astuple(self.model), float), "intervals": np.reshape(self.intervals, (-1, 2))}

    @classmethod
    def _of_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        if arrays.keys() != {"model", "intervals"} or arrays["model"].shape != (4,):
            raise ValueError(f"it holds {', '.join(arrays)}")
        return cls(GaussianMixture(*arrays["model"].tolist()), arrays["intervals"])  # type: ignore[arg-type]


def _density_ratio(model: GaussianMixture, other: GaussianMixture, x: np.ndarray, y: int) -> np.ndarray:
    """Return how much larger the density of (X=x, Y=y) is under `model` than under `other`."""
    if model == other:
        return np.ones_like(x)
    return np.exp(np.minimum(parts(model)[y].log_density(x) - parts(other)[y].log_density(x), 700))


def _meeting(a: Part, b: Part, interval: _line_pdd.Interval, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two partners that are released at z."""
    low, high = np.full(z.shape, interval.low), np.full(z.shape, interval.high)
    for _ in range(60):  # the midpoint grows with x
        x = (low + high) / 2
        right = x + _line_pdd.transported(a, b, interval, x) < 2 * z
        low, high = np.where(right, x, low), np.where(right, high, x)
    x = (low + high) / 2
    return x, 2 * z - x
