"""Print the built site as one PDF, by a browser: a cover, the contents, and every chapter in reading order.

python tools/build_pdf.py    reads _build/html, which `make site` builds, and writes _build/gap.pdf

All pages of the site become one document, so the browser numbers the pages and makes the links, embeds each font once,
and sets every formula as on the site. What a page of the site folds is not printed: code is left out, and of an answer,
a solution or a long table one line remains. A chapter begins where the last one ends. The type is that which Matplotlib
brings along, so that the pages are the same on every machine. The PDF is not tagged: tags for every letter of every
formula would make it several times as large. For a screen reader the site is the better choice.
"""

import argparse
import gc
import io
import logging
import os
import shutil
import sys
import tempfile
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import matplotlib
import outputs
import yaml
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser, BrowserContext, Playwright, Route, sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.errors import PyPdfError
from pypdf.generic import Destination, Fit, IndirectObject

import gaplib

ROOT = Path(__file__).resolve().parent.parent
STYLE = Path(__file__).with_name("pdf.css")
WIDTH = 665  # pixels: what pdf.css leaves of the paper for text
SHORT = 220  # pixels, a fifth of a page: a box up to this height is not divided
FIGURE = 0.52  # of its pixels is the width of a figure: its type, 11 pt at 110 pixels an inch, is printed in 6.6 pt
BESIDE = 445  # pixels: beside a figure up to this width its caption has room
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MARK = "gaplib, tools/build_pdf.py"  # in the metadata: whose file it is
# MathJax's copies of formulas for screen readers do not survive printing. It measures the type around a formula.
PRINTING = """<script>
MathJax.options.enableAssistiveMml = false;
MathJax.options.enableMenu = false;
MathJax.startup = {
  pageReady: () => Promise.all([...document.fonts].map((f) => f.load())).then(() => MathJax.startup.defaultPageReady()),
};
</script>"""
# The families that pdf.css names: Times and a type for code, in files of Matplotlib.
FONTS = {
    ("Book", "normal", "normal"): "STIXGeneral",
    ("Book", "bold", "normal"): "STIXGeneralBol",
    ("Book", "normal", "italic"): "STIXGeneralItalic",
    ("Book", "bold", "italic"): "STIXGeneralBolIta",
    ("Book code", "normal", "normal"): "DejaVuSansMono",
    ("Book code", "bold", "normal"): "DejaVuSansMono-Bold",
    ("Book code", "normal", "italic"): "DejaVuSansMono-Oblique",
    ("Book code", "bold", "italic"): "DejaVuSansMono-BoldOblique",
}

# Runs in the page: sizes figures, shrinks what is wider than the text, and keeps short boxes on one page.
FIT = """
({ short, figure, beside }) => {
  const width = (e) => e.getBoundingClientRect().width;
  for (const img of document.querySelectorAll("main img:not([src$=svg])")) {
    img.style.width = `${img.naturalWidth * figure}px`;
    if (img.naturalWidth * figure < beside) img.closest("figure")?.classList.add("beside");
  }
  const wide = [...document.querySelectorAll("main mjx-container, main table, main img")].map((e) => {
    const inner = e.tagName === "MJX-CONTAINER" ? width(e.querySelector("mjx-math")) : width(e);
    return [e, width(e.closest("section, div, dd, li, td, p")) / inner];
  });
  for (const [e, share] of wide) if (share < 0.999) e.style.zoom = share;
  for (const box of document.querySelectorAll("main .admonition, main table")) {
    const { height } = box.getBoundingClientRect();
    if (height < short) box.style.setProperty("break-inside", "avoid", "important");
  }
  return document.documentElement.scrollWidth;
}
"""


def find_browser() -> str | None:
    """Return the path of a browser that can print, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def launch(playwright: Playwright, executable: str) -> Browser:
    """Start a browser, without a window. To it there are no hosts but this machine, by its number."""
    arguments = ["--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")  # for root Chromium starts with no other
    return playwright.chromium.launch(executable_path=executable, args=arguments)


def keep_to(context: BrowserContext, *begins: str) -> list[str]:
    """Block every request of a browser's pages but to addresses that begin so; return the list of those it blocks."""
    blocked: list[str] = []

    def guard(route: Route) -> None:
        if route.request.url.startswith((*begins, "data:", "blob:")):
            route.continue_()
        else:
            blocked.append(route.request.url)
            route.abort()

    context.route("**/*", guard)
    return blocked


def parts(source: Path) -> list[tuple[str, list[str]]]:
    """Return the parts of the book, each a caption and the pages in reading order; the front page has no caption."""
    toc = yaml.safe_load((source / "_toc.yml").read_text())
    return [
        ("", [toc["root"]]),
        *((part["caption"], [chapter["file"] for chapter in part["chapters"]]) for part in toc["parts"]),
    ]


def slug(page: str) -> str:
    """Return the name of a page inside the document."""
    return page.replace("/", "-").replace("_", "-")


def only(parent: Tag, selector: str) -> Tag:
    """Return the first element that a selector finds.

    Raises `ValueError` if there is none.
    """
    tag = parent.select_one(selector)
    if tag is None:
        raise ValueError(f"there must be an element {selector!r} in the page, got {str(parent)[:60]!r}")
    return tag


def chapter(site: Path, page: str, pages: list[str]) -> Tag:
    """Return the text of a page of the site as one chapter of the document."""
    file = site / f"{page}.html"
    content = only(BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser"), "article.bd-article > section")
    for tag in content.select("a.headerlink, script, button, details.above-input, details.below-input, noscript"):
        if "gapExplorer" not in tag.text:  # its script draws the explorer, as it opens
            tag.decompose()
    for tag in content.select("div.cell"):  # what folded all of a cell leaves a box, whose margins can fill a page
        if not tag.find(["div", "details", "img"]):
            tag.decompose()
    for tag in content.select("details, .dropdown"):
        fold(tag)
    for tag in content.find_all(id=True):  # most pages have a summary, and most an id1
        tag["id"] = f"{slug(page)}--{tag['id']}"
    for tag in content.find_all("img"):
        for name in ("loading", "decoding", "width", "height"):  # all are loaded before anything is measured
            del tag[name]
        tag["src"] = (file.parent / unquote(str(tag["src"]))).resolve().as_uri()
    for tag in content.find_all("a", href=True):
        target = inside(file, str(tag["href"]), site, pages)
        if target is None:  # a file beside the pages
            tag.unwrap()
        else:
            tag["href"] = target
    content["id"] = slug(page)
    content["class"] = " ".join(["chapter", *content.get_attribute_list("class")])
    return content


def fold(tag: Tag) -> None:
    """Leave of what a page folds its heading, and say where the rest is."""
    heading = only(tag, "summary, .admonition-title").extract()
    heading.name, heading["class"] = "span", "folded"
    heading.append(", on the site")
    tag.clear()
    tag.name, tag["class"] = "p", "folded"
    tag.append(heading)


def inside(file: Path, link: str, site: Path, pages: list[str]) -> str | None:
    """Return where a link of a page leads inside the document; links to other hosts stay, those to files are None."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return link
    if "=" in parts.fragment:  # a setting of the explorer
        return None
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    page = target.relative_to(site).with_suffix("").as_posix()
    if target.suffix != ".html" or page not in pages:
        return None
    return f"#{slug(page)}--{unquote(parts.fragment)}" if parts.fragment else f"#{slug(page)}"


def read(source: Path, site: Path) -> dict[str, Tag]:
    """Return the chapters by page, in reading order. A link into what is folded leads to the chapter that folds it."""
    pages = [page for _, listed in parts(source) for page in listed]
    chapters = {page: chapter(site, page, pages) for page in pages}
    known = {tag["id"] for content in chapters.values() for tag in [content, *content.find_all(id=True)]}
    for content in chapters.values():
        for link in content.select("a[href^='#']"):
            if str(link["href"])[1:] not in known:
                link["href"] = str(link["href"]).split("--")[0]
    return chapters


def document(source: Path, site: Path, chapters: dict[str, Tag]) -> str:
    """Return the whole book as one page of HTML."""
    # The outline needs the place of each section, and a browser keeps only the places of what is linked.
    marks = "".join(
        f"<a href='#{section['id']}'></a>" for content in chapters.values() for section in sections(content)
    )
    return f"""{head(source, site, "")}
<body>
{front(source, titles(chapters))}
<main class="bd-content"><article class="bd-article">{"".join(map(str, chapters.values()))}</article></main>
<div hidden>{marks}</div>
</body></html>"""


def titles(chapters: dict[str, Tag]) -> dict[str, str]:
    """Return the headings of the chapters by page."""
    return {page: title(content) for page, content in chapters.items()}


def title(content: Tag) -> str:
    """Return the heading of a chapter or of a section."""
    return " ".join(only(content, "h1, h2").get_text().split())


def sections(content: Tag) -> list[Tag]:
    """Return the sections of a chapter that have an entry in the outline."""
    return content.find_all("section", recursive=False)


def front(source: Path, headings: dict[str, str], numbers: dict[str, int] | None = None) -> str:
    """Return the cover and the contents, with page numbers once they are known."""
    config = yaml.safe_load((source / "_config.yml").read_text())
    lines = []
    for caption, listed in parts(source):
        lines += [f"<p class='part'>{escape(caption)}</p>"] if caption else []
        lines += [
            f"<p class='entry'><a href='#{slug(page)}'>{escape(headings[page])}</a>"
            f"<span>{numbers[page] if numbers else ''}</span></p>"
            for page in listed
        ]
    return f"""<header class="cover"><img src="{(source / config["logo"]).as_uri()}" alt="">
<p class="title">{escape(config["title"])}</p>
<p>{escape(config["author"])}</p><p>Version {gaplib.__version__}</p>
<p class="note">Printed from the site. What a page folds is there: answers, solutions, checks, the code of figures.</p>
<p class="licence">{config["html"]["extra_footer"]}</p></header>
<nav class="toc"><h1>Contents</h1>{"".join(lines)}</nav>"""


def css_text(text: str) -> str:
    """Escape a text for the quotes of a style sheet."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def head(source: Path, site: Path, style: str) -> str:
    """Return the head of the document: the style sheets of the site, ours, and MathJax with its settings."""
    name = parts(source)[0][1][0]
    file = site / f"{name}.html"
    soup = BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")
    tags = soup.select("link[rel=stylesheet]")
    scripts = soup.find_all("script")
    tags += [tag for tag in scripts if "MathJax" in tag.text or "tex-mml-chtml" in str(tag.get("src", ""))]
    for tag in tags:
        for key in ("href", "src"):
            if tag.get(key):
                tag[key] = (file.parent / urlsplit(str(tag[key])).path).resolve().as_uri()
    return f"""<!DOCTYPE html>
<html lang="en" data-theme="light" data-mode="light">
<head><meta charset="utf-8"><title>{only(soup, "title").text.split(" — ")[-1]}</title>
{"".join(map(str, tags))}
{PRINTING}
<style>{faces()}{STYLE.read_text()}{style}</style></head>"""


def faces() -> str:
    """Return the rules that give the style sheet its type."""
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return "".join(
        f'@font-face {{ font-family: "{family}"; font-weight: {weight}; font-style: {style}; '
        f'src: url("{(folder / name).with_suffix(".ttf").as_uri()}") }}'
        for (family, weight, style), name in FONTS.items()
    )


def printed(browser: Browser, html: str, file: Path) -> bytes:
    """Return the PDF of a page.

    Raises `RuntimeError` if the page requests anything that is not on this machine, or is wider than the paper.
    """
    file.write_text(html, encoding="utf-8")
    context = browser.new_context(viewport={"width": WIDTH, "height": 1000})
    missing = keep_to(context, "file:")
    tab = context.new_page()
    tab.on("requestfailed", lambda request: missing.append(request.url))
    tab.emulate_media(media="print", color_scheme="light")
    tab.goto(file.as_uri(), timeout=120_000)
    tab.evaluate("MathJax.startup.promise")
    tab.evaluate("document.fonts.ready")
    width = tab.evaluate(FIT, {"short": SHORT, "figure": FIGURE, "beside": BESIDE})
    pdf = tab.pdf(prefer_css_page_size=True, print_background=True)
    context.close()
    if missing:
        raise RuntimeError(f"the book requests {missing[0]}, which is not on this machine")
    if width > WIDTH + 2:  # borders are rounded to whole pixels
        raise RuntimeError(f"something in the book is {width} px wide, the text of a page {WIDTH}")
    return pdf


def page_of(writer: PdfWriter, place: Destination) -> int:
    """Return the page that a place is on, counted from 0.

    Raises `ValueError` if it is on none.
    """
    number = writer.get_destination_page_number(place)
    if number is None:
        raise ValueError(f"{place.title} must be on a page of the document")
    return number


def overlay(source: Path, site: Path, chapters: dict[str, Tag], numbers: dict[str, int], count: int) -> str:
    """Return a document of `count` pages, with what is known only once the pages are.

    These are the page numbers in the contents, and over the text the chapter that began last.
    """
    headings, first = titles(chapters), min(numbers.values())
    style = """body { visibility: hidden } .entry span { visibility: visible } * { background: none !important }
        @page { @bottom-center { content: none } }"""
    style += "".join(
        f'@page {slug(page)} {{ @top-left {{ content: "{css_text(text)}" }} }}' for page, text in headings.items()
    )
    pages = ""
    for number in range(first, count + 1):
        page = [page for page, begin in numbers.items() if begin <= number][-1]
        pages += f"<div style='break-before: page; page: {slug(page)}'>{number}</div>"
    return f"{head(source, site, style)}<body>{front(source, headings, numbers)}{pages}</body></html>"


def with_numbers(
    browser: Browser, writer: PdfWriter, source: Path, site: Path, chapters: dict[str, Tag], file: Path
) -> None:
    """Lay over each page what is known only once the pages are."""
    entries = [entry for entry in writer.outline if not isinstance(entry, list)]
    numbers = {page: page_of(writer, place) + 1 for page, place in zip(chapters, entries, strict=True)}
    html = overlay(source, site, chapters, numbers, len(writer.pages))
    over = PdfReader(io.BytesIO(printed(browser, html, file)))
    for page, above in zip(writer.pages, over.pages, strict=True):
        page.merge_page(above)
        page.compress_content_streams()  # merging unpacks them


def add_entry(writer: PdfWriter, text: str, place: Destination, parent: IndirectObject | None) -> IndirectObject:
    """Add a line to the outline."""
    fit = Fit.xyz(left=0, top=place.top)
    return writer.add_outline_item(title=text, page_number=page_of(writer, place), parent=parent, fit=fit)


def add_outline(writer: PdfWriter, chapters: dict[str, Tag]) -> None:
    """Give the PDF an outline: the chapters, and the sections of each."""
    places = writer.named_destinations
    for content in chapters.values():
        at = add_entry(writer, title(content), places[f"/{content['id']}"], None)
        for section in sections(content):
            add_entry(writer, title(section), places[f"/{section['id']}"], at)


def refuse_others(file: Path) -> None:
    """Raise `FileExistsError` if there is a file that this tool did not make, or a symbolic link."""
    outputs.refuse_link(file)
    if file.exists():
        try:
            metadata = PdfReader(file).metadata
        except (OSError, PyPdfError, ValueError):
            metadata = None
        if metadata is None or metadata.creator != MARK:
            raise FileExistsError(f"{file} was not made by this tool; move it elsewhere, or delete it")


def build(source: Path, site: Path, out: Path, executable: str) -> int:
    """Print the site into the file `out`; return the number of pages. Raises as `refuse_others` does."""
    refuse_others(out)
    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns of the size of browsers' object tables, and copes
    chapters = read(source, site)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "book.html"
        browser = launch(playwright, executable)
        writer = PdfWriter(clone_from=io.BytesIO(printed(browser, document(source, site, chapters), file)))
        add_outline(writer, chapters)
        with_numbers(browser, writer, source, site, chapters, file)
        browser.close()
    config = yaml.safe_load((source / "_config.yml").read_text())
    writer.metadata = {"/Title": config["title"], "/Author": config["author"], "/Creator": MARK}
    writer.page_mode = "/UseOutlines"
    content = io.BytesIO()
    writer.write(content)
    outputs.replace_file(out, content.getvalue())
    return len(writer.pages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html", help="folder of the built site")
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "gap.pdf", help="the PDF to write")
    args = parser.parse_args()
    gc.disable()  # the pages are kept to the end: to look for garbage in them would take as long as to read them
    executable = find_browser()
    if executable is None:
        sys.exit(f"No browser to print with: install one of {', '.join(BROWSERS)}.")
    if not (args.site / "index.html").is_file():
        sys.exit(f"No site in {args.site}: run make site first.")
    try:
        count = build(ROOT, args.site.resolve(), args.out.absolute(), executable)
    except FileExistsError as error:
        sys.exit(f"The PDF was not made: {error}")
    print(f"The PDF is {args.out}, {count} pages")


if __name__ == "__main__":
    main()
