"""Let the download button work on a site that is read from a folder, too.

A browser downloads nothing from a folder: it opens the file, and shows a notebook as JSON. But it runs scripts from
there. So beside each source that the button leads to stands a script with its text, and `gap.js` makes a file of that.
"""

import json

from sphinx.application import Sphinx


def write_scripts(app: Sphinx, exception: Exception | None) -> None:
    """Write a script beside each source."""
    if exception is None and app.builder.format == "html":
        for source in sorted((app.outdir / "_sources").rglob("*.*")):
            if source.suffix in (".ipynb", ".md"):
                call = f"gapDownload({json.dumps(source.name)}, {json.dumps(source.read_text(encoding='utf-8'))});\n"
                source.with_name(source.name + ".js").write_text(call, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
