"""What the book has recorded of trainings that take too long to be run for a slide."""

import json
from pathlib import Path

import pandas as pd

from gaplib.book import chapters

ROOT = Path(__file__).resolve().parents[3]


def results(chapter):
    """What a chapter recorded, by name."""
    return chapters.results(ROOT / "notebooks" / f"{chapter}.ipynb")


def table(name):
    """A table of book/data."""
    return pd.read_csv(ROOT / "book" / "data" / f"{name}.csv")


def training(name):
    """A training that the player of the book shows."""
    return json.loads((ROOT / "book" / "data" / "recordings" / f"{name}.json").read_text(encoding="utf-8"))
