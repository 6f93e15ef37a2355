"""The page of a comparison: one index.html with its styles beside it, no script that computes."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from goalward.files import write_text
from goalward.metrics.comparing.result import Comparison
from goalward.report.pages.assets import INDEX, SITE
from goalward.report.words.blocks import (
    Block,
    Bullets,
    Paragraph,
    Picture,
    Section,
    Spans,
    plain_text,
)
from goalward.report.words.comparison import comparison_document
from goalward.report.words.tables import Table
from goalward.run_folder import RunFolder

_OWN = Path(__file__).parent / "compared"
_SHARED = ("colours.css", "style.css", "theme.js")
_TAGS = {"": "", "strong": "strong", "em": "em", "code": "code"}
_WATCHED = (
    "What somebody saw who looked after every rollout, with the right to stop when the line "
    "reaches the dashed one. On the right the difference with an interval that holds at all looks "
    "at once."
)
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
<span class="top-policy">{names}</span></div></header>
<main id="main">
"""


@dataclass(frozen=True)
class Figures:
    """Addresses of the pictures beside the page."""

    rates: str
    watching: str | None


def write_comparison_page(
    comparison: Comparison, figures: Figures, folder: Path, runs: Mapping[str, Path]
) -> Path:
    """Write the page and its styles; policies that are runs link to their own reports."""
    write_text(folder / INDEX, page_of(comparison, figures, links_to(runs, folder)))
    for name in _SHARED:
        write_text(folder / "assets" / name, (SITE / name).read_text(encoding="utf-8"))
    for source in sorted(_OWN.iterdir()):
        write_text(folder / "assets" / source.name, source.read_text(encoding="utf-8"))
    return folder / INDEX


def links_to(runs: Mapping[str, Path], folder: Path) -> dict[str, str]:
    """Addresses of the reports of runs, as seen from a folder; only of those that are there."""
    pages = {name: RunFolder(path).report / INDEX for name, path in runs.items()}
    return {
        name: quote(Path(os.path.relpath(page.resolve(), folder.resolve())).as_posix())
        for name, page in pages.items()
        if page.is_file()
    }


def page_of(comparison: Comparison, figures: Figures, reports: Mapping[str, str]) -> str:
    """The whole page as HTML; names from files show as they are."""
    document = comparison_document(comparison)
    answers, *others = document.sections
    names = " · ".join(policy.policy for policy in comparison.best_first)
    first, *rest = [block for block in answers.blocks if isinstance(block, Paragraph)]
    headline, details = first.words[:1], first.words[1:]
    parts = [_HEAD.format(title=escape(document.title), names=escape(names))]
    parts.append(f'<p class="overline">{escape(document.title)}</p>')
    parts.append(f'<h1 class="headline">{escape(plain_text(headline))}</h1>')
    said = [Paragraph(details, first.role)] if details else []
    parts.append(f'<div class="verdicts">{_blocks([*said, *rest])}</div>')
    for section in others:
        above = _figure(figures.rates, "success rates", comparison) if section is others[0] else ""
        parts.append(_panel(section, above))
        if section is others[0] and figures.watching is not None:
            parts.append(_watching(figures.watching))
    if reports:
        parts.append(_reports(reports))
    parts.append(
        '<footer>The same numbers: <a href="comparison.json">comparison.json</a>, '
        '<a href="comparison.md">comparison.md</a>.</footer></main></body></html>\n'
    )
    return "\n".join(parts)


def _panel(section: Section, above: str = "") -> str:
    return (
        f'<section class="panel"><h2>{escape(section.title)}</h2>{above}'
        f'<div class="words">{_blocks(section.blocks)}</div></section>'
    )


def _figure(address: str, words: str, comparison: Comparison) -> str:
    narrow = comparison.horizon is None and comparison.posterior is None
    name = "figure narrow" if narrow else "figure"
    return f'<figure class="{name}"><img src="{quote(address)}" alt="{escape(words)}"></figure>'


def _watching(address: str) -> str:
    return (
        f'<section class="panel"><h2>Over rollouts</h2><p class="how">{escape(_WATCHED)}</p>'
        f'<figure class="figure"><img src="{quote(address)}" alt="evidence over rollouts"></figure>'
        "</section>"
    )


def _reports(reports: Mapping[str, str]) -> str:
    links = "".join(
        f'<a class="small-button" href="{escape(address)}#episodes">{escape(name)}</a>'
        for name, address in reports.items()
    )
    return (
        '<section class="panel"><h2>Episodes</h2><p class="how">The episodes of each run, in its '
        f'own report.</p><div class="words"><p class="links">{links}</p></div></section>'
    )


def _blocks(blocks: Sequence[Block]) -> str:
    return "".join(_block(block) for block in blocks)


def _block(block: Block) -> str:
    match block:
        case Paragraph(words, role):
            mark = ' class="doubt"' if role == "doubt" else ""
            return f"<p{mark}>{_spans(words)}</p>"
        case Bullets(items):
            return f"<ul>{''.join(f'<li>{_spans(item)}</li>' for item in items)}</ul>"
        case Table():
            return _table(block)
        case Picture(address, words):
            return f'<img src="{quote(address)}" alt="{escape(words)}">'


def _table(table: Table) -> str:
    head = "".join(
        f'<th scope="col">{escape(name)}</th>' for name in (table.corner, *table.columns)
    )
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(text)}</td>" for text in (name, *(c.plain() for c in row)))
        + "</tr>"
        for name, row in table.rows
    )
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in table.notes)
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        f"</div>{notes}"
    )


def _spans(words: Spans) -> str:
    return "".join(
        f"<{tag}>{escape(span.text)}</{tag}>" if (tag := _TAGS[span.style]) else escape(span.text)
        for span in words
    )
