"""Number figures, tables, theorems and exercises by chapter: Figure 7.1 is the first of chapter 7.

Sphinx can count by section, but takes the number of a chapter from its place in the contents. Ours stands in its title,
"7 · Shifts", and stays when the contents change their order. Pages without a number count on together.
"""

import re
from collections import Counter

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def chapter(env: BuildEnvironment, page: str) -> str | None:
    """Return the number that the title of a page begins with."""
    match = re.match(r"(\d+) · ", env.titles[page].astext())
    return match and match[1]


def renumber(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Count again, by chapter, what Sphinx has counted through the book; return the pages, which show other numbers."""
    last: Counter[tuple[str | None, str]] = Counter()
    for page, kinds in env.toc_fignumbers.items():
        number = chapter(env, page)
        for kind, places in kinds.items():
            for label in sorted(places, key=places.__getitem__):
                last[number, kind] += 1
                count = last[number, kind]
                places[label] = (int(number), count) if number else (count,)
    return list(env.toc_fignumbers)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-get-updated", renumber, priority=900)  # late: after Sphinx has counted
    return {"parallel_read_safe": True, "parallel_write_safe": True}
