"""Every number of a comparison, at a level that is not the usual one, and its notes in full."""

import pytest
from rollout_files.outcomes import matched

from goalward import GoalwardError, Outcome
from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.rates.exact_tests import holm, stratified_test
from goalward.metrics.comparing.sample_size import pairs_for_power
from goalward.metrics.comparing.tables.outcome_table import (
    EpisodeOutcome,
    OutcomeTable,
    PolicyOutcomes,
)
from goalward.metrics.comparing.watching.sequential import looks
from goalward.metrics.uncertainty.proportions import (
    clopper_pearson,
    difference,
    difference_by_task,
    paired_difference,
    wilson,
)

LEVEL = 0.8
NO_STEPS = "steps are not compared: no column steps for a, b"
ENDINGS = {"s": Outcome.SUCCESS, "t": Outcome.TIME_OUT, "f": Outcome.FAILURE}


def policy(name, ended, *, tasks=None, states=None, steps=None):
    """One policy from a word: an s, t or f per episode."""
    return PolicyOutcomes(
        name,
        tuple(
            EpisodeOutcome(
                str(i),
                ENDINGS[end],
                None if steps is None else steps[i],
                "" if tasks is None else tasks[i],
                None if states is None else states[i],
                None,
                "",
            )
            for i, end in enumerate(ended)
        ),
    )


def compared(*policies, **options):
    return compare(OutcomeTable(policies), **{"level": LEVEL} | options)


def limits(interval):
    return float(interval.lower), float(interval.upper)


# ---- one policy --------------------------------------------------------------------------------


def test_how_the_episodes_of_a_policy_ended():
    found = compared(policy("a", "stfstts"), policy("b", "stststs"))
    first = found.policies[0]
    assert (first.policy, first.episodes, first.successes) == ("a", 7, 3)
    assert (first.time_outs, first.failures) == (3, 1)
    assert first.rate == first.raw_rate == 3 / 7
    assert first.rate_interval == limits(wilson(3, 7, LEVEL))
    assert first.raw_rate_interval == limits(clopper_pearson(3, 7, LEVEL))
    assert first.tasks == {"": (3, 7)}
    assert (first.mean_steps, first.mean_steps_interval) == (None, None)


# ---- two of them -------------------------------------------------------------------------------


def test_one_task():
    found = compared(policy("a", "sttstttt"), policy("b", "tssstsss"))
    (pair,) = found.pairs
    assert (pair.interval_method, pair.test) == ("Newcombe", "Boschloo, exact")
    assert pair.interval == limits(difference(2, 8, 6, 8, LEVEL))
    assert pair.adjusted_p_value == pair.p_value
    assert pair.only_first is pair.only_second is None
    assert (found.paired, found.num_matched, found.level) == (False, 0, LEVEL)


def test_several_tasks():
    tasks = "xxxxyyyyyy"
    (pair,) = compared(
        policy("a", "sttsttttst", tasks=tasks), policy("b", "tssstssstt", tasks=tasks)
    ).pairs
    assert pair.interval_method == "Klingenberg, by task"
    assert pair.test == "Cochran-Mantel-Haenszel by task, exact"
    assert pair.interval == limits(difference_by_task([2, 1], [4, 6], [3, 3], [4, 6], LEVEL))
    assert pair.p_value == stratified_test([2, 1], [4, 6], [3, 3], [4, 6])


def test_shared_initial_states():
    """Of ten states the first alone wins one, the second alone three."""
    states = "0123456789"
    found = compared(
        policy("a", "stttststst", states=states), policy("b", "ssssttstst", states=states)
    )
    (pair,) = found.pairs
    assert (pair.interval_method, pair.test) == ("Tango", "McNemar, exact")
    assert (pair.only_first, pair.only_second) == (1, 3)
    assert pair.interval == limits(paired_difference(1, 3, 10, LEVEL))
    assert (found.paired, found.num_matched, found.notes) == (True, 10, (NO_STEPS,))
    assert pair.rollouts_for_power == pairs_for_power(0.1, 0.3, alpha=1 - LEVEL)


def test_the_first_may_be_the_better_one():
    (pair,) = compared(policy("a", "ssssstsss"), policy("b", "tsttttttt")).pairs
    assert pair.better == "a"
    assert pair.difference < 0


def test_all_against_none():
    (pair,) = compared(policy("a", "tttttt"), policy("b", "ssssss")).pairs
    assert (pair.difference, pair.better) == (1, "b")


def test_a_p_value_of_exactly_the_error_is_enough():
    """Six states that the second alone wins: 2 / 64, which is 1 - 0.96875 to the last digit."""
    states = "012345"
    both = policy("a", "tttttt", states=states), policy("b", "ssssss", states=states)
    assert compared(*both, level=1 - 2 / 64).pairs[0].better == "b"
    assert compared(*both, level=0.97).pairs[0].better is None


def test_rates_that_differ_by_rounding_are_equal():
    """Three tasks with rates of 0.1, 0.2 and 0.3 and with 0.3, 0.2 and 0.1, which weigh alike."""
    tasks = ["x"] * 10 + ["y"] * 10 + ["z"] * 10
    first, second = "stttttttttstttttttstssttttttts", "sststtttttstttttttststtttttttt"
    assert [first[i : i + 10].count("s") for i in (0, 10, 20)] == [1, 2, 3]
    assert [second[i : i + 10].count("s") for i in (0, 10, 20)] == [3, 2, 1]
    (pair,) = compared(policy("a", first, tasks=tasks), policy("b", second, tasks=tasks)).pairs
    assert pair.difference == 0
    assert pair.rollouts_for_power is None


def test_steps_are_corrected_for_several_pairs():
    rows = {"a": (90, 80, 70, 60), "b": (50, 60, 40, 30), "c": (10, 20, 30, 25)}
    found = compared(*(policy(name, "ssss", steps=steps) for name, steps in rows.items()))
    p_values = [pair.steps.log_rank_p_value for pair in found.pairs]
    assert len(set(p_values)) > 1
    assert [pair.steps.adjusted_log_rank_p_value for pair in found.pairs] == holm(p_values)
    assert [pair.steps.difference for pair in found.pairs] == pytest.approx([-30, -53.75, -23.75])


# ---- while rollouts come in --------------------------------------------------------------------


def test_what_one_would_have_seen_after_every_pair():
    first, second = "tttttttttttttt", "sstsssssssstss"
    (pair,) = compared(policy("a", first), policy("b", second)).pairs
    seen = looks([end == "s" for end in first], [end == "s" for end in second], LEVEL)
    watched = pair.watched
    assert (watched.num_pairs, watched.wanted_e_value) == (14, pytest.approx(5))
    assert watched.e_value == seen.e_value
    assert watched.p_value == seen.p_value < 0.2
    # 2^w / (w + 1) for w wins of w: 3.2 after four of them, 5.3 after five.
    assert watched.settled_at == 6
    assert watched.interval == limits(seen.interval())


def test_rows_sorted_by_outcome_are_explained():
    found = compared(policy("a", "s" * 20 + "t" * 20), policy("b", "st" * 20))
    assert found.pairs[0].watched is None
    assert found.notes == (
        NO_STEPS,
        "the rows of a are sorted by outcome; the test that allows for looking after every "
        "rollout needs them in the order in which they were run",
    )


# ---- who meets whom ----------------------------------------------------------------------------


def test_pairs_come_in_the_order_in_which_the_last_of_the_two_got_there():
    both = policy("a", "sss", states="xyz"), policy("b", "sss", states="zyx")
    assert matched(OutcomeTable(both)) == [[1, 1], [0, 2], [2, 0]]


def test_complete_pairs_need_no_note():
    both = policy("a", "sttt", states="0123"), policy("b", "ttss", states="0123")
    for paired in (None, True):
        found = compared(*both, paired=paired)
        assert (found.paired, found.notes) == (True, (NO_STEPS,))


def test_notes_on_pairs_in_full():
    both = policy("a", "sttt", states="0123"), policy("b", "ttss", states="0124")
    assert compared(*both).notes == (
        "not paired: only 3 initial states are shared by all policies; ask for a paired "
        "comparison to use these alone",
        NO_STEPS,
    )
    apart = policy("a", "sttt", states="0123"), policy("b", "ttss", states="4567")
    with pytest.raises(
        GoalwardError,
        match="^paired: no initial state is shared by all policies; wanted a column initial_state "
        "with equal entries, or name the column to pair by$",
    ):
        compared(*apart, paired=True)


def test_at_most_three_tasks_are_named():
    first = policy("a", "ststs", tasks="vwxyz")
    found = compared(first, policy("b", "t", tasks="v"))
    assert found.notes[0] == (
        "rates are of the one task that all policies ran, without w, x, y and 1 more"
    )
    assert found.notes[2] == "left out of a against b: w, x, y and 1 more, which b did not run"
