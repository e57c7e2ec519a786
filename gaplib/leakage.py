"""What an adversary learns about Y from the release.

Sums over Xhat are written for a bit. For the Gaussian mixture they are integrals: the MAP accuracy is exact all the
same, the other measures are found by quadrature, to about 1e-14 (Arimoto's of orders below 0.05 less well, where a
sum over all releases is dominated by the rarest).
"""

from typing import TypeVar

import numpy as np

from gaplib import _checks, _line_leakage
from gaplib._normals import TwoNormals
from gaplib.mechanisms import AffineGaussian, BinaryKernel, FiniteKernel, PiecewiseKernel, SamplePlan, TransportMap
from gaplib.models import BinaryModel, FiniteModel, GaussianMixture

T = TypeVar("T")
Model = BinaryModel | FiniteModel | GaussianMixture
# Whatever an `Optimum` may hold, so that it can be passed on; a `SamplePlan` is refused, since it fits no model.
Mechanism = BinaryKernel | FiniteKernel | AffineGaussian | TransportMap | PiecewiseKernel | SamplePlan


def map_accuracy(model: Model, mechanism: Mechanism) -> float:
    """Return the probability that the best guess of Y from the release is right.

    The maximum a posteriori (MAP) adversary knows the model and the mechanism and names, for each value of Xhat,
    the likelier Y:

    .. math:: P_d = \\sum_{k} \\max_j P(\\hat X = k, Y = j).

    For the Gaussian mixture it guesses the Y of the smaller variance between the two roots of a quadratic; at equal
    variances this is the paper's Equation 37.

    Parameters
    ----------
    model : BinaryModel, FiniteModel or GaussianMixture
    mechanism : BinaryKernel or FiniteKernel; FiniteKernel; AffineGaussian, TransportMap or PiecewiseKernel
        As the model demands, in this order.

    Returns
    -------
    float
        Between max P(Y=j) and 1.

    Raises
    ------
    TypeError
        If `model` is of another type, or `mechanism` not of the type that fits it.
    """
    if isinstance(model, GaussianMixture) and isinstance(mechanism, TransportMap | PiecewiseKernel):
        return float(_line_leakage.masses(model, mechanism).max(axis=1).sum())
    if isinstance(model, GaussianMixture):
        return float(_normals(model, mechanism).map_accuracy())
    return float(_table(model, mechanism).max(axis=1).sum())


def mutual_information(model: Model, mechanism: Mechanism) -> float:
    """Return I(Y; Xhat), what the release tells about Y on average, in nats.

    .. math:: I(Y;\\hat X) = \\sum_{k,j} P(k, j) \\ln \\frac{P(k, j)}{P(\\hat X=k)\\,P(Y=j)},
       \\qquad P(k, j) = P(\\hat X=k, Y=j).

    Parameters
    ----------
    model : BinaryModel, FiniteModel or GaussianMixture
    mechanism : BinaryKernel or FiniteKernel; FiniteKernel; AffineGaussian, TransportMap or PiecewiseKernel
        As the model demands, in this order.

    Returns
    -------
    float
        In nats; at least 0 up to rounding (about 1e-16) and at most ln m for m private values.

    Raises
    ------
    TypeError
        If `model` is of another type, or `mechanism` not of the type that fits it.
    """
    released = _released(model, mechanism)
    row = np.broadcast_to(released.sum(axis=1, keepdims=True), released.shape)
    column = np.broadcast_to(released.sum(axis=0), released.shape)
    cells = released > 0  # a cell without mass adds nothing
    # Two logarithms, because the product of two tiny margins would be zero.
    return float((released[cells] * (np.log(released[cells] / row[cells]) - np.log(column[cells]))).sum())


def arimoto_conditional_entropy(model: Model, mechanism: Mechanism, alpha: float) -> float:
    """Return Arimoto's conditional entropy of order alpha of Y given Xhat, in nats (Equation 8 of the paper).

    .. math:: H_\\alpha(Y \\mid \\hat X) = \\frac{\\alpha}{1-\\alpha}
       \\ln \\sum_{k} \\Big(\\sum_{j} P(\\hat X=k, Y=j)^\\alpha\\Big)^{1/\\alpha}.

    Parameters
    ----------
    model : BinaryModel, FiniteModel or GaussianMixture
    mechanism : BinaryKernel or FiniteKernel; FiniteKernel; AffineGaussian, TransportMap or PiecewiseKernel
        As the model demands, in this order.
    alpha : float > 0 or inf
        At 1 Shannon's H(Y | Xhat) is meant, at infinity ``-ln(map_accuracy)``.

    Returns
    -------
    float
        In nats; between 0 and ln m, up to rounding.

    Raises
    ------
    TypeError, ValueError
        If `model` is of another type, `mechanism` not of the type that fits it, or `alpha` not a number > 0.
    """
    alpha = _checks.order("alpha", alpha)
    return _conditional_entropy(_released(model, mechanism, alpha), alpha)


def arimoto_mutual_information(model: Model, mechanism: Mechanism, alpha: float) -> float:
    """Return Arimoto's mutual information of order alpha between Y and Xhat, in nats (Equation 8 of the paper).

    .. math:: I_\\alpha(Y; \\hat X) = H_\\alpha(Y) - H_\\alpha(Y \\mid \\hat X),

    with Rényi's entropy :math:`H_\\alpha(Y) = \\frac{1}{1-\\alpha} \\ln \\sum_j P(Y=j)^\\alpha`.

    Parameters
    ----------
    model : BinaryModel, FiniteModel or GaussianMixture
    mechanism : BinaryKernel or FiniteKernel; FiniteKernel; AffineGaussian, TransportMap or PiecewiseKernel
        As the model demands, in this order.
    alpha : float > 0 or inf
        At 1 this is `mutual_information`, at infinity ``ln(map_accuracy / max P(Y=j))``.

    Returns
    -------
    float
        In nats; between 0 and ln m, up to rounding.

    Raises
    ------
    TypeError, ValueError
        If `model` is of another type, `mechanism` not of the type that fits it, or `alpha` not a number > 0.
    """
    alpha = _checks.order("alpha", alpha)
    conditional = arimoto_conditional_entropy(model, mechanism, alpha)
    # Rényi's entropy is the case of a release that is always the same.
    return _conditional_entropy(model.p_y[np.newaxis], alpha) - conditional


def mmse(model: Model, mechanism: Mechanism) -> float:
    """Return the least mean squared error with which Y can be estimated from the release (Section 2.2).

    .. math:: \\mathrm{mmse}(Y \\mid \\hat X) = \\mathbb E\\big[\\mathrm{Var}(Y \\mid \\hat X)\\big]
       = \\sum_k \\frac{P(\\hat X=k, Y=0)\\,P(\\hat X=k, Y=1)}{P(\\hat X=k)}.

    Parameters
    ----------
    model : BinaryModel, FiniteModel or GaussianMixture
        Y takes the values 0 and 1.
    mechanism : BinaryKernel or FiniteKernel; FiniteKernel; AffineGaussian, TransportMap or PiecewiseKernel
        As the model demands, in this order.

    Returns
    -------
    float
        Between 0 and the variance of Y, which is at most 1/4. More is more private.

    Raises
    ------
    TypeError
        If `model` is of another type or has more than two private values, or `mechanism` does not fit it.
    """
    released = _occurring(_released(model, mechanism))
    if released.shape[1] > 2:
        raise TypeError(f"model must have a private bit, got {released.shape[1]} private values")
    marginal = released.sum(axis=1)
    # The quotient first: the product of two tiny cells would be 0.
    return float((released[:, 0] / marginal * released[:, 1]).sum())


def _of_kind(mechanism: object, kind: type[T]) -> T:
    """Return the mechanism if it is of the kind that fits the model."""
    if isinstance(mechanism, SamplePlan):
        raise TypeError(
            "mechanism must be one for records that are drawn from model, got a SamplePlan, which releases the sample "
            "that it was made of; its accuracy is the value of the Optimum"
        )
    return _checks.instance("mechanism", mechanism, kind)


def _normals(model: GaussianMixture, mechanism: object) -> TwoNormals:
    """Return the two distributions of Xhat, if the mechanism fits."""
    return TwoNormals.released(model, _of_kind(mechanism, AffineGaussian))


def _table(model: object, mechanism: object) -> np.ndarray:
    """Return the joint distribution of Xhat and Y, if these are letters and the mechanism fits."""
    if isinstance(mechanism, FiniteKernel):
        return mechanism.released(model)  # type: ignore[arg-type]  # it refuses other models by name
    if isinstance(mechanism, AffineGaussian | TransportMap | PiecewiseKernel):
        _checks.instance("model", model, GaussianMixture)
    if isinstance(model, FiniteModel):
        _of_kind(mechanism, FiniteKernel)
    model = _checks.instance("model", model, BinaryModel)
    return _of_kind(mechanism, BinaryKernel).released(model)


def _released(model: Model, mechanism: Mechanism, order: float = 1.0) -> np.ndarray:
    """Return masses of (Xhat, Y), a row for each value of Xhat or each point of a quadrature rule, shape (K, 2)."""
    if isinstance(model, GaussianMixture) and isinstance(mechanism, TransportMap | PiecewiseKernel):
        return _line_leakage.rule(model, mechanism)
    if isinstance(model, GaussianMixture):
        return _normals(model, mechanism).table(order)
    return _table(model, mechanism)


def _occurring(released: np.ndarray) -> np.ndarray:
    """Return the rows of the releases that do occur."""
    return released[released.sum(axis=1) > 0]


def _conditional_entropy(released: np.ndarray, alpha: float) -> float:
    released = _occurring(released)
    if alpha == 1:
        cells = released > 0
        posterior = released / released.sum(axis=1, keepdims=True)
        return float(-(released[cells] * np.log(posterior[cells])).sum())
    log_sum = _log_sum_of_norms_near_1(released, alpha) if 0.5 < alpha < 2 else _log_sum_of_norms(released, alpha)
    order = 1.0 if np.isinf(alpha) else (alpha - 1) / alpha
    return float(-log_sum / order)


def _log_sum_of_norms(released: np.ndarray, alpha: float) -> float:
    """Return ln sum_k (sum_j released[k, j]^alpha)^(1/alpha), for any order up to infinity."""
    # Each row is divided by its largest cell, so that no power runs out of the range of floats.
    largest = released.max(axis=1)
    shape = np.log(((released / largest[:, np.newaxis]) ** alpha).sum(axis=1)) / alpha
    return np.logaddexp.reduce(np.log(largest) + shape)


def _log_sum_of_norms_near_1(released: np.ndarray, alpha: float) -> float:
    """Return the same where it is nearly 0 and will be divided by nearly 0: its distance from 0 is added up."""
    marginal = released.sum(axis=1)
    posterior = released / marginal[:, np.newaxis]
    log_posterior = np.log(posterior, out=np.zeros_like(posterior), where=posterior > 0)
    log_norms = np.log1p((posterior * np.expm1((alpha - 1) * log_posterior)).sum(axis=1)) / alpha
    return np.log1p(marginal @ np.expm1(log_norms))
