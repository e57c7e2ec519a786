"""Let the search find theorems by number and by name, and the paper's items by their numbers.

Sphinx offers the headings of a page as results that lead to their place. It counts the name of a theorem among them, in
parentheses, but not its number, which is known only once all pages are read; and rows of a table are no headings.
"""

from docutils import nodes
from link_preview import plain


def titles_of_proofs(env):
    """Yield the page, the titles and the anchor of every theorem, proposition, lemma, definition and corollary."""
    proofs = getattr(env, "proof_list", {})
    for page in sorted({proof["docname"] for proof in proofs.values()}):
        for node in env.get_doctree(page).findall(nodes.Admonition):
            label = node.get("label")
            if label in proofs:
                number = ".".join(map(str, env.toc_fignumbers[page][node["countertype"]][label]))
                name = plain(node[0]).strip().removeprefix("(").removesuffix(")")
                yield page, [f"{node['realtype'].title()} {number}", name], label


def titles_of_the_paper(env):
    """Yield the same for the rows of the directive `paper-index`."""
    for label, (page, anchor, title) in env.get_domain("std").labels.items():
        if label.startswith("paper-"):
            yield page, [title.removesuffix(" of the paper")], anchor


def add_titles(app):
    indexer = getattr(app.builder, "indexer", None)
    if indexer is not None:
        for page, titles, anchor in [*titles_of_proofs(app.env), *titles_of_the_paper(app.env)]:
            others = [(title, id) for title, id in indexer._all_titles[page] if id != anchor]
            indexer._all_titles[page] = others + [(title, anchor) for title in titles if title]
    return []


def setup(app):
    # After every page has gone into the index and before the index is written.
    app.connect("html-collect-pages", add_titles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
