"""All numbers of an evaluation whose held-out episodes are not the first ones."""

from dataclasses import replace

import numpy as np
import pytest

import goalward
from goalward.metrics.evaluation_scores import score_values, steps_of_chances, usual_steps
from goalward.rollouts.endings import Endings
from goalward.rollouts.episode import Episode, Outcome
from goalward.values.events import EventKind, table_events
from goalward.values.made_chances import chances_of_values
from goalward.values.table import ValueTable

# What td says of the frames of six episodes of unlike lengths; mc says twice as much.
SAID = {
    "learned time-out": (Outcome.TIME_OUT, np.full(45, 90.0)),
    "held-out success": (Outcome.SUCCESS, np.arange(20.0, -1, -1)),
    "learned success": (Outcome.SUCCESS, np.arange(24.0, -1, -1)),
    "stuck": (Outcome.TIME_OUT, np.full(41, 60.0)),
    "learned failure": (Outcome.FAILURE, np.full(11, np.inf)),
    # It came near, was thrown back, and was on its way again when the clock ran out.
    "thrown back": (
        Outcome.TIME_OUT,
        np.concatenate([np.linspace(40, 4, 15), np.full(10, 40.0), np.linspace(40, 12, 16)]),
    ),
}
HELD_OUT = np.array([False, True, False, True, False, True])
TRAINING = np.array([0, 2, 4])


def recorded(tasks=("",) * 6):
    return goalward.Rollouts(
        [
            Episode(
                name,
                len(steps),
                outcome,
                goal_frame=len(steps) - 1 if outcome is Outcome.SUCCESS else None,
                task=task,
            )
            for (name, (outcome, steps)), task in zip(SAID.items(), tasks, strict=True)
        ]
    )


def table_of_values(rollouts, num_seeds=2):
    """All seeds say the same."""
    steps = np.concatenate([steps for _, steps in SAID.values()]).astype(np.float32)
    steps = np.stack([np.tile(steps, (num_seeds, 1)), np.tile(2 * steps, (num_seeds, 1))])
    return ValueTable(
        methods=("td", "mc"),
        seeds=tuple(range(num_seeds)),
        episode_ids=rollouts.ids,
        episode_tasks=tuple(episode.task for episode in rollouts),
        episode_ends=np.cumsum(rollouts.lengths),
        raw_value=-steps,
        steps_to_goal=steps,
    )


def scored(training=TRAINING, num_seeds=2, horizon=None, **tasks):
    rollouts = recorded(**tasks)
    values = table_of_values(rollouts, num_seeds)
    chances = chances_of(values, rollouts, horizon)
    events = events_of(values, rollouts)
    return score_values(values, chances, rollouts, HELD_OUT, training, horizon, events)


def chances_of(values, rollouts, horizon=None):
    return chances_of_values(values, steps_of_chances(rollouts.endings, horizon))


def events_of(values, rollouts):
    goals = [episode.goal_frame for episode in rollouts]
    return table_events(values, "td", goals, ceiling=44)


def named(positions):
    return [list(SAID)[position] for position in positions]


def test_time_outs_are_those_that_were_held_out_and_carry_their_own_names():
    """At the end td says 60 and 12 more steps, and both had a clock of 40."""
    more = scored().policy.more_time
    assert named(one.episode for one in more.late) == ["stuck", "thrown back"]
    assert [(one.num_steps, one.chance) for one in more.late] == [(40, 0.0), (40, 1.0)]
    # mc says twice as many, and so the same with 40 more; it is no other opinion.
    assert [(one.method, one.share, one.disagrees) for one in more.others] == [("mc", 0.5, False)]


def test_what_to_watch_first_carries_its_own_name():
    """Of all episodes, learned from or not: one was thrown back, from frame 14 on."""
    (found,) = (one for one in scored().policy.watch_first if "setback" in one.reason)
    assert named([found.episode]) == ["thrown back"]
    assert 14 <= found.frame <= 17


def test_events_stand_where_their_episodes_do():
    found = events_of(table_of_values(recorded()), recorded())
    kinds = [[event.kind for event in events] for events in found]
    assert [EventKind.GOAL in kind for kind in kinds] == [False, True, True, False, False, False]
    assert [EventKind.SETBACK in kind for kind in kinds] == [False] * 5 + [True]
    assert found[1][-1].frame == 20


def test_outcomes_are_those_of_all_episodes():
    policy = scored().policy
    assert (policy.success.count, policy.success.total) == (2, 6)
    assert (policy.num_time_out, policy.num_failure) == (3, 1)
    assert policy.steps.median.value == 22
    # Two successes, and of three time-outs the half that looks near enough.
    assert policy.more_time.twice.rate.value == pytest.approx((2 + 3 * 0.5) / 6)


def test_scores_are_those_of_held_out_episodes():
    """The usual steps are the 24 of the slower success; the longest episode, a learned one, has 44.

    Nearer than 21 in the held-out success: all of td, the last 11 of mc. Further than 24 in the
    others: all 41 frames of one, 7 + 10 + 9 of the other.
    """
    found = scored()
    assert (found.standard_horizon, found.time_limit, found.num_held_out) == (24, 44, 3)
    td, mc = (found.cards[method] for method in ("td", "mc"))
    assert [score.value for score in td["success"].by_seed] == [1, 1]
    assert [score.value for score in mc["success"].by_seed] == [11 / 21] * 2
    assert td["failure"].over_seeds.mean.value == pytest.approx(67 / 82)
    # Learned: 0 to 23 before the goal, 24 not counted, 90 and never elsewhere: split at 23.5.
    assert td["composite_at_threshold"].over_seeds.mean.value == pytest.approx((1 + 67 / 82) / 2)
    assert scored(horizon=30).standard_horizon == 30


def test_without_common_training_episodes_there_is_no_threshold():
    found = scored(training=None)
    reason = found.cards["td"]["composite_at_threshold"].over_seeds.mean.reason
    assert reason == "no episode was only learned from"
    assert found.one_sided_tasks == ()


def test_chances_are_judged_where_the_clock_left_enough_time():
    """The clock of all is that of the time-outs, 41 frames, though a success took 45.

    Of each the first 41 - 24 frames count. In a time-out td says within 24 steps in frames 7 to
    14, and is wrong.
    """
    found = scored().calibration["td"]
    assert found.num_frames == 17 + 17 + 17
    assert found.brier.value == pytest.approx(8 / 51)
    # The success begins with 20 steps to go and td says 20: within 20. Frames 8 to 14 are wrong.
    exactly = scored(horizon=20).calibration["td"]
    assert exactly.num_frames == 21 + 21 + 21
    assert exactly.brier.value == pytest.approx(7 / 63)
    # With 30 more steps on the clock: the first 41 - 30.
    assert scored(horizon=30).calibration["td"].num_frames == 11 + 11 + 11


def test_chances_are_weighed_for_what_the_clock_hid():
    """Of 103 frames the last 24 of both time-outs are cut off within 24 steps.

    One frame of each time-out is cut off after 0, 1, ... 23 steps, and one of the success ends
    there after 0 to 20: of 103, 100, ... frames one ends and two of the rest are cut off.
    """
    left, seen, weights = 103, 1.0, []
    for step in range(25):
        weights.append(1 / seen)
        ends = step <= 20
        seen *= 1 - 2 / (left - ends)
        left -= 2 + ends
    success = sum(weights[:21])
    # In the other two the first 17 frames were seen for 24 steps; td is wrong in 8 of them.
    expected = 8 * weights[24] / (success + 34 * weights[24])
    card = scored().cards["td"]
    assert card["brier"].over_seeds.mean.value == pytest.approx(expected)
    share = success / (success + 34 * weights[24])
    found = card["brier_of_base_rate"].over_seeds.mean.value
    assert found == pytest.approx(share * (1 - share))


def test_methods_are_tested_where_every_seed_has_a_score():
    found = scored()
    assert list(found.tests) == [
        "success",
        "failure",
        "composite",
        "frame_auroc",
        "episode_auroc",
        "spearman",
    ]
    assert found.tests["success"].pair("td", "mc").difference == pytest.approx(10 / 21)
    assert found.tests["success"].pair("td", "mc").differs
    assert not found.tests["spearman"].pair("td", "mc").differs
    assert scored(num_seeds=1).tests == {}


def test_a_score_that_a_seed_lacks_is_not_tested():
    """One seed of mc says the same everywhere, which orders nothing."""
    rollouts = recorded()
    values = table_of_values(rollouts)
    values.steps_to_goal[1, 0] = 7
    chances, events = chances_of(values, rollouts), events_of(values, rollouts)
    found = score_values(values, chances, rollouts, HELD_OUT, None, None, events)
    assert found.cards["mc"]["spearman"].by_seed[0].reason == "all predictions are equal"
    assert "spearman" not in found.tests
    assert "frame_auroc" in found.tests


def test_one_method_is_compared_with_none():
    rollouts = recorded()
    values = table_of_values(rollouts)
    alone = replace(values, methods=("td",), steps_to_goal=values.steps_to_goal[:1])
    events = events_of(alone, rollouts)
    chances = chances_of(alone, rollouts)
    assert score_values(alone, chances, rollouts, HELD_OUT, None, None, events).tests == {}


def test_episodes_of_one_frame_have_a_horizon_of_one_step_and_no_clock():
    rollouts = goalward.Rollouts(
        [Episode("0", 1, Outcome.SUCCESS, goal_frame=0), Episode("1", 1, Outcome.TIME_OUT)]
    )
    steps = np.array([[[0.0, 1.0]]], dtype=np.float32)
    values = ValueTable(("td",), (0,), ("0", "1"), ("", ""), np.array([1, 2]), -steps, steps)
    chances = chances_of(values, rollouts)
    found = score_values(values, chances, rollouts, np.ones(2, bool), None, None, ((), ()))
    assert (found.standard_horizon, found.time_limit) == (1, 1)
    # Once more of no steps at all is no time.
    assert found.policy.more_time.late == ()
    assert found.policy.more_time.twice.rate.reason == "time-outs of a single frame have no clock"


def test_a_task_learned_from_one_side_is_named():
    """What was held out does not count: a success of `sweep` was, but not learned from."""
    tasks = ("push", "sweep", "push", "push", "sweep", "sweep")
    assert scored(tasks=tasks).one_sided_tasks == ("sweep",)
    assert scored().one_sided_tasks == ()


def test_the_usual_steps_hold_nine_of_ten_successes():
    steps = np.arange(10, 31)
    lengths = np.append(steps + 1, 90)
    assert usual_steps(Endings(np.cumsum(lengths), np.append(steps, -1))) == 28
    assert usual_steps(Endings(np.array([50, 90]), np.array([-1, -1]))) == 49
    for goal in (0, -1):
        assert usual_steps(Endings(np.array([1]), np.array([goal]))) == 1
