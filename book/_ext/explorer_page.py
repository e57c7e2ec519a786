"""The directive `explorer`: the explorer of the Gaussian mixture on a page, the same that a notebook shows."""

from docutils import nodes
from docutils.parsers.rst import Directive

from gaplib.book import explorer


class Explorer(Directive):
    def run(self):
        return [nodes.raw("", explorer.fragment(), format="html")]


def setup(app):
    app.add_directive("explorer", Explorer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
