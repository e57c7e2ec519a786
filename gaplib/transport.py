"""The optimum over all mechanisms: against a MAP adversary, privacy of a bit is partial optimal transport.

Let Y be a bit, ``mu_j(A) = P(X in A, Y=j)``, and ``d(x, z) >= 0`` the distortion, with ``d(x, x) = 0``. A mechanism
that sees Y (PDD) within the mean distortion D is read with an accuracy of at least

.. math:: 1 - A(D) = \\max\\Big\\{ g(1) : g \\ge 0,\\; g_0 \\le \\mu_0,\\; g_1 \\le \\mu_1,
   \\; \\int c\\, dg \\le D \\Big\\}, \\qquad c(x, x') = \\inf_z d(x, z) + d(x', z),

the most mass of the two values of Y that can be matched: each pair is released at its best z. For a mechanism that does
not see Y (PDI), what is matched is the lean ``mu_1 - mu_0`` of one sign with that of the other, and to move a unit of
lean at x costs 1 / eta(x) times d, with ``eta(x) = |P(Y=1|x) - P(Y=0|x)|``.

Finite models with more than 2,500 pairs to match, the Gaussian mixture when Y is not seen, and samples need POT,
which the extra ``transport`` of gaplib brings; without it they raise an ImportError that says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from gaplib import (
    _checks,
    _finite_program,
    _line_pdd,
    _line_pdi,
    _partial_transport,
    _sample_transport,
    binary,
    leakage,
)
from gaplib._distortion_table import Distortion, distortion_table
from gaplib._weighted_normal import crossings, parts
from gaplib.mechanisms import FiniteKernel, PiecewiseKernel, SamplePlan, TransportMap
from gaplib.models import BinaryModel, FiniteModel, GaussianMixture
from gaplib.optimum import Optimum

Model = BinaryModel | FiniteModel | GaussianMixture

# The bounds of the Gaussian mixture's PDI optimum are brought together at least to this.
_GAP = 5e-4


def optimal_pdd(model: Model, D: float, distortion: Distortion = None) -> Optimum:
    """Return the mechanism, of all that see Y, that a MAP adversary reads least well.

    For the Gaussian mixture it is deterministic: see `gaplib.mechanisms.TransportMap`. For a finite model and a bit it
    comes from the transport problem above, for more private values from the linear program over all kernels.

    Parameters
    ----------
    model : BinaryModel, FiniteModel or GaussianMixture
    D : float in [0, 1e50]
        Budget: the largest allowed mean distortion.
    distortion : {"hamming", "squared"}, array_like of shape (n, K), or None
        For a finite model with n letters, the cost of each of K letters of release. For the two words the letters
        themselves are released. None is "squared" where letters have points, and for bits and for the Gaussian mixture,
        which takes no other; it is "hamming" elsewhere.

    Returns
    -------
    Optimum
        For the Gaussian mixture the value is exact to about 1e-11 and the price is 1 / K for the chain cost K of the
        intervals. For finite models both are exact up to rounding, and `gap` says how far a dual solution confirms
        it. The price is infinite at D = 0 for the Gaussian mixture, if a first move helps; it is one of the possible
        ones at a kink of the curve.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or even the cheapest release of each letter costs more than D.
    RuntimeError
        If a solver does not report an optimum.
    """
    return _optima(model, [D], "pdd", distortion, _GAP)[0]


def optimal_pdi(model: Model, D: float, distortion: Distortion = None, gap: float = _GAP) -> Optimum:
    """Return the mechanism, of all that do not see Y, that a MAP adversary reads least well.

    Parameters
    ----------
    model : BinaryModel, FiniteModel or GaussianMixture
    D : float in [0, 1e50]
        Budget: the largest allowed mean distortion.
    distortion : {"hamming", "squared"}, array_like of shape (n, K), or None
        As for `optimal_pdd`.
    gap : float in [1e-5, 1]
        For the Gaussian mixture: how far the two bounds may be apart. The value is that of the mechanism; the bound
        below it is a dual solution for the continuous distribution.

    Returns
    -------
    Optimum
        Its `gap` is what was reached: for the Gaussian mixture at most `gap`, unless that would take more than a few
        thousand cells. Then the price is that of a program close to it.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or even the cheapest release of each letter costs more than D.
    RuntimeError
        If a solver does not report an optimum.
    """
    return _optima(model, [D], "pdi", distortion, _checks.real("gap", gap, 1e-5, 1))[0]


def trade_off(
    model: Model, budgets: ArrayLike, kind: str = "pdd", distortion: Distortion = None, gap: float = _GAP
) -> list[Optimum]:
    """Return the optima of many budgets, at the cost of few programs.

    Corners of the curve of a finite model, and the cells of a Gaussian mixture, serve all budgets.

    Parameters
    ----------
    model : BinaryModel, FiniteModel or GaussianMixture
    budgets : array_like of float, shape (n,)
    kind : {"pdd", "pdi"}
        Whether the mechanism may use Y.
    distortion, gap
        As for `optimal_pdi`.

    Returns
    -------
    list of Optimum
        One for each budget, in their order.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As for `optimal_pdi`, and if `budgets` is not one-dimensional or `kind` not one of the two.
    """
    array = _checks.array("budgets", budgets, 0, _checks.LARGEST_NUMBER)
    if array.ndim != 1:
        raise ValueError(f"budgets must be one-dimensional, got shape {array.shape}")
    _checks.choice("kind", kind, ("pdd", "pdi"))
    return _optima(model, array.tolist(), kind, distortion, _checks.real("gap", gap, 1e-5, 1))


def of_sample(x: ArrayLike, y: ArrayLike, D: float) -> Optimum:
    """Return the optimum of a sample itself, taken as a distribution: squared distortion, any release, Y seen.

    On average it is pessimistic for the distribution that the sample comes from, and more so in many dimensions.
    Whoever judges the plan by the records that it was made from is optimistic.

    Parameters
    ----------
    x : array_like of float, shape (n,) or (n, d)
        Records, numbers or vectors.
    y : array_like of the integers 0 and 1, shape (n,)
        The private bits.
    D : float in [0, 1e50]
        Budget: the largest allowed mean squared distance.

    Returns
    -------
    Optimum
        Its mechanism is a `SamplePlan`, and its `gap` is at most about 1e-6.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, the lengths differ, or the problem does not fit in memory: then the error
        names the largest number of records that does.
    RuntimeError
        If POT does not report an optimum.
    """
    x = _checks.array("x", x, -1e25, 1e25)
    values = np.asarray(y)
    if values.dtype.kind in "iu" and values.ndim == 1 and values.size and not np.isin(values, (0, 1)).all():
        raise ValueError(
            f"y must hold only 0 and 1, because the theorem is about a bit, got {np.unique(values)[:5].tolist()}; "
            "FiniteModel and optimal_pdd take more private values"
        )
    y = _checks.bits("y", y)
    if x.ndim not in (1, 2) or len(x) != len(y) or x.size == 0:
        raise ValueError(f"x must have the shape (n,) or (n, d) with the n = {len(y)} records of y, got {x.shape}")
    D = _checks.real("D", D, 0, _checks.LARGEST_NUMBER)
    x = x.reshape(len(y), -1)
    groups = [np.flatnonzero(y == label) for label in (0, 1)]
    n0, n1 = (len(group) for group in groups)
    if min(n0, n1) == 0:
        nothing = SamplePlan(x, np.zeros((0, 2), int), np.zeros(0), np.zeros((0, x.shape[1])))
        return Optimum(1.0, nothing, 0.0, 0.0)
    most = _sample_transport.most_records(n0, n1)
    if n0 + n1 > most:
        raise ValueError(
            f"x must have at most about {most} records to fit in the free memory of this machine, got {n0 + n1}"
        )
    unit = float(x.std(axis=0).max()) or 1.0
    point = _sample_transport.solve(x[groups[0]] / unit, x[groups[1]] / unit, D / unit**2)
    plan = point.solution.tocoo()
    pairs = np.stack([groups[0][plan.row], groups[1][plan.col]], axis=-1)
    mechanism = SamplePlan(x, pairs, plan.data, x[pairs].mean(axis=1))
    gap = max(point.leakage - point.floor, 0.0)
    return Optimum(1 + point.leakage, mechanism, mechanism.distortion(), point.price / unit**2, gap)


def independence_cost(model: FiniteModel | GaussianMixture) -> float:
    """Return the least mean squared distortion at which the release and the bit Y are independent.

    With Y seen and any point as a release: all of X given Y=0 is matched with all of X given Y=1, and what is released
    is the Wasserstein barycentre of the two distributions,

    .. math:: D = P(Y=0)\\, P(Y=1)\\, W_2^2.

    Parameters
    ----------
    model : FiniteModel with points and a private bit, or GaussianMixture

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If `model` is of another type, its letters have no points, or Y is not a bit.
    """
    if isinstance(model, GaussianMixture):
        spread = math.sqrt(model.var1) - math.sqrt(model.var0)
        return model.prior * (1 - model.prior) * (4 * model.mu**2 + spread**2)
    _checks.instance("model", model, FiniteModel)
    if model.points is None:
        raise ValueError("model must have points, got letters without")
    if model.joint.shape[1] > 2:
        raise ValueError(f"model must have a private bit, as the theorem assumes, got {model.joint.shape[1]} values")
    if model.p_y.min() == 0:
        return 0.0
    rows = [np.flatnonzero(model.joint[:, label] > 0) for label in (0, 1)]
    cost = ((model.points[rows[0], np.newaxis] - model.points[rows[1]]) ** 2).sum(axis=-1)
    left, right = (model.joint[row, label] / model.p_y[label] for label, row in enumerate(rows))
    plan = _partial_transport.match(left, right, cost, 0.0).plan
    return float(model.p_y.prod() * (plan * cost).sum())


def gelbrich_bound(prior: float, means: ArrayLike, covariances: ArrayLike) -> float:
    """Return a lower bound of the cost of independence that knows two moments only.

    .. math:: P(Y=0)\\, P(Y=1) \\Big[ |m_1 - m_0|^2
       + \\mathrm{tr}\\big(S_0 + S_1 - 2 (S_0^{1/2} S_1 S_0^{1/2})^{1/2}\\big) \\Big],

    which is `independence_cost` itself for two members of one elliptical family, two Gaussians for instance.

    Parameters
    ----------
    prior : float in (0, 1)
        P(Y=1).
    means : array_like of float, shape (2, d)
        E[X | Y=j].
    covariances : array_like of float, shape (2, d, d)
        Those of X given Y=j: symmetric, without negative eigenvalues.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """
    prior = _checks.strict_probability("prior", prior)
    means, covariances = _checks.array("means", means), _checks.array("covariances", covariances)
    if means.ndim != 2 or len(means) != 2 or covariances.shape != (2, means.shape[1], means.shape[1]):
        raise ValueError(
            f"means must have the shape (2, d) and covariances (2, d, d), got {means.shape} and {covariances.shape}"
        )
    roots = []
    for covariance in covariances:
        values, vectors = np.linalg.eigh(covariance)
        if not np.allclose(covariance, covariance.T) or values.min() < -1e-12 * max(values.max(), 1e-300):
            raise ValueError(f"covariances must be symmetric without negative eigenvalues, got {covariance.tolist()}")
        roots.append(vectors * np.sqrt(np.maximum(values, 0)))
    # The trace of (S0^.5 S1 S0^.5)^.5 is the sum of the singular values of a product of any two roots.
    common = np.linalg.svd(roots[0].T @ roots[1], compute_uv=False).sum()
    spread = np.trace(covariances[0]) + np.trace(covariances[1]) - 2 * common
    return float(prior * (1 - prior) * (((means[1] - means[0]) ** 2).sum() + max(spread, 0.0)))


def _optima(model: Model, budgets: Sequence[float], kind: str, distortion: Distortion, gap: float) -> list[Optimum]:
    budgets = [_checks.real("D", D, 0, _checks.LARGEST_NUMBER) for D in budgets]
    if isinstance(model, GaussianMixture):
        if distortion is not None and not (isinstance(distortion, str) and distortion == "squared"):
            raise ValueError(f"distortion must be 'squared' for a GaussianMixture, got {distortion!r}")
        return (
            [_line_pdd_optimum(model, D) for D in budgets] if kind == "pdd" else _line_pdi_optima(model, budgets, gap)
        )
    if isinstance(model, BinaryModel):
        table = distortion_table(model, distortion)
        if table.shape == (2, 2) and (table == 1 - np.eye(2)).all():
            solve = binary.optimal_pdd if kind == "pdd" else binary.optimal_pdi
            return [solve(model, D) for D in budgets]
        return _finite_optima(FiniteModel(model.joint), budgets, kind, table)
    if not isinstance(model, FiniteModel):
        raise TypeError(f"model must be a BinaryModel, FiniteModel or GaussianMixture, got {model!r}")
    return _finite_optima(model, budgets, kind, distortion_table(model, distortion))


def _finite_optima(model: FiniteModel, budgets: list[float], kind: str, table: np.ndarray) -> list[Optimum]:
    # In units of the dearest release, so that the solvers' tolerances mean the same for all units.
    unit = float(table.max()) or 1.0
    program = _finite_program.program(model.joint, table / unit, kind)
    least = program.least_distortion * unit
    optima = []
    for D in budgets:
        if D < least * (1 - 1e-12):
            raise ValueError(f"D must be at least {least:g}, what the cheapest release of each letter costs, got {D:g}")
        point, kernel = program.at(D / unit)
        mechanism = FiniteKernel(kernel)
        value = leakage.map_accuracy(model, mechanism)
        gap = max(value - point.floor, 0.0)
        optima.append(Optimum(value, mechanism, mechanism.distortion(model, table), point.price / unit, gap))
    return optima


def _unit(model: GaussianMixture) -> float:
    """Return the length in which the larger standard deviation is between 1 and 2: a power of two, so exact."""
    return 2.0 ** math.floor(math.log2(max(model.var0, model.var1)) / 2)


def _line_pdd_optimum(model: GaussianMixture, D: float) -> Optimum:
    unit = _unit(model)
    value, intervals, price = _line_pdd.accuracy_floor(*parts(model, unit), D / unit**2)
    mechanism = TransportMap(model, tuple((low * unit, high * unit) for low, high in intervals))
    return Optimum(value, mechanism, mechanism.distortion(model), price / unit**2)


def _line_pdi_optima(model: GaussianMixture, budgets: list[float], gap: float) -> list[Optimum]:
    unit = _unit(model)
    a, b = parts(model, unit)
    unmoved = PiecewiseKernel([-unit, unit], [], [], [])
    most = leakage.map_accuracy(model, unmoved)
    optima: dict[int, Optimum] = {}
    if not crossings(a, b) or most - max(model.p_y) <= 1e-12:  # no more than the cells leave out
        return [Optimum(most, unmoved, 0.0, 0.0, most - float(max(model.p_y))) for _ in budgets]
    positive = [D for D in budgets if D > 0]
    for number, found in zip(
        (i for i, D in enumerate(budgets) if D > 0),
        _line_pdi.solve(a, b, [D / unit**2 for D in positive], gap) if positive else [],
        strict=True,
    ):
        mechanism = PiecewiseKernel(found.edges * unit, found.cells, found.points * unit, found.probabilities)
        value = leakage.map_accuracy(model, mechanism)
        optima[number] = Optimum(
            value, mechanism, mechanism.distortion(model), found.price / unit**2, max(value - found.floor, 0.0)
        )
    nothing = Optimum(most, unmoved, 0.0, math.inf)
    return [optima.get(number, nothing) for number in range(len(budgets))]
