"""The commands `release` and `audit`: whole files or none, constant memory, every malformed table refused in words."""

import contextlib
import csv as csv_module
import datetime
import os
import random
import re
import signal
import subprocess
import sys
import time
from decimal import Decimal

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from project import ROOT

from gaplib.__main__ import main
from gaplib._files import check_free, whole_file
from gaplib.tabular import attackers, load, tables
from gaplib.tabular import command as table_command

N = 300


def people(n=N, seed=0):
    draw = np.random.default_rng(seed)
    male = draw.random(n) < 0.5
    height = 170 + np.where(male, 7, -7) + draw.normal(0, 7, n)
    return pd.DataFrame(
        {"sex": np.where(male, "m", "f"), "height": height.round(1), "city": draw.choice(["a", "b"], n)}
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people().to_csv("table.csv", index=False)
    return tmp_path


@pytest.fixture
def one_attacker(monkeypatch):
    """The quickest, where what attackers find is not what is tested."""
    monkeypatch.setattr(attackers, "ATTACKERS", attackers.ATTACKERS[:1])


RELEASE = ["release", "table.csv", "--private", "sex", "--budget", "0.3", "--out", "released.csv"]


def refused(capsys, words, match):
    before = {name: os.lstat(name).st_mtime_ns for name in os.listdir()}
    assert main([str(word) for word in words]) == 2
    said = capsys.readouterr()
    error = said.err.strip().splitlines()[-1]
    assert error.startswith("error: ") and re.search(match, error), error
    assert {name: os.lstat(name).st_mtime_ns for name in os.listdir()} == before  # nothing is written, or changed


def test_release_report_mechanism_and_audit(folder, capsys):
    words = [*RELEASE, "--report", "report.html", "--save", "mechanism.npz"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.startswith("Promised:") and "not differential privacy" in said
    assert "as secret as the table" in said
    released, table = pd.read_csv("released.csv"), pd.read_csv("table.csv")
    assert list(released.columns) == ["height", "city"] and len(released) == N
    assert "What is promised" in (folder / "report.html").read_text()
    assert main(["audit", "table.csv", "released.csv", "--private", "sex", "--report", "audit.html"]) == 0
    assert "gradient boosting" in capsys.readouterr().out
    # New records, by the mechanism that was kept: another seed, and the same one again.
    people(50, seed=1).to_csv("new.csv", index=False)
    for out, seed in (("one.csv", []), ("two.csv", ["--seed", "7"]), ("three.csv", ["--seed", "7"])):
        assert main(["release", "new.csv", "--mechanism", "mechanism.npz", "--out", out, *seed]) == 0
    assert (folder / "two.csv").read_bytes() == (folder / "three.csv").read_bytes()
    assert (folder / "one.csv").read_bytes() != (folder / "two.csv").read_bytes()
    moved = (released["height"] != table["height"]).mean()
    assert 0.3 < moved < 1


def test_a_kept_mechanism_says_what_it_needs_and_takes_no_settings(folder, capsys):
    assert main([*RELEASE, "--save", "mechanism.npz"]) == 0
    people(50, 1).drop(columns="sex").to_csv("new.csv", index=False)
    words = ["release", "new.csv", "--mechanism", "mechanism.npz", "--out", "new_released.csv"]
    refused(capsys, words, "uses the private column, got none of the name 'sex'")
    for option, value in (("--kind", "pdi"), ("--method", "laplace"), ("--scale", "none")):
        refused(capsys, [*words, option, value], f"{option} cannot be given with it")


@pytest.mark.parametrize(
    ("method", "words"),
    [("transport", "as secret as the table"), ("laplace", "holds no record"), ("affine", "holds no record")],
)
def test_it_is_said_how_secret_a_kept_mechanism_is(folder, capsys, method, words):
    assert main([*RELEASE, "--public", "height", "--method", method, "--save", "m.npz"]) == 0
    said = capsys.readouterr().out
    assert words in said and ("few records" in said) == (method == "transport")


def test_names_with_commas_and_quotation_marks(folder, capsys):
    names = {"height": "height, cm", "city": 'the "city"'}
    people().rename(columns=names).to_csv("table.csv", index=False)
    assert main([*RELEASE, "--public", '"height, cm", "the ""city"""']) == 0
    assert list(pd.read_csv("released.csv").columns) == list(names.values())
    for given, words in (
        ("height, cm", "a name with a comma stands in"),
        ('"height', "names with commas between them"),
    ):
        refused(capsys, [*RELEASE[:-1], "o.csv", "--public", given], words)


def test_a_record_that_makes_the_unit_is_told(folder, capsys):
    table = people()
    assert main(RELEASE) == 0
    assert "variance" not in capsys.readouterr().err
    table.loc[3, "height"] = 1e9
    table.to_csv("table.csv", index=False)
    assert main([*RELEASE, "--force"]) == 0
    assert "more than half of the variance of the column 'height'" in capsys.readouterr().err


def test_records_far_away_are_counted(folder, capsys):
    table = people()
    table.loc[3, "height"] = 1e6
    table.to_csv("table.csv", index=False)
    assert main([*RELEASE, "--scale", "none", "--public", "height"]) == 0
    assert "in 1 of 300 records the column 'height' is so far from nearly all others" in capsys.readouterr().err
    assert pd.read_csv("released.csv")["height"].max() == 1e6


def test_new_records_unlike_those_fitted_are_counted(folder, capsys):
    assert main([*RELEASE, "--save", "mechanism.npz"]) == 0
    assert "warning" not in capsys.readouterr().err
    new = people(50, 1)
    new.loc[:2, "city"] = "c"
    new.loc[:4, "height"] = np.nan
    new.to_csv("new.csv", index=False)
    assert main(["release", "new.csv", "--mechanism", "mechanism.npz", "--out", "new_released.csv"]) == 0
    said = capsys.readouterr().err
    assert "in 3 of 50 records the column 'city'" in said and "in 5 of 50 records the column 'height'" in said


def test_parquet_and_csv_say_the_same(folder):
    people().to_parquet("table.parquet")
    for name in ("csv", "parquet"):
        words = ["release", f"table.{name}", "--private", "sex", "--budget", "0.3", "--seed", "1", "--out", f"r.{name}"]
        assert main(words) == 0
    pd.testing.assert_frame_equal(pd.read_csv("r.csv"), pd.read_parquet("r.parquet"))


def test_zeros_at_the_front_of_codes_are_kept(folder):
    codes = [f"0{1000 + i % 7}" for i in range(N)]
    people().assign(postcode=codes).to_csv("table.csv", index=False)
    assert main(RELEASE) == 0
    released = pd.read_csv("released.csv", dtype=str)["postcode"]
    assert set(released) <= set(codes)


def test_a_long_table_is_released_in_parts_as_in_one(folder, monkeypatch):
    from gaplib.tabular import TablePrivatizer

    monkeypatch.setattr(tables, "_BLOCK", 2000)  # some hundred records
    monkeypatch.setattr(tables, "PART", 100)
    people(3000).to_csv("table.csv", index=False)
    people(3000).to_parquet("table.parquet")
    expected = TablePrivatizer("sex", 0.3, random_state=3).fit_transform(people(3000))
    for name in ("csv", "parquet"):
        words = ["release", f"table.{name}", "--private", "sex", "--budget", "0.3", "--seed", "3", "--out", f"r.{name}"]
        assert main(words) == 0
    for found in (pd.read_csv("r.csv"), pd.read_parquet("r.parquet")):
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_text_of_all_kinds_comes_back(folder, monkeypatch):
    monkeypatch.setattr(tables, "_BLOCK", 2000)
    words = ["x", "y, z", "new\nline", 'in "marks"', "ü", "=1+1", " "]
    table = pd.DataFrame({"Größe": np.arange(700) % 9 / 2, "text": [words[i % 7] for i in range(700)], "yes": True})
    table["sex"] = people(700)["sex"]
    table.loc[3, "text"] = None
    table.to_csv("table.csv", index=False, encoding="utf-8-sig")  # as spreadsheets write it
    assert main([*RELEASE[:4], "--budget", "0", "--out", "released.csv"]) == 0
    pd.testing.assert_frame_equal(pd.read_csv("released.csv"), table.drop(columns="sex"))


@pytest.mark.parametrize(
    "values", [[1.5, None, 170, None, None], ['a "b"', None, "x\n\ny", "", "ü,"], [False, None, True]]
)
@pytest.mark.parametrize("cut", [0, 1, 2])
def test_a_gap_in_one_column_is_a_record_for_every_reader(tmp_path, values, cut):
    frame, path = pd.DataFrame({'h, "x"': pd.Series(values, dtype=object).infer_objects()}), tmp_path / "one.csv"
    schema = pyarrow.Schema.from_pandas(frame)
    with open(path, "wb") as file, tables.writer(file, "csv", schema) as write:
        for part in (frame[:cut], frame[cut:]):
            write(part)
    with open(path, newline="") as file:
        lines = list(csv_module.reader(file))
    (own,) = tables.Table(path).parts(list(frame))
    assert b"\n\n" not in path.read_bytes().replace(b"x\n\ny", b"")
    assert len(pd.read_csv(path)) == len(polars.read_csv(path)) == len(lines) - 1 == len(own) == len(values)
    assert all(len(line) == 1 for line in lines)
    # Of text, CSV does not tell an empty one from none.
    assert pd.read_csv(path).isna().iloc[:, 0].tolist() == [value is None or value == "" for value in values]


def test_a_column_that_lacks_values_at_the_top_keeps_its_type(folder, monkeypatch):
    monkeypatch.setattr(tables, "PART", 100)
    table = people().assign(smoker=pd.array([None] * 150 + [True, False, None] * 50, dtype="boolean"))
    table.to_parquet("table.parquet")
    for out, read in (("r.parquet", pd.read_parquet), ("r.csv", pd.read_csv)):
        assert main(["release", "table.parquet", *RELEASE[2:-1], out, "--budget", "0"]) == 0
        found = read(out)["smoker"].astype("boolean")
        pd.testing.assert_series_equal(found, table["smoker"])


def test_one_column_with_gaps_by_command(folder, capsys, one_attacker):
    table = people()
    table.loc[::5, "height"] = np.nan
    table.to_csv("table.csv", index=False)
    words = [*RELEASE, "--public", "height", "--kind", "pdi"]
    assert main([*words, "--save", "m.npz"]) == 0
    released = pd.read_csv("released.csv")
    assert len(released) == N and 0 < released["height"].isna().mean() < 0.3
    assert main(["audit", "table.csv", "released.csv", "--private", "sex"]) == 0
    # A mechanism that does not look takes a table of the one column, in which an empty line may be a record.
    again = ["release", "new.csv", "--mechanism", "m.npz", "--out", "o.csv"]
    for text, count in (('height\n170\n""\n160\n', 3), ("height\n170\n160\n\n\n", 2)):
        (folder / "new.csv").write_text(text)
        assert main([*again, "--force"]) == 0
        assert len(pd.read_csv("o.csv")) == count
    os.unlink("o.csv")
    for text in ("height\n170\n\n160\n", "height\r\n\r\n170\r\n", "height\n" + "170\n" * 1000 + "\n" * 999 + "160\n"):
        (folder / "new.csv").write_text(text)
        refused(capsys, again, "one column and empty lines")


def test_the_order_of_the_rows_is_told(folder, capsys, one_attacker, monkeypatch):
    monkeypatch.setattr(table_command, "_MULTIPLES", ())
    words = [*RELEASE, "--public", "height"]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "keep their order" in said.out and "order" not in said.err
    table = people().sort_values("sex")
    table.to_csv("table.csv", index=False)
    assert main([*words, "--force", "--report", "r.html", "--save", "m.npz"]) == 0
    words = "the rows are sorted by the private column 'sex'.*shuffle the rows first"
    assert re.search(words, capsys.readouterr().err)
    assert re.search(words.replace("'", "&#x27;"), (folder / "r.html").read_text())
    assert main(["audit", "table.csv", "released.csv", "--private", "sex"]) == 0
    assert re.search(words, capsys.readouterr().err)
    # New records have an order of their own.
    for frame, told in ((people(), False), (table, True)):
        frame.to_csv("new.csv", index=False)
        assert main(["release", "new.csv", "--mechanism", "m.npz", "--out", "o.csv", "--force"]) == 0
        assert bool(re.search(words, capsys.readouterr().err)) == told


def test_a_refused_budget_does_not_lose_the_report(folder, capsys, one_attacker):
    words = [*RELEASE[:4], "--budget", "0.036", *RELEASE[6:], "--public", "height", "--method", "affine"]
    assert main([*words, "--report", "report.html"]) == 0  # a quarter of this is less than the rounding costs
    text = (folder / "report.html").read_text()
    assert re.search("Not on the map: the budget 0.009: the method .*affine.* needs a budget above", text)
    assert text.count("<circle") == 4
    # Of three records one half has one: the budget itself is refused, and in words.
    people().assign(sex=lambda t: np.where(t.index % 100 == 50, "x", t["sex"])).to_csv("table.csv", index=False)
    refused(
        capsys, [*RELEASE[:-1], "o.csv", "--report", "o.html"], "for --report .* half .* at least two records of each"
    )


@pytest.mark.parametrize(
    ("scale", "words"), [("std", "squares in standard deviations"), ("none", "squares in the columns&#x27; own units")]
)
def test_the_map_counts_as_the_budget_does(folder, one_attacker, scale, words):
    assert (
        main(
            [
                *RELEASE[:4],
                "--budget",
                "10",
                *RELEASE[6:],
                "--scale",
                scale,
                "--method",
                "laplace",
                "--report",
                "r.html",
            ]
        )
        == 0
    )
    text = (folder / "r.html").read_text()
    assert f"mean cost of a change: {words}, plus changed categories" in text


@pytest.mark.parametrize("method", ["transport", "gaussian"])
def test_gaps_that_a_method_shows_are_told(folder, capsys, one_attacker, method):
    table = people()
    table.loc[::5, "height"] = np.nan
    table.to_csv("table.csv", index=False)
    assert main([*RELEASE, "--method", method]) == 0
    shown = "20.0% of the records lack a number in the column 'height', and 'gaussian' leaves them without"
    assert (shown in capsys.readouterr().err) == (method == "gaussian")
    assert main(["audit", "table.csv", "released.csv", "--private", "sex", "--report", "r.html"]) == 0
    assert ("which the release shows, in: height" in capsys.readouterr().out) == (method == "gaussian")
    assert ("shows which these are: height" in (folder / "r.html").read_text()) == (method == "gaussian")


def test_files_are_not_overwritten_without_force(folder, capsys):
    for name in ("released.csv", "report.html", "mechanism.npz"):
        (folder / name).write_text("mine")
        words = [*RELEASE, "--report", "report.html", "--save", "mechanism.npz"]
        refused(capsys, words, f"{name}.*--force")
        (folder / name).unlink()
    (folder / "released.csv").write_text("mine")
    assert main([*RELEASE, "--force"]) == 0
    assert (folder / "released.csv").read_text() != "mine"
    refused(capsys, [*RELEASE[:-1], "table.csv", "--force"], "different files")
    os.link("table.csv", "same.csv")
    refused(capsys, [*RELEASE[:-1], "."], "no file|must end")
    refused(capsys, [*RELEASE[:-1], "nowhere/out.csv"], "no folder")
    refused(capsys, [*RELEASE[:-1], "out.xlsx"], "must end in .csv or .parquet")


def csv(text):
    return text.encode() if isinstance(text, str) else text


def rows(make, head="sex,height", n=40):
    return "\n".join([head, *(make(i) for i in range(n))]) + "\n"


def sex(i):
    return "mf"[i % 2]


def many(i):
    return f"{sex(i)},{150 + i * 7 % 31}"


MALFORMED = {
    "nothing": ("", "empty"),
    "a blank line": ("\n", "empty|no column"),
    "a heading only": ("sex,height\n", "no records"),
    "no heading": (rows(many, "m,170"), "no column 'sex'"),
    "semicolons": (rows(many).replace(",", ";"), "separated by something else"),
    "semicolons and decimal commas": (rows(lambda i: f"{sex(i)};{i},5", "sex;height"), "separated by something else"),
    "tabs": (rows(many).replace(",", "\t"), "separated by something else"),
    "a record too long": (rows(many) + "m,170,3\n", "3 values for 2 columns"),
    "a record too short": (rows(many) + "m\n", "1 values? for 2 columns"),
    "a quotation mark left open": (rows(many) + '"m,170\n', "values for|quotation"),
    "text among numbers, far down": (rows(many, n=4000) + "m,tall\n", "further down"),
    "text among numbers": (rows(many) + "m,tall\n", "1 values that are none"),
    "decimal commas": (rows(lambda i: f'{sex(i)},"{i},5"', n=200), "decimal comma"),
    "dates": (rows(lambda i: f"{sex(i)},2020-01-{i % 28 + 1:02}"), "dates"),
    "times": (rows(lambda i: f"{sex(i)},2020-01-01 12:{i:02}:00"), "dates"),
    "hours": (rows(lambda i: f"{sex(i)},12:{i:02}:00"), "dates"),
    "German dates": (rows(lambda i: f"{sex(i)},{i % 28 + 1:02}.01.2020"), "dates"),
    "a counter": (rows(lambda i: f"{sex(i)},{i}"), "identifier"),
    "names": (rows(lambda i: f"{sex(i)},p{i}"), "identifier"),
    "many names": (rows(lambda i: f"{sex(i)},p{i}", n=200), "identifiers or free text"),
    "infinity": (rows(many) + "m,inf\n", "finite"),
    "a huge number": (rows(many) + "m,1e300\n", "at most"),
    "a column twice": (rows(many, "sex,sex"), "more than once"),
    "the private column twice": (rows(lambda i: f"{many(i)},m", "sex,height,sex"), "more than once"),
    "one private value": (rows(lambda i: f"m,{i % 7}"), "nothing to hide"),
    "a private value once": (rows(many) + "x,170\n", "two records"),
    "private values missing": (rows(many) + ",170\n", "missing values"),
    "private column empty": (rows(lambda i: f",{i % 7}"), "missing values"),
    "private numbers": (rows(lambda i: f"{i * 1.5},{i % 7}"), "make them classes"),
    "private names": (rows(lambda i: f"p{i},{i % 7}"), "at most 20"),
    "private dates": (rows(lambda i: f"2020-01-{i % 2 + 1:02},{i % 7}"), "dates"),
    "the private column alone": (rows(sex, "sex"), "at least one column"),
    "a public column empty": (rows(lambda i: f"{sex(i)},"), "missing"),
    "nine records": (rows(many, n=9), "at least 10 records"),
    "UTF-16": (rows(many).encode("utf-16"), "not encoded in UTF-8"),
    "Latin-1": (rows(lambda i: f"{sex(i)},{'äb'[i % 2]}").encode("latin-1"), "UTF-8"),
    "null bytes": (b"\0" * 100, "not encoded in UTF-8"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, "no column|cannot be read|UTF-8|values for"),
    "a compressed table": (b"\x1f\x8b\x08\0" + os.urandom(50), "no column|cannot be read|UTF-8|empty|values for"),
    "a web page": ("<html><body>not found</body></html>\n" * 20, "no column|values for"),
    "JSON": ('[{"sex": "m", "height": 170}]\n', "no column|values for|no records"),
    "an endless line": ("sex,height\nm," + "1" * (9 << 20), "longer than|cannot be read|values for|at least 10"),
    "blank names": (rows(many, ","), "more than once|no column"),
}


def test_there_are_forty_malformed_tables():
    assert len(MALFORMED) >= 40


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_tables_are_refused_in_words(name, folder, capsys, monkeypatch):
    if name == "text among numbers, far down":
        monkeypatch.setattr(tables, "_BLOCK", 2000)
    content, words = MALFORMED[name]
    (folder / "table.csv").write_bytes(csv(content))
    refused(capsys, RELEASE, words)


PLAIN = rows(lambda i: f"{sex(i)},{150 + i * 7 % 31}.5,{'TRUE' if i % 3 else 'FALSE'}", "sex,height,smoker")
# As other programs write the same table; the number of released columns.
ODD = {
    "a byte order mark": (b"\xef\xbb\xbf" + PLAIN.encode(), 2),
    "ends of lines of Windows": (PLAIN.replace("\n", "\r\n").encode(), 2),
    "ends of lines of old Macs": (PLAIN.replace("\n", "\r").encode(), 2),
    "no end of the last line": (PLAIN.rstrip("\n").encode(), 2),
    "empty lines": (PLAIN.replace("\n", "\n\n").encode(), 2),
    "marks around everything": (re.sub(r"[^,\n]+", r'"\g<0>"', PLAIN).encode(), 2),
    "names of other scripts": (PLAIN.replace("height", "身長").replace("smoker", "\U0001f6ac").encode(), 2),
    "classes among numbers": (rows(lambda i: f"{sex(i)},{('1', '2', '3+')[i % 3]}").encode(), 1),
    "tiny numbers": (rows(lambda i: f"{sex(i)},{i * 7 % 31}e-300").encode(), 1),
    "large numbers": (rows(lambda i: f"{sex(i)},{i * 7 % 31}.5e20").encode(), 1),
    "one far away": (rows(many).encode() + b"m,100000\n", 1),
    "a column like the private one": (rows(lambda i: f"{sex(i)},{sex(i)}").encode(), 1),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_tables_are_released(name, folder):
    content, columns = ODD[name]
    (folder / "table.csv").write_bytes(content)
    assert main(RELEASE) == 0
    released = pd.read_csv("released.csv")
    assert released.shape[0] in (40, 41) and released.shape[1] == columns and released.notna().all().all()


def test_types_of_parquet(folder, capsys):
    table = people()
    nullable = pd.array(np.arange(N) % 9, dtype="Int64")
    nullable[::7] = pd.NA
    right = {
        "category": pd.Categorical(table["city"]),
        "nullable": nullable,
        "boolean": pd.array(np.arange(N) % 3 == 0, dtype="boolean"),
        "decimal": [Decimal(i * 7 % 31) / 4 for i in range(N)],
        "half": (np.arange(N) % 11).astype("float16"),
        "large": 2**62 + np.arange(N) % 9 * 1000,
    }
    table.assign(**right).to_parquet("table.parquet")
    words = ["release", "table.parquet", *RELEASE[2:-1]]
    for out, read in (("r.parquet", pd.read_parquet), ("r.csv", pd.read_csv)):
        assert main([*words, out, "--method", "gaussian"]) == 0  # which is quick
        released = read(out)
        assert list(released.columns) == ["height", "city", *right] and len(released) == N
        assert (released["nullable"].isna().mean() > 0) and set(released["category"]) <= {"a", "b"}
    wrong = {
        "lists": ([[1]] * N, "numbers or text"),
        "bytes": ([b"a", b"b"] * (N // 2), "numbers or text"),
        "days": ([datetime.date(2020, 1, 1)] * N, "dates"),
        "times": ([datetime.time(12)] * N, "dates"),
        "nothing": ([None] * N, "missing"),
    }
    for column, match in wrong.values():
        table.assign(column=column).to_parquet("table.parquet")
        refused(capsys, [*words, "o.csv"], match)
    for empty in (table[:0], table[:1], table[[]]):
        empty.to_parquet("table.parquet")
        refused(capsys, [*words, "o.csv"], "no records|at least 10|no column")


def test_an_index_of_pandas_is_a_column_or_nothing(folder):
    table = people().sample(frac=1, random_state=0)
    words = ["release", "table.parquet", "--private", "sex", "--budget", "0.3", "--method", "gaussian", "--force"]
    for frame in (table, table.set_index("sex"), table.set_index("city"), table.set_index(["sex", "city"])):
        frame.to_parquet("table.parquet")
        assert main([*words, "--out", "r.parquet"]) == 0
        released = pd.read_parquet("r.parquet")
        assert set(released) == {"height", "city"} and len(released) == N
        assert released.index.equals(pd.RangeIndex(N))


def test_paths_of_all_kinds(folder, capsys):
    os.symlink("elsewhere.csv", "dangling.csv")
    os.symlink("table.csv", "linked.csv")
    os.mkfifo("pipe.csv")
    os.mkdir("folder.csv")
    for out, match in (
        ("dangling.csv", "is no file"),
        ("linked.csv", "different files"),
        ("pipe.csv", "is no file"),
        ("folder.csv", "is no file"),
        ("o" * 300 + ".csv", "too long"),
        ("o\0.csv", "null"),
        ("", "no file"),
    ):
        refused(capsys, [*RELEASE[:-1], out, "--force"], match)
    for table in ("pipe.csv", "folder.csv", "dangling.csv"):
        refused(capsys, ["release", table, *RELEASE[2:]], "no file")
    for mechanism in (".", "pipe.csv", "none.npz"):
        refused(capsys, ["release", "table.csv", "--mechanism", mechanism, "--out", "o.csv"], "path must be|No such")
    assert main(["release", "linked.csv", *RELEASE[2:]]) == 0
    assert (folder / "table.csv").read_text() == people().to_csv(index=False)


def test_a_folder_that_takes_no_file_is_named_as_it_was_asked_for(folder, capsys):
    if not os.path.isdir("/proc/self"):
        pytest.skip("there is no folder here that takes no file, not even from root")
    refused(capsys, [*RELEASE[:-1], "/proc/released.csv"], "^error: /proc/released.csv: ")
    refused(capsys, [*RELEASE, "--report", "/proc/report.html"], "^error: /proc/report.html: ")
    assert main([*RELEASE, "--save", "/proc/m.npz"]) == 2
    assert capsys.readouterr().err.startswith("error: /proc/m.npz: ")


@pytest.mark.parametrize("budget", ["nan", "inf", "-inf", "-1", "1e51"])
def test_budgets_that_are_none(folder, capsys, budget):
    refused(capsys, [*RELEASE[:4], f"--budget={budget}", *RELEASE[6:]], "budget must be")


def test_nobody_reads_what_is_said(folder):
    """Readers of messages and of results have gone: the release is made."""
    people().assign(height=[1e9, *people()["height"][1:]]).to_csv("table.csv", index=False)  # which is warned about
    read, write = os.pipe()
    os.close(read)
    assert command(*RELEASE, stdout=write, stderr=write).wait() == 0
    os.close(write)
    assert len(pd.read_csv("released.csv")) == N


def test_malformed_parquet(folder, capsys):
    (folder / "table.parquet").write_bytes(b"PAR1" + b"\0" * 50)
    refused(capsys, ["release", "table.parquet", *RELEASE[2:]], "cannot be read")
    refused(capsys, ["release", "none.csv", *RELEASE[2:]], "no file")
    (folder / "table.txt").write_text("sex")
    refused(capsys, ["release", "table.txt", *RELEASE[2:]], "must end in")


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["release", "table.csv", "--out", "o.csv"], "--private and --budget"),
        ([*RELEASE, "--public", "height,sex"], "private column"),
        ([*RELEASE, "--public", "height,height"], "each column once"),
        ([*RELEASE, "--public", "tall"], "no column 'tall'"),
        ([*RELEASE, "--seed", "-1"], "--seed"),
        ([*RELEASE, "--method", "affine"], "one public column"),
        ([*RELEASE, "--mechanism", "m.npz"], "brings its own"),
        (
            ["release", "table.csv", "--mechanism", "m.npz", "--report", "r.html", "--out", "o.csv"],
            "describes a new mechanism",
        ),
        (["release", "table.csv", "--mechanism", "table.csv", "--out", "o.csv"], "different files"),
        (["release", "table.csv", "--mechanism", "other.csv", "--out", "o.csv"], "format"),
        (["audit", "table.csv", "table.csv", "--private", "sex"], "holds the private column"),
        (["audit", "table.csv", "other.csv", "--private", "sex"], "same records"),
        (["audit", "table.csv", "other.csv", "--private", "age"], "no column 'age'"),
        (["audit", "other.csv", "table.csv", "--private", "height"], "holds the private column"),
    ],
)
def test_words_that_do_not_fit(folder, capsys, words, match):
    people(20)[["height"]].to_csv("other.csv", index=False)
    refused(capsys, words, match)


def test_no_message_shows_a_record(folder, capsys, monkeypatch):
    monkeypatch.setattr(tables, "_BLOCK", 2000)
    for text in (
        rows(many) + "m,Ms Secret\n",
        rows(many) + "m,Ms Secret,1\n",
        rows(many, n=4000) + "m,Ms Secret\n",
        rows(many) + "m,7e77\n",
    ):
        (folder / "table.csv").write_text(text)
        assert main(RELEASE) == 2
        said = capsys.readouterr()
        assert "Secret" not in said.err + said.out and "7e+77" not in said.err + said.out


# Whole or not at all


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(RuntimeError), whole_file(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileExistsError), whole_file(path) as file:
        file.write(b"half")
        path.write_text("somebody else's")
    assert path.read_text() == "somebody else's"
    with whole_file(path, force=True) as file:
        file.write(b"whole")
    assert path.read_text() == "whole" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError):
        check_free(tmp_path, force=True)


def command(*words, **options):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-m", "gaplib", *words], env=environment, **options)


# Imports once, and releases in a child for each line that it reads; says when the child begins and how it ended.
RELEASER = """
import os, sys
from gaplib.__main__ import main
from gaplib.tabular import command
for _ in sys.stdin:
    child = os.fork()
    if not child:
        code = main(sys.argv[1:])
        os._exit(code)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


def test_killed_at_random_moments_nothing_is_half_written(folder):
    table = people(100_000)[["sex", "height"]]
    table.to_csv("table.csv", index=False)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    words = [sys.executable, "-c", RELEASER, *RELEASE, "--save", "m.npz"]
    moments, took, killed = random.Random(0), None, 0
    with subprocess.Popen(words, **pipes) as releaser:

        def line():
            return next(text for text in releaser.stdout if text.strip().lstrip("-").isdigit())

        for number in range(21):
            print(file=releaser.stdin, flush=True)
            child, start = int(line()), time.monotonic()
            if took is not None:
                time.sleep(took * 1.1 * moments.random())
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL if number % 2 else signal.SIGTERM)
            killed += os.WIFSIGNALED(int(line()))
            took = time.monotonic() - start if took is None else took
            found = set(os.listdir()) - {"table.csv"}
            assert found <= {"released.csv", "m.npz"}
            if number == 0:
                assert found == {"released.csv", "m.npz"}
            if "released.csv" in found:
                assert len(pd.read_csv("released.csv")) == len(table)
            if "m.npz" in found:
                assert load("m.npz").n_records_ == len(table)
            for name in found:
                os.unlink(name)
        releaser.stdin.close()
    assert killed > 10


# Speed and memory


def test_a_long_table_passes_fast_and_in_constant_memory(folder):
    mechanism = ["release", "table.csv", "--mechanism", "m.npz", "--force", "--out", "released.csv"]
    assert main([*RELEASE[:-1], "first.csv", "--public", "height", "--save", "m.npz"]) == 0
    spent, memory, sizes = [], [], (100_000, 1_500_000)
    block = people(50_000)[["sex", "height"]].to_csv(index=False)
    for n in sizes:
        body = block.partition("\n")[2]
        (folder / "table.csv").write_text("sex,height\n" + body * (n // 50_000))
        process = command(*mechanism, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        spent.append(usage.ru_utime + usage.ru_stime)
        memory.append(usage.ru_maxrss / 1024)
    # Processor seconds, because elapsed time includes what else the machine does.
    assert (sizes[1] - sizes[0]) / (spent[1] - spent[0]) > 200_000
    # What grows is Arrow's pool, up to some blocks of 4 MB; 15 times as many records held would be 50 MB and more.
    assert memory[1] < memory[0] + 40


def test_dask_releases_the_same(folder, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(tables, "_BLOCK", 2000)
    assert main([*RELEASE, "--seed", "1"]) == 0
    with LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster:
        words = [*RELEASE[:-1], "other.csv", "--seed", "1", "--scheduler", cluster.scheduler_address]
        assert main(words) == 0
    assert (folder / "other.csv").read_bytes() == (folder / "released.csv").read_bytes()


def test_codes_without_zeros_in_front_stay_text(folder, capsys, one_attacker):
    """A later table, or a release, may happen to hold only postal codes that look like numbers."""
    table = people().assign(city=lambda frame: frame["city"].map({"a": "01001", "b": "12001"}))
    table.to_csv("table.csv", index=False)
    assert main([*RELEASE, "--save", "mechanism.npz"]) == 0
    table[table["city"] == "12001"].to_csv("new.csv", index=False)
    capsys.readouterr()
    assert main(["release", "new.csv", "--mechanism", "mechanism.npz", "--out", "new_released.csv"]) == 0
    assert "unlike" not in capsys.readouterr().err
    table[["height", "city"]].assign(city="12001").to_csv("same.csv", index=False)
    assert main(["audit", "table.csv", "same.csv", "--private", "sex", "--report", "report.html"]) == 0
    with open("report.html") as report:
        assert "12001.0" not in report.read()


def test_new_numbers_that_are_text_are_refused_in_words(folder, capsys):
    assert main([*RELEASE, "--save", "mechanism.npz"]) == 0
    people().assign(height="tall").to_csv("new.csv", index=False)
    words = ["release", "new.csv", "--mechanism", "mechanism.npz", "--out", "new_released.csv"]
    refused(capsys, words, "'height' must hold numbers, as it did")


def test_the_report_of_no_budget_has_one_point(folder, one_attacker):
    assert (
        main(["release", "table.csv", "--private", "sex", "--budget", "0", "--out", "o.csv", "--report", "r.html"]) == 0
    )
    with open("r.html") as report:
        assert "others are named by their budgets" not in report.read()


def test_a_very_small_share_of_gaps_is_not_called_none(folder, capsys):
    table = people(3000)[["sex", "height"]]
    table.loc[7, "height"] = np.nan
    table.to_csv("table.csv", index=False)
    assert main([*RELEASE, "--method", "gaussian"]) == 0
    assert "less than 0.1% of the records lack a number" in capsys.readouterr().err
