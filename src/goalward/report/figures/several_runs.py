"""Several runs in one picture: rates in the order given, success by steps, values over frames."""

from collections.abc import Mapping

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from goalward.looks import QUIET_COLOUR
from goalward.metrics.comparing.steps.time_to_success import (
    longest_horizon,
    success_curve,
    success_times,
)
from goalward.report.figures.comparison import (
    LONGEST_NAME,
    draw_successes,
    plain_axes,
    policy_look,
    success_axes,
)
from goalward.report.figures.glyphs import drawable, fonts_for
from goalward.report.figures.paper import short_name
from goalward.runs.mean_curve import mean_value_by_frame
from goalward.runs.run import Run


def runs_figure(runs: Mapping[str, Run]) -> Figure:
    """Rates with intervals from the first run to the last; beside them two families of curves."""
    families = fonts_for(list(runs))
    shown = {name: short_name(drawable(name, families), LONGEST_NAME) for name in runs}
    with rc_context({"font.family": families}):
        figure = Figure(figsize=(13, 4.2), layout="constrained")
        rates, successes, values = figure.subplots(1, 3)
        _draw_rates(rates, runs, shown)
        _draw_successes(successes, runs, shown)
        _draw_values(values, runs)
    return figure


def _draw_rates(axes: Axes, runs: Mapping[str, Run], shown: Mapping[str, str]) -> None:
    points = [run.scores.policy.success for run in runs.values()]
    heights = [float("nan") if one.value is None else one.value for one in points]
    axes.plot(heights, color=QUIET_COLOUR, linewidth=1, zorder=1)
    for place, one in enumerate(points):
        colour, _ = policy_look(place)
        if one.interval.low is not None and one.interval.high is not None:
            axes.plot([place, place], [one.interval.low, one.interval.high], color=colour, lw=2.5)
        if one.value is not None:
            axes.plot([place], [one.value], marker="o", color=colour, markersize=7)
    axes.set_xticks(range(len(runs)), list(shown.values()), rotation=30, ha="right")
    axes.set_xlim(-0.5, len(runs) - 0.5)
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.set_ylabel("success rate, 95 % interval")
    plain_axes(axes, grid="both")


def _draw_successes(axes: Axes, runs: Mapping[str, Run], shown: Mapping[str, str]) -> None:
    ends = [
        (
            [episode.outcome for episode in run.episodes],
            [
                max(_last_step(episode.goal_frame, episode.num_frames), 1)
                for episode in run.episodes
            ],
        )
        for run in runs.values()
    ]
    horizon = longest_horizon(ends)
    for place, (name, end) in enumerate(zip(runs, ends, strict=True)):
        curve = success_curve(success_times(*end, horizon))
        draw_successes(axes, curve, policy_look(place), shown[name])
    success_axes(axes, horizon)


def _last_step(goal_frame: int | None, num_frames: int) -> int:
    return num_frames - 1 if goal_frame is None else goal_frame


def _draw_values(axes: Axes, runs: Mapping[str, Run]) -> None:
    for place, run in enumerate(runs.values()):
        colour, stroke = policy_look(place)
        axes.plot(mean_value_by_frame(run), color=colour, linestyle=stroke, linewidth=1.8)
    axes.set_ylim(-1.04, 1.04)
    axes.set_xlabel("frame")
    axes.set_ylabel("mean value: -1 at the goal, 1 never")
    plain_axes(axes, grid="both")
