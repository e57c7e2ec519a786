"""The MAP adversary: accuracy against every guessing rule."""

from itertools import product

import numpy as np
import pytest

from gaplib.leakage import map_accuracy, mutual_information
from gaplib.mechanisms import BinaryKernel
from gaplib.models import BinaryModel


def best_of_all_rules(model, kernel):
    """The best of the four rules that name a Y for each value of Xhat, each followed path by path."""
    accuracies = []
    for rule in product((0, 1), repeat=2):
        right = 0.0
        for x, y, x_hat in product((0, 1), repeat=3):
            keep = getattr(kernel, f"s{x}{y}")
            right += model.joint[x, y] * (keep if x_hat == x else 1 - keep) * (rule[x_hat] == y)
        accuracies.append(right)
    return max(accuracies)


def test_map_accuracy_is_that_of_the_best_rule():
    generator = np.random.default_rng(0)
    for _ in range(500):
        joint = generator.dirichlet(np.ones(4)).reshape(2, 2)
        model, kernel = BinaryModel(joint / joint.sum()), BinaryKernel(*generator.random(4))
        # Sums of eight numbers below one: a few roundings of 1e-16.
        assert map_accuracy(model, kernel) == pytest.approx(best_of_all_rules(model, kernel), abs=1e-14)


def test_releasing_nothing_leaves_the_prior_and_releasing_y_leaves_nothing():
    model = BinaryModel.xor(0.75, 0.25)
    assert map_accuracy(model, BinaryKernel(1, 1, 0, 0)) == 0.625
    assert map_accuracy(model, BinaryKernel(1, 0, 0, 1)) == 1.0


@pytest.mark.parametrize("tiny", [1e-12, 1e-170, 5e-324])
def test_information_of_a_release_with_a_tiny_entry(tiny):
    # X = Y and P(Y=0) tiny: the information is the entropy of Y. Logarithms of numbers near one are good to 1e-16.
    model, identity = BinaryModel([[tiny, 0], [0, 1 - tiny]]), BinaryKernel(1, 1, 1, 1)
    entropy = -tiny * np.log(tiny) - (1 - tiny) * np.log1p(-tiny)
    assert mutual_information(model, identity) == pytest.approx(entropy, abs=1e-15)


def test_wrong_arguments_are_refused_by_name():
    model, kernel = BinaryModel.xor(0.5, 0.25), BinaryKernel(1, 1, 1, 1)
    with pytest.raises(TypeError, match="^model must be a BinaryModel"):
        map_accuracy(kernel, kernel)
    with pytest.raises(TypeError, match="^mechanism must be a BinaryKernel"):
        map_accuracy(model, model)
