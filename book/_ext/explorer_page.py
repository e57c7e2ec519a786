"""The directives `explorer`, an explorer on a page, the same that a notebook shows, and `training-player`."""

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from gaplib.book import explorer


class Explorer(Directive):
    """The explorer of this name (`gaplib.book.explorer.fragment`), where the directive stands."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the explorer as HTML."""
        return [nodes.raw("", explorer.fragment(self.arguments[0]), format="html")]


class TrainingPlayer(SphinxDirective):
    """The player of the recordings in `book/data/recordings` that have these names."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the player as HTML."""
        recordings = {}
        for name in self.arguments[0].split():
            file = Path(self.env.srcdir, "book", "data", "recordings", f"{name}.json")
            self.env.note_dependency(str(file))
            recordings[name] = file.read_text(encoding="utf-8")
        return [nodes.raw("", explorer.player(recordings), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("explorer", Explorer)
    app.add_directive("training-player", TrainingPlayer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
