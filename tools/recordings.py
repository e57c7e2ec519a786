"""Record trainings for the player on the site: what both players had learned after every 100 iterations.

python tools/recordings.py    (writes book/data/recordings/; one training takes some seconds)

A recording is a JSON file. `title` names it; `budget`, `seed`, `records` and `gaplib` say what was played. `grid` is
[from, to, bins]; `before` and each moment's `released` count the training records of Y = 0 and of Y = 1 in each bin,
and `belief` is the adversary's belief that Y = 1 at the middle of the bin, in thousandths. `accuracy` is how often the
adversary of that moment is right on test records. `history` is that of `gaplib.training.History`. `optimum` has the
loss and the price at the optimum: under log-loss that of the paper's family, for a network under 0-1 loss that of all
mechanisms. It is null where there is no solver.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import outputs

import gaplib
from gaplib.book import paper
from gaplib.gaussian import optimal_affine
from gaplib.leakage import arimoto_conditional_entropy
from gaplib.models import GaussianMixture
from gaplib.training import Game, NeuralPrivatizer, Result, train
from gaplib.training.defaults import LEARNING_RATE
from gaplib.training.games import sample_of
from gaplib.transport import optimal_pdd

FOLDER = Path(__file__).resolve().parent.parent / "book" / "data" / "recordings"
EVERY = 100  # iterations between two moments, as `train` tells of them
DIGITS = {"loss": 4, "distortion": 3, "multiplier": 4}


@dataclass(frozen=True)
class Recording:
    """A training to be recorded: of one game on the line, with one seed.

    Attributes
    ----------
    title : str
        What the page calls it.
    game : Game
    loss : {"log", "0-1"}
    grid : (float, float, int)
        Ends and number of bins.
    every : int
        Iterations between two moments, a multiple of 100.
    learning_rate : float
    steps : int, optional
        As `train` takes them.
    seed : int
    """

    title: str
    game: Game
    loss: str = "log"
    grid: tuple[float, float, int] = (-10, 8, 72)
    every: int = EVERY
    learning_rate: float = LEARNING_RATE
    steps: int | None = None
    seed: int = 0


# In the order of the page: the game that chapter 10 follows, row D = 3 of the paper's Table 3, and the game that
# chapter 20 follows. At the chapters' own step of .01 most of the first two is over after 200 iterations, before there
# is anything to see; at this one it takes twice their iterations to settle.
SLOW, LONG = 0.002, 3000
RECORDINGS = {
    "unequal": Recording("Chapter 10: variances 4 and 1", Game(paper.DATASETS[4], 3.0), learning_rate=SLOW, steps=LONG),
    "equal": Recording("Chapter 12: variances 1 and 1", Game(paper.DATASETS[3], 3.0), learning_rate=SLOW, steps=LONG),
    "network": Recording(
        "Chapter 20: a network",
        Game(paper.DATASETS[1], 3.0, privatizer=NeuralPrivatizer()),
        loss="0-1",
        grid=(-8, 8, 80),
    ),
}


def record(recording: Recording) -> dict:
    """Train, and return what the file holds."""
    game, seed = recording.game, recording.seed
    low, high, bins = recording.grid
    edges = np.linspace(low, high, bins + 1)
    sample = sample_of(game, seed)
    moments = []

    def counts(x: np.ndarray) -> list[list[int]]:
        return [np.histogram(x[sample.y == y], edges)[0].tolist() for y in (0, 1)]

    def watch(results: list[Result]) -> None:
        (result,) = results
        if result.iterations % recording.every and not result.complete:
            return
        belief = 1000 * result.belief((edges[:-1] + edges[1:]) / 2)
        moments.append(
            {
                "iteration": result.iterations,
                "released": counts(result.mechanism.privatize(sample.x, sample.y, seed)),  # type: ignore[union-attr]
                "belief": belief.round().astype(int).tolist(),
                "accuracy": round(result.test_accuracy, 3),
            }
        )

    (result,) = train(
        [game],
        recording.loss,
        seed=seed,
        learning_rate=recording.learning_rate,
        steps=recording.steps,
        progress=False,
        watch=watch,
    )
    history = {name: getattr(result.history, name).round(digits).tolist() for name, digits in DIGITS.items()}
    return {
        "title": recording.title,
        "budget": game.D,
        "seed": seed,
        "records": int(sample.x.size),
        "gaplib": gaplib.__version__,
        "grid": [low, high, bins],
        "before": counts(sample.x),
        "moments": moments,
        "history": {"iteration": result.history.iteration.tolist()} | history,
        "optimum": optimum_of(recording),
    }


def optimum_of(recording: Recording) -> dict | None:
    """Return the adversary's loss and the price at the optimum that the players are after, where it is known."""
    game = recording.game
    if not isinstance(game.source, GaussianMixture):
        return None
    if recording.loss == "log" and game.privatizer is None:  # the paper's family
        best = optimal_affine(game.source, game.D, "log")
        loss = arimoto_conditional_entropy(game.source, best.mechanism, 1)
    elif recording.loss == "0-1" and isinstance(game.privatizer, NeuralPrivatizer):  # no family
        best = optimal_pdd(game.source, game.D)
        loss = 1 - best.value
    else:
        return None
    return {"loss": round(loss, DIGITS["loss"]), "price": round(best.price, DIGITS["multiplier"])}


def export(folder: Path = FOLDER) -> None:
    """Write all recordings, and nothing else, into the folder."""
    folder.mkdir(exist_ok=True)
    for name, recording in RECORDINGS.items():
        text = json.dumps(record(recording), separators=(",", ":"), ensure_ascii=False)
        outputs.replace_file(folder / f"{name}.json", f"{text}\n".encode())


if __name__ == "__main__":
    export()
