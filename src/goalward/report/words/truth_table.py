"""Methods against the truth as tables: Markdown, LaTeX and CSV."""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from goalward.metrics.score import Interval, Score
from goalward.metrics.scores.card import CardRow
from goalward.metrics.truth.card import TruthCard
from goalward.metrics.truth.errors import TruthError
from goalward.metrics.truth.known_frames import ALL
from goalward.report.words.tables import Cell, Table

PERFECT = "perfect"
BASE_RATE = "base rate"
_LESS_IS_BETTER = "Bold: the least mean absolute error (MAE) of a column."
_ERRORS_NOTE = "± standard error, over episodes."
_VALUE_BIAS_NOTE = "A bias above 0 is too pessimistic."
_CHANCE_BIAS_NOTE = "A bias above 0 is too optimistic: the chance is of success."
_PERFECT_NOTE = (
    "perfect: what a prediction without error would show, as the truth is a mean over {branches} "
    "futures."
)
_LETTERS_NOTE = (
    "Methods without a common letter in a column differ (paired tests over episodes, "
    "Benjamini-Hochberg, alpha = {alpha:g})."
)
_BASE_NOTE = (
    "Brier: against single futures; always saying the share of them that succeed has {brier}."
)
_CLOCK_NOTE = (
    "The last column: of last frames of time-outs given their own clock again, the share expected "
    "to succeed; perfect is the share that did."
)
CSV_COLUMNS = (
    *("method", "frames_of", "quantity", "mean", "standard_error", "low", "high"),
    *("num_frames", "num_episodes"),
)


def value_table(card: TruthCard) -> Table:
    """Methods down; bias and mean absolute error of value across, on all frames and by outcome."""
    columns: list[str] = []
    cells: dict[str, list[Cell]] = {PERFECT: [], **{method: [] for method in card.methods}}
    for group, known in card.groups.items():
        letters = _letters(card, group)
        found = {name: method.by_group[group] for name, method in card.methods.items()}
        errors = [
            replace(_error_cell(one.value.absolute), mark=letters.get(name, ""))
            for name, one in found.items()
        ]
        columns += [f"bias{_of(group)}", f"MAE{_of(group)} ↓"]
        cells[PERFECT] += [Cell(0.0), _score_cell(known.noise)]
        for name, error in zip(found, with_least(errors), strict=True):
            cells[name] += [_error_cell(found[name].value.bias), error]
    columns += ["RMSE less noise", "Spearman", "Pearson"]
    cells[PERFECT] += [Cell(0.0), Cell(words=""), Cell(words="")]
    for name, method in card.methods.items():
        one = method.by_group[ALL]
        cells[name] += [
            _score_cell(one.root_mean_square),
            _row_cell(one.spearman),
            _row_cell(one.pearson),
        ]
    notes = (*_notes(card, _VALUE_BIAS_NOTE), *_letters_note(card))
    return Table("method", tuple(columns), _rows(cells), notes)


def chance_table(card: TruthCard) -> Table:
    """Methods down; bias and error of the chance to succeed in so many steps, and calibration."""
    columns: list[str] = []
    cells: dict[str, list[Cell]] = {PERFECT: [], **{method: [] for method in card.methods}}
    for horizon in card.horizons:
        found = {
            name: method.by_group[ALL].within[horizon] for name, method in card.methods.items()
        }
        columns += [f"bias, {horizon} steps", f"MAE, {horizon} steps ↓"]
        cells[PERFECT] += [Cell(0.0), _score_cell(card.groups[ALL].noise_within[horizon])]
        errors = with_least([_error_cell(one.absolute) for one in found.values()])
        for (name, one), error in zip(found.items(), errors, strict=True):
            cells[name] += [_error_cell(one.bias), error]
    standard = f"{card.standard_horizon} steps"
    columns += [f"Brier, {standard}", f"calibration error, {standard}"]
    cells[PERFECT] += [Cell(words=""), Cell(0.0)]
    for name, method in card.methods.items():
        cells[name] += [
            _score_cell(method.brier),
            _score_cell(method.calibration.expected_error),
        ]
    notes = [*_notes(card, _CHANCE_BIAS_NOTE), _BASE_NOTE.format(brier=card.base_rate_brier)]
    if card.clock_end is not None:
        columns.append("share at the clock's end")
        cells[PERFECT].append(_score_cell(card.clock_end.measured))
        for name, predicted in card.clock_end.predicted.items():
            cells[name].append(_score_cell(predicted))
        notes.append(_CLOCK_NOTE)
    return Table("method", tuple(columns), _rows(cells), tuple(notes))


def truth_csv(card: TruthCard) -> str:
    """Every figure of the card, one per line; what is not defined is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for group, known in card.groups.items():
        counts = (known.num_frames, known.num_episodes)
        writer.writerow((PERFECT, group, "value_absolute", _csv(known.noise), *[""] * 3, *counts))
        for name, method in card.methods.items():
            one = method.by_group[group]
            errors = {"value_bias": one.value.bias, "value_absolute": one.value.absolute}
            for horizon, scores in one.within.items():
                errors[f"within_{horizon}_bias"] = scores.bias
                errors[f"within_{horizon}_absolute"] = scores.absolute
            for quantity, error in errors.items():
                numbers = (_csv(error.mean), _csv(error.standard_error), *_ends(error.interval))
                writer.writerow((name, group, quantity, *numbers, *counts))
            for quantity, row in (("spearman", one.spearman), ("pearson", one.pearson)):
                numbers = (_csv(row.over_seeds.mean), "", *_ends(row.interval))
                writer.writerow((name, group, quantity, *numbers, *counts))
            root = _csv(one.root_mean_square)
            writer.writerow((name, group, "value_root_mean_square", root, *[""] * 3, *counts))
        if group == ALL:
            base = _csv(card.base_rate_brier)
            writer.writerow((BASE_RATE, group, "brier", base, *[""] * 3, *counts))
            for name, method in card.methods.items():
                numbers = (_csv(method.brier), "", *_ends(method.brier_interval))
                writer.writerow((name, group, "brier", *numbers, *counts))
    _write_clock_end(writer, card)
    return text.getvalue()


def _write_clock_end(writer: Any, card: TruthCard) -> None:
    late = card.clock_end
    if late is None:
        return
    rows = {PERFECT: (_csv(late.measured), "", *_ends(late.measured_interval))}
    rows |= {name: (_csv(score), "", "", "") for name, score in late.predicted.items()}
    for name, numbers in rows.items():
        counts = (late.num_frames, late.num_frames)
        writer.writerow((name, "clock_end", "share_at_goal", *numbers, *counts))


def with_least(cells: Sequence[Cell]) -> list[Cell]:
    """The cells of a column with the lowest mean marked, and all that look the same as printed."""
    means = [cell for cell in cells if cell.mean is not None]
    least = min(means, key=lambda cell: cell.mean or 0.0, default=None)
    return [
        replace(cell, is_best=least is not None and cell.number == least.number) for cell in cells
    ]


def shown_group(group: str) -> str:
    """
    >>> shown_group("time_out")
    'time-out'
    """
    return group.replace("_", "-")


def _of(group: str) -> str:
    return "" if group == ALL else f", {shown_group(group)}"


def _letters(card: TruthCard, group: str) -> dict[str, str]:
    tests = card.tests[group]
    if all(pair.p_value is None for pair in tests.pairs):
        return {}
    errors = {name: m.by_group[group].value.absolute.mean for name, m in card.methods.items()}
    return tests.letters(sorted(errors, key=lambda name: errors[name].value or 0.0))


def _letters_note(card: TruthCard) -> list[str]:
    has_letters = any(_letters(card, group) for group in card.groups)
    return [_LETTERS_NOTE.format(alpha=card.tests[ALL].alpha)] if has_letters else []


def _notes(card: TruthCard, bias_note: str) -> tuple[str, ...]:
    known = card.groups[ALL]
    counts = f"{known.num_frames} frames of {known.num_episodes} episodes"
    return (
        f"{counts}, discount {card.discount:.4g}.",
        bias_note,
        _LESS_IS_BETTER,
        _ERRORS_NOTE,
        _PERFECT_NOTE.format(branches=shown_branches(card)),
    )


def shown_branches(card: TruthCard) -> str:
    """How many futures a frame rests on: 16, or 12 to 16."""
    least, most = card.num_branches
    return f"{least}" if least == most else f"{least} to {most}"


def _rows(cells: dict[str, list[Cell]]) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    """The methods, and below them what perfection would look like."""
    order = [name for name in cells if name != PERFECT] + [PERFECT]
    return tuple((name, tuple(cells[name])) for name in order)


def _score_cell(score: Score) -> Cell:
    return Cell(words=str(score)) if score.value is None else Cell(score.value)


def _error_cell(error: TruthError) -> Cell:
    if error.mean.value is None:
        return Cell(words=str(error.mean))
    return Cell(error.mean.value, error.standard_error.value)


def _row_cell(row: CardRow) -> Cell:
    return _score_cell(row.over_seeds.mean)


def _csv(score: Score) -> str:
    return "" if score.value is None else f"{score.value:.6g}"


def _ends(interval: Interval) -> tuple[str, str]:
    if interval.low is None or interval.high is None:
        return "", ""
    return f"{interval.low:.6g}", f"{interval.high:.6g}"
