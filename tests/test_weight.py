"""What a first visit to a page loads: only what the page uses, and pictures as they come near."""

import pytest
import speeds
from browsing import pages_of
from bs4 import BeautifulSoup
from sphinx.util.images import get_image_size
from unused_scripts import without_scripts

LARGEST = 800  # kB at 390 px, the aim of the page on run times
HEAVIEST = "notebooks/10_learning.html"  # by `python benchmarks/speeds.py page`

pytestmark = pytest.mark.slow


def test_scripts_are_dropped_by_name_alone():
    html = '<script defer src="../a/font.js?digest=5"></script>\n<script src="x/other.js"></script>'
    assert without_scripts(html, "font.js", "er.js") == '<script src="x/other.js"></script>'


def test_only_the_search_page_loads_the_search_and_no_page_the_program_of_its_icons(site):
    for page in pages_of(site):
        scripts = {
            tag["src"].partition("?")[0].rpartition("/")[2]
            for tag in BeautifulSoup((site / page).read_text(), "html.parser").find_all("script", src=True)
        }
        assert ({"searchtools.js", "searchindex.js"} <= scripts) == (page == "search.html"), page
        assert "fontawesome.js" not in scripts and "gap.js" in scripts, page


def test_pictures_wait_and_keep_their_place(site):
    count = 0
    for page in pages_of(site):
        article = BeautifulSoup((site / page).read_text(), "html.parser").find("article") or []
        pictures = [tag for tag in article.find_all("img") if "_images/" in tag["src"]] if article else []
        for number, tag in enumerate(pictures):
            assert (tag.get("loading") == "lazy") == (number > 0), (page, tag["src"])
            size = get_image_size(str((site / page).parent / tag["src"]))
            if size and "style" not in tag.attrs:
                assert (tag["width"], tag["height"]) == tuple(map(str, size)), (page, tag["src"])
                count += 1
    assert count > 2 * len(list((site / "notebooks").glob("*.html")))  # there was something to see


def test_the_heaviest_page(site, browser):
    # On a busy machine a browser may ask for a picture before it knows how far away it will be.
    assert min(speeds.weight(browser, site / HEAVIEST) for _ in range(3)) < LARGEST


def test_icons_are_drawn_without_a_program(open_site):
    tab, address, _ = open_site("file", viewport=speeds.PHONE)
    tab.goto(f"{address}{HEAVIEST}")
    drawn = tab.evaluate(
        """() => document.fonts.ready.then(() => [...document.querySelectorAll(".article-header-buttons i")]
          .filter((icon) => icon.getBoundingClientRect().width)
          .map((icon) => getComputedStyle(icon, "::before")))
          .then((styles) => styles.map((style) => [style.content, style.fontFamily, document.fonts.check(
            `${style.fontWeight} 16px ${style.fontFamily}`)]))"""
    )
    assert len(drawn) >= 3
    for content, family, loaded in drawn:
        assert content not in ("none", "normal", '""') and "Font Awesome" in family and loaded
