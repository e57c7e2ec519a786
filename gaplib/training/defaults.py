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
    """

    privatizer: Privatizer
    adversary: Adversary
    constraint: Constraint
    steps: int
    records: int
    minibatch: int = MINIBATCH


BITS = Setting(BinaryPrivatizer(), BinaryAdversary(), Penalty(), steps=4000, records=10_000)
NUMBERS = Setting(AffinePrivatizer(), NetworkAdversary(), AugmentedLagrangian(), steps=1500, records=20_000)
# More records: the adversary must see where two releases differ by little, and the budget is held on minibatches.
NETWORKS = Setting(NeuralPrivatizer(), NeuralAdversary(), AugmentedLagrangian(), 4000, records=20_000, minibatch=512)
