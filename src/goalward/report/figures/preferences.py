"""A picture of a ranking by preferences: strengths with intervals, the strongest on top."""

from matplotlib import rc_context
from matplotlib.figure import Figure

from goalward.looks import TEXT_COLOUR
from goalward.metrics.comparing.preferences import PreferenceRanking
from goalward.report.figures.comparison import LONGEST_NAME, draw_mean, plain_axes, policy_look
from goalward.report.figures.glyphs import drawable, fonts_for
from goalward.report.figures.paper import short_name


def preference_figure(ranking: PreferenceRanking) -> Figure:
    """Log strengths; to be further right by 1 is to win 73 % of what either wins."""
    names = [one.policy for one in ranking.policies]
    families = fonts_for(names)
    with rc_context({"font.family": families}):
        height = max(2.6, 1.3 + 0.42 * len(names))
        figure = Figure(figsize=(6.0, height), layout="constrained")
        axes = figure.subplots()
        axes.axvline(0, color=TEXT_COLOUR, linewidth=0.8)
        labels: list[str] = []
        for row, one in enumerate(ranking.policies):
            draw_mean(axes, row, one.log_strength, one.interval, policy_look(row)[0])
            name = short_name(drawable(one.policy, families), LONGEST_NAME)
            labels.append(f"{name}\n{one.wins} won, {one.losses} lost")
        axes.set_yticks(range(len(names)), labels, linespacing=1.4)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlabel(f"log strength, {100 * ranking.level:g} % interval (0: the mean policy)")
        plain_axes(axes, grid="x")
    return figure
