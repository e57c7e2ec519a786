"""Make the empty corner of a table a cell like others: a head without words tells a screen reader of nothing."""

import re
from typing import Any

from sphinx.application import Sphinx

EMPTY = re.compile(r'<th class="(head[^"]*)">(?:<p></p>)?</th>')


def fill(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    if "body" in context:
        context["body"] = EMPTY.sub(r'<td class="\1"></td>', context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
