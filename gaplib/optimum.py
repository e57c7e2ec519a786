"""What every solver returns."""

from dataclasses import dataclass

from gaplib.mechanisms import AffineGaussian, BinaryKernel, FiniteKernel, PiecewiseKernel, SamplePlan, TransportMap


@dataclass(frozen=True)
class Optimum:
    """An optimal mechanism and what it costs.

    Attributes
    ----------
    value : float
        What the adversary achieves against `mechanism`: the least that the budget allows. A probability, or nats if
        the leakage is mutual information.
    mechanism : BinaryKernel, AffineGaussian, FiniteKernel, TransportMap, PiecewiseKernel or SamplePlan
        One optimal mechanism; there may be others.
    distortion : float
        Its expected distortion; at most the budget, up to rounding.
    price : float
        The shadow price of distortion: how much `value` falls per unit of additional budget.
    gap : float
        How far `value` can be above the least that any mechanism reaches, by a dual solution; 0 where it is exact.
    """

    value: float
    mechanism: BinaryKernel | AffineGaussian | FiniteKernel | TransportMap | PiecewiseKernel | SamplePlan
    distortion: float
    price: float
    gap: float = 0.0
