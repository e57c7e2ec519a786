"""The site: its settings, its links and files, and the tool that builds it."""

import gc
import hashlib
import json
import re
import shutil
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import addresses
import jupyter_book.config
import nbformat
import pandas as pd
import pytest
import yaml
from bs4 import BeautifulSoup
from project import ROOT, run
from site_builder import ADDRESS, BASEURL, run_site

from gaplib.book import paper

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text())
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
PAGES = [TOC["root"], *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"])]
NOTEBOOKS = [ROOT / f"{page}.ipynb" for page in PAGES if page.startswith("notebooks/")]


# Settings


def known_keys():
    """Every key that Jupyter Book documents, nested: its default configuration and its schema together."""

    def from_schema(schema):
        return {key: from_schema(value) for key, value in schema.get("properties", {}).items()}

    def merge(into, more):
        for key, value in more.items():
            merge(into.setdefault(key, {}), value if isinstance(value, dict) else {})
        return into

    defaults = yaml.safe_load(jupyter_book.config.PATH_YAML_DEFAULT.read_text())
    return merge(from_schema(json.loads(jupyter_book.config.PATH_JSON_SCHEMA.read_text())), defaults)


def unknown_keys(config, known, path=""):
    for key, value in config.items():
        if key not in known:
            yield path + key
        elif isinstance(value, dict) and known[key]:
            yield from unknown_keys(value, known[key], f"{path}{key}.")


def test_config_has_only_keys_that_jupyter_book_knows():
    assert list(unknown_keys(CONFIG, known_keys())) == []
    jupyter_book.config.validate_yaml(CONFIG, raise_on_errors=True)


def test_committed_settings():
    assert CONFIG["repository"]["url"] == "", "the public address is not known yet"
    assert CONFIG["html"]["baseurl"] == "", "nor is that of the site"
    assert CONFIG["execute"]["execute_notebooks"] == "off"


def test_every_page_is_in_the_table_of_contents():
    found = [*(ROOT / "notebooks").glob("*.ipynb"), *(ROOT / "book").glob("*.md")]
    assert sorted(PAGES) == sorted(path.relative_to(ROOT).with_suffix("").as_posix() for path in found)


@pytest.mark.parametrize("name", ["book/extra/mathjax", "book/reveal", "tests/axe"])
def test_what_is_vendored_is_the_recorded_one(name):
    folder = ROOT / name
    recorded = dict(reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines())
    present = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    assert set(present) == set(recorded) | {"README.md", "SHA256SUMS"}
    for name, digest in recorded.items():
        assert hashlib.sha256(present[name].read_bytes()).hexdigest() == digest, name


# Pages

ADDRESSES = pytest.mark.parametrize("address", ["", ADDRESS], ids=["no-address", "address"])


@cache
def soup(path):
    gc.freeze()  # the pages so far are kept: to look for garbage in them would take as long as to read them
    return BeautifulSoup(path.read_text(), "html.parser")


def pages(html):
    found = sorted(path for path in html.rglob("*.html") if "_static" not in path.parts)
    assert {html / f"{page}.html" for page in PAGES} < set(found)
    return found


@cache
def anchors(path):
    return {tag[key] for tag in soup(path).find_all(True) for key in ("id", "name") if tag.get(key)}


def broken(page, link):
    """Why a link inside the site does not work, or None."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return f"no file {link}"
    if target.stem in ("explorer", "training", "two_bits") and "=" in parts.fragment:  # a setting; their tests try them
        return None
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in anchors(target):
        return f"no anchor {link}"
    return None


@pytest.mark.slow
@ADDRESSES
def test_no_internal_link_is_broken(built_site, address):
    problems, seen = [], 0
    for page in pages(built_site(address)):
        for tag in soup(page).find_all(True):
            for link in filter(None, (tag.get("href"), tag.get("src"))):
                seen += 1
                reason = broken(page, link)
                if reason:
                    problems.append(f"{page.name}: {reason}")
    assert seen > 500
    assert problems == []


@pytest.mark.slow
def test_no_id_of_a_page_repeats(site):
    for page in pages(site):
        ids = [tag["id"] for tag in soup(page).find_all(id=True)]
        assert [name for name, times in Counter(ids).items() if times > 1] == [], page.name


@pytest.mark.slow
@ADDRESSES
def test_every_asset_is_local(built_site, address):
    html = built_site(address)
    for page in pages(html):
        for tag in soup(page).find_all(
            ["script", "img", "iframe", "source", "video", "audio", "embed", "object", "link"]
        ):
            if tag.get("rel") == ["canonical"]:  # says where the page stands, and loads nothing
                continue
            for link in filter(None, (tag.get("src"), tag.get("data"), tag.get("href"))):
                assert not urlsplit(link).netloc, f"{page.name}: {tag}"
    for style in html.rglob("*.css"):
        assert not re.search(r"""(url\(|@import)\s*["']?(https?:)?//""", style.read_text()), style


@pytest.mark.slow
@ADDRESSES
def test_every_image_has_alt_text(built_site, address):
    images = [(page.name, tag) for page in pages(built_site(address)) for tag in soup(page).find_all("img")]
    assert images
    assert [(name, tag) for name, tag in images if not tag.get("alt", "").strip()] == []
    figures = [(name, tag["alt"]) for name, tag in images if tag.find_parent("article")]
    # What a figure shows takes a sentence.
    assert [(name, alt) for name, alt in figures if len(alt.split()) < 8 or not alt.endswith(".")] == []


@pytest.mark.slow
@ADDRESSES
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_can_be_downloaded(built_site, address, notebook):
    page = built_site(address) / "notebooks" / f"{notebook.stem}.html"
    button = soup(page).select_one("a.btn-download-source-button")
    assert (page.parent / button["href"]).read_bytes() == notebook.read_bytes()


def public_links(page):
    """Links to the repository, or to a service that runs it."""
    hosts = {"github.com", "gitlab.com", "mybinder.org", "colab.research.google.com"}
    links = {tag["href"] for tag in soup(page).find_all("a", href=True) if urlsplit(tag["href"]).netloc in hosts}
    # The repository of another project may be cited.
    return links - set(re.findall(r"\\url\{(.+?)\}", (ROOT / "book" / "references.bib").read_text()))


@pytest.mark.slow
def test_without_an_address_nothing_points_to_a_repository(built_site):
    for page in pages(built_site("")):
        assert public_links(page) == set(), page.name
        assert soup(page).select(".dropdown-launch-buttons, .dropdown-source-buttons") == [], page.name


@pytest.mark.slow
def test_with_an_address_every_button_points_to_it(built_site):
    html = built_site(ADDRESS)
    for path in NOTEBOOKS:
        links, source = public_links(html / "notebooks" / f"{path.stem}.html"), f"notebooks/{path.name}"
        assert f"https://mybinder.org/v2/gh/example/gap/main?urlpath=lab/tree/{source}" in links
        assert f"https://colab.research.google.com/github/example/gap/blob/main/{source}" in links
        assert f"{ADDRESS}/blob/main/{source}?plain=1" in links
    links = public_links(html / "book" / "notation.html")
    assert ADDRESS in links
    assert f"{ADDRESS}/blob/main/book/notation.md?plain=1" in links
    assert any(link.startswith(f"{ADDRESS}/issues/new?") for link in links)


@pytest.mark.slow
def test_with_an_address_on_gitlab_there_is_no_colab(small_site):
    assert public_links(small_site / "notebooks" / "one.html") == {
        "https://mybinder.org/v2/gl/example%2Fgap/main?urlpath=lab/tree/notebooks/one.ipynb",
        "https://gitlab.com/example/gap",
        "https://gitlab.com/example/gap/-/blob/main/notebooks/one.ipynb?plain=1",
        "https://gitlab.com/example/gap/-/issues/new?issue[title]=Issue%20on%20page%20%2Fnotebooks/one.html"
        "&issue[description]=Your%20issue%20content%20here.",
    }


REPOSITORIES = {
    "": None,
    "https://github.com/Owner/name": "https://github.com/Owner/name",
    "https://github.com/Owner/name/": "https://github.com/Owner/name",
    "http://www.GitHub.com/Owner/name.git": "https://github.com/Owner/name",
    "HTTPS://GITHUB.COM/Owner/name.git/": "https://github.com/Owner/name",
    "github.com/Owner/name": "https://github.com/Owner/name",
    "git@github.com:Owner/name.git": "https://github.com/Owner/name",
    "git@github.com:/Owner/name": "https://github.com/Owner/name",
    "ssh://git@github.com/Owner/name.git": "https://github.com/Owner/name",
    "ssh://git@ssh.github.com:443/Owner/name.git": "https://github.com/Owner/name",
    "git+ssh://git@github.com/Owner/name": "https://github.com/Owner/name",
    "https://user:secret@github.com/Owner/name.git": "https://github.com/Owner/name",
    "https://github.com/Owner/.github": "https://github.com/Owner/.github",
    "https://github.com/Owner/a.b-c_d.git": "https://github.com/Owner/a.b-c_d",
    "git@gitlab.com:Owner/name.git": "https://gitlab.com/Owner/name",
}


@pytest.mark.parametrize("typed", REPOSITORIES)
def test_an_address_of_a_repository_may_have_any_form_of_git(typed):
    assert addresses.repository(typed) == (REPOSITORIES[typed] or "")


NO_REPOSITORIES = [
    "https://bitbucket.org/owner/name",
    "git@bitbucket.org:owner/name.git",
    "https://gitlab.example.org/owner/name",
    "https://github.com.example.org/owner/name",
    "https://github.com/owner",
    "https://github.com/owner/.git",
    "https://github.com/owner/..",
    "https://github.com/owner/name/tree/main",
    "https://gitlab.com/group/group/name",
    "https://github.com/owner/name?tab=readme",
    "ftp://github.com/owner/name",
    "owner/name",
    " ",
    5,
]


@pytest.mark.parametrize("value", NO_REPOSITORIES)
def test_another_address_of_a_repository_is_refused(value):
    with pytest.raises(
        ValueError, match=r"repository\.url .* must be empty, or .* https://github\.com/OWNER/NAME"
    ) as error:
        addresses.repository(value)
    assert str(error.value).endswith(f"got {value!r}")


def test_the_address_of_the_site_is_that_of_a_folder():
    assert [addresses.site(value) for value in (None, "")] == ["", ""]
    for value in ("https://example.org", "http://localhost:8000/a/b", "HTTPS://Example.org/gap/"):
        assert addresses.site(value) == value.rstrip("/") + "/"


@pytest.mark.parametrize(
    "value",
    [
        "example.org/gap",
        "//example.org/gap",
        "/gap/",
        "https://",
        "https:example.org",
        "ftp://example.org/",
        "file:///gap/",
        "https://example.org/gap/index.html",
        "https://example.org/?page=1",
        "https://example.org/#gap",
        "https://example org/",
        " ",
        True,
    ],
)
def test_another_address_of_the_site_is_refused(value):
    with pytest.raises(ValueError, match=r"html\.baseurl .* must be empty, or .* https://example\.org/gap/") as error:
        addresses.site(value)
    assert str(error.value).endswith(f"got {value!r}")


@pytest.mark.parametrize(
    ("option", "setting"), [("--url", "repository.url"), ("--baseurl", "html.baseurl")], ids=["repository", "site"]
)
def test_the_tool_refuses_an_address_in_one_sentence(tmp_path, option, setting):
    result = run_site("--out", tmp_path, option, "here")
    assert result.returncode == 1
    assert re.fullmatch(rf"The site was not built: {setting} in _config\.yml .+, got 'here'\n", result.stdout)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_jupyter_book_alone_names_the_setting_too(tmp_path):
    small_book(tmp_path, "")
    config = (tmp_path / "_config.yml").read_text()
    (tmp_path / "_config.yml").write_text(config.replace('baseurl: ""', "baseurl: here"))
    result = run(Path(sys.executable).with_name("jupyter-book"), "build", tmp_path, "--path-output", tmp_path / "out")
    assert result.returncode != 0
    assert "html.baseurl in _config.yml must be empty" in result.stdout


# What other programs read of a page


def tags(page):
    """The Open Graph tags of a page."""
    found = soup(page).find_all("meta", property=re.compile("^og:"))
    return {tag["property"].removeprefix("og:"): tag["content"] for tag in found}


@pytest.mark.slow
@ADDRESSES
def test_every_page_describes_itself(built_site, address):
    html = built_site(address)
    for name in PAGES:
        page = html / f"{name}.html"
        found = tags(page)
        assert found["title"] == soup(page).h1.get_text().rstrip("#").strip()
        assert found["type"] == ("website" if name == TOC["root"] else "article")
        assert found["site_name"] == CONFIG["title"]
        text = found.get("description", "")
        assert len(text) <= 200 and not re.search(r"[\\$&<>\n]|\[", text), text
        described = soup(page).find("meta", attrs={"name": "description"})
        assert (described["content"] if described else "") == text
        if address:
            assert found["url"] == soup(page).find("link", rel="canonical")["href"] == f"{BASEURL}/{name}.html"
            picture = found["image"].removeprefix(f"{BASEURL}/")
            assert picture.endswith(".png") and (html / picture).is_file()
        else:
            assert not {"url", "image"} & set(found)
    # A glossary and a list of works begin with no sentence.
    silent = [name for name in PAGES if "description" not in tags(html / f"{name}.html")]
    assert silent == ["book/glossary", "book/bibliography"]


@pytest.mark.slow
def test_a_map_of_the_site_is_written_where_its_address_is_known(built_site):
    assert not [name for name in ("sitemap.xml", "robots.txt") if (built_site("") / name).exists()]
    html = built_site(ADDRESS)
    listed = re.findall("<loc>(.*)</loc>", (html / "sitemap.xml").read_text())
    assert sorted(listed) == sorted(f"{BASEURL}/{name}.html" for name in PAGES)
    assert f"Sitemap: {BASEURL}/sitemap.xml" in (html / "robots.txt").read_text().splitlines()


@pytest.mark.slow
def test_every_page_has_an_icon_for_every_browser(site):
    for name in PAGES:
        page = site / f"{name}.html"
        icons = {
            link["rel"][0]: (page.parent / link["href"]).resolve() for link in soup(page).select("link[rel~=icon]")
        }
        assert icons == {"icon": site / "_static" / "logo.svg", "alternate": site / "favicon.ico"}
    assert (site / "favicon.ico").read_bytes()[:4] == b"\0\0\1\0"  # what an icon file begins with


PAGE_BYTES = 1.5e6  # with its figures: three seconds at 4 Mbit/s
SITE_BYTES = 60e6  # small enough to be sent as a file


@pytest.mark.slow
def test_pages_are_light_enough(site):
    for name in PAGES:
        page = site / f"{name}.html"
        own = {page, *((page.parent / image["src"]).resolve() for image in soup(page).select("main img"))}
        assert sum(path.stat().st_size for path in own) < PAGE_BYTES, name
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < SITE_BYTES


# Titles and numbers


def test_chapters_are_numbered_as_their_files_are_and_stand_in_that_order():
    titles = {chapter["file"]: chapter.get("title", "") for part in TOC["parts"] for chapter in part["chapters"]}
    for name, title in titles.items():
        number = re.match(r"notebooks/0*(\d+)_", name)
        assert not number or title.startswith(f"{number[1]} · "), name
        assert len(title) <= 27, f"{title} takes two lines"
    chapters = [name for name in titles if name.startswith("notebooks/")]
    assert chapters == sorted(chapters), "the contents are not in the order of the numbers"


FOLDS = ["details", "script", "style"]  # with what nobody reads at first


@pytest.mark.slow
def test_a_chapter_opens_with_a_picture(site):
    for page in sorted((site / "notebooks").glob("*.html")):
        article = soup(page).find("article")
        pictures = (image for image in article.find_all("img") if not image.find_parent(FOLDS))
        before = next(pictures).find_all_previous(string=True)
        read = "".join(text for text in before if text.find_parent("article") and not text.find_parent(FOLDS))
        assert len(" ".join(read.split())) < 2400, page.name  # characters: two phone screens, and a bit


@pytest.mark.slow
def test_what_is_numbered_is_numbered_by_chapter(site):
    """The numbers of a kind are 7.1, 7.2 ... in chapter 7, in the order of the page."""
    for path in sorted((site / "notebooks").glob("*.html")):
        chapter, counted = int(path.stem[:2]), Counter()
        for caption in soup(path).select("main .caption-number"):
            kind, number = caption.get_text().split()
            counted[kind] += 1
            assert number == f"{chapter}.{counted[kind]}", (path.name, caption.get_text())
        assert counted


@pytest.mark.slow
def test_numbers_on_the_front_page_are_those_of_the_files(site):
    text = soup(site / "book" / "index.html").select_one("#what-was-found").get_text()
    verdicts = pd.read_csv(ROOT / "book" / "data" / "verdicts.csv")["verdict"].value_counts()
    counts = {verdict: int(verdicts.get(verdict, 0)) for verdict in paper.SCORED}
    assert sum(counts.values()) == verdicts.drop("cited").sum()
    text = " ".join(text.split())
    assert f"Does the paper hold? {paper.headline(counts)}" in text
    table = pd.read_csv(ROOT / "book" / "data" / "gaussian_rows.csv").query("quantity == 'p_detect'")
    wide = table.pivot(index=["dataset", "D"], columns="source", values="value")
    above = wide.sub(wide["optimum, 0-1 loss"], axis=0).mean() * 100
    sources = ["paper", "learned, log-loss", "learned, alpha-loss of order 8"]
    said = ["less than 0.01" if abs(above[source]) < 0.005 else f"{above[source]:.2f}" for source in sources]
    assert re.findall(r"by (-?\d+\.\d\d|less than 0\.01)", text) == said
    assert f"the paper\u2019s {len(wide)} Gaussian games" in text


# The tool


def small_book(folder, code, text=""):
    """A book of one page and one notebook with our settings; the committed output of its only cell is `committed`."""
    shutil.copytree(ROOT / "book", folder / "book", ignore=shutil.ignore_patterns("*.md"))
    shutil.copy(ROOT / "_config.yml", folder)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: book/index\nchapters:\n- file: notebooks/one\n")
    (folder / "book" / "index.md").write_text(f"# A page\n\n{text}\n")
    output = nbformat.v4.new_output("stream", text="committed\n")
    cells = [nbformat.v4.new_markdown_cell("# A notebook"), nbformat.v4.new_code_cell(code, outputs=[output])]
    (folder / "notebooks").mkdir()
    path = folder / "notebooks" / "one.ipynb"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)
    return path


@pytest.fixture(scope="module")
def small_site(tmp_path_factory):
    """A small book that is built without --execute, on GitLab; its cell would fail."""
    folder = tmp_path_factory.mktemp("small")
    small_book(folder, "1 / 0")
    result = run_site("--source", folder, "--url", "https://gitlab.com/example/gap.git/")
    assert result.returncode == 0, result.stdout
    return folder / "_build" / "html"


@pytest.mark.slow
def test_execute_runs_notebooks_and_leaves_them_as_they_are(tmp_path):
    path = small_book(tmp_path, "print(6 * 7)")
    before = path.read_bytes()
    result = run_site("--execute", "--source", tmp_path)
    assert result.returncode == 0, result.stdout
    index = tmp_path / "_build" / "html" / "index.html"
    assert str(index) in result.stdout and index.is_file()
    page = soup(index.parent / "notebooks" / "one.html").get_text()
    assert "42" in page and "committed" not in page
    assert path.read_bytes() == before


@pytest.mark.slow
def test_a_failed_notebook_fails_the_build(tmp_path):
    small_book(tmp_path, "1 / 0")
    result = run_site("--execute", "--source", tmp_path)
    assert result.returncode != 0
    assert "ZeroDivisionError" in result.stdout


@pytest.mark.slow
def test_without_execute_nothing_runs(small_site):
    assert "committed" in soup(small_site / "notebooks" / "one.html").get_text()


@pytest.mark.slow
def test_a_warning_fails_the_build(tmp_path):
    small_book(tmp_path, "", text="{ref}`nowhere`")
    result = run_site("--source", tmp_path)
    assert result.returncode != 0
    assert "nowhere" in result.stdout
