"""Figures for the column or the page of a paper: sizes, plain axes, names that fit a legend."""

from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from goalward.looks import GRID_COLOUR, TEXT_COLOUR

# Inches: a column and a page of a paper.
COLUMN_WIDTH = 3.5
PAGE_WIDTH = 7.2
FONT_SIZE = 8
_LONGEST_NAME = 24


def light_figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def plain_axes(axes: Axes, grid: Literal["both", "x", "y"] = "both") -> None:
    axes.grid(axis=grid, color=GRID_COLOUR, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=TEXT_COLOUR, labelsize=FONT_SIZE - 0.5)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set(fontsize=FONT_SIZE, color=TEXT_COLOUR)


def legend_columns(names: Sequence[str], width: float) -> int:
    """As many columns as fit side by side, and no more than the rows need."""
    longest = max((len(short_name(name)) for name in names), default=1)
    fitting = max(int(width / (0.35 + 0.06 * longest)), 1)
    rows = -(-len(names) // fitting) or 1
    return -(-len(names) // rows) or 1


def short_name(name: str, most: int = _LONGEST_NAME) -> str:
    """A name cut to what a legend has room for.

    >>> short_name("_private")
    ' _private'
    """
    name = name if len(name) <= most else f"{name[: most - 1]}…"
    # A dollar sign would start mathematics; a legend leaves out names that start with _.
    name = name.replace("$", r"\$")
    return f" {name}" if name.startswith("_") else name
