"""Tables of scores as Markdown and LaTeX: methods down, metrics across, mean ± sd in cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from goalward.files import write_text
from goalward.metrics.scores.card import CardRow
from goalward.metrics.scores.table import Better, ScoreKind
from goalward.metrics.uncertainty.significance import MethodTests

_LETTERS_NOTE = "Methods without a common letter in a column differ (alpha = {alpha:g})."
_BEST_NOTE = "Bold: the best mean of a column."
_ONE_SEED_NOTE = "One seed: no deviation."
_ARROWS: Mapping[Better, str] = {"higher": "↑", "lower": "↓"}


@dataclass(frozen=True)
class Cell:
    """A mean with its deviation over seeds, or words where there is no number.

    >>> Cell(0.7278, 0.0242, is_best=True, mark="a").markdown()
    '**0.728 ± 0.024** a'
    """

    mean: float | None = None
    deviation: float | None = None
    words: str = ""
    digits: int = 3
    is_best: bool = False
    mark: str = ""

    @property
    def number(self) -> str:
        """The mean as it is shown; empty where there is none."""
        return "" if self.mean is None else _number(self.mean, self.digits)

    def plain(self) -> str:
        if self.mean is None:
            return self.words
        return " ".join(filter(None, (self._with_deviation("±"), self.mark)))

    def markdown(self) -> str:
        if self.mean is None:
            return escaped_markdown(self.words)
        shown = self._with_deviation("±")
        shown = f"**{shown}**" if self.is_best else shown
        return " ".join(filter(None, (shown, escaped_markdown(self.mark))))

    def latex(self) -> str:
        if self.mean is None:
            return escaped_latex(self.words)
        shown = self._with_deviation(r"\pm").replace("\u2212", "-")
        shown = rf"\mathbf{{{shown}}}" if self.is_best else shown
        mark = rf"^{{\mathrm{{{self.mark}}}}}" if self.mark else ""
        return f"${shown}{mark}$"

    def _with_deviation(self, sign: str) -> str:
        if self.deviation is None:
            return self.number
        return f"{self.number} {sign} {_number(self.deviation, self.digits)}"


@dataclass(frozen=True)
class Table:
    """Cells with a name for every row and column, and what to know when reading them."""

    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """A table as GitHub shows it, its notes below."""
        heads = [escaped_markdown(name) for name in (self.corner, *self.columns)]
        lines = [heads, ["---", *["---:"] * len(self.columns)]]
        lines += [
            [escaped_markdown(name), *(cell.markdown() for cell in cells)]
            for name, cells in self.rows
        ]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        notes = " ".join(escaped_markdown(note) for note in self.notes)
        return f"{table}\n\n{notes}\n" if notes else f"{table}\n"

    def latex(self) -> str:
        """A `tabular` with the rules of the package booktabs; the notes are comments above it."""
        heads = [escaped_latex(name) for name in (self.corner, *self.columns)]
        rows = [
            [escaped_latex(name), *(cell.latex() for cell in cells)] for name, cells in self.rows
        ]
        lines = [f"% {_one_line(note)}" for note in self.notes]
        lines += [rf"\begin{{tabular}}{{l{'c' * len(self.columns)}}}", r"\toprule"]
        lines += [rf"{' & '.join(heads)} \\", r"\midrule"]
        lines += [rf"{' & '.join(row)} \\" for row in rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
        return "\n".join(lines) + "\n"


def write_table(table: Table, path_without_suffix: Path) -> tuple[Path, Path]:
    """A table as Markdown and as LaTeX, and what was written."""
    name = path_without_suffix.name
    written = tuple(path_without_suffix.with_name(f"{name}{suffix}") for suffix in (".md", ".tex"))
    for path, text in zip(written, (table.markdown(), table.latex()), strict=True):
        write_text(path, text)
    return written[0], written[1]


def score_table(
    cards: Mapping[str, Mapping[str, CardRow]],
    kinds: Mapping[str, ScoreKind],
    tests: Mapping[str, MethodTests] | None = None,
    *,
    corner: str = "method",
) -> Table:
    """Methods down, metrics across: mean ± standard deviation over seeds.

    The best mean of a column is bold if there is a better way, and so are those that look the same
    as printed. With tests of a metric its cells carry letters: methods without a common letter
    differ by more than seeds explain.

    >>> from goalward.metrics.score import Interval, Score
    >>> from goalward.metrics.scores.table import SCORES
    >>> from goalward.metrics.uncertainty.intervals import over_seeds
    >>> scores = (Score(0.9), Score(0.92))
    >>> row = CardRow(scores, over_seeds(scores), Interval(0.8, 0.95))
    >>> print(score_table({"td": {"success": row}}, {"success": SCORES["success"]}).markdown())
    | method | success ↑ |
    | --- | ---: |
    | td | **0.910 ± 0.014** |
    <BLANKLINE>
    Bold: the best mean of a column.
    <BLANKLINE>
    """
    tests = tests or {}
    columns: list[list[Cell]] = []
    for metric, kind in kinds.items():
        cells = {name: card_cell(card[metric], kind) for name, card in cards.items()}
        letters = letters_of(cells, tests[metric], kind.better) if metric in tests else {}
        marked = [replace(cell, mark=letters.get(name, "")) for name, cell in cells.items()]
        columns.append(with_best(marked, kind.better))
    alphas = {tests[metric].alpha for metric in kinds if metric in tests}
    cells = [cell for column in columns for cell in column]
    notes = [_BEST_NOTE] if any(cell.is_best for cell in cells) else []
    if any(cell.mark for cell in cells):
        notes += [_LETTERS_NOTE.format(alpha=alpha) for alpha in sorted(alphas)]
    numbers = [cell for cell in cells if cell.mean is not None]
    if numbers and all(cell.deviation is None for cell in numbers):
        notes.append(_ONE_SEED_NOTE)
    rows = zip(cards, zip(*columns, strict=True), strict=True) if columns else ()
    return Table(corner, tuple(map(column_name, kinds.values())), tuple(rows), tuple(notes))


def card_cell(row: CardRow, kind: ScoreKind) -> Cell:
    """A score as a cell; in words if it is not defined."""
    mean, deviation = row.over_seeds.mean, row.over_seeds.standard_deviation
    if mean.value is None:
        return Cell(words=str(mean))
    return Cell(mean.value, deviation.value, digits=kind.digits)


def with_best(cells: Sequence[Cell], better: Better | None = "higher") -> list[Cell]:
    """The cells of a column with the best mean marked, and all that look the same as printed.

    Where neither way is better none is.
    """
    known = [cell for cell in cells if cell.mean is not None]
    if better is None or not known:
        return list(cells)
    best = max(known, key=lambda cell: _goodness(cell, better)).number
    return [replace(cell, is_best=cell.number == best) for cell in cells]


def column_name(kind: ScoreKind) -> str:
    """A score as people read it, with an arrow to where it is better.

    >>> from goalward.metrics.scores.table import SCORES
    >>> column_name(SCORES["frame_auroc"]), column_name(SCORES["setback_in_other"])
    ('frame AUROC ↑', 'setback in other')
    """
    return kind.shown if kind.better is None else f"{kind.shown} {_ARROWS[kind.better]}"


def escaped_markdown(text: str) -> str:
    r"""Any text as one line of Markdown that shows it as it is.

    >>> escaped_markdown("put *it* | there")
    'put \\*it\\* \\| there'
    """
    text = _one_line(text)
    for character in "\\`*_[]<>|~$&":
        text = text.replace(character, f"\\{character}")
    return text


def escaped_latex(text: str) -> str:
    r"""Any text as LaTeX that shows it as it is.

    A bracket or a star after the end of a row would be read as an option of that end.

    >>> escaped_latex("50% of a_b")
    '50\\% of a\\_b'
    """
    return "".join(_LATEX.get(character, character) for character in _one_line(text))


_LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "*": "{*}",
    "±": r"$\pm$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "\u2212": "$-$",
}


def letters_of(
    cells: Mapping[str, Cell], tests: MethodTests, better: Better | None = "higher"
) -> dict[str, str]:
    """Letters, best first (else highest first); none where no pair could be tested."""
    if all(pair.p_value is None for pair in tests.pairs):
        return {}
    known = [name for name in tests.names if name in cells]
    order = sorted(known, key=lambda name: -_goodness(cells[name], better or "higher"))
    order += [name for name in tests.names if name not in known]
    return tests.letters(order)


def _goodness(cell: Cell, better: Better) -> float:
    """More is better; a cell without a number comes last."""
    if cell.mean is None:
        return float("-inf")
    return cell.mean if better == "higher" else -cell.mean


def _number(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "\u2212")


def _one_line(text: str) -> str:
    """Line breaks become spaces, other control characters are written out."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
