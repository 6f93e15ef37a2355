"""Advantages: literal numbers, and the sums that RLinf describes, added up one by one."""

import numpy as np
import pytest

from goalward.errors import GoalwardError
from goalward.exports.advantages import WorthScale, episode_advantages
from goalward.rollouts.endings import Endings
from goalward.rollouts.episode import Outcome
from goalward.values.hindsight import hindsight_values

STEPS = WorthScale.of("steps", discount=0.5, ceiling=10)
VALUE = WorthScale.of("value", discount=0.5, ceiling=10)


def advantages(steps, outcome, goal_frame=None, *, scale=STEPS, n=None, decay=None):
    worth = scale.worth(np.array(steps, dtype=float))
    return episode_advantages(worth, Outcome(outcome), goal_frame, scale=scale, n=n, decay=decay)


def test_steps_gained_on_the_clock():
    found = advantages([9, 4, 6, 1, 0], "success", 4, n=1)
    # 9 - 1 - 4, 4 - 1 - 6, 6 - 1 - 1, 1 - 1 - 0, and nothing to gain at the goal.
    assert found.advantage.tolist() == [4, -3, 4, 0, 0]
    assert found.num_valid_rewards.tolist() == [1, 1, 1, 1, 1]
    found = advantages([9, 4, 6, 1, 0], "success", 4, n=2)
    assert found.advantage.tolist() == [9 - 2 - 6, 4 - 2 - 1, 6 - 2 - 0, 1 - 1, 0]
    assert found.num_valid_rewards.tolist() == [2, 2, 2, 2, 1]


def test_to_the_end_of_a_success_is_what_was_predicted_less_what_it_took():
    found = advantages([9, 4, 6, 1, 5], "success", 4)
    assert found.advantage.tolist() == [9 - 4, 4 - 3, 6 - 2, 1 - 1, 0]
    assert found.outcome.tolist() == [-4, -3, -2, -1, 0]
    assert found.worth_next.tolist() == [0] * 5
    assert found.num_valid_rewards.tolist() == [5, 4, 3, 2, 1]


def test_the_clock_stops_at_the_goal_and_what_was_predicted_after_it_does_not_count():
    found = advantages([3, 2, 7, 9, 9], "success", 1, n=2)
    assert found.advantage.tolist() == [2, 0, 0, 0, 0]
    assert found.outcome.tolist() == [-1, 0, 0, 0, 0]
    assert found.worth.tolist() == [-3, 0, 0, 0, 0]
    assert found.is_open.tolist() == [True, False, False, False, False]


def test_a_time_out_rests_on_its_last_prediction():
    found = advantages([6, 6, 4], "time_out")
    assert found.advantage.tolist() == [6 - 2 - 4, 6 - 1 - 4, 0]
    assert found.outcome.tolist() == [-6, -5, -4]
    # One step ahead, the frame before the last says the same.
    assert advantages([6, 6, 4], "time_out", n=1).advantage.tolist() == [-1, 1, 0]


def test_a_failure_ends_in_never():
    found = advantages([6, 6, 4], "failure")
    assert found.advantage.tolist() == [6 - 2 - 10, 6 - 1 - 10, 0]
    assert advantages([6, 6, 4], "failure", n=1).advantage.tolist() == [-1, 6 - 1 - 10, 0]


def test_never_is_the_ceiling_and_standing_still_there_costs_the_clock():
    found = advantages([np.inf, 30, 10, 10, 10], "time_out", n=2)
    assert found.advantage.tolist() == [-2, -2, -2, -1, 0]
    assert np.isfinite(found.outcome).all()


def test_in_value():
    found = advantages([3, 1, 2, 0], "success", 3, scale=VALUE, n=1)
    # discount p(t + 1) - p(t) with p = 1/8, 1/2, 1/4, 1.
    assert found.advantage.tolist() == [1 / 4 - 1 / 8, 1 / 8 - 1 / 2, 1 / 2 - 1 / 4, 0]
    value = 1 - 2 * 0.5 ** np.array([3, 1, 2, 0])
    half = (value[:-1] - (1 - 0.5) - 0.5 * value[1:]) / 2
    assert found.advantage[:-1].tolist() == half.tolist()
    to_the_end = advantages([3, 1, 2, 0], "success", 3, scale=VALUE)
    assert to_the_end.advantage.tolist() == [0, 1 / 4 - 1 / 2, 1 / 2 - 1 / 4, 0]
    failed = advantages([3, 1, 2], "failure", scale=VALUE)
    assert failed.outcome.tolist() == [-1, -1, -1]
    assert failed.advantage.tolist() == [-1 / 8, -1 / 2, 0]


@pytest.mark.parametrize("scale", [STEPS, VALUE])
@pytest.mark.parametrize("n", [1, 2, 5, 100, None])
def test_who_knows_the_future_is_never_surprised(scale, n):
    found = advantages([4, 3, 2, 1, 0, 0, 0], "success", 4, scale=scale, n=n)
    assert found.advantage == pytest.approx(np.zeros(7), abs=1e-12)
    found = advantages([9, 8, 7, 6], "time_out", scale=scale, n=n)
    assert found.advantage == pytest.approx(np.zeros(4), abs=1e-12)


@pytest.mark.parametrize("scale", [STEPS, VALUE])
@pytest.mark.parametrize("n", [1, 3, 8, 9, 40])
@pytest.mark.parametrize(
    ("outcome", "goal_frame"),
    [("success", 8), ("success", 3), ("time_out", None), ("failure", None)],
)
def test_the_sums_of_rlinf(scale, n, outcome, goal_frame):
    """reward_sum = sum of discounted rewards up to n, A = reward_sum + discount^valid V' - V."""
    draws = np.random.default_rng(n)
    found = advantages(draws.uniform(0, 14, 9), outcome, goal_frame, scale=scale, n=n)
    rewards = [scale.reward] * 9
    if outcome == "success":
        rewards[goal_frame:] = [0.0] * (9 - goal_frame)
    else:
        rewards[8] = found.worth[8]
    for t in range(9):
        valid = min(n, 9 - t)
        reward_sum = sum(scale.discount**i * rewards[t + i] for i in range(valid))
        value_next = found.worth[t + n] if t + n < 9 else 0.0
        advantage = reward_sum + scale.discount**valid * value_next - found.worth[t]
        everything = sum(scale.discount**i * rewards[t + i] for i in range(9 - t))
        assert found.num_valid_rewards[t] == valid
        assert found.reward_sum[t] == pytest.approx(reward_sum)
        assert found.worth_next[t] == value_next
        assert found.advantage[t] == pytest.approx(advantage)
        assert found.outcome[t] == pytest.approx(everything)


# How an episode ended, its goal frame, and the same as endings.
ENDED = [
    ("success", 8, Endings(np.array([9]), np.array([8]))),
    ("success", 3, Endings(np.array([9]), np.array([3]))),
    ("time_out", None, Endings(np.array([9]), np.array([-1]))),
    ("failure", None, Endings(np.array([9]), np.array([-1]), np.array([True]))),
]


def test_in_hindsight_steps_gained_count_less_the_later_they_come():
    found = advantages([9, 4, 6, 1, 0], "success", 4, decay=0.5)
    # One step ahead: 4, -3, 4, 0; each counts half as much a step earlier.
    assert found.advantage.tolist() == [4 - 1.5 + 1, -3 + 2, 4, 0, 0]
    # Half of what the next frame is worth, half of its hindsight.
    assert found.worth_next.tolist() == [(-4 - 5) / 2, (-6 - 2) / 2, -1, 0, 0]
    assert found.num_valid_rewards.tolist() == [1] * 5
    assert found.reward_sum.tolist() == [-1, -1, -1, -1, 0]
    assert found.outcome.tolist() == [-4, -3, -2, -1, 0]


@pytest.mark.parametrize(("outcome", "goal_frame", "endings"), ENDED)
def test_in_value_it_is_half_of_value_less_hindsight_value(outcome, goal_frame, endings):
    steps = np.random.default_rng(3).uniform(0, 9, 9)
    found = advantages(steps, outcome, goal_frame, scale=VALUE, decay=0.7)
    value = 1 - 2 * 0.5**steps
    hindsight = hindsight_values(value, endings, discount=0.5, decay=0.7)
    # What is known is not predicted: at the goal, after it, and at the end of a failure.
    known = endings.at_goal | (endings.at_end & endings.failures[endings.episode_of])
    assert found.advantage == pytest.approx(np.where(known, 0.0, (value - hindsight) / 2))


@pytest.mark.parametrize("scale", [STEPS, VALUE])
@pytest.mark.parametrize(("outcome", "goal_frame", "_"), ENDED)
def test_no_decay_is_one_step_ahead_and_a_decay_of_one_is_to_the_end(scale, outcome, goal_frame, _):
    steps = np.random.default_rng(4).uniform(0, 14, 9)
    for decay, n in ((0.0, 1), (1.0, None)):
        seen = advantages(steps, outcome, goal_frame, scale=scale, decay=decay).advantage
        ahead = advantages(steps, outcome, goal_frame, scale=scale, n=n).advantage
        assert seen == pytest.approx(ahead, abs=1e-12)


@pytest.mark.parametrize("scale", [STEPS, VALUE])
@pytest.mark.parametrize(("outcome", "goal_frame", "_"), ENDED)
def test_the_sum_of_rlinf_holds_in_hindsight_too(scale, outcome, goal_frame, _):
    steps = np.random.default_rng(5).uniform(0, 14, 9)
    found = advantages(steps, outcome, goal_frame, scale=scale, decay=0.9)
    sums = found.reward_sum + scale.discount**found.num_valid_rewards * found.worth_next
    assert found.advantage == pytest.approx(sums - found.worth)
    following = np.append(found.outcome[1:], 0.0)
    assert found.reward_sum == pytest.approx(found.outcome - scale.discount * following)


def test_who_knows_the_future_is_not_surprised_in_hindsight():
    for scale in (STEPS, VALUE):
        found = advantages([4, 3, 2, 1, 0, 0], "success", 4, scale=scale, decay=0.98)
        assert found.advantage == pytest.approx(np.zeros(6), abs=1e-12)


def test_one_frame():
    assert advantages([3], "time_out", decay=0.9).advantage.tolist() == [0]
    assert advantages([3], "time_out").advantage.tolist() == [0]
    assert advantages([3], "success", 0, n=5).advantage.tolist() == [0]


def test_what_cannot_be():
    with pytest.raises(GoalwardError, match="at least 1 step ahead, got 0"):
        advantages([3, 2], "time_out", n=0)
    with pytest.raises(GoalwardError, match="no unit 'metres'; there are: steps, value"):
        WorthScale.of("metres", discount=0.5, ceiling=10)
