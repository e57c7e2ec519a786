"""The PDF of the book: every chapter, in order, whole, from this machine alone."""

import os
import re

import build_pdf
import pytest
import yaml
from bs4 import BeautifulSoup
from project import ROOT, python
from pypdf import PdfReader

PAGES = [page for _, listed in build_pdf.parts(ROOT) for page in listed]


def test_the_pages_are_those_of_the_table_of_contents():
    toc = (ROOT / "_toc.yml").read_text()
    assert PAGES == re.findall(r"(?:root|file): (\S+)", toc)


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("two.html#there", "#book-two--there"),
        ("two.html", "#book-two"),
        ("#here", "#book-one--here"),
        ("https://example.org/", "https://example.org/"),
        ("#prior=0.5&D=4", None),  # a setting of the explorer
        ("../_sources/one.ipynb", None),
        ("gone.html", None),
    ],
)
def test_links_lead_on_inside_the_document(tmp_path, link, expected):
    pages = ["book/one", "book/two"]
    assert build_pdf.inside(tmp_path / "book" / "one.html", link, tmp_path, pages) == expected


def test_a_chapter_is_what_is_read_and_of_what_is_folded_one_line(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "one.html").write_text(
        """<article class="bd-article"><section id="top"><h1>One<a class="headerlink" href="#top">#</a></h1>
        <details class="hide above-input"><pre>plot()</pre></details><p id="p">said</p>
        <details class="hide below-input"><summary>Hide code cell output</summary>printed</details>
        <details><summary>29 statements</summary><table id="long"></table></details>
        <div class="solution dropdown admonition"><p class="admonition-title">Solution</p>so</div>
        <script>run()</script><script>gapExplorer</script><a href="data.csv">data</a></section></article>"""
    )
    content = build_pdf.chapter(tmp_path, "book/one", ["book/one"])
    text = " ".join(content.get_text().split())
    assert text == "One said 29 statements, on the site Solution, on the site data"
    assert content["id"] == "book-one" and content.find("p")["id"] == "book-one--p"
    assert content.details is None and content.a is None
    assert [script.text for script in content.find_all("script")] == ["gapExplorer"]  # what draws the explorer


def test_a_link_into_what_is_folded_leads_to_its_chapter(tmp_path):
    (tmp_path / "_toc.yml").write_text("root: one\nparts: [{caption: Part, chapters: [{file: two}]}]")
    for page, text in {
        "one": "<a href='two.html#long'>long</a> <a href='two.html#open'>open</a>",
        "two": "<details><summary>table</summary><p id='long'>row</p></details><p id='open'>row</p>",
    }.items():
        html = f"<article class='bd-article'><section id='top'><h1>{page}</h1>{text}</section></article>"
        (tmp_path / f"{page}.html").write_text(html)
    chapters = build_pdf.read(tmp_path, tmp_path)
    assert [link["href"] for link in chapters["one"].find_all("a")] == ["#two", "#two--open"]


def test_without_a_browser_it_says_so_in_one_line():
    run = python(build_pdf.__file__, PATH="")
    assert run.returncode != 0
    assert re.fullmatch(r"No browser to print with: install one of .+\.\n", run.stdout)


@pytest.fixture(scope="module")
def pdf(browser_path, site, tmp_path_factory):
    """The PDF and the processor time in seconds that it took: elapsed time would include what else the machine does."""
    out = tmp_path_factory.mktemp("pdf") / "gap.pdf"
    before = os.times()
    run = python(build_pdf.__file__, "--site", site, "--out", out)
    after = os.times()
    assert run.returncode == 0, run.stdout
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return PdfReader(out), spent


@pytest.fixture(scope="module")
def texts(pdf):
    return [page.extract_text() for page in pdf[0].pages]


@pytest.mark.slow
def test_it_takes_less_than_three_minutes(pdf):
    _, seconds = pdf
    assert seconds < 3 * 60


@pytest.mark.slow
def test_title_author_and_outline(pdf, site):
    reader, config = pdf[0], yaml.safe_load((ROOT / "_config.yml").read_text())
    assert (reader.metadata.title, reader.metadata.author) == (config["title"], config["author"])
    titles = []
    for page in PAGES:
        html = re.search(r"<h1>([^\n]+?)<a class=.headerlink", (site / f"{page}.html").read_text())[1]
        heading = BeautifulSoup(html, "html.parser")  # a page whole would take seconds
        titles.append(" ".join(heading.get_text().split()))
    chapters = [entry for entry in reader.outline if not isinstance(entry, list)]
    assert [chapter.title for chapter in chapters] == titles
    sections = [entry for entry in reader.outline if isinstance(entry, list)]
    assert sum(map(len, sections)) > 100


@pytest.mark.slow
def test_the_contents_say_where_chapters_begin(pdf, texts):
    reader = pdf[0]
    chapters = [entry for entry in reader.outline if not isinstance(entry, list)]
    begins = [reader.get_destination_page_number(chapter) for chapter in chapters]
    assert begins == sorted(begins) and begins[0] >= 2
    contents = " ".join(texts[1 : begins[0]])
    assert set(re.findall(r"\d+", contents)) >= {str(begin + 1) for begin in begins}
    for chapter, begin in zip(chapters, begins, strict=True):
        flat = re.sub(r"\s", "", texts[begin])
        assert re.sub(r"\s", "", chapter.title) in flat, chapter.title
        assert str(begin + 1) in texts[begin]  # at the foot


@pytest.mark.slow
def test_it_is_short_enough_to_print(texts):
    """The bound of the project. With solutions and tables unfolded, in wide type, it was twice as long."""
    assert len(texts) < 250


@pytest.mark.slow
def test_no_page_carries_a_handful_of_lines(pdf, texts):
    for number, (page, text) in enumerate(zip(pdf[0].pages[2:-1], texts[2:-1], strict=True), 3):
        lines = [line for line in text.splitlines() if line.strip()]
        assert len(lines) > 15 or page.images, f"page {number} has {len(lines)} lines and no figure"


def raw(text):
    """Mathematics that was not set, on lines that are no code: code has quotes, brackets or equals signs."""
    prose = "\n".join(line for line in text.splitlines() if not re.search(r"[\"'\[(=]", line))
    return re.findall(r"\\(?:begin|end|frac|hat|mid|ln|sum)\b|\$[^$\n]+\$", prose)


@pytest.mark.slow
def test_mathematics_is_set_and_no_page_is_empty(texts):
    for number, text in enumerate(texts, 1):
        assert len(re.sub(r"\s", "", text)) > 40, f"page {number} is empty"
        assert raw(text) == [], f"page {number}"
        assert "Math input error" not in text and "Hide code" not in text, f"page {number}"


@pytest.mark.slow
def test_the_explorer_is_drawn(pdf, texts):
    (page,) = [text for text in texts if "What the budget buys" in text]
    assert "paper's Theorem 2" in page
    assert not any("needs scripts" in text for text in texts)


@pytest.mark.slow
def test_every_page_is_a4(pdf):
    for page in pdf[0].pages:
        left, bottom, right, top = map(float, page.mediabox)
        assert (round(right - left), round(top - bottom)) == (595, 842)  # points


@pytest.mark.slow
def test_links_between_chapters_work(pdf):
    reader, known, inner = pdf[0], set(pdf[0].named_destinations), 0
    for number, page in enumerate(reader.pages, 1):
        for annotation in page.get("/Annots") or ():
            link = annotation.get_object()
            target = link.get("/Dest", link.get("/A", {}).get("/D"))
            if target is not None:
                assert str(target) in known, f"page {number}: {target}"
                inner += 1
            else:
                assert link["/A"]["/URI"].startswith(("http://", "https://")), f"page {number}: {link['/A']}"
    assert inner > 300


@pytest.mark.slow
def test_printing_asks_no_host(browser, foreign, tmp_path):
    hosts, asked = foreign
    for host in hosts:
        image = f"<img src='http://{host}/far.png'>"
        with pytest.raises(RuntimeError, match=f"requests http://{host}/far.png"):
            build_pdf.printed(browser, QUIET + image, tmp_path / "page.html")
    assert asked == []


QUIET = "<script>MathJax = {startup: {promise: Promise.resolve()}}</script>"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("html", "complaint"),
    [
        ("<img src='http://127.0.0.1:9/far.png'>", r"requests http://127\.0\.0\.1:9/far\.png"),
        ("<img src='gone.png'>", r"requests file://.*gone\.png"),
        ("<pre style='width: 900px'>wide</pre>", rf"9\d\d px wide, the text of a page {build_pdf.WIDTH}"),
    ],
    ids=["network", "file", "width"],
)
def test_what_is_missing_or_too_wide_is_refused(browser, tmp_path, html, complaint):
    assert build_pdf.printed(browser, QUIET + "<p>words</p>", tmp_path / "good.html").startswith(b"%PDF")
    with pytest.raises(RuntimeError, match=complaint):
        build_pdf.printed(browser, QUIET + html, tmp_path / "bad.html")
