"""What every figure looks like: one colour per method, plain axes, text that shows as it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's colours, which most eyes tell apart, without the yellow that white paper swallows.
# One method, one colour in every figure.
METHOD_COLOURS: Mapping[str, str] = {
    "liveness": "#0072b2",
    "liveness-nb": "#56b4e9",
    "td": "#e69f00",
    "mc": "#009e73",
    "mc-dist": "#cc79a7",
    "survival": "#d55e00",
    "liveness-exact": "#000000",
    "liveness-nb-exact": "#999999",
}
# Tol's muted colours for everything else; where they repeat, a hatch tells bars apart.
_OTHER_COLOURS = ("#332288", "#88ccee", "#117733", "#882255", "#999933", "#aa4499")
_HATCHES = ("", "////", "....", "xxxx")
TEXT_COLOUR = "#333333"
# Inches: a column and a page of a paper.
COLUMN_WIDTH = 3.5
PAGE_WIDTH = 7.2
FONT_SIZE = 8
_LONGEST_NAME = 24


@dataclass(frozen=True)
class Look:
    colour: str
    hatch: str = ""


def looks_of(names: Sequence[str]) -> dict[str, Look]:
    """A look for each name: the method's own colour, or one that no method has.

    >>> looks_of(["td", "mine"])
    {'td': Look(colour='#e69f00', hatch=''), 'mine': Look(colour='#332288', hatch='')}
    """
    others = [name for name in names if name not in METHOD_COLOURS]
    looks = {name: Look(colour) for name, colour in METHOD_COLOURS.items()}
    for position, name in enumerate(others):
        again, index = divmod(position, len(_OTHER_COLOURS))
        looks[name] = Look(_OTHER_COLOURS[index], _HATCHES[again % len(_HATCHES)])
    return {name: looks[name] for name in names}


def light_figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def plain_axes(axes: Axes, grid: Literal["both", "x", "y"] = "both") -> None:
    axes.grid(axis=grid, color="#dddddd", linewidth=0.6)
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


def short_name(name: str) -> str:
    """A name cut to what a legend has room for.

    >>> short_name("_private")
    ' _private'
    """
    name = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    # A dollar sign would start mathematics; a legend leaves out names that start with _.
    name = name.replace("$", r"\$")
    return f" {name}" if name.startswith("_") else name
