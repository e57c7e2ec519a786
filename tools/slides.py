"""Make the slides of the course, a deck for each session of the guide.

python tools/slides.py    writes the decks and what they need into _build/slides, in place of earlier ones

The guide, book/teaching.md, plans the sessions and their parts, with minutes. Session N is written in
book/teaching/slides/session_N.md, one block a slide, and session_N.py beside it draws its figures and computes its
numbers:

    # Part 2                                begins the second row of the session's table in the guide
    ## The idea of the slide, a sentence
    Text, with {{name:.2f}} for a number that the function values() of session_N.py returns.
    ![Alternative text](name)               the figure that the function name() draws
    > A task for students.
    Answer: what the next key shows.
    Notes (5 min): what to say.
    ---

Nothing but the heading and the notes is obligatory. {prf:ref}`label` and {ref}`label` become the book's numbers.
"""

import argparse
import html
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import jinja2
import matplotlib
import nbformat
import outputs
from matplotlib import pyplot as plt
from nbconvert.filters import markdown2html

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "book" / "teaching" / "slides"
NUMBERED = "theorem|lemma|proposition|corollary|definition"
SLIDE = re.compile(
    r"(?:# Part (?P<part>\d+)\n+)?"
    r"## (?P<title>.+)\n+"
    r"(?P<text>(?s:.*?))"
    r"(?:^!\[(?P<alt>.+)\]\((?P<figure>\w+)\)\n+)?"
    r"(?:^Answer: (?P<answer>(?s:.+?))\n+)?"
    r"^Notes \((?P<minutes>\d+) min\): (?P<say>(?s:.+))",
    re.MULTILINE,
)


class Part(NamedTuple):
    """A part of a session: its minutes, and in MyST what happens, both from the guide."""

    minutes: int
    what: str


class Session(NamedTuple):
    """One session of the course.

    Attributes
    ----------
    number : int
    title : str
    chapters : list of str
        The names of their notebooks.
    outcomes : str
        What a student can do afterwards, a list in Markdown.
    parts : list of Part
    """

    number: int
    title: str
    chapters: list[str]
    outcomes: str
    parts: list[Part]


class Slide(NamedTuple):
    """One slide as it is written, its fields still open.

    Attributes
    ----------
    part : int
        The row of the session's table in the guide, from 1.
    minutes : int
    title, text, answer, say : str
        Markdown; `say` is the note for whoever speaks.
    figure, alt : str
        The function that draws the figure, and its alternative text.
    """

    part: int
    minutes: int
    title: str
    text: str
    answer: str
    say: str
    figure: str
    alt: str

    @property
    def kind(self) -> str:
        """What the slide shows: a task, a formula, code, a figure, or text alone."""
        marks = {"task": r"^> ", "formula": r"^\$\$", "code": r"^```"}
        for kind, mark in marks.items():
            if re.search(mark, self.text, re.MULTILINE):
                return kind
        return "figure" if self.figure else "text"


def sessions() -> list[Session]:
    """Return the sessions that the guide plans."""
    guide = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
    pattern = (
        r"^### Session (\d+): (.+)\n(?s:.+?)^Chapters: (.+)\n(?s:.+?)"
        r"^\| minutes \| what \|\n\|.+\n((?:\| .+\n)+)(?s:.+?)"
        r"^\*\*Afterwards a student can\*\*\n\n((?:[- ].+\n)+)"
    )
    return [
        Session(
            int(number),
            title,
            re.findall(r"\{doc\}`/notebooks/(\w+)`", chapters),
            outcomes,
            [Part(int(minutes), what) for minutes, what in re.findall(r"^\| (\d+) \| (.+) \|$", table, re.MULTILINE)],
        )
        for number, title, chapters, table, outcomes in re.findall(pattern, guide, re.MULTILINE)
    ]


def slides(session: Session) -> list[Slide]:
    """Return the slides that are written for a session. Raises `ValueError` for a block that is no slide."""
    written, part = [], 1
    source = (SOURCES / f"session_{session.number}.md").read_text(encoding="utf-8")
    for block in re.split(r"^---\n", source, flags=re.MULTILINE):
        match = SLIDE.fullmatch(block.strip())
        if match is None:
            raise ValueError(f"session {session.number}: no heading, text and notes in {block.strip()[:60]!r}")
        found = {name: (value or "").strip() for name, value in match.groupdict().items()}
        part = int(found.pop("part") or part)
        written.append(Slide(part=part, minutes=int(found.pop("minutes")), **found))
    return written


def in_time(session: Session, written: list[Slide]) -> list[tuple[Slide, int, int]]:
    """Return the slides with the minutes at which each begins and ends.

    Raises `ValueError` if the minutes of a part are not those of the guide, or its slides do not follow each other.
    """
    if [slide.part for slide in written] != sorted(slide.part for slide in written):
        raise ValueError(f"session {session.number}: its parts do not follow each other")
    for number, part in enumerate(session.parts, 1):
        minutes = sum(slide.minutes for slide in written if slide.part == number)
        if minutes != part.minutes:
            raise ValueError(
                f"session {session.number}: part {number} has {minutes} minutes, in the guide {part.minutes}"
            )
    ends = [sum(slide.minutes for slide in written[: i + 1]) for i in range(len(written))]
    return [(slide, end - slide.minutes, end) for slide, end in zip(written, ends, strict=True)]


def clock(minutes: int) -> str:
    """Return a time from the start, such as 1:05."""
    return f"{minutes // 60}:{minutes % 60:02d}"


@cache
def prose(stem: str) -> str:
    """Return the text of a chapter."""
    cells = nbformat.read(ROOT / "notebooks" / f"{stem}.ipynb", as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def title_of(stem: str) -> str:
    """Return the title of a chapter."""
    return prose(stem).split("\n", 1)[0].removeprefix("# ")


def exercises(stem: str) -> list[tuple[str, str]]:
    """Return the exercises of a chapter as (title, grade)."""
    return re.findall(r"^:::\{exercise\} (.+) · ★+ (\w+)\n:label: \S+", prose(stem), re.MULTILINE)


@cache
def numbers() -> dict[str, str]:
    """Return what the book calls its theorems and exercises, by label: Theorem 7.2 is the second of chapter 7."""
    found = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        last: Counter[str] = Counter()
        for kind, label in re.findall(
            rf"^:::\{{(?:prf:)?({NUMBERED}|exercise)\}} .+\n:label: (\S+)", prose(path.stem), re.MULTILINE
        ):
            last[kind] += 1
            found[label] = f"{kind.capitalize()} {int(path.stem[:2])}.{last[kind]}"
    return found


def filled(source: str, values: Mapping[str, object]) -> str:
    """Return Markdown with its fields and references filled. Raises `ValueError` for one that nothing answers."""
    try:
        source = re.sub(r"\{\{(\w+)(:[^{}]*)?\}\}", lambda m: f"{{0{m[2] or ''}}}".format(values[m[1]]), source)
        source = re.sub(r"\{(?:prf:)?ref\}`([\w-]+)`", lambda m: numbers()[m[1]], source)
        source = re.sub(r"\{doc\}`/notebooks/(\d+)_\w+`", lambda m: f"chapter {int(m[1])}", source)
        source = re.sub(r"\{doc\}`(\w+)`", lambda m: page_title(m[1]), source)
    except KeyError as error:
        raise ValueError(f"nothing is called {error} that {source[:60]!r} asks for") from error
    return source


def page_title(page: str) -> str:
    """Return the title of a page of the book that is no chapter."""
    return re.findall("^# (.+)", (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8"), re.MULTILINE)[0]


def as_html(source: str) -> str:
    """Return Markdown as HTML. Punctuation stays with the formula before it, and a bracket with the one after it."""
    formula = r"\$[^$]+\$(?!\$)"
    joined = rf"(?<![$\\])(\({formula}[.,;:?!)]*|{formula}[.,;:?!)]+)"
    return str(markdown2html(re.sub(joined, r'<span class="joined">\1</span>', source))).strip()


def in_line(source: str) -> str:
    """Return a paragraph of Markdown as HTML without the tags around it."""
    return re.sub(r"^<p>|</p>$", "", as_html(source))


def module_of(session: Session) -> ModuleType:
    """Return the module with the figures and the numbers of a session."""
    if str(SOURCES) not in sys.path:
        sys.path.insert(0, str(SOURCES))
    return import_module(f"session_{session.number}")


def draw(module: ModuleType, name: str, path: Path) -> None:
    """Write a figure of a session as SVG, in the same bytes each time."""
    style = import_module("drawing").STYLE
    with plt.rc_context({**matplotlib.rcParamsDefault, **style}):
        figure = getattr(module, name)()
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def pages(session: Session) -> Iterator[dict[str, str]]:
    """Yield what the template needs for each slide of a session, the first and the last one included."""
    values = module_of(session).values()
    chapters = "".join(f"<li>{html.escape(title_of(stem))}</li>" for stem in session.chapters)
    yield {
        "kind": "opening",
        "title": html.escape(session.title),
        "text": f"<p>Session {session.number}</p><ul>{chapters}</ul>",
        "notes": as_html(plan(session)),
    }
    for slide, begin, end in in_time(session, slides(session)):
        what = session.parts[slide.part - 1].what
        notes = f"**{clock(begin)} to {clock(end)}.** {slide.say}\n\nPart {slide.part} of the plan: {what}"
        texts = {"text": slide.text, "answer": slide.answer, "notes": notes}
        yield {
            "kind": slide.kind,
            "title": in_line(filled(slide.title, values)),
            "figure": f"figures/session_{session.number}_{slide.figure}.svg" if slide.figure else "",
            "alt": filled(slide.alt, values),
            **{name: as_html(filled(text, values)) for name, text in texts.items() if text},
        }
    yield {
        "kind": "closing",
        "title": "What you can do now",
        "text": as_html(session.outcomes),
        "notes": as_html(homework(session)),
    }


def plan(session: Session) -> str:
    """Return the parts of a session with their minutes, as notes for the first slide."""
    return "\n".join(f"- {part.minutes} min: {filled(part.what, {})}" for part in session.parts)


def homework(session: Session) -> str:
    """Return the exercises of a session by grade, as notes for the last slide."""
    grades: dict[str, list[str]] = {grade: [] for grade in ("easy", "medium", "hard")}
    for stem in session.chapters:
        for title, grade in exercises(stem):
            grades[grade].append(f"{title} (chapter {int(stem[:2])})")
    return "Exercises:\n\n" + "\n".join(f"- *{grade}*: {'; '.join(titles)}" for grade, titles in grades.items())


def write(out: Path) -> list[Path]:
    """Write all decks and what they need into the folder `out`, and return their paths.

    Raises `FileExistsError` if the folder has files that are no earlier decks.
    """
    template = jinja2.Environment().from_string((ROOT / "tools" / "slides.html.j2").read_text(encoding="utf-8"))
    planned = sessions()
    with outputs.new_version(out, "slides") as folder:
        (folder / "figures").mkdir()
        for session in planned:
            title = f"Session {session.number}: {session.title}"
            page = template.render(title=title, slides=pages(session))
            (folder / f"session_{session.number}.html").write_text(page, encoding="utf-8")
            for name in {slide.figure for slide in slides(session)} - {""}:
                draw(module_of(session), name, folder / "figures" / f"session_{session.number}_{name}.svg")
        shutil.copytree(ROOT / "book" / "extra" / "mathjax", folder / "mathjax")
        shutil.copytree(ROOT / "book" / "reveal", folder / "reveal")
        shutil.copy(ROOT / "tools" / "slides.css", folder)
    return [out / f"session_{session.number}.html" for session in planned]


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
