"""The site as a reader sees it: every page in a real browser, by http and by file, light and dark, wide and narrow."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytestmark = pytest.mark.slow

# What is wrong with a page at one width, as a list of sentences. Runs in the page.
INSPECT = r"""
() => {
  const problems = [];
  const complain = (text, nodes) => nodes.length && problems.push(`${text}: ${nodes.slice(0, 3).join(" | ")}`);
  const content = document.querySelector("main");
  const all = (selector) => [...content.querySelectorAll(selector)];

  if (document.documentElement.scrollWidth > innerWidth) {
    problems.push(`page is ${document.documentElement.scrollWidth} px wide`);
  }

  complain("mathematics error", all("mjx-merror, [data-mjx-error]").map((e) => e.textContent));
  complain("not typeset", all(".math").filter((e) => !e.querySelector("mjx-container")).map((e) => e.textContent));
  const outOfReach = (e) => e.scrollWidth > e.clientWidth + 1 && /hidden|clip/.test(getComputedStyle(e).overflowX);
  const cut = all("span.math, span.math > mjx-container").filter(outOfReach);
  complain("formula cut off", cut.map((e) => e.textContent));
  const texts = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
  const raw = [];
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    const isCode = parentElement.closest("pre, code, script, style, mjx-container");
    if (!isCode && /\\[()\[\]]|\$[^$]+\$|\$\$/.test(data)) raw.push(data);
  }
  complain("raw mathematics", raw);

  complain("image not shown", all("img").filter((e) => !e.complete || !e.naturalWidth).map((e) => e.src));

  // Contrast of text and ground as in WCAG 2.1, where 4.5 is the least for text.
  const rgba = (color) => [...color.match(/[\d.]+/g).map(Number), 1].slice(0, 4);
  const over = ([r, g, b, a], below) => [r, g, b].map((c, i) => a * c + (1 - a) * below[i]);
  const ground = (e) => e ? over(rgba(getComputedStyle(e).backgroundColor), ground(e.parentElement)) : [255, 255, 255];
  const light = (color) => {
    const [r, g, b] = color.slice(0, 3).map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const pale = all("p, li, dt, td, figcaption, h1, h2, pre, mjx-container").filter((e) => {
    const [a, b] = [rgba(getComputedStyle(e).color), ground(e)].map(light);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
  });
  complain("hard to read", pale.map((e) => e.tagName + " " + e.textContent.trim().slice(0, 40)));
  const figures = all(".cell_output img").filter((e) => getComputedStyle(e).backgroundColor !== "rgb(255, 255, 255)" &&
    document.documentElement.dataset.theme === "dark");
  complain("figure without white ground", figures.map((e) => e.src));
  return problems;
}
"""


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def addresses(site):
    """Where the site begins, by the way it is reached."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {"http": f"http://127.0.0.1:{server.server_port}/", "file": site.as_uri() + "/"}
        server.shutdown()


@pytest.fixture
def open_site(browser, addresses):
    """A function that opens a tab without network; returns the tab, the site's address, and what goes wrong."""
    contexts = []

    def open_tab(way, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        tab, home, problems = context.new_page(), addresses[way], []

        def guard(route):
            url = route.request.url
            if url.startswith((home, "data:", "blob:")):
                route.continue_()
            else:
                problems.append(f"asks for {url}")
                route.abort()

        context.route("**/*", guard)
        if way == "file":
            context.set_offline(True)
        tab.on("console", lambda m: problems.append(f"console: {m.text}") if m.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: problems.append(f"script error: {error}"))
        tab.on("requestfailed", lambda request: problems.append(f"failed: {request.url}"))
        tab.on("response", lambda r: problems.append(f"{r.status}: {r.url}") if r.status >= 400 else None)
        return tab, home, problems

    yield open_tab
    for context in contexts:
        context.close()


def visit(tab, url):
    tab.goto(url)
    # Pages without mathematics do not load MathJax.
    tab.evaluate("window.MathJax && MathJax.startup.promise")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("way", ["http", "file"])
def test_every_page(open_site, site, way, scheme):
    tab, home, problems = open_site(way, color_scheme=scheme)
    found = []
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html") if "_static" not in path.parts}
    for page in sorted(pages - {"index.html"}):  # that one only leads on, see below
        visit(tab, home + page)
        assert tab.evaluate("document.documentElement.dataset.theme") == scheme
        for width in (1280, 390):
            tab.set_viewport_size({"width": width, "height": 900})
            found += [f"{page} at {width}: {problem}" for problem in tab.evaluate(INSPECT)]
        found += [f"{page}: {problem}" for problem in problems]
        problems.clear()
    assert found == [], "\n" + "\n".join(found)


def test_the_inspection_finds_what_is_wrong(open_site):
    tab, home, problems = open_site("http", viewport={"width": 390, "height": 900})
    visit(tab, home + "book/notation.html")
    assert tab.evaluate(INSPECT) == []
    tab.evaluate(
        r"""document.querySelector("main").insertAdjacentHTML("beforeend", `
        <p style="width: 600px">wide</p><p>\\(x\\)</p><p>$x$</p><span class="math">x</span><mjx-merror>bad</mjx-merror>
        <p><span class="math"><mjx-container style="width: 20px; overflow: hidden">x + y + z</mjx-container></span></p>
        <p style="color: #ddd; background: #fff">pale</p><img src="gone.png"><img src="http://example.org/far.png">`)"""
    )
    tab.wait_for_function("[...document.images].every((image) => image.complete)")
    kinds = [problem.split(":")[0] for problem in tab.evaluate(INSPECT)]
    assert kinds[0].startswith("page is ")
    assert kinds[1:] == [
        "mathematics error",
        "not typeset",
        "formula cut off",
        "raw mathematics",
        "image not shown",
        "hard to read",
    ]
    assert any(problem.startswith("404") for problem in problems)
    assert "asks for http://example.org/far.png" in problems


@pytest.mark.parametrize("way", ["http", "file"])
def test_solutions_and_answers_open(open_site, site, way):
    tab, home, _ = open_site(way)
    chapters = [path for path in sorted((site / "notebooks").glob("*.html")) if path.stem[:2] < "14"]
    assert len(chapters) >= 13  # the rest are pages to look things up in, without exercises
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


def test_notebook_is_downloaded_not_shown(open_site, site):
    tab, home, _ = open_site("http")
    for path in sorted((site / "_sources" / "notebooks").glob("*.ipynb")):
        visit(tab, f"{home}notebooks/{path.stem}.html")
        tab.locator(".dropdown-download-buttons > button").click()
        with tab.expect_download() as download:
            tab.locator("a.btn-download-source-button").click()
        assert download.value.suggested_filename == path.name


@pytest.mark.parametrize("way", ["http", "file"])
def test_search_finds_a_page(open_site, way):
    tab, home, _ = open_site(way)
    tab.goto(home + "search.html?q=distortion")
    tab.wait_for_selector("#search-results li a")
