"""The directive `paper-index`: a table of the paper's numbered items, each with an address that stays.

The items are those of `book/data/numbering.csv`, the verdicts those of `book/data/verdicts.csv`. Each row can be linked
to, as `paper_index.html#paper-theorem-2` from outside and with {ref}`paper-theorem-2` from inside the book.
"""

import csv
import json
import re
from pathlib import Path
from typing import cast

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.util.docutils import SphinxDirective

from gaplib.book import paper

Row = dict[str, str]

BOOK = Path(__file__).resolve().parent.parent
# How the register of statements writes them in its column `where`.
NAMES = {
    "theorem": "Theorem",
    "proposition": "Proposition",
    "remark": "Remark after Theorem",
    "appendix": r"App\.",
    "algorithm": "Algorithm",
    "table": "Tables?",
    "figure": r"Figs?\.",
    "equation": r"Eqs?\.",
}
# The roles of labels; everything else after the # of a place in the book is a heading.
ROLES = {"thm": "prf:ref", "eq": "eq"}


def read(name: str) -> list[Row]:
    """Return the rows of a data file of the book."""
    with open(BOOK / "data" / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def name_of(item: Row) -> str:
    """Return what the paper calls an item."""
    kind = "Remark after Theorem" if item["kind"] == "remark" else item["kind"].title()
    return f"{kind} {item['number']}"


def anchor_of(item: Row) -> str:
    """Return the address of an item on the page."""
    return f"paper-{item['kind']}-{item['number'].lower()}"


def statements_of(item: Row, register: list[Row]) -> list[Row]:
    """Return the scored statements that name an item where they say what they are about."""
    return [statement for statement in register if statement["kind"] != "cited" and names(statement["where"], item)]


def names(where: str, item: Row) -> bool:
    """Tell whether a place such as "Theorem 4, Eq. 41" or "Eqs. 22-24" names an item."""
    # Behind "after" or "before" stands only what a sentence is near to, but for the remarks.
    near = "" if item["kind"] == "remark" else "(?<!after )(?<!before )"
    for first, last in re.findall(rf"{near}\b{NAMES[item['kind']]} (\w+?)[a-d,]*\b(?:-(\d+))?", where):
        numbers = map(str, range(int(first), int(last) + 1)) if last else [first]
        if item["number"] in numbers:
            return True
    return False


def headings(notebook: str) -> dict[str, str]:
    """Return the headings of a notebook by their anchors."""
    cells = json.loads((BOOK.parent / "notebooks" / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return {nodes.make_id(heading): heading for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def place(target: str) -> str:
    """Return the Markdown that leads to a place in the book, such as 03_binary_pdd#thm-pdd-value."""
    notebook, anchor = target.split("#")
    role = ROLES.get(anchor.split("-")[0])
    if role:
        link = f"{{{role}}}`{anchor}`" if role != "eq" else f"equation {{eq}}`{anchor}`"
    else:
        link = f'<a href="../notebooks/{notebook}.html#{anchor}">{headings(notebook)[anchor]}</a>'
    return f"{{doc}}`Chapter {int(notebook[:2])} </notebooks/{notebook}>`, {link}"


def errata_of(statements: list[Row]) -> list[str]:
    """Return the errata that concern some statements, each once."""
    return list(dict.fromkeys(statement["erratum"] for statement in statements if statement["erratum"]))


def verdict(statements: list[Row], told: dict[tuple[str, str], list[str]]) -> str:
    """Return the verdicts on some statements and their errata, in Markdown, with a link to the first statement.

    `told` has the errata of the items above. Where all errata of such an item recur, a link to it replaces them.
    """
    if not statements:
        return "nothing to check"
    count = {word: sum(statement["verdict"] == word for statement in statements) for word in paper.SCORED}
    text = ", ".join(f"{number} {word}" for word, number in count.items() if number)
    cell = f'<a href="../notebooks/14_scorecard.html#{statements[0]["id"]}">{text}</a>'
    errata = errata_of(statements)
    before = [item for item, names in told.items() if len(names) > 1 and set(names) <= set(errata)]
    if before:
        cell += f"; those of {{ref}}`{before[0][0]} <{before[0][1]}>`"
        errata = [name for name in errata if name not in told[before[0]]]
    return cell + "".join(f"; {{ref}}`erratum-{name}`" for name in errata)


class PaperIndex(SphinxDirective):
    """A table of the items of the kinds that are named."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        self.env.note_dependency(str(BOOK / "data" / "numbering.csv"))
        self.env.note_dependency(str(BOOK / "data" / "verdicts.csv"))
        register = read("verdicts.csv")
        items = [item for item in read("numbering.csv") if item["kind"] in self.arguments[0].split()]
        lines = ["| in the paper | what it is | in this book | verdict |", "|---|---|---|---|"]
        told: dict[tuple[str, str], list[str]] = {}
        for item in items:
            found = statements_of(item, register)
            places = "; ".join(map(place, item["book"].split()))
            cells = [
                f"**{name_of(item)}**<br>{item['section']}",
                item["what"],
                places,
                verdict(found, told),
            ]
            told[name_of(item), anchor_of(item)] = errata_of(found)
            lines.append(f"| {' | '.join(cells)} |")
        box = nodes.container()
        self.state.nested_parse(StringList(lines, source=self.env.docname), self.content_offset, box)
        (table,) = box.findall(nodes.table)
        table["classes"].append("paper-index")
        (body,) = table.findall(nodes.tbody)
        labels = cast(StandardDomain, self.env.get_domain("std"))
        for row, item in zip(body, items, strict=True):
            row["ids"].append(anchor_of(item))
            labels.note_hyperlink_target(
                anchor_of(item), self.env.docname, anchor_of(item), f"{name_of(item)} of the paper"
            )
        return box.children


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("paper-index", PaperIndex)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
