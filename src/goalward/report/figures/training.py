"""How training went: losses over gradient steps."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from goalward.looks import LOSS_COLOURS, TEXT_COLOUR
from goalward.report.figures.paper import FONT_SIZE, light_figure, plain_axes, short_name
from goalward.values.training_log import LossCurve, TrainingLog

TRAINING, HELD_OUT = "training", "held out"
_DASHES: Mapping[str, Literal["solid", "dashed"]] = {TRAINING: "solid", HELD_OUT: "dashed"}
# From the highest to the lowest loss; beyond that a linear axis shows the start and nothing else.
_LARGE_RANGE = 20.0

# Steps and losses of a network, of one kind.
_Line = tuple[tuple[int, ...], tuple[float, ...]]


def training_figure(log: TrainingLog) -> Figure:
    """A panel per stage; in it a thin line per network and a thick one for the mean of them.

    Solid is the training loss, dashed that of held-out episodes, where there were any; the two
    are against different targets (`LossCurve`), so that only their courses can be compared. A
    point stands where a network's held-out loss was lowest: these weights were kept.
    """
    columns = min(len(log.stages), 3) or 1
    rows = -(-len(log.stages) // columns) or 1
    figure = light_figure(max(2.8, 2.4 * columns), 2.1 * rows + 0.5)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, stage in zip(panels, log.stages, strict=False):
        _draw_stage(axes, log.of_stage(stage))
        axes.set_title(short_name(stage), fontsize=FONT_SIZE, color=TEXT_COLOUR)
    for axes in panels[len(log.stages) :]:
        axes.set_visible(False)
    figure.supxlabel("gradient steps", fontsize=FONT_SIZE, color=TEXT_COLOUR)
    figure.supylabel("loss", fontsize=FONT_SIZE, color=TEXT_COLOUR)
    if log.stages:
        kinds = [kind for kind in _DASHES if any(loss_lines(log.curves, kind))]
        figure.legend(
            handles=[
                Line2D(
                    [], [], color=LOSS_COLOURS[kind], linestyle=_DASHES[kind], lw=1.6, label=kind
                )
                for kind in kinds
            ],
            loc="outside upper center",
            ncols=len(kinds),
            fontsize=FONT_SIZE,
            frameon=False,
        )
    return figure


def _draw_stage(axes: Axes, curves: Sequence[LossCurve]) -> None:
    losses: list[float] = []
    for kind, dashes in _DASHES.items():
        lines = loss_lines(curves, kind)
        if not lines:
            continue
        colour = LOSS_COLOURS[kind]
        thin = [np.column_stack(line) for line in lines]
        axes.add_collection(
            LineCollection(thin, colors=colour, linestyles=dashes, linewidths=0.5, alpha=0.35)
        )
        steps, mean = mean_loss(lines)
        # A line through one point is nothing.
        marker = "o" if len(steps) == 1 else None
        axes.plot(steps, mean, color=colour, linestyle=dashes, lw=1.6, marker=marker, ms=3)
        losses += [loss for _, line in lines for loss in line if np.isfinite(loss)]
    for curve in curves:
        if curve.held_out_loss is not None:
            lowest = curve.held_out_loss[curve.steps.index(curve.kept_step)]
            axes.plot(curve.kept_step, lowest, "o", ms=2.2, color=LOSS_COLOURS[HELD_OUT], alpha=0.8)
    axes.autoscale_view()
    # Training that goes wrong may leave no finite loss at all.
    if losses and min(losses) > 0 and max(losses) > _LARGE_RANGE * min(losses):
        axes.set_yscale("log")
    plain_axes(axes)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))


def loss_lines(curves: Sequence[LossCurve], kind: str) -> list[_Line]:
    """Steps and losses of each network; held out, of those that episodes were kept out for."""
    if kind == TRAINING:
        return [(curve.steps, curve.loss) for curve in curves]
    return [(c.steps, c.held_out_loss) for c in curves if c.held_out_loss is not None]


def mean_loss(lines: Sequence[_Line]) -> tuple[list[int], list[float]]:
    """The mean loss at every step, over the networks that got there.

    >>> mean_loss([((1, 2), (4.0, 2.0)), ((1,), (6.0,))])
    ([1, 2], [5.0, 2.0])
    """
    at: defaultdict[int, list[float]] = defaultdict(list)
    for steps, losses in lines:
        for step, loss in zip(steps, losses, strict=True):
            at[step].append(loss)
    steps = sorted(at)
    return steps, [float(np.mean(at[step])) for step in steps]
