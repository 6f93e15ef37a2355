"""Fonts for names in any alphabet: one that is there, or else the letters' codes."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from matplotlib import rcParams
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

# A font of boxes with a letter in them: it has every letter and shows none.
_SHOWS_NOTHING = "Last Resort"


def fonts_for(texts: Iterable[str]) -> list[str]:
    """The usual font, and for letters that it lacks the first ones on this machine that have them.

    >>> fonts_for(["plain"]) == list(rcParams["font.family"])
    True
    """
    families = [str(family) for family in rcParams["font.family"]]
    missing = {c for text in texts for c in text if not c.isspace()} - _letters(_usual())
    for family, path in _others() if missing else ():
        there = missing & _letters(path)
        if there:
            families.append(family)
            missing -= there
        if not missing:
            break
    return families


def drawable(text: str, families: Sequence[str]) -> str:
    r"""A text as those fonts can show it: letters that all of them lack by their codes.

    >>> drawable("策 a", ["DejaVu Sans"])
    '\\u7b56 a'
    """
    paths = dict(_others())
    have = set(_letters(_usual())).union(*(_letters(paths[f]) for f in families if f in paths))
    return "".join(
        c if c in have or c.isspace() else c.encode("unicode_escape").decode() for c in text
    )


def _usual() -> str:
    return findfont(FontProperties(family=rcParams["font.family"]))


@lru_cache(maxsize=1)
def _others() -> tuple[tuple[str, str], ...]:
    """Every upright font here by name, each once."""
    found: dict[str, str] = {}
    for font in sorted(fontManager.ttflist, key=lambda font: (font.name, str(font.weight))):
        if font.style == "normal" and not font.name.startswith(_SHOWS_NOTHING):
            found.setdefault(font.name, font.fname)
    return tuple(found.items())


@lru_cache(maxsize=256)
def _letters(path: str) -> frozenset[str]:
    return frozenset(map(chr, get_font(path).get_charmap()))
