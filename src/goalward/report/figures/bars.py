"""Groups of bars: a group per metric, a bar per name, deviations over seeds, letters above."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from goalward.looks import TEXT_COLOUR, Look, looks_of
from goalward.metrics.scores.card import CardRow
from goalward.metrics.scores.table import ScoreKind
from goalward.metrics.uncertainty.significance import MethodTests
from goalward.report.figures.paper import (
    COLUMN_WIDTH,
    FONT_SIZE,
    PAGE_WIDTH,
    legend_columns,
    light_figure,
    plain_axes,
    short_name,
)
from goalward.report.words.tables import Cell, card_cell, letters_of

_GROUP_WIDTH = 0.84
_INCHES_PER_BAR = 0.19
_METRICS_PER_ROW = 6


def bar_groups(
    cards: Mapping[str, Mapping[str, CardRow]],
    kinds: Mapping[str, ScoreKind],
    tests: Mapping[str, MethodTests],
) -> Figure:
    """Scores and steps in panels of their own, as many rows as the page needs."""
    looks = looks_of(list(cards))
    rows = _rows_of_panels(kinds.values())
    widths = {kind.name: _group_inches(kind, len(cards)) for kind in kinds.values()}
    inches = [[[widths[kind.name] for kind in panel] for panel in row] for row in rows]
    wanted = max((0.8 + sum(chain(*row)) for row in inches), default=0)
    width = min(max(COLUMN_WIDTH, wanted), PAGE_WIDTH)
    columns = legend_columns(list(cards), width)
    figure = light_figure(width, 2.2 * len(rows) + 0.17 * -(-len(cards) // columns))
    parts = figure.subfigures(len(rows), 1, squeeze=False)[:, 0]
    for part, row, sizes in zip(parts, rows, inches, strict=True):
        drawn = part.subplots(1, len(row), squeeze=False, width_ratios=[*map(sum, sizes)])[0]
        for axes, panel in zip(drawn, row, strict=True):
            _draw_panel(axes, cards, panel, tests, looks)
    figure.legend(
        handles=[_swatch(name, look) for name, look in looks.items()],
        loc="outside upper center",
        ncols=columns,
        fontsize=FONT_SIZE,
        frameon=False,
        handlelength=1.0,
        columnspacing=1.2,
    )
    return figure


def _rows_of_panels(kinds: Iterable[ScoreKind]) -> list[list[list[ScoreKind]]]:
    """Rows of panels of scores; what is in steps has panels of its own, after the others.

    >>> from goalward.metrics.scores.table import SCORES
    >>> kinds = [SCORES[name] for name in ("setback_in_success", "success", "spearman")]
    >>> [[[kind.name for kind in panel] for panel in row] for row in _rows_of_panels(kinds)]
    [[['success', 'spearman'], ['setback_in_success']]]
    """
    rows: list[list[list[ScoreKind]]] = []
    for position, kind in enumerate(sorted(kinds, key=_is_in_steps)):
        if position % _METRICS_PER_ROW == 0:
            rows.append([])
        row = rows[-1]
        if not row or _is_in_steps(row[-1][0]) != _is_in_steps(kind):
            row.append([])
        row[-1].append(kind)
    return rows


def _is_in_steps(kind: ScoreKind) -> bool:
    return kind.unit == "steps"


def _group_inches(kind: ScoreKind, num_bars: int) -> float:
    """Room for the bars of a group, and for its name."""
    longest = max(map(len, _two_lines(kind.shown).split("\n")))
    return max(_INCHES_PER_BAR * num_bars, 0.12 + 0.07 * longest)


def _draw_panel(
    axes: Axes,
    cards: Mapping[str, Mapping[str, CardRow]],
    kinds: Sequence[ScoreKind],
    tests: Mapping[str, MethodTests],
    looks: Mapping[str, Look],
) -> None:
    width = _GROUP_WIDTH / len(cards)
    tops: list[float] = []
    for group, kind in enumerate(kinds):
        cells = {name: card_cell(card[kind.name], kind) for name, card in cards.items()}
        tested = tests.get(kind.name)
        letters = {} if tested is None else letters_of(cells, tested, kind.better)
        for position, (name, cell) in enumerate(cells.items()):
            x = group + (position - (len(cards) - 1) / 2) * width
            tops.append(_draw_bar(axes, x, 0.92 * width, cell, looks[name]))
            above = "n.d." if cell.mean is None else letters.get(name, "")
            axes.annotate(
                above,
                (x, tops[-1]),
                xytext=(0, 1.5),
                textcoords="offset points",
                ha="center",
                va="bottom",
                rotation=90 if len(above) > 2 else 0,
                fontsize=FONT_SIZE - 1.5,
                color=TEXT_COLOUR,
            )
    axes.set_xticks(range(len(kinds)), [_two_lines(kind.shown) for kind in kinds])
    axes.set_xlim(-0.55, len(kinds) - 0.45)
    in_steps = _is_in_steps(kinds[0])
    axes.set_ylabel("steps" if in_steps else "score")
    # Room for the letters above the highest bar.
    highest = max([*tops, 0.0 if in_steps else 1.0])
    axes.set_ylim(top=1.1 * (highest or 1.0))
    if axes.get_ylim()[0] < 0:
        axes.axhline(0, color=TEXT_COLOUR, linewidth=0.6)
    plain_axes(axes, grid="y")
    axes.tick_params(axis="x", length=0)


def _draw_bar(axes: Axes, x: float, width: float, cell: Cell, look: Look) -> float:
    """One bar with its error bar; returns the height above which there is nothing."""
    if cell.mean is None:
        return 0.0
    axes.bar(
        x, cell.mean, width, color=look.colour, hatch=look.hatch, edgecolor="white", linewidth=0.3
    )
    if cell.deviation is not None:
        axes.errorbar(x, cell.mean, cell.deviation, color=TEXT_COLOUR, elinewidth=0.8, capsize=1.5)
    return max(cell.mean + (cell.deviation or 0.0), 0.0)


def _swatch(name: str, look: Look) -> Patch:
    return Patch(
        facecolor=look.colour,
        hatch=look.hatch,
        edgecolor="white",
        linewidth=0.3,
        label=short_name(name),
    )


def _two_lines(shown: str) -> str:
    r"""A name of several words, broken where its lines are shortest.

    >>> _two_lines("composite at threshold")
    'composite\nat threshold'
    """
    words = shown.split()
    if len(words) == 1:
        return words[0]
    broken = (" ".join(words[:i]) + "\n" + " ".join(words[i:]) for i in range(1, len(words)))
    return min(broken, key=lambda text: max(map(len, text.split("\n"))))
