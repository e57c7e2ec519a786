"""Numbers that prose may quote: computed from the result files, quoted as {{ name }}."""

import csv
from pathlib import Path
from statistics import mean

from sphinx.application import Sphinx
from sphinx.config import Config

from gaplib.book import paper

DATA = Path(__file__).resolve().parent.parent / "data"


def read(name: str) -> list[dict[str, str]]:
    """Return the rows of a result file."""
    with open(DATA / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def verdicts() -> dict[str, str]:
    """Return in one sentence how many statements of the paper got which verdict."""
    (row,) = (row for row in read("summary.csv") if row["part of the paper"] == "all")
    return {"headline": paper.headline({verdict: int(row[verdict]) for verdict in paper.SCORED})}


def excess() -> dict[str, int | str]:
    """Return how far accuracies are above the MAP optimum, on average over the paper's 36 Gaussian games, in points."""
    rows = [row for row in read("gaussian_rows.csv") if row["quantity"] == "p_detect"]
    value = {(row["source"], row["dataset"], row["D"]): float(row["value"]) for row in rows}
    games = [key[1:] for key in value if key[0] == "optimum, 0-1 loss"]
    sources = {"paper": "paper", "log_loss": "learned, log-loss", "order_8": "learned, alpha-loss of order 8"}
    means = {
        name: 100 * mean(value[source, *game] - value["optimum, 0-1 loss", *game] for game in games)
        for name, source in sources.items()
    }
    return {f"excess_{name}": points(number) for name, number in means.items()} | {"games": len(games)}


def points(number: float) -> str:
    """Return a number with two decimals; 0.00 would read as none at all."""
    return "less than 0.01" if abs(number) < 0.005 else f"{number:.2f}"


def define(app: Sphinx, config: Config) -> None:
    config.myst_substitutions = {**config.myst_substitutions, **verdicts(), **excess()}


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", define)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
