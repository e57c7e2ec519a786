"""Make the slides of the course, a deck for each session of the guide.

python tools/slides.py    writes the decks and what they need into _build/slides, in place of earlier ones

The guide, book/teaching.md, lists the chapters of a session, and its parts with their minutes. The notebooks say what
goes on a slide: a cell with the slide type Slide begins one, a cell with the type `-` continues it, and one without a
type is left out. book/teaching/slides.yml adds slides for what students do, and notes for whoever speaks.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import nbformat
import outputs
import yaml
from nbconvert import SlidesExporter
from pybtex.database import Entry, parse_file

ROOT = Path(__file__).resolve().parent.parent
THEOREMS = "theorem|lemma|proposition|corollary|definition"
# A chapter speaks of its cells, and a slide shows what a program prints.
CELLS = {
    r"\b(T|t)he claim in the last cell\b": "A claim of the chapter",
    r"\bThe next cell\b": "The program",
    r"\bthe next cell\b": "the program",
}
LONE = 12  # words: with fewer beside it a formula stands on no slide of its own


class Part(NamedTuple):
    """A part of a session.

    Attributes
    ----------
    begin, end : int
        Minutes from the start of the session.
    what : str
        What happens, in MyST, from the guide.
    starts : str
        The id of the first cell.
    say : str
        A note for whoever speaks.
    activity : dict or None
        A slide with a task: `before`, the id of a cell, `title` and `text`.
    """

    begin: int
    end: int
    what: str
    starts: str
    say: str
    activity: dict[str, str] | None


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
    parts : list of Part
    """

    number: int
    title: str
    chapters: list[str]
    outcomes: str
    parts: list[Part]


def sessions() -> list[Session]:
    """Return the sessions that the guide plans."""
    guide = (ROOT / "book" / "teaching.md").read_text()
    pattern = (
        r"^### Session (\d+): (.+)\n(?s:.+?)^Chapters: (.+)\n(?s:.+?)"
        r"^\| minutes \| what \|\n\|.+\n((?:\| .+\n)+)(?s:.+?)"
        r"^\*\*Afterwards a student can\*\*\n\n((?:[- ].+\n)+)"
    )
    additions = yaml.safe_load((ROOT / "book" / "teaching" / "slides.yml").read_text())
    return [
        Session(
            int(number),
            title,
            re.findall(r"\{doc\}`/notebooks/(\w+)`", chapters),
            outcomes,
            list(parts(table, additions[int(number)])),
        )
        for number, title, chapters, table, outcomes in re.findall(pattern, guide, re.MULTILINE)
    ]


def parts(table: str, additions: list[dict]) -> Iterator[Part]:
    """Yield the parts of a session, from the rows of its table in the guide and what slides.yml adds to each."""
    begin = 0
    for row, addition in zip(table.splitlines(), additions, strict=True):
        minutes, what = (cell.strip() for cell in row.strip("|").split("|"))
        yield Part(begin, begin + int(minutes), what, addition["starts"], addition["say"], addition.get("activity"))
        begin += int(minutes)


@cache
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


@cache
def names() -> dict[str, str]:
    """Return what a slide calls the things that a page links to: works, chapters, theorems, exercises."""
    found = {key: f"({author_and_year(work)})" for key, work in works().items()}
    for path in sorted((ROOT / "book").glob("*.md")):
        found[path.stem] = f"*{re.findall('^# (.+)', path.read_text(encoding='utf-8'), re.MULTILINE)[0]}*"
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
    for pattern, words in CELLS.items():
        source = re.sub(pattern, words, source)
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
    # A slide has its figure or table beside it, and no numbers.
    for start, article in ((r"(\A|\n\n|[.?!]\s+)", "The"), ("()", "the")):
        for kind, word in (("fig", "figure"), ("tab", "table")):
            source = re.sub(rf"{start}\{{numref\}}`{kind}-[\w-]+`", rf"\1{article} {word}", source)
    source = re.sub(r"\{(?:doc|ref|prf:ref|cite)\}`(?:/\w+/)?([\w-]+)`", lambda match: names[match[1]], source)
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
    """Return a code cell as markdown: its code if the metadata asks for it, else its figure, table, or printed text."""
    if cell.metadata.slideshow.get("code"):
        return f"```python\n{cell.source}\n```"
    for output in cell.outputs:
        if "image/png" in output.get("data", {}):
            alt = cell.metadata.mystnb.image.alt.replace('"', "&quot;")
            data = output.data["image/png"].replace("\n", "")
            return f'<figure><img alt="{alt}" src="data:image/png;base64,{data}"></figure>'
        if "text/html" in output.get("data", {}):
            return output.data["text/html"]
    return f"```text\n{''.join(output.text for output in cell.outputs).rstrip()}\n```"


def chosen(stem: str) -> Iterator[tuple[str, str, str]]:
    """Yield id, slide type and MyST of the cells of a chapter that are on a slide; every slide gets a title.

    What follows a formula that would stand alone goes on the slide of that formula.
    """
    section, lone = "", False
    for cell in notebook(stem).cells:
        headings = re.findall(r"^#{2,3} (.+)$", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else []
        kind = cell.metadata.get("slideshow", {}).get("slide_type")
        if kind:
            source = cell.source if cell.cell_type == "markdown" else shown(cell)
            source = re.sub(r"^\([\w-]+\)=\n", "", source, flags=re.MULTILINE)  # labels
            if source.startswith("# "):
                source = opening(source)
            elif kind == "slide" and not re.match("#|::::", source):
                kind, source = ("-", source) if lone else (kind, f"## {section}\n\n{source}")
            yield cell.id, kind, source
            lone = kind == "slide" and is_lone(source)
        section = headings[-1] if headings else section


def is_lone(source: str) -> bool:
    """Tell whether a slide has a formula and next to no words."""
    words = re.sub(r"^## .+|\$\$(?s:.+?)\$\$(?: \(eq-.+\))?", "", source, flags=re.MULTILINE).split()
    return "$$" in source and len(words) < LONE


def with_activities(session: Session, slides: list[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield the slides with those for what students do. Raises `ValueError` for one whose place is not in the deck."""
    waiting = {part.activity["before"]: (part.starts, part.activity) for part in session.parts if part.activity}
    for name, kind, source in slides:
        if name in waiting:
            starts, activity = waiting.pop(name)
            task = f'<div class="task">\n\n{activity["text"]}\n\n</div>'
            yield f"activity-{starts}", "slide", f"## {activity['title']}\n\n{task}"
        yield name, kind, source
    if waiting:
        raise ValueError(f"session {session.number}: no slide is called {', '.join(waiting)}")


def with_notes(session: Session, slides: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield the slides, each with a note: its part of the session, when this begins and ends, and what to say at first.

    Raises `ValueError` if a part begins with no slide, or with one before that of the part before it.
    """
    waiting, current, says = list(session.parts), "", ""
    for name, kind, source in slides:
        if waiting and kind == "slide" and waiting[0].starts == name.removeprefix("activity-"):
            part = waiting.pop(0)
            current, says = f"**{clock(part.begin)} to {clock(part.end)}.** {part.what}", f"\n\n{part.say}"
        if kind == "slide":
            source += f'\n\n<aside class="notes">\n\n{current}{says}\n\n</aside>'
            says = ""
        yield name, kind, source
    if waiting:
        raise ValueError(
            f"session {session.number}: no slide for {waiting[0].what!r} after those of the part before it"
        )


def clock(minutes: int) -> str:
    """Return a time from the start, such as 1:05."""
    return f"{minutes // 60}:{minutes % 60:02d}"


def deck(session: Session) -> nbformat.NotebookNode:
    """Return the slides of one session as a notebook of markdown cells."""
    slides = [cell for stem in session.chapters for cell in chosen(stem)]
    slides = [("first", "slide", first_slide(session)), *slides, ("last", "slide", last_slide(session))]
    slides = list(with_notes(session, with_activities(session, slides)))
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
