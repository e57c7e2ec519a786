"""The register of the paper's statements, the verdicts on them, and the files made from the notebooks' results."""

import functools
import json
import re

import nbformat
import notebooks as notebook_tool
import numpy as np
import pandas as pd
import pytest
import results as tool
from nbclient.exceptions import CellExecutionError
from project import ROOT

from gaplib import binary, gaussian, leakage
from gaplib.book import paper
from gaplib.book.chapters import claims, results
from gaplib.models import BinaryModel, GaussianMixture

REGISTER = pd.read_csv(ROOT / "book" / "data" / "verdicts.csv", dtype=str, keep_default_na=False)
SCORED = REGISTER[REGISTER["kind"] != "cited"]
CITED = REGISTER[REGISTER["kind"] == "cited"]
SENTENCES = ("supports", "refutes")
NUMERIC = SCORED[~SCORED["relation"].isin(SENTENCES)]

ERRATA = (ROOT / "notebooks" / "15_errata.ipynb").read_text(encoding="utf-8")


def numbers(kinds, word):
    """The numbers that follow a word such as Eqs. or Fig. where entries of these kinds stand."""
    found = set()
    for where in REGISTER[REGISTER["kind"].isin(kinds)]["where"]:
        for first, last in re.findall(rf"(?<!before )(?<!after ){word}s?\.? (\d+)[a-d]?(?:-(\d+))?", where):
            found |= set(range(int(first), int(last or first) + 1))
    return found


@functools.cache
def evidence(notebook):
    """What a notebook recorded, and what it asserted."""
    return results(notebook), set(claims(notebook))


def judged_as(row, **changed):
    """The verdict on a row of the register, with other entries in some of its columns."""
    return paper.judge({**row, **changed}, *evidence(row["notebook"]))[0]


def rows_of(table):
    return [pytest.param(row, id=row["id"]) for row in table.to_dict("records")]


def looked_up(recorded, evidence):
    """The recorded number that a row of the register names as its evidence."""
    name, *keys = re.findall(r"[^\[\]]+", evidence)
    value = recorded[name]
    for key in keys:
        value = value[int(key) if isinstance(value, list) else key]
    return float(value)


def allowed(row):
    """The tolerance of each number that the paper prints in a row, written apart from the library's."""
    recorded, _ = evidence(row["notebook"])
    printed, tolerances = row["paper"].split("; "), row["tolerance"].split("; ")
    for i, digits in enumerate(printed):
        text = tolerances[0] if len(tolerances) == 1 else tolerances[i]
        if not text:
            yield (0.5 + 1e-9) * 10 ** -(len(digits.split(".")[1]) if "." in digits else 0)
        elif " " in text:
            yield float(text.split()[0]) * looked_up(recorded, text.split()[1])
        else:
            yield float(text)


def test_every_entry_is_whole():
    assert REGISTER["id"].is_unique
    for column in ("id", "part", "where", "kind", "statement", "verdict"):
        assert (REGISTER[column] != "").all(), column
    for column in ("check", "basis", "notebook", "evidence", "relation", "paper", "ours"):
        assert (SCORED[column] != "").all(), column
    assert (CITED["reference"] != "").all()
    assert set(SCORED["basis"]) == set(paper.VERDICTS)
    assert set(NUMERIC["relation"]) <= {"equals", "at most", "at least"}
    assert np.isfinite([float(text) for row in NUMERIC["paper"] for text in row.split("; ")]).all()
    assert (SCORED[SCORED["relation"].isin(SENTENCES)]["paper"] == "true").all()


def test_every_statement_has_a_check_and_every_check_a_statement():
    # Sentences: asserted by the notebook that is named. Numbers: the scorecard looked them up, or it would not run.
    for row in SCORED[SCORED["relation"].isin(["supports", "refutes"])].itertuples():
        assert row.evidence in claims(row.notebook), row.id
    judged = results("14_scorecard")["score_verdicts"]
    assert list(judged) == list(REGISTER["id"]) == list(paper.register()["id"])


def test_no_verdict_lies_in_the_package():
    """A chapter computes it, and this chapter reads the package."""
    assert not {"verdict", "ours"} & set(paper.register())
    data = {path.name for path in (ROOT / "gaplib" / "book" / "data").iterdir()}
    assert data == {"register.csv", "printed_tables.csv", "tables"}  # what people wrote


def test_what_does_not_hold_says_what_is_right():
    assert set(SCORED["verdict"]) <= set(paper.SCORED)
    assert set(CITED["verdict"]) == {paper.CITED}
    assert (SCORED[SCORED["verdict"] == "corrected"]["note"] != "").all()


def test_every_verdict_follows_from_its_evidence():
    """The rule once more, written apart from the library's."""
    names = {
        "theory": ["corrected", "derived"],
        "print": ["corrected", "consistent as printed"],
        "training": ["not reproduced", "reproduced by training"],
        "run": ["not reproduced", "seen in our runs"],
    }
    for row in SCORED.to_dict("records"):
        if row["relation"] in SENTENCES:
            holds = row["relation"] == "supports"
        else:
            holds = True
            recorded, _ = evidence(row["notebook"])
            for text, name, most in zip(
                row["paper"].split("; "), row["evidence"].split("; "), allowed(row), strict=True
            ):
                ours, printed = looked_up(recorded, name), float(text)
                low = printed - most if row["relation"] in ("equals", "at least") else -np.inf
                high = printed + most if row["relation"] in ("equals", "at most") else np.inf
                holds &= low <= ours <= high
        assert row["verdict"] == names[row["basis"]][holds], row["id"]


# Each rule can give each of its verdicts


@pytest.mark.parametrize("basis, pair", paper.VERDICTS.items())
def test_each_rule_can_give_each_of_its_verdicts(basis, pair):
    recorded, asserted = {"a": 1.02, "b": {"k": [5, 2]}, "error": 0.01}, {"so it is"}

    def verdict(**columns):
        return paper.judge({"kind": "sentence", "basis": basis, "tolerance": ""} | columns, recorded, asserted)

    sentence = {"paper": "true", "evidence": "so it is"}
    assert verdict(relation="supports", **sentence) == (pair[0], "true")
    assert verdict(relation="refutes", **sentence) == (pair[1], "false")
    for relation, good, bad in (
        ("equals", "1.0", "1.1"),  # to within half a unit of the last digit
        ("equals", "1.02", "1.00"),
        ("at most", "1.1", "0.9"),
        ("at least", "0.9", "1.1"),
    ):
        assert verdict(relation=relation, paper=good, evidence="a") == (pair[0], "1.02"), (relation, good)
        assert verdict(relation=relation, paper=bad, evidence="a") == (pair[1], "1.02"), (relation, bad)
    # A tolerance that is stated, one that is recorded, and several numbers, which must all fit.
    assert verdict(relation="equals", paper="1", evidence="a", tolerance="0.03")[0] == pair[0]
    assert verdict(relation="equals", paper="1", evidence="a", tolerance="0.01")[0] == pair[1]
    assert verdict(relation="equals", paper="1", evidence="a", tolerance="3 error")[0] == pair[0]
    assert verdict(relation="equals", paper="1", evidence="a", tolerance="1 error")[0] == pair[1]
    assert verdict(relation="equals", paper="1.02; 2", evidence="a; b[k][1]", tolerance="0; 0") == (pair[0], "1.02; 2")
    assert verdict(relation="equals", paper="1.02; 3", evidence="a; b[k][1]", tolerance="0; 0")[0] == pair[1]
    # Without its evidence a statement has no verdict, which the scorecard claims of none.
    for missing in ("c", "b[l][0]", "b[k][2]", "b[k][l]", "b[k]", "a[k]"):
        assert verdict(relation="equals", paper="1", evidence=missing) == (paper.OPEN, "")
    assert verdict(relation="supports", paper="true", evidence="so it is not") == (paper.OPEN, "")
    assert verdict(relation="equals", paper="1", evidence="a", tolerance="3 c") == (paper.OPEN, "")
    with pytest.raises(ValueError, match="relations supports, refutes, equals, at most, at least, got 'about'"):
        verdict(relation="about", paper="1", evidence="a")
    with pytest.raises(ValueError, match="each of 2 printed numbers"):
        verdict(relation="equals", paper="1; 2", evidence="a")
    with pytest.raises(ValueError, match="bases theory, print, training, run, got 'hearsay'"):
        verdict(relation="supports", **sentence | {"basis": "hearsay"})
    assert verdict(kind="cited") == (paper.CITED, "")


@pytest.mark.parametrize("row", rows_of(NUMERIC))
def test_another_printed_number_gives_the_other_verdict(row):
    met, missed = paper.VERDICTS[row["basis"]]
    recorded, _ = evidence(row["notebook"])
    ours = [looked_up(recorded, name) for name in row["evidence"].split("; ")]
    assert judged_as(row, paper="; ".join(f"{number:.12f}" for number in ours)) == met
    printed = row["paper"].split("; ")
    for i, (digits, most) in enumerate(zip(printed, allowed(row), strict=True)):
        decimals = len(digits.partition(".")[2])
        # Further from ours than the tolerance, whatever the paper prints, on the side that speaks against it.
        up = float(digits) >= ours[i] if row["relation"] == "equals" else row["relation"] == "at least"
        wrong = max(ours[i], float(digits)) + 2 * most if up else min(ours[i], float(digits)) - 2 * most
        wrong += (1 if up else -1) * 10.0**-decimals
        changed = [*printed[:i], f"{wrong:.{decimals}f}", *printed[i + 1 :]]
        assert judged_as(row, paper="; ".join(changed)) == missed, digits


@pytest.mark.parametrize("row", rows_of(SCORED[SCORED["relation"].isin(SENTENCES)]))
def test_a_sentence_can_hold_fail_and_lose_its_evidence(row):
    met, missed = paper.VERDICTS[row["basis"]]
    assert [judged_as(row, relation=relation) for relation in SENTENCES] == [met, missed]
    recorded, asserted = evidence(row["notebook"])
    assert paper.judge(row, recorded, asserted - {row["evidence"]}) == (paper.OPEN, "")


def test_rows_of_the_tables_have_the_printed_numbers_and_their_own_evidence():
    register = REGISTER.set_index("id")
    order = results("12_gaussian_learned")["glearn_rows"]
    for n in range(2, 6):
        for row in paper.table(n):
            key, id = f"[{row['dataset']}/{row['D']}]", f"tab{n}-D{row['D']}"
            printed, learned = register.loc[id], register.loc[f"{id}-learned"]
            numbers = [row["p_detect"], row["p_detect_theory"], row["distance"]]
            assert [float(text) for text in printed["paper"].split("; ")] == numbers
            assert all(name.endswith(key) for name in printed["evidence"].split("; "))
            assert float(learned["paper"]) == row["p_detect"]
            place = order.index([row["dataset"], row["D"]])
            assert learned["evidence"] == f"glearn_p_detect[mean][{place}]"
            assert (printed["basis"], learned["basis"]) == ("print", "training")
            for text in (printed["statement"], learned["statement"]):
                assert text.startswith(f"Dataset {row['dataset']}, D = {row['D']}:")
    # What training is held to is one tolerance, the same for all.
    assert set(REGISTER[REGISTER["basis"] == "training"]["tolerance"]) == {"0.003"}
    assert (REGISTER["basis"] == "training").sum() == 36


@pytest.mark.parametrize("column", ["p_detect", "p_detect_theory", "distance"])
def test_another_number_in_the_printed_tables_changes_the_verdict(column, monkeypatch):
    read = paper._read
    id = "tab4-D2"  # consistent as printed, and reproduced by training

    def mutated(name):
        rows = read(name)
        for row in rows:
            if (row.get("table"), row.get("D")) == ("4", "2"):
                row[column] = f"{float(row[column]) + 0.9:.4f}"
        return rows

    def verdicts():
        rows = paper.register().set_index("id", drop=False).loc[[id, f"{id}-learned"]].to_dict("records")
        return [judged_as(row) for row in rows]

    assert verdicts() == ["consistent as printed", "reproduced by training"]
    monkeypatch.setattr(paper, "_read", mutated)
    expected = "not reproduced" if column == "p_detect" else "reproduced by training"
    assert verdicts() == ["corrected", expected]


def test_marks_that_are_not_at_hand_are_not_said_to_be_judged():
    figures = SCORED[(SCORED["kind"] == "figure") & (SCORED["where"] != "Fig. 2")]  # the paper's source draws Figure 2
    assert len(figures) > 15
    assert figures["note"].str.contains("not at hand").all()
    learned = figures[figures["where"].str.contains("learned marks")]
    assert len(learned) == 4
    assert (learned["basis"] == "run").all()


@pytest.mark.slow
def test_the_scorecard_fails_where_a_statement_has_no_verdict(tmp_path):
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    game = json.loads((tmp_path / "02_game.ipynb").read_text(encoding="utf-8"))
    for output in (output for cell in game["cells"] for output in cell.get("outputs", []) if "text" in output):
        output["text"] = [line for line in output["text"] if not line.startswith("holds: the transform of Arimoto's")]
    (tmp_path / "02_game.ipynb").write_text(json.dumps(game), encoding="utf-8")
    scorecard = nbformat.read(ROOT / "notebooks" / "14_scorecard.ipynb", as_version=4)
    with pytest.raises(CellExecutionError, match="does not hold: every statement that is not cited has a verdict"):
        notebook_tool.execute(scorecard, tmp_path)
    printed = "".join(o.text for cell in scorecard.cells for o in cell.get("outputs", []) if "text" in o)
    assert "statements without a verdict: eq8-arimoto-game\n" in printed


def test_headlines_count_the_verdicts_apart():
    counts = {verdict: int((REGISTER["verdict"] == verdict).sum()) for verdict in paper.SCORED}
    sentence = paper.headline(counts)
    said = [int(number) for number in re.findall(r"\d+", sentence)]
    assert said == [len(SCORED), *counts.values()]
    assert all(verdict in sentence for verdict in paper.SCORED)
    assert sentence in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for page in ("index.md", "status.md", "paper_index.md"):
        assert "{{ headline }}" in (ROOT / "book" / page).read_text(encoding="utf-8"), page
    assert paper.headline(dict.fromkeys(paper.SCORED, 1)).startswith(
        "Of 6 statements of the paper that can be checked, 1 is"
    )


def test_the_readme_says_what_the_counts_do_not():
    """How many causes the corrections have, and how far off the accuracies are that are not reproduced."""
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    corrected = SCORED[SCORED["verdict"] == "corrected"]
    assert f"the {len(corrected)} have {corrected['erratum'].nunique()} causes" in readme
    trained = SCORED[SCORED["basis"] == "training"]
    apart = trained["ours"].astype(float) - trained["paper"].astype(float)
    missed = apart[trained["verdict"] == "not reproduced"]
    assert f"a lower one in {(missed < 0).sum()} of the {len(missed)}." in readme
    assert f"Within .008, the bar for a single run, {(apart.abs() <= 0.008).sum()} of the {len(apart)}" in readme


def test_what_the_notes_say_of_all_mechanisms_is_what_chapter_19_recorded():
    line = results("19_optimum_on_the_line")
    least, blind, notes = line["line_paper_pdd"], line["line_paper_pdi"], REGISTER.set_index("id")["note"]
    family = results("08_gaussian_affine")["gaff_paper_optima"]
    # Optima are recorded to nine digits; the smallest of the differences is 2e-4.
    lower = [family[row] - least[row] for row in family if family[row] - least[row] > 1e-6]
    prior = {str(n): max(model.prior, 1 - model.prior) for n, model in paper.DATASETS.items()}
    assert len(lower) == sum(family[row] - prior[row[0]] > 1e-6 for row in family)
    assert f"all {len(lower)} rows" in notes["abs-optimal-derived"]
    assert f"the {len(lower)} rows" in notes["sec43-theory-column"]
    assert f"by up to {max(lower):.3f}".replace("0.", ".") in notes["abs-optimal-derived"]
    gap = f"at most {max(blind[row] - least[row] for row in least):.3f}".replace("0.", ".")
    for text in (notes["sec11-pdd-superior"], notes["sec2-sizeable-gap"], ERRATA):
        assert gap in text
    log_loss = f"{line['line_loss_accuracy']['order 1, D 1']:.3f}, the least is {least['1/1']:.3f}".replace("0.", ".")
    assert log_loss in notes["sec11-log-matches-map"]


def test_corrections_and_errata_belong_together():
    corrected = SCORED[SCORED["verdict"] == "corrected"]
    assert (corrected["erratum"] != "").all()
    named = set(REGISTER["erratum"]) - {""}
    anchors = set(re.findall(r"\(erratum-([a-z0-9-]+)\)=", ERRATA))
    assert named <= anchors
    # The small ones at the end share one heading and one anchor.
    assert anchors - {"misprints"} <= named
    # An error corrects a statement, a remark none: there a note says how the statement was read.
    assert {f"erratum-{name}" for name in corrected["erratum"]} == set(results("15_errata")["err_errors"])
    remarked = SCORED[(SCORED["erratum"] != "") & (SCORED["verdict"] != "corrected")]
    assert (remarked["note"] != "").all()


def test_the_register_covers_the_paper():
    # Without a statement: definitions of the game (2, 9, 10), theorems' problems written down again (49, 54).
    every_kind = set(REGISTER["kind"]) - {"cited"}
    assert numbers(every_kind, "Eq") >= set(range(1, 57)) - {2, 9, 10, 49, 54}
    assert numbers({"figure"}, "Fig") == set(range(1, 14))
    assert numbers({"theorem"}, "Theorem") == {1, 2, 3, 4}
    places = set(SCORED["where"])
    for place in (
        "Proposition 1",
        "Algorithm 1",
        "Remark after Theorem 1",
        "Remark after Theorem 4",
        "Table 1",
        "App. A",
    ):
        assert any(where.startswith(place) for where in places), place
    rows = {row for where in places for row in re.findall(r"^Table (\d), D=(\d)$", where)}
    assert rows == {(str(table), str(D)) for table in range(2, 6) for D in range(1, 10)}


@pytest.mark.parametrize(
    "table, file",
    [
        (tool.verdicts, "book/data/verdicts.csv"),
        (tool.summary, "book/data/summary.csv"),
        (tool.gaussian_rows, "book/data/gaussian_rows.csv"),
        (tool.figure_5, "book/data/figure_5.csv"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_are_what_the_notebooks_recorded(table, file, tmp_path):
    tool.write(table(), tmp_path / "new.csv")
    new, stored = (pd.read_csv(path, keep_default_na=False) for path in (tmp_path / "new.csv", ROOT / file))
    # Parameters of optima are computed as the file is written, and kept to six digits: one unit of the last. All other
    # numbers are those that the notebooks recorded.
    pd.testing.assert_frame_equal(new, stored, rtol=1e-5, atol=0, obj=f"{file}: run make notebooks")


def test_the_status_page_knows_every_notebook():
    status = pd.read_csv(ROOT / "book" / "data" / "status.csv", keep_default_na=False)
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert list(status["notebook"]) == [path.stem for path in paths]
    assert list(status["claims that hold"]) == [len(claims(path)) for path in paths]
    lock = (ROOT / "requirements.lock").read_text()
    for package in ("numpy", "scipy", "tensorflow"):
        pinned = set(re.findall(rf"^{package}==([\d.]+)", lock, re.MULTILINE))
        assert set(status["with"].str.extract(rf"\b{package} ([\d.]+)")[0]) <= pinned, (
            f"{package}: notebooks were run with another version: make notebooks"
        )


def test_optima_in_the_files_are_those_of_the_library():
    table = pd.read_csv(ROOT / "book" / "data" / "gaussian_rows.csv")
    exact = table[(table["source"] == "optimum, 0-1 loss") & (table["quantity"] == "p_detect")]
    assert len(exact) == 36
    for row in exact.itertuples():
        model = GaussianMixture(row.prior, 3, row.var0, row.var1)
        assert row.value == pytest.approx(gaussian.optimal_affine(model, row.D).value, abs=1e-8)  # 9 digits are kept
    curves = pd.read_csv(ROOT / "book" / "data" / "figure_5.csv")
    optima = curves[curves["source"].str.startswith("optimum, 0-1")]
    assert len(optima) > 40
    for row in optima.itertuples():
        solve = {"pdd": binary.optimal_pdd, "pdi": binary.optimal_pdi}[row.kind]
        assert row.value == pytest.approx(solve(BinaryModel.xor(row.p, row.q), row.D).value, abs=1e-8)


@pytest.mark.slow
def test_some_learned_rows_are_trained_anew():
    from gaplib.training import Game, train

    table = pd.read_csv(ROOT / "book" / "data" / "gaussian_rows.csv")
    learned = table[(table["source"] == "learned, log-loss") & (table["quantity"] == "p_detect")]
    for row in learned[learned["D"].isin([3, 6])].itertuples():
        first, last = map(int, row.seeds.split("-"))
        model = GaussianMixture(row.prior, 3, row.var0, row.var1)
        seeds = range(first, last + 1)
        trained = train([Game(model, row.D) for _ in seeds], seed=list(seeds))
        mean = np.mean([leakage.map_accuracy(model, one.mechanism) for one in trained])
        # The notebook on re-runs measures what rounding changes in one game: up to 3e-4 in the accuracy.
        assert mean == pytest.approx(row.value, abs=1e-3)
