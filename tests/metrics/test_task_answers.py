"""Answers by task: each from its own episodes, and together those of all."""

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.metrics.evaluation_scores import EvaluationScores
from goalward.metrics.task_answers import NONE_HELD_OUT, ONE_EPISODE, ONE_OUTCOME, TOO_FEW
from goalward.rollouts.episode import Outcome
from goalward.runs.folder.codec import decoded, encoded

SUCCESS, TIME_OUT, FAILURE = Outcome.SUCCESS, Outcome.TIME_OUT, Outcome.FAILURE
LENGTH = 10


def seen_by(count):
    """Ten seeds, of which so many see success in the time that the episode had."""
    return np.where(np.arange(10)[:, None] < count, LENGTH - 1.0, np.inf) * np.ones((1, LENGTH))


# (task, outcome, what td says)
NEAR = countdown(LENGTH, seeds=10)
SAID = [
    *[("told", SUCCESS, NEAR), ("told", TIME_OUT, seen_by(0))] * 6,
    *[("blind", SUCCESS, seen_by(5)), ("blind", TIME_OUT, seen_by(5))] * 6,
    *[("backwards", SUCCESS, seen_by(0)), ("backwards", FAILURE, NEAR)] * 4,
    ("late", TIME_OUT, seen_by(9)),
    ("late", TIME_OUT, seen_by(3)),
    ("late", FAILURE, seen_by(0)),
    ("once", TIME_OUT, seen_by(4)),
    ("learned", TIME_OUT, seen_by(4)),
    ("pair", SUCCESS, NEAR),
    ("pair", TIME_OUT, seen_by(0)),
]


def run_of(said=SAID, **options):
    episodes = [
        drawn_episode(str(i), LENGTH, outcome=outcome, task=task)
        for i, (task, outcome, _) in enumerate(said)
    ]
    learned = [e.id for e in episodes if e.task == "learned"]
    steps = {"td": [steps for _, _, steps in said]}
    return drawn_run(episodes, steps, learned_from=learned, **options)[0]


@pytest.fixture(scope="module")
def scores():
    return run_of().scores


@pytest.fixture(scope="module")
def by_task(scores):
    return {one.task: one for one in scores.tasks.tasks}


def test_tasks_stand_in_order_of_appearance_with_their_own_outcomes(by_task):
    names = ["told", "blind", "backwards", "late", "once", "learned", "pair"]
    assert list(by_task) == names
    counts = {
        name: (one.success.count, one.success.total, one.num_time_out, one.num_failure)
        for name, one in by_task.items()
    }
    assert counts["told"] == (6, 12, 6, 0)
    assert counts["backwards"] == (4, 8, 0, 4)
    assert counts["late"] == (0, 3, 2, 1)
    # Wilson's interval of 6 of 12.
    assert by_task["told"].success.interval.low == pytest.approx(0.2538, abs=1e-4)


def test_the_tasks_together_are_what_is_said_of_all(scores, by_task):
    """The same chances, the same outcomes: nothing is told twice and differently."""
    tasks, policy = by_task.values(), scores.policy
    assert sum(one.success.count for one in tasks) == policy.success.count
    assert sum(one.num_time_out for one in tasks) == policy.num_time_out
    assert sum(one.num_failure for one in tasks) == policy.num_failure
    assert sum(one.num_late for one in tasks) == len(policy.more_time.late)
    late = [one for one in tasks if one.num_late]
    share = sum(one.num_late * one.share.value for one in late) / sum(one.num_late for one in late)
    assert share == pytest.approx(policy.more_time.twice.share.value)


def test_time_outs_are_given_their_time_again_by_task(by_task):
    late = by_task["late"]
    assert late.share.value == pytest.approx(0.6)
    # Two episodes are not sure of anything.
    assert late.share_interval.low < 0.25
    assert late.share_interval.high > 0.9
    assert by_task["backwards"].share.reason == "no episode timed out"
    assert by_task["learned"].share.reason == "no timed-out episode was held out"


def test_values_are_judged_within_the_task(by_task):
    """Over all tasks a method may know the easy ones; within one it has to know the outcome."""
    assert by_task["told"].auroc.value == 1.0
    assert by_task["told"].values_tell is True
    assert by_task["blind"].auroc.value == 0.5
    assert by_task["blind"].values_tell is False
    assert by_task["backwards"].auroc.value == 0.0
    assert by_task["backwards"].values_tell is False


def test_where_values_cannot_be_checked_it_says_why(by_task):
    reasons = {"late": ONE_OUTCOME, "once": ONE_EPISODE, "learned": NONE_HELD_OUT, "pair": TOO_FEW}
    for name, reason in reasons.items():
        assert (by_task[name].values_tell, by_task[name].unchecked) == (None, reason)
    # A success and a time-out have an AUROC, but nobody knows how sure it is.
    assert by_task["pair"].auroc.value == 1.0
    assert by_task["late"].auroc.reason == ONE_OUTCOME


def test_most_episodes_come_first_then_the_unusual(scores):
    """10 of 21 are 17 of 39; none of one lies further from it than one half of two."""
    names = [one.task for one in scores.tasks.most_telling_first]
    assert names == ["told", "blind", "backwards", "late", "pair", "once", "learned"]
    ties = run_of(
        [(*one[:1], *one[1:]) for one in SAID if one[0] in ("told", "blind", "backwards")]
    )
    assert ties.scores.tasks.overall == 0.5


def test_a_task_apart_from_the_others_is_found():
    said = [("easy", SUCCESS, NEAR)] * 20 + [("hard", TIME_OUT, seen_by(0))] * 9
    said += [("mixed", SUCCESS, NEAR), ("mixed", TIME_OUT, seen_by(0))]
    tasks = run_of(said).scores.tasks
    assert tasks.equal_rates.differ
    assert [one.task for one in tasks.standing_out(above=True)] == ["easy"]
    assert [one.task for one in tasks.standing_out(above=False)] == ["hard"]


def test_one_task_has_no_answers_by_task():
    assert run_of([one for one in SAID if one[0] == "told"]).scores.tasks is None


def test_without_a_success_nothing_is_expected_of_any_task():
    said = [("a", TIME_OUT, seen_by(9)), ("b", TIME_OUT, seen_by(9)), ("b", FAILURE, seen_by(9))]
    tasks = run_of(said).scores.tasks
    assert [one.share.reason for one in tasks.tasks] == ["no episode succeeded"] * 2
    assert tasks.equal_rates.reason == "all episodes ended alike"


def test_scores_of_an_older_run_open_without_them(scores):
    stored = encoded(scores)
    assert decoded(stored, EvaluationScores, "scores.json").tasks == scores.tasks
    del stored["tasks"]
    assert decoded(stored, EvaluationScores, "scores.json").tasks is None


def test_a_thousand_tasks_are_answered():
    said = [(f"task {i}", (SUCCESS, TIME_OUT)[i % 2], seen_by(5)[:1]) for i in range(1000)]
    tasks = run_of(said).scores.tasks
    assert len(tasks.tasks) == 1000
    assert {one.unchecked for one in tasks.tasks} == {ONE_EPISODE}
    assert not tasks.equal_rates.differ
