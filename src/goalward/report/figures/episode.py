"""One episode as people read it: frames in columns, the value curve at the end, moments marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from goalward.looks import EVENT_LOOKS, QUIET_COLOUR, TEXT_COLOUR
from goalward.report.figures.curve import KnownValue, curve_handles, draw_curves
from goalward.report.figures.paper import FONT_SIZE, PAGE_WIDTH
from goalward.report.figures.placing import (
    BADGE,
    GAP,
    MARGIN,
    Box,
    CurvePlace,
    LegendSize,
    Placing,
    apart,
    placing_of,
)
from goalward.report.figures.text import broken, clean, fitted_size, shortened, text_width
from goalward.runs.curves import Curves
from goalward.values.events import Event, EventKind

Picture = npt.NDArray[np.uint8]
_PLAIN_COLOUR = "#555555"
_SMALL = FONT_SIZE - 1.5
_LINE_HEIGHT = 0.15
# Of a legend's entry: the line before the name and the space after it.
_HANDLE_WIDTH = 0.27


@dataclass(frozen=True)
class Moment:
    """A frame worth showing, what it is called, and what each camera saw, top to bottom."""

    frame: int
    label: str
    pictures: tuple[Picture, ...]
    kind: EventKind | None = None

    @property
    def colour(self) -> str:
        return _PLAIN_COLOUR if self.kind is None else EVENT_LOOKS[self.kind].colour


def episode_figure(
    title: str,
    moments: Sequence[Moment],
    curves: Sequence[Curves],
    *,
    events: Sequence[Event] = (),
    truth: Sequence[KnownValue] = (),
    cameras: Sequence[str] = (),
    curve_at: CurvePlace | None = None,
) -> Figure:
    """Frames and the curves of one episode, of each method.

    The first method has a band of one standard deviation over seeds, and hindsight as a dashed
    line; the others are thin lines.
    Numbers on the frames are those over the curve; where an event lasts, the curve is shaded.
    True values, where known, stand as points with two standard errors either way. The
    axis on the right counts steps to go.

    The curve stands at the right of the frames, or below them where they are too low to stand
    beside a curve; `curve_at` says otherwise.
    """
    if not moments or not curves:
        raise ValueError("a figure of an episode needs moments and curves")
    handles = curve_handles(curves, events, truth)
    widest = max(text_width(str(handle.get_label()), _SMALL) for handle in handles)
    legend = LegendSize(len(handles), widest + _HANDLE_WIDTH)
    shapes = [picture.shape[0] / picture.shape[1] for picture in moments[0].pictures]
    plan = placing_of(len(moments), shapes, legend, curve_at)
    lines = broken(clean(title), PAGE_WIDTH - 4 * MARGIN, FONT_SIZE)
    top = MARGIN + _LINE_HEIGHT * len(lines)
    page = _Page(Figure(figsize=(PAGE_WIDTH, top + plan.height + MARGIN), facecolor="white"), top)
    for number, line in enumerate(lines):
        y = MARGIN + _LINE_HEIGHT * number - top
        page.write(PAGE_WIDTH / 2, y, line, FONT_SIZE, TEXT_COLOUR, va="top")
    axes = page.axes(plan.curve)
    draw_curves(axes, curves, plan.curve.height, events, truth)
    page.figure.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=page.place(plan.legend.middle, plan.legend.top),
        ncols=legend.columns(plan.legend.width),
        fontsize=_SMALL,
        frameon=False,
        handlelength=1.3,
        handletextpad=0.4,
        columnspacing=1.0,
        labelspacing=0.25,
        borderpad=0,
        borderaxespad=0,
        labelcolor=TEXT_COLOUR,
    )
    badges = _mark_moments(page, axes, plan.curve, moments, curves[0])
    if shapes:
        for column, (moment, badge) in enumerate(zip(moments, badges, strict=True)):
            _draw_column(page, plan, column, moment)
            if plan.curve_at == "below":
                _lead(page, plan, column, moment, badge)
        if len(shapes) > 1:
            _name_cameras(page, plan, cameras)
    return page.figure


@dataclass(frozen=True)
class _Page:
    """A figure in inches from its upper left corner; the first `top` of them are the title's."""

    figure: Figure
    top: float

    def place(self, x: float, y: float) -> tuple[float, float]:
        width, height = self.figure.get_size_inches()
        return x / width, 1 - (self.top + y) / height

    def axes(self, box: Box) -> Axes:
        left, bottom = self.place(box.left, box.bottom)
        right, top = self.place(box.left + box.width, box.top)
        return self.figure.add_axes((left, bottom, right - left, top - bottom))

    def write(self, x: float, y: float, text: str, size: float, colour: str, **looks: Any) -> None:
        looks = {"ha": "center", "va": "center", "parse_math": False} | looks
        self.figure.text(*self.place(x, y), text, fontsize=size, color=colour, **looks)

    def badge(self, x: float, y: float, number: int, colour: str) -> None:
        """A number in a circle."""
        circle = {"boxstyle": "circle,pad=0.22", "fc": colour, "ec": "white", "lw": 0.5}
        looks = {"va": "center_baseline", "weight": "bold", "bbox": circle, "zorder": 10}
        self.write(x, y, str(number), 5.5 if number < 10 else 4.5, "white", **looks)


def _draw_column(page: _Page, plan: Placing, column: int, moment: Moment) -> None:
    for row, picture in enumerate(moment.pictures):
        axes = page.axes(plan.picture(column, row))
        axes.imshow(picture)
        axes.set(xticks=[], yticks=[])
        for spine in axes.spines.values():
            spine.set(color=moment.colour, linewidth=0.6 if moment.kind is None else 1.4)
    box = plan.picture(column, 0)
    label, frame = clean(moment.label), f"frame {moment.frame}"
    size = max(fitted_size(label, box.width, _SMALL + 0.5, bold=True), 4.5)
    label = shortened(label, box.width, size, bold=True)
    page.write(box.middle, 0.1, label, size, moment.colour, weight="bold")
    size = fitted_size(frame, box.width, _SMALL)
    page.write(box.middle, 0.215, frame, size, QUIET_COLOUR)
    page.badge(box.left + 0.085, box.top + 0.085, column + 1, moment.colour)


def _mark_moments(
    page: _Page, axes: Axes, box: Box, moments: Sequence[Moment], curve: Curves
) -> list[float]:
    """Numbers over the curve, and a point on it for each; where the numbers stand, in inches."""
    low, high = axes.get_xlim()
    places = [box.left + box.width * (m.frame - low) / (high - low) for m in moments]
    spread = apart(places, BADGE + 0.01, box.left - BADGE / 2, box.left + box.width + BADGE / 2)
    top = axes.get_ylim()[1]
    for number, (moment, place) in enumerate(zip(moments, spread, strict=True), start=1):
        value = float(curve.value[moment.frame])
        looks = {"color": moment.colour, "zorder": 3}
        axes.plot([moment.frame] * 2, [value, top], linewidth=0.6, linestyle=":", **looks)
        looks = {"mec": "white", "mew": 0.5, "ms": 3.2, "zorder": 6}
        axes.plot(moment.frame, value, "o", color=moment.colour, **looks)
        page.badge(place, box.top - GAP - BADGE / 2, number, moment.colour)
    return spread


def _lead(page: _Page, plan: Placing, column: int, moment: Moment, badge: float) -> None:
    """A line from the lowest frame of a column to its number over the curve."""
    lowest = plan.picture(column, len(plan.rows) - 1)
    start = page.place(lowest.middle, lowest.bottom + 0.02)
    end = page.place(badge, plan.curve.top - GAP - BADGE)
    line = Line2D(*zip(start, end, strict=True), color=moment.colour, linewidth=0.6)
    page.figure.add_artist(line)


def _name_cameras(page: _Page, plan: Placing, cameras: Sequence[str]) -> None:
    for row, name in enumerate(cameras):
        box = plan.picture(0, row)
        last = clean(name).replace("/", ".").rsplit(".", 1)[-1]
        room = box.height - GAP
        size = max(fitted_size(last, room, _SMALL), 4.0)
        last = shortened(last, room, size)
        x, y = box.left - 0.075, box.top + box.height / 2
        page.write(x, y, last, size, QUIET_COLOUR, rotation=90)
