"""The page that maps the paper's numbering to the book's: nothing missing, each address in its place."""

import csv
import re
from collections import Counter

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from project import ROOT

from gaplib.book import paper

# The source of the paper is not ours to pass on. Where it lies beside the project, the list is held against it.
SOURCE = ROOT.parent / "shared" / "paper" / "context_aware_gap.tex"

with open(ROOT / "book" / "data" / "numbering.csv", encoding="utf-8", newline="") as file:
    ITEMS = list(csv.DictReader(file))


def numbered_in(tex):
    """Every numbered item of a LaTeX text, counted as LaTeX does: a set of kind, number, section."""
    tex = re.sub(r"(?<!\\)%.*", "", tex)
    found, count, section, appendix = set(), Counter(), [0, 0, 0], False
    pattern = r"""\\(?P<appendix>appendix\b) | \\(?P<sub>(?:sub){0,2})section\{ |
        \\begin\{(?P<float>Theorem|Proposition|figure|table|algorithm)\} |
        \\begin\{(?P<display>equation|align|multline)\}(?P<rows>.*?)\\end\{(?P=display)\} |
        (?P<remark>\\textit\{Remark:\})"""
    for match in re.finditer(pattern, tex, re.VERBOSE | re.DOTALL):
        name = "App. " + chr(64 + section[0]) if appendix else "Sec. " + ".".join(str(n) for n in section if n)
        if match["appendix"]:
            section, appendix = [0, 0, 0], True
        elif match["sub"] is not None:
            level = match["sub"].count("sub")
            section = [*section[:level], section[level] + 1, 0, 0][:3]
            if appendix:
                found.add(("appendix", chr(64 + section[0]), "App. " + chr(64 + section[0])))
        elif match["float"]:
            kind = match["float"].lower()
            count[kind] += 1
            found.add((kind, str(count[kind]), name))
        elif match["remark"]:  # not numbered: named by the theorem that it follows
            found.add(("remark", str(count["theorem"]), name))
        else:
            rows = re.sub(r"\\begin\{array\}.*?\\end\{array\}", "array", match["rows"], flags=re.DOTALL)
            for row in rows.split(r"\\") if match["display"] == "align" else [rows.replace(r"\nonumber", "")]:
                if row.strip() and r"\nonumber" not in row:
                    count["equation"] += 1
                    found.add(("equation", str(count["equation"]), name))
    return found


def test_the_count_is_that_of_latex():
    tex = r"""
    \section{One} \begin{align} a \\ b \nonumber \\ c \end{align} % \begin{equation} no \end{equation}
    \subsection{Two} \begin{Theorem} \begin{equation} \begin{array}{l} x \\ y \end{array} \end{equation} \end{Theorem}
    \textit{Remark:} \subsubsection{Three} \begin{multline} a \\ b \end{multline} \subsection{Four} \begin{figure}
    \appendix \section{Proof} \begin{align} z \end{align}"""
    assert numbered_in(tex) == {
        ("equation", "1", "Sec. 1"),
        ("equation", "2", "Sec. 1"),
        ("theorem", "1", "Sec. 1.1"),
        ("equation", "3", "Sec. 1.1"),
        ("remark", "1", "Sec. 1.1"),
        ("equation", "4", "Sec. 1.1.1"),
        ("figure", "1", "Sec. 1.2"),
        ("appendix", "A", "App. A"),
        ("equation", "5", "App. A"),
    }


@pytest.mark.skipif(not SOURCE.exists(), reason="the LaTeX source of the paper is not beside the project")
def test_the_list_is_that_of_the_paper():
    listed = [(item["kind"], item["number"], item["section"]) for item in ITEMS]
    assert len(set(listed)) == len(listed)
    assert set(listed) == numbered_in(SOURCE.read_text(encoding="utf-8"))


def test_the_list_has_no_gap_and_what_the_register_names():
    numbers = {
        kind: [item["number"] for item in ITEMS if item["kind"] == kind] for kind in Counter(i["kind"] for i in ITEMS)
    }
    for kind in numbers.keys() - {"remark", "appendix"}:
        assert numbers[kind] == [str(n) for n in range(1, len(numbers[kind]) + 1)], kind
    words = {"Fig": "figure", "Eq": "equation", "App": "appendix", "Remark after Theorem": "remark"}
    for where in paper.register()["where"]:
        for word, number in re.findall(r"(Remark after Theorem|[A-Z][a-z]+?)s?\.? (\d+|[ABC])\b", where):
            if word not in ("Sec", "Subproblem"):
                assert number in numbers[words.get(word, word.lower())], where


@pytest.mark.slow
def test_every_item_has_its_row_and_its_address(site):
    page = BeautifulSoup((site / "book" / "paper_index.html").read_text(), "html.parser")
    rows = {row["id"]: row for row in page.select("tr[id]")}
    assert len(page.select("table.paper-index tbody tr")) == len(rows) == len(ITEMS)
    register = pd.read_csv(ROOT / "book" / "data" / "verdicts.csv", dtype=str, keep_default_na=False)
    for item in ITEMS:
        row = rows[f"paper-{item['kind']}-{item['number'].lower()}"]
        places = {link["href"] for link in row.select("td:nth-of-type(3) a")}
        for target in item["book"].split():
            notebook, anchor = target.split("#")
            anchor = f"equation-{anchor}" if anchor.startswith("eq-") else anchor
            assert f"../notebooks/{notebook}.html#{anchor}" in places
    # Two rows counted here by hand from the register, in another way than the page does.
    scored = register[register["kind"] != "cited"]
    for row, mask in {
        "paper-proposition-1": scored["where"].str.startswith("Proposition 1"),
        "paper-table-3": scored["where"].str.contains("Table 3, D|Tables 2-5"),
        "paper-equation-26": scored["where"].str.contains("Eqs. 25-28"),
    }.items():
        count = scored[mask]["verdict"].value_counts()
        text = ", ".join(f"{count[word]} {word}" for word in paper.SCORED if word in count)
        cell = rows[row].select_one("td:nth-of-type(4)")
        assert cell.get_text().startswith(text), row
        links = [link["href"] for link in cell.select("a")]
        for link in [link for link in links if link.startswith("#paper-")]:  # "those of Table 2"
            links += [other["href"] for other in rows[link[1:]].select("td:nth-of-type(4) a")]
        found = [link.split("#erratum-")[1] for link in links if "#erratum-" in link]
        assert sorted(found) == sorted(set(scored[mask]["erratum"]) - {""}), row
