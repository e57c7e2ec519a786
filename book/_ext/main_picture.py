"""Show a chapter's main picture at its beginning, where the picture itself stands far below, after what computes it.

The role {main-picture}`fig-name` reads like {numref}. After its paragraph the site shows a copy that links to the
figure.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.roles import XRefRole


class place(nodes.Invisible, nodes.Inline, nodes.Element):
    """Where the picture is asked for."""


class MainPicture(XRefRole):
    """A reference by number, and the picture."""

    def result_nodes(
        self, document: nodes.document, env: BuildEnvironment, node: nodes.Element, is_ref: bool
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the reference, and where the picture is asked for."""
        node["refdomain"], node["reftype"] = "std", "numref"
        return [node, place(target=node["reftarget"])], []


def show(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for here in list(doctree.findall(place)):
        name, paragraph = here["target"], here.parent
        here.parent.remove(here)
        figures = [figure for figure in doctree.findall(nodes.figure) if name in figure["ids"]]
        pictures = [image for figure in figures for image in figure.findall(nodes.image)]
        if len(pictures) != 1:
            raise ExtensionError(f"{docname} asks for the main picture {name}, which is no figure with one picture")
        link = nodes.reference("", "", pictures[0].deepcopy(), internal=True, refid=name)
        shown = nodes.container("", link, classes=["main-picture"])
        paragraph.parent.insert(paragraph.parent.index(paragraph) + 1, shown)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(place)
    app.add_role("main-picture", MainPicture(lowercase=True))
    app.connect("doctree-resolved", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
