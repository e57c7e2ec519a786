"""The digits of a release do not tell the private value, whatever the numbers looked like before."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier

from gaplib.tabular import TablePrivatizer
from gaplib.tabular.grid import step_of

N = 4000
RANDOM = np.random.default_rng(0)
SEX = RANDOM.integers(0, 2, N)
HEIGHT = RANDOM.normal(165 + 13 * SEX, 7)
WHOLE = np.rint(HEIGHT)
FILLED = np.where(RANDOM.random(N) < 0.03, WHOLE.mean(), WHOLE)
INCOME = np.rint(RANDOM.normal(30000 + 8000 * SEX, 8000))
PRESSURE = np.rint(RANDOM.normal(120 + 15 * SEX, 12))
COLUMNS = {
    "any": HEIGHT,
    "whole": WHOLE,
    "tenths": np.round(RANDOM.normal(36.6 + 0.4 * SEX, 0.4), 1),
    "metres": WHOLE / 100,
    "pounds in kilograms": WHOLE * 0.45359237,
    "thirds": WHOLE / 3,
    "standardized": (WHOLE - WHOLE.mean()) / WHOLE.std(),
    "single precision": np.round(RANDOM.normal(1500 + 0.4 * SEX, 0.4), 1).astype(np.float32),
    "some filled in": FILLED,
    "heaps at hundreds": np.where(RANDOM.random(N) < 0.6, np.rint(INCOME / 100) * 100, INCOME),
    "heaps at tens": np.where(RANDOM.random(N) < 0.6, np.rint(PRESSURE / 10) * 10, PRESSURE),
}
FITTED = np.arange(N) < N // 2


@pytest.fixture(scope="module")
def released():
    """The release of the other half of each column, in standard deviations, by its name."""
    found = {}
    for name, values in COLUMNS.items():
        table = pd.DataFrame({"sex": SEX, "x": values})
        mechanism = TablePrivatizer("sex", 0.5, method="affine", random_state=5).fit(table[FITTED])
        found[name] = mechanism, mechanism.transform(table[~FITTED])["x"].to_numpy(dtype=float)
    return found


def forest(features):
    """The accuracy of trees that learn from every other record of the released half, on the rest."""
    y = SEX[~FITTED]
    trees = RandomForestClassifier(60, min_samples_leaf=5, random_state=0, n_jobs=1)
    return trees.fit(features[::2], y[::2]).score(features[1::2], y[1::2])


@pytest.mark.parametrize("name", COLUMNS)
def test_trees_that_read_digits_find_no_more_than_the_values_tell(released, name):
    mechanism, z = released[name]
    step = mechanism.columns_[0].step
    point = np.rint(z / step)
    assert (z == step * point).all()  # on the grid, to the last bit: equal points are equal numbers
    # What a rule can know is the point: its frequencies, learned and judged on all records, bound every attacker.
    best = pd.crosstab(point, SEX[~FITTED]).max(axis=1).sum() / len(z)
    digits = np.column_stack([z, z % 1, z % 0.1, z * 1e3 % 1, z % 10, z % 100])
    # Half of the records judge: three standard errors of a share of N / 4 records.
    assert forest(digits) <= best + 3 * np.sqrt(0.25 / (N / 4))
    assert best < forest(COLUMNS[name][~FITTED][:, np.newaxis])  # and the release hides something


@pytest.mark.parametrize("name", COLUMNS)
def test_the_budget_holds(released, name):
    mechanism, z = released[name]
    (column,) = mechanism.columns_
    cost = ((z - COLUMNS[name][~FITTED]) / column.unit) ** 2
    bound = norm.ppf(1 - 1e-4)  # one test in ten thousand fails by the draw
    assert cost.mean() <= 0.5 + bound * cost.std() / np.sqrt(len(z)) + 0.02  # and by fitting to another half


def test_steps_are_round_and_a_small_part_of_the_deviation():
    assert step_of(WHOLE) == 2 and step_of(COLUMNS["metres"]) == 0.02
    assert step_of(COLUMNS["heaps at tens"]) == 10
    assert step_of(np.full(5, 3.0)) == 0
    for values in COLUMNS.values():
        assert 0.2 <= step_of(values) / np.std(values) <= 1


def test_a_budget_below_the_rounding_is_refused():
    table = pd.DataFrame({"sex": SEX, "height": WHOLE})
    with pytest.raises(ValueError, match=r"here to steps of \[2.0\], and needs a budget above 1, got 0.2"):
        TablePrivatizer("sex", 0.2, method="affine", scale="none").fit(table)
    kept = TablePrivatizer("sex", 0, method="affine", scale="none").fit_transform(table)
    assert (kept["height"] == table["height"]).all()


def test_the_same_noise_for_all_is_not_rounded():
    """Its digits tell nothing that those of the original have not told."""
    table = pd.DataFrame({"sex": SEX, "height": WHOLE})
    mechanism = TablePrivatizer("sex", 1e-3, kind="pdi", method="affine", random_state=5).fit(table)
    noise = mechanism.transform(table)["height"] - table["height"]
    assert len(noise.unique()) == N
    # All of the budget is noise: five deviations of a mean of squares, which has the variance 2 / N.
    assert (noise**2).mean() == pytest.approx(1e-3 * WHOLE.var(), rel=5 * np.sqrt(2 / N))
    for sex in (0, 1):
        assert noise[SEX == sex].std() == pytest.approx(np.sqrt(1e-3 * WHOLE.var()), rel=5 / np.sqrt(N))


def test_without_a_seed_no_two_releases_share_their_noise():
    table = pd.DataFrame({"sex": SEX, "height": HEIGHT})
    mechanism = TablePrivatizer("sex", 0.5, method="gaussian", random_state=None).fit(table)
    first, second = (mechanism.transform(table)["height"] for _ in range(2))
    assert abs(np.corrcoef(first - HEIGHT, second - HEIGHT)[0, 1]) < 0.1  # six standard errors


def test_the_private_column_is_no_index():
    table = pd.DataFrame({"sex": SEX, "height": HEIGHT}).set_index("sex", drop=False)
    with pytest.raises(ValueError, match="the index of X must not be the private column 'sex'"):
        TablePrivatizer("sex", 0.5).fit_transform(table)


@pytest.mark.parametrize("method", ["transport", "affine"])
def test_gaps_and_categories_that_were_not_fitted_do_not_tell_the_private_value(method):
    table = pd.DataFrame({"sex": SEX, "height": HEIGHT})
    if method == "transport":
        table["city"] = RANDOM.choice(["a", "b"], N)
    mechanism = TablePrivatizer("sex", 0.5, method=method, random_state=5).fit(table[FITTED])
    new = table[~FITTED].reset_index(drop=True)
    new.loc[::2, "height"] = np.nan
    if method == "transport":
        new.loc[1::2, "city"] = "c"
    other = new.assign(sex=1 - new["sex"])
    pd.testing.assert_frame_equal(mechanism.transform(new)[::2], mechanism.transform(other)[::2])


@pytest.mark.parametrize(("method", "kind"), [("affine", "pdi"), ("gaussian", "pdd"), ("laplace", "pdd")])
def test_the_last_digits_of_noise_do_not_tell_what_it_was_added_to(method, kind):
    # Not all floats are values of the noise: with the others an attacker rules out most of seven whole numbers.
    table = pd.DataFrame({"sex": SEX, "x": np.rint(RANDOM.normal(2.0 * SEX - 1, 1))})
    privatizer = TablePrivatizer("sex", 1.0, kind=kind, method=method).fit(table)
    released = privatizer.transform(table)["x"]
    # The noise has a deviation between one and two, and 53 binary digits.
    assert (released * 2.0**30 % 1 == 0).all()


@pytest.mark.parametrize("method", ["gaussian", "laplace"])
@pytest.mark.filterwarnings("error")
def test_noise_of_no_budget_changes_nothing(method):
    table = pd.DataFrame({"sex": SEX, "x": HEIGHT, "k": np.where(RANDOM.random(N) < 0.5, "a", "b")})
    pd.testing.assert_frame_equal(TablePrivatizer("sex", 0, method=method).fit_transform(table), table[["x", "k"]])
