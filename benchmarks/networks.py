"""Networks as privatizers: processor seconds a game, beside the accuracy reached and the true optimum.

Run `python benchmarks/networks.py [SEEDS]`: four minutes of one processor for one seed. `judges` says what the
accuracies are: on the line those of the released distributions, in space those of fresh attackers on new records.
"""

import sys
import time
from functools import partial

import numpy as np
from judges import attacked, in_space, on_the_line

from gaplib import transport
from gaplib.book import paper
from gaplib.models import GaussianMixture
from gaplib.training import Game, NeuralPrivatizer, train

BUDGETS = (1, 3, 6)
OVERLAPPING, SMALL_BUDGETS = GaussianMixture(prior=0.5, mu=1, var0=1, var1=1), (0.1, 0.3, 0.5)
SAMPLES = ((2, 20_000), (8, 20_000), (16, 20_000), (16, 200_000))  # dimension and records


def timed(games, seeds):
    start = time.process_time()
    results = train(games, loss="0-1", seed=seeds, progress=False)
    return (time.process_time() - start) / len(games), results


def rows_of(kind):
    """The models and budgets whose optimum is above the prior, with it."""
    if kind == "pdd":
        rows = [(model, D) for model in paper.DATASETS.values() for D in BUDGETS]
    else:  # where bounds of the optimum are close
        rows = [(paper.DATASETS[n], D) for n in (1, 2) for D in BUDGETS] + [(OVERLAPPING, D) for D in SMALL_BUDGETS]
    optimal = transport.optimal_pdd if kind == "pdd" else partial(transport.optimal_pdi, gap=1e-3)
    rows = [(model, D, optimal(model, D).value) for model, D in rows]
    return [(model, D, best) for model, D, best in rows if best > max(model.p_y) + 1e-4]


def main(seeds=1):
    for kind in ("pdd", "pdi"):
        rows = rows_of(kind)
        games = [Game(model, D, kind, privatizer=NeuralPrivatizer()) for model, D, _ in rows for _ in range(seeds)]
        seconds, results = timed(games, list(range(seeds)) * len(rows))
        print(f"{kind}: {seconds:.1f} s a game, compilation included")
        for i, (model, D, best) in enumerate(rows):
            brackets = [on_the_line(model, result.mechanism) for result in results[i * seeds : (i + 1) * seeds]]
            gaps = np.mean(brackets, axis=1) - best
            width = np.ptp(brackets, axis=1).max()
            print(f"  {model}, D={D}: {best:.4f} {gaps.mean():+.4f} (worst {gaps.max():+.4f}, bracket {width:.4f})")
    best = {D: transport.optimal_pdd(paper.DATASETS[1], D).value for D in BUDGETS[:2]}
    for d, n in SAMPLES:  # the fewer records, the more the players learn of them by heart
        x, y, _ = in_space(d, n, 0)
        seconds, results = timed([Game((x, y), D) for D in best], 0)
        for D, result in zip(best, results, strict=True):
            accuracy, across = attacked(result.mechanism, d)
            gap = f"{best[D]:.4f} {accuracy - best[D]:+.4f}, across {across:.3f}"
            print(f"d={d}, {n} records, D={D}: {gap}, {seconds:.1f} s a game")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
