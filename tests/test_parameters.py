"""gaplib.book.parameters: what a parameters cell declares, what is allowed, how text becomes a value."""

import math

import nbformat
import pytest
from bs4 import BeautifulSoup
from site_builder import ROOT

from gaplib.book import parameters

CELL = """\
D: float = 1  # budget, at most P(X=1), in [0, 0.5]
n: int = 1000  # records, in [1, 10000000]
seed: int = 0  # seed, in [0, inf)
kind: str = "pdd"  # whether the mechanism sees Y, "pdd" or "pdi"
quick: bool = False  # True trains with fewer steps
label: str = "a = b # c"  # a text, whatever
"""


def one(line):
    """The one parameter that a line declares."""
    (parameter,) = parameters.read(line).values()
    return parameter


def test_a_line_is_read_by_its_parts():
    found = parameters.read(CELL.replace("D: float = 1 ", "D: float = 0 "))
    assert list(found) == ["D", "n", "seed", "kind", "quick", "label"]
    assert [p.type for p in found.values()] == ["float", "int", "int", "str", "bool", "str"]
    assert [p.default for p in found.values()] == [0.0, 1000, 0, "pdd", False, "a = b # c"]
    assert isinstance(found["D"].default, float)
    assert found["D"].meaning == "budget, at most P(X=1)" and found["D"].allowed == (0, 0.5)
    assert found["seed"].meaning == "seed" and found["seed"].allowed == (0, math.inf)
    assert found["kind"].allowed == ("pdd", "pdi") and found["kind"].meaning == "whether the mechanism sees Y"
    assert found["quick"].allowed == found["label"].allowed == ()


def test_a_default_is_checked_as_any_value():
    with pytest.raises(ValueError, match=r"^D must be a finite number in \[0, 0.5\], got 1.0"):
        parameters.read(CELL)


@pytest.mark.parametrize(
    "line, type, default, optional",
    [
        ("x: int | None = None  # an integer, in [1, 9]", "int", None, True),
        ("x: None | int = 3", "int", 3, True),
        ("import typing\nx: typing.Optional[float] = 2", "float", 2.0, True),
        ("from typing import Optional\nx: Optional[str] = None", "str", None, True),
        ("x: list[int] = [1, 2]  # a list", "list", [1, 2], False),
        ("x = 0.5", "float", 0.5, False),
        ("x = True", "bool", True, False),
        ("x: float = (\n    -1e-3\n)  # over several lines, in [-1, 1]", "float", -0.001, False),
    ],
)
def test_what_ones_own_notebook_may_declare(line, type, default, optional):
    parameter = one(line)
    assert (parameter.type, parameter.default, parameter.optional) == (type, default, optional)
    parameter.check(default)


@pytest.mark.parametrize(
    "line, said",
    [
        ("x: complex = 1j", "a parameter must be declared as .* got 'x: complex = 1j'"),
        ("x = None", "a parameter must be declared as .* got 'x = None'"),
        ("x: float = 1 / 3", "a parameter must be declared as .* got 'x: float = 1 / 3'"),
        ("x: float = y", "a parameter must be declared as"),
        ("x: float", "a parameter must be declared as"),
        ("x = y = 1", "a parameter must be declared as"),
        ("x, y = 1, 2", "a parameter must be declared as"),
        ("print(1)", r"a parameter must be declared as .* got 'print\(1\)'"),
        ("x: int = 1.0", "x must be an integer, got 1.0 of type float"),
        ("x: float = 1  # in (0, 1]", "what is allowed of parameter 'x' must be declared as"),
        ("x: float = 1  # in [1, O]", "what is allowed of parameter 'x' must be declared as"),
        ("x: float = 1  # in [2, 0]", "what is allowed of parameter 'x' must be declared as"),
        ("x: int = 1  # in [0.5, 3]", "what is allowed of parameter 'x' must be declared as"),
        ("%time\nx: int = 1", "the parameters cell must be plain Python, got: invalid syntax"),
        ("x: list = " + "[" * 9999 + "]" * 9999, "the parameters cell must be plain Python"),
    ],
)
def test_what_is_no_declaration_is_refused_in_words(line, said):
    with pytest.raises((TypeError, ValueError), match=f"^{said}"):
        parameters.read(line)


def test_words_in_brackets_are_no_interval():
    assert one("x: float = 1  # a length, in [m, s]").meaning == "a length, in [m, s]"


@pytest.mark.parametrize(
    "line, value, said",
    [
        ("D: float = 1  # in [0, inf)", "1e-3", "D must be a finite number >= 0, got '1e-3' of type str"),
        ("D: float = 1  # in [0, inf)", True, "D must be a finite number >= 0, got True of type bool"),
        ("D: float = 1  # in [0, inf)", math.nan, "D must be a finite number >= 0, got nan"),
        ("D: float = 1  # in [0, inf)", [1, 2], r"D must be a finite number >= 0, got \[1, 2\] of type list"),
        ("D: float = 1  # in [0, 1]", 1.5, r"D must be a finite number in \[0, 1\], got 1.5"),
        ("D: float = 0  # in [0, 0.9999999]", 1, r"D must be a finite number in \[0, 0.9999999\], got 1"),
        ("D: float = 0  # in (-inf, 1]", 2, "D must be a finite number <= 1, got 2"),
        ("n: int = 1  # in [1, inf)", 1.0, "n must be an integer >= 1, got 1.0 of type float"),
        ("n: int = 1  # in [1, 1e7]", 10**8, r"n must be an integer in \[1, 10000000\], got 100000000"),
        ("n: int | None = 1  # in [1, 9]", 10, r"n must be an integer in \[1, 9\], got 10; None is allowed too"),
        ("b: bool = True", "false", "b must be True or False, got 'false' of type str"),
        ("b: bool = True", 0, "b must be True or False, got 0"),
        ('w: str = "log"  # loss, "log" or "0-1"', "LOG", "w must be 'log' or '0-1', got 'LOG'"),
        ('w: str = "a"  # loss, "a", "b" or "c"', 1, "w must be 'a' or 'b' or 'c', got 1 of type int"),
        ('t: str = "a"', None, "t must be a str, got None"),
        ("v: list = []", [{1}], r"v must be a list of numbers, texts or lists, got \[\{1\}\]"),
        ("v: list = []", 1, "v must be a list of numbers, texts or lists, got 1 of type int"),
    ],
)
def test_a_value_that_is_not_allowed_is_named(line, value, said):
    with pytest.raises((TypeError, ValueError), match=f"^{said}"):
        one(line).check(value)


@pytest.mark.parametrize(
    "line, text, value",
    [
        ("n: int = 1", "1e5", 100000),
        ("n: int = 1", "100000.0", 100000),
        ("n: int = 1", " -3 ", -3),
        ("x: float = 1", "1e5", 1e5),
        ("x: float = 1", "-1e-3", -0.001),
        ("b: bool = True", "false", False),
        ("t: str = ''", " a,b", " a,b"),
        ("v: list = []", "[1, [2]]", [1, [2]]),
        ("n: int | None = 1", "None", None),
        ("n: int | None = 1", "2", 2),
    ],
)
def test_a_text_stands_for_a_value(line, text, value):
    found = one(line).parse(text)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "line, text, said",
    [
        ("n: int = 1", "1.5", "n must be an integer, got '1.5'"),
        ("n: int = 1", "1e999999999", "n must be an integer, got '1e999999999'"),
        ("n: int = 1", "inf", "n must be an integer, got 'inf'"),
        ("n: int = 1", "None", "n must be an integer, got 'None'"),
        ("n: int = 1  # in [1, 10000000]", "1e8", r"n must be an integer in \[1, 10000000\], got 100000000"),
        ("x: float = 1", "half", "x must be a number, got 'half'"),
        ("x: float = 1", "nan", "x must be a finite number, got nan"),
        ("b: bool = True", "1", "b must be True or False, got '1'"),
        ("v: list = []", "[3,4", r"v must be a list, such as \[1, 2\], got '\[3,4'"),
        ("v: list = []", "(3, 4)", "v must be a list"),
        ("v: list = []", "[" * 99999, "v must be a list"),
    ],
)
def test_a_text_that_stands_for_none_is_named(line, text, said):
    with pytest.raises((TypeError, ValueError), match=f"^{said}"):
        one(line).parse(text)


def test_the_parameters_of_a_notebook_are_those_of_its_tagged_cell():
    cells = [nbformat.v4.new_code_cell("y: int = 2"), nbformat.v4.new_code_cell("x: int = 1  # a number")]
    assert parameters.declared(nbformat.v4.new_notebook(cells=cells)) == {}
    cells[1].metadata["tags"] = ["parameters"]
    assert list(parameters.declared(nbformat.v4.new_notebook(cells=cells))) == ["x"]


# In a running notebook.

BEFORE = ["", "D: float = 1.0  # budget, in [0, inf)\nseed: int = 0  # seed"]


def injected(source):
    """The cells of a kernel in which papermill ran its own."""
    return [*BEFORE, f"# Parameters\n{source}\n"]


def test_values_of_a_running_notebook_are_checked():
    parameters.check_history(BEFORE, {"D": 4, "seed": 0, "other": "anything"})
    parameters.check_history(injected("D = 2"), {"D": 2, "seed": 0})
    with pytest.raises(ValueError, match="^D must be a finite number >= 0, got -1"):
        parameters.check_history(injected("D = -1"), {"D": -1, "seed": 0})


def test_a_misspelt_name_is_refused_with_a_hint():
    said = r"^unknown parameter 'sed' \(did you mean 'seed'\?\); this notebook has: D, seed$"
    with pytest.raises(ValueError, match=said):
        parameters.check_history(injected("sed = 1"), {"D": 1.0, "seed": 0, "sed": 1})


def test_a_notebook_without_parameters_refuses_any():
    parameters.check_history(["import os", "%time 1"], {})
    with pytest.raises(ValueError, match="unknown parameter 'D'; this notebook has: none"):
        parameters.check_history(["# Parameters\nD = 2\n"], {"D": 2})


def test_a_cell_that_is_run_again_counts_as_it_is_then():
    again = [*BEFORE, "D: float = 9.0  # budget, in [0, 10]\nseed: int = 0  # seed", "print(D)"]
    with pytest.raises(ValueError, match=r"^D must be a finite number in \[0, 10\], got 11"):
        parameters.check_history(again, {"D": 11.0, "seed": 0})


# On the site.


@pytest.mark.slow
def test_the_how_to_has_every_parameter_of_every_chapter(site):
    page = BeautifulSoup((site / "book" / "howto.html").read_text(), "html.parser")
    rows = [[cell.get_text(" ", strip=True) for cell in row.select("td")] for row in page.select("tr")]
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        chapter = str(int(path.stem[:2]))
        for parameter in parameters.declared(nbformat.read(path, as_version=4)).values():
            found = [row for row in rows if row[:2] == [parameter.name, parameter.meaning.replace("'", "\u2019")]]
            ((_, _, default, allowed, chapters),) = found
            assert chapter in chapters.split(" , ") and repr(parameter.default) in default, path.stem
            low = parameter.allowed[0] if parameter.type in ("int", "float") else None
            assert low is None or f"from {low:,.7g}" in allowed, path.stem
