"""Whether everybody can use the site: axe-core on every page in both themes, the keyboard, paper."""

import re

import pytest
from browsing import open_everything, pages_of, visit
from project import ROOT

pytestmark = pytest.mark.slow

AXE = (ROOT / "tests" / "axe" / "axe.min.js").read_text(encoding="utf-8")

# axe takes a minute for the thousands of coloured words, table rows, functions and formulas of a long page. One word of
# each kind is enough, since the kind has the colour, and the first rows of a table and functions of a module. Formulas
# are checked in full on one page.
THIN = """() => {
  const seen = new Set();
  for (const word of document.querySelectorAll(".highlight pre span, dt.sig span")) {
    if (seen.has(word.className)) word.replaceWith(word.textContent);
    else seen.add(word.className);
  }
  document.querySelectorAll("pre, dt.sig").forEach((code) => code.normalize());
  document.querySelectorAll("tbody tr:nth-child(n + 5), section > dl.py:nth-of-type(n + 4)").forEach((e) => e.remove());
  document.querySelectorAll(".math").forEach((formula) => (formula.textContent = "x"));
}"""

# Every violation of any grade, as a sentence. No rule is left out.
RUN = """(rules) => axe.run(document, { resultTypes: ["violations"], ...rules }).then(({ violations }) =>
  violations.map(({ id, nodes }) =>
    `${id}: ${nodes.length} x ${nodes[0].target.join(" ")} ${nodes[0].failureSummary.replace(/\\s+/g, " ")}`))"""

COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}  # the rules that another theme can break

# The Tab key also stops in the browser itself, and at the ends of the page; fewer than this many times.
BROWSER_STOPS = 20


def test_axe_finds_nothing_in_either_theme(open_site, site):
    look = {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}}
    whole, home, _ = open_site("file", **look)
    thin, _, _ = open_site("file", **look)
    thin.route("**/mathjax/**", lambda route: route.abort())
    found = []
    for page in pages_of(site):
        tab = whole if page == "book/notation.html" else thin
        tab.goto(home + page)
        if tab is whole:
            tab.evaluate("MathJax.startup.promise")
        open_everything(tab)
        if tab is thin:
            tab.evaluate(THIN)
        tab.evaluate(AXE)
        found += [f"{page}, light: {problem}" for problem in tab.evaluate(RUN, {})]
        tab.evaluate("document.documentElement.dataset.theme = 'dark'")
        found += [f"{page}, dark: {problem}" for problem in tab.evaluate(RUN, COLOURS)]
    assert found == [], "\n" + "\n".join(found)


def test_a_formula_is_a_stop_of_the_tab_key_only_where_it_scrolls(open_site):
    tab, home, _ = open_site("file", viewport={"width": 320, "height": 800})
    visit(tab, home + "notebooks/03_binary_pdd.html")
    open_everything(tab)
    stops = tab.evaluate("document.querySelectorAll('mjx-container[tabindex=\"0\"]').length")
    formulas = tab.locator("mjx-container").count()
    assert 0 < stops < formulas / 5
    tab.set_viewport_size({"width": 1280, "height": 800})
    tab.wait_for_function("!document.querySelector('mjx-container[tabindex=\"0\"]')")


def test_the_skip_link_comes_first_and_leads_to_the_text(open_site):
    tab, home, _ = open_site("http", viewport={"width": 1280, "height": 900})
    visit(tab, home + "book/howto.html")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent").strip() == "Skip to main content"
    tab.wait_for_function("document.activeElement.getBoundingClientRect().top >= 0")  # it slides in
    assert tab.locator(":focus").bounding_box()["height"] > 10
    tab.keyboard.press("Enter")
    assert tab.url.endswith("#main-content")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_the_keyboard_reaches_every_control_and_shows_where_it_is(open_site):
    tab, home, _ = open_site("http", viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    visit(tab, home + "notebooks/16_rerun.html")
    tab.add_style_tag(content="* { transition: none !important }")
    tab.evaluate(
        """() => [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
        .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled)
        .forEach((e, i) => (e.dataset.stop = i))"""
    )
    stops = tab.locator("[data-stop]").count()
    assert stops > 40
    reached, hidden = set(), []
    for _ in range(stops + BROWSER_STOPS):
        tab.keyboard.press("Tab")
        stop, name, shown = tab.evaluate(
            """() => {
              const e = document.activeElement, style = getComputedStyle(e);
              const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
              const box = e.getBoundingClientRect();
              const seen = box.width > 0 && box.bottom > 0 && box.top < innerHeight && style.opacity > 0;
              return [e.dataset.stop ?? "", e.outerHTML.slice(0, 120), seen && (ring || style.boxShadow !== "none")];
            }"""
        )
        if stop and stop not in reached and not shown:
            hidden.append(name)
        reached.add(stop)
    missed = tab.evaluate(
        "(reached) => [...document.querySelectorAll('[data-stop]')]"
        ".filter((e) => !reached.includes(e.dataset.stop)).map((e) => e.outerHTML.slice(0, 120))",
        list(reached),
    )
    assert missed == []
    assert hidden == [], hidden


def test_what_unfolds_is_named_by_what_is_seen(open_site):
    tab, home, _ = open_site("http", viewport={"width": 1280, "height": 900})
    visit(tab, home + "notebooks/04_binary_pdi.html")
    seen = "e => getComputedStyle(e, '::before').content.slice(1, -1)"
    buttons = tab.locator("main button.toggle-button")
    assert buttons.count() > 5
    for button in buttons.all():
        title = button.locator("xpath=..").inner_text()
        exercise = re.match(r"Solution to\s+(Exercise [\d.]+) ", title)
        rest = f" solution to {exercise[1]}" if exercise else " the answer"
        for word in ("Show", "Hide"):
            assert button.evaluate(seen) == word
            assert button.get_attribute("aria-label") == word + rest
            button.press("Enter")
    cells = tab.locator("main details > summary:visible")
    assert cells.count() > 3
    for cell in cells.all():
        assert cell.get_attribute("aria-label") is None
        assert re.match("(Check|Code|Set-up|\\d+ checks hold)", cell.inner_text().strip())


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_keys_open_a_solution(open_site, key):
    tab, home, _ = open_site("http")
    visit(tab, home + "notebooks/03_binary_pdd.html")
    solution = tab.locator(".solution.dropdown").first
    text = solution.locator("section").first
    assert not text.is_visible()
    solution.locator("button.toggle-button").focus()
    tab.keyboard.press(key)
    assert text.is_visible()
    tab.keyboard.press(key)
    assert not text.is_visible()


def test_paper_is_light_and_shows_what_is_folded(open_site):
    tab, home, _ = open_site("http", color_scheme="dark")
    visit(tab, home + "notebooks/14_scorecard.html")
    tab.emulate_media(media="print", color_scheme="dark")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate("document.documentElement.dataset.theme") == "light"
    assert all(table.is_visible() for table in tab.locator("table.scorecard").all())
    for hidden in (".bd-sidebar-primary", ".bd-header-article", "button.copybtn", "details.hide", "a.headerlink"):
        assert not any(element.is_visible() for element in tab.locator(hidden).all()), hidden
    # Of what is wider than the paper nothing is cut off, except pictures of tables: they are as wide as they are.
    assert tab.evaluate("[...document.querySelectorAll('main pre')].every((e) => e.scrollWidth <= e.clientWidth + 1)")
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    tab.emulate_media(media="screen")
    assert not tab.locator("table.scorecard").first.is_visible()
