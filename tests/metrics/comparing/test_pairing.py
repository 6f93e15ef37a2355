"""Who is compared with whom: by initial state, by seed, by task."""

import pytest
from rollout_files.outcomes import matched, outcome_rows, table_of

from goalward import GoalwardError, Outcome
from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.pairing import meeting_by_start, meeting_by_task, starts_of
from goalward.metrics.comparing.tables.outcome_table import (
    EpisodeOutcome,
    OutcomeTable,
    PolicyOutcomes,
)


def compared(tmp_path, *rows, **options):
    return compare(table_of(tmp_path, *rows), **options)


def test_states_that_only_some_share(tmp_path):
    first = outcome_rows("a", 20, 40, initial_state=lambda i: i)
    second = outcome_rows("b", 20, 40, initial_state=lambda i: i + 10)
    found = compared(tmp_path, first, second)
    assert not found.paired
    assert found.notes[0].startswith("not paired: only 30 initial states")
    found = compared(tmp_path, first, second, paired=True)
    assert found.num_matched == found.pairs[0].watched.num_pairs == 30
    assert "10 of a, 10 of b" in found.notes[0]
    with pytest.raises(GoalwardError, match="no initial state is shared"):
        compared(tmp_path, outcome_rows("a", 2, 4), outcome_rows("b", 2, 4), paired=True)


def test_states_of_the_larger_policy_alone_are_left_out_aloud(tmp_path):
    first = outcome_rows("a", 20, 40, initial_state=lambda i: i)
    second = outcome_rows("b", 10, 30, initial_state=lambda i: i)
    found = compared(tmp_path, first, second, paired=True)
    assert found.notes[0].endswith("as not every policy started there: episodes 10 of a")
    found = compared(tmp_path, first, second)
    assert not found.paired
    assert found.notes[0].startswith("not paired: only 30 initial states")


def test_an_episode_without_a_state_pairs_none():
    first = played("a", (True, "x", "0"), (False, "x", None))
    second = played("b", (True, "x", "0"), (False, "x", "1"))
    assert matched(OutcomeTable((first, second))) == []


def test_one_state_several_times_pairs_by_seed(tmp_path):
    keys = {"initial_state": lambda i: i % 5, "seed": lambda i: i // 5}
    found = compared(tmp_path, outcome_rows("a", 5, 20, **keys), outcome_rows("b", 15, 20, **keys))
    assert found.num_matched == 20
    # Where each state occurs once, seeds may differ.
    found = compared(
        tmp_path,
        outcome_rows("a", 5, 20, initial_state=lambda i: i, seed=lambda i: i),
        outcome_rows("b", 5, 20, initial_state=lambda i: i, seed=lambda i: 100 + i),
    )
    assert found.num_matched == 20


def test_tasks_that_one_policy_alone_ran(tmp_path):
    def rows(policy, task, successes=5):
        return [{**row, "task": task} for row in outcome_rows(policy, successes, 10)]

    found = compared(tmp_path, rows("a", "x"), rows("a", "y"), rows("b", "x", 8))
    assert found.pairs[0].first_rate == 0.5
    assert found.notes[0] == "rates are of the one task that all policies ran, without y"
    assert "left out of a against b: y, which b did not run" in found.notes
    with pytest.raises(GoalwardError, match="'a' and 'b' have no task in common"):
        compared(tmp_path, rows("a", "x"), rows("b", "y"))


def played(policy, *episodes):
    """One policy; an episode is success, task and initial state."""
    return PolicyOutcomes(
        policy,
        tuple(
            EpisodeOutcome(
                str(i), Outcome.SUCCESS if won else Outcome.TIME_OUT, None, task, state, None, ""
            )
            for i, (won, task, state) in enumerate(episodes)
        ),
    )


def test_pairs_by_state_come_in_the_order_in_which_the_later_policy_got_there():
    first = played("a", (True, "x", "0"), (False, "x", "1"), (True, "y", "0"))
    second = played("b", (True, "y", "0"), (False, "x", "0"), (True, "x", "2"))
    table = OutcomeTable((first, second))
    assert matched(table) == [[0, 1], [2, 0]]
    meeting = meeting_by_start(table, starts_of(table), 0, 1)
    assert meeting.succeeded.tolist() == [[True, False], [True, True]]
    assert meeting.won_alone == (1, 0)


def test_pairs_by_task_come_in_the_order_in_which_they_were_complete():
    """In x only b's third episode made the pair, in y a's second did."""
    first = played("a", (True, "x", None), (False, "y", None))
    second = played("b", (True, "y", None), (True, "y", None), (False, "x", None))
    meeting = meeting_by_task(first, second, [])
    assert meeting.together.tolist() == [[1, 0], [0, 2]]
    assert meeting.succeeded.tolist() == [[False, True], [True, False]]
    # Both pairs complete at once: then as the first policy met the tasks.
    second = played("b", (True, "y", None), (False, "x", None))
    meeting = meeting_by_task(first, second, [])
    assert meeting.together.tolist() == [[0, 1], [1, 0]]


def test_tasks_pair_the_first_with_the_first_and_leave_some_alone():
    first = played("a", (True, "x", None), (False, "x", None), (True, "y", None))
    second = played("b", (True, "y", None), (False, "x", None), (False, "y", None))
    meeting = meeting_by_task(first, second, [])
    # In x the pair was complete with b's second episode, in y with a's third.
    assert meeting.together.tolist() == [[0, 1], [2, 0]]
    assert meeting.first_alone.tolist() == [1]
    assert meeting.second_alone.tolist() == [2]
    assert meeting.counts() == ([[1, 1], [0, 1]], [[2, 1], [1, 2]])
    first_rate, second_rate, weight = meeting.rates()
    assert (first_rate.tolist(), second_rate.tolist()) == ([0.5, 1], [0, 0.5])
    assert weight.tolist() == [0.5, 0.5]
