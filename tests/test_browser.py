"""The site as a reader sees it: every page in a real browser, by http and by file, light and dark, wide and narrow."""

import re
import statistics
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import build_pdf
import pytest
from browsing import INSPECT, pages_of, visit
from bs4 import BeautifulSoup
from project import REFERENCE

pytestmark = pytest.mark.slow

SEARCH_TIMEOUT = 10_000  # milliseconds: the browser loads the index of all pages, and on a busy machine takes its time
# Colours that change slowly have changed. A transition is ended, not waited for: one may never end, where nothing is
# drawn. What inherits a colour may begin to change only then, hence again.
STILL = """() => {
  for (let round = 0; round < 100; round++) {
    const going = document.getAnimations().filter((e) => e instanceof CSSTransition);
    if (!going.length) return true;
    going.forEach((e) => e.finish());
  }
  return false;
}"""
THEMES = 3  # what the theme button goes through: light, dark, as the system


@pytest.mark.parametrize("way, schemes", [("http", ("light", "dark")), ("file", ("dark", "light"))])
def test_every_page(open_site, site, way, schemes):
    """Opened in one scheme, and looked at in both: the page follows the system."""
    tab, home, problems = open_site(way)
    found = []
    for page in pages_of(site):
        tab.emulate_media(color_scheme=schemes[0])
        visit(tab, home + page)
        assert tab.evaluate("document.documentElement.dataset.theme") == schemes[0]
        for scheme in schemes:
            tab.emulate_media(color_scheme=scheme)
            tab.wait_for_function("scheme => document.documentElement.dataset.theme == scheme", arg=scheme)
            assert tab.evaluate(STILL)
            for width in (1280, 390):
                tab.set_viewport_size({"width": width, "height": 900})
                found += [f"{page}, {scheme}, at {width}: {problem}" for problem in tab.evaluate(INSPECT)]
        found += [f"{page}: {problem}" for problem in problems]
        problems.clear()
    assert found == [], "\n" + "\n".join(found)


@pytest.mark.parametrize("way", ["http", "file"])
def test_solutions_and_answers_open(open_site, site, way):
    tab, home, _ = open_site(way)
    chapters = [path for path in sorted((site / "notebooks").glob("*.html")) if path.stem not in REFERENCE]
    assert chapters
    for path in chapters:
        visit(tab, f"{home}notebooks/{path.name}")
        solutions = tab.locator(".solution.dropdown")
        assert solutions.count() >= 3
        for solution in solutions.all():
            body = solution.locator("section").first
            assert not body.is_visible()
            solution.locator("button.toggle-button").click()
            assert body.is_visible()
        questions = tab.locator(".quick-question")
        assert questions.count() >= 2
        for question in questions.all():
            answer = question.locator(".admonition.dropdown")
            body = answer.locator("p").last
            assert question.locator("p").nth(1).is_visible() and not body.is_visible()
            answer.locator("button.toggle-button").press("Enter")  # from the keyboard
            assert body.is_visible()


def test_front_page_is_where_the_folder_opens(open_site):
    for way in ("http", "file"):
        tab, home, _ = open_site(way)
        tab.goto(home + "index.html")
        tab.wait_for_url(home + "book/index.html")


@pytest.mark.parametrize("way", ["http", "file"])
def test_the_source_of_a_page_is_downloaded_not_shown(open_site, site, way):
    tab, home, problems = open_site(way)
    sources = site / "_sources"
    for path in sorted([*(sources / "notebooks").glob("*.ipynb"), sources / "book" / "teaching.md"]):
        tab.goto(f"{home}{path.relative_to(sources).with_suffix('.html')}")
        tab.locator(".dropdown-download-buttons > button").click()
        with tab.expect_download() as download:
            tab.locator("a.btn-download-source-button").click()
        assert download.value.suggested_filename == path.name
        assert Path(download.value.path()).read_bytes() == path.read_bytes()
        assert tab.url.endswith(".html") and problems == []


@pytest.mark.parametrize("way", ["http", "file"])
def test_search_finds_a_page(open_site, way):
    tab, home, _ = open_site(way)
    tab.goto(home + "search.html?q=distortion")
    tab.wait_for_selector("#search-results li a")


# Words of prose, of headings, of formulas and of code, and some that are on no page.
QUERIES = "distortion, mutual information, posterior, saturation, prior, threshold, noise, Theorem 2, min, xhat, kernel"


def test_excerpts_of_search_results_are_readable(open_site):
    tab, home, problems = open_site("http")
    seen = typeset = 0
    for query in QUERIES.split(", "):
        tab.goto(f"{home}search.html?q={quote(query)}")
        tab.wait_for_function("/^Search finished/.test(document.querySelector('.search-summary')?.innerText)")
        tab.wait_for_load_state("networkidle")
        tab.wait_for_function("[...document.querySelectorAll('p.context .math')].every((e) => e.children.length)")
        # The TeX of what was set is in MathJax, no longer in the text.
        texts = tab.locator("p.context").evaluate_all("(all) => all.map((e) => e.textContent)")
        assert [text for text in texts if re.search(r"\\|\$|[\ue000-\uf8ff]", text)] == []
        assert tab.locator("p.context mjx-merror").count() == 0
        assert all(len(text) > 20 for text in texts)
        seen += len(texts)
        typeset += tab.locator("p.context .math").count()
    assert seen > 100 and typeset > 100
    assert problems == []


def proofs(site):
    """The page, number, name and anchor of every theorem, lemma, proposition, definition and corollary."""
    for path in sorted((site / "notebooks").glob("*.html")):
        for block in BeautifulSoup(path.read_text(), "html.parser").select("div.proof[id]"):
            if number := block.select_one(".caption-number"):  # a proof has none
                number = number.extract().get_text().strip()
                name = block.select_one(".admonition-title").get_text().strip()
                yield path.name, number, name.removeprefix("(").removesuffix(")"), block["id"]


def test_search_finds_every_theorem_by_number_and_by_name(open_site, site):
    tab, home, _ = open_site("http")
    found = list(proofs(site))
    assert len(found) > 30
    for page, number, name, anchor in found:
        # In a name with a formula the formula is typed as it is read.
        name = name.replace(r"\(Y = X \oplus N\)", "Y = X ⊕ N")
        assert "\\" not in name, name
        for query in (number, name.lower()):
            tab.goto(f"{home}search.html?q={quote(query)}")
            tab.wait_for_selector(f"#search-results a[href$='{page}#{anchor}']", timeout=SEARCH_TIMEOUT)
    # The result leads to the theorem.
    tab.locator(f"#search-results a[href$='#{anchor}']").first.click()
    tab.wait_for_url(f"**/{page}#{anchor}")
    tab.evaluate("window.MathJax && MathJax.startup.promise")
    assert tab.locator(f"#{anchor}").is_visible()


@pytest.mark.parametrize(
    "query, instead",
    [
        ("privatiser", "privatizer"),
        ("Randomised response", "randomized response"),
        ("optimisation", "optimization"),
        ("sanitiser", "privatizer"),
        ("coupling", "plan"),
        ("in favor of", "in favour of"),
        ("bounds for the centre", None),
        ("GAN", None),
        ("optimal transport", None),
        ("colour", None),
        ("xyzzy", None),
    ],
)
def test_search_knows_other_spellings_and_words(open_site, query, instead):
    tab, home, problems = open_site("http")
    tab.goto(f"{home}search.html?q={quote(query)}")
    tab.wait_for_function("document.querySelector('.search-summary')?.innerText")  # it has finished, or found nothing
    assert (tab.locator("#search-results li").count() > 0) == (query != "xyzzy")
    told = tab.locator(".search-respelled b").all_inner_texts()
    assert told == ([instead] if instead else [])
    assert problems == []


@pytest.mark.parametrize("way", ["http", "file"])
@pytest.mark.parametrize("query", ["Theorem 3", "Proposition 1", "Table 4", "Figure 13", "Equation 37", "Algorithm 1"])
def test_search_finds_the_numbers_of_the_paper(open_site, way, query):
    tab, home, _ = open_site(way)
    tab.goto(f"{home}search.html?q={quote(query)}")
    anchor = "#paper-" + query.lower().replace(" ", "-")
    tab.locator(f"#search-results a[href$='{anchor}']").click(timeout=SEARCH_TIMEOUT)
    tab.wait_for_url(f"**/paper_index.html{anchor}")
    assert query in tab.locator(anchor).inner_text()


@pytest.mark.parametrize("query", ["Theorem 3", "theorem 1", "Table 4"])
def test_search_says_whose_number_it_is_and_puts_exact_ones_first(open_site, site, query):
    tab, home, _ = open_site("http")
    tab.goto(f"{home}search.html?q={quote(query)}")
    tab.wait_for_function("/^Search finished/.test(document.querySelector('.search-summary')?.innerText)")
    titles = [title.split(" > ")[-1] for title in tab.locator("#search-results li > a").all_inner_texts()]
    of_book = [f"{number} ({name})" for _, number, name, _ in proofs(site) if number.lower() == query.lower()]
    first = titles[: len(of_book) + 1]
    (of_paper,) = set(first) - set(of_book)
    assert set(of_book) < set(first)
    assert of_paper.lower().startswith(f"{query.lower()} of the paper: ")


def test_a_phone_fades_what_scrolls_until_its_end(open_site):
    tab, home, _ = open_site("http", viewport={"width": 390, "height": 844})
    for page, selector in (
        ("notebooks/04_binary_pdi.html", "#equation-eq-pdi-kernel > mjx-container"),
        ("book/index.html", "#how-the-paper-stands .pst-scrollable-table-container"),
        ("book/explorer.html", ".gap-explorer .scroll"),
    ):
        visit(tab, home + page)
        box = tab.locator(selector)
        tab.wait_for_selector(f"{selector}.more-to-come")
        assert "gradient" in box.evaluate("e => getComputedStyle(e).maskImage")
        box.evaluate("e => e.scrollTo(e.scrollWidth, 0)")
        tab.wait_for_selector(f"{selector}:not(.more-to-come)")
    # The number of a formula stands beside it, not on it.
    visit(tab, home + "notebooks/04_binary_pdi.html")
    formula, number = (tab.locator(f"#equation-eq-pdi-kernel > {name}") for name in ("mjx-container", "span.eqno"))
    right = formula.bounding_box()["x"] + formula.bounding_box()["width"]
    assert right <= number.bounding_box()["x"] + 1


def test_a_phone_opens_a_figure_that_it_shrinks(open_site):
    tab, home, _ = open_site("http", viewport={"width": 390, "height": 844})
    visit(tab, home + "notebooks/04_binary_pdi.html")
    figures = tab.locator("main .cell_output img").count()
    links = tab.locator("a.full-size")
    tab.wait_for_selector("a.full-size")
    assert links.count() == figures > 3
    for link in links.all():
        assert (
            link.get_attribute("aria-label")
            == f"Open the figure in full size: {link.locator('img').get_attribute('alt')}"
        )
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.wait_for_selector("a.full-size", state="detached")
    assert tab.locator("main .cell_output img").count() == figures
    tab.set_viewport_size({"width": 390, "height": 844})
    source = links.first.locator("img").evaluate("e => e.src")
    links.first.press("Enter")
    tab.wait_for_url(source)


@pytest.mark.parametrize("way", ["http", "file"])
def test_a_link_opens_the_folded_table_that_it_leads_to(open_site, way):
    tab, home, _ = open_site(way)
    tab.goto(home + "notebooks/14_scorecard.html#tab2-D1")
    tab.locator("#tab2-D1").wait_for(state="visible")
    assert not tab.locator("#alg1-converges").is_visible()  # in another table


def test_copy_buttons_copy_the_code(open_site):
    tab, home, _ = open_site("http")
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit(tab, home + "notebooks/03_binary_pdd.html")
    cells = tab.locator("div.cell_input div.highlight:visible")
    assert cells.count() > 1
    for cell in (cells.first, cells.last):
        cell.hover()
        cell.locator("button.copybtn").click()
        copied = tab.evaluate("navigator.clipboard.readText()")
        assert copied.strip() == cell.locator("pre").inner_text().strip()


def test_the_theme_button_turns_the_site_dark_and_keeps_it_so(open_site):
    tab, home, _ = open_site("http", color_scheme="light")
    visit(tab, home + "book/howto.html")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = tab.evaluate(ground)
    for _ in range(THEMES):
        if tab.evaluate("document.documentElement.dataset.theme") == "dark":
            break
        tab.locator("button.theme-switch-button:visible").click()
    assert tab.evaluate(ground) != light
    visit(tab, home + "notebooks/03_binary_pdd.html")
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_phone_has_menu_and_contents(open_site):
    tab, home, problems = open_site("http", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    visit(tab, home + "notebooks/03_binary_pdd.html")
    chapter = tab.locator("nav.bd-docs-nav a[href='04_binary_pdi.html']")
    assert not chapter.is_visible()
    tab.locator("button.primary-toggle:visible").click()
    chapter.click()
    tab.wait_for_url("**/04_binary_pdi.html")
    tab.locator("button.secondary-toggle:visible").click()
    tab.locator(".bd-sidebar-secondary a[href='#exercises'], dialog a[href='#exercises']").first.click()
    tab.wait_for_url("**/04_binary_pdi.html#exercises")
    assert problems == []


# Other hosts


def test_requests_to_other_hosts_are_blocked_and_told(open_site, foreign):
    hosts, asked = foreign
    for way in ("http", "file"):
        tab, home, problems = open_site(way)
        tab.goto(home + "book/howto.html")
        for host in hosts:
            tab.evaluate("(url) => new Image().src = url", f"http://{host}/image.png")
            tab.evaluate("(url) => fetch(url, { mode: 'no-cors' }).catch(() => {})", f"http://{host}/fetched")
            for name in ("image.png", "fetched"):
                assert f"failed: http://{host}/{name}: net::ERR_FAILED" in problems
    assert asked == []


def test_the_browser_itself_knows_no_other_host(browser, foreign):
    (by_number, by_name), asked = foreign
    tab = browser.new_page()
    for host, comes in ((by_name, []), (by_number, ["/here"])):  # without the list of a test, and by what no list sees
        tab.evaluate("(url) => fetch(url, { mode: 'no-cors' }).catch(() => {})", f"http://{host}/here")
        tab.evaluate("(url) => new Promise((done) => (new WebSocket(url).onerror = done))", f"ws://{host}/here")
        assert sorted(set(asked)) == comes
    tab.close()


def test_the_browser_has_no_sandbox_for_root_only(monkeypatch):
    started = []
    playwright = SimpleNamespace(chromium=SimpleNamespace(launch=lambda **options: started.append(options["args"])))
    for user in (0, 1000):
        monkeypatch.setattr("os.geteuid", lambda user=user: user)
        build_pdf.launch(playwright, "chromium")
    assert ["--no-sandbox" in arguments for arguments in started] == [True, False]


# What a reader meets of code and printed text while it is folded, solutions left out, as a share of the page's height.
CODE_SHARE = """
() => {
  const article = document.querySelector("main article");
  const parts = article.querySelectorAll(".cell_input, .cell_output .output.stream, .cell_output .output.text_plain");
  const seen = [...parts].filter((e) => e.checkVisibility() && !e.closest(".solution"));
  const height = (e) => e.getBoundingClientRect().height;
  return seen.reduce((sum, e) => sum + height(e), 0) / height(article);
}
"""
ABOUT_CODE = {"16_rerun", "17_sweeps"}  # chapters on running notebooks


def test_text_is_most_of_a_chapter(open_site, site):
    tab, home, _ = open_site("http", viewport={"width": 1280, "height": 900})
    shares = {}
    for path in sorted((site / "notebooks").glob("*.html")):
        if path.stem not in ABOUT_CODE:
            visit(tab, f"{home}notebooks/{path.name}")
            shares[path.stem] = tab.evaluate(CODE_SHARE)
    assert statistics.median(shares.values()) <= 0.2, shares
    assert max(shares.values()) <= 0.3, shares


def test_one_switch_opens_all_code_and_the_next_page_remembers(open_site):
    tab, home, _ = open_site("http", viewport={"width": 1280, "height": 900})
    visit(tab, home + "notebooks/07_gaussian_shift.html")
    folds = tab.locator("main details.hide")
    is_open = "folds => folds.map((fold) => fold.open)"
    assert folds.count() > 3 and not any(folds.evaluate_all(is_open))
    switch = tab.get_by_role("button", name="Show all code")
    switch.press("Enter")
    assert all(folds.evaluate_all(is_open))
    visit(tab, home + "notebooks/06_gaussian_pdi.html")
    assert all(tab.locator("main details.hide").evaluate_all(is_open))
    tab.get_by_role("button", name="Hide all code").click()
    tab.reload()
    assert not any(tab.locator("main details.hide").evaluate_all(is_open))
