"""The audit: calibrated where nothing leaks, alarmed where all does, silent where nothing can be computed."""

import html.parser
import re

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from threadpoolctl import threadpool_info, threadpool_limits

from gaplib.models import GaussianMixture
from gaplib.tabular import Audit, TablePrivatizer, attackers, audit, trade_off
from gaplib.tabular.attackers import ATTACKERS
from gaplib.tabular.auditing import interval
from gaplib.tabular.order import RowOrder


def table(n=300, seed=0, share=0.5):
    """Two numbers and a category, independent of y."""
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "y": (random.random(n) < share).astype(int),
            "a": random.normal(size=n),
            "b": random.normal(size=n),
            "c": random.choice(list("abc"), n),
        }
    )


@pytest.fixture(scope="module")
def audits():
    """Of a mixture: the release of new records at two budgets."""
    x, y = GaussianMixture(0.6, 1, 1, 1).sample(1200, seed=1)
    frame = pd.DataFrame(
        {"sex": np.where(y == 1, "m", "f"), "height": x, "weight": x + np.random.default_rng(2).random(1200)}
    )
    return frame, trade_off(frame, TablePrivatizer("sex", 1.0), [0.0, 0.6])


def test_independent_columns_are_no_risk():
    runs, held = 6, dict.fromkeys(ATTACKERS, 0)
    for seed in range(runs):
        original = table(seed=seed, share=0.5 + 0.2 * (seed % 2))
        found = audit(original, original.drop(columns="y"), "y", seed)
        for name, row in found.attacks.iterrows():
            held[name] += row["attack_low"] <= found.baseline[0] <= row["attack_high"]
    # Measured in 100 runs with 400 records, for shares of .5 and .7: each attacker's interval held the baseline in 96
    # and more. If it is so in 90 of 100, fewer than 3 of 6 happen with probability .0013 at most, for each attacker.
    assert scipy.stats.binom.cdf(2, runs, 0.9) < 0.0014
    assert min(held.values()) >= 3


def test_identical_columns_are_found():
    original = table()
    original["d"] = original["y"].map({0: "no", 1: "yes"})
    original["e"] = original["y"] + 1e-3 * original["a"]
    for column in ("d", "e"):
        found = audit(original, original[[column]], "y")
        assert (found.attacks["attack"] == 1).all()
        assert np.nanmin(found.risk) > 0.5
        assert (found.attacks["attack_low"] > 0.95).all()  # Wilson's interval of 150 of 150 begins at .975


def test_attack_control_and_baseline(audits):
    _, ((_, nothing), (_, found)) = audits
    model = GaussianMixture(0.6, 1, 1, 1)
    best = max(0.6, model.prior)
    assert found.baseline[0] == pytest.approx(best, abs=0.06)  # 600 records, three deviations
    # What nobody changed is guessed from release and original alike.
    pd.testing.assert_series_equal(nothing.attacks["attack"], nothing.attacks["control"], check_names=False)
    assert nothing.cost == 0 and found.cost == pytest.approx(0.6, rel=0.25)
    assert found.baseline[1] <= found.baseline[0] <= found.baseline[2]
    assert found.attack < found.control - 0.05 and found.control == pytest.approx(nothing.control)
    assert (found.attacks["attack_high"] - found.attacks["attack_low"] < 0.12).all()  # 300 records
    assert found.n_learned + found.n_attacked == len(found.risk) == 600


def test_risk_by_record_is_of_those_attacked(audits):
    _, (_, (_, found)) = audits
    assert np.isnan(found.risk).sum() == found.n_learned
    there = found.risk[~np.isnan(found.risk)]
    assert ((there >= 0) & (there <= 1)).all()
    # With two values the guess is right where the true one has more than half.
    assert (there > 0.5).mean() <= found.attack <= (there >= 0.5).mean()


def test_distortion_and_use_are_what_they_say(audits):
    frame, _ = audits
    released = frame.drop(columns="sex").assign(height=frame["height"] + 2, weight=-frame["weight"])
    found = audit(frame, released, "sex")
    assert found.distortion.loc["height", "squared change"] == pytest.approx(4)
    assert found.distortion.loc["height", "of the variance"] == pytest.approx(4 / frame["height"].var(ddof=0))
    assert found.distortion.loc["height", "changed"] == 1
    use = found.use
    assert use.loc["mean of height", "after"] == pytest.approx(frame["height"].mean() + 2)
    r = np.corrcoef(frame["height"], frame["weight"])[0, 1]
    assert use.loc["correlation of height and weight"].tolist() == pytest.approx([r, -r])
    slope = scipy.stats.linregress(frame["weight"], frame["height"]).slope
    assert use.loc["slope of height on weight, the other numbers held"].tolist() == pytest.approx([slope, -slope])


def test_nothing_computed_is_nan_and_not_zero():
    few = pd.DataFrame({"y": [0, 1, 1], "a": [1.0, 2.0, 3.0]})
    found = audit(few, few[["a"]], "y")
    assert found.n_learned + found.n_attacked == 3
    one = table(40).assign(y=1)
    found = audit(one, one[["a"]], "y")
    assert found.attacks.isna().all().all() and np.isnan(found.risk).all() and np.isnan(found.attack)
    assert found.use.loc["slope of one number on the others"].isna().all()
    constant = table(40).assign(b=2.5)
    found = audit(constant, constant[["a", "b"]], "y")
    assert found.use.loc["correlation of a and b"].isna().all()
    assert found.use.loc["slope of a on b, the other numbers held"].isna().all()
    assert interval(0.5, 0) == pytest.approx((np.nan, np.nan), nan_ok=True)


def test_halves_of_a_rare_class():
    original = table(200)
    original["y"] = np.where(np.arange(200) < 4, 2, original["y"])
    for seed in range(3):
        ((_, found),) = trade_off(original, TablePrivatizer("y", 1.0), [0.1], seed)
        assert found.n_learned + found.n_attacked == 100


def test_interval_is_wilson_s():
    for share, n in ((0.0, 10), (0.3, 50), (1.0, 7)):
        expected = scipy.stats.binomtest(round(share * n), n).proportion_ci(method="wilson")
        assert interval(share, n) == pytest.approx(tuple(expected))


@pytest.mark.parametrize("scale", ["std", "none"])
def test_a_map_counts_changes_as_its_budgets(scale, tmp_path, monkeypatch):
    monkeypatch.setattr(attackers, "ATTACKERS", ATTACKERS[:1])  # what they find is not what is tested
    frame = table(2000).assign(a=lambda t: 50 * t["a"])
    budget = 300.0 if scale == "none" else 0.6
    ((name, found),) = trade_off(frame, TablePrivatizer("y", budget, method="gaussian", scale=scale), [budget])
    assert name == f"{budget:g}" and found.scale == scale
    # Noise of 1000 records, in three equal parts of which numbers have two: five deviations of a mean of squares.
    assert found.cost == pytest.approx(budget * (2 / 3 if scale == "none" else 1), rel=5 * np.sqrt(2 / 1000))
    assert found.distortion.loc["a", "of the variance"] < 2  # in the column's own deviation, whatever the scale
    with pytest.raises(ValueError, match="others must count changes by the scale"):
        audit(frame, frame[["a"]], "y", scale={"std": "none", "none": "std"}[scale]).to_html(
            tmp_path / "page.html", [(name, found)]
        )


def test_gaps_that_the_release_shows(monkeypatch):
    monkeypatch.setattr(attackers, "ATTACKERS", ATTACKERS[:1])
    original = table(200)
    original.loc[::7, "a"] = np.nan
    original.loc[::5, "c"] = None
    released = original.drop(columns="y")
    assert audit(original, released, "y").gaps == ["a", "c"]
    released.loc[0, ["a", "c"]] = 0.5, "new"
    assert audit(original, released, "y").gaps == []


# The order of the rows


def order(values, cuts=()):
    watched = RowOrder("y")
    for part in np.split(np.asarray(values), cuts):
        watched.add(pd.Series(part))
    return watched.warning()


def test_rows_in_random_order_tell_nothing():
    random = np.random.default_rng(0)
    for n, share in ((40, 0.5), (40, 0.1), (400, 0.5), (400, 0.01), (4000, 0.5), (4000, 0.2), (4000, 0.002)):
        for _ in range(10):
            values = (np.arange(n) < n * share).astype(int)
            values[-n // 10 :] = 2
            assert order(random.permutation(values)) == ""
    assert order([]) == order([1]) == order([1] * 99) == order(np.arange(99)) == ""


def test_orders_that_tell_the_private_value_are_told():
    random = np.random.default_rng(0)
    n = 1000
    values = random.integers(0, 3, n)
    spoiled = np.sort(values)
    spoiled[random.integers(0, n, 50)] = 0
    couples = np.column_stack([values % 2, 1 - values % 2]).ravel()
    drift = random.random(n) < np.linspace(0.2, 0.8, n)
    rare = np.arange(n) // 20 == 7
    for told, words in (
        (np.sort(values), "sorted by the private column 'y'"),
        (np.array(["b", "a", "c"])[np.sort(values)], "sorted"),
        (spoiled, "neighbours agree in it 9[0-9]% of the time, any two 3[0-9]%"),
        (np.arange(n) % 2, "neighbours agree in it 0% of the time"),
        (np.arange(n) % 10 == 3, "10 rows apart agree in it 100%"),
        (couples, "neighbours agree in it 2[0-9]% of the time, any two 50%"),
        (drift, "of 32 rows in a row"),
        (rare, "neighbours agree in it 100% of the time, any two 96%"),
    ):
        found = order(told)
        assert re.search(words, found) and found.endswith("shuffle the rows first")
        for cuts in ([1], [0, 500, 999], list(range(0, n, 17))):
            assert order(told, cuts) == found


def test_three_values_and_missing_ones():
    original = table(200)
    original["y"] = np.arange(200) % 3
    original.loc[::7, "a"] = np.nan
    original.loc[::5, "c"] = None
    released = original.drop(columns="y").assign(c=original["c"].fillna("new"))
    found = audit(original, released, "y")
    assert found.baseline[0] == pytest.approx(1 / 3, abs=0.01)
    assert found.attacks.notna().all().all()
    assert found.distortion.loc["c", "changed"] == pytest.approx(1 / 5)


def test_the_same_seed_gives_the_same_audit():
    original = table(120)
    released = original.drop(columns="y")
    first, second = (audit(original, released, "y", 3).to_frame() for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


def test_attackers_work_on_one_thread(monkeypatch):
    """Whatever their caller's threads are."""
    used = []
    beliefs = attackers.beliefs

    def watched(*arguments):
        used.extend(pool["num_threads"] for pool in threadpool_info())
        return beliefs(*arguments)

    monkeypatch.setattr(attackers, "beliefs", watched)
    frame = table(n=60)
    with threadpool_limits(2):
        assert 2 in [pool["num_threads"] for pool in threadpool_info()]
        audit(frame, frame[["a"]], "y")
        assert 2 in [pool["num_threads"] for pool in threadpool_info()]  # and they are the caller's again
    assert set(used) == {1}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t, "must not hold the private column"),
        (lambda t: t[["a"]][:-1], "the same records"),
        (lambda t: t[["a"]].iloc[::-1], "another order"),
        (lambda t: t[["a"]].rename(columns={"a": "z"}), "columns of the original"),
        (lambda t: t[[]], "at least one column"),
        (lambda t: t[["a"]].assign(a="text"), "must hold numbers"),
        (lambda t: t[["a"]].to_numpy(), "the 3 public columns"),
    ],
)
def test_releases_that_do_not_belong_to_the_table(change, words):
    with pytest.raises(ValueError, match=words):
        audit(table(40), change(table(40)), "y")


class Page(html.parser.HTMLParser):
    """Collects tags, their attributes, and headings."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "circle", "line", "rect", "path", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_stands_alone_and_shows_no_record(audits, tmp_path):
    frame, others = audits
    found = others[1][1]
    found.to_html(tmp_path / "page.html", others)
    text = (tmp_path / "page.html").read_text()
    page = Page(text)
    assert page.open == []
    links = [a for _, a in page.tags if "src" in a or "href" in a]
    assert links == [] and "url(" not in text and "<script" not in text
    headings = re.findall(r"<h2>(.+?)</h2>", text)
    assert headings[0] == "What is promised" and "differential privacy" in text.split("</h2>")[1]
    assert sum(tag == "svg" for tag, _ in page.tags) == 2
    assert sum(tag == "circle" for tag, _ in page.tags) == 3  # the release, and two others
    for value in frame["height"].head(50):
        assert f"{value:.4f}" not in text
    with pytest.raises(FileExistsError, match="force"):
        found.to_html(tmp_path / "page.html")
    found.to_html(tmp_path / "page.html", force=True)
    with pytest.raises(TypeError, match="others"):
        found.to_html(tmp_path / "other.html", [found])


def test_names_on_the_page_are_escaped(tmp_path):
    name = "<script>alert(1)</script>"
    original = table(60).rename(columns={"y": name, "a": f"$x {name}"})
    found = audit(original, original.drop(columns=name), name)
    found.to_html(tmp_path / "page.html")
    assert "<script" not in (tmp_path / "page.html").read_text()
    assert isinstance(found, Audit) and "attack" in repr(found)


def test_large_numbers_on_the_page_have_no_exponent(tmp_path):
    original = table(60).assign(income=np.linspace(2e4, 9e4, 60))
    audit(original, original.drop(columns="y"), "y").to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "55,000" in text and "e+0" not in text


def test_to_frame_has_every_part(audits):
    _, (_, (_, found)) = audits
    frame = found.to_frame()
    assert {"baseline", "attack", "control", "risk", "distortion", "before", "after"} <= set(frame["part"])
    row = frame[(frame["part"] == "attack") & (frame["name"] == "network")].iloc[0]
    assert row["low"] <= row["value"] <= row["high"]


def test_an_attacker_that_learns_nothing_guesses_the_most_frequent_value(tmp_path):
    """As the page says: its share is that of this value among the records attacked."""
    frame = table(n=300, share=0.8)
    found = audit(frame, frame[["a"]].assign(a=0.0), "y")
    halves = frame["y"].value_counts()
    assert found.attacks["attack"].to_numpy() == pytest.approx(halves.max() / halves.sum(), abs=1 / found.n_attacked)
    found.to_html(tmp_path / "page.html")
    assert "gives up: it guesses that value" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("values", [["f", "m"], ["f", "f", "m"]])
def test_few_rows_that_are_sorted_by_accident_are_no_order(values):
    order = RowOrder("sex")
    order.add(pd.Series(values))
    assert order.warning() == ""
