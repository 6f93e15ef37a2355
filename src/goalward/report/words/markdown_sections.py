"""The summary of a run taken apart, so that a page can show it without reading Markdown."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# How the summary begins what it takes back (`goalward.report.words.summary.doubt_of_values`).
_DOUBT = "Do not rely on"
_INLINE = re.compile(r"\\(?P<plain>.)|(?P<mark>\*\*|\*|`)", re.DOTALL)
_STYLES = {"**": "strong", "*": "em", "`": "code"}

# One stretch of text in one style: "", "strong", "em" or "code".
Run = tuple[str, str]


@dataclass
class Section:
    """A heading and what stands under it; blocks are ("p", runs) or ("ul", items of runs)."""

    title: str
    blocks: list[tuple[str, Any]] = field(default_factory=list)


def read_summary(path: Path) -> list[Section]:
    """The sections of a summary; none where there is no summary. The first has no title."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return []
    return summary_sections(text)


def summary_sections(markdown: str) -> list[Section]:
    """The kinds of Markdown that a summary holds: headings, paragraphs, lists, inline marks.

    >>> sections = summary_sections("# ours\\n\\n**Success** 50 %\\n\\n## Watch\\n\\n- a\\n- b\\n")
    >>> [(section.title, section.blocks) for section in sections][0]
    ('', [('p', [('strong', 'Success'), ('', ' 50 %')])])
    >>> sections[1].blocks
    [('ul', [[('', 'a')], [('', 'b')]])]
    """
    sections = [Section("")]
    for block in markdown.strip().split("\n\n"):
        lines = block.strip().split("\n")
        if lines[0].startswith("# "):
            continue
        if lines[0].startswith("## "):
            sections.append(Section(plain_text(inline_runs(lines[0][3:]))))
        elif all(line.startswith("- ") for line in lines):
            sections[-1].blocks.append(("ul", [inline_runs(line[2:]) for line in lines]))
        elif any(lines):
            sections[-1].blocks.append(("p", inline_runs(" ".join(lines))))
    return sections


def inline_runs(text: str) -> list[Run]:
    r"""Text cut where its style changes; a backslash makes the next character plain.

    >>> inline_runs(r"**all** of a\_b in `c`")
    [('strong', 'all'), ('', ' of a_b in '), ('code', 'c')]
    """
    runs: list[Run] = []
    # Marks that are open; the innermost says how the text looks.
    styles: list[str] = [""]
    words, position = "", 0
    for found in _INLINE.finditer(text):
        words += text[position : found.start()]
        position = found.end()
        if found["mark"] is None:
            words += found["plain"]
            continue
        style = _STYLES[found["mark"]]
        if styles[-1] == "code" and style != "code":
            words += found["mark"]
            continue
        runs.append((styles[-1], words))
        words = ""
        if styles[-1] == style:
            styles.pop()
        else:
            styles.append(style)
    runs.append((styles[-1], words + text[position:]))
    return [(style, words) for style, words in runs if words]


def plain_text(runs: list[Run]) -> str:
    return "".join(text for _, text in runs)


def doubts(sections: list[Section]) -> list[list[Run]]:
    """What the summary says must not be relied on, paragraph by paragraph."""
    return [
        runs
        for section in sections
        for kind, runs in section.blocks
        if kind == "p" and plain_text(runs).startswith(_DOUBT)
    ]
