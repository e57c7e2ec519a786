"""What the figures of all slides share: a size, large type, and few shapes.

A figure is drawn at 100 pixels an inch and fills the slide under its heading, so that nothing in it is smaller than the
text beside it. A diagram has its axis in inches, of 5 inches in the middle.
"""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from gaplib.book.plots import COLORS

SIZE = (12, 5.5)
INK = "#1d2733"
GREY = "#5a6672"
PALE = "#d7dde3"
# The two values of Y, as fills and as lines; the two players.
KINDS = (COLORS["sky"], COLORS["orange"])
LINES = (COLORS["blue"], "#B36B00")
PRIVATIZER, ADVERSARY = COLORS["blue"], COLORS["vermilion"]
BLUE, RED, GREEN, PURPLE = COLORS["blue"], COLORS["vermilion"], "#00795A", "#A0488A"

STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 1.5,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 20,
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "figure.figsize": SIZE,
    "font.size": 20,
    "hatch.linewidth": 2,
    "legend.frameon": False,
    "lines.linewidth": 4,
    "lines.markersize": 12,
    "svg.fonttype": "path",
    "svg.hashsalt": "slides",
    "text.color": INK,
    "xtick.color": GREY,
    "xtick.labelcolor": INK,
    "xtick.major.pad": 10,
    "ytick.color": GREY,
    "ytick.labelcolor": INK,
    "ytick.major.pad": 8,
}


def diagram() -> tuple[Figure, Axes]:
    """Return an empty figure whose axis is in inches."""
    figure = plt.figure(layout="none")
    axis = figure.add_axes((0, 0, 1, 1))
    axis.set(xlim=(0, SIZE[0]), ylim=(-0.25, SIZE[1] - 0.25))
    axis.axis("off")
    return figure, axis


def box(axis: Axes, center: tuple[float, float], size: tuple[float, float], text: str, color: str = INK, **style):
    """Draw a box with rounded corners and text in it."""
    corner = center[0] - size[0] / 2, center[1] - size[1] / 2
    shape = FancyBboxPatch(
        corner, *size, boxstyle="round,pad=0,rounding_size=0.12", facecolor="white", edgecolor=color, linewidth=4
    )
    axis.add_patch(shape)
    axis.text(*center, text, ha="center", va="center", **style)


def arrow(axis: Axes, start: tuple[float, float], end: tuple[float, float], text: str = "", color: str = GREY):
    """Draw an arrow, with text above its middle."""
    style = {"arrowstyle": "-|>", "color": color, "linewidth": 4, "mutation_scale": 28, "shrinkA": 0, "shrinkB": 0}
    axis.annotate("", xy=end, xytext=start, arrowprops=style)
    axis.text((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + 0.12, text, ha="center", va="bottom")


def tile(axis: Axes, corner: tuple[float, float], size: tuple[float, float], text: str, color: str = "white", **style):
    """Draw a cell of a table."""
    axis.add_patch(plt.Rectangle(corner, *size, facecolor=color, edgecolor="white", linewidth=4))
    axis.text(corner[0] + size[0] / 2, corner[1] + size[1] / 2, text, ha="center", va="center", **style)


def joint_bars(axis: Axes, table: np.ndarray, name: str, guesses: bool = True) -> None:
    """Draw the joint distribution of a bit and Y as two pairs of bars; the adversary is right on the hatched mass."""
    for j, color in enumerate(KINDS):
        axis.bar(np.array([-0.2, 0.8]) + 0.4 * j, table[:, j], 0.38, color=color, edgecolor=INK, linewidth=1.5)
    if guesses:
        best = table.argmax(axis=1)
        place = np.array([-0.2, 0.8]) + 0.4 * best
        axis.bar(place, table[[0, 1], best], 0.38, fill=False, hatch="//", edgecolor=INK, linewidth=1.5)
    axis.set_xticks([-0.2, 0.2, 0.8, 1.2], ["$Y=0$", "$Y=1$"] * 2)
    axis.tick_params(axis="x", length=0)
    for k in (0, 1):
        axis.text(k, -0.16, f"${name} = {k}$", ha="center", va="top", transform=axis.get_xaxis_transform(), fontsize=24)


def mark(axis: Axes, x: float, y: float, text: str, color: str = INK, **style) -> None:
    """Write beside a curve, in its colour."""
    axis.text(x, y, text, color=color, **{"ha": "left", "va": "center", **style})
