"""One setting, `repository.url` in `_config.yml`, decides about every link to the public repository.

Jupyter Book alone cannot do this: its repository buttons refuse an empty address, and its launch buttons crash on one.
"""

from sphinx.application import Sphinx
from sphinx.config import Config


def switch_buttons(app: Sphinx, config: Config) -> None:
    options = config.html_theme_options
    if options.get("repository_url"):
        options |= dict.fromkeys(("use_repository_button", "use_source_button", "use_issues_button"), True)
    else:
        options.pop("launch_buttons", None)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", switch_buttons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
