"""Make the slides of the course, a deck for each session of the guide.

python tools/slides.py    writes the decks and what they need into _build/slides, in place of earlier ones

The guide, book/teaching.md, lists the chapters of a session. The notebooks say what goes on a slide: a cell with the
slide type Slide begins one, a cell with the type `-` continues it, and a cell without a type is left out.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat
import outputs
from nbconvert import SlidesExporter
from pybtex.database import Entry, parse_file

ROOT = Path(__file__).resolve().parent.parent
THEOREMS = "theorem|lemma|proposition|corollary|definition"


class Session(NamedTuple):
    """One session of the course.

    Attributes
    ----------
    number : int
    title : str
    chapters : list of str
        The names of their notebooks, in the order of the slides.
    outcomes : str
        What a student can do afterwards, a list in Markdown.
    """

    number: int
    title: str
    chapters: list[str]
    outcomes: str


def sessions() -> list[Session]:
    """Return the sessions that the guide plans."""
    guide = (ROOT / "book" / "teaching.md").read_text()
    pattern = (
        r"^### Session (\d+): (.+)\n(?s:.+?)^Chapters: (.+)\n(?s:.+?)"
        r"^\*\*Afterwards a student can\*\*\n\n((?:[- ].+\n)+)"
    )
    return [
        Session(int(number), title, re.findall(r"\{doc\}`/notebooks/(\w+)`", chapters), outcomes)
        for number, title, chapters, outcomes in re.findall(pattern, guide, re.MULTILINE)
    ]


def notebook(stem: str) -> nbformat.NotebookNode:
    """Read a chapter."""
    return nbformat.read(ROOT / "notebooks" / f"{stem}.ipynb", as_version=4)


def title_of(stem: str) -> str:
    """Return the title of a chapter."""
    return notebook(stem).cells[0].source.split("\n", 1)[0].removeprefix("# ")


def exercises(stem: str) -> list[tuple[str, str, str]]:
    """Return the exercises of a chapter as (title, grade, label)."""
    prose = "\n\n".join(cell.source for cell in notebook(stem).cells if cell.cell_type == "markdown")
    return re.findall(r"^:::\{exercise\} (.+) · ★+ (\w+)\n:label: (\S+)", prose, re.MULTILINE)


def names() -> dict[str, str]:
    """Return what a slide calls the things that a page links to: works, chapters, theorems, exercises."""
    found = {key: f"({author_and_year(work)})" for key, work in works().items()}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        found[path.stem] = f"*{title_of(path.stem)}*"
        prose = "\n\n".join(cell.source for cell in notebook(path.stem).cells if cell.cell_type == "markdown")
        for kind, title, label in re.findall(rf":::\{{prf:({THEOREMS})\}} (.+)\n:label: (\S+)", prose):
            found[label] = f"{kind.capitalize()} *{title}*"
        for title, _, label in exercises(path.stem):
            found[label] = f"exercise *{title}*"
    return found


def works() -> dict[str, Entry]:
    """Return the works of the bibliography by their keys."""
    return parse_file(ROOT / "book" / "references.bib").entries


def author_and_year(work: Entry) -> str:
    """Return how a slide cites a work."""
    last = [" ".join(person.prelast_names + person.last_names).strip("{}") for person in work.persons["author"]]
    who = last[0] if len(last) == 1 else " and ".join(last) if len(last) == 2 else f"{last[0]} et al."
    return f"{who}, {work.fields['year']}"


def plain(source: str, names: dict[str, str], numbers: dict[str, int]) -> str:
    """Turn the MyST of a cell into what nbconvert understands; `numbers` are those of the deck's labelled formulas."""
    source = re.sub(r"^#+ ", "## ", source)
    source = re.sub(
        rf"^:::\{{prf:({THEOREMS})\}} (.+)\n:label: .+\n\n((?s:.+?))\n:::$",
        lambda match: f'<div class="theorem">\n\n**{match[1].capitalize()}.** {match[2]}\n\n{match[3]}\n\n</div>',
        source,
        flags=re.MULTILINE,
    )
    source = re.sub(
        r"^::::\{admonition\} (.+)\n:class: .+\n\n((?s:.+?))\n\n:::\{admonition\} Answer\n.+\n\n((?s:.+?))\n:::\n::::$",
        '## \\1\n\n<div class="question">\n\n\\2\n\n</div>\n\n<div class="answer fragment">\n\n\\3\n\n</div>',
        source,
        flags=re.MULTILINE,
    )
    source = re.sub(r"\$\$ \((eq-[\w-]+)\)", lambda match: f"\\tag{{{numbers[match[1]]}}} $$", source)
    source = re.sub(r"\{eq\}`([\w-]+)`", lambda match: f"({numbers[match[1]]})", source)
    source = re.sub(r"\{term\}`(.+?)`", r"\1", source)
    source = re.sub(r"\{(?:doc|ref|prf:ref|cite)\}`(?:/notebooks/)?([\w-]+)`", lambda match: names[match[1]], source)
    # Punctuation stays with the formula before it, and a bracket with the one after it.
    formula = r"\$[^$]+\$(?!\$)"
    joined = rf"(?<![$\\])(\({formula}[.,;:?!)]*|{formula}[.,;:?!)]+)"
    source = re.sub(joined, r'<span class="joined">\1</span>', source)
    if left := re.search(r":::|\{[\w:]+\}`", source):
        raise ValueError(f"no slide can show {source[left.start() :][:60]!r}")
    return source


def opening(source: str) -> str:
    """Return the first slide of a chapter: its title and its goals."""
    match = re.match(r"# (.+)\n(?s:.+)\*\*You will learn\*\*\n\n((?s:.+?))\n\n\*\*", source)
    if match is None:
        raise ValueError(f"a chapter must open with its title and what it teaches, got {source[:60]!r}")
    title, goals = match.groups()
    return f'<div class="opening">\n\n# {title}\n\n</div>\n\n{goals}'


def shown(cell: nbformat.NotebookNode) -> str:
    """Return a code cell as markdown: its code if the metadata asks for it, else its figure, else what it prints."""
    if cell.metadata.slideshow.get("code"):
        return f"```python\n{cell.source}\n```"
    for output in cell.outputs:
        if "image/png" in output.get("data", {}):
            alt = cell.metadata.mystnb.image.alt.replace('"', "&quot;")
            data = output.data["image/png"].replace("\n", "")
            return f'<figure><img alt="{alt}" src="data:image/png;base64,{data}"></figure>'
    return f"```text\n{''.join(output.text for output in cell.outputs).rstrip()}\n```"


def chosen(stem: str) -> Iterator[tuple[str, str, str]]:
    """Yield id, slide type and MyST of the cells of a chapter that are on a slide; every slide gets a title."""
    section = ""
    for cell in notebook(stem).cells:
        headings = re.findall(r"^#{2,3} (.+)$", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else []
        kind = cell.metadata.get("slideshow", {}).get("slide_type")
        if kind:
            source = cell.source if cell.cell_type == "markdown" else shown(cell)
            source = re.sub(r"^\([\w-]+\)=\n", "", source, flags=re.MULTILINE)  # labels
            if source.startswith("# "):
                source = opening(source)
            elif kind == "slide" and not re.match("#|::::", source):
                source = f"## {section}\n\n{source}"
            yield cell.id, kind, source
        section = headings[-1] if headings else section


def deck(session: Session) -> nbformat.NotebookNode:
    """Return the slides of one session as a notebook of markdown cells."""
    slides = [cell for stem in session.chapters for cell in chosen(stem)]
    slides = [("first", "slide", first_slide(session)), *slides, ("last", "slide", last_slide(session))]
    labels = re.findall(r"\$\$ \((eq-[\w-]+)\)", "\n".join(source for _, _, source in slides))
    numbers, called, cells = {label: number for number, label in enumerate(labels, 1)}, names(), []
    for name, kind, source in slides:
        try:
            text = plain(source, called, numbers)
        except (KeyError, ValueError) as error:
            raise ValueError(f"cell {name}: {error}") from error
        cells.append(nbformat.v4.new_markdown_cell(text, id=name, metadata={"slideshow": {"slide_type": kind}}))
    title = f"Session {session.number}: {session.title}"
    return nbformat.v4.new_notebook(cells=cells, metadata={"title": title})


def first_slide(session: Session) -> str:
    """Return the title of a session, with its chapters."""
    chapters = "\n".join(f"- {title_of(stem)}" for stem in session.chapters)
    return (
        f'<div class="opening">\n\nGenerative adversarial privacy, session {session.number}\n\n'
        f"# {session.title}\n\n</div>\n\n{chapters}"
    )


def last_slide(session: Session) -> str:
    """Return what a student can do after a session, and the exercises by grade."""
    grades: dict[str, list[str]] = {grade: [] for grade in ("easy", "medium", "hard")}
    for stem in session.chapters:
        for title, grade, _ in exercises(stem):
            grades[grade].append(f"{title} ({int(stem[:2])})")
    lines = "\n".join(f"- *{grade}*: {'; '.join(titles)}" for grade, titles in grades.items())
    exercises_by_grade = f"**Exercises**, with the number of their chapter\n\n{lines}"
    return f"## What you can do now\n\n{session.outcomes}\n\n{exercises_by_grade}"


def write(out: Path) -> list[Path]:
    """Write all decks and what they need into the folder `out`, and return their paths.

    Raises `FileExistsError` if the folder has files that are no earlier decks.
    """
    exporter = SlidesExporter(template_file="slides.html.j2", extra_template_paths=[str(ROOT / "tools")])
    with outputs.new_version(out, "slides") as folder:
        names = [f"session_{session.number}.html" for session in sessions()]
        for name, session in zip(names, sessions(), strict=True):
            page, _ = exporter.from_notebook_node(deck(session))
            (folder / name).write_text(page, encoding="utf-8")
        shutil.copytree(ROOT / "book" / "extra" / "mathjax", folder / "mathjax")
        shutil.copytree(ROOT / "book" / "reveal", folder / "reveal")
        shutil.copy(ROOT / "tools" / "slides.css", folder)
    return [out / name for name in names]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=ROOT / "_build" / "slides", help="a new or empty folder, or one of earlier slides"
    )
    try:
        paths = write(parser.parse_args().out)
    except OSError as error:
        sys.exit(f"The slides were not made: {error}")
    print(*paths, sep="\n")


if __name__ == "__main__":
    main()
