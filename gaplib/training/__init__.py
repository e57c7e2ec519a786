"""The data-driven game: a privatizer and an adversary that learn from a sample (Algorithm 1 of the paper).

>>> from gaplib.models import GaussianMixture
>>> from gaplib.training import Game, train
>>> dataset = GaussianMixture(prior=.5, mu=3, var0=1, var1=1)
>>> results = train([Game(dataset, D) for D in range(1, 10)], seed=0)  # doctest: +SKIP

Whoever writes players of their own finds what they must have in `Privatizer` and `Adversary`.
"""

from gaplib.training.adversaries import BinaryAdversary, NetworkAdversary
from gaplib.training.constraints import AugmentedLagrangian, Penalty
from gaplib.training.defaults import Setting
from gaplib.training.encodings import PrivatizerOfBits, PrivatizerOfNumbers
from gaplib.training.games import Game
from gaplib.training.neural import NeuralAdversary, NeuralPrivatizer
from gaplib.training.plans import fit_plan
from gaplib.training.privatizers import AffinePrivatizer, BinaryPrivatizer
from gaplib.training.protocols import Adversary, Batch, Constraint, Diluted, Mechanism, Privatizer, Release, Units
from gaplib.training.results import History, Interrupted, Result
from gaplib.training.samples import Sample
from gaplib.training.train import train

__all__ = [
    "Adversary",
    "AffinePrivatizer",
    "AugmentedLagrangian",
    "Batch",
    "BinaryAdversary",
    "BinaryPrivatizer",
    "Constraint",
    "Diluted",
    "Game",
    "History",
    "Interrupted",
    "Mechanism",
    "NetworkAdversary",
    "NeuralAdversary",
    "NeuralPrivatizer",
    "Penalty",
    "Privatizer",
    "PrivatizerOfBits",
    "PrivatizerOfNumbers",
    "Release",
    "Result",
    "Sample",
    "Setting",
    "Units",
    "fit_plan",
    "train",
]
