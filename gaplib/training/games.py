"""What is trained: a game, and its records."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from gaplib import _checks
from gaplib.mechanisms import NetworkMechanism
from gaplib.models import BinaryModel, GaussianMixture
from gaplib.training import protocols
from gaplib.training.defaults import BITS, NETWORKS, NUMBERS, TEST_RECORDS, Setting
from gaplib.training.neural import NeuralAdversary, NeuralPrivatizer
from gaplib.training.protocols import Adversary, Privatizer
from gaplib.training.samples import Sample, are_bits


@dataclass(frozen=True, eq=False)
class Game:
    """One game: data, budget, class of mechanisms, and who plays.

    Parameters
    ----------
    source : BinaryModel, GaussianMixture, or a pair of arrays (x, y)
        A model to draw records from, or the records themselves: y zeros and ones, shape (n,); x too for a binary game,
        any other numbers for a Gaussian one, or vectors, shape (n, d), for networks. Bits may be integers, floats or
        booleans. A pair is checked and copied.
    D : float in [0, 1e30]
        Budget: the largest allowed expected distortion, P(Xhat != X) or E[(Xhat - X)^2], for vectors
        the mean squared distance.
    kind : {"pdd", "pdi"}
        Private-data dependent or independent. For the paper's privatizer of numbers "pdi" is X + beta + gamma N.
    n : int, optional
        Number of training records to draw; the paper's 10,000 (binary) or 20,000 (mixture) if not given. They are the
        first n of ``source.sample(n + 2000, seed)``, with the seed of `train`.
    test : pair of arrays (x, y), optional
        Test records, if `source` is a pair. From a model, 2,000 are drawn after the others.
    privatizer : Privatizer, optional
        Who learns the mechanism; the paper's `BinaryPrivatizer` or `AffinePrivatizer` if not given, for vectors a
        `NeuralPrivatizer`.
    adversary : Adversary, optional
        Who learns to guess Y; the paper's `BinaryAdversary` or `NetworkAdversary` if not given, and a
        `NeuralAdversary` for vectors and against a `NeuralPrivatizer`.
    start : NetworkMechanism, optional
        For a `NeuralPrivatizer`: what it starts from, such as a network from `fit_plan`, instead of random weights.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not as described.

    Examples
    --------
    >>> Game(BinaryModel.xor(.5, .25), .1, "pdi").label
    'BinaryModel([[0.375, 0.125], [0.125, 0.375]]), D=0.1, pdi'
    """

    source: BinaryModel | GaussianMixture | tuple[Any, Any]
    D: float
    kind: str = "pdd"
    n: int | None = None
    test: tuple[Any, Any] | None = None
    privatizer: Privatizer | None = None
    adversary: Adversary | None = None
    start: NetworkMechanism | None = None

    def __post_init__(self) -> None:
        # Beyond 1e30 the square of a single-precision number is infinite.
        object.__setattr__(self, "D", _checks.real("D", self.D, 0, 1e30))
        _checks.choice("kind", self.kind, ("pdd", "pdi"))
        if self.privatizer is not None:
            protocols.check("privatizer", self.privatizer, Privatizer)
        if self.adversary is not None:
            protocols.check("adversary", self.adversary, Adversary)
        if self.start is not None:
            _checks.instance("start", self.start, NetworkMechanism)
        if isinstance(self.source, (BinaryModel, GaussianMixture)):
            if self.test is not None:
                raise ValueError("test must be left out where source is a model: test records are drawn from it")
            if self.n is not None:
                _checks.integer("n", self.n, 1, 10**8)
            return
        if self.n is not None:
            raise ValueError(f"n must be left out where source is a pair of arrays, got {self.n!r}")
        object.__setattr__(self, "source", _records("source", self.source))
        if self.test is not None:
            object.__setattr__(self, "test", _records("test", self.test))
            if are_bits(self.source[0]) and not are_bits(self.test[0]):
                raise ValueError("test must hold zeros and ones as its x, as source does")
            if self.source[0].shape[1:] != self.test[0].shape[1:]:
                raise ValueError(
                    f"test must hold records like those of source as its x, got shape {self.test[0].shape} beside "
                    f"{self.source[0].shape}"
                )
        self.setting  # noqa: B018  # refuses players that are not for such records

    @cached_property
    def setting(self) -> Setting:
        """What the paper takes for this kind of data, with the players that were given."""
        bits = are_bits(self.source[0]) if isinstance(self.source, tuple) else isinstance(self.source, BinaryModel)
        vector = self.source[0].shape[1:] if isinstance(self.source, tuple) else ()
        if vector or isinstance(self.privatizer, NeuralPrivatizer):
            setting = NETWORKS
        else:
            setting = BITS if bits else NUMBERS
        privatizer, adversary = self.privatizer or setting.privatizer, self.adversary or setting.adversary
        for name, player in (("privatizer", privatizer), ("adversary", adversary)):
            if isinstance(player, (NeuralPrivatizer, NeuralAdversary)) and player.dimension and not vector:
                raise ValueError(f"{name} must leave its dimension out where records are numbers, got {player!r}")
        if vector:  # who does not derive from the contract cannot say that it is not for vectors
            privatizer = getattr(privatizer, "for_vectors", partial(Privatizer.for_vectors, privatizer))(*vector)
            adversary = getattr(adversary, "for_vectors", partial(Adversary.for_vectors, adversary))(*vector)
        if isinstance(privatizer, NeuralPrivatizer):
            privatizer = privatizer.for_kind(self.kind)
        if self.start is not None and not isinstance(privatizer, NeuralPrivatizer):
            raise ValueError(f"start must be left out where privatizer is no NeuralPrivatizer, got {privatizer!r}")
        return replace(setting, privatizer=privatizer, adversary=adversary)

    @property
    def records(self) -> int:
        """The number of training records."""
        if isinstance(self.source, tuple):
            return len(self.source[1])
        return self.n or self.setting.records

    @property
    def label(self) -> str:
        """The settings in one line, for messages."""
        if isinstance(self.source, tuple):
            source = f"{len(self.source[1])} records"
        elif isinstance(self.source, BinaryModel):
            source = f"BinaryModel({self.source.joint.tolist()})"
        else:
            source = repr(self.source)
        given = "".join(f", {player!r}" for player in (self.privatizer, self.adversary) if player is not None)
        return f"{source}, D={self.D:g}, {self.kind}{given}"


def sample_of(game: Game, seed: int) -> Sample:
    """Return the records of a game.

    From a model they are ``source.sample(n + 2000, seed)``, the last 2,000 for the test.
    """
    if isinstance(game.source, tuple):
        x, y = game.source
        x_test, y_test = game.test or (x[:0], y[:0])
    else:
        x, y = game.source.sample(game.records + TEST_RECORDS, seed)
        x, x_test = np.split(x, [game.records])
        y, y_test = np.split(y, [game.records])
    return Sample(x, y, x_test, y_test)


def samples_of(games: Iterable[tuple[Game, int]]) -> list[Sample]:
    """Return the records of each game with its seed. Games of one model, size and seed share theirs."""
    drawn: dict[Hashable, Sample] = {}
    samples = []
    for game, seed in games:
        key = game if isinstance(game.source, tuple) else (_value(game.source), game.records, seed)
        if key not in drawn:
            drawn[key] = sample_of(game, seed)
        samples.append(drawn[key])
    return samples


def _value(model: BinaryModel | GaussianMixture) -> Hashable:
    return model.joint.tobytes() if isinstance(model, BinaryModel) else model


def _records(name: str, value: object) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        allowed = "a pair of arrays (x, y)" + (", a BinaryModel or a GaussianMixture" if name == "source" else "")
        raise TypeError(f"{name} must be {allowed}, got {value!r} of type {type(value).__name__}")
    # Training is in single precision: beyond 1e15 the square of a sum of squares is infinite.
    numbers = _checks.array(f"{name}[0] (x)", _integers_if_bits(value[0]), -1e15, 1e15)
    y = _checks.bits(f"{name}[1] (y)", _integers_if_bits(value[1]))
    if numbers.ndim not in (1, 2) or len(numbers) != len(y) or numbers.size == 0:
        raise ValueError(
            f"{name} must be a pair of arrays of the same length, of shapes (n,) or (n, d) and (n,) with n and d at "
            f"least 1, got {numbers.shape} and {y.shape}"
        )
    return numbers.astype(int) if are_bits(numbers) else numbers.copy(), np.array(y)


def _integers_if_bits(value: Any) -> Any:
    """Return zeros and ones as integers, and anything else as it is, for others to judge."""
    if isinstance(value, np.ma.MaskedArray):
        return value
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        return value
    return array.astype(int) if are_bits(array) else value
