"""Keep off the pages what they do not use: more than half of the bytes that a first visit would load.

* Thebe, for live code that we do not offer, from a foreign host.
* Font Awesome's program. The theme's style sheet draws the same icons from a font.
* The search index and its tools, except on the search page: the theme would search while a reader types, if asked to.
"""

import re
from typing import Any

from markupsafe import Markup
from sphinx.application import Sphinx


def without_scripts(html: str, *names: str) -> Markup:
    """Return HTML without the scripts of these file names. Called by book/_templates/layout.html."""
    files = "|".join(map(re.escape, names))
    return Markup(re.sub(rf'<script[^>]*/(?:{files})[?"][^>]*></script>\s*', "", html))


def drop_scripts(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    context["without_scripts"] = without_scripts
    context["script_files"] = [
        script
        for script in context["script_files"]
        if "thebe" not in f"{script.filename} {script.attributes.get('body')}".lower()
    ]


def setup(app: Sphinx) -> dict[str, bool]:
    # Late: after Sphinx and the theme have added theirs.
    app.connect("html-page-context", drop_scripts, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
