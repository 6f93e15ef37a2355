"""Colours of methods and losses on a page that may be light or dark."""

from collections.abc import Sequence

from goalward.looks import GRID_COLOUR, LOSS_COLOURS, TEXT_COLOUR, channels, looks_of

# The panels that curves and bars are drawn on, as in site/colours.css.
LIGHT_PANEL = "#ffffff"
DARK_PANEL = "#171b21"
# Black has no hue to keep: on dark it turns into its opposite.
_BLACK, _ITS_OPPOSITE = "#000000", "#eeeeee"
# What is no method's: paper, words and grids, as the panel, the soft text and the lines are there.
_PAPER_ON_DARK = {LIGHT_PANEL: DARK_PANEL, TEXT_COLOUR: "#b1b9c6", GRID_COLOUR: "#2a3038"}
# What lines and bars need to be seen (WCAG 2.1, 1.4.11).
_ENOUGH = 3.0


def page_colours(methods: Sequence[str]) -> list[dict[str, str]]:
    """For each method its colour in every figure, and the nearest one that shows on dark.

    >>> page_colours(["liveness", "liveness-exact"])
    [{'light': '#0072b2', 'dark': '#0072b2'}, {'light': '#000000', 'dark': '#eeeeee'}]
    """
    looks = looks_of(methods)
    return [_on_both(looks[name].colour) for name in methods]


def loss_colours() -> dict[str, dict[str, str]]:
    """The same for losses by their kind."""
    return {kind: _on_both(colour) for kind, colour in LOSS_COLOURS.items()}


def _on_both(colour: str) -> dict[str, str]:
    return {"light": colour, "dark": seen_on(DARK_PANEL, colour)}


def seen_on(background: str, colour: str) -> str:
    """The colour with as much white as it takes to stand out from a dark background."""
    if colour == _BLACK:
        return _ITS_OPPOSITE
    red, green, blue = channels(colour)
    for white in range(0, 256):
        mixed = [round(c + (255 - c) * white / 255) for c in (red, green, blue)]
        shown = "#" + "".join(f"{c:02x}" for c in mixed)
        if contrast(shown, background) >= _ENOUGH:
            return shown
    return "#ffffff"


def drawn_on_dark(colour: str) -> str:
    """What a colour of a figure on white paper becomes on a dark page.

    >>> drawn_on_dark("#ffffff"), drawn_on_dark("#000000")
    ('#171b21', '#eeeeee')
    """
    return _PAPER_ON_DARK.get(colour) or seen_on(DARK_PANEL, colour)


def contrast(first: str, second: str) -> float:
    """How far two colours are apart in brightness, 1 to 21 (WCAG's contrast ratio).

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    linear = [
        c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4
        for c in channels(colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
