"""How the privatizer is held to its budget: the penalty and the augmented Lagrangian method."""

from dataclasses import dataclass

from gaplib import _checks
from gaplib.training._tensorflow import tf
from gaplib.training.protocols import Constraint


@dataclass(frozen=True)
class Penalty(Constraint):
    """The penalty method (Equation 13 of the paper): the term ``rho * max(0, violation)``.

    The optimum keeps the budget as soon as rho exceeds the price of distortion there; it need not tend to infinity.
    Under log-loss 1 nat is enough wherever the leakage is convex in D: D times its price is at most the leakage at
    D = 0, so at most ln 2. (Below D = .05 the unit of violations is .05, and the argument asks for .05/D.) Beyond that,
    a larger rho only drowns what the privatizer is to learn. Along the budget a penalty moves slowly: for PDD with
    p = 3/4 it stops some .002 nats above the optimum, the augmented Lagrangian a quarter of that.

    Parameters
    ----------
    first, last : float > 0
        The penalty coefficient rho at the first and at the last step. In between it grows geometrically.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not a number in (0, 1e100].
    """

    first: float = 0.1
    last: float = 1.0

    def __post_init__(self) -> None:
        _check_schedule(self)

    def term(self, violation: tf.Tensor, multiplier: tf.Tensor, progress: tf.Tensor) -> tf.Tensor:
        """Return rho times the violation, and nothing within the budget."""
        return _coefficient(self, progress) * tf.maximum(violation, 0.0)

    def price(self, violation: tf.Tensor, multiplier: tf.Tensor, progress: tf.Tensor) -> tf.Tensor:
        """Return rho, and nothing within the budget."""
        return tf.where(violation > 0, _coefficient(self, progress), 0.0)

    def update(self, violation: tf.Tensor, multiplier: tf.Tensor, progress: tf.Tensor) -> tf.Tensor:
        """Leave the multiplier as it is: the penalty method has none."""
        return multiplier


@dataclass(frozen=True)
class AugmentedLagrangian(Constraint):
    """The augmented Lagrangian method (Equation 14 of the paper) with the slack held at delta >= 0.

    With the multiplier's sign such that it is the price of distortion, and the best slack put in, the term is

    .. math:: \\frac{1}{2\\rho} \\left(\\max\\{0, \\lambda + \\rho v\\}^2 - \\lambda^2\\right),
       \\qquad \\lambda \\leftarrow \\max\\{0, \\lambda + \\eta\\rho v\\}

    for the violation v. A slack of any sign, as printed, would make any distortion feasible.

    Parameters
    ----------
    first, last : float > 0
        The penalty coefficient rho at the first and at the last step. In between it grows geometrically.
    rate : float in (0, 1]
        The paper updates the multiplier (eta = 1) after each unconstrained problem has been solved. Here it moves
        at every step of the privatizer, and so by this fraction: with eta = 1 it swings.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not a number in its range.
    """

    first: float = 1.0
    last: float = 3.0
    rate: float = 0.01

    def __post_init__(self) -> None:
        _check_schedule(self)
        if not 0 < _checks.real("rate", self.rate) <= 1:
            raise ValueError(f"rate must be a number in (0, 1], got {self.rate!r}")

    def term(self, violation: tf.Tensor, multiplier: tf.Tensor, progress: tf.Tensor) -> tf.Tensor:
        """Return the term above."""
        price = self.price(violation, multiplier, progress)
        return (price**2 - multiplier**2) / (2 * _coefficient(self, progress))

    def price(self, violation: tf.Tensor, multiplier: tf.Tensor, progress: tf.Tensor) -> tf.Tensor:
        """Return the multiplier plus rho times the violation, at least zero."""
        return tf.maximum(multiplier + _coefficient(self, progress) * violation, 0.0)

    def update(self, violation: tf.Tensor, multiplier: tf.Tensor, progress: tf.Tensor) -> tf.Tensor:
        """Move the multiplier by a fraction of the way to the price, at least zero."""
        return tf.maximum(multiplier + self.rate * _coefficient(self, progress) * violation, 0.0)


def _check_schedule(constraint: Penalty | AugmentedLagrangian) -> None:
    for name in ("first", "last"):
        _checks.real(name, getattr(constraint, name), 1 / _checks.LARGEST_NUMBER, _checks.LARGEST_NUMBER)


def _coefficient(constraint: Penalty | AugmentedLagrangian, progress: tf.Tensor) -> tf.Tensor:
    return constraint.first * (constraint.last / constraint.first) ** progress
