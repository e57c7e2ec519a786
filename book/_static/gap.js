// What the theme leaves to be wished for; nothing else.

// Things that scroll in a box of their own. Who has no mouse can scroll what has the focus.
const SCROLLERS = "pre, div.math, mjx-container, .output, .pst-scrollable-table-container, .cell_output";

function letKeysScroll() {
  for (const box of document.querySelectorAll(SCROLLERS)) {
    const scrolls = box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX);
    if (scrolls) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

// What scrolls sideways fades where more is to come: many screens show no scrollbar.
const FADING = ":is(div, span).math > mjx-container, .pst-scrollable-table-container, .gap-explorer .scroll";

function fade(box) {
  const toCome = box.scrollWidth - box.scrollLeft - box.clientWidth;
  box.classList.toggle("more-to-come", toCome > 5); // a slanted letter with a hat leans out of its box by less
}

// A figure that a phone shrinks to half its size or less can be opened alone, and be zoomed there.
function openFigures() {
  for (const image of document.querySelectorAll("main img")) {
    const link = image.closest("a");
    const full = image.naturalWidth || Number(image.getAttribute("width")); // before it is loaded, what the page says
    const small = image.width > 0 && full > 2 * image.width;
    if (small && !link) {
      const opener = document.createElement("a");
      opener.className = "full-size";
      opener.href = image.src;
      opener.setAttribute("aria-label", `Open the figure in full size: ${image.alt}`);
      image.replaceWith(opener);
      opener.append(image);
    } else if (!small && link?.matches(".full-size")) link.replaceWith(image);
  }
}

function fit() {
  letKeysScroll();
  document.querySelectorAll(FADING).forEach(fade);
  openFigures();
}

// One switch for all code of a page, which the next page remembers. A cell can still be opened alone.
const CODE = "gap-code";

function addCodeSwitch() {
  const folds = [...document.querySelectorAll("main details.hide")];
  const place = document.querySelector(".article-header-buttons");
  if (!folds.length || !place) return;
  const button = document.createElement("button");
  button.className = "btn btn-sm code-switch";
  const set = (open) => {
    folds.forEach((fold) => (fold.open = open));
    button.textContent = open ? "Hide all code" : "Show all code";
  };
  button.addEventListener("click", () => {
    const open = button.textContent.startsWith("Show");
    localStorage.setItem(CODE, open ? "open" : "");
    set(open);
  });
  set(localStorage.getItem(CODE) === "open");
  place.prepend(button);
}

// The names that screen readers say: the theme calls everything that unfolds "Toggle hidden content", whatever is seen.
function nameToggles() {
  // Seen is "Show code cell source", which is name enough.
  document.querySelectorAll("details > summary").forEach((summary) => summary.removeAttribute("aria-label"));
  for (const button of document.querySelectorAll("button.toggle-button")) {
    const title = button.closest(".admonition-title").textContent.trim().replace(/\s+/g, " ").split(" (")[0];
    const what = title === "Answer" ? "the answer" : title[0].toLowerCase() + title.slice(1);
    const name = () => {
      const label = `${button.dataset.toggleHint} ${what}`; // the hint is what is seen: Show or Hide
      if (button.getAttribute("aria-label") !== label) button.setAttribute("aria-label", label);
    };
    new MutationObserver(name).observe(button, { attributeFilter: ["data-toggle-hint"] });
    name();
  }
}

// What a phone shows in another way: cells of a table one below the other, and printed sentences in lines of its width.
// Printed columns, told by a gap within a line, keep their lines.
function prepareNarrow() {
  for (const table of document.querySelectorAll("table.stacked")) {
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
    for (const row of table.querySelectorAll("tbody tr"))
      [...row.cells].forEach((cell, column) => (cell.dataset.head = heads[column]));
  }
  for (const printed of document.querySelectorAll(".cell_output pre"))
    printed.classList.toggle("sentences", !/\S {2,}\S/.test(printed.textContent));
}

// A bracket stays in the line of the formula that it opens: gap.css joins them.
function joinBrackets() {
  for (const formula of document.querySelectorAll("main span.math"))
    if (/[([]$/.test(formula.previousSibling?.data)) formula.classList.add("after-bracket");
}

// A link may lead into a table that is folded.
function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target && target.closest("details:not([open])");
  if (folded) {
    folded.open = true;
    target.scrollIntoView();
  }
}

// On paper: light, and everything unfolded but the code that the page hides.
let restore = () => {};

function preparePaper() {
  const { theme } = document.documentElement.dataset;
  const folded = [...document.querySelectorAll("main details:not(.hide):not([open])")];
  document.documentElement.dataset.theme = "light";
  folded.forEach((details) => (details.open = true));
  restore = () => {
    document.documentElement.dataset.theme = theme;
    folded.forEach((details) => (details.open = false));
  };
}

// The theme's download button only opens the file, and a browser may show a notebook as text. Of a site that is read
// from a folder it does so even for a link that says `download`. There the file comes as a script, which calls this.
function gapDownload(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = name;
  link.click();
}

function letDownload() {
  for (const link of document.querySelectorAll("a.btn-download-source-button, a.btn-download-notebook-button")) {
    link.setAttribute("download", "");
    if (location.protocol === "file:")
      link.addEventListener("click", (event) => {
        event.preventDefault();
        const script = document.createElement("script");
        script.src = `${link.href}.js`;
        script.onload = () => script.remove();
        document.head.append(script);
      });
  }
}

document.addEventListener("DOMContentLoaded", () => {
  letDownload();
  addCodeSwitch();
  prepareNarrow();
  joinBrackets();
  // A name contains what is seen: on the search button "Search Ctrl+K", on the other an icon called after the mode.
  document.querySelectorAll("button.search-button-field").forEach((button) => button.removeAttribute("aria-label"));
  for (const button of document.querySelectorAll("button.theme-switch-button")) {
    const modes = [...button.querySelectorAll("[data-mode]")].map((icon) => icon.title || icon.textContent.trim());
    button.setAttribute("aria-label", `${button.getAttribute("aria-label")}: ${modes.join(", ")}`);
  }

  // Roles that are out of date or out of place: the works of the bibliography, and the logo outside of any landmark.
  document.querySelectorAll("[role=doc-biblioentry]").forEach((work) => work.setAttribute("role", "listitem"));
  document.querySelectorAll(".navbar-brand.logo").forEach((logo) => {
    logo.parentElement.setAttribute("role", "navigation");
    logo.parentElement.setAttribute("aria-label", "Front page");
  });

  nameToggles();
  // Anything that makes a box scroll changes the height of the page: the window, a formula set, a solution opened.
  new ResizeObserver(fit).observe(document.querySelector("main"));
  // A formula seems wider than it is until MathJax, with all that it sets at once, has hidden the copies for screen readers.
  addEventListener("load", () => window.MathJax?.startup?.promise.then(fit));
  document.addEventListener("scroll", ({ target }) => target.matches?.(FADING) && fade(target), { capture: true });
  addEventListener("hashchange", openTarget);
  openTarget();
});
addEventListener("beforeprint", preparePaper);
addEventListener("afterprint", () => restore());
