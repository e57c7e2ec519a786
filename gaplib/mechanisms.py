"""What is released: the privatizer's side of the game."""

from __future__ import annotations  # the reference then shows ArrayLike by its name

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks, _line_pdd, _random
from gaplib._distortion_table import Distortion, distortion_table
from gaplib._weighted_normal import Part, parts
from gaplib.models import BinaryModel, FiniteModel, GaussianMixture

# The largest budget over the smallest prior. A rare Y can be moved and blurred as far as the square root of that.
_LARGEST_PARAMETER = _checks.LARGEST_NUMBER**2


@dataclass(frozen=True)
class BinaryKernel:
    """The probability that the public bit is released unchanged, for each pair of bits (Section 3.1.1 of the paper).

    The mechanism is private-data independent (PDI) if ``s00 == s01`` and ``s10 == s11``: it does not look at Y.
    Otherwise it is private-data dependent (PDD).

    Parameters
    ----------
    s00 : float in [0, 1]
        ``P(Xhat=0 | X=0, Y=0)``.
    s01 : float in [0, 1]
        ``P(Xhat=0 | X=0, Y=1)``.
    s10 : float in [0, 1]
        ``P(Xhat=1 | X=1, Y=0)``.
    s11 : float in [0, 1]
        ``P(Xhat=1 | X=1, Y=1)``.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not a number in [0, 1].

    Examples
    --------
    >>> BinaryKernel(1, 1, 1, .5).distortion(BinaryModel.xor(.5, .25))
    0.1875
    """

    s00: float
    s01: float
    s10: float
    s11: float

    def __post_init__(self) -> None:
        for name in ("s00", "s01", "s10", "s11"):
            object.__setattr__(self, name, _checks.real(name, getattr(self, name), 0, 1))

    @property
    def keep(self) -> np.ndarray:
        """The parameters as a table, ``keep[i, j] = sij``, shape (2, 2)."""
        return np.array([[self.s00, self.s01], [self.s10, self.s11]])

    def distortion(self, model: BinaryModel) -> float:
        """Return P(Xhat != X), the expected Hamming distortion.

        Parameters
        ----------
        model : BinaryModel

        Returns
        -------
        float

        Raises
        ------
        TypeError
            If `model` is not a `BinaryModel`.
        """
        joint = _checks.instance("model", model, BinaryModel).joint
        return float((joint * (1 - self.keep)).sum())

    def released(self, model: BinaryModel) -> np.ndarray:
        """Return the joint distribution of what the adversary sees and what it wants.

        Parameters
        ----------
        model : BinaryModel

        Returns
        -------
        numpy.ndarray, shape (2, 2)
            ``released[k, j] = P(Xhat=k, Y=j)``: the mass that stays in row k and the mass flipped into it.

        Raises
        ------
        TypeError
            If `model` is not a `BinaryModel`.
        """
        joint = _checks.instance("model", model, BinaryModel).joint
        return joint * self.keep + (joint * (1 - self.keep))[::-1]

    def privatize(self, x: ArrayLike, y: ArrayLike, seed: int) -> np.ndarray:
        """Release each record through the mechanism, independently of the others.

        Parameters
        ----------
        x : array_like of zeros and ones, shape (n,)
            The public bits: integers, floats or booleans.
        y : array_like of zeros and ones, shape (n,)
            The private bits, likewise. A PDI mechanism takes them too, and its release does not depend on them.
        seed : int >= 0
            The same seed gives the same release. The stream is independent of the one that
            `BinaryModel.sample` draws from with the same seed.

        Returns
        -------
        numpy.ndarray of int, shape (n,)

        Raises
        ------
        TypeError, ValueError
            If `x` or `y` holds anything but 0 and 1, their lengths differ, or `seed` is not an integer >= 0.
        """
        x, y = _checks.bits("x", x), _checks.bits("y", y)
        _checks.same_shape(x, y)
        uniform = _random.generator(seed, "BinaryKernel.privatize").random(x.size)
        return np.where(uniform < self.keep[x, y], x, 1 - x)


@dataclass(frozen=True)
class AffineGaussian:
    """A shift and Gaussian noise for each value of the private bit (Section 4 of the paper).

    .. math:: \\hat X = X + (1-Y)(\\beta_0 + \\gamma_0 N) - Y(\\beta_1 - \\gamma_1 N), \\qquad N \\sim N(0, 1).

    Positive shifts move the two means of a `GaussianMixture` towards each other. The mechanism is private-data
    independent (PDI) if ``beta0 == -beta1`` and ``gamma0 == gamma1``.

    Parameters
    ----------
    beta0, beta1 : float in [-1e100, 1e100]
        The shift to the right where Y=0, and to the left where Y=1.
    gamma0, gamma1 : float in [0, 1e100]
        The standard deviation of the noise where Y=0, and where Y=1.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not a number in its range.

    Examples
    --------
    >>> AffineGaussian(1, 1, 0, 2).distortion(GaussianMixture(prior=.5, mu=3, var0=1, var1=1))
    3.0
    """

    beta0: float
    beta1: float
    gamma0: float
    gamma1: float

    def __post_init__(self) -> None:
        for name in ("beta0", "beta1", "gamma0", "gamma1"):
            low = 0 if name.startswith("gamma") else -_LARGEST_PARAMETER
            object.__setattr__(self, name, _checks.real(name, getattr(self, name), low, _LARGEST_PARAMETER))

    @property
    def shifts(self) -> np.ndarray:
        """E[Xhat - X | Y=j], shape (2,)."""
        return np.array([self.beta0, -self.beta1])

    @property
    def scales(self) -> np.ndarray:
        """The standard deviation of the noise given Y=j, shape (2,)."""
        return np.array([self.gamma0, self.gamma1])

    def distortion(self, model: GaussianMixture) -> float:
        """Return E[(Xhat - X)^2], the expected squared distortion.

        Parameters
        ----------
        model : GaussianMixture
            Only its prior matters.

        Returns
        -------
        float

        Raises
        ------
        TypeError
            If `model` is not a `GaussianMixture`.
        """
        _checks.instance("model", model, GaussianMixture)
        return float(model.p_y @ (self.shifts**2 + self.scales**2))

    def released(self, model: GaussianMixture) -> tuple[np.ndarray, np.ndarray]:
        """Return the distributions of the release: given Y, it is Gaussian again.

        Parameters
        ----------
        model : GaussianMixture

        Returns
        -------
        means : numpy.ndarray, shape (2,)
            E[Xhat | Y=j].
        variances : numpy.ndarray, shape (2,)
            Var[Xhat | Y=j].

        Raises
        ------
        TypeError
            If `model` is not a `GaussianMixture`.
        """
        _checks.instance("model", model, GaussianMixture)
        return model.means + self.shifts, model.variances + self.scales**2

    def privatize(self, x: ArrayLike, y: ArrayLike, seed: int) -> np.ndarray:
        """Release each record through the mechanism, independently of the others.

        Parameters
        ----------
        x : array_like of float, shape (n,)
            The public numbers.
        y : array_like of zeros and ones, shape (n,)
            The private bits: integers, floats or booleans.
        seed : int >= 0
            The same seed gives the same release. The stream is independent of the one that
            `GaussianMixture.sample` draws from with the same seed.

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
        noise = _random.generator(seed, "AffineGaussian.privatize").standard_normal(x.size)
        return x + self.shifts[y] + self.scales[y] * noise


@dataclass(frozen=True, eq=False, init=False)
class FiniteKernel:
    """The probability of each release, for each letter and each private value.

    Parameters
    ----------
    kernel : array_like, shape (n, m, K)
        ``kernel[i, j, k] = P(Xhat=k | X=i, Y=j)``. It is private-data independent (PDI) if it is the same for all j.
        Kept as a read-only float array, with rows divided by their sums.

    Raises
    ------
    TypeError, ValueError
        If `kernel` is not a table of this shape of probabilities that sum to one over k, within 1e-9 or the rounding of
        its type.

    Examples
    --------
    >>> model = FiniteModel([[.4, .1], [.1, .4]])
    >>> FiniteKernel([[[1, 0], [1, 0]], [[.5, .5], [.5, .5]]]).distortion(model)
    0.25
    """

    kernel: np.ndarray

    def __init__(self, kernel: ArrayLike) -> None:
        table = _checks.array("kernel", kernel, 0)
        if table.ndim != 3 or table.size == 0:
            raise ValueError(f"kernel must have the shape (n, m, K), got {table.shape}")
        with np.errstate(over="ignore"):
            total = table.sum(axis=2)
        if abs(total - 1).max() > max(1e-9, _checks.sum_tolerance(np.asarray(kernel).dtype, table.shape[2])):
            worst = float(total.ravel()[abs(total - 1).argmax()])
            raise ValueError(f"kernel must sum to one over its last axis, got the sum {worst!r}")
        table = table / total[..., np.newaxis]
        table.flags.writeable = False
        object.__setattr__(self, "kernel", table)

    def _joint(self, model: FiniteModel | BinaryModel) -> np.ndarray:
        if not isinstance(model, BinaryModel):
            _checks.instance("model", model, FiniteModel)
        if model.joint.shape != self.kernel.shape[:2]:
            raise ValueError(
                f"model must have the {self.kernel.shape[0]} letters and {self.kernel.shape[1]} private values of the "
                f"kernel, got {model.joint.shape}"
            )
        return model.joint

    def distortion(self, model: FiniteModel | BinaryModel, distortion: Distortion = None) -> float:
        """Return the expected distortion.

        Parameters
        ----------
        model : FiniteModel or BinaryModel
            Of the kernel's letters and private values.
        distortion : {"hamming", "squared"}, array_like of shape (n, K), or None
            The cost of each release of each letter. The two words need the letters themselves as releases; None is
            "squared" where letters have points, and "hamming" elsewhere.

        Returns
        -------
        float

        Raises
        ------
        TypeError, ValueError
            If `model` or `distortion` does not fit the kernel.
        """
        joint = self._joint(model)
        table = distortion_table(model, distortion)
        if table.shape[1] != self.kernel.shape[2]:
            raise ValueError(
                f"distortion must have a column for each of the {self.kernel.shape[2]} letters of release, got shape "
                f"{table.shape}"
            )
        return float(np.einsum("ij,ijk,ik->", joint, self.kernel, table))

    def released(self, model: FiniteModel | BinaryModel) -> np.ndarray:
        """Return the joint distribution of what the adversary sees and what it wants.

        Parameters
        ----------
        model : FiniteModel or BinaryModel
            Of the kernel's letters and private values.

        Returns
        -------
        numpy.ndarray, shape (K, m)
            ``released[k, j] = P(Xhat=k, Y=j)``.

        Raises
        ------
        TypeError, ValueError
            If `model` does not fit the kernel.
        """
        return np.einsum("ij,ijk->kj", self._joint(model), self.kernel)

    def privatize(self, x: ArrayLike, y: ArrayLike, seed: int) -> np.ndarray:
        """Release each record through the mechanism, independently of the others.

        Parameters
        ----------
        x : array_like of int in [0, n), shape (r,)
            Letters, by their numbers.
        y : array_like of int in [0, m), shape (r,)
            Private values.
        seed : int >= 0
            The same seed gives the same release.

        Returns
        -------
        numpy.ndarray of int, shape (r,)
            The letters of release, by their numbers.

        Raises
        ------
        TypeError, ValueError
            If `x` or `y` is not as described, their lengths differ, or `seed` is not an integer >= 0.
        """
        x, y = _numbers("x", x, self.kernel.shape[0]), _numbers("y", y, self.kernel.shape[1])
        _checks.same_shape(x, y)
        uniform = _random.generator(seed, "FiniteKernel.privatize").random(x.size)
        steps = np.cumsum(self.kernel, axis=2)[x, y]
        return (uniform[:, np.newaxis] * steps[:, -1:] >= steps).sum(axis=1)


@dataclass(frozen=True)
class TransportMap:
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
    array([0.0853, 2.5   ])
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
            density = _density_ratio(model, self.model, x, 0) + _density_ratio(model, self.model, y, 1)
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


@dataclass(frozen=True, eq=False, init=False)
class PiecewiseKernel:
    """A mechanism on the line that does not see Y: some records of a cell are released at chosen points.

    A record in cell i is released at ``points[e]`` with probability ``probabilities[e]``, for each e with
    ``cells[e] == i``, and else as it is.

    Parameters
    ----------
    edges : array_like of float, shape (n + 1,)
        The ends of the n cells, increasing. What lies outside is released as it is.
    cells : array_like of int in [0, n), shape (E,)
    points : array_like of float, shape (E,)
    probabilities : array_like of float in [0, 1], shape (E,)
        Those of a cell sum to at most one.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> model = GaussianMixture(prior=.5, mu=3, var0=1, var1=1)
    >>> round(PiecewiseKernel([-1, 0, 1], [0, 1], [0, 0], [1, 1]).distortion(model), 6)
    0.011488
    """

    edges: np.ndarray
    cells: np.ndarray
    points: np.ndarray
    probabilities: np.ndarray

    def __init__(self, edges: ArrayLike, cells: ArrayLike, points: ArrayLike, probabilities: ArrayLike) -> None:
        edges = _checks.array("edges", edges)
        if edges.ndim != 1 or edges.size < 2 or not (np.diff(edges) > 0).all():
            raise ValueError(f"edges must increase and have at least two entries, got {edges.ravel()[:5].tolist()}")
        cells = _numbers("cells", cells, edges.size - 1, empty=True)
        points, share = _checks.array("points", points), _checks.array("probabilities", probabilities, 0, 1)
        if not cells.shape == points.shape == share.shape:
            raise ValueError(
                f"cells, points and probabilities must have the same length, got {cells.shape}, {points.shape} and "
                f"{share.shape}"
            )
        total = np.bincount(cells, share, edges.size - 1)
        if total.max() > 1 + _checks.sum_tolerance(np.asarray(probabilities).dtype, cells.size):
            raise ValueError(f"probabilities must sum to at most one in each cell, got {float(total.max())!r}")
        share = share / np.where(total > 1 + _checks.SUM_TOLERANCE, total, 1)[cells]
        for name, value in (("edges", edges), ("cells", cells), ("points", points), ("probabilities", share)):
            value = value.copy()
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def kept(self) -> np.ndarray:
        """The probability with which a record of each cell is released as it is, shape (n,)."""
        return np.maximum(1 - np.bincount(self.cells, self.probabilities, self.edges.size - 1), 0)

    def distortion(self, model: GaussianMixture) -> float:
        """Return E[(Xhat - X)^2], the expected squared distortion, from the moments of the cells.

        Parameters
        ----------
        model : GaussianMixture

        Returns
        -------
        float

        Raises
        ------
        TypeError
            If `model` is not a `GaussianMixture`.
        """
        _checks.instance("model", model, GaussianMixture)
        low, high = self.edges[self.cells], self.edges[self.cells + 1]
        of_0, of_1 = (part.second_moment(low, high, self.points) for part in parts(model))
        return float(self.probabilities @ np.broadcast_to(of_0 + of_1, self.cells.shape))

    def released(self, model: GaussianMixture) -> tuple[np.ndarray, np.ndarray]:
        """Return the masses that are released at the chosen points.

        What else is released has the density of X times `kept`, cell by cell.

        Parameters
        ----------
        model : GaussianMixture

        Returns
        -------
        points : numpy.ndarray, shape (K,)
            The different points, increasing.
        masses : numpy.ndarray, shape (K, 2)
            ``P(Xhat=points[k], Y=j)``.

        Raises
        ------
        TypeError
            If `model` is not a `GaussianMixture`.
        """
        _checks.instance("model", model, GaussianMixture)
        points, at = np.unique(self.points, return_inverse=True)
        masses = np.zeros((points.size, 2))
        for j, part in enumerate(parts(model)):
            cells = part.mass(self.edges[:-1], self.edges[1:])
            np.add.at(masses[:, j], at, cells[self.cells] * self.probabilities)
        return points, masses

    def privatize(self, x: ArrayLike, y: ArrayLike, seed: int) -> np.ndarray:
        """Release each record through the mechanism, independently of the others.

        Parameters
        ----------
        x : array_like of float, shape (n,)
            The public numbers.
        y : array_like of the integers 0 and 1, shape (n,)
            The private bits; the release does not depend on them.
        seed : int >= 0
            The same seed gives the same release.

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
        uniform = _random.generator(seed, "PiecewiseKernel.privatize").random(x.size)
        # The entries of a cell stand side by side: the uniform number of a record, added to those of the cells before
        # its own, finds one of them, or falls beyond the last.
        order = np.argsort(self.cells, kind="stable")
        steps = np.concatenate([[0.0], np.cumsum(self.probabilities[order])])
        first = np.searchsorted(self.cells[order], np.arange(self.edges.size))
        cell = np.searchsorted(self.edges, x, side="right") - 1
        inside = (0 <= cell) & (cell < self.edges.size - 1)
        cell = np.where(inside, cell, 0)
        entry = np.searchsorted(steps, steps[first[cell]] + uniform, side="right") - 1
        moved = inside & (entry < first[cell + 1])
        release = x.copy()
        release[moved] = self.points[order][entry[moved]]
        return release


@dataclass(frozen=True, eq=False)
class SamplePlan:
    """What is done with each record of a sample: pairs of records with different Y are released at their midpoints.

    Attributes
    ----------
    x : numpy.ndarray, shape (n, d)
        The records.
    pairs : numpy.ndarray of int, shape (k, 2)
        The numbers of a record with Y=0 and of one with Y=1.
    shares : numpy.ndarray, shape (k,)
        With what probability each pair is released together; those of a record sum to at most one.
    points : numpy.ndarray, shape (k, d)
        Where.
    """

    x: np.ndarray
    pairs: np.ndarray
    shares: np.ndarray
    points: np.ndarray

    def distortion(self) -> float:
        """Return the mean squared distance between the release and the record.

        Returns
        -------
        float
        """
        squares = ((self.points[:, np.newaxis] - self.x[self.pairs]) ** 2).sum(axis=(1, 2))
        return float(self.shares @ squares) / len(self.x)

    def privatize(self, seed: int) -> np.ndarray:
        """Release the records of the sample.

        Parameters
        ----------
        seed : int >= 0
            For the records that are in more pairs than one, or partly in a pair.

        Returns
        -------
        numpy.ndarray, shape (n, d)

        Raises
        ------
        TypeError, ValueError
            If `seed` is not an integer >= 0.
        """
        uniform = _random.generator(seed, "SamplePlan.privatize").random(len(self.x))
        release, used = self.x.copy(), np.zeros(len(self.x))
        for pair, share, point in zip(self.pairs, self.shares, self.points, strict=True):
            for record in pair:
                if used[record] <= uniform[record] < used[record] + share:
                    release[record] = point
                used[record] += share
        return release


def _numbers(name: str, value: ArrayLike, n: int, empty: bool = False) -> np.ndarray:
    """Return `value` as a one-dimensional array of integers in [0, n)."""
    allowed = f"a one-dimensional array of integers in [0, {n - 1}]"
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be {allowed}, got a ragged list") from None
    if empty and array.size == 0:
        return np.zeros(0, int)
    if array.dtype.kind not in "iu" or isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be {allowed}, got {type(value).__name__} with values of type {array.dtype}")
    if array.ndim != 1 or array.size == 0 or array.min() < 0 or array.max() >= n:
        raise ValueError(f"{name} must be {allowed}, got shape {array.shape}: {array.ravel()[:5].tolist()}")
    return array
