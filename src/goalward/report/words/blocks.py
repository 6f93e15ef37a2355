"""Words as data: what is to be said, once, for whoever shows it.

A document is sections of blocks: paragraphs, lists, tables. Markdown, pages and the terminal
render the same blocks (`rendering.py`), and nobody has to read prose to know what a sentence is:
its role says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from goalward.report.words.tables import Table

Style = Literal["", "strong", "em", "code"]
# What a paragraph is there for: to answer a question, to take an answer back, to warn beside what
# values say elsewhere, or to explain.
Role = Literal["answer", "doubt", "caution", "text"]


@dataclass(frozen=True)
class Span:
    """A stretch of text in one style."""

    text: str
    style: Style = ""


Spans = tuple[Span, ...]


def strong(text: str) -> Span:
    return Span(text, "strong")


def em(text: str) -> Span:
    return Span(text, "em")


def code(text: str) -> Span:
    return Span(text, "code")


def spans(*parts: str | Span | Spans) -> Spans:
    """Texts and spans in a row.

    >>> spans("by ", code("td"), ".")
    (Span(text='by ', style=''), Span(text='td', style='code'), Span(text='.', style=''))
    """
    found: list[Span] = []
    for part in parts:
        if isinstance(part, tuple):
            found += part
        else:
            found.append(Span(part) if isinstance(part, str) else part)
    return tuple(span for span in found if span.text)


def shortened(name: str, most: int = 80) -> str:
    """A name as it is, or of a longer one both ends: tasks often differ at the last.

    >>> shortened("lift"), shortened("left" * 3 + "right" * 3, 15)
    ('lift', 'leftle … tright')
    """
    if len(name) <= most:
        return name
    left = most - len(" … ")
    return f"{name[: left - left // 2]} … {name[len(name) - left // 2 :]}"


def listed(names: Sequence[Span | Spans], most: int = 10) -> Spans:
    """The first few of some names, and how many more there are.

    >>> listed([code("a"), code("b"), code("c")], most=2)[-1].text
    ' and 1 more'
    """
    shown = [part for name in names[:most] for part in (", ", name)][1:]
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return spans(*shown, rest)


@dataclass(frozen=True)
class Paragraph:
    words: Spans
    role: Role = "text"


@dataclass(frozen=True)
class Bullets:
    items: tuple[Spans, ...]


@dataclass(frozen=True)
class Picture:
    """A figure beside the document, by its address."""

    address: str
    words: str


Block = Paragraph | Bullets | Table | Picture


@dataclass(frozen=True)
class Section:
    """A heading, empty at the start of a document, and what stands under it.

    `name` is for programs that give a section a place of its own; people never see it.
    """

    title: str
    blocks: tuple[Block, ...]
    name: str = ""


@dataclass(frozen=True)
class Document:
    title: str
    sections: tuple[Section, ...]

    def paragraphs(self, role: Role) -> list[Paragraph]:
        """The paragraphs that are there for this."""
        return [
            block
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Paragraph) and block.role == role
        ]


def paragraph(*parts: str | Span | Spans, role: Role = "text") -> Paragraph:
    return Paragraph(spans(*parts), role)


def plain_text(words: Spans) -> str:
    return "".join(span.text for span in words)
