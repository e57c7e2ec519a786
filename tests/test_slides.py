"""The course: the plan of the teaching guide, and the slides that are written for it."""

import re
from datetime import UTC, datetime

import build_pdf
import matplotlib
import notebooks as notebook_tool
import pytest
import slides as tool
from browsing import watch
from bs4 import BeautifulSoup
from matplotlib import pyplot as plt
from project import REFERENCE, ROOT, python

GUIDE = (ROOT / "book" / "teaching.md").read_text()
SESSIONS = tool.sessions()
CHAPTERS = [path.stem for path in notebook_tool.committed() if path.stem not in REFERENCE]
for_each_session = pytest.mark.parametrize("session", SESSIONS, ids=lambda session: str(session.number))


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
        text = " ".join(tool.prose(stem).split())
        needs = re.search(r"\*\*Before you start\*\*:(.+?)\*\*Running time\*\*: under (\d+ seconds)", text)
        chapters = sorted(int(chapter) for chapter in re.findall(r"\{doc\}`(?:/notebooks/)?(\d+)_", needs[1]))
        assert (before, seconds) == (", ".join(map(str, chapters)), needs[2])


def test_every_misconception_leads_to_a_place_in_a_notebook():
    rows = re.search(r"\| what students think .+\n\|.+\n((?:\| .+\n)+)", GUIDE)[1].splitlines()
    assert len(rows) >= 10
    prose = "\n".join(tool.prose(path.stem) for path in notebook_tool.committed())
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


FORM = """# Part 2
## The $X$ of {{name}}

Text.

![What it shows](figure)

Answer: So.

Notes (5 min): Say
this.
"""


@pytest.fixture
def written(monkeypatch, tmp_path):
    """A function that reads a source as the slides of session 1."""
    monkeypatch.setattr(tool, "SOURCES", tmp_path)

    def read(source):
        (tmp_path / "session_1.md").write_text(source)
        return tool.slides(SESSIONS[0])

    return read


def test_a_block_is_a_slide(written):
    task = "## Your turn\n\n> Do it.\n\nNotes (3 min): Wait."
    first, second = written(f"{FORM}---\n{task}\n")
    assert first == tool.Slide(2, 5, "The $X$ of {{name}}", "Text.", "So.", "Say\nthis.", "figure", "What it shows")
    assert (second.part, second.minutes, second.kind, second.say) == (2, 3, "task", "Wait.")
    kinds = {"$$ x $$": "formula", "```python\nx\n```": "code", "Words only.": "text"}
    for text, kind in kinds.items():
        assert written(f"## A\n\n{text}\n\nNotes (1 min): B.")[0].kind == kind
    assert first.kind == "figure"


@pytest.mark.parametrize("block", ["", "## No notes\n\nText.", "No heading\n\nNotes (1 min): A.", "## A\n\nNotes: B."])
def test_a_block_that_is_no_slide_is_refused(written, block):
    with pytest.raises(ValueError, match="session 1: no heading, text and notes"):
        written(f"{FORM}---\n{block}\n")


def test_minutes_that_are_not_those_of_the_plan_are_refused():
    session, slides = SESSIONS[0], tool.slides(SESSIONS[0])
    assert tool.in_time(session, slides)
    with pytest.raises(ValueError, match="session 1: part 1 has 11 minutes, in the guide 10"):
        tool.in_time(session, [slides[0]._replace(minutes=slides[0].minutes + 1), *slides[1:]])
    with pytest.raises(ValueError, match="session 1: its parts do not follow"):
        tool.in_time(session, slides[::-1])


FILLED = {
    "{{a:.2f}} and {{b}}, {{a:.0%}}": "0.25 and 7, 25%",
    "By {prf:ref}`thm-gshift-three` and {ref}`ex-pdd-many`": "By Theorem 7.2 and Exercise 3.4",
    "See {doc}`/notebooks/02_game`, {doc}`summary`": "See chapter 2, Summary on one page",
    "$x_{i,j}$": "$x_{i,j}$",
}


@pytest.mark.parametrize("source", FILLED)
def test_fields_and_references_are_filled(source):
    assert tool.filled(source, {"a": 0.25, "b": 7}) == FILLED[source]


@pytest.mark.parametrize("source", ["{{c}}", "{prf:ref}`thm-nowhere`"])
def test_what_nothing_answers_is_refused(source):
    with pytest.raises(ValueError, match="nothing is called"):
        tool.filled(source, {"a": 1})


def test_punctuation_stays_with_its_formula():
    assert tool.as_html("for ($x$), or") == '<p>for <span class="joined">($x$),</span> or</p>'


@pytest.mark.slow
def test_numbers_are_those_of_the_site(site):
    shown = {}
    for path in (site / "notebooks").glob("*.html"):
        page = BeautifulSoup(path.read_text(), "html.parser")
        for block in page.select("div.proof[id], div.exercise[id]"):
            if caption := block.select_one(".caption-number"):
                shown[block["id"]] = caption.get_text().strip()
    assert len(shown) > 50
    assert {label: number for label, number in tool.numbers().items() if label in shown} == shown


# What is written


@for_each_session
def test_slides_fit_the_plan(session):
    slides = tool.slides(session)
    assert 8 <= len(slides) <= 16
    times = tool.in_time(session, slides)
    assert times[-1][2] == sum(part.minutes for part in session.parts)
    assert all(slide.minutes > 0 for slide in slides)


def words(text):
    """How many words a slide has; a formula counts as one."""
    text = re.sub(r"\$\$(?s:.+?)\$\$|\$.+?\$", "x", text)
    return len(re.sub(r"\{\{.+?\}\}|\{[\w:]+\}`.+?`", "x", text).replace(">", "").split())


@for_each_session
def test_a_slide_has_one_idea_and_one_thing_to_look_at(session):
    for slide in tool.slides(session):
        assert 2 <= words(slide.title) <= 12, slide.title
        assert 2 <= words(slide.say) <= 60, slide.title
        if slide.kind == "task":
            assert 8 <= words(slide.text) <= 65 and words(slide.answer) <= 30, slide.title
        else:
            assert slide.kind != "text", f"nothing to look at: {slide.title}"
            assert bool(slide.figure) == (slide.kind == "figure"), slide.title
            assert slide.kind == "code" or words(slide.text) <= 25, slide.title
        if slide.figure:
            assert len(slide.alt) >= 40, slide.title


@for_each_session
def test_code_is_short(session):
    for slide in tool.slides(session):
        for code in re.findall(r"```python\n((?s:.+?))```", slide.text):
            lines = code.splitlines()
            assert len(lines) <= 8 and max(map(len, lines)) <= 60


# A row of the plan that lets students do something says so.
DOING = (
    r"At the computer|[Ss]tudents (?:draw|find|look|choose|match)|Everybody guesses"
    r"|[Ii]n pairs|on the board|Exercises of"
)


@for_each_session
def test_what_students_do_has_a_slide(session):
    slides = tool.slides(session)
    for number, part in enumerate(session.parts, 1):
        tasks = [slide for slide in slides if slide.part == number and slide.kind == "task"]
        assert tasks or not re.search(DOING, part.what), part.what


@for_each_session
def test_no_number_is_typed(session):
    source = (tool.SOURCES / f"session_{session.number}.md").read_text()
    typed = re.sub(r"\{\{.+?\}\}", "", source)
    assert re.findall(r"\d[.,]\d|(?<!\w)\.\d|\d ?%|percent", typed) == []


@pytest.mark.slow
@for_each_session
def test_every_field_has_a_value_and_every_value_a_use(session):
    source, code = ((tool.SOURCES / f"session_{session.number}.{kind}").read_text() for kind in ("md", "py"))
    asked, given = set(re.findall(r"\{\{(\w+)", source)), set(tool.module_of(session).values())
    assert asked <= given
    assert [name for name in given - asked if not re.search(rf"\[[\"']{name}[\"']\]", code)] == []


# What only a notebook has, and no slide; a cell of a matrix has its place behind it.
CELL = (
    r"(?i)\b(?:the|this|next|last|first|previous|following|same) cell\b(?! \$)|\bcells? (?:below|above|after|before)\b"
    r"|\b(?:figure|table|picture|drawing) (?:below|above)\b|numref"
)


@for_each_session
def test_nothing_points_at_a_cell(session):
    source = (tool.SOURCES / f"session_{session.number}.md").read_text()
    assert not re.search(CELL, source)
    assert re.search(CELL, "The next cell takes both.") and not re.search(
        CELL, "The cell $(i, j)$, the parameters cell"
    )


# Figures


def drawn(session):
    """The name and the figure of each slide that has one, drawn in the style of slides."""
    module = tool.module_of(session)
    style = tool.import_module("drawing").STYLE
    with plt.rc_context({**matplotlib.rcParamsDefault, **style}):
        for slide in tool.slides(session):
            if slide.figure:
                figure = getattr(module, slide.figure)()
                yield slide.figure, figure
                plt.close(figure)


SMALLEST = 18  # points at 100 dots an inch: 25 pixels of a slide


def texts_of(figure):
    """The texts of a figure that are drawn: of the labels of ticks only those within the limits."""
    texts = [*figure.texts]
    for axis in figure.axes:
        texts += [axis.title, *axis.texts]
        for one in (axis.xaxis, axis.yaxis):
            low, high = sorted(one.get_view_interval())
            near = 1e-9 * (high - low)
            labels = zip(one.get_majorticklocs(), one.get_majorticklabels())
            ticks = [label for place, label in labels if low - near <= place <= high + near]
            texts += [one.label, *ticks] if axis.axison else []
    for legend in [*figure.legends, *(axis.get_legend() for axis in figure.axes)]:
        texts += legend.get_texts() if legend else []
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


@pytest.mark.slow
@for_each_session
def test_type_in_figures_is_large_and_free(session):
    problems = []
    for name, figure in drawn(session):
        figure.canvas.draw()
        texts = texts_of(figure)
        boxes = [text.get_window_extent() for text in texts]
        for i, (text, box) in enumerate(zip(texts, boxes)):
            said = f"{name}: {text.get_text()!r}"
            if text.get_fontsize() < SMALLEST:
                problems.append(f"{said} is small")
            if not (box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1):
                problems.append(f"{said} leaves the figure")
            for j in range(i):
                other = boxes[j]
                wide = min(box.x1, other.x1) - max(box.x0, other.x0)
                high = min(box.y1, other.y1) - max(box.y0, other.y0)
                if min(wide, high) > 4:  # an extent has room for accents: a few pixels are none of the letters
                    problems.append(f"{said} over {texts[j].get_text()!r}")
    assert problems == [], "\n" + "\n".join(problems)


def test_a_figure_is_drawn_in_the_same_bytes(tmp_path):
    module = tool.module_of(SESSIONS[0])
    for name in ("first", "second"):
        tool.draw(module, "four_losses", tmp_path / f"{name}.svg")
    first, second = ((tmp_path / f"{name}.svg").read_text() for name in ("first", "second"))
    assert first == second and f"{datetime.now(UTC):%Y-%m}" not in first


# In a browser

# What is wrong with the slide that is shown, as a list of sentences.
INSPECT = r"""
(slide) => {
  const edge = slide.getBoundingClientRect(), problems = [];
  const parts = ":is(h1, h2, p, li, pre, blockquote, img, mjx-container, div):not(mjx-assistive-mml *, aside *)";
  for (const part of slide.querySelectorAll(parts)) {
    const box = part.getBoundingClientRect();
    const begin = part.textContent.trim().slice(0, 40);
    const below = box.bottom > edge.bottom - 8 || box.right > edge.right - 20;
    if (below || box.left < edge.left || box.top < edge.top) problems.push(`${part.tagName} leaves: ${begin}`);
    if (part.tagName == "PRE" && part.scrollWidth > part.clientWidth) problems.push(`code is cut off: ${begin}`);
    if (part.tagName == "IMG") {
      const scale = Math.min(box.width / part.naturalWidth, box.height / part.naturalHeight);
      const share = scale ** 2 * part.naturalWidth * part.naturalHeight / (edge.width * edge.height);
      const least = slide.classList.contains("task") ? 0.3 : 0.5;
      if (!(part.alt && share >= least)) problems.push(`figure on ${share} of the slide: ${part.alt}`);
    }
    const size = parseFloat(getComputedStyle(part).fontSize);
    if (size < 24 && !part.closest("mjx-container")) problems.push(`${part.tagName} of ${size} px: ${begin}`);
  }
  if (!slide.querySelector("h1, h2")) problems.push("no title");
  if (slide.querySelector("mjx-merror")) problems.push("mathematics error");
  const texts = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    const isCode = parentElement.closest("pre, code, mjx-container");
    if (!isCode && /[$\\]|:::|\{\{|\{[\w:]+\}`/.test(data)) problems.push(`raw: ${data}`);
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

    def open_tab(path, query=""):
        context = browser.new_context(viewport={"width": 1280, "height": 720}, offline=True)
        contexts.append(context)
        build_pdf.keep_to(context, path.parent.as_uri())
        tab = context.new_page()
        problems = watch(tab)  # what was blocked has failed
        tab.goto(path.as_uri() + query)
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
    assert total == len(tool.slides(SESSIONS[number - 1])) + 2
    for place in range(total):
        tab.evaluate(f"Reveal.slide({place})")
        found = tab.evaluate(f"({INSPECT})(Reveal.getCurrentSlide())")
        problems += [f"slide {place + 1}: {problem}" for problem in found]
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
@pytest.mark.parametrize("number", range(1, 9))
def test_the_handout_has_a_page_for_each_slide_and_the_answers(open_deck, decks, number):
    slides = tool.slides(SESSIONS[number - 1])
    tab, problems = open_deck(decks[number - 1], "?print-pdf")
    tab.wait_for_selector(".pdf-page")
    assert tab.locator(".pdf-page").count() == len(slides) + 2
    assert tab.locator(".pdf-page .answer:visible").count() == sum(bool(slide.answer) for slide in slides)
    for place, slide in enumerate(tab.query_selector_all(".pdf-page section"), 1):
        problems += [f"page {place}: {problem}" for problem in slide.evaluate(INSPECT)]
    assert problems == [], "\n" + "\n".join(problems)


@pytest.mark.slow
def test_notes_are_printed_when_asked_for(open_deck, decks):
    tab, _ = open_deck(decks[0], "?print-pdf&showNotes=separate-page")
    tab.wait_for_selector(".pdf-page")
    notes = tab.locator(".speaker-notes-pdf").all_inner_texts()
    assert len(notes) == len(tool.slides(SESSIONS[0])) + 2
    assert re.match(r"0:00 to 0:\d\d\.", notes[1])


@pytest.mark.slow
def test_notes_show_only_when_asked_for(open_deck, decks):
    tab, _ = open_deck(decks[0])
    notes = tab.locator(".speaker-notes")
    assert not notes.is_visible() and not any(note.is_visible() for note in tab.locator("aside.notes").all())
    tab.goto(decks[0].as_uri() + "?showNotes=true#/1")
    tab.wait_for_function("Reveal.isReady()")
    assert "0:00 to 0:03." in notes.inner_text()
