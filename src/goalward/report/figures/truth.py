"""True against predicted values, a point per frame whose truth is known."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from goalward.looks import TEXT_COLOUR, looks_of
from goalward.metrics.truth.card import TruthCard
from goalward.metrics.truth.known_frames import ALL
from goalward.report.figures.paper import FONT_SIZE, light_figure, plain_axes, short_name
from goalward.rollouts.episode import Outcome


def truth_figure(card: TruthCard) -> Figure:
    """True against predicted value, a panel per method, a point per frame.

    On the dashed line the prediction is right; above it the frame is farther from the goal than
    predicted. Full points are frames of successes, open ones of the other episodes; grey lines
    are one standard error of the truth each way.
    """
    columns = min(len(card.methods), 3) or 1
    rows = -(-len(card.methods) // columns) or 1
    figure = light_figure(max(2.8, 2.4 * columns), 2.7 * rows + 0.3)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    looks = looks_of(list(card.methods))
    for axes, (name, method) in zip(panels, card.methods.items(), strict=False):
        _draw_frames(axes, card, method.predicted, looks[name].colour)
        scores = method.by_group[ALL].value
        words = f"bias {scores.bias.mean.value:+.2f}, MAE {scores.absolute.mean.value:.2f}"
        axes.set_title(f"{short_name(name)}\n{words}", fontsize=FONT_SIZE, color=TEXT_COLOUR)
    for axes in panels[len(card.methods) :]:
        axes.set_visible(False)
    # The lowest panel of each column has the numbers, also above an empty place.
    for axes in panels[max(len(card.methods) - columns, 0) : len(card.methods)]:
        axes.tick_params(labelbottom=True)
    figure.supxlabel("predicted value", fontsize=FONT_SIZE, color=TEXT_COLOUR)
    figure.supylabel("true value", fontsize=FONT_SIZE, color=TEXT_COLOUR)
    kinds = {"frame of a success": TEXT_COLOUR, "of another episode": "white"}
    figure.legend(
        handles=[
            Line2D([], [], lw=0, marker="o", ms=3.5, mec=TEXT_COLOUR, mfc=face, mew=0.7, label=kind)
            for kind, face in kinds.items()
        ],
        loc="outside upper center",
        ncols=2,
        fontsize=FONT_SIZE,
        frameon=False,
        handletextpad=0.1,
    )
    return figure


def _draw_frames(
    axes: Axes, card: TruthCard, predicted: npt.NDArray[np.float64], colour: str
) -> None:
    axes.plot([-1, 1], [-1, 1], color="#888888", linewidth=0.8, linestyle="dashed")
    success = np.array([outcome == Outcome.SUCCESS for outcome in card.known.outcome])
    true, error = card.true_value.mean, card.true_value.standard_error
    for x, y, size in zip(predicted, true, np.nan_to_num(error), strict=True):
        axes.plot([x, x], [y - size, y + size], color="#bbbbbb", linewidth=0.5, zorder=1)
    for chosen, face in ((success, colour), (~success, "white")):
        axes.plot(
            predicted[chosen],
            true[chosen],
            linestyle="none",
            marker="o",
            markersize=2.6,
            markeredgecolor=colour,
            markeredgewidth=0.6,
            markerfacecolor=face,
            alpha=0.8,
        )
    axes.set_xlim(-1.06, 1.06)
    axes.set_ylim(-1.06, 1.06)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1])
    axes.set_yticks([-1, -0.5, 0, 0.5, 1])
    axes.set_aspect("equal")
    plain_axes(axes)
