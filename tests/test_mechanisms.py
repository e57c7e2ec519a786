"""Binary kernels: what they release and what that costs."""

import math
from itertools import product

import numpy as np
import pytest

from gaplib.mechanisms import BinaryKernel
from gaplib.models import BinaryModel

MODEL = BinaryModel([[0.1, 0.2], [0.3, 0.4]])
KERNEL = BinaryKernel(0.9, 0.8, 0.7, 0.6)


def follow_every_path(model, kernel):
    """The distribution of (Xhat, Y) and the probability of a flip, by summing over all paths."""
    keep = {(0, 0): kernel.s00, (0, 1): kernel.s01, (1, 0): kernel.s10, (1, 1): kernel.s11}
    released, flipped = np.zeros((2, 2)), 0.0
    for x, y, x_hat in product((0, 1), repeat=3):
        mass = model.joint[x, y] * (keep[x, y] if x_hat == x else 1 - keep[x, y])
        released[x_hat, y] += mass
        flipped += mass * (x_hat != x)
    return released, flipped


@pytest.mark.parametrize(
    "kernel", [KERNEL, BinaryKernel(1, 1, 1, 1), BinaryKernel(0, 0, 0, 0), BinaryKernel(0, 1, 1, 0)]
)
def test_release_and_distortion_path_by_path(kernel):
    released, flipped = follow_every_path(MODEL, kernel)
    # Sums of at most four numbers below one: a few roundings of 1e-16.
    assert kernel.released(MODEL) == pytest.approx(released, abs=1e-15)
    assert kernel.distortion(MODEL) == pytest.approx(flipped, abs=1e-15)


def test_privatized_sample_follows_the_kernel():
    n = 200_000
    x, y = MODEL.sample(n, seed=1)
    x_hat = KERNEL.privatize(x, y, seed=1)
    for i, j in product((0, 1), repeat=2):
        cell = (x == i) & (y == j)
        kept, expected = (x_hat[cell] == i).mean(), KERNEL.keep[i, j]
        # Six standard deviations: probability below 1e-8 for four cells.
        assert abs(kept - expected) < 6 * math.sqrt(expected * (1 - expected) / cell.sum())


def test_data_and_noise_of_the_same_seed_are_independent():
    # With one stream for both, a record's own uniform number would decide whether it is flipped: in a cell, all kept
    # records would come from one end of it. Records that follow each other would show it as well.
    model, coin = BinaryModel([[0.25, 0.25], [0.25, 0.25]]), BinaryKernel(0.5, 0.5, 0.5, 0.5)
    n = 100_000
    for seed in range(5):
        x, y = model.sample(n, seed)
        kept = coin.privatize(x, y, seed) == x
        for bit in (x, y, x ^ y):
            # Six standard deviations of a correlation of independent bits.
            assert abs(np.corrcoef(bit, kept)[0, 1]) < 6 / math.sqrt(n)


def test_privatize_is_determined_by_the_seed():
    x, y = MODEL.sample(1000, 0)
    assert (KERNEL.privatize(x, y, 3) == KERNEL.privatize(x, y, 3)).all()
    assert (KERNEL.privatize(x, y, 3) != KERNEL.privatize(x, y, 4)).any()


def test_privatize_takes_lists_and_never_flips_what_is_kept_surely():
    assert BinaryKernel(1, 1, 1, 1).privatize([0, 1, 1, 0], [0, 0, 1, 1], 0).tolist() == [0, 1, 1, 0]
    assert BinaryKernel(0, 0, 0, 0).privatize([0, 1, 1, 0], [0, 0, 1, 1], 0).tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize("name", ["s00", "s01", "s10", "s11"])
@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, "1", None, True, [1]])
def test_bad_kernel_is_refused_by_name(name, value):
    arguments = dict.fromkeys(("s00", "s01", "s10", "s11"), 0.5) | {name: value}
    with pytest.raises((TypeError, ValueError), match=rf"^{name} must be a finite number in \[0, 1\], got "):
        BinaryKernel(**arguments)


@pytest.mark.parametrize(
    "x, y, message",
    [
        ([0, 2], [0, 1], r"x must be a one-dimensional array of zeros and ones, got other values: \[2\]"),
        ([0, 1], [0, -1], "y must be"),
        ([0.5, 1.0], [0, 1], "x must be"),
        ([0, 1], ["0", "1"], "y must be"),
        ([[0, 1]], [[0, 1]], "x must be"),
        ([], [], "x must be"),
        (["a", [1]], [0, 1], "x must be"),
        (np.ma.array([0, 1], mask=[1, 0]), [0, 1], "x must be"),
        ([0, 1], [0, 1, 1], "x and y must have the same shape, got \\(2,\\) and \\(3,\\)"),
    ],
)
def test_bad_records_are_refused_by_name(x, y, message):
    with pytest.raises((TypeError, ValueError), match=message):
        KERNEL.privatize(x, y, 0)


def test_a_kernel_needs_a_binary_model():
    for method in (KERNEL.distortion, KERNEL.released):
        with pytest.raises(TypeError, match="model must be a BinaryModel"):
            method([[0.25, 0.25], [0.25, 0.25]])
