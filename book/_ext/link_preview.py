"""What other programs read about a page: Open Graph tags, and with `html.baseurl` in `_config.yml` a map of the site.

A preview names its page and picture by absolute addresses, as a sitemap does. Without `html.baseurl` there are none:
then a page has only its title and description.
"""

import html
import posixpath
import re
import textwrap
from typing import Any
from urllib.parse import urljoin
from xml.sax.saxutils import escape

import addresses
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

PICTURE = "_images/pdd_tradeoff.png"  # of the front page, for pages that have none of their own
SITEMAP = """<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{}
</urlset>
"""


def plain(node: nodes.Element) -> str:
    """Return the text of a paragraph or a title without citations and with its small formulas in letters."""
    text = re.sub(r"\s*\[[^\[\]]*, \d{4}\]", "", node.astext()).replace(r"\hat X", "X\u0302")
    text = re.sub(r"\\([A-Za-z]+)", lambda symbol: html.unescape(f"&{symbol[1]};"), text)
    for typed, shown in (("_0", "₀"), ("_1", "₁"), ("^2", "²")):
        text = text.replace(typed, shown)
    return text


def description(doctree: nodes.document) -> str:
    """Return the beginning of the first paragraph of running text on a page, if there is one."""
    paragraphs = (node for node in doctree.findall(nodes.paragraph) if isinstance(node.parent, nodes.section))
    first = next(paragraphs, None)
    return textwrap.shorten(plain(first), 200, placeholder=" …") if first is not None else ""


def picture(doctree: nodes.document) -> tuple[str, str] | None:
    """Return the path in the site and the alternative text of the first PNG of a written page, if it has one."""
    for image in doctree.findall(nodes.image):
        if image["uri"].endswith(".png"):
            return f"_images/{posixpath.basename(image['uri'])}", image["alt"]
    return None


def add_tags(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Put the tags into the head of a page."""
    if doctree is None:  # the search page
        return
    # The icon of browsers that cannot show the SVG one.
    context["metatags"] += f'<link rel="alternate icon" href="{context["pathto"]("favicon.ico", 1)}" />\n'
    tags = {
        "og:title": app.env.titles[pagename].astext(),
        "og:description": description(doctree),
        "og:type": "website" if pagename == app.config.root_doc else "article",
        "og:site_name": app.config.html_title,
    }
    base = app.config.html_baseurl
    if base:
        path, alt = picture(doctree) or (PICTURE, "")
        tags |= {"og:url": urljoin(base, f"{pagename}.html"), "og:image": urljoin(base, path), "og:image:alt": alt}
    lines = [f'<meta property="{name}" content="{html.escape(text)}" />' for name, text in tags.items() if text]
    if tags["og:description"]:
        lines.append(f'<meta name="description" content="{html.escape(tags["og:description"])}" />')
    context["metatags"] += "\n".join(lines) + "\n"


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """Write the map of the site, and the file that leads search engines to it."""
    base = app.config.html_baseurl
    if exception is None and base and app.builder.format == "html":
        pages = (urljoin(base, f"{page}.html") for page in sorted(app.env.found_docs))
        entries = "\n".join(f"  <url><loc>{escape(page)}</loc></url>" for page in pages)
        (app.outdir / "sitemap.xml").write_text(SITEMAP.format(entries), encoding="utf-8")
        (app.outdir / "robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {urljoin(base, 'sitemap.xml')}\n")


def check_address(app: Sphinx, config: Config) -> None:
    """Refuse what is no address; end it with a slash, without which urljoin drops the last part."""
    try:
        config.html_baseurl = addresses.site(config.html_baseurl)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", check_address)
    app.connect("html-page-context", add_tags)
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
