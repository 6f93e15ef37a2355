"""Returns to go and the steps they stand for."""

import numpy as np

from goalward.targets.monte_carlo import monte_carlo_return, steps_from_return


def test_success_counts_its_steps_and_a_time_out_half_the_normaliser_more():
    at_goal = np.array([0, 0, 1, 0, 0, 0], dtype=bool)
    value = monte_carlo_return(np.array([3, 6]), at_goal, normaliser=20)
    np.testing.assert_allclose(value, [-0.1, -0.05, 0, -0.6, -0.55, -0.5])
    assert not np.signbit(value[2])


def test_libero_time_out_spans_the_lower_half_of_the_range():
    """250 steps under a normaliser of 500, frame 0 to the last: -1 + 1 / 500 to -1 / 2."""
    value = monte_carlo_return(np.array([250]), np.zeros(250, dtype=bool), normaliser=500)
    np.testing.assert_allclose(value[[0, 125, 249]], [-0.998, -0.748, -0.5])


def test_cloth_folding_time_out_is_clipped():
    """300 steps under a normaliser of 400: the first hundred frames have no room left."""
    value = monte_carlo_return(np.array([300]), np.zeros(300, dtype=bool), normaliser=400)
    assert (value[:100] == -1).all()
    assert value[100] == -(199 + 200) / 400


def test_frames_after_the_goal_cost_nothing():
    at_goal = np.array([0, 1, 0, 0], dtype=bool)
    value = monte_carlo_return(np.array([4]), at_goal, normaliser=10)
    np.testing.assert_allclose(value, [-0.1, 0, 0, 0])


def test_steps_undo_the_return_of_a_success():
    value = monte_carlo_return(np.array([400]), np.arange(400) == 399, normaliser=500)
    np.testing.assert_allclose(steps_from_return(value, 500), np.arange(399, -1, -1))


def test_steps_outside_the_range():
    steps = steps_from_return(np.array([0.5, 0.0, -0.999, -1.0, -1.2, np.nan]), 500)
    np.testing.assert_allclose(steps, [0, 0, 499.5, np.inf, np.inf, np.nan])
    assert not np.signbit(steps[:2]).any()
