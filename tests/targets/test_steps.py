"""What a recording says about the number of steps to the goal."""

import numpy as np

from goalward.targets.steps import recorded_steps


def test_success_time_out_and_single_frames():
    ends = np.array([3, 4, 5, 8])
    at_goal = np.array([0, 0, 1, 1, 0, 0, 0, 0], dtype=bool)
    steps, reached = recorded_steps(ends, at_goal)
    np.testing.assert_array_equal(steps, [2, 1, 0, 0, 0, 2, 1, 0])
    np.testing.assert_array_equal(reached, [1, 1, 1, 1, 0, 0, 0, 0])


def test_reaching_the_goal_is_final():
    """Frames after the first goal are at the goal, whether they are marked or not."""
    at_goal = np.array([0, 1, 0, 1, 0, 0], dtype=bool)
    steps, reached = recorded_steps(np.array([5, 6]), at_goal)
    np.testing.assert_array_equal(steps, [1, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(reached, [1, 1, 1, 1, 1, 0])


def test_no_goal_and_no_episode():
    steps, reached = recorded_steps(np.array([3]), np.zeros(3, dtype=bool))
    np.testing.assert_array_equal(steps, [2, 1, 0])
    assert not reached.any()
    steps, reached = recorded_steps(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool))
    assert steps.shape == reached.shape == (0,)
