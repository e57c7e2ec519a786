"""The explorers: a model to be moved by hand, on a page of the book or in a notebook.

They have no dependency. Each is markup, a script that computes and one that draws, in files with its name; `drawing.js`
and `style.css` serve them all. `mixture_numbers.js` has the mixture's mechanisms of shift and noise,
`mixture_transport.js` the true optimum over all mechanisms that see Y. `fragment` joins the files of one explorer: a
page of the book includes the result, and `show` puts it into a frame. `player` does the same for recorded trainings.
"""

import html
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from urllib.parse import urlencode

from gaplib import _checks
from gaplib.book import paper
from gaplib.models import BinaryModel, GaussianMixture

_SCRIPTS = {
    "mixture": ("mixture_numbers.js", "mixture_transport.js", "mixture.js"),
    "two_bits": ("two_bits_numbers.js", "two_bits.js"),
}


def fragment(name: str = "mixture") -> str:
    """Return an explorer as a piece of HTML that needs no other file.

    Parameters
    ----------
    name : {"mixture", "two_bits"}
        The explorer of the Gaussian mixture, or that of the binary model.

    Returns
    -------
    str
        To be put into the body of a page. The fragment of the page's address, if there is one, says where it begins.

    Raises
    ------
    TypeError, ValueError
        If `name` is not one of the two.
    """
    return _joined(name, _SCRIPTS[_checks.choice("name", name, tuple(_SCRIPTS))])


def player(recordings: dict[str, str]) -> str:
    """Return the player of recorded trainings as a piece of HTML that needs no other file.

    Parameters
    ----------
    recordings : dict of str to str
        At least one: the name of each in the page's address, and its file, as `tools/recordings.py` writes it.

    Returns
    -------
    str
        To be put into the body of a page.

    Raises
    ------
    TypeError, ValueError
        If `recordings` is not a dict of strings, there is none, or one is not JSON.
    """
    if not all(isinstance(text, str) for text in _checks.instance("recordings", recordings, dict).values()):
        raise TypeError(f"recordings must have texts as values, got {list(recordings.values())!r}")
    if not recordings:
        raise ValueError("recordings must hold at least one, got none")
    try:
        read = {name: json.loads(text) for name, text in recordings.items()}
    except ValueError as error:
        raise ValueError(f"recordings must hold JSON, got a text that is none: {error}") from None
    held = json.dumps(read, separators=(",", ":"))
    held = held.replace("<", "\\u003c")  # no text ends the script
    data = f"(window.gapExplorer ??= {{}}).recordings = {held};\n"
    return _joined("training", ("training.js",), data)


def _joined(name: str, scripts: Sequence[str], data: str = "") -> str:
    body, style, *texts = (
        resources.files("gaplib.book.explorer").joinpath(file).read_text(encoding="utf-8")
        for file in (f"{name}.html", "style.css", "drawing.js", *scripts)
    )
    texts = [data, *texts] if data else texts
    return f"{body}<style>\n{style}</style>\n" + "".join(f"<script>\n{text}</script>\n" for text in texts)


def show(model: GaussianMixture | BinaryModel = paper.DATASETS[3], D: float = 4) -> object:
    """Show the explorer of a model below the cell, in JupyterLab or another notebook, with or without a network.

    Parameters
    ----------
    model : GaussianMixture or BinaryModel
        Where to begin. A mixture has a prior in [0.01, 0.99], ``mu`` in [0, 4] and variances in [0.1, 8], which are
        rounded to two decimals. Of a binary model, ``P(Y=1)`` is in [0.01, 0.99]; it and ``P(X=1 | Y)`` are rounded to
        four.
    D : float in [0, 20], or in [0, 0.5] for a binary model
        The budget to begin with.

    Returns
    -------
    IPython.display.HTML
        What a notebook displays if it is the last value of a cell.

    Raises
    ------
    TypeError, ValueError
        If `model` is neither, or a number is out of its range.

    Examples
    --------
    ``explorer.show(GaussianMixture(prior=0.75, mu=3, var0=1, var1=1), D=4)``
    """
    from IPython.display import HTML  # here, because a program that only computes has no use for it

    if isinstance(model, BinaryModel):
        name, title = "two_bits", "Explorer of two bits"
        setting = _setting(_of_bits(model) | {"D": D}, _RANGES_OF_BITS)
    else:
        name, title = "mixture", "Explorer of the Gaussian mixture"
        _checks.instance("model", model, GaussianMixture)
        given = {"prior": model.prior, "mu": model.mu, "var0": model.var0, "var1": model.var1, "D": D}
        setting = _setting(given, _RANGES)
    page = fragment(name).replace('data-setting=""', f'data-setting="{html.escape(urlencode(setting))}"', 1)
    document = f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{title}</title>{_STYLE}{page}</html>'
    # The frame keeps the style of the notebook and that of the explorer apart. The script sets its height.
    return HTML(
        f'<div><iframe title="{title}" srcdoc="{html.escape(document)}" '
        'style="width: 100%; height: 75rem; border: 0"></iframe></div>'
    )


# The ranges of the controls: what the scripts were tried for.
_RANGES = {"prior": (0.01, 0.99), "mu": (0, 4), "var0": (0.1, 8), "var1": (0.1, 8), "D": (0, 20)}
_RANGES_OF_BITS = {"prior": (0.01, 0.99), "x0": (0, 1), "x1": (0, 1), "D": (0, 0.5)}


def _setting(given: Mapping[str, float], ranges: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    return {name: _checks.real(name, value, *ranges[name]) for name, value in given.items()}


def _of_bits(model: BinaryModel) -> dict[str, float]:
    """Return P(Y = 1) and P(X = 1 | Y) for both Y."""
    prior = _checks.real("P(Y=1)", float(model.p_y[1]), *_RANGES_OF_BITS["prior"])
    x0, x1 = model.joint[1] / model.p_y
    return {"prior": prior, "x0": min(float(x0), 1.0), "x1": min(float(x1), 1.0)}  # rounding


_STYLE = """<style>
  html { color-scheme: light; background: #fff; font-family: system-ui, sans-serif; }
  html[data-theme="dark"] { color-scheme: dark; background: #14181e; }
  body { margin: 0 0.5rem; }
</style>"""
