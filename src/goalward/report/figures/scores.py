"""Figures of scores: bars with deviations, success against failure, reliability of chances."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from goalward.files import written_whole
from goalward.looks import TEXT_COLOUR, Look, looks_of
from goalward.metrics.scores.calibration import Calibration
from goalward.metrics.scores.card import CardRow
from goalward.metrics.scores.table import ScoreKind
from goalward.metrics.uncertainty.intervals import OverSeeds
from goalward.metrics.uncertainty.significance import MethodTests
from goalward.report.figures.bars import bar_groups
from goalward.report.figures.paper import (
    COLUMN_WIDTH,
    FONT_SIZE,
    legend_columns,
    light_figure,
    plain_axes,
    short_name,
)

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


@dataclass(frozen=True)
class SizePoint:
    """Success and failure of one method that learned from so many episodes."""

    method: str
    num_episodes: int
    success: OverSeeds
    failure: OverSeeds


def metric_bars(
    cards: Mapping[str, Mapping[str, CardRow]],
    kinds: Mapping[str, ScoreKind],
    tests: Mapping[str, MethodTests] | None = None,
) -> Figure:
    """A group of bars per metric, a bar per name in `cards`: per method, or per encoder.

    Error bars are deviations over seeds. Names without a common letter above their bars differ. A
    score that is not defined leaves a gap with "n.d.". Scores in steps stand in a panel of their
    own.
    """
    return bar_groups(cards, kinds, tests or {})


def success_failure_scatter(points: Sequence[SizePoint]) -> Figure:
    """Success against failure: colours are methods, shapes are numbers of training episodes.

    The best corner is the upper right. Error bars are deviations over seeds; a line joins the
    points of a method from the fewest episodes to the most. Points that are not defined are left
    out.
    """
    methods = list(dict.fromkeys(point.method for point in points))
    sizes = sorted({point.num_episodes for point in points})
    looks = looks_of(methods)
    rows = -(-len(methods) // legend_columns(methods, COLUMN_WIDTH))
    figure = light_figure(COLUMN_WIDTH, 3.0 + 0.17 * rows)
    axes = figure.subplots()
    for method in methods:
        found = [_place(point) for point in points if point.method == method]
        places = sorted((place for place in found if place is not None), key=lambda p: p.size)
        _draw_path(axes, places, looks[method], sizes)
    axes.set_xlabel("failure metric")
    axes.set_ylabel("success metric")
    axes.margins(0.08)
    plain_axes(axes)
    _add_legends(figure, axes, looks, sizes)
    return figure


def reliability_figure(calibrations: Mapping[str, Calibration]) -> Figure:
    """Predicted chances against what happened, a panel per method; the diagonal is perfect.

    Lines through the points are intervals over episodes; the grey bars say where the frames are,
    the tallest being the fullest bin.
    """
    columns = min(len(calibrations), 3) or 1
    rows = -(-len(calibrations) // columns) or 1
    figure = light_figure(max(2.8, 2.4 * columns), 2.9 * rows)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    looks = looks_of(list(calibrations))
    for axes, (name, found) in zip(panels, calibrations.items(), strict=False):
        _draw_reliability(axes, found, looks[name].colour)
        # Not the Brier score of these frames: the one in the tables is of all frames.
        error = found.expected_error
        words = f"calibration error {error}" if error.defined else "not defined"
        title = f"{short_name(name)}\n{words}"
        axes.set_title(title, fontsize=FONT_SIZE, color=TEXT_COLOUR)
    for axes in panels[len(calibrations) :]:
        axes.set_visible(False)
    figure.supxlabel("predicted chance of success", fontsize=FONT_SIZE, color=TEXT_COLOUR)
    figure.supylabel("share that succeeded", fontsize=FONT_SIZE, color=TEXT_COLOUR)
    return figure


def save_figure(figure: Figure, path_without_suffix: Path) -> tuple[Path, Path]:
    """Write a figure as PNG and SVG; the same figure gives the same files."""
    path = Path(path_without_suffix)
    written = path.with_name(f"{path.name}.png"), path.with_name(f"{path.name}.svg")
    # Neither the date nor random ids.
    with rc_context({"svg.hashsalt": "goalward"}), warnings.catch_warnings():
        # A name in an alphabet that the font lacks shows as boxes.
        warnings.filterwarnings("ignore", message="Glyph")
        for file, metadata in zip(written, ({"Software": None}, {"Date": None}), strict=True):
            with written_whole(file) as temporary:
                figure.savefig(temporary, dpi=200, metadata=metadata)
    return written


# ---- success against failure ------------------------------------------------------------------


@dataclass(frozen=True)
class _Place:
    size: int
    x: float
    y: float
    x_deviation: float
    y_deviation: float


def _place(point: SizePoint) -> _Place | None:
    x, y = point.failure.mean.value, point.success.mean.value
    if x is None or y is None:
        return None
    deviations = (point.failure.standard_deviation, point.success.standard_deviation)
    x_deviation, y_deviation = (deviation.value or 0.0 for deviation in deviations)
    return _Place(point.num_episodes, x, y, x_deviation, y_deviation)


def _draw_path(axes: Axes, places: Sequence[_Place], look: Look, sizes: Sequence[int]) -> None:
    axes.plot(
        [place.x for place in places],
        [place.y for place in places],
        color=look.colour,
        linewidth=0.8,
        alpha=0.6,
    )
    for place in places:
        axes.errorbar(
            place.x,
            place.y,
            xerr=place.x_deviation,
            yerr=place.y_deviation,
            color=look.colour,
            marker=_marker(sizes, place.size),
            markersize=5.5,
            markeredgecolor="white",
            markeredgewidth=0.5,
            elinewidth=0.8,
            capsize=1.5,
        )


def _add_legends(
    figure: Figure, axes: Axes, looks: Mapping[str, Look], sizes: Sequence[int]
) -> None:
    by_method = [
        Line2D([], [], color=look.colour, lw=3, label=short_name(name))
        for name, look in looks.items()
    ]
    figure.legend(
        handles=by_method,
        loc="outside upper center",
        ncols=legend_columns(list(looks), COLUMN_WIDTH),
        fontsize=FONT_SIZE,
        frameon=False,
        handlelength=1.0,
        columnspacing=1.2,
    )
    by_size = [
        Line2D([], [], color=TEXT_COLOUR, lw=0, marker=_marker(sizes, size), ms=4, label=str(size))
        for size in sizes
    ]
    figure.legend(
        handles=by_size,
        loc="outside lower center",
        ncols=len(sizes),
        title="training episodes",
        title_fontsize=FONT_SIZE - 0.5,
        fontsize=FONT_SIZE - 0.5,
        frameon=False,
        handletextpad=0.2,
        columnspacing=1.2,
    )


def _marker(sizes: Sequence[int], size: int) -> str:
    return _MARKERS[sizes.index(size) % len(_MARKERS)]


# ---- reliability ------------------------------------------------------------------------------


def _draw_reliability(axes: Axes, found: Calibration, colour: str) -> None:
    axes.plot([0, 1], [0, 1], color="#888888", linewidth=0.8, linestyle="dashed")
    fullest = max((b.num_frames for b in found.bins), default=1)
    for b in found.bins:
        low, high = b.edges
        height = 0.18 * b.num_frames / fullest
        axes.bar(low, height, high - low, align="edge", color="#e4e4e4", zorder=0.5)
        if b.observed_interval.low is not None and b.observed_interval.high is not None:
            limits = [b.observed_interval.low, b.observed_interval.high]
            axes.plot([b.predicted] * 2, limits, color=colour, linewidth=1.0)
    axes.plot(
        [b.predicted for b in found.bins],
        [b.observed for b in found.bins],
        color=colour,
        marker="o",
        markersize=3.5,
        linewidth=1.2,
    )
    # Room for points at 0 and 1, which are the most common.
    axes.set_xlim(-0.04, 1.04)
    axes.set_ylim(-0.04, 1.04)
    axes.set_aspect("equal")
    plain_axes(axes)
