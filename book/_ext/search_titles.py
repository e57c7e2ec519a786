"""Let the search find theorems by number and by name, and the paper's items by their numbers.

Sphinx's search finds headings. To it the name of a theorem is one, in parentheses; its number, which is known only once
all pages are read, is not, nor is the row of a table.

A query finds titles of up to twice its length, hence the short titles. The script beside this file shows the long one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from docutils import nodes
from link_preview import plain
from paper_index import anchor_of, read
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.domains.std import StandardDomain
from sphinx.environment import BuildEnvironment


def titles_of_proofs(env: BuildEnvironment) -> Iterator[tuple[str, list[str], str]]:
    """Yield the page, the titles and the anchor of every theorem, proposition, lemma, definition and corollary."""
    proofs = getattr(env, "proof_list", {})
    for page in sorted({proof["docname"] for proof in proofs.values()}):
        for node in env.get_doctree(page).findall(nodes.Admonition):
            label = node.get("label")
            if label in proofs:
                number = ".".join(map(str, env.toc_fignumbers[page][node["countertype"]][label]))
                name = plain(node[0]).strip().removeprefix("(").removesuffix(")")
                short = f"{node['realtype'].title()} {number}"
                yield page, [short, name, f"{short} ({name})" if name else ""], label


def titles_of_the_paper(env: BuildEnvironment) -> Iterator[tuple[str, list[str], str]]:
    """Yield the same for the rows of the directive `paper-index`."""
    what = {anchor_of(item): item["what"] for item in read("numbering.csv")}
    for label, (page, anchor, title) in cast(StandardDomain, env.get_domain("std")).labels.items():
        if label in what:
            yield page, [title.removesuffix(" of the paper"), f"{title}: {what[label]}"], anchor


def add_titles(app: Sphinx) -> list[Any]:
    """Put the titles into the index; add no page."""
    indexer = getattr(app.builder, "indexer", None)
    if indexer is not None:
        for page, titles, anchor in [*titles_of_proofs(app.env), *titles_of_the_paper(app.env)]:
            others = [(title, id) for title, id in indexer._all_titles[page] if id != anchor]
            indexer._all_titles[page] = others + [(title, anchor) for title in titles if title]
    return []


def add_order(app: Sphinx, config: Config) -> None:
    """Let the script beside this file order the results."""
    config.html_search_scorer = str(Path(__file__).with_suffix(".js"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", add_order)
    # After every page has gone into the index and before the index is written.
    app.connect("html-collect-pages", add_titles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
