"""A picture of a comparison: success rates with intervals and letters, success by steps."""

from collections.abc import Mapping, Sequence
from typing import Literal

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from goalward.looks import GRID_COLOUR, POLICY_COLOURS, TEXT_COLOUR
from goalward.metrics.comparing.result import Comparison, PolicySummary
from goalward.metrics.comparing.special_results import (
    Limits,
    PosteriorComparison,
    ScoreComparison,
)
from goalward.metrics.comparing.steps.time_to_success import SuccessCurve
from goalward.report.figures.glyphs import drawable, fonts_for
from goalward.report.figures.paper import short_name
from goalward.report.words.comparing.tables import base_words

# A second mark beside colour, for print and for more policies than colours.
_STROKES = ("solid", "dashed", "dashdot", "dotted")
LONGEST_NAME = 28
_LETTERS = "the same letter: cannot be told apart"
CODES_NOTE = "\\u…: letters that no font on this machine has, by their codes"


def comparison_figure(comparison: Comparison, curves: Mapping[str, SuccessCurve]) -> Figure:
    """Success rates, best policy on top, and beside them the share of successes by steps.

    Without curves (no steps in the table) the picture is the rates alone; with scores there is one
    more part, their means, which stand alone where nothing else is known; with a posterior another,
    what to believe of each rate.
    """
    ordered = comparison.best_first
    looks = {
        policy.policy: policy_look(number) for number, policy in enumerate(comparison.policies)
    }
    height = max(3.2, 1.5 + 0.42 * len(ordered))
    names = [policy.policy for policy in ordered]
    families = fonts_for(names)
    shown = {name: short_name(drawable(name, families), LONGEST_NAME) for name in names}
    with rc_context({"font.family": families}):
        with_rates = not comparison.scores_only
        with_scores = comparison.scores is not None
        parts = with_rates + with_scores + (comparison.posterior is not None) + bool(curves)
        # Two parts beside each other leave letters large enough to read.
        columns, rows = min(parts, 2), (parts + 1) // 2
        size = (1.5 + 4.5 * columns, height * rows)
        figure = Figure(figsize=size, layout="constrained")
        axes = [figure.add_subplot(rows, columns, part + 1) for part in range(parts)]
        if with_rates:
            _draw_rates(axes[0], ordered, looks, shown, comparison)
        if comparison.scores is not None:
            _draw_scores(axes[int(with_rates)], comparison.scores, looks, shown, comparison)
        if comparison.posterior is not None:
            _draw_beliefs(axes[with_rates + with_scores], comparison.posterior, looks, shown)
        if curves:
            _draw_curves(axes[-1], ordered, looks, shown, curves, comparison.horizon or 1)
        if any(drawable(name, families) != name for name in names):
            figure.supxlabel(CODES_NOTE, fontsize=8, color=TEXT_COLOUR)
    return figure


def _draw_rates(
    axes: Axes,
    policies: Sequence[PolicySummary],
    looks: Mapping[str, tuple[str, str]],
    shown: Mapping[str, str],
    comparison: Comparison,
) -> None:
    for row, policy in enumerate(policies):
        colour = looks[policy.policy][0]
        draw_mean(axes, row, policy.rate, policy.rate_interval, colour)
        # Letters stand in a column of their own, where no interval can reach them.
        axes.text(1.04, row, policy.letters, va="center", fontweight="bold", color=TEXT_COLOUR)
    # Room for the underscores of the name above the count.
    labels = [f"{shown[p.policy]}\n{_counted(p, comparison)}" for p in policies]
    axes.set_yticks(range(len(policies)), labels, linespacing=1.4)
    axes.set_ylim(len(policies) - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(PercentFormatter(xmax=1))
    over = base_words(comparison)
    axes.set_xlabel(f"success rate{over}, {100 * comparison.level:g} % interval")
    axes.set_title(_LETTERS, fontsize=9, loc="right", color=TEXT_COLOUR)
    plain_axes(axes, grid="x")


def draw_mean(axes: Axes, row: int, mean: float, interval: Limits, colour: str) -> None:
    """A dot in its interval."""
    axes.plot(list(interval), [row, row], color=colour, linewidth=2.5, solid_capstyle="butt")
    axes.plot([mean], [row], marker="o", color=colour, markersize=7)


def _draw_scores(
    axes: Axes,
    scores: ScoreComparison,
    looks: Mapping[str, tuple[str, str]],
    shown: Mapping[str, str],
    comparison: Comparison,
) -> None:
    ordered = sorted(scores.policies, key=lambda one: -one.mean)
    for row, one in enumerate(ordered):
        draw_mean(axes, row, one.mean, one.interval, looks[one.policy][0])
        axes.text(1.04, row, one.letters, va="center", fontweight="bold", color=TEXT_COLOUR)
    axes.set_yticks(range(len(ordered)), [shown[one.policy] for one in ordered])
    axes.set_ylim(len(ordered) - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel(f"mean score, {100 * comparison.level:g} % interval")
    axes.set_title(_LETTERS, fontsize=9, loc="right", color=TEXT_COLOUR)
    plain_axes(axes, grid="x")


def _draw_beliefs(
    axes: Axes,
    posterior: PosteriorComparison,
    looks: Mapping[str, tuple[str, str]],
    shown: Mapping[str, str],
) -> None:
    for belief in posterior.policies:
        colour, stroke = looks[belief.policy]
        num = len(belief.density)
        rates = [(place + 0.5) / num for place in range(num)]
        axes.fill_between(rates, belief.density, color=colour, alpha=0.15, linewidth=0)
        axes.plot(
            rates,
            belief.density,
            color=colour,
            linestyle=stroke,
            linewidth=1.6,
            label=shown[belief.policy],
        )
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(bottom=0)
    axes.set_yticks([])
    axes.xaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.set_xlabel("success rate")
    axes.set_ylabel("how much it is to be believed")
    axes.legend(loc="best", fontsize=8, frameon=False)
    plain_axes(axes, grid="x")


def _draw_curves(
    axes: Axes,
    policies: Sequence[PolicySummary],
    looks: Mapping[str, tuple[str, str]],
    shown: Mapping[str, str],
    curves: Mapping[str, SuccessCurve],
    horizon: int,
) -> None:
    for policy in policies:
        draw_successes(axes, curves[policy.policy], looks[policy.policy], shown[policy.policy])
    success_axes(axes, horizon)


def draw_successes(axes: Axes, curve: SuccessCurve, look: tuple[str, str], name: str) -> None:
    """The share that has succeeded, step by step."""
    colour, stroke = look
    axes.step(
        curve.steps,
        curve.share,
        where="post",
        color=colour,
        linestyle=stroke,
        linewidth=1.8,
        label=name,
    )


def success_axes(axes: Axes, horizon: int) -> None:
    """The axes of such curves, from the first step to the last that counts."""
    axes.set_xlim(0, horizon)
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.set_xlabel("steps")
    axes.set_ylabel("succeeded by then")
    axes.legend(loc="best", fontsize=8, frameon=False)
    plain_axes(axes, grid="both")


def plain_axes(axes: Axes, grid: Literal["x", "both"]) -> None:
    """A quiet grid, no frame."""
    axes.grid(axis=grid, color=GRID_COLOUR, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=TEXT_COLOUR, labelsize=9)


def _counted(policy: PolicySummary, comparison: Comparison) -> str:
    raw = f"{policy.successes} of {policy.episodes}"
    return raw if comparison.rates_are_raw else f"raw: {raw}"


def policy_look(number: int) -> tuple[str, str]:
    """Colour and stroke of the policy that stands at this place in the table."""
    again, index = divmod(number, len(POLICY_COLOURS))
    return POLICY_COLOURS[index], _STROKES[again % len(_STROKES)]
