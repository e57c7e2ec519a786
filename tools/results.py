"""Write what the notebooks recorded as CSV files: the downloads of the data page.

python tools/results.py    (tools/notebooks.py ends with it)
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import nbformat
import outputs
import pandas as pd

import gaplib
from gaplib.book import chapters, paper, parameters
from gaplib.gaussian import optimal_affine
from gaplib.models import GaussianMixture

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
SPREAD = ("least", "largest", "seeds")  # of what is learned only
NONE = ("", "", "")
# Near an optimum the leakage is flat: its value is found to rounding, its parameters are not.
PARAMETER_DIGITS = 6
COLUMNS = ["beta0", "beta1", "gamma0", "gamma1", "acc", "xent", "distance", "p_detect"]


def results(name: str) -> dict:
    """Return what a committed notebook recorded."""
    return chapters.results(NOTEBOOKS / f"{name}.ipynb")


def verdicts() -> pd.DataFrame:
    """Return the register of the paper's statements, with what the scorecard says of each."""
    judged = results("14_scorecard")["score_verdicts"].items()
    rows = [{"id": id, "verdict": verdict, "ours": ours} for id, (verdict, ours) in judged]
    return paper.register().merge(pd.DataFrame(rows), on="id", how="left", validate="one_to_one")


def summary() -> pd.DataFrame:
    """Return the number of statements by part of the paper and verdict."""
    recorded = results("14_scorecard")
    counts = pd.DataFrame(recorded["score_counts"]).T
    counts.loc["all"] = recorded["score_total"]
    return counts.rename_axis("part of the paper").reset_index()


def gaussian_rows() -> pd.DataFrame:
    """Return every number of the paper's Tables 2 to 5, as printed, as optimal and as learned; one number a row."""
    learned, strong = results("12_gaussian_learned"), results("13_strong_adversaries")
    exact = results("08_gaussian_affine")["gaff_paper_optima"]
    printed = {(row["dataset"], row["D"]): row for n in range(2, 6) for row in paper.table(n)}
    seeds_12, seeds_13 = seeds_of("12_gaussian_learned"), seeds_of("13_strong_adversaries")
    lines = []
    for i, (dataset, D) in enumerate(learned["glearn_rows"]):
        row = printed[dataset, D]
        game = {name: row[name] for name in ("table", "dataset", "prior", "var0", "var1", "D")}
        model = GaussianMixture(row["prior"], 3, row["var0"], row["var1"])

        def add(
            source: str, quantity: str, mean: float, spread: Sequence[float | str] = NONE, game: dict = game
        ) -> None:
            number = {"source": source, "quantity": quantity, "value": mean}
            lines.append(game | number | dict(zip(SPREAD, spread, strict=True)))

        for name in COLUMNS:
            add("paper", name, row[name])
            spread = learned[f"glearn_{name}"]
            mean, least, largest = (spread[key][i] for key in ("mean", "min", "max"))
            add("learned, log-loss", name, mean, (least, largest, seeds_12))
        add("paper", "p_detect_theory", row["p_detect_theory"])
        add("optimum, 0-1 loss", "p_detect", exact[f"{dataset}/{D}"])
        add("optimum, log-loss", "p_detect", learned["glearn_accuracy_log"][i])
        add("optimum, log-loss", "entropy", learned["glearn_entropy_log"][i])
        for loss in ("0-1", "log"):  # one of them, where many are optimal
            mechanism = optimal_affine(model, D, loss).mechanism
            for name in COLUMNS[:4]:
                parameter = rounded(getattr(mechanism, name), PARAMETER_DIGITS)
                add(f"optimum, {'0-1 loss' if loss == '0-1' else 'log-loss'}", name, parameter)
        of_seeds = strong["strong_accuracy_8_all"][i]
        # `sum` rounds in another way from Python 3.12 on; recorded numbers have nine digits, and so has their mean.
        mean = rounded(fmean(of_seeds))
        add("learned, alpha-loss of order 8", "p_detect", mean, (min(of_seeds), max(of_seeds), seeds_13))
    return with_version(pd.DataFrame(lines))


def figure_5() -> pd.DataFrame:
    """Return the curves of Figure 5: MAP accuracy and mutual information over the budget, optimal and learned."""
    recorded, seeds = results("11_binary_learned"), seeds_of("11_binary_learned")
    lines = []
    for i, (p, kind, D) in enumerate(recorded["blearn_settings"]):
        for quantity in ("accuracy", "information"):
            mean, low, high = (recorded[f"blearn_{quantity}_{name}"][i] for name in ("mean", "min", "max"))
            point = {"p": p, "q": 0.25, "kind": kind, "D": D, "quantity": quantity}
            optimum = recorded[f"blearn_{quantity}_optimum"][i]
            lines.append(point | {"source": "optimum, log-loss", "value": optimum} | dict.fromkeys(SPREAD, ""))
            if quantity == "accuracy":
                optimum = recorded["blearn_accuracy_map_optimum"][i]
                lines.append(point | {"source": "optimum, 0-1 loss", "value": optimum} | dict.fromkeys(SPREAD, ""))
            spread = {"value": mean, "least": low, "largest": high, "seeds": seeds}
            lines.append(point | {"source": "learned, log-loss"} | spread)
    return with_version(pd.DataFrame(lines))


def rounded(value: float, digits: int = 9) -> float:
    """Return a number with as many digits as a notebook records, or with fewer."""
    return float(f"{value:.{digits}g}")


def seeds_of(name: str) -> str:
    """Return the seeds of a committed notebook, from its parameters cell, such as 0-4."""
    declared = parameters.declared(nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4))
    first, number = declared["seed"].default, declared["seeds"].default
    return f"{first}-{first + number - 1}"


def with_version(table: pd.DataFrame) -> pd.DataFrame:
    """Add the version of the library that computed the numbers."""
    return table.assign(gaplib=gaplib.__version__)


def export(folder: Path = ROOT / "book" / "data") -> None:
    """Write the files."""
    for table in (verdicts, summary, gaussian_rows, figure_5):
        write(table(), folder / f"{table.__name__}.csv")


def write(table: pd.DataFrame, path: Path) -> None:
    """Write a table. Raises `FileExistsError` if the path is a symbolic link."""
    outputs.replace_file(path, table.to_csv(index=False, lineterminator="\n").encode())


if __name__ == "__main__":
    export()
