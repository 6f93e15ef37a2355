"""A document as a page: one index.html with its styles beside it, no script that computes."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from goalward.files import write_text
from goalward.report.pages.assets import INDEX, SITE
from goalward.report.words.blocks import (
    Block,
    Bullets,
    Document,
    Paragraph,
    Picture,
    Section,
    Spans,
    plain_text,
    shortened,
)
from goalward.report.words.tables import Table

_OWN = Path(__file__).parent / "compared"
_SHARED = ("colours.css", "style.css", "theme.js")
# Longer names lose their middle.
_MOST_CHARACTERS = 60
_TAGS = {"": "", "strong": "strong", "em": "em", "code": "code"}
_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'self' file:; style-src 'self' file:; img-src 'self' file: data:; \
base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title} · goalward</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/colours.css">
<link rel="stylesheet" href="assets/style.css">
<link rel="stylesheet" href="assets/comparison.css">
<script src="assets/theme.js"></script>
</head>
<body>
<header class="top"><div class="top-inner"><span class="brand">goalward</span>
<span class="top-policy">{names}</span>
<button class="icon-button" id="theme-switch" type="button" hidden>
<svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true"><path fill="none" \
stroke="currentColor" stroke-width="1.6" d="M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1z"/></svg>
</button></div></header>
<main id="main">
"""


def write_page(page: str, folder: Path) -> Path:
    """Write a page and its styles."""
    write_text(folder / INDEX, page)
    for name in _SHARED:
        write_text(folder / "assets" / name, (SITE / name).read_text(encoding="utf-8"))
    for source in sorted(_OWN.iterdir()):
        write_text(folder / "assets" / source.name, source.read_text(encoding="utf-8"))
    return folder / INDEX


def page_of(document: Document, names: Sequence[str], panels: Sequence[str], files: str) -> str:
    """A whole page as HTML: the first sentence as its headline, then answers, then panels.

    `names` stand at the top; `files` is what the same numbers are called, without an ending. Text
    from files shows as it is.
    """
    first, *rest = [block for block in document.sections[0].blocks if isinstance(block, Paragraph)]
    headline, details = first.words[:1], first.words[1:]
    said = [Paragraph(details, first.role)] if details else []
    title = escape(document.title)
    return "\n".join(
        (
            _HEAD.format(title=title, names=" · ".join(map(named, names))),
            f'<p class="overline">{title}</p>',
            f'<h1 class="headline">{shown(plain_text(headline).rstrip(":"))}</h1>',
            f'<div class="verdicts">{html_of([*said, *rest])}</div>',
            *panels,
            f'<footer>The same numbers: <a href="{files}.json">{files}.json</a>, '
            f'<a href="{files}.md">{files}.md</a>.</footer></main>'
            '<script src="assets/theme_button.js"></script></body></html>\n',
        )
    )


def panel(section: Section, above: str = "") -> str:
    """A section of a document; `above` is HTML that stands before its words."""
    return (
        f'<section class="panel"><h2>{escape(section.title)}</h2>{above}'
        f'<div class="words">{html_of(section.blocks, section.title)}</div></section>'
    )


def shown(text: str) -> str:
    """Text as HTML; no line ends between a number and its per cent."""
    return escape(text).replace(" %", "\u00a0%")


def named(name: str) -> str:
    """A name as HTML, in its own direction; all of a long one where the mouse rests.

    >>> named("<a>"), named("a" * 99)[:33]
    ('<bdi>&lt;a&gt;</bdi>', '<bdi title="aaaaaaaaaaaaaaaaaaaaa')
    """
    short = shortened(name, _MOST_CHARACTERS)
    title = "" if short == name else f' title="{escape(name)}"'
    return f"<bdi{title}>{escape(short)}</bdi>"


def scrolling(table: str, label: str) -> str:
    """A table that moves sideways where it is too wide, by keyboard too."""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">{table}</div>'
    )


def html_of(blocks: Sequence[Block], title: str = "") -> str:
    """Blocks as HTML; tables are told by the title of their section and by what they list."""
    return "".join(_block(block, title) for block in blocks)


def _block(block: Block, title: str) -> str:
    match block:
        case Paragraph(words, role):
            mark = ' class="doubt"' if role == "doubt" else ""
            return f"<p{mark}>{_spans(words)}</p>"
        case Bullets(items):
            return f"<ul>{''.join(f'<li>{_spans(item)}</li>' for item in items)}</ul>"
        case Table():
            return _table(block, title)
        case Picture(address, words):
            return f'<img src="{quote(address)}" alt="{escape(words)}">'


def _table(table: Table, title: str) -> str:
    head = "".join(f'<th scope="col">{named(name)}</th>' for name in (table.corner, *table.columns))
    rows = "".join(
        f"<tr><td>{named(name)}</td>" + "".join(_cell(cell.plain()) for cell in row) + "</tr>"
        for name, row in table.rows
    )
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in table.notes)
    shown_table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"{scrolling(shown_table, f'{title}, by {table.corner}')}{notes}"


def _cell(text: str) -> str:
    """A cell; numbers stay on one line, words may take several."""
    kind = "" if any(map(str.isdigit, text)) else ' class="words-cell"'
    return f"<td{kind}>{shown(text)}</td>"


def _spans(words: Spans) -> str:
    return "".join(
        f"<{tag}>{shown(span.text)}</{tag}>" if (tag := _TAGS[span.style]) else shown(span.text)
        for span in words
    )
