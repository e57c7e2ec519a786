"""Numbers of every type that NumPy has: what is taken as a probability, as a bit, as a record, and what is refused."""

import ast
import builtins
import math
import warnings

import numpy as np
import pytest
from project import ROOT

from gaplib import binary, gaussian, leakage, losses
from gaplib.mechanisms import AffineGaussian, BinaryKernel, FiniteKernel, PiecewiseKernel
from gaplib.models import BinaryModel, GaussianMixture

FLOATS = (np.float16, np.float32, np.float64, np.longdouble)
INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
BIT_TYPES = (bool, *INTEGERS, *FLOATS)


def normalized(shape, dtype, rng):
    """A table that was divided by its sum in its own type, the sum taken one cell after the other."""
    table = rng.random(shape).astype(dtype)
    total = dtype(0)
    for cell in table.flat:
        total = dtype(total + cell)
    return table / total


# Tables


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_table_that_sums_to_one_in_its_own_type_is_taken_and_normalized_in_double(dtype):
    rng = np.random.default_rng(0)
    for _ in range(2000):
        table = normalized((2, 2), dtype, rng)
        joint = BinaryModel(table).joint
        assert joint.dtype == float
        # Four cells below one: a rounding each.
        assert joint.sum() == pytest.approx(1, abs=4e-16)
        # What was divided out is the rounding of the four cells and of their total.
        assert joint == pytest.approx(table.astype(float), rel=4 * float(np.finfo(dtype).eps) + 1e-15)


@pytest.mark.parametrize("shape", [(2, 2), (1, 7), (30, 20), (400, 5)])
def test_a_larger_table_may_miss_its_sum_by_more(shape):
    rng = np.random.default_rng(1)
    for _ in range(50):
        table = normalized(shape, np.float32, rng)
        cost = losses.expected_loss(table, np.ones(shape))
        assert cost == pytest.approx(1, abs=table.size * 2e-16)  # of a table that was divided by its sum in double
        # Each row is divided by its sum once more.
        assert losses.posterior(table).sum(axis=1) == pytest.approx(1, abs=table.size * 2e-16)
        assert (losses.map_guess(table) == table.argmax(axis=1)).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_kernel_whose_rows_sum_to_one_in_their_own_type_is_taken_and_normalized_in_double(dtype):
    rng = np.random.default_rng(2)
    for _ in range(50):
        kernel = np.array([[normalized((1, 20), dtype, rng)[0] for _ in range(2)] for _ in range(3)])
        rows = FiniteKernel(kernel).kernel.sum(axis=2)
        assert rows == pytest.approx(1, abs=20 * 2e-16)
        shares = PiecewiseKernel([0, 1, 2, 3], np.repeat([0, 1, 2], 20), np.arange(60.0), kernel[:, 0].ravel())
        # At most 1e-12 is left in double precision, of which a sum was not divided.
        assert shares.kept.max() <= 20 * float(np.finfo(dtype).eps) + 1e-12
        assert np.bincount(shares.cells, shares.probabilities).max() <= 1 + 1e-12


@pytest.mark.parametrize("dtype, wrong", [(np.float32, 1e-5), (np.float64, 1e-8)])
def test_a_kernel_whose_rows_do_not_sum_to_one_is_refused(dtype, wrong):
    with pytest.raises(ValueError, match="kernel must sum to one over its last axis, got the sum 1.0"):
        FiniteKernel(np.array([[[0.5, 0.5 + wrong]]], dtype))
    with pytest.raises(ValueError, match="kernel must sum to one over its last axis, got the sum inf"):
        FiniteKernel([[[1e308, 1e308]]])
    with pytest.raises(ValueError, match="probabilities must sum to at most one in each cell, got 1.0"):
        PiecewiseKernel([0, 1], [0, 0], [0, 1], np.array([0.5, 0.5 + wrong], dtype))


def test_what_was_not_meant_as_a_distribution_is_refused_in_every_type():
    for dtype, wrong in ((np.float16, 1e-2), (np.float32, 1e-6), (np.float64, 2e-12), (np.longdouble, 2e-12)):
        table = np.array([[0.25, 0.25], [0.25, 0.25 + wrong]], dtype)
        with pytest.raises(ValueError, match="table of probabilities that sum to one, got the sum 1.0"):
            BinaryModel(table)
        with pytest.raises(ValueError, match="table of probabilities that sum to one, got the sum 1.0"):
            losses.posterior(table)
    # No rounding may hide behind a list: its numbers are doubles.
    with pytest.raises(ValueError, match="divide by it if that was meant"):
        BinaryModel([[0.25, 0.25], [0.25, 0.25 + 1e-7]])
    assert BinaryModel(np.array([[0, 1], [0, 0]], np.uint64)).joint.tolist() == [[0, 1], [0, 0]]


# Bits


@pytest.mark.parametrize("second", BIT_TYPES)
@pytest.mark.parametrize("first", BIT_TYPES)
def test_bits_of_any_two_types(first, second):
    x, y = np.array([0, 1, 1, 0, 1], first), np.array([0, 1, 0, 1, 1], second)
    assert (BinaryModel.from_sample(x, y).joint == [[1 / 5, 1 / 5], [1 / 5, 2 / 5]]).all()
    kernel = BinaryKernel(0.3, 0.6, 0.5, 0.9)
    released = kernel.privatize(x, y, seed=0)
    assert released.dtype == int and (released == kernel.privatize(x.astype(int), y.astype(int), seed=0)).all()
    noise = AffineGaussian(1, 2, 3, 4).privatize([1.0, 2.0, 3.0, 4.0, 5.0], y, seed=0)
    assert (noise == AffineGaussian(1, 2, 3, 4).privatize([1.0, 2.0, 3.0, 4.0, 5.0], y.astype(int), seed=0)).all()
    fitted = GaussianMixture.from_sample([1, 4, 2, 5, 6], y)
    assert fitted == GaussianMixture.from_sample([1, 4, 2, 5, 6], y.astype(int))


@pytest.mark.parametrize(
    "y, error, message",
    [
        ([0.0, math.nan], ValueError, r"y must be a one-dimensional array of zeros and ones, got other .*: \[nan\]"),
        ([0.0, 1.0 + 1e-15], ValueError, r"got other values: \[1.000000000000001\]"),
        ([0.0, -0.007], ValueError, r"got other values: \[-0.007\]"),
        ([0.0, math.inf], ValueError, r"got other values: \[inf\]"),
        (np.array([0, 255], np.uint8), ValueError, r"got other values: \[255\]"),
        ([0j, 1], TypeError, "with values of type complex128"),
        (["0", "1"], TypeError, "with values of type <U1"),
        ([None, 1], TypeError, "with values of type object"),
        (np.ma.array([0.0, 1.0], mask=[True, False]), TypeError, "got MaskedArray with values of type float64"),
    ],
)
def test_what_is_no_bit_is_refused(y, error, message):
    for call in (
        lambda: BinaryModel.from_sample([0, 1], y),
        lambda: BinaryKernel(1, 1, 1, 1).privatize([0, 1], y, 0),
        lambda: GaussianMixture.from_sample([0, 1], y),
        lambda: AffineGaussian(0, 0, 1, 1).privatize([0, 1], y, 0),
    ):
        with pytest.raises(error, match=message):
            call()


# Records


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_records_of_any_type_are_taken_as_doubles(dtype):
    x, y = np.array([1, 5, 2, 9, 4, 8], dtype), [0, 1, 0, 1, 0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a bound that is no number of the type would overflow
        assert GaussianMixture.from_sample(x, y) == GaussianMixture.from_sample(x.astype(float), y)
        released = AffineGaussian(1, 2, 3, 4).privatize(x, y, seed=0)
        assert (released == AffineGaussian(1, 2, 3, 4).privatize(x.astype(float), y, seed=0)).all()
        assert (losses.squared_loss(x, 0) == losses.squared_loss(x.astype(float), 0)).all()


def test_what_a_double_cannot_hold_is_refused_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="x must be an array of finite numbers, got"):
            AffineGaussian(0, 0, 1, 1).privatize(np.array([0, np.inf], np.longdouble), [0, 1], 0)
        with pytest.raises(ValueError, match=r"x must be an array of finite numbers in .*, got \[inf\]"):
            GaussianMixture.from_sample(np.array([0, np.inf], np.float16), [0, 1])


MODEL = GaussianMixture(0.75, 3, 4, 1)


@pytest.mark.parametrize("offset", [0.0, 1e3, -1e6, 1e9, 1e12, -1e13])
def test_an_offset_makes_no_difference_but_the_rounding_of_the_records(offset):
    x, y = MODEL.sample(20_000, seed=0)
    moved = x + offset
    fitted = GaussianMixture.from_sample(moved, y)
    # What is left after rounding, with the offset taken off again, which is exact.
    left = GaussianMixture.from_sample(moved - offset, y)
    for name in ("prior", "mu", "var0", "var1"):
        # Moments of deviations: a few roundings.
        assert getattr(fitted, name) == pytest.approx(getattr(left, name), rel=1e-13)
    # Each mean over thousands of records is off by far less than the rounding of one of them.
    assert fitted.mu == pytest.approx(GaussianMixture.from_sample(x, y).mu, abs=np.spacing(abs(offset)) / 10 + 1e-15)


@pytest.mark.parametrize("offset", [1e14, 1e15, -1e16, 1e17, 1e20])
def test_an_offset_that_leaves_the_rounding_of_floats_is_refused(offset):
    x, y = MODEL.sample(20_000, seed=0)
    with pytest.raises(ValueError, match="x must (vary by more than floats of its size tell apart|hold at least two)"):
        GaussianMixture.from_sample(x + offset, y)
    # The same numbers in another unit.
    with pytest.raises(ValueError, match="x must (vary by more than floats of its size tell apart|hold at least two)"):
        GaussianMixture.from_sample((x + offset) * 2.0**-40, y)


def test_two_groups_that_are_far_apart_keep_their_variances():
    generator = np.random.default_rng(0)
    y = np.arange(2000) % 2
    x = 1e-3 * generator.normal(size=2000)
    fitted = GaussianMixture.from_sample(np.where(y, x + 1e9, x - 1e9), y)
    assert fitted.mu == pytest.approx(1e9, rel=1e-13)
    # The records are rounded to 1.2e-7, which adds a billionth to their variance of 1e-6.
    assert [fitted.var0, fitted.var1] == pytest.approx([x[y == 0].var(), x[y == 1].var()], rel=1e-4)


def test_means_of_a_refused_sample_are_told_in_full():
    with pytest.raises(ValueError, match="larger on average where y is 1, got the means 1000000001.5 and 1000000000.5"):
        GaussianMixture.from_sample([1e9 + 1, 1e9 + 2, 1e9, 1e9 + 1], [0, 0, 1, 1])


# Sums


def added_up(numbers, start=0):
    """The built-in sum of Python 3.11, one rounding for each number."""
    for number in numbers:
        start = start + number
    return start


def compensated(numbers, start=0):
    """The built-in sum from Python 3.12 on, which keeps track of the rounding of floats, and of nothing else."""
    numbers = [start, *numbers]
    return math.fsum(numbers) if all(type(number) in (int, float) for number in numbers) else added_up(numbers)


def test_the_core_adds_with_numpy_or_exactly():
    """The built-in sum of floats has other last digits from Python 3.12 on: `math.fsum` is exact everywhere."""
    used, beside = [], {"book", "jobs", "tabular", "training"}  # where what is counted is added up
    for path in sorted((ROOT / "gaplib").rglob("*.py")):
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        if path.relative_to(ROOT / "gaplib").parts[0] not in beside:
            used += [f"{path.name}:{at.lineno}" for at in calls if isinstance(at, ast.Name) and at.id == "sum"]
    assert used == []


def test_no_number_depends_on_how_python_sums(monkeypatch):
    tables = np.random.default_rng(0).dirichlet(np.ones(4), 5).reshape(-1, 2, 2)
    mixtures = [GaussianMixture(prior, 3, 4, 1) for prior in (0.3, 0.5, 0.75)]

    def numbers():
        for joint in tables:
            model = BinaryModel(joint)
            solvers = binary.optimal_pdd, binary.optimal_pdi, binary.optimal_mi
            optima = [solver(model, D) for solver in solvers for D in (0.03, 0.1)]
            yield from optima
            yield from (leakage.arimoto_mutual_information(model, optimum.mechanism, 3) for optimum in optima)
            yield losses.expected_loss(joint, [[0.1, 0.2], [0.3, 0.7]])
        for model in mixtures:
            optima = [gaussian.optimal_affine(model, D, loss) for D in (0.3, 2.0, 1e3) for loss in ("0-1", "log")]
            yield from optima
            yield from (leakage.mmse(model, optimum.mechanism) for optimum in optima)

    found = []
    for summing in (added_up, compensated):
        monkeypatch.setattr(builtins, "sum", summing)
        found.append(list(numbers()))
    assert found[0] == found[1]
