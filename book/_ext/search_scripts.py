"""Let the search find words in other spellings, and show readable excerpts, where Sphinx shows code and TeX."""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

SCRIPTS = ("search_words.js", "search_excerpts.js")


def add_scripts(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    """Put the scripts on the search page."""
    if pagename == "search":
        for script in SCRIPTS:
            app.add_js_file(script, loading_method="defer")  # after Sphinx's own script


def add_files(app: Sphinx, config: Config) -> None:
    """Let the scripts, which stand beside this file, be copied into the site."""
    config.html_static_path = [*config.html_static_path, *(str(Path(__file__).with_name(name)) for name in SCRIPTS)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", add_files)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
