"""The data of a game: its sample, and the order in which minibatches and noise are drawn from it."""

from dataclasses import dataclass

import numpy as np

from gaplib import _random

MINIBATCH = 200  # records (Section 4.3 of the paper)
BLOCK = 100  # steps of Algorithm 1 between two visits to Python


@dataclass(frozen=True, eq=False)
class Sample:
    """Training and test records of one game.

    Attributes
    ----------
    x, y : numpy.ndarray, shape (n,)
    x_test, y_test : numpy.ndarray, shape (m,)
        Of length 0 if there is no test sample.
    binary : bool
        Whether X is a bit.
    """

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    binary: bool

    @property
    def center(self) -> float:
        """What is zero to the game: the mean of a number, but 0 for a bit."""
        return 0.0 if self.binary else float(self.x.mean())

    @property
    def unit(self) -> float:
        """What is one to the game: a third of the spread of a number, but 1 for a bit.

        A step of .01 is then as large for any data as it is for the paper's, whose spread is 3.
        """
        return 1.0 if self.binary else float(self.x.std()) / 3 or 1.0


class Draws:
    """The random choices of all games with the same seed and sample size: a stream of their own for each.

    The stream depends on nothing else, so a game trains in the same way whoever trains beside it. Games with the same
    seed see the same order and the same noise, as they see the same records: differences between them are theirs.
    """

    def __init__(self, seed: int, n: int, noise: bool):
        self._order = _random.generator(seed, "training.order")
        self._noise = _random.generator(seed, "training.noise") if noise else None
        self.n, self.size = n, min(n, MINIBATCH)
        self._rows = np.empty((0, self.size), int)

    def next_block(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the records of each minibatch of the next block and their noise, both of shape (BLOCK, size).

        Each pass over the sample is in a new order; what does not fill a minibatch is left out of that pass.
        """
        passes = [self._rows]
        while sum(map(len, passes)) < BLOCK:
            order = self._order.permutation(self.n)
            passes.append(order[: self.n - self.n % self.size].reshape(-1, self.size))
        rows = np.concatenate(passes)
        records, self._rows = rows[:BLOCK], rows[BLOCK:]
        if self._noise is None:
            return records, np.zeros(records.shape, np.float32)
        return records, self._noise.standard_normal(records.shape, np.float32)
