"""Write what the notebooks recorded as CSV files: the verdicts for `gaplib.paper`, and the downloads of the data page.

python tools/results.py    (tools/notebooks.py ends with it)
"""

import re
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd

import gaplib
from gaplib.book import paper
from gaplib.book.chapters import COMMITTED, results
from gaplib.gaussian import optimal_affine
from gaplib.models import GaussianMixture

ROOT = Path(__file__).resolve().parent.parent
SPREAD = ["least", "largest", "seeds"]  # of what is learned only
COLUMNS = ["beta0", "beta1", "gamma0", "gamma1", "acc", "xent", "distance", "p_detect"]


def verdicts() -> pd.DataFrame:
    """What the scorecard says of each statement in the register."""
    rows = results("14_scorecard")["score_verdicts"].items()
    return pd.DataFrame([{"id": id, "verdict": verdict, "ours": ours} for id, (verdict, ours) in rows])


def summary() -> pd.DataFrame:
    """The number of statements by part of the paper and verdict."""
    recorded = results("14_scorecard")
    counts = pd.DataFrame(recorded["score_counts"]).T
    counts.loc["all"] = recorded["score_total"]
    return counts.rename_axis("part of the paper").reset_index()


def tables_2_to_5() -> pd.DataFrame:
    """Every number of Tables 2 to 5, as printed, as optimal and as learned; one number a row."""
    learned, strong = results("12_gaussian_learned"), results("13_strong_adversaries")
    exact = results("08_gaussian_affine")["gaff_paper_optima"]
    printed = {(row["dataset"], row["D"]): row for n in range(2, 6) for row in paper.table(n)}
    seeds_12, seeds_13 = seeds_of("12_gaussian_learned"), seeds_of("13_strong_adversaries")
    lines = []
    for i, (dataset, D) in enumerate(learned["glearn_rows"]):
        row = printed[dataset, D]
        law = {name: row[name] for name in ("table", "dataset", "prior", "var0", "var1", "D")}
        model = GaussianMixture(row["prior"], 3, row["var0"], row["var1"])

        def add(source, quantity, mean, low="", high="", seeds="", law=law):
            lines.append(
                law
                | {"source": source, "quantity": quantity, "value": mean, "least": low, "largest": high, "seeds": seeds}
            )

        for name in COLUMNS:
            add("paper", name, row[name])
            spread = learned[f"glearn_{name}"]
            add("learned, log-loss", name, *(spread[key][i] for key in ("mean", "min", "max")), seeds_12)
        add("paper", "p_detect_theory", row["p_detect_theory"])
        add("optimum, 0-1 loss", "p_detect", exact[f"{dataset}/{D}"])
        add("optimum, log-loss", "p_detect", learned["glearn_accuracy_log"][i])
        add("optimum, log-loss", "entropy", learned["glearn_entropy_log"][i])
        for loss in ("0-1", "log"):  # one of them, where many are optimal
            mechanism = optimal_affine(model, D, loss).mechanism
            for name in COLUMNS[:4]:
                add(f"optimum, {'0-1 loss' if loss == '0-1' else 'log-loss'}", name, rounded(getattr(mechanism, name)))
        of_seeds = strong["strong_accuracy_8_all"][i]
        mean = float(np.mean(of_seeds))
        add("learned, alpha-loss of order 8", "p_detect", mean, min(of_seeds), max(of_seeds), seeds_13)
    return with_version(pd.DataFrame(lines))


def figure_5() -> pd.DataFrame:
    """The curves of Figure 5: MAP accuracy and mutual information over the budget, optimal and learned."""
    recorded, seeds = results("11_binary_learned"), seeds_of("11_binary_learned")
    lines = []
    for i, (p, kind, D) in enumerate(recorded["blearn_settings"]):
        for quantity in ("accuracy", "information"):
            mean, low, high = (recorded[f"blearn_{quantity}_{name}"][i] for name in ("mean", "min", "max"))
            law = {"p": p, "q": 0.25, "kind": kind, "D": D, "quantity": quantity}
            optimum = recorded[f"blearn_{quantity}_optimum"][i]
            lines.append(law | {"source": "optimum, log-loss", "value": optimum} | dict.fromkeys(SPREAD, ""))
            if quantity == "accuracy":
                optimum = recorded["blearn_accuracy_map_optimum"][i]
                lines.append(law | {"source": "optimum, 0-1 loss", "value": optimum} | dict.fromkeys(SPREAD, ""))
            spread = {"value": mean, "least": low, "largest": high, "seeds": seeds}
            lines.append(law | {"source": "learned, log-loss"} | spread)
    return with_version(pd.DataFrame(lines))


def rounded(value: float) -> float:
    """Return a number with the digits that a notebook records."""
    return float(f"{value:.9g}")


def seeds_of(name: str) -> str:
    """Return the seeds of a committed notebook, from its parameters cell, such as 0-4."""
    cells = nbformat.read(COMMITTED / f"{name}.ipynb", as_version=4).cells
    (source,) = [cell.source for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    first, number = (int(re.search(rf"^{key}: int = (\d+)", source, re.MULTILINE)[1]) for key in ("seed", "seeds"))
    return f"{first}-{first + number - 1}"


def with_version(table: pd.DataFrame) -> pd.DataFrame:
    """Add the version of the library that computed the numbers."""
    return table.assign(gaplib=gaplib.__version__)


def export(root: Path = ROOT) -> None:
    """Write the files."""
    data = root / "book" / "data"
    data.mkdir(parents=True, exist_ok=True)
    write(verdicts(), root / "gaplib" / "data" / "verdicts.csv")
    write(summary(), data / "summary.csv")
    write(tables_2_to_5(), data / "tables_2_to_5.csv")
    write(figure_5(), data / "figure_5.csv")
    write(paper.register(), data / "claims.csv")


def write(table: pd.DataFrame, path: Path) -> None:
    table.to_csv(path, index=False, lineterminator="\n")


if __name__ == "__main__":
    export()
