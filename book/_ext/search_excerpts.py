"""Let the search show readable excerpts, words and formulas, where Sphinx shows code and TeX. A script does it."""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

SCRIPT = "search_excerpts.js"


def add_script(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    """Put the script on the search page."""
    if pagename == "search":
        app.add_js_file(SCRIPT, loading_method="defer")  # after Sphinx's own script


def add_folder(app: Sphinx, config: Config) -> None:
    """Let the script, which stands beside this file, be copied into the site."""
    config.html_static_path = [*config.html_static_path, str(Path(__file__).with_name(SCRIPT))]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", add_folder)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
