"""How methods and events look and what they are called: in figures, videos, recordings and pages.

One method, one colour everywhere; the same for events. `report/pages/site/colours.css` states the
colours of events once more, for the page, and a test holds it to these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TEXT_COLOUR = "#333333"
QUIET_COLOUR = "#777777"
GRID_COLOUR = "#dddddd"
TRUTH_COLOUR = "#000000"

# Okabe and Ito's colours, which most eyes tell apart, without the yellow that white paper swallows.
_BLUE, _SKY, _ORANGE, _VERMILION = "#0072b2", "#56b4e9", "#e69f00", "#d55e00"
_GREEN, _PURPLE, _BLACK, _GREY = "#009e73", "#cc79a7", "#000000", "#999999"

# One more than there are: of ColorBrewer's, dark between the blue and the purple.
_VIOLET = "#5e3c99"

METHOD_COLOURS: Mapping[str, str] = {
    "lambda-returns": _VIOLET,
    "liveness": _BLUE,
    "liveness-nb": _SKY,
    "td": _ORANGE,
    "mc": _GREEN,
    "mc-dist": _PURPLE,
    "survival": _VERMILION,
    "liveness-exact": _BLACK,
    "liveness-nb-exact": _GREY,
}
# In the order they are given out: policies have no colours of their own.
POLICY_COLOURS = (_BLUE, _VERMILION, _GREEN, _PURPLE, _SKY, _ORANGE, _BLACK)
# Tol's muted colours for everything else; where they repeat, a hatch tells bars apart.
_OTHER_COLOURS = ("#332288", "#88ccee", "#117733", "#882255", "#999933", "#aa4499")
_HATCHES = ("", "////", "....", "xxxx")
# Losses are no methods either.
LOSS_COLOURS: Mapping[str, str] = {"training": "#332288", "held out": "#882255"}


@dataclass(frozen=True)
class Look:
    """The colour of a name's lines and bars, and the hatch that tells its bars from others'."""

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


@dataclass(frozen=True)
class EventLook:
    """The colour of an event and its name: one, many, and where there is little room."""

    colour: str
    word: str
    plural: str
    short: str


# By kind, as `values.events.EventKind` writes it. Words in these colours can be read on white (a
# contrast of 4.5 and more), and beside each stands a name or a number: no colour is needed.
EVENT_LOOKS: Mapping[str, EventLook] = {
    "setback": EventLook("#b3261e", "setback", "setbacks", "setback"),
    "recovery": EventLook("#12754a", "recovery", "recoveries", "recovery"),
    "stall": EventLook("#8a5a00", "stall", "stalls", "stall"),
    "point_of_no_return": EventLook(
        "#7b2d8b", "point of no return", "points of no return", "no return"
    ),
    "goal": EventLook("#12754a", "goal", "goals", "goal"),
}


def channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue from 0 to 255.

    >>> channels("#0072b2")
    (0, 114, 178)
    """
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
