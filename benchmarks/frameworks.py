"""The same game by `gaplib` and as a plain loop in JAX and in PyTorch: processor seconds and the accuracy reached.

python benchmarks/frameworks.py gaplib=.venv/bin/python jax=PYTHON torch=PYTHON

Each name comes with an interpreter where that package is installed; the project needs neither JAX nor PyTorch. They are
measured in turn, three times, and book/data/frameworks.csv holds what was found. The loops play one game at a time: a
gate and a move against an adversary under log-loss, whose tilt rises. `gaplib` plays one at a time, and ten in one
batch. What the first iterations need is mostly compilation, and counted apart; imports and samples do not count.

python benchmarks/frameworks.py jax REPETITION measures one of them once, in this process, and prints its rows.
"""

import csv
import io
import os
import platform
import subprocess
import sys
import time
from datetime import date
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import numpy as np
from judges import on_the_line

from gaplib import transport
from gaplib.book import paper
from gaplib.mechanisms import NetworkMechanism

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "book" / "data" / "frameworks.csv"
COLUMNS = ["framework", "games", "D", "seed", "compiled", "seconds", "excess", "version", "python", "processor", "date"]
DATASET = paper.DATASETS[1]
BUDGETS, REPETITIONS, TOGETHER = (3,), 3, 10
STEPS = 1500  # as on the page of chapter 20; the seconds grow with them
WARM = 3  # iterations by which all is compiled: JAX compiles twice, for numbers of Python's and then its own
# Those of `gaplib.training`, written out: to import them would load TensorFlow, which is not what is timed.
ADVERSARY_STEPS, MINIBATCH, LEARNING_RATE = 3, 512, 0.01
SPREAD, GATE_GAIN, PACE = 3.0, 6.0, 0.3
WITHIN_REACH, PULL, FIRST_WORD = 6.0, 0.01, 0.03
PRIVATIZER, ADVERSARY = [2, 32, 32, 2], [1, 48, 48, 1]


def first_weights(sizes, gain, random):
    """Weights and biases; bends of the first layer lie all over the data."""
    layers = []
    for i, shape in enumerate(pairwise(sizes)):
        scale = gain if i == 0 else np.sqrt(2 / shape[0]) / (gain if i == 1 else 1)
        bias = gain * random.uniform(-1.5, 1.5, shape[1]) if i == 0 else np.zeros(shape[1])
        layers += [scale * random.standard_normal(shape), bias]
    return [part.astype(np.float32) for part in layers]


class Game:
    """Records in units of the game, minibatches, and the formulas that both frameworks share; `np` is theirs."""

    def __init__(self, D, seed):
        self.x, self.y = DATASET.sample(20_000, seed)
        self.center, self.unit, self.D = self.x.mean(), self.x.std() / 3, D
        self.budget = D / self.unit**2
        self.x_game = ((self.x - self.center) / self.unit).astype(np.float32)
        self.random = np.random.default_rng(seed)
        self.release_unit = np.sqrt(9 + self.budget)
        privatizer, width = first_weights(PRIVATIZER, 1.5, self.random), PRIVATIZER[1]
        privatizer[0][0] = 1.5 * np.where(np.arange(width) % 2, 1, -1)
        privatizer[1][:] = 1.5 * self.random.permutation((np.arange(width) + 0.5) / width * 3 - 1.5)
        privatizer[-2] *= FIRST_WORD
        self.privatizer = [part / PACE for part in privatizer]
        self.adversary = first_weights(ADVERSARY, 3.0, self.random)

    def minibatch(self):
        rows = self.random.integers(0, len(self.y), MINIBATCH)
        return self.x_game[rows], self.y[rows].astype(np.float32)

    def mechanism(self, privatizer):
        weights = [PACE * np.array(part, float) for part in privatizer]
        weights[-2], weights[-1] = weights[-2] * [GATE_GAIN, 1], weights[-1] * [GATE_GAIN, 1]
        found = NetworkMechanism(
            tuple(weights[::2]), tuple(weights[1::2]), self.center, SPREAD * self.unit, sees_y=True, noise=0
        )
        spent = found.distortion(self.x, self.y)
        share = min(1.0, self.D / spent)
        return NetworkMechanism(found.weights, found.biases, self.center, found.scale, True, 0, share)


def schedule(t):
    """The step sizes of privatizer and adversary, the order of the tilt, and the penalty coefficient."""
    progress = t / STEPS
    decay = (1 + np.cos(np.pi * progress)) / 2
    steps = LEARNING_RATE * decay, LEARNING_RATE * max(decay, 0.2)
    return *steps, 2 * 16 ** min(progress / 0.8, 1), 3**progress


def losses(xp, silu, relu, softplus, sigmoid, game):
    """The two losses, of the privatizer's and of the adversary's weights, in the framework's own functions."""

    def network(weights, values, activation):
        for i in range(0, len(weights) - 2, 2):
            values = activation(values @ weights[i] + weights[i + 1])
        return values @ weights[-2] + weights[-1]

    def release(privatizer, x, y):
        inputs = xp.stack([x / SPREAD, 2 * y - 1], 1)
        outputs = network([PACE * part for part in privatizer], inputs, silu)
        return GATE_GAIN * outputs[:, 0], SPREAD * outputs[:, 1]

    def log_odds(adversary, z):
        return network(adversary, z[:, None] / game.release_unit, relu)[:, 0]

    def adversary_loss(adversary, odds, move, x, y):
        gate = sigmoid(odds)
        moves, stays = (softplus((1 - 2 * y) * log_odds(adversary, z)) for z in (x + move, x))
        return (gate * moves + (1 - gate) * stays).mean()

    def privatizer_loss(privatizer, adversary, x, y, order, multiplier, coefficient):
        odds, move = release(privatizer, x, y)
        gate, exponent = sigmoid(odds), 1 - 1 / order
        beyond = relu(odds - WITHIN_REACH) + relu(-odds - WITHIN_REACH)
        moves, stays = (
            (1 - xp.exp(-exponent * softplus((1 - 2 * y) * order * log_odds(adversary, z)))) / exponent
            for z in (x + move, x)
        )
        violation = ((gate * move**2).mean() - game.budget) / max(game.budget, 0.09)
        price = relu(multiplier + coefficient * violation)
        loss = (gate * moves + (1 - gate) * stays).mean()
        return (price**2 - multiplier**2) / (2 * coefficient) - loss + PULL * (beyond**2).mean(), violation

    return release, adversary_loss, privatizer_loss


def by_jax(game):
    """The loop in JAX, an iteration compiled as a whole."""
    import jax
    import jax.numpy as jnp

    nn = jax.nn
    release, adversary_loss, privatizer_loss = losses(jnp, nn.silu, nn.relu, nn.softplus, nn.sigmoid, game)

    def adam(player, slopes, step, t):
        means = [0.9 * m + 0.1 * g for m, g in zip(player[1], slopes, strict=True)]
        squares = [0.99 * s + 0.01 * g**2 for s, g in zip(player[2], slopes, strict=True)]
        moved = [
            w - step * m / (1 - 0.9**t) / (jnp.sqrt(s / (1 - 0.99**t)) + 1e-8)
            for w, m, s in zip(player[0], means, squares, strict=True)
        ]
        return moved, means, squares

    @jax.jit
    def iteration(privatizer, adversary, multiplier, x, y, t, step, adversary_step, order, coefficient):
        odds, move = release(privatizer[0], x, y)
        for j in range(ADVERSARY_STEPS):
            slopes = jax.grad(adversary_loss)(adversary[0], odds, move, x, y)
            adversary = adam(adversary, slopes, adversary_step, ADVERSARY_STEPS * t + j + 1)
        slopes, violation = jax.grad(privatizer_loss, has_aux=True)(
            privatizer[0], adversary[0], x, y, order, multiplier, coefficient
        )
        privatizer = adam(privatizer, slopes, step, t + 1)
        return privatizer, adversary, nn.relu(multiplier + 0.01 * coefficient * violation)

    def start(weights):
        weights = [jnp.array(part) for part in weights]
        return weights, [0 * part for part in weights], [0 * part for part in weights]

    privatizer, adversary, multiplier = start(game.privatizer), start(game.adversary), jnp.zeros(())
    average = [0 * part for part in game.privatizer]
    for t in range(STEPS):
        if t == WARM:
            yield
        privatizer, adversary, multiplier = iteration(
            privatizer, adversary, multiplier, *game.minibatch(), float(t), *schedule(t)
        )
        if t >= STEPS * 3 // 4:
            average = [a + np.array(w) * 4 / STEPS for a, w in zip(average, privatizer[0], strict=True)]
    yield average


def by_torch(game):
    """The loop in PyTorch, as its tutorials write it."""
    import torch

    torch.set_num_threads(1)
    f = torch.nn.functional
    release, adversary_loss, privatizer_loss = losses(torch, f.silu, f.relu, f.softplus, torch.sigmoid, game)
    privatizer, adversary = (
        [torch.tensor(part, requires_grad=True) for part in weights] for weights in (game.privatizer, game.adversary)
    )
    settings = {"lr": LEARNING_RATE, "betas": (0.9, 0.99)}
    of_privatizer, of_adversary = torch.optim.Adam(privatizer, **settings), torch.optim.Adam(adversary, **settings)
    multiplier, average = torch.zeros(()), [0 * part for part in game.privatizer]
    for t in range(STEPS):
        if t == WARM:
            yield
        step, adversary_step, order, coefficient = schedule(t)
        of_privatizer.param_groups[0]["lr"], of_adversary.param_groups[0]["lr"] = step, adversary_step
        x, y = map(torch.from_numpy, game.minibatch())
        with torch.no_grad():
            odds, move = release(privatizer, x, y)
        for _ in range(ADVERSARY_STEPS):
            of_adversary.zero_grad()
            adversary_loss(adversary, odds, move, x, y).backward()
            of_adversary.step()
        of_privatizer.zero_grad()
        loss, violation = privatizer_loss(privatizer, adversary, x, y, order, multiplier, coefficient)
        loss.backward()
        of_privatizer.step()
        multiplier = f.relu(multiplier + 0.01 * coefficient * violation.detach())
        if t >= STEPS * 3 // 4:
            average = [a + w.detach().numpy() * 4 / STEPS for a, w in zip(average, privatizer, strict=True)]
    yield average


def by_loop(loop, seed):
    """Yield for each budget what compilation and the loop needed, and how far the mechanism is from the optimum."""
    for D in BUDGETS:
        game = Game(D, seed)
        start = time.process_time()
        played = loop(game)
        next(played)
        first = time.process_time()
        mechanism = game.mechanism(next(played))
        yield 1, D, first - start, time.process_time() - first, [excess(mechanism, D)]


def by_gaplib(together, seed):
    """Yield the same of games of `gaplib`, one at a time or all together; seconds are those of one game."""
    from gaplib.training import Game as Played
    from gaplib.training import NeuralPrivatizer, train

    for D in BUDGETS:
        games = [Played(DATASET, D, privatizer=NeuralPrivatizer())] * together
        seeds = [seed * together + i for i in range(together)]
        times = [time.process_time()]
        for steps in (1, 1, STEPS):  # the first call compiles, and each plays a block of iterations at least
            results = train(games, loss="0-1", seed=seeds, steps=steps, progress=False)
            times.append(time.process_time())
        cold, warm, played = np.diff(times) / together
        yield together, D, max(0, cold - warm), played, [excess(result.mechanism, D) for result in results]


def excess(mechanism, D):
    """Return the accuracy beyond the true optimum."""
    return np.mean(on_the_line(DATASET, mechanism)) - transport.optimal_pdd(DATASET, D).value


def measured(framework, seed):
    """Return the rows of one framework, each a list in the order of COLUMNS."""
    package = {"gaplib": "tensorflow"}.get(framework, framework)
    ways = {
        "gaplib": [(by_gaplib, 1), (by_gaplib, TOGETHER)],
        "jax": [(by_loop, by_jax)],
        "torch": [(by_loop, by_torch)],
    }
    of_run = f"{package} {version(package)}", platform.python_version(), processor(), date.today().isoformat()
    return [
        [framework, games, D, seed, f"{compiled:.2f}", f"{played:.2f}", f"{np.mean(gaps):.4f}", *of_run]
        for way, how in ways[framework]
        for games, D, compiled, played, gaps in way(how, seed)
    ]


def processor():
    """Return the name of this processor, as Linux tells it."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    names = [line.split(":")[1] for line in lines if line.startswith("model name")]
    return names[0].strip() if names else platform.processor()


def measure_all(interpreters):
    """Measure each framework by its interpreter, in turn, and write the table."""
    rows = []
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    for seed in range(REPETITIONS):
        for framework, python in interpreters.items():
            command = [python, __file__, framework, str(seed)]
            done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
            print(done.stdout, end="", flush=True)
            rows += csv.reader(io.StringIO(done.stdout))
    with TABLE.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


def main(*given):
    if all("=" in each for each in given):
        measure_all(dict(each.split("=", 1) for each in given))
    else:
        framework, seed = given
        csv.writer(sys.stdout, lineterminator="\n").writerows(measured(framework, int(seed)))


if __name__ == "__main__":
    main(*sys.argv[1:])
