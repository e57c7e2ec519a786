"""What is taken where nothing else is asked for: what the paper takes (Sections 3.3, 4.3), and what suits networks."""

from dataclasses import dataclass

from gaplib.training.adversaries import BinaryAdversary, NetworkAdversary
from gaplib.training.constraints import AugmentedLagrangian, Penalty
from gaplib.training.neural import NeuralAdversary, NeuralPrivatizer
from gaplib.training.privatizers import AffinePrivatizer, BinaryPrivatizer
from gaplib.training.protocols import Adversary, Constraint, Privatizer

LEARNING_RATE = 0.01  # Adam's, for both players
MINIBATCH = 200  # records
TEST_RECORDS = 2000
HIGH_ORDER = 8.0  # of alpha-loss; above it few records of a minibatch pull


@dataclass(frozen=True)
class Setting:
    """How a game is played.

    Parameters
    ----------
    privatizer : Privatizer
    adversary : Adversary
    constraint : Constraint
    steps : int
        Iterations of Algorithm 1.
    records : int
        To train on, where they are drawn from a model.
    minibatch : int
        Records of one.
    high_order_steps : int, optional
        Iterations above `HIGH_ORDER`, if they are others.
    """

    privatizer: Privatizer
    adversary: Adversary
    constraint: Constraint
    steps: int
    records: int
    minibatch: int = MINIBATCH
    high_order_steps: int | None = None

    def steps_under(self, alpha: float) -> int:
        """Return the iterations under a loss of this order.

        Parameters
        ----------
        alpha : float
            The order of alpha-loss: 1 for log-loss, infinite for 0-1 loss.

        Returns
        -------
        int
        """
        return self.high_order_steps if self.high_order_steps and alpha > HIGH_ORDER else self.steps


BITS = Setting(BinaryPrivatizer(), BinaryAdversary(), Penalty(), steps=4000, records=10_000)
NUMBERS = Setting(
    AffinePrivatizer(), NetworkAdversary(), AugmentedLagrangian(), steps=1500, records=20_000, high_order_steps=3000
)
# More records: the adversary must see where two releases differ by little, and the budget is held on minibatches.
NETWORKS = Setting(NeuralPrivatizer(), NeuralAdversary(), AugmentedLagrangian(), 4000, records=20_000, minibatch=512)
