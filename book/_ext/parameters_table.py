"""The directive `parameters-table`: the parameters of all chapters, as their parameters cells declare them."""

import math
from pathlib import Path

import nbformat
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from gaplib.book import parameters

NOTEBOOKS = Path(__file__).resolve().parent.parent.parent / "notebooks"


def allowed(parameter: parameters.Parameter) -> str:
    """Return the Markdown that says which values are allowed."""
    if parameter.type == "bool":
        return "`True` or `False`"
    if parameter.type == "str":
        return " or ".join(f"`{word}`" for word in parameter.allowed) or "a text"
    kind = "an integer" if parameter.type == "int" else "a number"
    if not parameter.allowed:
        return kind
    low, high = (f"{end:,.7g}" if isinstance(end, float) else f"{end:,}" for end in parameter.allowed)
    return f"{kind} from {low}" + (f" to {high}" if parameter.allowed[1] < math.inf else "")


def by_meaning(paths: list[Path]) -> dict[tuple[str, str], dict[str, parameters.Parameter]]:
    """Return the chapters that declare a parameter, by its name and meaning; what has the same name stands together."""
    found: dict[str, dict[str, dict[str, parameters.Parameter]]] = {}
    for path in paths:
        for name, parameter in parameters.declared(nbformat.read(path, as_version=4)).items():
            found.setdefault(name, {}).setdefault(parameter.meaning, {})[path.stem] = parameter
    return {(name, meaning): chapters for name, meanings in found.items() for meaning, chapters in meanings.items()}


def told_apart(texts: dict[str, str]) -> str:
    """Return the text of all chapters, or each with its chapters if they differ."""
    chapters: dict[str, list[str]] = {}
    for chapter, text in texts.items():
        chapters.setdefault(text, []).append(str(int(chapter[:2])))
    if len(chapters) == 1:
        return next(iter(chapters))
    return "<br>".join(f"{text} (chapter {', '.join(numbers)})" for text, numbers in chapters.items())


class ParametersTable(SphinxDirective):
    """One row for each parameter: its meaning, default, what is allowed, and the chapters that have it."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        paths = sorted(NOTEBOOKS.glob("*.ipynb"))
        for path in paths:
            self.env.note_dependency(str(path))
        lines = [":::{table}", ":class: stacked", ""]  # one cell below the other on a phone
        lines += ["| name | meaning | default | allowed | chapters |", "|---|---|---|---|---|"]
        for (name, meaning), chapters in by_meaning(paths).items():
            defaults = told_apart({chapter: f"`{parameter.default!r}`" for chapter, parameter in chapters.items()})
            limits = told_apart({chapter: allowed(parameter) for chapter, parameter in chapters.items()})
            links = ", ".join(f"{{doc}}`{int(chapter[:2])} </notebooks/{chapter}>`" for chapter in chapters)
            lines.append(f"| `{name}` | {meaning} | {defaults} | {limits} | {links} |")
        lines.append(":::")
        box = nodes.container()
        self.state.nested_parse(StringList(lines, source=self.env.docname), self.content_offset, box)
        return box.children


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("parameters-table", ParametersTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
