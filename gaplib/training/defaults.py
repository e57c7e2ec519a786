"""What the paper takes (Sections 3.3 and 4.3) where nothing else is asked for."""

from dataclasses import dataclass

from gaplib.training.adversaries import BinaryAdversary, NetworkAdversary
from gaplib.training.constraints import AugmentedLagrangian, Penalty
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
    """

    privatizer: Privatizer
    adversary: Adversary
    constraint: Constraint
    steps: int
    records: int


BITS = Setting(BinaryPrivatizer(), BinaryAdversary(), Penalty(), steps=4000, records=10_000)
NUMBERS = Setting(AffinePrivatizer(), NetworkAdversary(), AugmentedLagrangian(), steps=3000, records=20_000)
