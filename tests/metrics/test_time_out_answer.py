"""What may be said of time-outs: one decision, by how far the values can be trusted."""

from types import SimpleNamespace

import pytest

from goalward.metrics.more_rollouts import rollouts_for_rate, rollouts_for_trust
from goalward.metrics.policy_answers import rate
from goalward.metrics.score import Interval, Score
from goalward.metrics.time_out_answer import Saying, time_out_answer
from goalward.metrics.trust import Grade, Trust

CLAIMED = Score(0.46)
LIMITS = Interval(0.2, 0.73)
MEASURED = SimpleNamespace(
    clock_end=SimpleNamespace(measured=Score(0.6), measured_interval=Interval(0.5, 0.7))
)
NOWHERE = Interval(None, None, reason="one outcome")
NOT_AT_THE_END = SimpleNamespace(clock_end=None)


def scores(late=("one",)):
    twice = SimpleNamespace(share=CLAIMED, share_interval=LIMITS)
    more = SimpleNamespace(twice=twice, late=late)
    return SimpleNamespace(policy=SimpleNamespace(more_time=more, success=rate(10, 20)))


def trust(grade, skill=0.8, low=0.7):
    return Trust("m", grade, 20, Score(skill), Interval(low, 0.9))


@pytest.mark.parametrize(
    ("grade", "truth", "saying", "share", "doubtful"),
    [
        (Grade.GOOD, None, Saying.EXPECTED, 0.46, None),
        (Grade.GOOD, MEASURED, Saying.EXPECTED, 0.46, None),
        (Grade.FAIR, None, Saying.EXPECTED, 0.46, None),
        (Grade.WEAK, None, Saying.HINT, 0.46, None),
        (Grade.WEAK, MEASURED, Saying.MEASURED, 0.6, 0.46),
        (Grade.NONE, None, Saying.CANNOT_TELL, None, 0.46),
        (Grade.UNKNOWN, NOT_AT_THE_END, Saying.CANNOT_TELL, None, 0.46),
        (Grade.CONTRADICTED, NOT_AT_THE_END, Saying.CANNOT_TELL, None, 0.46),
        (Grade.CONTRADICTED, MEASURED, Saying.MEASURED, 0.6, 0.46),
        (Grade.NONE, MEASURED, Saying.MEASURED, 0.6, 0.46),
    ],
)
def test_what_is_said_goes_by_trust_and_by_what_was_measured(
    grade, truth, saying, share, doubtful
) -> None:
    found = time_out_answer(scores(), trust(grade), truth)
    assert (found.saying, found.share.value) == (saying, share)
    assert (found.doubtful.value if found.doubtful else None) == doubtful
    assert saying.uses_values == (saying in (Saying.EXPECTED, Saying.HINT))


def test_without_a_time_out_there_is_no_question() -> None:
    assert time_out_answer(scores(late=()), trust(Grade.GOOD), None).saying is Saying.NO_QUESTION


def test_more_rollouts_help_values_that_lean_the_right_way_alone() -> None:
    weak = trust(Grade.WEAK, skill=0.6, low=0.4)
    # 20 * (0.2 / 0.1)^2 = 80 in all, and one that takes the interval off the coin's.
    assert time_out_answer(scores(), weak, None).more_rollouts == 61
    wrong_way = trust(Grade.NONE, skill=0.45, low=0.3)
    assert time_out_answer(scores(), wrong_way, None).more_rollouts is None
    contradicted = trust(Grade.CONTRADICTED)
    assert time_out_answer(scores(), contradicted, NOT_AT_THE_END).more_rollouts is None


def test_of_three_successes_nobody_can_tell_that_more_rollouts_do_not_help() -> None:
    """An AUROC of 0.45 among so few may be one of 0.75: 8 of either outcome show whether it is."""
    unlucky = Trust("m", Grade.NONE, 12, Score(0.45), Interval(0.11, 0.84))
    assert rollouts_for_trust(unlucky, rate(3, 12)) == 20
    assert rollouts_for_trust(unlucky, rate(16, 32)) is None


def test_both_outcomes_are_needed_to_check_values() -> None:
    unknown = Trust("m", Grade.UNKNOWN, 4, Score(None, "one outcome"), NOWHERE)
    # 8 of the rarer outcome at one in four: 32 in all.
    assert rollouts_for_trust(unknown, rate(1, 4)) == 28
    assert rollouts_for_trust(unknown, rate(3, 4)) == 28
    assert rollouts_for_trust(unknown, rate(4, 4)) is None


def test_a_rate_at_its_edge_needs_fewer_rollouts_than_one_in_the_middle() -> None:
    assert rollouts_for_rate(rate(5, 10)) == 83
    assert rollouts_for_rate(rate(10, 10)) == 6
    assert rollouts_for_rate(rate(0, 0)) == 93
