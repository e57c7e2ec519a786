"""The binary model and its samples."""

import math

import numpy as np
import pytest

from gaplib.models import BinaryModel

TABLE = "joint must be a 2 x 2 table of probabilities that sum to one"


@pytest.mark.parametrize(
    "joint, error",
    [
        ([[0.5, 0.5], [0.5, 0.5]], ValueError),  # sums to two
        ([[0.25, 0.25], [0.25, 0.25 + 1e-11]], ValueError),
        ([[1e308, 1e308], [0, 0]], ValueError),
        ([[-0.1, 0.4], [0.3, 0.4]], ValueError),
        ([[math.nan, 0.4], [0.3, 0.3]], ValueError),
        ([[math.inf, 0], [0, 0]], ValueError),
        ([0.25, 0.25, 0.25, 0.25], ValueError),
        ([[0.5, 0.5]], ValueError),
        ([[0.5, 0.5], [0]], ValueError),  # ragged
        ([], (TypeError, ValueError)),
        ([["0.25", "0.25"], ["0.25", "0.25"]], TypeError),
        ([[0.25 + 0j, 0.25], [0.25, 0.25]], TypeError),
        ([[True, False], [False, False]], TypeError),
        ([[True, 0.0], [0, 0]], TypeError),
        (np.ma.array([[0.25, 0.25], [0.25, 0.25]], mask=[[1, 0], [0, 0]]), TypeError),
        ("0.25", TypeError),
        (None, TypeError),
    ],
)
def test_bad_joint_is_refused_by_name(joint, error):
    with pytest.raises(error, match=TABLE):
        BinaryModel(joint)


@pytest.mark.parametrize("name", ["p", "q"])
@pytest.mark.parametrize(
    "value, error",
    [
        *((wrong, ValueError) for wrong in (-0.1, 1.1, 10**400, math.nan, math.inf)),
        *((wrong, TypeError) for wrong in ("0.5", None, True, [0.5], 0.5j)),
    ],
)
def test_xor_refuses_bad_probabilities(name, value, error):
    arguments = {"p": 0.5, "q": 0.5} | {name: value}
    with pytest.raises(error, match=rf"^{name} must be a finite number in \[0, 1\], got "):
        BinaryModel.xor(**arguments)


def test_joint_is_kept_and_cannot_be_changed():
    given = np.array([[0.1, 0.2], [0.3, 0.4]])
    model = BinaryModel(given)
    given[0, 0] = 0.9
    assert model.joint[0, 0] == 0.1
    with pytest.raises(ValueError):
        model.joint[0, 0] = 0.9
    # Sums of two doubles below one: one rounding.
    assert model.p_x == pytest.approx([0.3, 0.7], abs=1e-15)
    assert model.p_y == pytest.approx([0.4, 0.6], abs=1e-15)


def test_rounding_of_the_sum_is_taken_out():
    model = BinaryModel([[0.25, 0.25], [0.25, 0.25 + 9e-13]])
    assert model.joint.sum() == 1


def test_seeds_that_agree_in_their_low_bits_differ():
    model = BinaryModel.xor(0.5, 0.25)
    assert (np.stack(model.sample(100, 0)) != np.stack(model.sample(100, 2**32))).any()


def test_xor_by_counting_the_noise():
    model = BinaryModel.xor(0.75, 0.25)
    expected = np.zeros((2, 2))
    for x, p_x in ((0, 0.25), (1, 0.75)):
        for noise, p_noise in ((0, 0.75), (1, 0.25)):
            expected[x, x ^ noise] += p_x * p_noise
    assert (model.joint == expected).all()  # multiples of 1/16: exact


@pytest.mark.parametrize("joint", [[[0.1, 0.2], [0.3, 0.4]], [[0, 1], [0, 0]], [[0, 0.5], [0, 0.5]]])
def test_sample_has_the_frequencies_of_the_model(joint):
    n = 200_000
    x, y = BinaryModel(joint).sample(n, seed=1)
    counts = np.array([[np.sum((x == i) & (y == j)) for j in (0, 1)] for i in (0, 1)])
    # Six standard deviations: probability below 1e-8 for four cells; no deviation at all where the cell is 0 or 1.
    allowed = 6 * np.sqrt(n * np.array(joint) * (1 - np.array(joint)))
    assert (abs(counts - n * np.array(joint)) <= allowed).all()


def test_the_model_of_a_sample_is_how_often_each_cell_occurs():
    model = BinaryModel.from_sample([0, 0, 1, 1, 1, 0, 1, 1], [0, 1, 1, 1, 0, 0, 1, 1])
    assert (model.joint == [[2 / 8, 1 / 8], [1 / 8, 4 / 8]]).all()
    assert (BinaryModel.from_sample([1], [0]).joint == [[0, 0], [1, 0]]).all()
    with pytest.raises(ValueError, match=r"x and y must have the same shape, got \(2,\) and \(1,\)"):
        BinaryModel.from_sample([0, 1], [0])
    with pytest.raises(ValueError, match="x must be a one-dimensional array of zeros and ones"):
        BinaryModel.from_sample([0, 2], [0, 1])


def test_sample_is_determined_by_the_seed():
    model = BinaryModel.xor(0.5, 0.25)
    first, again, other = (np.stack(model.sample(1000, seed)) for seed in (3, 3, 4))
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize(
    "n, seed, message",
    [
        (0, 0, r"n must be an integer in \[1, 1000000000\], got 0"),
        (-5, 0, "n must be"),
        (10.0, 0, "n must be"),
        ("10", 0, "n must be"),
        (True, 0, "n must be"),
        (10, -1, "seed must be an integer >= 0, got -1"),
        (10, None, "seed must be"),
        (10, 0.5, "seed must be"),
    ],
)
def test_sample_refuses_bad_numbers(n, seed, message):
    with pytest.raises((TypeError, ValueError), match=message):
        BinaryModel.xor(0.5, 0.25).sample(n, seed)
