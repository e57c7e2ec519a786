"""The result of a game from what its players have learned."""

import math

import numpy as np

from gaplib.training._tensorflow import single
from gaplib.training.beliefs import TrainedAdversary
from gaplib.training.programs import Entry, Program, stacked
from gaplib.training.protocols import Mechanism, Privatizer
from gaplib.training.results import History, Result
from gaplib.training.samples import Sample

RECORD_EVERY = 10  # iterations
KEPT = 1.005  # budgets: a mechanism that spends no more is left as it is


def result_of(
    program: Program, entry: Entry, theta_p: np.ndarray, theta_a: np.ndarray, course: np.ndarray, complete: bool
) -> Result:
    """Return the result of a game.

    Parameters
    ----------
    program : Program
    entry : Entry
    theta_p, theta_a : numpy.ndarray of float32, shape (P,)
        The parameters of the mechanism and of the adversary.
    course : numpy.ndarray, shape (3, iterations)
        The adversary's loss, the distortion and its price.
    complete : bool
        Whether these are all iterations.

    Returns
    -------
    Result
    """
    rules = program.rules
    trained = TrainedAdversary(
        rules.adversary,
        theta_a,
        entry.units.center,
        entry.units.unit * entry.release_unit,
        learned_order=program.alpha if rules.as_printed else 1.0,
        # Of all the beliefs that are best under 0-1 loss, the posterior.
        played_order=1.0 if math.isinf(program.alpha) else program.alpha,
    )
    parameters = theta_p.astype(float)
    loss, distortion, price = course.astype(float)
    of_distortion = entry.units.unit**2
    history = _history(loss, of_distortion * distortion, price / of_distortion)
    finite = all(np.isfinite(part).all() for part in (parameters, theta_a, course))
    mechanism, spent = _mechanism(program, entry, parameters) if finite else (None, math.nan)
    accuracy, cross_entropy = _test(mechanism, trained, entry.sample, entry.seed)
    return Result(
        game=entry.game,
        seed=entry.seed,
        mechanism=mechanism,
        distortion=spent,
        history=history,
        test_accuracy=accuracy,
        test_cross_entropy=cross_entropy,
        iterations=course.shape[1],
        complete=complete,
        diverged=not finite,
        _adversary=trained,
    )


def _mechanism(program: Program, entry: Entry, parameters: np.ndarray) -> tuple[Mechanism, float]:
    """Return the mechanism within its budget, and its distortion, in the units of the data."""
    rules, D = program.rules, entry.game.D
    mechanism = rules.privatizer.mechanism(parameters, entry.constants, entry.units)
    expected = rules.privatizer.distortion(single([parameters]), stacked([entry.constants]))
    if expected is None:
        spent = mechanism.distortion(entry.sample.x, entry.sample.y)  # type: ignore[attr-defined]  # the contract says so
    else:
        spent = entry.units.unit**2 * float(expected[0])
    if entry.sample.hides_nothing:
        return _reduced(rules.privatizer, mechanism, 0.0), 0.0
    if spent <= KEPT * D or rules.as_printed:
        return mechanism, spent
    return _reduced(rules.privatizer, mechanism, D / spent), D


def _reduced(privatizer: Privatizer, mechanism: Mechanism, share: float) -> Mechanism:
    if hasattr(privatizer, "reduced"):
        return privatizer.reduced(mechanism, share)
    return Privatizer.reduced(privatizer, mechanism, share)  # it does not derive from the contract


def _history(loss: np.ndarray, distortion: np.ndarray, price: np.ndarray) -> History:
    ends = np.append(np.arange(RECORD_EVERY, loss.size, RECORD_EVERY), loss.size)
    starts = np.concatenate([[0], ends[:-1]])
    means = [np.add.reduceat(values, starts) / (ends - starts) for values in (loss, distortion, price)]
    return History(ends, *means)


def _test(mechanism: Mechanism | None, trained: TrainedAdversary, sample: Sample, seed: int) -> tuple[float, float]:
    """Return the accuracy and the cross-entropy of the adversary on the test sample."""
    if mechanism is None or sample.x_test.size == 0:
        return math.nan, math.nan
    x_hat = mechanism.privatize(sample.x_test, sample.y_test, seed)
    of_1 = trained.belief(x_hat)
    accuracy = np.mean((of_1 > 0.5) == (sample.y_test == 1))
    # The least positive number in place of 0: a belief that rounds to 0 was not meant as certainty.
    of_y = np.maximum(np.where(sample.y_test == 1, of_1, 1 - of_1), np.finfo(float).tiny)
    return float(accuracy), float(-np.log(of_y).mean())
