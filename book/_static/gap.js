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

document.addEventListener("DOMContentLoaded", () => {
  // The theme's download button only opens the file, and a browser may show a notebook as text.
  document.querySelectorAll("a.btn-download-source-button").forEach((link) => link.setAttribute("download", ""));

  // Roles that are out of date or out of place: the works of the bibliography, and the logo outside of any landmark.
  document.querySelectorAll("[role=doc-biblioentry]").forEach((work) => work.setAttribute("role", "listitem"));
  document.querySelectorAll(".navbar-brand.logo").forEach((logo) => {
    logo.parentElement.setAttribute("role", "navigation");
    logo.parentElement.setAttribute("aria-label", "Front page");
  });

  // Anything that makes a box scroll changes the height of the page: the window, a formula set, a solution opened.
  new ResizeObserver(letKeysScroll).observe(document.querySelector("main"));
  addEventListener("hashchange", openTarget);
  openTarget();
});
addEventListener("beforeprint", preparePaper);
addEventListener("afterprint", () => restore());
