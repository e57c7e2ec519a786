"""Let a browser load pictures when they come near, at the size that they will have, so that no text jumps.

The first picture of a page is seen at once, and is loaded at once.
"""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.images import get_image_size

IMAGE = re.compile(r'<img\b(?![^>]*\bloading=)[^>]*?\bsrc="(?:\.\./)*_images/([^"?]+)"[^>]*?(/?)>')
SIZED = re.compile(r'\s(?:width|height)="')


def make_lazy(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    if "body" not in context:
        return
    sources = {name: source for source, (_, name) in app.env.images.items()}
    number = 0

    def with_loading(match: re.Match[str]) -> str:
        nonlocal number
        number += 1
        tag = match[0].removesuffix(">").removesuffix("/").rstrip()
        if number > 1:
            tag += ' loading="lazy" decoding="async"'
        size = get_image_size(str(Path(app.srcdir, sources[match[1]]))) if match[1] in sources else None
        if size and not SIZED.search(tag):
            tag += f' width="{size[0]}" height="{size[1]}"'
        return f"{tag} {match[2]}>"

    context["body"] = IMAGE.sub(with_loading, context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", make_lazy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
