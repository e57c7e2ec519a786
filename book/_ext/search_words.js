// A word that no page has is searched for in the spelling of this book, or by the word that the book uses for it, and
// the reader is told. search_scripts.py puts this on the search page.
{
  const SPELLINGS = [
    [/is(e[drs]?|ing|ations?)$/, "iz$1"],
    [/or(s|ed|ing)?$/, "our$1"],
  ];
  const SYNONYMS = {
    coupling: "plan",
    eavesdropper: "adversary",
    equilibria: "equilibrium",
    license: "licence",
    obfuscation: "mechanism",
    obfuscator: "privatizer",
    sanitization: "mechanism",
    sanitizer: "privatizer",
  };

  const stemmer = new Stemmer();
  const own = (index, word) => Object.hasOwn(index, stemmer.stemWord(word));
  const isKnown = (word) => own(Search._index.terms, word) || own(Search._index.titleterms, word);

  function inThisBook(word) {
    if (stopwords.includes(word) || isKnown(word)) return word; // no page's index has "for": it is not "four"
    const spellings = [word, ...SPELLINGS.map(([ending, other]) => word.replace(ending, other))];
    const words = [...spellings, ...spellings.flatMap((spelling) => SYNONYMS[spelling] ?? [])];
    return words.find(isKnown) ?? word;
  }

  const parse = Search._parseQuery;
  Search._parseQuery = (query) => {
    const changed = query.replace(/\p{Letter}+/gu, (word) => {
      const other = inThisBook(word.toLowerCase());
      return other === word.toLowerCase() ? word : other;
    });
    if (changed !== query) {
      const said = document.createElement("p");
      said.className = "search-respelled";
      said.append("Searched for “", Object.assign(document.createElement("b"), { textContent: changed }), "”.");
      Search.status.before(said);
    }
    return parse(changed);
  };
}
