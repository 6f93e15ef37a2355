"""Documents as people see them: in Markdown, on a page, on a terminal."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from goalward.report.words.blocks import (
    Block,
    Bullets,
    Document,
    Paragraph,
    Picture,
    Span,
    Spans,
    Style,
)
from goalward.report.words.tables import Table, escaped_markdown

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# ---- Markdown -----------------------------------------------------------------------------------

_MARKS: dict[Style, str] = {"": "", "strong": "**", "em": "*", "code": "`"}


def markdown(document: Document) -> str:
    r"""A document as Markdown; names from files show as they are.

    >>> from goalward.report.words.blocks import Section, code, spans, strong
    >>> words = spans(strong("All"), " of a_b in ", code("c_d"))
    >>> print(markdown(Document("ours", (Section("", (Paragraph(words),)),))))
    # ours
    <BLANKLINE>
    **All** of a\_b in `c_d`
    <BLANKLINE>
    """
    parts = [f"# {escaped_markdown(document.title)}"]
    for section in document.sections:
        parts += [f"## {escaped_markdown(section.title)}"] if section.title else []
        parts += [_block_markdown(block) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def _block_markdown(block: Block) -> str:
    match block:
        case Paragraph(words):
            return spans_markdown(words)
        case Bullets(items):
            return "\n".join(f"- {spans_markdown(item)}" for item in items)
        case Table():
            return block.markdown().rstrip()
        case Picture(address, words):
            return f"![{escaped_markdown(words)}]({address})"


def spans_markdown(words: Spans) -> str:
    return "".join(
        # In code nothing is an escape; a backtick would end it.
        f"`{span.text.replace('`', '')}`"
        if span.style == "code"
        else f"{_MARKS[span.style]}{_spaced(span.text)}{_MARKS[span.style]}"
        for span in words
    )


def _spaced(text: str) -> str:
    """Escaped, with the spaces at its ends, which join it to its neighbours."""
    inner = escaped_markdown(text)
    start, end = text[:1].isspace(), text[-1:].isspace()
    return f"{' ' * start}{inner}{' ' * end}" if inner else " " * (start or end)


# ---- a page -------------------------------------------------------------------------------------


def page_sections(document: Document) -> list[dict[str, Any]]:
    """Sections as the pages read them: texts and styles, never markup."""
    return [
        {
            "name": section.name,
            "title": section.title,
            "blocks": [_page_block(block) for block in section.blocks],
        }
        for section in document.sections
    ]


def _page_block(block: Block) -> dict[str, Any]:
    match block:
        case Paragraph(words, role):
            return {"kind": "paragraph", "role": role, "spans": page_spans(words)}
        case Bullets(items):
            return {"kind": "bullets", "items": [page_spans(item) for item in items]}
        case Table():
            rows = [[name, *(cell.plain() for cell in cells)] for name, cells in block.rows]
            head = [block.corner, *block.columns]
            return {"kind": "table", "head": head, "rows": rows, "notes": list(block.notes)}
        case Picture(address, words):
            return {"kind": "picture", "address": address, "words": words}


def page_spans(words: Spans) -> list[tuple[str, str]]:
    """(style, text) of each span."""
    return [(span.style, span.text) for span in words]


# ---- a terminal ---------------------------------------------------------------------------------

_LOOKS: dict[Style, str] = {"": "", "strong": "bold", "em": "italic", "code": "cyan"}


def print_document(document: Document, console: "Console") -> None:
    """Onto a terminal, or as plain lines into a file or a pipe, where no line is broken."""
    _line(_shown(document.title), console, "bold underline")
    for section in document.sections:
        _line("", console)
        if section.title:
            _line(_shown(section.title), console, "bold")
        print_blocks(section.blocks, console)


def print_blocks(blocks: Sequence[Block], console: "Console") -> None:
    """Blocks as `print_document` prints them, an empty line between two."""
    for position, block in enumerate(blocks):
        if position:
            _line("", console)
        for shown in _terminal_lines(block):
            _line(shown, console)


def _line(shown: "RenderableType", console: "Console", style: str = "") -> None:
    console.print(shown, style=style, soft_wrap=not console.is_terminal)


def _terminal_lines(block: Block) -> list["RenderableType"]:
    match block:
        case Paragraph(words, role):
            return [_styled(words, "yellow" if role in ("doubt", "caution") else "")]
        case Bullets(items):
            return [_styled((Span("- "), *item), "") for item in items]
        case Table():
            return [terminal_table(block), *map(_shown, block.notes)]
        case Picture(address, words):
            return [_shown(f"{words}: {address}")]


def terminal_table(table: Table) -> "RenderableType":
    """Names on the left, numbers on the right; headings in two lines, to fit into 80 columns."""
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    names = (table.corner, *table.columns)
    headings = [
        textwrap.wrap(name, len(name) // 2 + 1, break_long_words=False, break_on_hyphens=False)
        for name in names
    ]
    height = max(map(len, headings))
    for position, lines in enumerate(headings):
        at_the_bottom = [""] * (height - len(lines)) + lines
        shown.add_column(
            Text("\n").join(map(_shown, at_the_bottom)),
            justify="right" if position else "left",
            overflow="fold",
        )
    for name, cells in table.rows:
        shown.add_row(_shown(name), *(_shown(cell.plain()) for cell in cells))
    return shown


def _styled(words: Spans, look: str) -> "RenderableType":
    from rich.text import Text

    text = Text(style=look)
    for span in words:
        text.append(_printable(span.text), style=_LOOKS[span.style])
    return text


def _shown(text: str) -> Any:
    from rich.text import Text

    return Text(_printable(text))


def _printable(text: str) -> str:
    """Control characters written out: a name must not clear the screen."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
