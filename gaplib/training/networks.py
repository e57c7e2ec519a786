"""Networks for many games at once."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from gaplib.training._tensorflow import tf

Layers = Sequence[tuple[int, int]]  # inputs and outputs of each


def layers_of(inputs: int, width: int, depth: int, outputs: int) -> Layers:
    """Return the sizes of a network with `depth` hidden layers of the same width."""
    sizes = [inputs, *[width] * depth, outputs]
    return list(pairwise(sizes))


def start(layers: Layers, random: np.random.Generator, gain: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the first weights and biases for inputs whose squares sum to about one.

    The bends of the first layer lie all over the data, each over a length of one by `gain`. The second layer takes that
    factor back, and later ones keep the size of what they are given.
    """
    found = []
    for number, (inputs, outputs) in enumerate(layers):
        if number == 0:
            weight, bias = gain * random.standard_normal((inputs, outputs)), gain * random.uniform(-1.5, 1.5, outputs)
        else:
            size = np.sqrt(2 / inputs) / (gain if number == 1 else 1)
            weight, bias = size * random.standard_normal((inputs, outputs)), np.zeros(outputs)
        found.append((weight, bias))
    return found


def flat(layers: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return all weights and biases in one row, as the engine keeps them."""
    return np.concatenate([np.ravel(part) for layer in layers for part in layer])


def unflat(parameters: np.ndarray, layers: Layers) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the weights and biases of a row."""
    parts = np.split(parameters, np.cumsum([size for layer in _sizes(layers) for size in layer])[:-1])
    return [(weight.reshape(shape), bias) for weight, bias, shape in zip(parts[::2], parts[1::2], layers, strict=True)]


def apply(
    parameters: tf.Tensor, layers: Layers, inputs: tf.Tensor, activation: Callable[[tf.Tensor], tf.Tensor] = tf.nn.silu
) -> tf.Tensor:
    """Return the outputs of the networks, shape (G, N, outputs), for parameters (G, P) and inputs (G, N, inputs)."""
    parts = tf.split(parameters, [size for layer in _sizes(layers) for size in layer], axis=1)
    values = inputs
    for number, shape in enumerate(layers):
        weight, bias = tf.reshape(parts[2 * number], [-1, *shape]), parts[2 * number + 1]
        values = tf.matmul(values, weight) + bias[:, tf.newaxis]
        if number < len(layers) - 1:
            values = activation(values)
    return values


def _sizes(layers: Layers) -> list[tuple[int, int]]:
    return [(inputs * outputs, outputs) for inputs, outputs in layers]
