"""What every solver returns."""

from dataclasses import dataclass

from gaplib.mechanisms import AffineGaussian, BinaryKernel


@dataclass(frozen=True)
class Optimum:
    """An optimal mechanism and what it costs.

    Attributes
    ----------
    value : float
        What the adversary achieves against `mechanism`: the least that the budget allows. A probability, or nats if
        the leakage is mutual information.
    mechanism : BinaryKernel or AffineGaussian
        One optimal mechanism; there may be others.
    distortion : float
        Its expected distortion; at most the budget, up to rounding.
    price : float
        The shadow price of distortion: how much `value` falls per unit of additional budget.
    """

    value: float
    mechanism: BinaryKernel | AffineGaussian
    distortion: float
    price: float
