"""The data-driven game: a privatizer and an adversary that learn from a sample (Algorithm 1 of the paper).

>>> from gaplib.models import GaussianMixture
>>> from gaplib.training import Game, train
>>> dataset = GaussianMixture(prior=.5, mu=3, var0=1, var1=1)
>>> results = train([Game(dataset, D) for D in range(1, 10)], seed=0)  # doctest: +SKIP
"""

from gaplib.training.constraints import AugmentedLagrangian, Penalty
from gaplib.training.games import Game, History, Interrupted, Result
from gaplib.training.train import train

__all__ = ["AugmentedLagrangian", "Game", "History", "Interrupted", "Penalty", "Result", "train"]
