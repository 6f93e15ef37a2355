"""Our results beside the paper's: tables of both, and whether the paper's claim holds here."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from goalward.errors import GoalwardError
from goalward.experiments.results import Results, differences_between
from goalward.metrics.scores.card import CardRow
from goalward.metrics.scores.table import scores_shown
from goalward.metrics.uncertainty.significance import MethodTests
from goalward.report.words.tables import Cell, Table, card_cell, with_best

_PAPER = scores_shown("paper")
REFERENCE = "liveness"
# "Our method achieves statistically significant improvements over all baselines on" these.
CLAIMED = ("success", "composite")
_COLUMNS = ("encoder", "size", "method", "metric", "mean", "sd")
_NOT_THERE = Cell(words="not reported")

# (encoder, size, method, metric) -> mean and deviation over five seeds
PaperResults = Mapping[tuple[str, int, str, str], Cell]


@dataclass(frozen=True)
class Beside:
    """Our table and the paper's of the same rows and columns; None where it has nothing."""

    heading: str
    ours: Table
    paper: Table | None

    @property
    def table(self) -> Table:
        """Both in one table, column by column."""
        if self.paper is None:
            return self.ours
        names = [
            f"{metric}, {whose}" for metric in self.ours.columns for whose in ("ours", "paper")
        ]
        rows = tuple(
            (name, tuple(cell for pair in zip(ours, paper, strict=True) for cell in pair))
            for (name, ours), (_, paper) in zip(self.ours.rows, self.paper.rows, strict=True)
        )
        return replace(self.ours, columns=tuple(names), rows=rows)


@dataclass(frozen=True)
class PaperClaim:
    """Whether `liveness` is above every other method by more than seeds explain."""

    encoder: str
    size: int
    metric: str
    not_above: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.not_above

    @property
    def in_words(self) -> str:
        if self.holds:
            return "yes"
        return f"no: not clearly above {', '.join(self.not_above)}"


def read_paper_results(path: Path | None) -> PaperResults:
    """What the paper reports, from a csv file; nothing where there is no file."""
    if path is None:
        return {}
    found: dict[tuple[str, int, str, str], Cell] = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) != _COLUMNS:
                raise GoalwardError(f"{path}: its columns must be {', '.join(_COLUMNS)}")
            for row in reader:
                key = (row["encoder"], int(row["size"]), row["method"], row["metric"])
                if key in found:
                    raise GoalwardError(f"{path}, line {reader.line_num}: is there twice")
                found[key] = Cell(float(row["mean"]), float(row["sd"]))
    except (OSError, ValueError, TypeError) as error:
        raise GoalwardError(f"{path}: cannot be read as results of a paper ({error})") from error
    return found


def beside_the_paper(results: Results, paper: PaperResults) -> list[Beside]:
    """A table per encoder and size with methods down, and one with encoders down.

    A star marks ours where it differs from our `liveness` (Alexander-Govern over all methods,
    then Welch in pairs, adjusted by Benjamini-Hochberg). Beside an encoder that the paper does
    not have stands the paper's first one, and the heading says so.
    """
    tables: list[Beside] = []
    for encoder in results.encoders:
        theirs = _nearest_encoder(encoder, paper)
        for size in results.sizes:
            cards = results.cards(encoder, size)
            reported = {
                (method, metric): paper.get((theirs, size, method, metric), _NOT_THERE)
                for method in cards
                for metric in _PAPER
            }
            heading = f"{encoder}, {size} training episodes"
            if theirs != encoder:
                heading += f" (the paper's: {theirs})"
            tables.append(_beside(heading, "method", cards, reported, REFERENCE))
    if len(results.encoders) > 1 and REFERENCE in results.methods:
        size = max(results.sizes)
        cards = results.encoder_cards(REFERENCE, size)
        reported = {
            (encoder, metric): paper.get((encoder, size, REFERENCE, metric), _NOT_THERE)
            for encoder in cards
            for metric in _PAPER
        }
        heading = f"encoders, {REFERENCE}, {size} training episodes"
        tables.append(_beside(heading, "encoder", cards, reported, results.encoders[0]))
    return tables


def _nearest_encoder(encoder: str, paper: PaperResults) -> str:
    """Which of the paper's encoders stands beside this one."""
    known = list(dict.fromkeys(name for name, *_ in paper))
    return encoder if encoder in known or not known else known[0]


def claims(results: Results) -> list[PaperClaim]:
    """The paper's claim, asked of our results; nothing without `liveness` or with one seed."""
    found: list[PaperClaim] = []
    for encoder in results.encoders:
        for size in results.sizes:
            tests = differences_between(results.cards(encoder, size), CLAIMED)
            for metric, tested in tests.items():
                if REFERENCE in tested.names:
                    found.append(PaperClaim(encoder, size, metric, _not_above(tested)))
    return found


def _not_above(tests: MethodTests) -> tuple[str, ...]:
    """The methods that `liveness` is not clearly above."""
    others: list[str] = []
    for name in tests.names:
        if name == REFERENCE:
            continue
        pair = tests.pair(REFERENCE, name)
        lead = pair.difference or 0.0
        lead = lead if pair.first == REFERENCE else -lead
        if not (pair.differs and lead > 0):
            others.append(name)
    return tuple(others)


def _beside(
    heading: str,
    corner: str,
    cards: Mapping[str, Mapping[str, CardRow]],
    reported: Mapping[tuple[str, str], Cell],
    reference: str,
) -> Beside:
    tests = differences_between(cards, list(_PAPER))
    ours: list[Sequence[Cell]] = []
    for metric, kind in _PAPER.items():
        differing = _differing(tests.get(metric), reference)
        cells = [
            replace(card_cell(card[metric], kind), mark="*" if name in differing else "")
            for name, card in cards.items()
        ]
        ours.append(with_best(cells, kind.better))
    notes = ["Bold: the best mean of a column."]
    if any(cell.mark for column in ours for cell in column):
        notes.append(f"*: differs from our {reference} by more than seeds explain (alpha = 0.05).")
    table = _table(corner, list(cards), ours, notes)
    if all(cell.mean is None for cell in reported.values()):
        return Beside(heading, table, None)
    paper = [
        with_best([reported[name, metric] for name in cards], kind.better)
        for metric, kind in _PAPER.items()
    ]
    return Beside(heading, table, _table(corner, list(cards), paper, ()))


def _table(
    corner: str, names: Sequence[str], columns: Sequence[Sequence[Cell]], notes: Sequence[str]
) -> Table:
    rows = tuple(zip(names, zip(*columns, strict=True), strict=True))
    return Table(corner, tuple(_PAPER), rows, tuple(notes))


def _differing(tests: MethodTests | None, reference: str) -> set[str]:
    """The names that differ from the reference."""
    if tests is None or reference not in tests.names:
        return set()
    others = [name for name in tests.names if name != reference]
    return {name for name in others if tests.pair(reference, name).differs}
