"""The records of a game, and the order in which minibatches are taken from them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gaplib import _random

BLOCK = 100  # minibatches that are made at once: steps of Algorithm 1 between two visits to Python


@dataclass(frozen=True, eq=False)
class Sample:
    """Training and test records of one game.

    Parameters
    ----------
    x, y : numpy.ndarray, shape (n,)
        Records to train on. Vectors x have the shape (n, d).
    x_test, y_test : numpy.ndarray, shape (m,)
        Of length 0 if there is no test sample.
    """

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray

    @property
    def hides_nothing(self) -> bool:
        """Whether x or y is the same in all training records: then x does not tell y."""
        return bool((self.x == self.x[0]).all() or (self.y == self.y[0]).all())


def are_bits(x: np.ndarray) -> bool:
    """Return whether an array is one of zeros and ones only, be they integers, floats or booleans; vectors are none."""
    return x.dtype.kind in "iufb" and x.ndim == 1 and bool(np.isin(x, (0, 1)).all())


def minibatches(seed: int, n: int, size: int) -> Iterator[np.ndarray]:
    """Yield block after block of minibatches of n records: the numbers of their records, shape (BLOCK, size).

    Each pass over the sample is in a new order; what does not fill a minibatch is left out of that pass. The order
    depends on nothing but the arguments, so a game trains in the same way whoever trains beside it, and games with the
    same seed see their records in the same order.
    """
    random = _random.generator(seed, "training.order")
    rows = np.empty((0, size), int)
    while True:
        passes = [rows]
        while sum(map(len, passes)) < BLOCK:
            order = random.permutation(n)
            passes.append(order[: n - n % size].reshape(-1, size))
        rows = np.concatenate(passes)
        yield rows[:BLOCK]
        rows = rows[BLOCK:]
