"""Keep Thebe off the pages: Jupyter Book loads it, for live code that we do not offer, from a foreign host."""

from typing import Any

from sphinx.application import Sphinx


def drop_scripts(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    context["script_files"] = [
        script
        for script in context["script_files"]
        if "thebe" not in f"{script.filename} {script.attributes.get('body')}".lower()
    ]


def setup(app: Sphinx) -> dict[str, bool]:
    # Late: after Sphinx and the theme have added theirs.
    app.connect("html-page-context", drop_scripts, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
