"""Let the search find theorems by number and by name, and the paper's items by their numbers.

Sphinx offers the headings of a page as results that lead to their place. It counts the name of a theorem among them, in
parentheses, but not its number, which is known only once all pages are read; and rows of a table are no headings.

A query finds titles of up to twice its length, hence the short ones. The script beside this file shows the long one.
"""

from pathlib import Path

from docutils import nodes
from link_preview import plain
from paper_index import anchor_of, read


def titles_of_proofs(env):
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


def titles_of_the_paper(env):
    """Yield the same for the rows of the directive `paper-index`."""
    what = {anchor_of(item): item["what"] for item in read("numbering.csv")}
    for label, (page, anchor, title) in env.get_domain("std").labels.items():
        if label in what:
            yield page, [title.removesuffix(" of the paper"), f"{title}: {what[label]}"], anchor


def add_titles(app):
    indexer = getattr(app.builder, "indexer", None)
    if indexer is not None:
        for page, titles, anchor in [*titles_of_proofs(app.env), *titles_of_the_paper(app.env)]:
            others = [(title, id) for title, id in indexer._all_titles[page] if id != anchor]
            indexer._all_titles[page] = others + [(title, anchor) for title in titles if title]
    return []


def add_order(app, config):
    config.html_search_scorer = str(Path(__file__).with_suffix(".js"))


def setup(app):
    app.connect("config-inited", add_order)
    # After every page has gone into the index and before the index is written.
    app.connect("html-collect-pages", add_titles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
