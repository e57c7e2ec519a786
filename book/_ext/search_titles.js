// Follows Sphinx's own rules for the order of search results; search_titles.py adds it.

// What reads exactly as the query comes first. "Theorem 3" is found by this short title; what is shown is the longest
// title of the same place, which says whose theorem it is.
Scorer.score = (() => {
  let shown;

  function longestTitles() {
    const found = {};
    for (const [title, places] of Object.entries(Search._index.alltitles)) {
      for (const [file, id] of places) {
        const place = `${file}#${id}`;
        if (title.length > (found[place] ?? "").length) found[place] = title;
      }
    }
    return found;
  }

  return (result) => {
    const [page, title, anchor, , score] = result;
    const file = Search._index.docnames.indexOf(page);
    const ahead = `${Search._index.titles[file]} > `;
    if (!anchor || !title.startsWith(ahead)) return score;
    shown ??= longestTitles();
    result[1] = ahead + shown[file + anchor];
    const query = new URLSearchParams(location.search).get("q") ?? "";
    return title.slice(ahead.length).toLowerCase() === query.trim().toLowerCase() ? score + 100 : score;
  };
})();
