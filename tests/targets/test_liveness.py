"""The liveness backup, its boundary, its inverse, and the contraction of the paper's Prop. 2."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalward.targets.liveness import (
    liveness_backup,
    liveness_target,
    liveness_value,
    sparse_target_function,
    steps_to_goal,
)


def test_sparse_target_function():
    at_goal = np.array([[False, True], [True, False]])
    np.testing.assert_array_equal(sparse_target_function(at_goal), [[1, -1], [-1, 1]])


def test_backup_takes_the_better_of_frame_and_successor_one_step_later():
    value = liveness_backup(np.array([1.0, -0.5, 0.2]), np.array([0.5, 0.5, 1.0]), 0.9)
    np.testing.assert_allclose(value, [0.1 + 0.45, 0.1 - 0.45, 0.1 + 0.18])


def test_a_discount_per_run():
    discount = np.array([[0.9], [0.5]])
    value = liveness_backup(np.ones((2, 2)), np.array([[-1.0, 0.0], [-1.0, 0.0]]), discount)
    np.testing.assert_allclose(value, [[-0.8, 0.1], [0.0, 0.5]])
    np.testing.assert_allclose(steps_to_goal(value, discount)[:, 0], [1, 1])


def test_target_at_the_boundary():
    """A goal is -1 and not 1 - 2 g; the last frame of a time-out sees V(s') = 1."""
    target = liveness_target(
        target_function=np.array([1.0, -1.0, 0.5, -1.0]),
        next_value=np.array([-1.0, -0.3, -0.9, np.nan]),
        at_goal=np.array([False, True, False, True]),
        at_end=np.array([False, False, True, True]),
        discount=0.9,
    )
    np.testing.assert_allclose(target, [-0.8, -1.0, 0.1 + 0.45, -1.0])


def test_value_before_a_goal_is_the_backup_repeated():
    value = np.array([-1.0])
    for k in range(50):
        np.testing.assert_allclose(liveness_value(np.array([float(k)]), 0.9), value)
        value = liveness_backup(np.array([1.0]), value, 0.9)
    assert liveness_value(np.array([np.inf]), 0.9) == 1


@pytest.mark.parametrize("discount", [0.99, 0.993, 0.999])
def test_steps_undo_the_value(discount):
    steps = np.arange(2001.0)
    back = steps_to_goal(liveness_value(steps, discount), discount)
    np.testing.assert_allclose(back, steps, atol=1e-5)


def test_steps_outside_the_range_of_values():
    value = np.array([-3.0, -1.0, -0.8, 1.0, 1.5, np.nan])
    steps = steps_to_goal(value, 0.9)
    np.testing.assert_allclose(steps, [0, 0, 1, np.inf, np.inf, np.nan])
    assert not np.signbit(steps[:2]).any()


def test_steps_in_float32_reach_as_far_as_the_docstring_says():
    steps = np.array([2300, 2600], dtype=np.float32)
    back = steps_to_goal(liveness_value(steps, 0.993), 0.993)
    assert back[0] < np.inf
    assert back[1] == np.inf


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 0.999))
@settings(deadline=None)
def test_backup_contracts_by_the_discount_in_sup_norm(seed, discount):
    rng = np.random.default_rng(seed)
    target_function, value, other = rng.uniform(-1, 1, size=(3, 40))
    gap = np.abs(
        liveness_backup(target_function, value, discount)
        - liveness_backup(target_function, other, discount)
    )
    assert gap.max() <= discount * np.abs(value - other).max() + 1e-12


def test_contraction_factor_is_reached():
    """Where the target function binds nowhere the factor is the discount, not less."""
    value, other = liveness_backup(np.ones(2), np.array([0.0, -1.0]), 0.9)
    assert value - other == pytest.approx(0.9)
