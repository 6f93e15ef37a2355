"""A picture of a comparison: success rates with intervals and letters, success by steps."""

from collections.abc import Mapping, Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from goalward.looks import GRID_COLOUR, POLICY_COLOURS, TEXT_COLOUR
from goalward.metrics.comparing.result import Comparison, PolicySummary
from goalward.metrics.comparing.time_to_success import SuccessCurve
from goalward.report.figures.paper import short_name

# A second mark beside colour, for print and for more policies than colours.
_STROKES = ("solid", "dashed", "dashdot", "dotted")
_LONGEST_NAME = 28


def comparison_figure(comparison: Comparison, curves: Mapping[str, SuccessCurve]) -> Figure:
    """Success rates, best policy on top, and beside them the share of successes by steps.

    Without curves (no steps in the table) the picture is the rates alone.
    """
    ordered = comparison.best_first
    looks = {policy.policy: _look(number) for number, policy in enumerate(comparison.policies)}
    height = max(3.2, 1.5 + 0.42 * len(ordered))
    figure = Figure(figsize=(10.5 if curves else 6.0, height), layout="constrained")
    axes = figure.subplots(1, 2 if curves else 1, squeeze=False)[0]
    _draw_rates(axes[0], ordered, looks, comparison.level)
    if curves:
        _draw_curves(axes[1], ordered, looks, curves, comparison.horizon or 1)
    return figure


def _draw_rates(
    axes: Axes,
    policies: Sequence[PolicySummary],
    looks: Mapping[str, tuple[str, str]],
    level: float,
) -> None:
    for row, policy in enumerate(policies):
        colour = looks[policy.policy][0]
        low, high = policy.rate_interval
        axes.plot([low, high], [row, row], color=colour, linewidth=2.5, solid_capstyle="butt")
        axes.plot([policy.rate], [row], marker="o", color=colour, markersize=7)
        # Letters stand in a column of their own, where no interval can reach them.
        axes.text(1.04, row, policy.letters, va="center", fontweight="bold", color=TEXT_COLOUR)
    # Room for the underscores of the name above the count.
    axes.set_yticks(range(len(policies)), [_shown(p) for p in policies], linespacing=1.4)
    axes.set_ylim(len(policies) - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.set_xlabel(f"success rate, {100 * level:g} % interval")
    axes.set_title(
        "the same letter: cannot be told apart", fontsize=9, loc="right", color=TEXT_COLOUR
    )
    _plain(axes, grid="x")


def _draw_curves(
    axes: Axes,
    policies: Sequence[PolicySummary],
    looks: Mapping[str, tuple[str, str]],
    curves: Mapping[str, SuccessCurve],
    horizon: int,
) -> None:
    for policy in policies:
        colour, stroke = looks[policy.policy]
        curve = curves[policy.policy]
        axes.step(
            curve.steps,
            curve.share,
            where="post",
            color=colour,
            linestyle=stroke,
            linewidth=1.8,
            label=short_name(policy.policy, _LONGEST_NAME),
        )
    axes.set_xlim(0, horizon)
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.set_xlabel("steps")
    axes.set_ylabel("succeeded by then")
    axes.legend(loc="best", fontsize=8, frameon=False)
    _plain(axes, grid="both")


def _plain(axes: Axes, grid: Literal["x", "both"]) -> None:
    axes.grid(axis=grid, color=GRID_COLOUR, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=TEXT_COLOUR, labelsize=9)


def _shown(policy: PolicySummary) -> str:
    return f"{short_name(policy.policy, _LONGEST_NAME)}\n{policy.successes} of {policy.episodes}"


def _look(number: int) -> tuple[str, str]:
    """Colour and stroke of the policy that stands at this place in the table."""
    again, index = divmod(number, len(POLICY_COLOURS))
    return POLICY_COLOURS[index], _STROKES[again % len(_STROKES)]
