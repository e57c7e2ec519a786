"""The public call: it checks what it is given, and plays any number of games, those that fit together."""

import math
import os
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from tqdm import tqdm

from gaplib import _checks
from gaplib.training import protocols
from gaplib.training.checkpoints import Checkpoint, private_folder
from gaplib.training.defaults import LEARNING_RATE
from gaplib.training.engine import UNROLLED, Rules
from gaplib.training.games import Game
from gaplib.training.play import play, rehearse
from gaplib.training.programs import Program, width_of
from gaplib.training.protocols import Constraint
from gaplib.training.results import Interrupted, Result

# Games of one compiled program; more would leave the processor's cache.
TOGETHER = 40


def train(
    games: Iterable[Game],
    loss: str = "log",
    alpha: float | None = None,
    constraint: Constraint | None = None,
    seed: int | Sequence[int] = 0,
    k: int = 3,
    steps: int | None = None,
    as_printed: bool = False,
    progress: bool | None = None,
    learning_rate: float = LEARNING_RATE,
    minibatch: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    watch: Callable[[list[Result]], object] | None = None,
) -> list[Result]:
    """Play games of a privatizer against an adversary, all together (Algorithm 1 of the paper).

    Parameters
    ----------
    games : sequence of Game
        Binary and Gaussian ones may be mixed.
    loss : {"log", "alpha", "0-1"}
        The adversary's loss: log-loss (Equation 6 of the paper), alpha-loss (Equation 7), or 0-1 loss, that of the MAP
        adversary. A step has no slope under 0-1 loss: it is alpha-loss of an order that rises while they play. The
        history's loss is that of the order of its iteration, and the adversary's step ends at a fifth of the first.
    alpha : float in (1, 1e6], for alpha-loss only
        The adversary learns the posterior under log-loss, and is played as its tilt, the best belief under alpha-loss.
        Trained under alpha-loss itself it would hardly learn from records about which it is confidently wrong, and the
        privatizer would find out. An order above 64 is trained as 64: beyond, a minibatch has too few records that the
        tilted belief leaves in doubt, and the optimum hardly moves.
    constraint : Constraint, optional
        How the budget is enforced. As in the paper, the penalty method for binary and the augmented Lagrangian method
        for Gaussian games if not given.
    seed : int >= 0, or one for each game
        Of the sample, the order of its records, the noise and the first parameters of networks. Games with the same
        seed share all of these as far as their settings allow; who trains beside a game makes no difference to it
        beyond rounding, which a network's game can amplify.
    k : int from 1 to 100
        Steps of the adversary for each step of the privatizer, on the same minibatch.
    steps : int from 1 to 1e7, optional
        Iterations T of Algorithm 1, each on one minibatch; 4,000 for binary games and networks and 1,500 for Gaussian
        games if not given, 3,000 under 0-1 loss or an alpha above 8.
        Adam's step falls from `learning_rate` to 0 along a cosine, and the mechanism is the mean of the last quarter
        of the iterates.
    as_printed : bool
        Follow the paper's text instead: the constraint looks at the minibatch's distortion, both binary players at
        the loss of the averaged belief, the step stays what it is and the last iterate is the mechanism.
    progress : bool, optional
        Whether to show a progress bar with an estimate of the time left; by default on a terminal only.
    learning_rate : float in [1e-6, 1]
        Adam's first step, for both players, in parameters that belong to numbers of order one.
    minibatch : int from 1 to 1e5, optional
        Number of records of a minibatch; a smaller sample is its own minibatch. 200 if not given, and 512 for networks.
    checkpoint : str or path-like, optional
        A folder, made if it is missing and with nothing else in it. What has been learned is written there every half
        minute. The same call with the same folder, after a kill or Ctrl-C, goes on from there to the same bits; other
        calls may share the folder. Delete it when it has served.
    watch : callable, optional
        Is called after every 100 iterations with a list of `Result`: what the games that are played together have
        learned so far, as `Interrupted` would return it.

    Returns
    -------
    list of Result
        In the order of the games.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or a player of yours not as its contract asks.
    Interrupted
        On Ctrl-C, with what every game has learned so far. It is a `KeyboardInterrupt`.
    RuntimeError
        In a process that was forked from one that has trained: TensorFlow cannot work there.

    Warns
    -----
    RuntimeWarning
        If a game diverged; it is named, and its result says so. The others are not affected. Or if there is nothing to
        hide, since x or y is the same in all training records: the mechanism is then the identity.

    Notes
    -----
    The same seed, type of processor and version of TensorFlow give the same bits: all is done on one thread.

    A mechanism that spends more than 1.005 D on the training sample is brought back to D by `Privatizer.reduced`.
    """
    games, seeds = _check_games(games, seed)
    alpha = _check_alpha(loss, alpha)
    if constraint is not None:
        protocols.check("constraint", constraint, Constraint)
    _checks.integer("k", k, 1, 100)
    if steps is not None:
        _checks.integer("steps", steps, 1, 10**7)  # single precision counts no further
    _checks.flag("as_printed", as_printed)
    if progress is not None:
        _checks.flag("progress", progress)
    if watch is not None and not callable(watch):
        raise TypeError(f"watch must be a function of a list of results, got {watch!r} of type {type(watch).__name__}")
    learning_rate = _checks.real("learning_rate", learning_rate, 1e-6, 1)
    if minibatch is not None:
        _checks.integer("minibatch", minibatch, 1, 10**5)
    if as_printed and math.isinf(alpha):
        raise ValueError("as_printed must be False under 0-1 loss, which has no slope, got True")

    def program_of(game: Game) -> Program:
        players = game.setting.privatizer, game.setting.adversary, constraint or game.setting.constraint
        rules = Rules(*players, k if k <= UNROLLED else 0, alpha > 1, as_printed, math.isinf(alpha))
        size = minibatch or game.setting.minibatch
        width = width_of(min(game.records, size), size)
        return Program(rules, steps or game.setting.steps_under(alpha), size, width, learning_rate, k, alpha)

    programs = [program_of(game) for game in games]
    chunks = _chunks(programs)
    for program, numbers in chunks:
        if games[numbers[0]].privatizer is not None:
            rehearse(program, games[numbers[0]], seeds[numbers[0]])
    folder = None if checkpoint is None else private_folder("checkpoint", checkpoint)
    results: list[Result | None] = [None] * len(games)
    total = sum(program.steps for program, _ in chunks)
    try:
        with tqdm(total=total, unit="iteration", disable=None if progress is None else not progress) as bar:
            for program, numbers in chunks:
                chunk = [(games[i], seeds[i]) for i in numbers]
                file = None if folder is None else Checkpoint(folder, program, chunk)
                stop = None
                try:
                    played: Sequence[Result | None] = play(program, chunk, bar.update, file, watch)
                except Interrupted as interrupt:
                    played, stop = interrupt.results, interrupt
                for i, result in zip(numbers, played, strict=True):
                    results[i] = result
                if stop:
                    raise stop
    except KeyboardInterrupt:
        raise Interrupted(results) from None
    finished = [result for result in results if result is not None]
    for result, program in zip(finished, programs, strict=True):
        if result.diverged:
            warnings.warn(
                f"a game diverged: {result.game.label}, seed {result.seed}; alpha={alpha:g}, k={k}, "
                f"constraint={program.rules.constraint}",
                RuntimeWarning,
                stacklevel=2,
            )
    return finished


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
    if _checks.choice("loss", loss, ("log", "alpha", "0-1")) != "alpha":
        if alpha is not None:
            raise ValueError(f"alpha must be left out under {loss}-loss, got {alpha!r}; use loss='alpha'")
        return 1.0 if loss == "log" else math.inf
    if alpha is None:
        raise ValueError("alpha must be given for loss='alpha'")
    alpha = _checks.real("alpha", alpha, 1, 1e6)
    if alpha == 1:
        raise ValueError("alpha must be more than 1; at 1 the loss is 'log'")
    return alpha


def _chunks(programs: Sequence[Program]) -> list[tuple[Program, list[int]]]:
    """Return which games are played together: those of one program, and not too many."""
    games_of = defaultdict(list)
    for i, program in enumerate(programs):
        games_of[program].append(i)
    return [
        (program, part.tolist())
        for program, numbers in games_of.items()
        for part in np.array_split(numbers, math.ceil(len(numbers) / TOGETHER))
    ]
