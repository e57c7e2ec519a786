"""The explorer of two bits: its numbers against gaplib, its controls, its page and its frame, in a real browser."""

import itertools
import re
import urllib.parse

import numpy as np
import pytest
from browsing import assert_explorer_fits
from bs4 import BeautifulSoup
from playwright.sync_api import expect
from project import ROOT

from gaplib import binary, leakage
from gaplib.book import explorer
from gaplib.mechanisms import BinaryKernel
from gaplib.models import BinaryModel

ALONE = explorer.fragment("two_bits")  # what the fixtures of conftest open
LIMITS = {"prior": (0.01, 0.99), "x0": (0, 1), "x1": (0, 1), "D": (0, 0.5)}  # as the controls state them
CELLS = ("s00", "s01", "s10", "s11")
PAPER = {"prior": 0.625, "x0": 0.5, "x1": 0.9}  # p = 3/4, q = 1/4
KINDS = ("pdd", "pdi")
OPTIMA = {"map": {"pdd": binary.optimal_pdd, "pdi": binary.optimal_pdi}}
OPTIMA["mi"] = {kind: lambda model, D, kind=kind: binary.optimal_mi(model, D, kind) for kind in KINDS}

slow = pytest.mark.slow


def model_of(setting):
    prior, x0, x1 = (setting[name] for name in ("prior", "x0", "x1"))
    return BinaryModel([[(1 - prior) * (1 - x0), prior * (1 - x1)], [(1 - prior) * x0, prior * x1]])


def fragment(**setting):
    return "#" + urllib.parse.urlencode(setting)


# Without a browser


def test_a_bad_beginning_is_refused():
    model = BinaryModel.xor(0.75, 0.25)
    with pytest.raises(ValueError, match=r"D must be a finite number in \[0, 0.5\], got 4"):
        explorer.show(model)
    with pytest.raises(ValueError, match=r"P\(Y=1\) must be .*\[0.01, 0.99\], got 0.001"):
        explorer.show(BinaryModel([[0.999, 0], [0, 0.001]]), 0.1)


def test_the_explorer_asks_for_no_file():
    page = ALONE
    soup = BeautifulSoup(page, "html.parser")
    assert len(soup.find_all("script")) == 3 and len(soup.find_all("style")) == 1
    assert soup.find_all(["link", "img", "iframe"]) == [] and soup.find_all(src=True) == []
    assert not re.search(r"https?:|url\(|@import|\bfetch\(|XMLHttpRequest|\bimport\b", page)
    with pytest.raises(ValueError, match="name must be 'mixture' or 'two_bits', got 'three_bits'"):
        explorer.fragment("three_bits")


# The numbers


def random_settings(count):
    """Models, budgets and mechanisms within the limits, many at an end of a range, many budgets below saturation."""
    rng = np.random.default_rng(3)

    def draw(low, high):
        return float(rng.choice([low, high]) if rng.random() < 0.15 else rng.uniform(low, high))

    settings = [{name: draw(*limits) for name, limits in LIMITS.items()} for _ in range(count)]
    settings += [dict(zip(LIMITS, values)) for values in itertools.product(*LIMITS.values())]
    for k, setting in enumerate(settings):
        if k % 4:
            best = OPTIMA[("map", "mi")[k % 2]][KINDS[k // 4 % 2]]
            setting["D"] = float(rng.uniform(0, 1.05) * best(model_of(setting), 1).distortion)
        setting |= {name: draw(0, 1) for name in CELLS}
    return settings


NUMBERS = """
(settings) => settings.map((setting) => {
  const { bits } = window.gapExplorer;
  const p = bits.jointOf(setting);
  const of = (s) => {
    const release = bits.released(p, s);
    return [bits.accuracy(release), bits.information(release), bits.distortion(p, s)];
  };
  const optima = { map: bits.optimum, mi: bits.informationOptimum };
  const found = {
    any: of([[setting.s00, setting.s01], [setting.s10, setting.s11]]),
  };
  for (const [name, best] of Object.entries(optima))
    for (const kind of ["pdd", "pdi"]) {
      const { mechanism, value, saturation } = best(p, setting.D, kind);
      found[name + kind] = { mechanism: mechanism.flat(), value, saturation, measured: of(mechanism) };
    }
  return found;
})
"""


@pytest.fixture(scope="module")
def computed(browser, alone):
    """Settings, and what the script computes for them."""
    settings = random_settings(400)
    tab = browser.new_page()
    tab.goto(alone)
    found = tab.evaluate(NUMBERS, settings)
    tab.close()
    return list(zip(settings, found, strict=True))


@slow
def test_any_mechanism(computed):
    # Both sides add four products of numbers below one, in the same double precision.
    for setting, found in computed:
        model, mechanism = model_of(setting), BinaryKernel(*(setting[name] for name in CELLS))
        information = leakage.mutual_information(model, mechanism)
        expected = [leakage.map_accuracy(model, mechanism), information, mechanism.distortion(model)]
        assert found["any"] == pytest.approx(expected, abs=1e-14), setting


@slow
@pytest.mark.parametrize("name", ["map", "mi"])
@pytest.mark.parametrize("kind", KINDS)
def test_optima(computed, name, kind):
    below = 0
    for setting, found in computed:
        model, ours = model_of(setting), found[name + kind]
        best = OPTIMA[name][kind](model, setting["D"])
        accuracy, information, distortion = ours["measured"]
        # A formula in double precision, or one equation solved to rounding, near which the information is flat.
        assert ours["value"] == pytest.approx(best.value, abs=1e-13), setting
        # What the mechanism is, by the measures of the library's own.
        assert {"map": accuracy, "mi": information}[name] == pytest.approx(best.value, abs=1e-13), setting
        # Spent is no more than the budget, and no more than helps: a ratio of differences, each known to rounding.
        assert distortion <= setting["D"] + 1e-15, setting
        assert distortion == pytest.approx(best.distortion, abs=1e-12), setting
        assert ours["saturation"] == pytest.approx(OPTIMA[name][kind](model, 1).distortion, abs=1e-12), setting
        if kind == "pdi":
            s00, s01, s10, s11 = ours["mechanism"]
            assert (s00, s10) == (s01, s11)
        below += 0 < setting["D"] < ours["saturation"]
    assert below > 80  # settings in which the budget binds


# The page


def shown(tab):
    """The fields of the page, by name."""
    return tab.locator(".gap-two-bits .control").evaluate_all(
        "e => Object.fromEntries(e.filter((c) => !c.hidden).map((c) => "
        "[c.querySelector('input').id.replace('gap-bits-', ''), Number(c.querySelector('[type=number]').value)]))"
    )


def in_the_flow(tab):
    """Accuracy, distortion and information, as the picture says them."""
    words = tab.locator("svg.flow").text_content()
    return [
        float(re.search(rf"{name}: ([\d.]+)", words)[1]) for name in ("Adversary right", "Distortion", "Information")
    ]


@slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("flips", ["map", "mi"])
def test_the_page_shows_the_optimum_and_follows_the_budget(open_alone, kind, flips):
    tab = open_alone(fragment(**PAPER, D=0.1, kind=kind, flips=flips))
    for D in (0.1, 0.105):
        best = OPTIMA[flips][kind](model_of(PAPER), D)
        information = leakage.mutual_information(model_of(PAPER), best.mechanism)
        accuracy = leakage.map_accuracy(model_of(PAPER), best.mechanism)
        assert in_the_flow(tab) == pytest.approx([accuracy, best.distortion, information], abs=5.1e-4)
        fields = shown(tab)
        kept = CELLS if kind == "pdd" else ("s0", "s1")
        expected = best.mechanism.keep.ravel() if kind == "pdd" else best.mechanism.keep[:, 0]
        assert [fields[name] for name in kept] == pytest.approx(list(expected), abs=5.1e-4)
        least = {k: OPTIMA[flips][k](model_of(PAPER), D).value for k in KINDS}
        caption = tab.locator("figcaption").nth(0 if flips == "map" else 1).inner_text()
        assert f"PDD {least['pdd']:.4f}, PDI {least['pdi']:.4f}" in caption
        tab.locator("#gap-bits-D").press("ArrowRight")


def drag(tab, handle, dx):
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    for share in (0.5, 1):
        tab.mouse.move(x + share * dx, y)
    tab.mouse.up()


@slow
def test_dragging_flips_and_budget(open_alone):
    tab = open_alone(fragment(**PAPER, D=0.1, kind="pdd", flips="map"))
    before = shown(tab)
    drag(tab, tab.locator("[data-handle=s11]"), 60)
    after = shown(tab)
    assert after["s11"] < before["s11"] == 1 and tab.locator("input[value=hand]").is_checked()
    assert [after[name] for name in CELLS[:3]] == [before[name] for name in CELLS[:3]]  # it goes on from the optimum
    mechanism = BinaryKernel(*(after[name] for name in CELLS))
    expected = [leakage.map_accuracy(model_of(PAPER), mechanism), mechanism.distortion(model_of(PAPER))]
    assert in_the_flow(tab)[:2] == pytest.approx(expected, abs=1e-3)  # three digits of both
    over = mechanism.distortion(model_of(PAPER)) - 0.1
    assert f"Over the budget by {over:.2f}" in tab.locator(".note").inner_text()
    # Past its end a flip stays at it.
    drag(tab, tab.locator("[data-handle=s11]"), -700)
    assert shown(tab)["s11"] == 1
    # Blind to Y, with as much distortion; then both of a row move.
    spent = in_the_flow(tab)[1]
    tab.locator("input[value=pdi]").check()
    assert set(shown(tab)) == {"prior", "x0", "x1", "D", "s0", "s1"}
    assert in_the_flow(tab)[1] == pytest.approx(spent, abs=1e-3)
    drag(tab, tab.locator("[data-handle=s10]"), 60)
    s1 = shown(tab)["s1"]
    assert s1 < 1
    tab.locator("input[value=pdd]").check()
    assert shown(tab)["s10"] == shown(tab)["s11"] == s1
    for svg in ("svg.accuracy", "svg.information"):
        drag(tab, tab.locator(f"{svg} [data-handle=D]"), -1000)
        assert shown(tab)["D"] == 0
        box = tab.locator(svg).bounding_box()
        tab.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 100)
        assert shown(tab)["D"] > 0


@slow
def test_keyboard(open_alone):
    tab = open_alone()
    start = shown(tab)
    tab.keyboard.press("Tab")
    tab.keyboard.press("ArrowRight")
    assert tab.locator("input[value=pdi]").is_checked()
    tab.keyboard.press("Tab")
    tab.keyboard.press("ArrowRight")
    assert tab.locator("input[value=map]").is_checked()
    tab.keyboard.press("Tab")
    tab.keyboard.press("ArrowRight")
    assert shown(tab)["D"] == 0.105
    # The address and the words for screen readers follow; another visitor sees the same.
    tab.wait_for_function("location.hash.includes('D=0.105')")
    status = tab.locator("[role=status]").text_content()
    assert "of the budget 0.105" in status and "This optimum flips X = 0" in status
    assert shown(open_alone(tab.evaluate("location.hash"))) == shown(tab) != start
    tab.locator("#gap-bits-s0").press("ArrowLeft")  # by hand again
    assert tab.locator("input[value=hand]").is_checked()
    tab.wait_for_function("location.hash.includes('flips=hand')")
    assert shown(open_alone(tab.evaluate("location.hash"))) == shown(tab)
    tab.get_by_role("button", name="Reset").press("Enter")
    assert shown(tab) == start


@slow
def test_every_control_is_labelled(open_alone):
    tab = open_alone()
    for control in tab.locator(".gap-explorer input, .gap-explorer button").all():
        assert control.evaluate(
            "e => (e.ariaLabel || [...e.labels ?? []].map((l) => l.textContent).join() || e.textContent)"
        )
    for drawing in tab.locator(".gap-explorer svg[role=img]").all():
        assert len(drawing.get_attribute("aria-label")) > 40


@slow
def test_limits_cannot_be_left(open_alone):
    tab = open_alone("#prior=7&x0=-1&x1=1e9&D=&s00=abc&s11=2&kind=none&flips=toString&y=1")
    fields = shown(tab)
    assert [fields[name] for name in ("prior", "x0", "x1", "D", "s11")] == [0.99, 0, 1, 0.1, 1]
    assert tab.locator("input[value=pdd]").is_checked() and tab.locator("input[value=hand]").is_checked()
    for name, (low, high) in LIMITS.items():
        slider = tab.locator(f"#gap-bits-{name}")
        number = slider.locator("xpath=following-sibling::input")
        assert [float(slider.get_attribute(end)) for end in ("min", "max")] == [low, high]
        for typed, kept in ((high + 1, high), (low - 1, low)):
            number.fill(str(typed))
            number.press("Enter")
            assert float(number.input_value()) == float(slider.input_value()) == kept
            assert f"a number from {low} to {high}" in tab.locator(".note").inner_text()


# Every setting, in each way: those at which the page shows what is no number.
TOUR = """
async ([settings, ways]) => {
  const root = document.querySelector(".gap-explorer");
  const bad = [];
  for (const [k, setting] of settings.entries()) {
    const heard = new Promise((done) => addEventListener("hashchange", done, { once: true }));
    location.hash = new URLSearchParams({ ...setting, ...ways[k % ways.length] });
    await heard;
    if (/NaN|undefined|Infinity/.test(root.innerHTML)) bad.push(setting);
  }
  return bad;
}
"""


@slow
def test_nothing_is_not_a_number(open_alone):
    ways = [{"kind": kind, "flips": flips} for kind in KINDS for flips in ("hand", "map", "mi")]
    assert open_alone().evaluate(TOUR, [random_settings(80), ways]) == []


STEPS = """
() => {
  const slider = document.querySelector("#gap-bits-x0");
  for (let k = 0; k < 20; k++) {
    slider.value = 0.3 + k / 100;
    slider.dispatchEvent(new Event("input"));
  }
}
"""


@slow
def test_a_step_of_a_slider_is_fluid(open_alone):
    # The model, on which all curves depend. Time of the page's own thread, because others share the processor.
    tab = open_alone(fragment(**PAPER, D=0.1, kind="pdi", flips="mi"))
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent():
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "ScriptDuration")

    tab.evaluate(STEPS)  # compiles the script
    seconds = []
    for _ in range(3):  # the smallest: who shares the processor's core can only add to it
        begun = spent()
        tab.evaluate(STEPS)
        seconds.append((spent() - begun) / 20)
    assert 0 < min(seconds) < 0.05  # twenty pictures a second


@slow
def test_a_phone_shows_what_is_moved_and_what_changes_together(open_site):
    tab, home, problems = open_site("http", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    tab.goto(home + "book/two_bits.html")
    moved = [*tab.locator(".gap-two-bits .control:visible").all(), *tab.locator(".gap-two-bits .plots svg").all()]
    assert len(moved) == 10  # the budget, four flips, the model, two curves
    for element in moved:
        element.evaluate("e => e.scrollIntoView({ block: 'end' })")
        flow, own = tab.locator("svg.flow").bounding_box(), element.bounding_box()
        assert 0 <= flow["y"] and flow["y"] + flow["height"] <= own["y"] + 1
        assert own["y"] + own["height"] <= 844 + 1
        # Nothing of the page lies over the picture.
        middle = [flow["x"] + flow["width"] / 2, flow["y"] + 12]
        assert tab.evaluate("([x, y]) => !!document.elementFromPoint(x, y).closest('.stays')", middle)
    assert problems == []


@slow
@pytest.mark.parametrize("width", [320, 390, 1280])  # 320: a laptop at 400 %
def test_the_page_fits(open_site, width):
    tab, home, problems = open_site("http", viewport={"width": width, "height": 800})
    tab.goto(home + "book/two_bits.html")
    assert_explorer_fits(tab, width)
    assert problems == []


@slow
def test_what_to_try(open_site):
    """Each link of the page sets what it says, and the numbers of the text are those of gaplib."""
    tab, home, problems = open_site("file")
    tab.goto(home + "book/two_bits.html")
    links = tab.locator("section#what-to-try a[href^='#prior']")
    assert links.count() == 7
    settings = []
    for link in links.all():
        link.click()
        wanted = dict(urllib.parse.parse_qsl(link.get_attribute("href")[1:]))
        settings.append({name: float(wanted[name]) for name in LIMITS})
        # The page hears of its new address after the click; until then this waits.
        for name in ("kind", "flips"):
            expect(tab.locator(f"input[value={wanted[name]}]")).to_be_checked()
        for name in LIMITS:
            expect(tab.locator(f"#gap-bits-{name}")).to_have_value(wanted[name])
        assert tab.evaluate("document.querySelector('.gap-explorer').getBoundingClientRect().top < innerHeight / 2")
    assert problems == []
    text = (ROOT / "book" / "two_bits.md").read_text(encoding="utf-8")
    paper, even, rare = (model_of(settings[k]) for k in (0, 4, 5))
    assert paper.joint == pytest.approx(BinaryModel.xor(0.75, 0.25).joint, abs=1e-15)
    untouched = BinaryKernel(1, 1, 1, 1)
    saturated = binary.optimal_pdd(paper, 0.125)
    numbers = {
        "0.75": leakage.map_accuracy(paper, untouched),
        "0.65": binary.optimal_pdd(paper, 0.1).value,
        "0.7": binary.optimal_pdi(paper, 0.1).value,
        "D = 0.125": binary.optimal_pdd(paper, 1).distortion,
        "D = 0.25": binary.optimal_pdi(paper, 1).distortion,
        "0.15": binary.optimal_mi(paper, 1).distortion,
        "0.0046": leakage.mutual_information(paper, saturated.mechanism),
        "0.0048": leakage.mutual_information(rare, untouched),
    }
    for written, number in numbers.items():
        assert f"${written}$" in text
        digits = len(written.rpartition(".")[2])
        assert f"{number:.{digits}f}" == written.removeprefix("D = ")
    # Even bits: the two optima differ in information, not in accuracy.
    one, other = (best["pdd"](even, 0.1).mechanism for best in OPTIMA.values())
    assert leakage.map_accuracy(even, one) == pytest.approx(leakage.map_accuracy(even, other), abs=1e-12)
    assert leakage.mutual_information(even, one) > leakage.mutual_information(even, other) + 1e-3
    assert binary.optimal_pdd(rare, 1).distortion == 0


@slow
def test_the_frame_of_a_notebook_shows_the_same(browser, tmp_path, open_alone):
    output = explorer.show(model_of(PAPER), 0.2)
    page = tmp_path / "lab.html"
    page.write_text(f'<!DOCTYPE html><body data-jp-theme-light="false">{output._repr_html_()}', encoding="utf-8")
    tab, problems = browser.new_page(), []
    tab.on("request", lambda r: problems.append(r.url) if r.url != page.as_uri() else None)
    tab.on("pageerror", lambda error: problems.append(f"script error: {error}"))
    tab.goto(page.as_uri())
    frame = tab.frames[1]
    assert shown(frame) == shown(open_alone(fragment(**PAPER, D=0.2)))
    frame.locator("#gap-bits-D").press("ArrowRight")
    assert shown(frame)["D"] == 0.205
    frame.wait_for_function("document.documentElement.scrollHeight <= window.frameElement.clientHeight")
    assert frame.evaluate("document.documentElement.dataset.theme") == "dark"
    assert [problem for problem in problems if "about:srcdoc" not in problem] == []
    tab.close()


@slow
def test_without_scripts_the_page_says_so(open_site):
    tab, home, _ = open_site("file", java_script_enabled=False)
    tab.goto(home + "book/two_bits.html")
    assert "scripts, which are switched off" in tab.locator(".gap-explorer").inner_text()
    assert not tab.locator(".gap-explorer .content").is_visible()
