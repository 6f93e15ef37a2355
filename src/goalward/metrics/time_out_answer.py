"""What may be said of time-outs given more time: the one place that decides it.

Summary, page, terminal and whoever else speaks of time-outs read this: a number that cannot be
relied on is not the answer, however small its interval.
"""

from dataclasses import dataclass
from enum import StrEnum

from goalward.metrics.evaluation_scores import EvaluationScores
from goalward.metrics.more_rollouts import rollouts_for_trust
from goalward.metrics.score import Interval, Score
from goalward.metrics.trust import Grade, Trust
from goalward.metrics.truth.card import TruthCard


class Saying(StrEnum):
    """What kind of answer can be given.

    `EXPECTED`: what chances expect, from values that were shown to know something. `HINT`: nobody
    can tell yet, and weak values give a hint to who asks. `MEASURED`: values were not shown to
    know anything, but a simulator gave time-outs their clock again and saw. `CANNOT_TELL`: they
    are not to be relied on and nobody measured. `NO_QUESTION`: nothing timed out, or nothing can
    be learned from.
    """

    EXPECTED = "expected"
    HINT = "hint"
    MEASURED = "measured"
    CANNOT_TELL = "cannot_tell"
    NO_QUESTION = "no_question"

    @property
    def uses_values(self) -> bool:
        """Whether what is said rests on the values, and verdicts on single episodes may be."""
        return self in (Saying.EXPECTED, Saying.HINT)


@dataclass(frozen=True)
class TimeOutAnswer:
    """What may be said, and the share of time-outs that it says succeeds with their clock again.

    `share` is what is expected or what was measured, by `saying`; it has no value where nobody can
    tell. `doubtful` is what the values claim where that is not the answer: for those who ask for
    it. `more_rollouts` are those after which one might tell; None where more do not help or there
    is nothing to wait for.
    """

    saying: Saying
    share: Score
    share_interval: Interval
    doubtful: Score | None = None
    more_rollouts: int | None = None


def time_out_answer(
    scores: EvaluationScores, trust: Trust, truth: TruthCard | None
) -> TimeOutAnswer:
    """The answer for the method that speaks for the policy."""
    twice = scores.policy.more_time.twice
    claimed, interval = twice.share, twice.share_interval
    if not scores.policy.more_time.late:
        return TimeOutAnswer(Saying.NO_QUESTION, claimed, interval)
    if trust.grade in (Grade.GOOD, Grade.FAIR):
        return TimeOutAnswer(Saying.EXPECTED, claimed, interval)
    more = rollouts_for_trust(trust, scores.policy.success)
    late = None if truth is None else truth.clock_end
    if late is not None and late.measured.value is not None:
        return TimeOutAnswer(Saying.MEASURED, late.measured, late.measured_interval, claimed)
    if trust.grade is Grade.WEAK:
        return TimeOutAnswer(Saying.HINT, claimed, interval, more_rollouts=more)
    if trust.grade is Grade.CONTRADICTED:
        # The truth of these very episodes says no: the same for more of them.
        more = None
    nothing = Score(None, "the values are not to be relied on")
    return TimeOutAnswer(
        Saying.CANNOT_TELL,
        nothing,
        Interval(None, None, interval.level, nothing.reason),
        claimed,
        more,
    )
