"""Training any number of games together."""

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from tqdm import tqdm

from gaplib import _checks, _random
from gaplib.mechanisms import AffineGaussian, BinaryKernel
from gaplib.training._tensorflow import tf
from gaplib.training.adversaries import BinaryAdversary, NetworkAdversary
from gaplib.training.constraints import AugmentedLagrangian, Penalty
from gaplib.training.engine import Batch, Fixed, Player, Rules, State, alternating_minimax
from gaplib.training.games import Game, History, Interrupted, Result, sample_of
from gaplib.training.privatizers import CELLS, AffinePrivatizer, BinaryPrivatizer
from gaplib.training.samples import BLOCK, MINIBATCH, Draws, Sample

# Games of one compiled program; more would leave the processor's cache.
TOGETHER = 40
RECORD_EVERY = 10


def train(
    games: Iterable[Game],
    loss: str = "log",
    alpha: float | None = None,
    constraint: Penalty | AugmentedLagrangian | None = None,
    seed: int | Sequence[int] = 0,
    k: int = 3,
    steps: int | None = None,
    as_printed: bool = False,
    progress: bool | None = None,
) -> list[Result]:
    """Play games of a privatizer against an adversary, all together (Algorithm 1 of the paper).

    Parameters
    ----------
    games : sequence of Game
        Binary and Gaussian ones may be mixed.
    loss : {"log", "alpha"}
        The adversary's loss: log-loss (Equation 6 of the paper) or alpha-loss (Equation 7).
    alpha : float in (1, 1e6], for alpha-loss only
    constraint : Penalty or AugmentedLagrangian, optional
        How the budget is enforced. As in the paper, the penalty method for binary and the augmented Lagrangian method
        for Gaussian games if not given.
    seed : int >= 0, or one for each game
        Of the sample, the order of its records, the noise and the adversary's first parameters. Games with the same
        seed share all of these as far as their settings allow; who trains beside a game makes no difference to it
        beyond rounding.
    k : int from 1 to 100
        Steps of the adversary for each step of the privatizer, on the same minibatch.
    steps : int from 1 to 1e7, optional
        Iterations T of Algorithm 1, each on a minibatch of 200 records; 4,000 for binary and 3,000 for Gaussian games
        if not given. Adam's step falls from .01 to 0 along a cosine, and the mechanism is the mean of the last quarter
        of the iterates.
    as_printed : bool
        Follow the paper's text instead: the constraint looks at the minibatch's distortion, both binary players at
        the loss of the averaged belief, the step stays at .01 and the last iterate is the mechanism.
    progress : bool, optional
        Whether to show a progress bar with an estimate of the time left; by default on a terminal only.

    Returns
    -------
    list of Result
        In the order of the games.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    Interrupted
        On Ctrl-C, with the results of the games that were finished. It is a `KeyboardInterrupt`.

    Warns
    -----
    RuntimeWarning
        If a game diverged; it is named, and its result says so. The others are not affected.

    Notes
    -----
    The same seed, type of processor and version of TensorFlow give the same bits: all is done on one thread.
    """
    games, seeds = _check_games(games, seed)
    alpha = _check_alpha(loss, alpha)
    if constraint is not None and not isinstance(constraint, (Penalty, AugmentedLagrangian)):
        raise TypeError(f"constraint must be a Penalty or an AugmentedLagrangian, got {constraint!r}")
    _checks.integer("k", k, 1, 100)
    if steps is not None:
        _checks.integer("steps", steps, 1, 10**7)  # single precision counts no further
    _checks.flag("as_printed", as_printed)
    if progress is not None:
        _checks.flag("progress", progress)

    finished: dict[int, Result] = {}
    chunks = _chunks(games)
    iterations = [steps or _sides(games[chunk[0]].binary)[3] for chunk in chunks]
    bar = tqdm(total=sum(iterations), unit="iteration", disable=None if progress is None else not progress)
    try:
        with bar:
            for chunk, T in zip(chunks, iterations, strict=True):
                privatizer, adversary, default, _ = _sides(games[chunk[0]].binary)
                rules = Rules(privatizer, adversary, constraint or default, alpha, k, as_printed)
                played = _play([games[i] for i in chunk], [seeds[i] for i in chunk], rules, T, bar)
                finished |= zip(chunk, played, strict=True)
    except KeyboardInterrupt:
        raise Interrupted([finished.get(i) for i in range(len(games))]) from None
    results = [finished[i] for i in range(len(games))]
    for result in results:
        if result.diverged:
            warnings.warn(
                f"a game diverged: {result.game.label}, seed {result.seed}; alpha={alpha:g}, k={k}, "
                f"constraint={constraint or _sides(result.game.binary)[2]}",
                RuntimeWarning,
                stacklevel=2,
            )
    return results


def _check_games(games: Iterable[Game], seed: int | Sequence[int]) -> tuple[list[Game], list[int]]:
    if isinstance(games, Game) or not hasattr(games, "__iter__"):
        raise TypeError(f"games must be a list of Game, got {games!r} of type {type(games).__name__}")
    games = [_checks.instance(f"games[{i}]", game, Game) for i, game in enumerate(games)]
    if isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, str):
        if len(seed) != len(games):
            raise ValueError(f"seed must be one integer or one for each of the {len(games)} games, got {len(seed)}")
        return games, [_checks.integer(f"seed[{i}]", value, 0) for i, value in enumerate(seed)]
    return games, [_checks.integer("seed", seed, 0)] * len(games)


def _check_alpha(loss: str, alpha: float | None) -> float:
    if _checks.choice("loss", loss, ("log", "alpha")) == "log":
        if alpha is not None:
            raise ValueError(f"alpha must be left out under log-loss, got {alpha!r}; use loss='alpha'")
        return 1.0
    if alpha is None:
        raise ValueError("alpha must be given for loss='alpha'")
    alpha = _checks.real("alpha", alpha, 1, 1e6)
    if alpha == 1:
        raise ValueError("alpha must be more than 1; at 1 the loss is 'log'")
    return alpha


def _sides(
    binary: bool,
) -> tuple[BinaryPrivatizer | AffinePrivatizer, BinaryAdversary | NetworkAdversary, Penalty | AugmentedLagrangian, int]:
    """Return the players and the constraint that the paper has for a kind of data, and the iterations it takes."""
    if binary:
        return BinaryPrivatizer(), BinaryAdversary(), Penalty(), 4000
    return AffinePrivatizer(), NetworkAdversary(), AugmentedLagrangian(), 3000


def _chunks(games: list[Game]) -> list[list[int]]:
    """Return the numbers of the games that are played together: of one kind, with minibatches of one size."""
    alike = defaultdict(list)
    for i, game in enumerate(games):
        alike[game.binary, min(game.records, MINIBATCH)].append(i)
    chunks = []
    for numbers in alike.values():
        parts = math.ceil(len(numbers) / TOGETHER)
        chunks += [part.tolist() for part in np.array_split(numbers, parts)]
    return chunks


def _play(games: list[Game], seeds: list[int], rules: Rules, T: int, bar: tqdm) -> list[Result]:
    """Play the games of one chunk to the end."""
    drawn = {}  # games of the same law, size and seed share their sample
    for game, seed in zip(games, seeds, strict=True):
        key = (id(game.source), game.records, seed)
        if key not in drawn:
            drawn[key] = sample_of(game, seed)
    samples = [drawn[id(game.source), game.records, seed] for game, seed in zip(games, seeds, strict=True)]
    state, fixed = _start(games, seeds, samples, rules)
    blocks = _minibatches(games, seeds, samples)
    play = alternating_minimax(rules)
    records = []
    for first in range(0, T, BLOCK):
        state, record = play(state, next(blocks), fixed, tf.constant(float(first)), tf.constant(float(T)))
        records.append(record.numpy())
        bar.update(min(BLOCK, T - first))
    history = np.concatenate(records)[:T]
    return [_result(i, game, seeds[i], samples[i], state, fixed, history, rules) for i, game in enumerate(games)]


def _start(games: list[Game], seeds: list[int], samples: list[Sample], rules: Rules) -> tuple[State, Fixed]:
    """Return the state before the first iteration, and what stays as it is."""
    theta_p, ties, theta_a, laws, budgets, scales, spreads = [], [], [], [], [], [], []
    for game, seed, sample in zip(games, seeds, samples, strict=True):
        budget = game.D / sample.unit**2
        parameters, tie = rules.privatizer.start(budget, game.kind)
        theta_p.append(parameters)
        ties.append(tie)
        theta_a.append(rules.adversary.start(_random.generator(seed, "training.adversary")))
        laws.append(rules.privatizer.law(sample))
        budgets.append(budget)
        scales.append(rules.privatizer.scale(budget))
        # The spread that the release would have if all of the budget were noise; a bit needs none.
        spreads.append([1.0 if sample.binary else math.sqrt((sample.x.std() / sample.unit) ** 2 + budget) or 1.0])
    theta_p, theta_a = _tensor(theta_p), _tensor(theta_a)
    state = State(_rest(theta_p), _rest(theta_a), _tensor(np.zeros(len(games))), tf.zeros_like(theta_p))
    fixed = Fixed(_tensor(ties), _tensor(laws), _tensor(budgets), _tensor(scales), _tensor(spreads))
    return state, fixed


def _rest(parameters: tf.Tensor) -> Player:
    return Player(parameters, tf.zeros_like(parameters), tf.zeros_like(parameters))


def _tensor(value: object) -> tf.Tensor:
    with np.errstate(over="ignore"):  # what is too large for single precision becomes infinite: that game diverges
        return tf.constant(np.asarray(value, np.float32))


def _minibatches(games: list[Game], seeds: list[int], samples: list[Sample]) -> Iterator[Batch]:
    """Yield block after block: a `Batch` with a leading axis of iterations."""
    binary = games[0].binary
    keys = dict.fromkeys((seed, sample.x.size) for seed, sample in zip(seeds, samples, strict=True))
    draws = {key: Draws(*key, noise=not binary) for key in keys}
    if binary:
        data = [(2 * sample.x + sample.y).astype(np.int8) for sample in samples]
    else:
        data = [(np.float32((sample.x - sample.center) / sample.unit), np.float32(sample.y)) for sample in samples]
    while True:
        block = {key: source.next_block() for key, source in draws.items()}
        parts: list[Sequence[np.ndarray]] = []
        for seed, sample, records in zip(seeds, samples, data, strict=True):
            rows, noise = block[seed, sample.x.size]
            if binary:
                cells = records[rows]
                parts.append([(cells == cell).mean(axis=1) for cell in range(4)])
            else:
                parts.append((records[0][rows], records[1][rows], noise))
        if binary:
            weight = _tensor(np.transpose(parts, (2, 0, 1)))
            x, y = (tf.broadcast_to(_tensor(CELLS[:, i]), weight.shape) for i in (0, 1))
            yield Batch(x, y, tf.zeros_like(weight), weight)
        else:
            x, y, noise = (tf.constant(np.stack(part, axis=1)) for part in zip(*parts, strict=True))
            yield Batch(x, y, noise, tf.fill(x.shape, np.float32(1 / x.shape[2])))


def _result(
    i: int,
    game: Game,
    seed: int,
    sample: Sample,
    state: State,
    fixed: Fixed,
    history: np.ndarray,
    rules: Rules,
) -> Result:
    """Return the result of game i of a chunk."""
    parameters = fixed.tie[i].numpy().astype(float) @ state.average[i].numpy().astype(float)
    theta_a = state.adversary.parameters[i : i + 1].numpy()
    spread = sample.unit * float(fixed.spread[i, 0])

    def belief(x_hat: np.ndarray) -> np.ndarray:
        inputs = _tensor((np.reshape(x_hat, (1, -1)) - sample.center) / spread)
        log_odds = rules.adversary.log_odds(tf.constant(theta_a), inputs).numpy().astype(float)
        return np.exp(-np.logaddexp(0, -log_odds)).reshape(np.shape(x_hat))

    loss, distortion, price = history[:, :, i].astype(float).T
    units = sample.unit**2  # of distortion
    course = _history(loss, units * distortion, price / units)
    if not all(np.isfinite(part).all() for part in (parameters, theta_a, loss, distortion, price)):
        return Result(game, seed, None, math.nan, course, math.nan, math.nan, True, belief)
    mechanism = rules.privatizer.mechanism(parameters, sample.unit)
    distortion = float(rules.privatizer.distortion(_tensor([parameters]), _tensor([rules.privatizer.law(sample)]))[0])
    accuracy, cross_entropy = _test(mechanism, belief, sample, seed)
    return Result(game, seed, mechanism, units * distortion, course, accuracy, cross_entropy, False, belief)


def _history(loss: np.ndarray, distortion: np.ndarray, price: np.ndarray) -> History:
    ends = np.append(np.arange(RECORD_EVERY, loss.size, RECORD_EVERY), loss.size)
    starts = np.concatenate([[0], ends[:-1]])
    means = [np.add.reduceat(values, starts) / (ends - starts) for values in (loss, distortion, price)]
    return History(ends, *means)


def _test(
    mechanism: BinaryKernel | AffineGaussian, belief: Callable[[np.ndarray], np.ndarray], sample: Sample, seed: int
) -> tuple[float, float]:
    """Return the accuracy and the cross-entropy of the adversary on the test sample."""
    if sample.x_test.size == 0:
        return math.nan, math.nan
    x_hat = mechanism.privatize(sample.x_test, sample.y_test, seed)
    of_1 = belief(x_hat)
    accuracy = np.mean((of_1 > 0.5) == (sample.y_test == 1))
    # The least positive number in place of 0: a belief that rounds to 0 was not meant as certainty.
    of_y = np.maximum(np.where(sample.y_test == 1, of_1, 1 - of_1), np.finfo(float).tiny)
    return float(accuracy), float(-np.log(of_y).mean())
