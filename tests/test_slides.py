"""The course: the plan of the teaching guide, and the slides that are made from it and from the notebooks."""

import itertools
import re

import build_pdf
import notebooks as notebook_tool
import pytest
import slides as tool
from browsing import watch
from project import REFERENCE, ROOT, python

GUIDE = (ROOT / "book" / "teaching.md").read_text()
SESSIONS = tool.sessions()
CHAPTERS = [path.stem for path in notebook_tool.committed() if path.stem not in REFERENCE]


# The guide


def test_eight_sessions_cover_the_chapters_in_order():
    assert [session.number for session in SESSIONS] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [stem for session in SESSIONS for stem in session.chapters] == CHAPTERS


def test_minutes_add_up():
    promised = int(re.search(r"Each session takes (\d+) minutes", GUIDE)[1])
    lecture = int(re.search(r"\*\*One lecture\.\*\* (\d+) minutes", GUIDE)[1])
    tables = re.findall(r"^\| minutes \| what \|\n\|.+\|\n((?:\| .+\n)+)", GUIDE, re.MULTILINE)
    sums = [sum(int(line.split("|")[1]) for line in table.splitlines()) for table in tables]
    assert sums == [promised] * 8 + [lecture]


def test_every_session_says_what_a_student_can_do_afterwards():
    assert all(len(re.findall(r"^- ", session.outcomes, re.MULTILINE)) >= 3 for session in SESSIONS)


def test_times_and_order_are_those_of_the_chapters():
    rows = re.findall(r"^\| \{doc\}`/notebooks/(\w+)` \| (.*?) ?\| (\d+ seconds) \|$", GUIDE, re.MULTILINE)
    assert [stem for stem, _, _ in rows] == CHAPTERS
    for stem, before, seconds in rows:
        text = " ".join(tool.notebook(stem).cells[0].source.split())
        needs = re.search(r"\*\*Before you start\*\*:(.+)\*\*Running time\*\*: under (\d+ seconds)", text)
        chapters = sorted(int(chapter) for chapter in re.findall(r"\{doc\}`(?:/notebooks/)?(\d+)_", needs[1]))
        assert (before, seconds) == (", ".join(map(str, chapters)), needs[2])


def test_every_misconception_leads_to_a_place_in_a_notebook():
    rows = re.search(r"\| what students think .+\n\|.+\n((?:\| .+\n)+)", GUIDE)[1].splitlines()
    assert len(rows) >= 10
    stems = [path.stem for path in notebook_tool.committed()]
    prose = "\n".join(cell.source for stem in stems for cell in tool.notebook(stem).cells)
    for row in rows:
        (label,) = re.findall(r"\{prf:ref\}`([\w-]+)` \|$|\{ref\}`[^`]+ <([\w-]+)>` \|$", row)
        label = "".join(label)
        assert re.search(rf"^(\({label}\)=|:label: {label})$", prose, re.MULTILINE), label


# The tool


def test_help_and_a_wrong_argument_leave_the_decks_as_they_are(tmp_path):
    (tmp_path / "session_1.html").write_text("as it was")
    for argument, code in (("--help", 0), ("--wrong", 2)):
        assert python(tool.__file__, "--out", tmp_path, argument).returncode == code
    assert [path.read_text() for path in tmp_path.iterdir()] == ["as it was"]


# From MyST to slides


PLAIN = {
    "### A {term}`prior`": "## A prior",
    "By {prf:ref}`thm-x` and {eq}`eq-x`": "By Theorem *Closer* and (7)",
    "{doc}`/notebooks/02_game` {cite}`huang2017`": "*The game* (Huang et al., 2017)",
    "$$ x $$ (eq-x)": "$$ x \\tag{7} $$",
    "See.\n{numref}`fig-x` and {numref}`tab-x`": "See.\nThe figure and the table",
    "for $x$, or": 'for <span class="joined">$x$,</span> or',
    "a sign ($x$) or ($x$ at least)": (
        'a sign <span class="joined">($x$)</span> or <span class="joined">($x$</span> at least)'
    ),
    ":::{prf:theorem} Closer\n:label: thm-x\n\nIt *is*.\n:::": (
        '<div class="theorem">\n\n**Theorem.** Closer\n\nIt *is*.\n\n</div>'
    ),
}


@pytest.mark.parametrize("source", PLAIN)
def test_a_cell_becomes_plain(source):
    names = {"thm-x": "Theorem *Closer*", "huang2017": "(Huang et al., 2017)", "02_game": "*The game*"}
    assert tool.plain(source, names, {"eq-x": 7}) == PLAIN[source]


@pytest.mark.parametrize("source", [":::{exercise} One\n:::", "{download}`x`", ":::{prf:proof}\nAs is.\n:::"])
def test_what_no_slide_can_show_is_refused(source):
    with pytest.raises(ValueError, match="no slide can show"):
        tool.plain(source, {}, {})


def test_a_formula_that_is_on_no_slide_is_not_referred_to():
    with pytest.raises(KeyError, match="eq-x"):
        tool.plain("see {eq}`eq-x`", {}, {})


@pytest.mark.parametrize("stem", CHAPTERS)
def test_exercises_and_solutions_are_on_no_slide(stem):
    cells = tool.notebook(stem).cells
    begin = next(i for i, cell in enumerate(cells) if re.search(r"^## Exercises$", cell.source, re.MULTILINE))
    assert not [cell.id for cell in cells[begin:] if "slideshow" in cell.metadata]


def test_every_chapter_has_its_quick_questions_and_figures_on_slides():
    for session in SESSIONS:
        text = "\n".join(cell.source for cell in tool.deck(session).cells)
        cells = [cell for stem in session.chapters for cell in tool.notebook(stem).cells]
        asked = sum(cell.source.startswith("::::{admonition} Quick question") for cell in cells)
        assert text.count("## Quick question") == asked
        assert text.count("<figure>") >= 2 * len(session.chapters)


# Words that point to what a cell of code shows; this must then be on the same slide or on the next one. A cell of a
# matrix has its place behind it.
POINTING = (
    r"(?i)\b(?:the|next) (?:picture|figure|drawing|cell\b(?! \$))|\b(?:cell|drawing|table) below\b|lines of the table"
    r"|\bthe program (?:draws|lists|prints|takes|tries)\b"
)
# What only a notebook has, and no slide.
CELL = (
    r"(?i)\b(?:the|this|next|last|first|previous|following|same) cell\b(?! \$)|\bcells? (?:below|above|after|before)\b"
)
NOTES = r'<aside class="notes">[\s\S]*?</aside>'


def text_of(cell):
    """What an audience reads."""
    return re.sub('alt=".*?"|' + NOTES, "", cell.source)


def pointing_to_nothing(cells):
    return [
        cell.id
        for cell, following in itertools.pairwise(cells)
        if re.search(POINTING, text_of(cell)) and not re.search(r"<figure>|^```", following.source, re.MULTILINE)
    ]


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: str(session.number))
def test_what_a_slide_speaks_of_follows(session):
    cells = tool.deck(session).cells
    assert any(re.search(POINTING, text_of(cell)) for cell in cells)  # or it has lost the words of the chapters
    assert pointing_to_nothing(cells) == []
    assert [cell.id for cell in cells if re.search(CELL, text_of(cell))] == []


def test_a_cell_of_a_notebook_is_told_from_one_of_a_matrix():
    matrix = "The mass of the cell $(i, j)$ moves."
    assert not re.search(POINTING, matrix) and not re.search(CELL, matrix)
    assert tool.plain(matrix, {}, {}) == "The mass of the cell $(i, j)$ moves."
    for pointing in ("The next cell takes both.", "So the next cell tries it.", "The claim in the last cell holds."):
        assert re.search(CELL, pointing)
        assert not re.search(CELL, tool.plain(pointing, {}, {}))


def test_what_follows_a_lone_formula_is_on_its_slide():
    assert tool.is_lone("## The game\n\nIt reads\n\n$$ x = \\min y + z $$ (eq-x)")
    assert not tool.is_lone("## The game\n\n" + tool.LONE * "word " + "\n\n$$ x $$")
    assert not tool.is_lone("## The game\n\nNo formula")
    for session in SESSIONS:
        cells = tool.deck(session).cells
        for cell, following in itertools.pairwise(cells):
            if cell.metadata.slideshow.slide_type == "slide" and tool.is_lone(text_of(cell)):
                alone = following.metadata.slideshow.slide_type == "slide"
                assert not alone or "<div" in cell.source, cell.id  # a theorem has words enough


# What slides.yml adds


def test_every_part_of_a_session_has_its_time_and_its_slides():
    promised = int(re.search(r"Each session takes (\d+) minutes", GUIDE)[1])
    for session in SESSIONS:
        assert session.parts[0].begin == 0 and session.parts[-1].end == promised
        slides = [cell.source for cell in tool.deck(session).cells if cell.metadata.slideshow.slide_type == "slide"]
        times = [
            re.search(r'<aside class="notes">\n\n\*\*(\d:\d\d) to (\d:\d\d)\.\*\*', slide).groups() for slide in slides
        ]
        of_plan = [(tool.clock(part.begin), tool.clock(part.end)) for part in session.parts]
        assert list(dict.fromkeys(times)) == of_plan  # every slide has one, and they follow each other
        for part in session.parts:
            assert 5 <= len(part.say.split()) <= 40
            assert sum(part.say in slide for slide in slides) == 1


# A row of the plan that lets students do something says so.
DOING = r"At the computer|[Ss]tudents (?:draw|find|look|choose)|Everybody guesses|in pairs|on the board|Exercises of"


def test_what_students_do_has_a_slide():
    for session in SESSIONS:
        tasks = [cell for cell in tool.deck(session).cells if 'class="task"' in cell.source]
        assert len(tasks) == sum(part.activity is not None for part in session.parts) >= 2
        assert [part.what for part in session.parts if re.search(DOING, part.what) and not part.activity] == []
        assert all(15 <= len(re.sub("<.*?>", "", text_of(task)).split()) <= 80 for task in tasks)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"starts": "01-000b"}, "no slide for"),
        ({"starts": "02-034"}, "no slide for"),
        ({"activity": {"before": "01-999", "title": "T", "text": "x"}}, "no slide is called 01-999"),
    ],
)
def test_an_addition_without_a_place_is_refused(change, complaint):
    session = SESSIONS[0]
    wrong = [*session.parts[:1], session.parts[1]._replace(**change), *session.parts[2:]]
    with pytest.raises(ValueError, match=complaint):
        tool.deck(session._replace(parts=wrong))


# In a browser

# What is wrong with the slide that is shown, as a list of sentences.
INSPECT = r"""
() => {
  const slide = Reveal.getCurrentSlide(), edge = slide.getBoundingClientRect(), problems = [];
  const parts = ":is(h1, h2, p, li, pre, table, figure, img, mjx-container, div):not(mjx-assistive-mml *)";
  for (const part of slide.querySelectorAll(parts)) {
    const box = part.getBoundingClientRect();
    const begin = part.textContent.trim().slice(0, 40);
    const below = box.bottom > edge.bottom - 8 || box.right > edge.right - 20;
    const before = box.left < edge.left || box.top < edge.top;
    if (below || before) problems.push(`${part.tagName} leaves the slide: ${begin}`);
    if (part.tagName == "PRE" && part.scrollWidth > part.clientWidth) problems.push(`code is cut off: ${begin}`);
    const seen = part.naturalWidth && part.alt && box.height >= 250;
    if (part.tagName == "IMG" && !seen) problems.push(`figure not shown: ${part.alt}`);
  }
  const size = parseFloat(getComputedStyle(slide).fontSize);
  if (size < 20) problems.push(`text of ${size} px`);
  for (const part of slide.querySelectorAll("pre, pre *, code, td, th")) {
    const small = parseFloat(getComputedStyle(part).fontSize);
    if (small < 16) problems.push(`${part.tagName} of ${small} px: ${part.textContent.trim().slice(0, 40)}`);
  }
  if (!slide.querySelector("h1, h2")) problems.push("no title");
  if (slide.querySelector("mjx-merror")) problems.push("mathematics error");
  const texts = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    const isCode = parentElement.closest("pre, code, mjx-container");
    if (!isCode && /[$\\]|:::|\{\w+\}`/.test(data)) problems.push(`raw: ${data}`);
  }
  return problems;
}
"""


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    return tool.write(tmp_path_factory.mktemp("slides") / "decks")


@pytest.fixture
def open_deck(browser):
    """A function that opens a deck from the disk, without a network; returns the tab and what goes wrong."""
    contexts = []

    def open_tab(path):
        context = browser.new_context(viewport={"width": 1280, "height": 720}, offline=True)
        contexts.append(context)
        build_pdf.keep_to(context, path.parent.as_uri())
        tab = context.new_page()
        problems = watch(tab)  # what was blocked has failed
        tab.goto(path.as_uri())
        tab.wait_for_function("Reveal.isReady()")
        return tab, problems

    yield open_tab
    for context in contexts:
        context.close()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 9))
def test_every_slide_fits(open_deck, decks, number):
    tab, problems = open_deck(decks[number - 1])
    total = tab.evaluate("Reveal.getTotalSlides()")
    assert 20 <= total <= 50
    for place in range(total):
        tab.evaluate(f"Reveal.slide({place})")
        problems += [f"slide {place + 1}: {problem}" for problem in tab.evaluate(INSPECT)]
    assert problems == [], "\n" + "\n".join(problems)


@pytest.mark.slow
def test_the_keyboard_leads_through_and_an_answer_waits_for_its_key(open_deck, decks):
    tab, _ = open_deck(decks[0])
    for _ in range(tab.evaluate("Reveal.getTotalSlides()")):
        if tab.evaluate("Boolean(Reveal.getCurrentSlide().querySelector('.answer'))"):
            break
        tab.keyboard.press("ArrowRight")
    answer = tab.locator("section.present .answer")
    assert answer.evaluate("(e) => getComputedStyle(e).visibility") == "hidden"
    tab.keyboard.press("ArrowRight")
    assert answer.evaluate("(e) => getComputedStyle(e).visibility") == "visible"


@pytest.mark.slow
def test_the_handout_has_a_page_for_each_slide_and_the_answers(open_deck, decks):
    tab, _ = open_deck(decks[0])
    slides, answers = (tab.locator(selector).count() for selector in ("section section", ".answer"))
    tab.goto(decks[0].as_uri() + "?print-pdf")
    tab.wait_for_selector(".pdf-page")
    assert tab.locator(".pdf-page").count() == slides
    assert tab.locator(".pdf-page .answer:visible").count() == answers > 0


@pytest.mark.slow
def test_notes_show_only_when_asked_for(open_deck, decks):
    tab, _ = open_deck(decks[0])
    notes = tab.locator(".speaker-notes")
    assert not notes.is_visible() and not any(note.is_visible() for note in tab.locator("aside.notes").all())
    tab.goto(decks[0].as_uri() + "?showNotes=true")
    tab.wait_for_function("Reveal.isReady()")
    assert "0:00 to 0:10." in notes.inner_text()
