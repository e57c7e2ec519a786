"""The directive `explorer`: the explorer of the Gaussian mixture on a page, the same that a notebook shows."""

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from gaplib.book import explorer


class Explorer(Directive):
    """The explorer, where the directive stands."""

    def run(self) -> list[nodes.Node]:
        """Return the explorer as HTML."""
        return [nodes.raw("", explorer.fragment(), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("explorer", Explorer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
