"""The directive `explorer`: an explorer on a page, the same that a notebook shows."""

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from gaplib.book import explorer


class Explorer(Directive):
    """The explorer of this name (`gaplib.book.explorer.fragment`), where the directive stands."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the explorer as HTML."""
        return [nodes.raw("", explorer.fragment(self.arguments[0]), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("explorer", Explorer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
