// The excerpts of search results; search_scripts.py puts this on the search page.

// In the text of a page a formula is one character, of those that Unicode gives to nobody, so that no excerpt cuts it.
const FIRST = 0xe000;
const BEFORE = 120; // characters before what was searched for, as in Sphinx
const LENGTH = 240;
const NO_PROSE = ".headerlink, script, style, div.cell_input, div.cell_output";

// The text of a page or of a place on it, and its formulas. Displayed ones are left out.
function readPage(html, anchor) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const formulas = [];
  page.querySelectorAll("div.math").forEach((formula) => formula.replaceWith(" … "));
  page.querySelectorAll("span.math").forEach((formula) => {
    formula.replaceWith(String.fromCharCode(FIRST + formulas.length));
    formulas.push(formula.textContent);
  });
  const article = page.querySelector("article");
  const found = anchor ? article?.querySelector(anchor) : null;
  const content = (found?.matches("dt") ? found.nextElementSibling : found) || article; // of a term, what it means
  content?.querySelectorAll(NO_PROSE).forEach((part) => part.remove());
  return { text: content ? content.textContent.replace(/\s+/g, " ").trim() : "", formulas };
}

// MathJax, which the search page has no use for until now.
let mathjax;

function loadMathJax() {
  mathjax ??= new Promise((done) => {
    window.MathJax = { options: { enableMenu: false }, startup: { typeset: false, ready() {
      MathJax.startup.defaultReady();
      MathJax.startup.promise.then(done);
    } } };
    const script = document.createElement("script");
    script.src = `${document.documentElement.dataset.content_root}mathjax/tex-mml-chtml.js`;
    document.head.append(script);
  });
  return mathjax;
}

// One after the other, and only now with their TeX: what is searched for is marked in all text that is there before.
async function typeset(places) {
  await loadMathJax();
  places.forEach(([place, formula]) => (place.textContent = formula));
  mathjax = mathjax.then(() => MathJax.typesetPromise(places.map(([place]) => place)));
}

Search.makeSearchSummary = (html, keywords, anchor) => {
  const { text, formulas } = readPage(html, anchor);
  if (!text) return null;
  const lower = text.toLowerCase();
  const places = [...keywords].map((word) => lower.indexOf(word.toLowerCase())).filter((place) => place > -1);
  const near = Math.max((places.at(-1) ?? 0) - BEFORE, 0);
  const start = near && text.indexOf(" ", near) + 1; // no half words
  const end = start + LENGTH < text.length ? text.lastIndexOf(" ", start + LENGTH) : text.length;
  const excerpt = `${start ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;

  const paragraph = document.createElement("p");
  paragraph.className = "context";
  const toSet = [];
  for (const part of excerpt.split(/([\ue000-\uf8ff])/)) {
    const formula = formulas[part.charCodeAt(0) - FIRST];
    if (formula === undefined) {
      paragraph.append(part);
      continue;
    }
    const place = document.createElement("span");
    place.className = "math";
    paragraph.append(place);
    toSet.push([place, formula]);
  }
  if (toSet.length) typeset(toSet);
  return paragraph;
};
