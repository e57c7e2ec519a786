"""A mechanism that is a network: where a record may move, and with what probability."""

from __future__ import annotations  # the reference then shows ArrayLike by its name

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks, _random
from gaplib.mechanisms.saved import Saved

_BLOCK = 4096  # records at once: what the layers make of them stays in the processor's cache


@dataclass(frozen=True, eq=False)
class NetworkMechanism(Saved):
    """A network that says for each record how far it may move, and with what probability it does.

    Its inputs are the record, ``(x - center) / scale``, then ``2 y - 1`` if it sees Y, then numbers of normal noise.
    The hidden layers have the activation ``v / (1 + exp(-v))``. The outputs are, for each of H moves, the log odds of
    that move against staying, and then the moves themselves, H d numbers in units of `scale`. The probabilities of the
    moves are the softmax of the log odds and of a zero for staying, multiplied by `share`. What moves is blurred by
    normal noise of standard deviation `jitter` in each coordinate, the same for all moves of a record.

    Attributes
    ----------
    weights : tuple of numpy.ndarray
        Of each layer, shape (inputs, outputs).
    biases : tuple of numpy.ndarray
        Of each layer, shape (outputs,).
    center : numpy.ndarray, shape (d,) or ()
        Of the shape of a record.
    scale : float > 0
    sees_y : bool
        Whether it uses Y: whether it is private-data dependent (PDD).
    noise : int >= 0
        How many numbers of noise it takes for each record.
    share : float in [0, 1]
    jitter : float >= 0
        In units of `scale`.

    Raises
    ------
    TypeError, ValueError
        If an attribute is not as described.
    """

    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]
    center: np.ndarray
    scale: float
    sees_y: bool
    noise: int
    share: float = 1.0
    jitter: float = 0.0

    def __post_init__(self) -> None:
        weights = tuple(_single(f"weights[{i}]", layer) for i, layer in enumerate(self.weights))
        biases = tuple(_single(f"biases[{i}]", layer) for i, layer in enumerate(self.biases))
        center = _checks.array("center", self.center)
        if center.ndim > 1 or center.size == 0:
            raise ValueError(f"center must have the shape of a record, (d,) or (), got {center.shape}")
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "scale", _checks.real("scale", self.scale, 1e-100, 1e100))
        object.__setattr__(self, "sees_y", _checks.flag("sees_y", self.sees_y))
        object.__setattr__(self, "noise", _checks.integer("noise", self.noise, 0, 10**4))
        object.__setattr__(self, "share", _checks.real("share", self.share, 0, 1))
        object.__setattr__(self, "jitter", _checks.real("jitter", self.jitter, 0, 1e30))
        inputs = center.size + self.sees_y + self.noise
        if not weights or len(weights) != len(biases):
            raise ValueError(f"biases must be one for each of the {len(weights)} weights, got {len(biases)}")
        for i, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            if weight.ndim != 2 or weight.shape[0] != inputs or bias.shape != weight.shape[1:]:
                raise ValueError(
                    f"weights[{i}] and biases[{i}] must have the shapes ({inputs}, n) and (n,), got {weight.shape} and "
                    f"{bias.shape}"
                )
            inputs = weight.shape[1]
        if inputs == 0 or inputs % (1 + center.size):
            raise ValueError(f"weights must end with {1 + center.size} outputs for each move, got {inputs}")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "biases", biases)

    def outcomes(self, x: ArrayLike, y: ArrayLike, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return where each record may go, and with what probability; with what is left it stays.

        Of noise and jitter, where the mechanism has any, it is one draw.

        Parameters
        ----------
        x : array_like of float, shape (n,) or (n, d)
            The public data.
        y : array_like of zeros and ones, shape (n,)
            The private bits.
        seed : int >= 0
            Of noise and jitter, if the mechanism takes any.

        Returns
        -------
        points : numpy.ndarray, shape (n, H) or (n, H, d)
            The releases.
        probabilities : numpy.ndarray, shape (n, H)

        Raises
        ------
        TypeError, ValueError
            If `x` holds anything but finite numbers, or records of another length, `y` anything but 0 and 1, their
            lengths differ, or `seed` is not an integer >= 0.
        """
        x, y = self._records(x, y)
        parts = list(self._blocks(x, y, seed))
        probabilities = np.concatenate([probability for _, _, probability in parts]).astype(float)
        moves = np.concatenate([move for _, move, _ in parts]).astype(float)
        return x[:, np.newaxis] + moves.reshape(probabilities.shape + self.center.shape) * self.scale, probabilities

    def distortion(self, x: ArrayLike, y: ArrayLike, seed: int = 0) -> float:
        """Return the mean squared distance between release and record, expected over moves and jitter.

        Parameters
        ----------
        x : array_like of float, shape (n,) or (n, d)
            The public data.
        y : array_like of zeros and ones, shape (n,)
            The private bits.
        seed : int >= 0
            Of the noise, if the mechanism takes any.

        Returns
        -------
        float

        Raises
        ------
        TypeError, ValueError
            As for `outcomes`.
        """
        x, y = self._records(x, y)
        total, of_jitter = 0.0, self.center.size * self.jitter**2
        for _, move, probability in replace(self, jitter=0.0)._blocks(x, y, seed):
            total += float((probability * ((move.astype(float) ** 2).sum(axis=2) + of_jitter)).sum())
        return total * self.scale**2 / len(y)

    def privatize(self, x: ArrayLike, y: ArrayLike, seed: int) -> np.ndarray:
        """Release each record through the mechanism, independently of the others.

        Parameters
        ----------
        x : array_like of float, shape (n,) or (n, d)
            The public data.
        y : array_like of zeros and ones, shape (n,)
            The private bits. A PDI mechanism takes them too, and its release does not depend on them.
        seed : int >= 0
            The same seed gives the same release.

        Returns
        -------
        numpy.ndarray of float, shape (n,) or (n, d)
            A record that stays is released as it is, to the last bit.

        Raises
        ------
        TypeError, ValueError
            As for `outcomes`.
        """
        x, y = self._records(x, y)
        uniform = _random.generator(seed, "NetworkMechanism.privatize").random(len(y), np.float32)
        release = x.copy()
        for rows, move, probability in self._blocks(x, y, seed):
            below = np.cumsum(probability, axis=1)
            chosen = (uniform[rows, np.newaxis] >= below).sum(axis=1)
            moved = np.flatnonzero(chosen < below.shape[1])
            step = move[moved, chosen[moved]].astype(float) * self.scale
            release[rows][moved] += step.reshape((len(moved), *self.center.shape))
        return release

    def _records(self, x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        x, y = _checks.array("x", x), _checks.bits("y", y)
        if x.shape != (len(y), *self.center.shape):
            raise ValueError(f"x must have the shape {(len(y), *self.center.shape)}, got {x.shape}")
        return x, y

    def _blocks(self, x: np.ndarray, y: np.ndarray, seed: int) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Yield which records, their moves in units of `scale`, (n, H, d), and the probabilities of these, (n, H)."""
        noise, shaken = (_random.generator(seed, f"NetworkMechanism.{of}") for of in ("noise", "jitter"))
        d = self.center.size
        for first in range(0, len(y), _BLOCK):
            rows = slice(first, first + _BLOCK)
            inputs = np.empty((len(y[rows]), self.weights[0].shape[0]), np.float32)
            with np.errstate(over="ignore"):  # what is too far for single precision is clipped
                inputs[:, :d] = ((x[rows] - self.center) / self.scale).reshape(-1, d)
            np.clip(inputs[:, :d], -1e6, 1e6, out=inputs[:, :d])
            if self.sees_y:
                inputs[:, d] = 2 * y[rows] - 1
            if self.noise:
                inputs[:, -self.noise :] = noise.standard_normal((len(inputs), self.noise), np.float32)
            for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
                inputs = inputs @ weight
                inputs += bias
                inputs /= 1 + np.exp(-np.clip(inputs, -80, None))  # exp(80) is still a number in single precision
            outputs = inputs @ self.weights[-1] + self.biases[-1]
            heads = outputs.shape[1] // (1 + d)
            log_odds, move = outputs[:, :heads], outputs[:, heads:].reshape(-1, heads, d)
            largest = np.maximum(log_odds.max(axis=1, keepdims=True), 0)
            odds = np.exp(log_odds - largest)
            if self.jitter:
                move = move + np.float32(self.jitter) * shaken.standard_normal((len(move), 1, d), np.float32)
            probability = odds * (np.float32(self.share) / (odds.sum(axis=1, keepdims=True) + np.exp(-largest)))
            yield rows, move, probability

    def _arrays(self) -> dict[str, np.ndarray]:
        layers = {f"weights_{i}": layer for i, layer in enumerate(self.weights)}
        layers |= {f"biases_{i}": layer for i, layer in enumerate(self.biases)}
        rest = {name: np.asarray(getattr(self, name)) for name in ("center", "scale", "noise", "share", "jitter")}
        return layers | rest | {"sees_y": np.array(int(self.sees_y))}

    @classmethod
    def _of_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        depth = len([name for name in arrays if name.startswith("weights_")])
        layers = [[arrays.pop(f"{kind}_{i}") for i in range(depth)] for kind in ("weights", "biases")]
        center, sees_y = arrays.pop("center"), arrays.pop("sees_y")
        if sees_y not in (0, 1):
            raise ValueError(f"sees_y must be 0 or 1, got {sees_y}")
        rest = {name: array.item() for name, array in arrays.items()}
        return cls(tuple(layers[0]), tuple(layers[1]), center, sees_y=bool(sees_y), **rest)


def _single(name: str, array: np.ndarray) -> np.ndarray:
    """Return a read-only array in single precision."""
    array = _checks.array(name, array, -1e30, 1e30).astype(np.float32)
    array.flags.writeable = False
    return array
