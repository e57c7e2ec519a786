"""Keep every id of a page unique.

sphinx-proof and sphinx-exercise call the content of every block `proof-content`, `exercise-content` or
`solution-content`, and every proof without a label `proof`. Nothing leads there, so these ids are dropped.
"""

from docutils import nodes
from sphinx.application import Sphinx

FIXED = {"proof", "proof-content", "exercise-content", "solution-content"}


def drop_fixed_ids(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Drop the ids that a page would have more than once."""
    for node in doctree.findall(nodes.Element):
        node["ids"] = [id for id in node["ids"] if id not in FIXED]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", drop_fixed_ids)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
