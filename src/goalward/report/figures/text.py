"""Text from files in figures: cleaned, measured, and cut or shrunk to the room there is."""

import warnings

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

_POINTS_PER_INCH = 72
_SMALLEST_FONT = 3.0
# Nobody reads more; measuring a text of megabytes would take hours.
_MOST_LETTERS = 1000


def clean(text: str) -> str:
    r"""Text without what no page can show: line breaks, control characters.

    >>> clean("a\x1b[2J\nb")
    'a�[2J b'
    """
    whole = " ".join(text[:_MOST_LETTERS].split())
    return "".join(c if c.isprintable() else "\ufffd" for c in whole)


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Inches that a text takes in a font of `size` points."""
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    with warnings.catch_warnings():
        # A letter that the font lacks shows as a box.
        warnings.filterwarnings("ignore", message="Glyph")
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / _POINTS_PER_INCH


def fitted_size(text: str, width: float, size: float, *, bold: bool = False) -> float:
    """The font size, smaller where the text would be wider than its room."""
    taken = text_width(text, size, bold=bold)
    # Letters keep to whole pixels: a text does not shrink quite as much as its font.
    return size if taken <= width else max(0.96 * size * width / taken, _SMALLEST_FONT)


def shortened(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """As much of a text as there is room for; dots stand for the rest.

    >>> shortened("episode", 10.0, 8.0)
    'episode'
    """
    if text_width(text, size, bold=bold) <= width:
        return text
    return text[: _fitting(text, width, size, bold)].rstrip() + "…"


def broken(text: str, width: float, size: float, most: int = 2) -> list[str]:
    """A text on as many lines as it needs, `most` at most; what is too long ends in dots."""
    lines: list[str] = []
    rest = text.strip()
    while rest:
        if len(lines) == most - 1 or text_width(rest, size) <= width:
            return [*lines, shortened(rest, width, size)]
        cut = _fitting(rest, width, size, False)
        space = rest.rfind(" ", cut // 2, cut + 1)
        cut = space if space > 0 else cut
        lines.append(rest[:cut].strip())
        rest = rest[cut:].strip()
    return lines


def _fitting(text: str, width: float, size: float, bold: bool) -> int:
    """How many letters and dots after them fit; one at least."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = text_width(f"{text[:middle]}…", size, bold=bold) <= width
        low, high = (middle, high) if fits else (low, middle - 1)
    return low
