"""How records become minibatches: as bits, or as numbers. Every privatizer derives from one of the two."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gaplib.training.protocols import Batch, Privatizer, Units
from gaplib.training.samples import Sample, are_bits

# (x, y) of the four cells of the binary model, in the order of BinaryKernel's parameters.
CELLS = np.array([(0, 0), (0, 1), (1, 0), (1, 1)], np.float32)


@dataclass(frozen=True)
class PrivatizerOfBits(Privatizer):
    """A privatizer of bits. However many records a minibatch has, it is four: the cells (x, y), weighted.

    It sees the cells (0, 0), (0, 1), (1, 0), (1, 1) in this order, and no noise.
    """

    def units(self, sample: Sample) -> Units:
        """Leave bits as they are."""
        if not are_bits(sample.x):
            raise ValueError(f"privatizer must be one of numbers where x is not 0 or 1, got {self!r}")
        return Units(center=0.0, unit=1.0)

    def encoder(self, sample: Sample, units: Units, noise: np.random.Generator) -> Callable[[np.ndarray], Batch]:
        """Return the function that counts each cell."""
        cells = (2 * sample.x + sample.y).astype(np.int8)

        def encode(rows: np.ndarray) -> Batch:
            drawn = cells[rows]
            weight = np.stack([(drawn == cell).mean(axis=1) for cell in range(4)], axis=1)
            x, y = (np.broadcast_to(part, weight.shape) for part in CELLS.T)
            return Batch(x, y, np.zeros_like(weight), weight)

        return encode

    def release_unit(self, sample: Sample, units: Units, budget: float) -> float:
        """Show the adversary the bit itself."""
        return 1.0

    def violation_unit(self, budget: float) -> float:
        """Return the budget, or one flip in twenty if that is more."""
        return max(budget, 0.05)


@dataclass(frozen=True)
class PrivatizerOfNumbers(Privatizer):
    """A privatizer of numbers. It sees them centred, in thirds of their standard deviation, each with a normal noise.

    Of vectors the standard deviation is the root of their mean squared distance from the centre.

    A step of .01 is then as large for any data as it is for the paper's, whose standard deviation is 3. Centre and
    standard deviation are those of the records without the outliers, so that a wrong entry does not set the scale.
    """

    def units(self, sample: Sample) -> Units:
        """Measure in thirds of the standard deviation of X."""
        x = _usual(sample.x)
        if x.ndim == 1:
            return Units(float(x.mean()), float(x.std()) / 3 or 1.0)
        return Units(x.mean(axis=0), math.sqrt(x.var(axis=0).sum()) / 3 or 1.0)

    def encoder(self, sample: Sample, units: Units, noise: np.random.Generator) -> Callable[[np.ndarray], Batch]:
        """Return the function that takes records one by one, and draws a number of noise for each."""
        x = ((sample.x - units.center) / units.unit).astype(np.float32)
        y = sample.y.astype(np.float32)

        def encode(rows: np.ndarray) -> Batch:
            each = np.full((len(rows), 1), 1 / rows.shape[1])
            return Batch(x[rows], y[rows], noise.standard_normal(rows.shape, np.float32), each)

        return encode

    def release_unit(self, sample: Sample, units: Units, budget: float) -> float:
        """Return the standard deviation that the release would have if all of the budget were noise."""
        x = _usual(sample.x)
        sd = x.std() if x.ndim == 1 else math.sqrt(x.var(axis=0).sum())
        return math.sqrt((sd / units.unit) ** 2 + budget) or 1.0

    def violation_unit(self, budget: float) -> float:
        """Return the budget, or a hundredth of the variance of X (9 here) if that is more."""
        return max(budget, 0.09)


def _usual(x: np.ndarray) -> np.ndarray:
    """Return the records within 30 times the range of the middle nine tenths from the median, usually all of them.

    A second value of Y that is as rare as one in ten is never taken for outliers, however far away it is.
    """
    if x.ndim == 2:
        away = np.sqrt(((x - np.median(x, axis=0)) ** 2).sum(axis=1))
        far = np.quantile(away, 0.9)
        return x[away <= 30 * far] if far > 0 else x
    low, middle, high = np.quantile(x, [0.05, 0.5, 0.95])
    within = np.abs(x - middle) <= 30 * (high - low)
    return x[within] if high > low else x
