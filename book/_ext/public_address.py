"""One setting, `repository.url` in `_config.yml`, decides about every link to the public repository.

Jupyter Book alone cannot do this: its repository buttons refuse an empty address, its launch buttons crash on one, and
of other forms of an address it makes links that lead nowhere.
"""

import addresses
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError


def switch_buttons(app: Sphinx, config: Config) -> None:
    options = config.html_theme_options
    try:
        address = addresses.repository(options.get("repository_url"))
    except ValueError as error:
        raise ConfigError(str(error)) from error
    options["repository_url"] = address
    if not address:
        options.pop("launch_buttons", None)
        return
    options |= dict.fromkeys(("use_repository_button", "use_source_button", "use_issues_button"), True)
    if not address.startswith("https://github.com/"):  # the only host that Colab opens notebooks from
        options["launch_buttons"] = {**options["launch_buttons"], "colab_url": ""}


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", switch_buttons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
