"""A picture of what somebody saw who looked after every rollout."""

from collections.abc import Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from goalward.looks import QUIET_COLOUR, TEXT_COLOUR
from goalward.metrics.comparing.result import Comparison
from goalward.metrics.comparing.watching.curves import WatchingCurve
from goalward.report.figures.comparison import LONGEST_NAME, plain_axes, policy_look
from goalward.report.figures.glyphs import drawable, fonts_for
from goalward.report.figures.paper import short_name

# An e-value below this says no less; the scale need not go there.
_LEAST_SHOWN = 0.05


def watching_figure(curves: Sequence[WatchingCurve], comparison: Comparison) -> Figure:
    """Evidence after every pair of rollouts; the difference of the closest pair with interval."""
    names = [policy.policy for policy in comparison.best_first]
    families = fonts_for(names)
    shown = {name: short_name(drawable(name, families), LONGEST_NAME) for name in names}
    closest = min(curves, key=lambda one: names.index(one.first) + names.index(one.second))
    with rc_context({"font.family": families}):
        figure = Figure(figsize=(10.5, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        for number, curve in enumerate(curves):
            colour, stroke = policy_look(number)
            label = f"{shown[curve.second]} against {shown[curve.first]}"
            evidence = curve.evidence
            if comparison.budget is None:
                evidence = np.maximum(evidence, _LEAST_SHOWN)
            left.plot(
                curve.pairs, evidence, color=colour, linestyle=stroke, linewidth=1.6, label=label
            )
        _draw_wanted(left, closest, comparison)
        _draw_difference(right, closest, shown, comparison)
    return figure


def _draw_wanted(axes: Axes, curve: WatchingCurve, comparison: Comparison) -> None:
    if comparison.budget is None:
        axes.set_yscale("log")
        axes.set_ylabel("e-value")
    else:
        axes.set_ylabel("lead, in pairs that one alone won")
        axes.set_xlim(0, comparison.budget)
    known = np.isfinite(curve.wanted)
    axes.plot(
        curve.pairs[known],
        curve.wanted[known],
        color=QUIET_COLOUR,
        linestyle="dashed",
        linewidth=1.2,
        label="settled from here",
    )
    axes.set_xlabel("rollouts of each")
    axes.legend(loc="best", fontsize=8, frameon=False)
    plain_axes(axes, grid="both")


def _draw_difference(
    axes: Axes, curve: WatchingCurve, shown: dict[str, str], comparison: Comparison
) -> None:
    colour = policy_look(0)[0]
    axes.fill_between(curve.pairs, curve.lower, curve.upper, color=colour, alpha=0.15, linewidth=0)
    axes.plot(curve.pairs, curve.difference, color=colour, linewidth=1.6)
    axes.axhline(0, color=TEXT_COLOUR, linewidth=0.8)
    axes.set_ylim(-1, 1)
    if not comparison.scores_only:
        axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.set_xlabel("rollouts of each")
    axes.set_ylabel("difference so far")
    axes.set_title(
        f"{shown[curve.second]} minus {shown[curve.first]}, {100 * comparison.level:g} % at all "
        "looks at once",
        fontsize=9,
        loc="right",
        color=TEXT_COLOUR,
    )
    plain_axes(axes, grid="both")
