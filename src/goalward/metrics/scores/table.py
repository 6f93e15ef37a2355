"""The table of scores: everything about each of them, in one row.

A new score is a function, a row here and a test. Scorecard, tables, figures, summary, page and
docs/metrics.md read this table; `python -m goalward.metrics.scores.table` prints it for the docs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from goalward.metrics.scores.censored_brier import base_rate_brier, censored_brier
from goalward.metrics.scores.movement import forward_share, median_setback
from goalward.metrics.scores.paper_metrics import composite_share, failure_share, success_share
from goalward.metrics.scores.predictions import Predictions
from goalward.metrics.scores.rank_correlation import order_within_episodes, steps_correlation
from goalward.metrics.scores.separation import episode_separation, frame_separation
from goalward.metrics.scores.threshold import composite_at_best
from goalward.metrics.uncertainty.weighing import Weighable

Unit = Literal["share", "correlation", "steps"]
Better = Literal["higher", "lower"]
# Besides the table of all scores: the paper's table of three, the list in the summary.
Place = Literal["paper", "summary"]


@dataclass(frozen=True)
class ScoreKind:
    """One score: what it is called, what it says, how it is made, how to read it.

    `function` gives the score of every seed, or the reason in words why there is none. `better`
    is None where neither way is better for every policy: a setback may be a true one. `tested`
    scores are compared between methods. `places` are where it stands besides the table of all.
    `of_chances`: made from the one chance of success that all seeds give, not seed by seed.
    `plain` is a name for who has not read the paper; `no_skill` is what somebody gets who knows
    nothing. `{horizon}` in a meaning is the standard horizon.
    """

    name: str
    shown: str
    meaning: str
    function: Callable[[Predictions], Weighable | str]
    unit: Unit
    better: Better | None = None
    tested: bool = False
    places: frozenset[Place] = frozenset()
    of_chances: bool = False
    plain: str = ""
    no_skill: float | None = None

    @property
    def plain_name(self) -> str:
        return self.plain or self.shown

    @property
    def is_percent(self) -> bool:
        """Whether people read it as so many of a hundred: what has a plain name and is a share."""
        return self.unit == "share" and bool(self.plain)

    def meaning_with(self, horizon: int | None = None) -> str:
        """What it says, with the standard horizon as a number where that is known.

        >>> SCORES["success"].meaning_with(49)
        'share of the last frames before a goal that look near (less than 49 steps to go)'
        """
        steps = "the standard horizon" if horizon is None else f"{horizon} steps"
        return self.meaning.replace("{horizon}", steps)

    @property
    def digits(self) -> int:
        """How many decimals are worth printing."""
        return 1 if self.unit == "steps" else 3


def table_of(*kinds: ScoreKind) -> Mapping[str, ScoreKind]:
    """Scores by their names, in the order of a table."""
    table = {kind.name: kind for kind in kinds}
    if len(table) < len(kinds):
        raise ValueError("two scores have the same name")
    return table


_PAPER_AND_SUMMARY: frozenset[Place] = frozenset({"paper", "summary"})
_SUMMARY: frozenset[Place] = frozenset({"summary"})

SCORES: Mapping[str, ScoreKind] = table_of(
    ScoreKind(
        name="success",
        shown="success",
        plain="goals seen as near",
        meaning="share of the last frames before a goal that look near (less than {horizon} to go)",
        function=lambda p: success_share(p.steps, p.endings, p.horizon, pool=p.pool),
        unit="share",
        better="higher",
        tested=True,
        places=_PAPER_AND_SUMMARY,
    ),
    ScoreKind(
        name="failure",
        shown="failure",
        plain="other episodes seen as far",
        meaning="share of frames of the other episodes that look far (more than {horizon} to go)",
        function=lambda p: failure_share(p.steps, p.endings, p.horizon, pool=p.pool),
        unit="share",
        better="higher",
        tested=True,
        places=_PAPER_AND_SUMMARY,
    ),
    ScoreKind(
        name="composite",
        shown="composite",
        plain="both together",
        no_skill=0.5,
        meaning="mean of goals seen as near and other episodes seen as far",
        function=lambda p: composite_share(p.steps, p.endings, p.horizon, pool=p.pool),
        unit="share",
        better="higher",
        tested=True,
        places=_PAPER_AND_SUMMARY,
    ),
    ScoreKind(
        name="composite_at_threshold",
        shown="composite at threshold",
        plain="both together, at the best threshold",
        no_skill=0.5,
        meaning="both together, where near and far are told apart as was best in training",
        function=composite_at_best,
        unit="share",
        better="higher",
        places=_SUMMARY,
    ),
    ScoreKind(
        name="frame_auroc",
        shown="frame AUROC",
        no_skill=0.5,
        meaning="chance that a frame of a success looks nearer than one of another episode",
        function=lambda p: frame_separation(p.steps, p.endings, p.horizon),
        unit="share",
        better="higher",
        tested=True,
        places=_SUMMARY,
    ),
    ScoreKind(
        name="episode_auroc",
        shown="episode AUROC",
        no_skill=0.5,
        meaning="chance that a success looks nearer, by its median, than another episode",
        function=lambda p: episode_separation(p.steps, p.endings),
        unit="share",
        better="higher",
        tested=True,
    ),
    ScoreKind(
        name="spearman",
        shown="spearman",
        plain="order of steps",
        meaning="whether predicted steps lie in the order of the recorded ones, in successes (rank "
        "correlation): 1 is the same order, 0 none",
        function=lambda p: steps_correlation(p.steps, p.endings),
        unit="correlation",
        better="higher",
        tested=True,
        places=_SUMMARY,
    ),
    ScoreKind(
        name="order_within_episodes",
        shown="order within episodes",
        meaning="mean over successes of the rank correlation within each",
        function=lambda p: order_within_episodes(p.steps, p.endings),
        unit="correlation",
        better="higher",
    ),
    ScoreKind(
        name="forward_share",
        shown="forward share",
        meaning="share of moves from frame to frame in successes that go towards the goal",
        function=lambda p: forward_share(p.moves, p.endings.success),
        unit="share",
    ),
    ScoreKind(
        name="setback_in_success",
        shown="setback in success",
        meaning="median over successes of the largest setback, in steps",
        function=lambda p: median_setback(p.moves, p.endings.success),
        unit="steps",
    ),
    ScoreKind(
        name="setback_in_other",
        shown="setback in other",
        meaning="median over the other episodes of the largest setback, in steps",
        function=lambda p: median_setback(p.moves, ~p.endings.success),
        unit="steps",
    ),
    ScoreKind(
        name="brier",
        shown="brier",
        meaning="mean squared error of the chance of success within {horizon}; less is better",
        function=lambda p: censored_brier(p.chance, p.endings, p.horizon),
        unit="share",
        better="lower",
        places=_SUMMARY,
        of_chances=True,
    ),
    ScoreKind(
        name="brier_of_base_rate",
        shown="brier of base rate",
        meaning="the same for who always says the share of frames that succeed in time, which "
        "chances have to beat",
        function=lambda p: base_rate_brier(p.chance, p.endings, p.horizon),
        unit="share",
        places=_SUMMARY,
        of_chances=True,
    ),
)


def scores_by_seed(kinds: Mapping[str, ScoreKind] = SCORES) -> Mapping[str, ScoreKind]:
    """The scores that every seed has of its own, in the order of the table.

    >>> set(SCORES) - set(scores_by_seed()) == {"brier", "brier_of_base_rate"}
    True
    """
    return {name: kind for name, kind in kinds.items() if not kind.of_chances}


def scores_shown(place: Place, kinds: Mapping[str, ScoreKind] = SCORES) -> Mapping[str, ScoreKind]:
    """The scores that stand in one place, in the order of the table.

    >>> list(scores_shown("paper"))
    ['success', 'failure', 'composite']
    """
    return {name: kind for name, kind in kinds.items() if place in kind.places}


def scores_tested(kinds: Mapping[str, ScoreKind] = SCORES) -> Mapping[str, ScoreKind]:
    """The scores whose differences between methods are tested.

    >>> list(scores_tested())
    ['success', 'failure', 'composite', 'frame_auroc', 'episode_auroc', 'spearman']
    """
    return {name: kind for name, kind in kinds.items() if kind.tested}


def documentation(kinds: Mapping[str, ScoreKind] = SCORES) -> str:
    """The table as docs/metrics.md shows it, in Markdown."""
    lines = ["| score | in one sentence | unit | better | tested | in the summary |"]
    lines.append("|---|---|---|---|---|---|")
    lines += [
        f"| `{kind.name}` | {kind.meaning_with()} | {kind.unit} | {kind.better or 'neither'} | "
        f"{'yes' if kind.tested else 'no'} | {'yes' if 'summary' in kind.places else 'no'} |"
        for kind in kinds.values()
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(documentation())
