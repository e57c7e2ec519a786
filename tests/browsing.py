"""What the tests of the site do in a browser."""

# What is wrong with a page at one width, as a list of sentences. Runs in the page.
INSPECT = r"""
async () => {
  const problems = [];
  const complain = (text, nodes) => nodes.length && problems.push(`${text}: ${nodes.slice(0, 3).join(" | ")}`);
  const content = document.querySelector("main");
  const all = (selector) => [...content.querySelectorAll(selector)];

  if (document.documentElement.scrollWidth > innerWidth) {
    problems.push(`page is ${document.documentElement.scrollWidth} px wide`);
  }

  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  complain("id repeats", ids.filter((id, place) => ids.indexOf(id) < place));

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

  // Pictures wait until they come near: here all are asked for.
  await Promise.all(all("img").map((e) => (e.loading = "eager", e.decode().catch(() => null))));
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

# What a reader can open is open, and nothing fades while it is looked at.
OPEN = """() => {
  document.head.insertAdjacentHTML("beforeend",
    "<style>* { transition: none !important; animation: none !important }</style>");
  document.querySelectorAll("main details").forEach((details) => (details.open = true));
  document.querySelectorAll("main button.toggle-button-hidden").forEach((button) => button.click());
}"""

# What a reader without a mouse cannot scroll.
OUT_OF_REACH = """() => [...document.querySelectorAll("main *")].filter((e) =>
  e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(e).overflowX) &&
  e.tabIndex < 0 && !e.querySelector("a, button, [tabindex='0']")).map((e) => `${e.tagName}.${e.className}`)"""

# How a request ends whose page was left first. The browser asks for a page's icon when all else is there, so the next
# page may be visited before the answer; a file that is missing ends otherwise (ERR_FILE_NOT_FOUND, or 404).
LEFT = "net::ERR_ABORTED"


def visit(tab, url):
    """Open a page and wait for its mathematics."""
    tab.goto(url)
    tab.evaluate("window.MathJax && MathJax.startup.promise")  # a page without mathematics does not load MathJax


def open_everything(tab):
    """Unfold whatever a page folds, and wait until that is drawn."""
    tab.evaluate(OPEN)
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def assert_explorer_fits(tab, width):
    """Nothing of an explorer or player is wider than the page, and words are not shrunk with a plot."""
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    right = tab.locator(".gap-explorer .content > :not(.unseen), .gap-explorer figure svg").evaluate_all(
        "e => Math.max(...e.map((x) => x.getBoundingClientRect().right))"
    )
    assert right <= width
    sizes = tab.locator(".gap-explorer svg text").evaluate_all("e => e.map((t) => t.getBoundingClientRect().height)")
    assert min(size for size in sizes if size) > 9


def watch(tab):
    """The list that gets what goes wrong in a tab from now on: errors of its scripts, warnings, failed requests."""
    problems = []
    tab.on("console", lambda m: problems.append(f"console: {m.text}") if m.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: problems.append(f"script error: {error}"))
    tab.on("requestfailed", lambda r: None if r.failure == LEFT else problems.append(f"failed: {r.url}: {r.failure}"))
    return problems


def pages_of(site):
    """The pages of the built site, as paths in it; without the one at the root, which only leads on."""
    found = {path.relative_to(site).as_posix() for path in site.rglob("*.html") if "_static" not in path.parts}
    return sorted(found - {"index.html"})
