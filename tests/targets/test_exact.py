"""The backward scan against a loop that reads like the definition, and the paper's example."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalward.targets.exact import exact_liveness
from goalward.targets.liveness import (
    liveness_target,
    liveness_value,
    sparse_target_function,
    steps_to_goal,
)


def loop_over_frames(target_function, episode_ends, at_goal, discount, *, open_end=False):
    """One episode after the other, from its last frame to its first."""
    value = np.empty_like(target_function)
    start = 0
    for end in episode_ends:
        goals = np.flatnonzero(at_goal[start:end])
        goal = start + goals[0] if len(goals) else end
        for t in reversed(range(start, end)):
            own = target_function[t]
            after_the_end = own if open_end else 1.0
            next_value = value[t + 1] if t + 1 < end else after_the_end
            backed_up = (1 - discount) + discount * min(own, next_value)
            value[t] = -1.0 if t >= goal else backed_up
        start = end
    return value


@st.composite
def recorded(draw):
    lengths = draw(
        st.lists(st.sampled_from([1, 1, 2, 3, 5, 8, 17, 64, 150]), min_size=1, max_size=8)
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    num_frames = sum(lengths)
    goal_rate = draw(st.sampled_from([0.0, 0.02, 0.3]))
    num_runs = draw(st.integers(1, 3))
    return (
        rng.uniform(-1, 1, size=(num_runs, num_frames)) ** draw(st.sampled_from([1, 3, 2])),
        np.cumsum(lengths),
        rng.uniform(size=num_frames) < goal_rate,
    )


@given(recorded(), st.sampled_from([0.05, 0.5, 0.9, 0.993]))
@settings(deadline=None, max_examples=60)
def test_scan_agrees_with_the_loop(episodes, discount):
    target_function, ends, at_goal = episodes
    value = exact_liveness(target_function, ends, at_goal, discount)
    for run, by_loop in zip(value, target_function, strict=True):
        expected = loop_over_frames(by_loop, ends, at_goal, discount)
        np.testing.assert_allclose(run, expected, atol=1e-12)


@given(recorded())
@settings(deadline=None, max_examples=20)
def test_an_open_end_changes_nothing_without_generalisation(episodes):
    """min(l, 1) = l = min(l, l): why the scan has no time_out option."""
    target_function, ends, at_goal = episodes
    terminal = loop_over_frames(target_function[0], ends, at_goal, 0.9)
    left_open = loop_over_frames(target_function[0], ends, at_goal, 0.9, open_end=True)
    np.testing.assert_array_equal(terminal, left_open)


@given(recorded())
@settings(deadline=None, max_examples=20)
def test_value_is_the_fixed_point_of_the_training_target(episodes):
    target_function, ends, at_goal = episodes
    value = exact_liveness(target_function, ends, at_goal, 0.9)
    next_value = np.roll(value, -1, axis=-1)
    at_end = np.isin(np.arange(len(at_goal)) + 1, ends)
    again = liveness_target(target_function, next_value, value[0] == -1, at_end, 0.9)
    np.testing.assert_allclose(again, value, atol=1e-12)


def test_a_discount_per_run_and_inputs_left_as_they_were():
    target_function = np.ones((2, 3))
    at_goal = np.array([False, False, True])
    value = exact_liveness(target_function, np.array([3]), at_goal, np.array([[0.9], [0.5]]))
    np.testing.assert_allclose(value, [[-0.62, -0.8, -1], [0.5, 0, -1]])
    assert (target_function == 1).all()


def test_target_functions_beyond_the_range_of_values():
    """A network may overshoot: above 1 is never all the same, and a goal stays -1."""
    target_function = np.array([-1.5, 3.0, -1.0, 3.0])
    at_goal = np.array([False, False, True, False])
    value = exact_liveness(target_function, np.array([3, 4]), at_goal, 0.9)
    np.testing.assert_allclose(value, [0.1 - 1.35, -0.8, -1, 1])


def test_no_frames():
    nothing = np.zeros((2, 0))
    ends, at_goal = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
    assert exact_liveness(nothing, ends, at_goal, 0.9).shape == (2, 0)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-6)])
@pytest.mark.parametrize("discount", [0.9, 0.993, 0.9999])
def test_long_episodes_keep_their_digits(dtype, tolerance, discount):
    num_frames = 5000
    at_goal = np.arange(2 * num_frames) == num_frames - 1
    target_function = sparse_target_function(at_goal).astype(dtype)
    ends = np.array([num_frames, 2 * num_frames])
    value = exact_liveness(target_function, ends, at_goal, discount)
    steps = np.arange(num_frames - 1.0, -1.0, -1.0)
    assert value.dtype == dtype
    np.testing.assert_allclose(value[:num_frames], liveness_value(steps, discount), atol=tolerance)
    assert (value[num_frames:] == 1).all()

    noisy = np.random.default_rng(0).uniform(-0.2, 1, size=2 * num_frames)
    value = exact_liveness(noisy.astype(dtype), ends, at_goal, discount)
    expected = loop_over_frames(noisy, ends, at_goal, discount)
    np.testing.assert_allclose(value, expected, atol=tolerance)


def test_bootstrap_figure_of_the_paper():
    """Three episodes, frame by frame, at discount 0.9.

    Episode 1 (7 frames) is complete at its last two. Episode 2 (6 frames) times out, but its
    third state is the fourth of episode 1. Episode 3 (6 frames) meets nothing.
    """
    ends = np.array([7, 13, 19])
    at_goal = np.zeros(19, dtype=bool)
    at_goal[[5, 6]] = True

    anchor = exact_liveness(sparse_target_function(at_goal), ends, at_goal, 0.9)
    episode_1 = [-0.18098, -0.3122, -0.458, -0.62, -0.8, -1, -1]
    np.testing.assert_allclose(anchor[:7], episode_1)
    np.testing.assert_array_equal(anchor[7:], 1)

    state_2_3, state_1_4 = 9, 3
    anchor[state_2_3] = anchor[state_1_4]
    value = exact_liveness(anchor, ends, at_goal, 0.9)
    # What precedes a goal keeps its value. The shared state is one step worse than its anchor,
    # -0.458 and not -0.62, because the backup discounts the target function too.
    np.testing.assert_allclose(value[:7], episode_1)
    np.testing.assert_allclose(value[7:13], [-0.18098, -0.3122, -0.458, 1, 1, 1])
    np.testing.assert_array_equal(value[13:], 1)
    np.testing.assert_allclose(steps_to_goal(value[7:11], 0.9), [5, 4, 3, np.inf])


def test_a_million_frames_in_five_runs():
    """A guard against loops over frames; on two cores it takes well under a second."""
    rng = np.random.default_rng(0)
    ends = np.append(np.arange(250, 1_000_000, 250), 1_000_000)
    at_goal = np.zeros(1_000_000, dtype=bool)
    at_goal[ends[::2] - 1] = True
    target_function = rng.uniform(-1, 1, size=(5, 1_000_000))
    start = time.perf_counter()
    exact_liveness(target_function, ends, at_goal, 0.993)
    assert time.perf_counter() - start < 10
