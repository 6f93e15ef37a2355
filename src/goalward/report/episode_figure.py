"""One episode as people read it: frames in columns, the value curve under them, moments marked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch

from goalward.report.figure_looks import (
    FONT_SIZE,
    PAGE_WIDTH,
    TEXT_COLOUR,
    light_figure,
    looks_of,
    plain_axes,
    short_name,
)

Picture = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.floating]
_TRUTH_COLOUR = "#000000"
_MARK_COLOUR = "#b00020"


@dataclass(frozen=True)
class Moment:
    """A frame worth showing, what it is called, and what each camera saw, top to bottom."""

    frame: int
    label: str
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class KnownValue:
    """The true value of a frame, with the standard error of the branches it was measured by."""

    frame: int
    value: float
    standard_error: float


def episode_figure(
    title: str,
    moments: Sequence[Moment],
    curves: Mapping[str, FloatArray],
    *,
    truth: Sequence[KnownValue] = (),
) -> Figure:
    """Frames over the curves of one episode: values of each method, (seeds, frames), on one scale.

    A line is the mean over seeds, the band around it one standard deviation. Thin lines lead from
    the frames to where they lie on the curve. True values, where known, stand as points with two
    standard errors either way.
    """
    if not moments or not curves:
        raise ValueError("a figure of an episode needs moments and curves")
    num_cameras = len(moments[0].pictures)
    column = PAGE_WIDTH / len(moments)
    figure = light_figure(PAGE_WIDTH, num_cameras * column + 2.3)
    grid = figure.add_gridspec(
        num_cameras + 1, len(moments), height_ratios=[*[column] * num_cameras, 2.0]
    )
    curve_axes = figure.add_subplot(grid[num_cameras, :])
    _draw_curves(curve_axes, curves, truth)
    for position, moment in enumerate(moments):
        lowest = None
        for camera, picture in enumerate(moment.pictures):
            lowest = figure.add_subplot(grid[camera, position])
            lowest.imshow(picture)
            lowest.set(xticks=[], yticks=[])
            if camera == 0:
                text = f"{position + 1}  {moment.label}\nframe {moment.frame}"
                lowest.set_title(text, fontsize=FONT_SIZE - 1, color=TEXT_COLOUR)
        curve_axes.axvline(moment.frame, color=_MARK_COLOUR, linewidth=0.6, linestyle=":")
        curve_axes.annotate(
            str(position + 1),
            (moment.frame, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(2, -2),
            textcoords="offset points",
            va="top",
            fontsize=FONT_SIZE - 1,
            color=_MARK_COLOUR,
        )
        if lowest is not None:
            figure.add_artist(
                ConnectionPatch(
                    xyA=(0.5, 0.0),
                    coordsA=lowest.transAxes,
                    xyB=(moment.frame, 1.0),
                    coordsB=curve_axes.get_xaxis_transform(),
                    color=_MARK_COLOUR,
                    linewidth=0.5,
                )
            )
    figure.suptitle(short_title(title), fontsize=FONT_SIZE + 1, color=TEXT_COLOUR)
    return figure


def short_title(title: str) -> str:
    """A dollar sign would start mathematics."""
    return title.replace("$", r"\$")


def _draw_curves(axes: Axes, curves: Mapping[str, FloatArray], truth: Sequence[KnownValue]) -> None:
    looks = looks_of(list(curves))
    for method, value in curves.items():
        mean, frames = value.mean(axis=0), np.arange(value.shape[1])
        colour = looks[method].colour
        axes.plot(frames, mean, color=colour, linewidth=1.3, label=short_name(method))
        if len(value) > 1:
            spread = value.std(axis=0, ddof=1)
            axes.fill_between(
                frames, mean - spread, mean + spread, color=colour, alpha=0.18, linewidth=0
            )
    if truth:
        axes.errorbar(
            [known.frame for known in truth],
            [known.value for known in truth],
            yerr=[2 * known.standard_error for known in truth],
            fmt="o",
            markersize=3.5,
            color=_TRUTH_COLOUR,
            elinewidth=0.8,
            capsize=2,
            label="truth (±2 s.e.)",
            zorder=5,
        )
    longest = max(value.shape[1] for value in curves.values())
    axes.set(xlim=(-0.5, longest - 0.5), ylim=(-1.08, 1.08))
    axes.set(xlabel="frame", ylabel="value (-1: at the goal, 1: never)")
    plain_axes(axes)
    axes.legend(
        loc="lower left", fontsize=FONT_SIZE - 1, frameon=False, ncols=len(curves) + bool(truth)
    )
