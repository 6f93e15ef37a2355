"""Where frames, curve and legend of an episode's figure stand, in inches."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from goalward.report.figures.paper import PAGE_WIDTH

MARGIN = 0.06
GAP = 0.05
LABEL_HEIGHT = 0.29
BADGE = 0.115
_CAMERA_STRIP = 0.15
_LEFT_TICKS, _RIGHT_TICKS, _FRAME_TICKS = 0.44, 0.5, 0.34
_LEADERS = 0.34
_CURVE_WIDTH = 3.0
_CURVE_HEIGHT = 1.8
# Frames that are lower than this together have no room for a curve beside them.
_LOWEST_CURVE = 1.2
_WIDEST_BESIDE, _WIDEST_ABOVE = 0.95, 1.3
_FLATTEST, _TALLEST = 0.4, 1.5
_LEGEND_ROW = 0.122

CurvePlace = Literal["right", "below"]


@dataclass(frozen=True)
class Box:
    """From the left edge of the page, and from under the title."""

    left: float
    top: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        return self.top + self.height

    @property
    def middle(self) -> float:
        return self.left + self.width / 2


@dataclass(frozen=True)
class LegendSize:
    num_entries: int
    entry_width: float

    def rows(self, width: float) -> int:
        return ceil(self.num_entries / max(int(width / self.entry_width), 1))

    def columns(self, width: float) -> int:
        return ceil(self.num_entries / self.rows(width))


@dataclass(frozen=True)
class Placing:
    """`columns` and `rows` of frames, from the upper left, then the curve and the legend."""

    curve_at: CurvePlace
    left: float
    column: float
    rows: tuple[float, ...]
    curve: Box
    legend: Box

    @property
    def height(self) -> float:
        return max(self.curve.bottom + _FRAME_TICKS, self.legend.bottom)

    def picture(self, column: int, row: int) -> Box:
        return Box(
            self.left + column * (self.column + GAP),
            LABEL_HEIGHT + sum(self.rows[:row]) + GAP * row,
            self.column,
            self.rows[row],
        )


def placing_of(
    num_columns: int,
    shapes: Sequence[float],
    legend: LegendSize,
    curve_at: CurvePlace | None = None,
) -> Placing:
    """So many columns of frames; `shapes` is height over width of each camera's.

    The curve stands at the right of the frames, or below them where they are too low for that. A
    frame that is very tall or flat is shown smaller than its place.
    """
    shapes = [min(max(shape, _FLATTEST), _TALLEST) for shape in shapes]
    free = PAGE_WIDTH - 2 * MARGIN - (_CAMERA_STRIP if len(shapes) > 1 else 0.0)
    gaps = GAP * (num_columns - 1)
    beside = min((free - _CURVE_WIDTH - gaps) / num_columns, _WIDEST_BESIDE)
    above = min((free - gaps) / num_columns, _WIDEST_ABOVE)
    if curve_at is None:
        curve_at = "right" if _stack(beside, shapes) >= _LOWEST_CURVE else "below"
    if curve_at == "right" and shapes:
        return _curve_right(num_columns, shapes, legend, beside, PAGE_WIDTH - MARGIN - free)
    left = PAGE_WIDTH - MARGIN - free + (free - num_columns * above - gaps) / 2
    return _curve_below(shapes, legend, above, left)


def _stack(column: float, shapes: Sequence[float]) -> float:
    return sum(column * shape for shape in shapes) + GAP * max(len(shapes) - 1, 0)


def _curve_right(
    num_columns: int, shapes: Sequence[float], legend: LegendSize, column: float, left: float
) -> Placing:
    stack = _stack(column, shapes)
    pictures_width = num_columns * (column + GAP) - GAP
    # A few wide entries under a single column may be wider than it.
    legend_width = max(pictures_width, legend.entry_width)
    under = Box(left, LABEL_HEIGHT + stack + 0.09, legend_width, 0.0)
    under = _with_height(under, legend)
    start = left + max(pictures_width, legend_width) + GAP + _LEFT_TICKS
    # As low as the legend, so that nothing is left empty.
    height = max(stack, _LOWEST_CURVE, under.bottom - _FRAME_TICKS - LABEL_HEIGHT)
    width = PAGE_WIDTH - MARGIN - _RIGHT_TICKS - start
    curve = Box(start, LABEL_HEIGHT, width, height)
    return Placing("right", left, column, tuple(column * s for s in shapes), curve, under)


def _curve_below(
    shapes: Sequence[float], legend: LegendSize, column: float, left: float
) -> Placing:
    top = LABEL_HEIGHT + _stack(column, shapes) + _LEADERS if shapes else BADGE + GAP
    width = PAGE_WIDTH - 2 * MARGIN
    curve = Box(MARGIN + _LEFT_TICKS, top, width - _LEFT_TICKS - _RIGHT_TICKS, _CURVE_HEIGHT)
    under = _with_height(Box(MARGIN, curve.bottom + _FRAME_TICKS + 0.02, width, 0.0), legend)
    return Placing("below", left, column, tuple(column * s for s in shapes), curve, under)


def _with_height(box: Box, legend: LegendSize) -> Box:
    return Box(box.left, box.top, box.width, _LEGEND_ROW * legend.rows(box.width))


def apart(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The same places in the same order, moved as little as needed to be `gap` apart.

    >>> apart([0.0, 1.0, 1.2, 5.0], 1.0, 0.0, 5.0)
    [0.0, 1.0, 2.0, 5.0]
    >>> apart([4.8, 5.0], 1.0, 0.0, 5.0)
    [4.0, 5.0]
    """
    moved = list(places)
    for i in range(1, len(moved)):
        moved[i] = max(moved[i], moved[i - 1] + gap)
    for i in reversed(range(len(moved))):
        moved[i] = min(moved[i], high - gap * (len(moved) - 1 - i))
    return [max(place, low) for place in moved]
