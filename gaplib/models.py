"""The joint distribution of the public variable X and the private variable Y."""

from __future__ import annotations  # the reference then shows ArrayLike by its name

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks, _random


@dataclass(frozen=True, eq=False, init=False)
class BinaryModel:
    """A public bit X and a private bit Y with any joint distribution (Section 3 of the paper).

    Parameters
    ----------
    joint : array_like, shape (2, 2)
        ``joint[i, j] = P(X=i, Y=j)``, the paper's :math:`p_{i,j}`. Kept as a read-only float array, divided by its
        sum.

    Raises
    ------
    TypeError
        If `joint` does not hold real numbers.
    ValueError
        If `joint` is not 2 x 2, has a negative or non-finite cell, or does not sum to one within 1e-12. A table in
        single or half precision may miss it by four units in the last place.

    Examples
    --------
    >>> BinaryModel([[.25, .25], [.1, .4]]).p_y
    array([0.35, 0.65])
    """

    joint: np.ndarray

    def __init__(self, joint: ArrayLike) -> None:  # not the generated one, which would ask for an array
        object.__setattr__(self, "joint", _checks.joint_table("joint", joint))

    @classmethod
    def xor(cls, p: float, q: float) -> BinaryModel:
        """Return the paper's binary model: ``Y = X xor N`` with independent bits X and N.

        Parameters
        ----------
        p : float in [0, 1]
            P(X=1).
        q : float in [0, 1]
            P(N=1), the probability that Y differs from X.

        Returns
        -------
        BinaryModel

        Raises
        ------
        TypeError, ValueError
            If `p` or `q` is not a number in [0, 1].
        """
        p, q = _checks.real("p", p, 0, 1), _checks.real("q", q, 0, 1)
        return cls([[(1 - p) * (1 - q), (1 - p) * q], [p * q, p * (1 - q)]])

    @classmethod
    def from_sample(cls, x: ArrayLike, y: ArrayLike) -> BinaryModel:
        """Return the model of largest likelihood: each cell is as likely as it is frequent.

        Parameters
        ----------
        x, y : array_like of zeros and ones, shape (n,)
            Records: integers, floats or booleans.

        Returns
        -------
        BinaryModel

        Raises
        ------
        TypeError, ValueError
            If `x` or `y` is not as described, or their lengths differ.
        """
        x, y = _checks.bits("x", x), _checks.bits("y", y)
        _checks.same_shape(x, y)
        return cls(np.bincount(2 * x + y, minlength=4).reshape(2, 2) / x.size)

    @property
    def p_x(self) -> np.ndarray:
        """P(X=i), shape (2,)."""
        return self.joint.sum(axis=1)

    @property
    def p_y(self) -> np.ndarray:
        """P(Y=j), the adversary's prior, shape (2,)."""
        return self.joint.sum(axis=0)

    def sample(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw n independent records.

        Parameters
        ----------
        n : int from 1 to 1e9
            Number of records.
        seed : int >= 0
            The same seed gives the same records.

        Returns
        -------
        x, y : numpy.ndarray of int, shape (n,)

        Raises
        ------
        TypeError, ValueError
            If `n` or `seed` is not an integer in its range.
        """
        n = _checks.integer("n", n, 1, 10**9)
        uniform = _random.generator(seed, "BinaryModel.sample").random(n)
        # The table sums to one only up to rounding: scaled to its sum, no number falls beyond the last cell.
        steps = np.cumsum(self.joint.ravel())
        cell = np.searchsorted(steps, uniform * steps[-1], side="right")
        return cell // 2, cell % 2


def _refuse_rounded(x: np.ndarray, variance: float, label: int) -> None:
    """Refuse numbers that lie so far from 0 that what is left of their spread is the rounding of floats."""
    step = float(np.spacing(np.abs(x).max()))
    # To round numbers to multiples of a step adds about step^2 / 12 to their variance: less than a millionth of it.
    if step**2 / 12 > 1e-6 * variance:
        raise ValueError(
            f"x must vary by more than floats of its size tell apart, got numbers near {float(x[0])!r} where y is "
            f"{label}: floats there are {step:g} apart, and the standard deviation is {math.sqrt(variance):.3g}; "
            "subtract the offset before the numbers become floats"
        )


@dataclass(frozen=True)
class GaussianMixture:
    """A public number X that is Gaussian given a private bit Y (Section 4 of the paper).

    X given Y=0 is :math:`N(-\\mu, \\sigma_0^2)`, X given Y=1 is :math:`N(\\mu, \\sigma_1^2)`.

    Parameters
    ----------
    prior : float in (0, 1), at least 1e-50
        P(Y=1), the paper's :math:`\\tilde p`.
    mu : float in [0, 1e50]
        Half the distance of the two means.
    var0, var1 : float in [1e-50, 1e50]
        The variances of X given Y=0 and given Y=1, not the standard deviations.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not a number in its range.

    Examples
    --------
    >>> GaussianMixture(prior=.75, mu=3, var0=4, var1=1).p_y
    array([0.25, 0.75])
    """

    prior: float
    mu: float
    var0: float
    var1: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", _checks.strict_probability("prior", self.prior))
        object.__setattr__(self, "mu", _checks.real("mu", self.mu, 0, _checks.LARGEST_NUMBER))
        for name in ("var0", "var1"):
            variance = _checks.real(name, getattr(self, name), 1 / _checks.LARGEST_NUMBER, _checks.LARGEST_NUMBER)
            object.__setattr__(self, name, variance)

    @classmethod
    def from_sample(cls, x: ArrayLike, y: ArrayLike) -> GaussianMixture:
        """Return the model of largest likelihood, with the origin moved midway between the two means of the sample.

        No affine mechanism depends on the origin, so the numbers may have any offset that leaves them their digits.

        Parameters
        ----------
        x : array_like of float, shape (n,)
            Public numbers.
        y : array_like of zeros and ones, shape (n,)
            The private bits: integers, floats or booleans.

        Returns
        -------
        GaussianMixture

        Raises
        ------
        TypeError
            If `x` or `y` does not hold numbers.
        ValueError
            If the lengths differ, if a value of Y has fewer than two different numbers, if their offset is so large
            that floats in between are missing, or if the numbers given Y=1 are smaller on average than those given
            Y=0: then swap the labels.
        """
        largest = math.sqrt(_checks.LARGEST_NUMBER)  # so that no variance is larger than the model takes
        x, y = _checks.array("x", x, -largest, largest), _checks.bits("y", y)
        _checks.same_shape(x, y)
        groups = [x[y == label] for label in (0, 1)]
        for label, group in enumerate(groups):
            if group.size == 0 or group.min() == group.max():
                raise ValueError(
                    f"x must hold at least two different numbers where y is {label}, got {group[:5].tolist()}"
                )
        # Moments about a centre among the numbers: a large offset would leave their sums without the digits that count.
        centres = [float(np.median(group)) for group in groups]
        offsets = [group - centre for group, centre in zip(groups, centres, strict=True)]
        variances = [float(offset.var()) for offset in offsets]
        for label, (group, variance) in enumerate(zip(groups, variances, strict=True)):
            _refuse_rounded(group, variance, label)
        means = [float(offset.mean()) for offset in offsets]
        distance = (centres[1] - centres[0]) + (means[1] - means[0])
        if distance < 0:
            mean0, mean1 = (centre + mean for centre, mean in zip(centres, means, strict=True))
            raise ValueError(f"x must be larger on average where y is 1, got the means {mean0!r} and {mean1!r}")
        return cls(float(y.mean()), distance / 2, *variances)

    @property
    def p_y(self) -> np.ndarray:
        """P(Y=j), the adversary's prior, shape (2,)."""
        return np.array([1 - self.prior, self.prior])

    @property
    def var_y(self) -> float:
        """Var(Y) = p (1-p), without unit: to shift the two means by `beta` in all distorts by at least var_y beta^2."""
        return self.prior * (1 - self.prior)

    @property
    def means(self) -> np.ndarray:
        """E[X | Y=j], shape (2,)."""
        return np.array([-self.mu, self.mu])

    @property
    def variances(self) -> np.ndarray:
        """Var[X | Y=j], shape (2,)."""
        return np.array([self.var0, self.var1])

    def sample(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw n independent records.

        Parameters
        ----------
        n : int from 1 to 1e9
            Number of records.
        seed : int >= 0
            The same seed gives the same records.

        Returns
        -------
        x : numpy.ndarray of float, shape (n,)
        y : numpy.ndarray of int, shape (n,)

        Raises
        ------
        TypeError, ValueError
            If `n` or `seed` is not an integer in its range.
        """
        n = _checks.integer("n", n, 1, 10**9)
        random = _random.generator(seed, "GaussianMixture.sample")
        y = (random.random(n) < self.prior).astype(int)
        return self.means[y] + np.sqrt(self.variances)[y] * random.standard_normal(n), y


@dataclass(frozen=True, eq=False, init=False)
class FiniteModel:
    """A public letter X and a private value Y of any finite number of values, with any joint distribution.

    Parameters
    ----------
    joint : array_like, shape (n, m)
        ``joint[i, j] = P(X=i, Y=j)``, with n >= 1 letters and m >= 2 private values. Kept as a read-only float array,
        divided by its sum.
    points : array_like of float, shape (n,) or (n, d), optional
        Where letters are numbers or vectors: the place of each. Kept as a read-only float array of shape (n, d).

    Raises
    ------
    TypeError
        If `joint` or `points` does not hold real numbers.
    ValueError
        If `joint` has fewer than two columns, a negative or non-finite cell, or does not sum to one within 1e-12, or
        `points` has not one row of finite numbers for each letter.

    Examples
    --------
    >>> FiniteModel([[.25, .05], [.1, .2], [.1, .3]], points=[0, 1, 3]).p_x
    array([0.3, 0.3, 0.4])
    """

    joint: np.ndarray
    points: np.ndarray | None

    def __init__(self, joint: ArrayLike, points: ArrayLike | None = None) -> None:
        table = _checks.joint_table("joint", joint, None)
        if table.shape[1] < 2:
            raise ValueError(f"joint must have a column for each of at least two private values, got {table.shape}")
        object.__setattr__(self, "joint", table)
        object.__setattr__(self, "points", None if points is None else _points(points, table.shape[0]))

    @classmethod
    def from_sample(cls, x: ArrayLike, y: ArrayLike, points: ArrayLike | None = None) -> FiniteModel:
        """Return the distribution of largest likelihood: each cell is as likely as it is frequent.

        Parameters
        ----------
        x : array_like of int >= 0, shape (n,)
            The letters, by their numbers.
        y : array_like of int >= 0, shape (n,)
            The private values.
        points : array_like of float, shape (k,) or (k, d), optional
            The places of the letters 0 to k - 1; without them the letters end at the largest in `x`.

        Returns
        -------
        FiniteModel

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, or `x` and `y` differ in length.
        """
        x, y = _letters("x", x), _letters("y", y)
        _checks.same_shape(x, y)
        n = int(x.max()) + 1
        if points is not None:
            points = _checks.array("points", points)
            if points.ndim == 0 or len(points) < n:
                raise ValueError(f"points must have a row for each letter of x, {n} or more, got {points.shape}")
            n = len(points)
        joint = np.zeros((n, max(int(y.max()) + 1, 2)))
        np.add.at(joint, (x, y), 1)
        return cls(joint / x.size, points)

    @property
    def p_x(self) -> np.ndarray:
        """P(X=i), shape (n,)."""
        return self.joint.sum(axis=1)

    @property
    def p_y(self) -> np.ndarray:
        """P(Y=j), the adversary's prior, shape (m,)."""
        return self.joint.sum(axis=0)

    def sample(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw n independent records.

        Parameters
        ----------
        n : int from 1 to 1e9
            Number of records.
        seed : int >= 0
            The same seed gives the same records.

        Returns
        -------
        x, y : numpy.ndarray of int, shape (n,)
            Letters and private values by their numbers; ``points[x]`` are the places.

        Raises
        ------
        TypeError, ValueError
            If `n` or `seed` is not an integer in its range.
        """
        n = _checks.integer("n", n, 1, 10**9)
        uniform = _random.generator(seed, "FiniteModel.sample").random(n)
        steps = np.cumsum(self.joint.ravel())
        cell = np.searchsorted(steps, uniform * steps[-1], side="right")
        return cell // self.joint.shape[1], cell % self.joint.shape[1]


def _points(points: ArrayLike, n: int) -> np.ndarray:
    array = _checks.array("points", points, -_checks.LARGEST_NUMBER, _checks.LARGEST_NUMBER)
    if array.ndim not in (1, 2) or array.shape[0] != n or array.size == 0:
        raise ValueError(f"points must have the shape ({n},) or ({n}, d), a row for each letter, got {array.shape}")
    array = array.reshape(n, -1)
    array.flags.writeable = False
    return array


def _letters(name: str, value: ArrayLike) -> np.ndarray:
    allowed = "a one-dimensional array of integers >= 0"
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be {allowed}, got a ragged list") from None
    if array.dtype.kind not in "iu" or isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be {allowed}, got {type(value).__name__} with values of type {array.dtype}")
    if array.ndim != 1 or array.size == 0 or array.min() < 0:
        raise ValueError(
            f"{name} must be {allowed} and not empty, got shape {array.shape}: {array.ravel()[:5].tolist()}"
        )
    return array
