"""Tables of results: real ones, with a caption and a number, on the site and in JupyterLab."""

from collections.abc import Mapping, Sequence
from html import escape

from gaplib import _checks

MARKS = {"good": "✓", "bad": "✗", "note": "•", "": ""}  # a sign beside each colour: who sees no colour sees the sign


def show(
    columns: Mapping[str, Sequence[object]],
    caption: str,
    name: str,
    digits: int = 3,
    marks: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Display a table; the last line of a cell.

    On the site it has a number, and text refers to it by ``{numref}`` and its name.

    Parameters
    ----------
    columns : dict from head to values
        From left to right. Heads, caption and texts may contain mathematics between dollar signs; of floats `digits`
        are shown after the point, and nothing of None.
    caption : str
        One sentence that says what the numbers are.
    name : str
        ``tab-`` and a name, unique in the book.
    digits : int from 0 to 9
        Digits after the point.
    marks : dict from head to a sequence of "good", "bad", "note" or ""
        What is marked in a column, by a colour and by a sign.

    Raises
    ------
    TypeError, ValueError
        If a column has another length than the first, or if an argument is not as described.

    Examples
    --------
    ``tables.show({"D": [1, 2], "accuracy": [0.85, 0.72]}, "Accuracy by budget.", "tab-accuracy", digits=2)``
    """
    from IPython.display import display  # here, because a program that only computes has no use for it

    _checks.integer("digits", digits, 0, 9)
    if not name.startswith("tab-"):
        raise ValueError(f"name must begin with tab-, got {name!r}")
    if not columns:
        raise ValueError("columns must be at least one, got none")
    marks = marks or {}
    if unknown := [head for head in marks if head not in columns]:
        raise ValueError(f"marks must be of columns {list(columns)}, got {unknown[0]!r}")
    if foreign := {mark for column in marks.values() for mark in column} - set(MARKS):
        raise ValueError(f"marks must be good, bad, note or empty, got {sorted(foreign)[0]!r}")
    lengths = {head: len(values) for head, values in [*columns.items(), *marks.items()]}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"columns and marks must have one length, got {lengths}")
    (length,) = set(lengths.values())
    texts = {head: [_text(value, digits) for value in values] for head, values in columns.items()}
    signs = {head: marks.get(head, [""] * length) for head in columns}
    rows = [[(texts[head][i], signs[head][i]) for head in columns] for i in range(length)]
    numeric = [all(_reads_as_number(value) for value in values) for values in columns.values()]
    bundle = {
        "text/plain": caption,
        "text/html": _html(list(columns), rows, caption, numeric),
        "text/markdown": _markdown(list(columns), rows, caption, name, numeric),
    }
    display(bundle, raw=True)


def _is_number(value: object) -> bool:
    return value is None or (not isinstance(value, (str, bool)) and hasattr(value, "__float__"))


def _reads_as_number(value: object) -> bool:
    """Return whether a cell belongs into a column of numbers: "0.85 ± 0.02" and a dash do, too."""
    if not isinstance(value, str):
        return _is_number(value)
    number = value.partition(" ± ")[0]
    if number in ("", "∞", "\N{EN DASH}"):
        return True
    try:
        float(number)
    except ValueError:
        return False
    return True


def _text(value: object, digits: int) -> str:
    """Return what a cell shows. Zeros have no sign, and integers no point."""
    if value is None:
        return ""
    if isinstance(value, str) or hasattr(value, "__index__") or not _is_number(value):
        return str(value).replace(" ± ", " ±\N{NO-BREAK SPACE}")  # in a narrow column it begins the next line
    text = f"{float(value):.{digits}f}"  # type: ignore[arg-type]  # it has __float__
    return text.lstrip("-") if float(text) == 0 else text


def _html(heads: Sequence[str], rows: Sequence, caption: str, numeric: Sequence[bool]) -> str:
    """Return the table for JupyterLab, whose style sheet knows no class of ours."""
    colors = {"good": "#00664a", "bad": "#a63d00", "note": "#0b5394", "": ""}

    def cell(tag: str, text: str, mark: str, right: bool) -> str:
        style = f"text-align:{'right' if right else 'left'}" + (
            f";color:{colors[mark]};font-weight:600" if mark else ""
        )
        return f'<{tag} style="{style}">{_signed(escape(text, quote=False), mark)}</{tag}>'

    head = "".join(cell("th", text, "", right) for text, right in zip(heads, numeric, strict=True))
    body = "".join(
        "<tr>"
        + "".join(cell("td", text, mark, right) for (text, mark), right in zip(row, numeric, strict=True))
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{escape(caption, quote=False)}</caption>"
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _markdown(heads: Sequence[str], rows: Sequence, caption: str, name: str, numeric: Sequence[bool]) -> str:
    """Return the table for the site, where a directive gives it a number."""
    rule = ["--:" if right else ":--" for right in numeric]
    lines = [heads, rule, *([_marked(text, mark) for text, mark in row] for row in rows)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f":::{{table}} {caption}\n:name: {name}\n:class: results\n\n{table}\n:::\n"


def _marked(text: str, mark: str) -> str:
    text = text.replace("|", "\\|")
    return f"[{_signed(text, mark)}]{{.{mark}}}" if mark else text


def _signed(text: str, mark: str) -> str:
    return f"{text} {MARKS[mark]}" if mark else text
