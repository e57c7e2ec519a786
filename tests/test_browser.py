"""The site as a reader sees it: each page in a real browser, by http and by file, light and dark, wide and narrow."""

import re
import statistics
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import build_pdf
import pytest
from browsing import INSPECT, OUT_OF_REACH, open_everything, pages_of, visit
from bs4 import BeautifulSoup, SoupStrainer
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
# Formulas and tables that a reader must scroll sideways; an accent may lean out of a formula by a few pixels.
SCROLLS = """() => [...document.querySelectorAll(
  "main article .math > mjx-container, main article .pst-scrollable-table-container"
)].filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 4)
  .map((e) => `${e.scrollWidth - e.clientWidth} px too wide, in ${e.closest("[id]").id}`)
"""


@pytest.mark.parametrize("way", ["http", "file"])
def test_every_page(open_site, site, way, subtests):
    """Each page is opened once, which takes most of the time, for all that is asked of it.

    By http it is opened in the light, and turned dark; as a file in the dark, and light at 400 %.
    """
    tab, home, problems = open_site(way)
    code = {}
    for page in pages_of(site):
        name = Path(page).stem
        chapter = page.startswith("notebooks/")
        scheme = "light" if way == "http" else "dark"
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size({"width": 1280, "height": 900})
        with subtests.test("all is shown", page=page):
            visit(tab, home + page)
            assert tab.evaluate("document.documentElement.dataset.theme") == scheme
            if chapter and name not in ABOUT_CODE:
                code[name] = tab.evaluate(CODE_SHARE)
            found = faults_of_layout(tab, scheme)
            if way == "http":
                turn(tab, "dark")
                found += faults_of_layout(tab, "dark")
            found += problems
            assert found == [], "\n" + "\n".join(found)
        problems.clear()
        if chapter and name not in REFERENCE:
            with subtests.test("solutions and answers open", page=page):
                check_that_solutions_and_answers_open(tab)
        if chapter and way == "http":
            with subtests.test("formulas and tables fit a phone", page=page):
                tab.set_viewport_size({"width": 390, "height": 844})
                assert tab.evaluate(SCROLLS) == []
                tab.set_viewport_size({"width": 1280, "height": 900})
        if chapter or name == "teaching":
            with subtests.test("its source is downloaded, not shown", page=page):
                check_download(tab, site / "_sources" / page)
                assert problems == []
        if way == "file":
            with subtests.test("all is shown at 400 %", page=page):
                turn(tab, "light")
                tab.set_viewport_size({"width": 320, "height": 256})  # a window of 1280 px
                found = faults_at_400_percent(tab)
                assert found == [], "\n" + "\n".join(found)
        problems.clear()
    with subtests.test("text is most of a chapter"):
        assert statistics.median(code.values()) <= 0.2, code
        assert max(code.values()) <= 0.3, code


def turn(tab, scheme):
    """Have the system turn light or dark; the page follows it."""
    tab.emulate_media(color_scheme=scheme)
    tab.wait_for_function("scheme => document.documentElement.dataset.theme == scheme", arg=scheme)
    assert tab.evaluate(STILL)


def faults_of_layout(tab, scheme):
    found = []
    for width in (1280, 390):
        tab.set_viewport_size({"width": width, "height": 900})
        found += [f"{scheme}, at {width}: {fault}" for fault in tab.evaluate(INSPECT)]
    tab.set_viewport_size({"width": 1280, "height": 900})
    return found


def faults_at_400_percent(tab):
    open_everything(tab)
    faults = [fault for fault in tab.evaluate(INSPECT) if not fault.startswith("image not shown")]
    return faults + [f"keys cannot scroll {box}" for box in tab.evaluate(OUT_OF_REACH)]


def check_that_solutions_and_answers_open(tab):
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


def check_download(tab, page):
    source = page.with_suffix(".md" if page.stem == "teaching" else ".ipynb")
    tab.locator(".dropdown-download-buttons > button").click()
    with tab.expect_download() as download:
        tab.locator("a.btn-download-source-button").click()
    assert download.value.suggested_filename == source.name
    assert Path(download.value.path()).read_bytes() == source.read_bytes()
    assert tab.url.endswith(page.name)


def test_front_page_is_where_the_folder_opens(open_site):
    for way in ("http", "file"):
        tab, home, _ = open_site(way)
        tab.goto(home + "index.html")
        tab.wait_for_url(home + "book/index.html")


@pytest.mark.parametrize("way", ["http", "file"])
def test_search_finds_a_page(open_site, way):
    tab, home, _ = open_site(way)
    tab.goto(home + "search.html?q=distortion")
    tab.wait_for_selector("#search-results li a")


# What the search page does at an address with `?q=`, without the excerpts, for which it would load the pages found.
SEARCH = """(query) => {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  history.replaceState(null, "", `?q=${encodeURIComponent(query)}`);
  document.getElementById("search-results").replaceChildren();
  Search.performSearch(query);
}"""


def search(tab, query):
    """Search on the search page, which is open; wait for all results, or for the word that there are none."""
    tab.evaluate(SEARCH, query)
    tab.wait_for_function("document.querySelector('.search-summary').innerText")


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
    only = SoupStrainer("div", class_=re.compile(r"\bproof\b"))
    for path in sorted((site / "notebooks").glob("*.html")):
        for block in BeautifulSoup(path.read_text(), "html.parser", parse_only=only).select("div.proof[id]"):
            if number := block.select_one(".caption-number"):  # a proof has none
                number = number.extract().get_text().strip()
                name = block.select_one(".admonition-title").get_text().strip()
                yield path.name, number, name.removeprefix("(").removesuffix(")"), block["id"]


def test_search_finds_every_theorem_by_number_and_by_name(open_site, site):
    tab, home, _ = open_site("http")
    found = list(proofs(site))
    assert len(found) > 30
    tab.goto(home + "search.html")
    for page, number, name, anchor in found:
        # In a name with a formula the formula is typed as it is read.
        name = name.replace(r"\(Y = X \oplus N\)", "Y = X ⊕ N")
        assert "\\" not in name, name
        for query in (number, name.lower()):
            search(tab, query)
            assert tab.locator(f"#search-results a[href$='{page}#{anchor}']").count(), query
    # The result leads to the theorem.
    tab.locator(f"#search-results a[href$='#{anchor}']").first.click()
    tab.wait_for_url(f"**/{page}#{anchor}")
    tab.evaluate("window.MathJax && MathJax.startup.promise")
    assert tab.locator(f"#{anchor}").is_visible()


# What is searched for, and what is told to be searched for instead.
RESPELLED = {
    "privatiser": "privatizer",
    "Randomised response": "randomized response",
    "optimisation": "optimization",
    "sanitiser": "privatizer",
    "coupling": "plan",
    "in favor of": "in favour of",
    "bounds for the centre": None,
    "GAN": None,
    "optimal transport": None,
    "colour": None,
    "xyzzy": None,
}


def test_search_knows_other_spellings_and_words(open_site, subtests):
    tab, home, problems = open_site("http")
    tab.goto(home + "search.html")
    for query, instead in RESPELLED.items():
        with subtests.test(query=query):
            search(tab, query)
            assert (tab.locator("#search-results li").count() > 0) == (query != "xyzzy")
            told = tab.locator(".search-respelled b").all_inner_texts()
            assert told == ([instead] if instead else [])
    assert problems == []


@pytest.mark.parametrize("way", ["http", "file"])
def test_search_finds_the_numbers_of_the_paper(open_site, way, subtests):
    tab, home, _ = open_site(way)
    for query in ("Theorem 3", "Proposition 1", "Table 4", "Figure 13", "Equation 37", "Algorithm 1"):
        with subtests.test(query=query):
            tab.goto(f"{home}search.html?q={quote(query)}")
            anchor = "#paper-" + query.lower().replace(" ", "-")
            tab.locator(f"#search-results a[href$='{anchor}']").click(timeout=SEARCH_TIMEOUT)
            tab.wait_for_url(f"**/paper_index.html{anchor}")
            assert query in tab.locator(anchor).inner_text()


def test_search_puts_the_item_of_the_paper_first(open_site, subtests):
    """The book's own items have numbers by chapter, so that a bare one is the paper's."""
    tab, home, _ = open_site("http")
    tab.goto(home + "search.html")
    for query in ("Theorem 3", "theorem 1", "Table 4"):
        with subtests.test(query=query):
            search(tab, query)
            first = tab.locator("#search-results li > a").first.inner_text().split(" > ")[-1]
            assert first.lower().startswith(f"{query.lower()} of the paper: ")


def test_a_phone_fades_what_scrolls_until_its_end(open_site):
    # Narrower than most phones: at 390 px the formulas are written to fit.
    tab, home, _ = open_site("http", viewport={"width": 280, "height": 844})
    for page, selector in (
        ("notebooks/06_gaussian_pdi.html", "#equation-eq-gpdi-accuracy > mjx-container"),
        ("notebooks/20_learned_without_a_family.html", ".pst-scrollable-table-container:has(#tab-net-space)"),
        ("book/explorer.html", ".gap-explorer .scroll"),
    ):
        visit(tab, home + page)
        box = tab.locator(selector)
        tab.wait_for_selector(f"{selector}.more-to-come")
        assert "gradient" in box.evaluate("e => getComputedStyle(e).maskImage")
        box.evaluate("e => e.scrollTo(e.scrollWidth, 0)")
        tab.wait_for_selector(f"{selector}:not(.more-to-come)")
    # The number of a formula stands beside it, not on it.
    visit(tab, home + "notebooks/06_gaussian_pdi.html")
    formula, number = (tab.locator(f"#equation-eq-gpdi-accuracy > {name}") for name in ("mjx-container", "span.eqno"))
    right = formula.bounding_box()["x"] + formula.bounding_box()["width"]
    assert right <= number.bounding_box()["x"] + 1


def test_a_phone_fades_nothing_that_it_shows_whole(open_site):
    tab, home, _ = open_site("http", viewport={"width": 390, "height": 844})
    for page in ("notebooks/20_learned_without_a_family.html", "notebooks/13_strong_adversaries.html"):
        visit(tab, home + page)
        tab.evaluate("MathJax.startup.promise")
        whole = "[...document.querySelectorAll('.more-to-come')].filter(e => e.scrollWidth <= e.clientWidth + 1)"
        tab.wait_for_function(f"{whole}.length === 0")


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


ASK = """(host) => Promise.all([
  new Promise((done) => Object.assign(new Image(), { onload: done, onerror: done, src: `http://${host}/image.png` })),
  fetch(`http://${host}/fetched`, { mode: "no-cors" }).catch(() => {}),
])"""


def test_requests_to_other_hosts_fail_and_are_told(open_site, foreign):
    (by_number, by_name), asked = foreign
    for way in ("http", "file"):
        tab, home, problems = open_site(way)
        tab.goto(home + "book/howto.html")
        for host in (by_number, by_name):
            tab.evaluate(ASK, host)
            # This machine, by its number, is the only one that the browser reaches, and without network none.
            fails = host == by_name or way == "file"
            for url in (f"http://{host}/image.png", f"http://{host}/fetched"):
                assert f"asks for {url}" in problems
                assert not fails or any(problem.startswith(f"failed: {url}: net::ERR_") for problem in problems)
        assert set(asked) == ({"/image.png", "/fetched"} if way == "http" else set())
        asked.clear()


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
