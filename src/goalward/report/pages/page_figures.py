"""Figures of pages that may be light or dark: one file on white paper, its twin on a dark panel."""

import re
from html import escape
from pathlib import Path
from urllib.parse import quote

from matplotlib.figure import Figure

from goalward.files import write_text
from goalward.report.figures.scores import save_figure
from goalward.report.pages.colours import drawn_on_dark

# As matplotlib writes colours into SVG; what is black it leaves unsaid.
_COLOUR = re.compile("(fill|stroke): (#[0-9a-f]{6})")
_UNSAID = '<style type="text/css">'


def save_page_figure(figure: Figure, folder: Path, name: str) -> None:
    """Write name.png and name.svg, and for dark pages the same drawing in assets/."""
    _, drawn = save_figure(figure, folder / name)
    write_text(folder / _twin(name), on_dark(drawn.read_text(encoding="utf-8")))


def page_figure(name: str, words: str, *, narrow: bool = False) -> str:
    """A saved figure as HTML; the style sheet shows the one that the page's colours ask for."""
    kind = "figure narrow" if narrow else "figure"
    drawn = "".join(
        f'<img class="{theme}" src="{quote(address)}" alt="{escape(words)}">'
        for theme, address in (("on-light", f"{name}.svg"), ("on-dark", _twin(name)))
    )
    # On a phone it moves sideways, by keyboard too.
    return f'<figure class="{kind}" tabindex="0" aria-label="{escape(words)}">{drawn}</figure>'


def on_dark(drawing: str) -> str:
    """An SVG by matplotlib in the colours of a dark page; every line stays where it is.

    >>> on_dark('<style type="text/css">*</style><path style="fill: #ffffff"/>')
    '<style type="text/css">svg{fill: #eeeeee}*</style><path style="fill: #171b21"/>'
    """
    shown = _COLOUR.sub(lambda found: f"{found[1]}: {drawn_on_dark(found[2])}", drawing)
    return shown.replace(_UNSAID, f"{_UNSAID}svg{{fill: {drawn_on_dark('#000000')}}}", 1)


def _twin(name: str) -> str:
    return f"assets/{name}_dark.svg"
