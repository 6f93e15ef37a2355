"""TD targets, their fixed point on recorded episodes, and the steps they stand for."""

import numpy as np
import pytest

from goalward.targets.exact import exact_td
from goalward.targets.td import steps_from_td, td_target

ENDS = np.array([4, 7])
AT_GOAL = np.array([0, 0, 0, 1, 0, 0, 0], dtype=bool)
AT_END = np.array([0, 0, 0, 1, 0, 0, 1], dtype=bool)


def test_target():
    target = td_target(np.array([0.0, -0.5, 7.0, 7.0]), AT_GOAL[1:5], AT_END[1:5], 0.9, 200)
    np.testing.assert_allclose(target, [-0.005, -0.455, 0.0, -0.005 + 6.3])


def test_a_time_out_costs_the_normaliser():
    target = td_target(np.array([0.3]), np.array([False]), np.array([True]), 0.99, 250)
    assert target == -1


def test_exact_values():
    """1 + 0.9 + 0.81 = 2.71 over 20; the time-out decays from -1 by 0.9 V - 0.05."""
    value = exact_td(ENDS, AT_GOAL, 0.9, 20)
    np.testing.assert_allclose(value, [-0.1355, -0.095, -0.05, 0, -0.905, -0.95, -1])


def test_exact_value_is_the_fixed_point():
    value = exact_td(ENDS, AT_GOAL, 0.97, 20)
    next_value = np.append(value[1:], np.nan)
    np.testing.assert_allclose(td_target(next_value, AT_GOAL, AT_END, 0.97, 20), value)


@pytest.mark.parametrize(("discount", "normaliser"), [(0.999, 250), (0.995, 200), (0.99, 200)])
def test_steps_undo_the_values_of_the_papers_three_tasks(discount, normaliser):
    at_goal = np.arange(301) == 300
    value = exact_td(np.array([301]), at_goal, discount, normaliser)
    steps = steps_from_td(value, discount, normaliser)
    np.testing.assert_allclose(steps, np.arange(300, -1, -1), atol=1e-8)


def test_steps_past_the_invertible_range_are_infinite():
    """At 0.99 and 200 no number of steps costs more than 0.5, so every time-out reads as never."""
    value = exact_td(np.array([300]), np.zeros(300, dtype=bool), 0.99, 200)
    assert (steps_from_td(value, 0.99, 200) == np.inf).all()
    np.testing.assert_array_equal(steps_from_td(np.array([0.2, 0.0]), 0.99, 200), [0, 0])


def test_a_time_out_reads_as_many_steps_where_the_range_is_wide():
    """LIBERO: 1 / (1 - 0.999) / 250 = 4, so -1 is log(0.75) / log(0.999) steps."""
    assert steps_from_td(np.array([-1.0]), 0.999, 250) == pytest.approx(287.538, abs=1e-3)
