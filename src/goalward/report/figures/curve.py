"""The values of one episode over time: a curve with a band, events shaded, two scales."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from goalward.looks import EVENT_LOOKS, TEXT_COLOUR, TRUTH_COLOUR, looks_of
from goalward.report.figures.paper import FONT_SIZE, plain_axes, short_name
from goalward.runs.curves import Curves
from goalward.targets.liveness import liveness_value
from goalward.values.events import Event

_SMALL = FONT_SIZE - 1.5
# The least distance of two labels on an axis.
_TICK_GAP_INCHES = 0.13
# Hindsight beside the value.
_IN_HINDSIGHT: dict[str, Any] = {"linewidth": 0.7, "alpha": 0.75, "linestyle": (0, (4, 1.5))}
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
    curves: Sequence[Curves],
    height: float,
    events: Sequence[Event],
    truth: Sequence[KnownValue],
) -> None:
    """The value of each method into axes that are `height` inches high.

    Of the first method there is hindsight too, what can be said knowing the rest, as a dashed line.
    Events are found in values, and lie on the curve that shows them.
    """
    looks = looks_of([one.method for one in curves])
    for position, one in enumerate(curves):
        frames = np.arange(len(one.value))
        colour, is_first = looks[one.method].colour, position == 0
        axes.plot(
            frames,
            one.value,
            color=colour,
            linewidth=0.7 if not is_first else 1.5 if len(frames) <= _MANY_FRAMES else 0.9,
            alpha=1.0 if is_first else 0.8,
            # A line through one point is nothing.
            marker="o" if len(frames) == 1 else None,
            markersize=3 if is_first else 2,
            zorder=4 if is_first else 2.5,
        )
        if is_first:
            axes.plot(frames, one.hindsight, color=colour, zorder=3, **_IN_HINDSIGHT)
        if is_first and len(one.by_seed) > 1:
            low, high = np.clip([one.value - one.spread, one.value + one.spread], -1, 1)
            if len(frames) == 1:
                axes.plot([0, 0], [low[0], high[0]], color=colour, alpha=0.4, linewidth=3)
            axes.fill_between(frames, low, high, color=colour, alpha=0.2, linewidth=0, zorder=2)
    for event in _lasting(events):
        colour = EVENT_LOOKS[event.kind].colour
        axes.axvspan(event.start, event.end, color=colour, alpha=0.13, lw=0, zorder=1)
    if truth:
        axes.errorbar(
            [known.frame for known in truth],
            [known.value for known in truth],
            yerr=[2 * known.standard_error for known in truth],
            fmt="D",
            markersize=2.8,
            color=TRUTH_COLOUR,
            elinewidth=0.7,
            capsize=1.5,
            zorder=5,
        )
    longest = max(len(one.value) for one in curves)
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
    _count_steps(axes, curves[0].discount, 2.12 * _TICK_GAP_INCHES / height)


def _count_steps(axes: Axes, discount: float, gap: float) -> None:
    """The same axis in steps to go, on the right."""
    ticks = steps_ticks(discount, gap)
    right = axes.secondary_yaxis("right")
    right.set_yticks([*ticks.values(), 1.0], [*map(str, ticks), "never"])
    right.tick_params(colors=TEXT_COLOUR, labelsize=_SMALL, length=2, pad=1.5)
    right.set_ylabel("steps to go", fontsize=_SMALL, color=TEXT_COLOUR, labelpad=1.5)
    right.spines["right"].set_visible(False)


def steps_ticks(discount: float, gap: float) -> dict[int, float]:
    """Round numbers of steps with their values, which lie at least `gap` apart.

    Small numbers come first: near the goal a step matters most. The value 1, never, is kept free.

    >>> list(steps_ticks(0.97, 0.2))
    [0, 5, 10, 20, 50]
    """
    steps = np.array([0, *(digit * 10**power for power in range(10) for digit in (1, 2, 5))])
    values = liveness_value(steps.astype(np.float64), discount)
    chosen: dict[int, float] = {}
    for number, value in zip(steps.tolist(), values.tolist(), strict=True):
        if chosen and value > 1 - gap:
            break
        if not chosen or value >= max(chosen.values()) + gap:
            chosen[number] = value
    return chosen


def curve_handles(
    curves: Sequence[Curves], events: Sequence[Event], truth: Sequence[KnownValue]
) -> list[Artist]:
    """What a legend of `draw_curves` says."""
    looks = looks_of([one.method for one in curves])
    handles: list[Artist] = []
    for position, one in enumerate(curves):
        label = short_name(one.method)
        if position == 0 and len(one.by_seed) > 1:
            label = f"{label} ± s.d."
        width, colour = 0.9 if position else 1.6, looks[one.method].colour
        handles.append(Line2D([], [], color=colour, lw=width, label=label))
        if position == 0:
            handles.append(Line2D([], [], color=colour, label="in hindsight", **_IN_HINDSIGHT))
    if truth:
        handles.append(
            Line2D([], [], color=TRUTH_COLOUR, marker="D", ms=3, lw=0, label="truth ± 2 s.e.")
        )
    for kind in dict.fromkeys(event.kind for event in _lasting(events)):
        look = EVENT_LOOKS[kind]
        handles.append(Patch(color=look.colour, alpha=0.25, lw=0, label=look.short))
    return handles


def _lasting(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event.end > event.start]
