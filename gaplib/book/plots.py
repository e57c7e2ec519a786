"""One style for every figure of the book."""

import matplotlib.pyplot as plt
from cycler import cycler

# The palette of Okabe and Ito, told apart with any common form of colour blindness.
COLORS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "vermilion": "#D55E00",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "yellow": "#F0E442",
    "black": "#000000",
}


def use_style() -> None:
    """Set the book's figure style for this kernel.

    White ground (legible on a dark page), the Okabe-Ito colours in order, grid lines behind the curves.
    """
    plt.rcParams.update(
        {
            "figure.figsize": (7, 4),
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
            "axes.prop_cycle": cycler(color=list(COLORS.values())),
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "grid.color": "#dddddd",
            "lines.linewidth": 2,
            "font.size": 11,
            "legend.frameon": False,
        }
    )
