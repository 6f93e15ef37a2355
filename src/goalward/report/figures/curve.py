"""The values of one episode over time: a curve with a band, events shaded, two scales."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from goalward.report.figures.looks import FONT_SIZE, TEXT_COLOUR, looks_of, plain_axes, short_name
from goalward.values.events import Event, EventKind

FloatArray = npt.NDArray[np.floating]
# Of Okabe and Ito, and Tol; a name or a number stands beside each, so that no colour is needed.
EVENT_COLOURS: Mapping[EventKind, str] = {
    EventKind.SETBACK: "#d55e00",
    EventKind.RECOVERY: "#117733",
    EventKind.STALL: "#8a6d00",
    EventKind.NO_RETURN: "#882255",
    EventKind.GOAL: "#117733",
}
EVENT_WORDS: Mapping[EventKind, str] = {
    EventKind.SETBACK: "setback",
    EventKind.RECOVERY: "recovered",
    EventKind.STALL: "stall",
    EventKind.NO_RETURN: "no return",
    EventKind.GOAL: "goal",
}
_TRUTH_COLOUR = "#000000"
_SMALL = FONT_SIZE - 1.5
# The least distance of two labels on an axis.
_TICK_GAP_INCHES = 0.13
# A thick line through as many would be a smear.
_MANY_FRAMES = 1000


@dataclass(frozen=True)
class KnownValue:
    """The true value of a frame, with the standard error of the branches it was measured by."""

    frame: int
    value: float
    standard_error: float


def draw_curves(
    axes: Axes,
    curves: Mapping[str, FloatArray],
    height: float,
    discount: float | None,
    events: Sequence[Event],
    truth: Sequence[KnownValue],
) -> None:
    """Values of each method, (seeds, frames), into axes that are `height` inches high."""
    looks = looks_of(list(curves))
    for position, (method, value) in enumerate(curves.items()):
        mean, frames = value.mean(axis=0), np.arange(value.shape[1])
        colour, is_first = looks[method].colour, position == 0
        axes.plot(
            frames,
            mean,
            color=colour,
            linewidth=0.7 if not is_first else 1.5 if len(frames) <= _MANY_FRAMES else 0.9,
            alpha=1.0 if is_first else 0.8,
            # A line through one point is nothing.
            marker="o" if len(frames) == 1 else None,
            markersize=3 if is_first else 2,
            zorder=4 if is_first else 2.5,
        )
        if is_first and len(value) > 1:
            spread = value.std(axis=0, ddof=1)
            low, high = np.clip([mean - spread, mean + spread], -1, 1)
            if len(frames) == 1:
                axes.plot([0, 0], [low[0], high[0]], color=colour, alpha=0.4, linewidth=3)
            axes.fill_between(frames, low, high, color=colour, alpha=0.2, linewidth=0, zorder=2)
    for event in _lasting(events):
        axes.axvspan(
            event.start, event.end, color=EVENT_COLOURS[event.kind], alpha=0.13, lw=0, zorder=1
        )
    if truth:
        axes.errorbar(
            [known.frame for known in truth],
            [known.value for known in truth],
            yerr=[2 * known.standard_error for known in truth],
            fmt="D",
            markersize=2.8,
            color=_TRUTH_COLOUR,
            elinewidth=0.7,
            capsize=1.5,
            zorder=5,
        )
    longest = max(value.shape[1] for value in curves.values())
    margin = max(0.015 * (longest - 1), 0.5 if longest == 1 else 0.0)
    axes.set(xlim=(-margin, longest - 1 + margin), ylim=(-1.06, 1.06))
    axes.set(xlabel="frame", ylabel="value (-1 goal, 1 never)", yticks=[-1, -0.5, 0, 0.5, 1])
    plain_axes(axes)
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    if longest == 1:
        axes.set_xticks([0])
    axes.tick_params(labelsize=_SMALL, length=2, pad=1.5)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_fontsize(_SMALL)
        axis.labelpad = 1.5
    if discount is not None:
        _count_steps(axes, discount, 2.12 * _TICK_GAP_INCHES / height)


def _count_steps(axes: Axes, discount: float, gap: float) -> None:
    """The same axis in steps to go, on the right."""
    steps = steps_ticks(discount, gap)
    right = axes.secondary_yaxis("right")
    values = [1 - 2 * discount**k for k in steps]
    right.set_yticks([*values, 1.0], [*map(str, steps), "never"])
    right.tick_params(colors=TEXT_COLOUR, labelsize=_SMALL, length=2, pad=1.5)
    right.set_ylabel("steps to go", fontsize=_SMALL, color=TEXT_COLOUR, labelpad=1.5)
    right.spines["right"].set_visible(False)


def steps_ticks(discount: float, gap: float) -> list[int]:
    """Round numbers of steps whose values 1 - 2 discount^k lie at least `gap` apart.

    Small numbers come first: near the goal a step matters most. The value 1, never, is kept free.

    >>> steps_ticks(0.97, 0.2)
    [0, 5, 10, 20, 50]
    """
    chosen, lowest = [0], -1.0
    for power in range(10):
        for digit in (1, 2, 5):
            steps = digit * 10**power
            value = 1 - 2 * discount**steps
            if value > 1 - gap:
                return chosen
            if value >= lowest + gap:
                chosen.append(steps)
                lowest = value
    return chosen


def curve_handles(
    curves: Mapping[str, FloatArray], events: Sequence[Event], truth: Sequence[KnownValue]
) -> list[Artist]:
    """What a legend of `draw_curves` says."""
    looks = looks_of(list(curves))
    handles: list[Artist] = []
    for position, (method, value) in enumerate(curves.items()):
        label = short_name(method)
        if position == 0 and len(value) > 1:
            label = f"{label} ± s.d."
        width = 0.9 if position else 1.6
        handles.append(Line2D([], [], color=looks[method].colour, linewidth=width, label=label))
    if truth:
        handles.append(
            Line2D([], [], color=_TRUTH_COLOUR, marker="D", ms=3, lw=0, label="truth ± 2 s.e.")
        )
    for kind in dict.fromkeys(event.kind for event in _lasting(events)):
        handles.append(Patch(color=EVENT_COLOURS[kind], alpha=0.25, lw=0, label=EVENT_WORDS[kind]))
    return handles


def _lasting(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event.end > event.start]
