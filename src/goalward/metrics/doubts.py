"""Why nobody should rely on what values say of time-outs, as data."""

from dataclasses import dataclass
from enum import StrEnum

from goalward.metrics.evaluation_scores import EvaluationScores
from goalward.metrics.score import Interval, Score
from goalward.metrics.truth.card import TruthCard
from goalward.metrics.truth.errors import TruthError
from goalward.rollouts.episode import Outcome

# The AUROC of values that know nothing.
CHANCE = 0.5
# Of a scale from -1 to 1: values of time-outs that are off by more should not be acted on.
MUCH = 0.25


class DoubtKind(StrEnum):
    """What is the matter, from what says least of the values to what says most.

    `NOT_DEFINED`: there is no AUROC, and its reason says why. `NO_INTERVAL`: there is one, but too
    few held-out episodes to say how sure it is. `NO_SKILL`: its interval reaches that of a coin.
    `CONTRADICTED`: the truth of some frames shows a large error in time-outs.
    """

    NOT_DEFINED = "not_defined"
    NO_INTERVAL = "no_interval"
    NO_SKILL = "no_skill"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True)
class Doubt:
    """One reason to doubt what a method's values say of time-outs, with its numbers.

    `auroc` is that of frames, over seeds; `auroc_interval` is over seeds and the `num_held_out`
    episodes. The rest is known where the truth contradicts: `bias` of the values in time-outs, and
    `futures_at_goal`, the share of true futures of time-outs that reach the goal.
    """

    method: str
    kind: DoubtKind
    num_held_out: int
    auroc: Score
    auroc_interval: Interval
    bias: TruthError | None = None
    futures_at_goal: Score | None = None


def doubts_of(scores: EvaluationScores, truth: TruthCard | None) -> tuple[Doubt, ...]:
    """Whether to doubt the first method, which speaks for the policy; empty if one may rely on it.

    Values that cannot be shown to tell successes from other episodes say nothing of the future of
    a time-out, however small their interval; the truth is asked only about values that can. Nor
    should one rely on values that the truth contradicts.
    """
    method = scores.methods[0]
    row = scores.cards[method]["frame_auroc"]
    auroc, interval = row.over_seeds.mean, row.interval

    def doubt(
        kind: DoubtKind, bias: TruthError | None = None, futures_at_goal: Score | None = None
    ) -> tuple[Doubt, ...]:
        found = Doubt(method, kind, scores.num_held_out, auroc, interval, bias, futures_at_goal)
        return (found,)

    if auroc.value is None:
        return doubt(DoubtKind.NOT_DEFINED)
    if interval.low is None:
        return doubt(DoubtKind.NO_INTERVAL)
    if interval.low <= CHANCE:
        return doubt(DoubtKind.NO_SKILL)
    bias = None if truth is None else _large_bias_in_time_outs(truth, method)
    if truth is None or bias is None:
        return ()
    futures = truth.groups[Outcome.TIME_OUT].more_time_success
    return doubt(DoubtKind.CONTRADICTED, bias, futures)


def _large_bias_in_time_outs(truth: TruthCard, method: str) -> TruthError | None:
    """How a method misjudges time-outs, if for sure and by much."""
    found = truth.methods[method].by_group.get(Outcome.TIME_OUT)
    if found is None:
        return None
    bias = found.value.bias
    low, high = bias.interval.low, bias.interval.high
    if low is None or high is None or low <= 0 <= high:
        return None
    return bias if abs(bias.mean.value or 0.0) >= MUCH else None
