"""Why nobody should rely on what values and chances say of time-outs, as data."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from goalward.metrics.evaluation_scores import EvaluationScores
from goalward.metrics.more_time import Expected
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
    `CONTRADICTED`: the truth of some frames of time-outs shows a large error of the values, or a
    share of futures at the goal that the chances leave out.
    """

    NOT_DEFINED = "not_defined"
    NO_INTERVAL = "no_interval"
    NO_SKILL = "no_skill"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True)
class WrongShare:
    """What chances expect of some frames of time-outs, and what came of them in a simulator.

    `expected_interval` reaches as far as that of the share with twice the time does.
    `at_clock_end`: last frames of time-outs, each given its own clock again; else frames from all
    over them, given all the time that futures were run for.
    """

    expected: float
    """Share that chances expect."""
    expected_interval: Interval
    measured: float
    """Share that came about."""
    measured_interval: Interval
    """Of what came about."""
    at_clock_end: bool


@dataclass(frozen=True)
class Doubt:
    """One reason to doubt what a method's values say of time-outs, with its numbers.

    `auroc` is that of frames, over seeds; `auroc_interval` is over seeds and the `num_held_out`
    episodes. The rest is known where the truth contradicts: `share` where the expected share of
    time-outs that would succeed leaves out the true one; `bias` of the values in time-outs where
    that is large, and with it `futures_at_goal`, the share of their true futures at the goal.
    """

    method: str
    """Whose values."""
    kind: DoubtKind
    """Which reason it is."""
    num_held_out: int
    auroc: Score
    auroc_interval: Interval
    bias: TruthError | None = None
    futures_at_goal: Score | None = None
    share: WrongShare | None = None


def doubts_of(scores: EvaluationScores, truth: TruthCard | None) -> tuple[Doubt, ...]:
    """Whether to doubt the first method, which speaks for the policy; empty if one may rely on it.

    Values that cannot be shown to tell successes from other episodes say nothing of the future of
    a time-out, however small their interval; the truth is asked only about values that can. Nor
    should one rely on values that the truth contradicts.
    """
    method = scores.methods[0]
    row = scores.cards[method]["frame_auroc"]
    auroc, interval = row.over_seeds.mean, row.interval

    def doubt(kind: DoubtKind, **known: Any) -> tuple[Doubt, ...]:
        return (Doubt(method, kind, scores.num_held_out, auroc, interval, **known),)

    if auroc.value is None:
        return doubt(DoubtKind.NOT_DEFINED)
    if interval.low is None:
        return doubt(DoubtKind.NO_INTERVAL)
    if interval.low <= CHANCE:
        return doubt(DoubtKind.NO_SKILL)
    if truth is None:
        return ()
    share = _wrong_share(scores.policy.more_time.twice, truth, method)
    bias = _large_bias_in_time_outs(truth, method)
    if share is None and bias is None:
        return ()
    futures = None if bias is None else truth.groups[Outcome.TIME_OUT].more_time_success
    return doubt(DoubtKind.CONTRADICTED, bias=bias, futures_at_goal=futures, share=share)


def _wrong_share(twice: Expected, truth: TruthCard, method: str) -> WrongShare | None:
    """The expected and the measured share of time-outs that succeed, if each leaves the other out.

    Both of the same frames: where the clock ran out if that was measured, else any of time-outs.
    """
    share, limits = twice.share.value, twice.share_interval
    if share is None or limits.low is None or limits.high is None:
        return None
    late, anywhere = truth.clock_end, truth.groups.get(Outcome.TIME_OUT)
    if late is not None:
        expected = late.predicted[method].value
        measured, measured_interval = late.measured.value, late.measured_interval
    elif anywhere is not None:
        measured, measured_interval = anywhere.more_time_success.value, anywhere.more_time_interval
        bias = truth.methods[method].by_group[Outcome.TIME_OUT].within[truth.horizons[-1]].bias
        expected = (measured or 0.0) + (bias.mean.value or 0.0)
    else:
        return None
    if expected is None or measured is None or measured_interval.low is None:
        return None
    low, high = expected - (share - limits.low), expected + (limits.high - share)
    reach = Interval(max(low, 0.0), min(high, 1.0), limits.level)
    is_held = _holds(reach, measured) or _holds(measured_interval, expected)
    found = WrongShare(expected, reach, measured, measured_interval, late is not None)
    return None if is_held else found


def _holds(interval: Interval, value: float) -> bool:
    return (interval.low or 0.0) <= value <= (interval.high or 0.0)


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
