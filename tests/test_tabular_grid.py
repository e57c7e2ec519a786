"""Numbers on a grid: the digits of a release do not tell the private value."""

import numpy as np
import pandas as pd
import pytest
from project import ROOT

from gaplib.tabular import TablePrivatizer
from gaplib.tabular.grid import step_of

N = 4000
RANDOM = np.random.default_rng(0)
SEX = RANDOM.integers(0, 2, N)
HEIGHT = 160 + 13 * SEX + 7 * RANDOM.standard_normal(N)
GRIDS = {  # the numbers, and the step that a change of them must have
    "whole": (np.rint(HEIGHT), 1),
    "from a quarter on": (np.rint(HEIGHT) + 0.25, 1),
    "halves": (np.rint(2 * HEIGHT) / 2, 0.5),
    "some halves": (np.where(RANDOM.random(N) < 0.9, np.rint(HEIGHT), np.rint(2 * HEIGHT) / 2), 1),
    "tenths": (np.rint(10 * HEIGHT) / 10, 0.1),
    "inches": (np.rint(HEIGHT / 2.54) * 2.54, 2.54),
    "thousands": (np.rint(HEIGHT) * 1000, 1000),
    "any": (HEIGHT, 0),
}


@pytest.mark.parametrize("name", GRIDS)
def test_a_grid_is_found(name):
    values, step = GRIDS[name]
    assert step_of(values) == pytest.approx(step, rel=1e-9)  # a quotient of floats
    holes = np.where(RANDOM.random(N) < 0.1, np.nan, values)
    assert step_of(holes) == pytest.approx(step, rel=1e-9)


@pytest.mark.parametrize("name", [name for name in GRIDS if name != "any"])
def test_changes_are_whole_steps_within_the_budget(name):
    values, step = GRIDS[name]
    table = pd.DataFrame({"sex": SEX, "height": values})
    D = 15 * step**2 if name == "thousands" else 15
    mechanism = TablePrivatizer("sex", D, method="affine", scale="none").fit(table)
    assert mechanism.mechanism_.scales == pytest.approx(0)  # a pure shift, whose digits would tell all
    change = mechanism.transform(table)["height"].to_numpy() - values
    assert abs(change / step - np.rint(change / step)).max() < 1e-6  # floats of this size
    spent = change**2
    assert spent.mean() <= D + 4 * spent.std() / np.sqrt(N)  # the steps are drawn; the budget is for their mean
    assert spent.mean() > 0.8 * (D - step**2 / 4)  # and it is used


def test_real_heights_keep_their_digits():
    table = pd.read_csv(ROOT / "gaplib" / "book" / "data" / "tables" / "nhefs.csv")
    heights = table["height"].to_numpy()
    released = TablePrivatizer("sex", 15, method="affine", scale="none").fit_transform(table)["height"].to_numpy()
    digits = np.round(released % 1, 4)
    assert (digits == np.round(heights % 1, 4)).all()


def test_a_budget_below_a_step_is_refused():
    table = pd.DataFrame({"sex": SEX, "height": np.rint(HEIGHT)})
    with pytest.raises(ValueError, match=r"whole steps, here of \[1.0\], and needs a budget above 0.25, got 0.2"):
        TablePrivatizer("sex", 0.2, method="affine", scale="none").fit(table)
    kept = TablePrivatizer("sex", 0, method="affine", scale="none").fit_transform(table)
    assert (kept["height"] == table["height"]).all()
