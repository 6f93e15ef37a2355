"""The paper's Proposition 1 on chains small enough to enumerate.

    V(s) <= E[min(l(s), V(s'))] <= V(s) + sigma_Y,   V(s) = E[min over the trajectory of l]

with sigma_Y the mean over s' of the standard deviation of Y = min over k >= 1 of l.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def distribution_of_minimum(transition, target_function):
    """levels and P(min over k >= 0 of l = level | s), by dynamic programming from the last state.

    States are ordered: a state leads to later ones only, or to itself for ever.
    """
    levels = np.unique(target_function)
    chance = np.zeros((len(target_function), len(levels)))
    for state in reversed(range(len(target_function))):
        if transition[state, state] == 1:
            chance[state] = levels == target_function[state]
            continue
        landing = np.searchsorted(levels, np.minimum(target_function[state], levels))
        np.add.at(chance[state], landing, transition[state] @ chance)
    return levels, chance


def both_sides(transition, target_function):
    """V, E[min(l, V')], the fixed point of that operator, and sigma_Y, one number per state."""
    levels, chance = distribution_of_minimum(transition, target_function)
    value = chance @ levels
    spread = np.sqrt(np.maximum(chance @ levels**2 - value**2, 0))
    one_step = expected_backup(transition, target_function, value)
    fixed_point = value
    for _ in target_function:
        fixed_point = expected_backup(transition, target_function, fixed_point)
    return value, one_step, fixed_point, transition @ spread


def expected_backup(transition, target_function, value):
    return (transition * np.minimum(target_function[:, None], value)).sum(axis=1)


def random_chain(seed, num_states, sparse):
    rng = np.random.default_rng(seed)
    transition = np.triu(rng.exponential(size=(num_states, num_states)) ** 3, k=1)
    transition[-1, -1] = 1
    transition /= transition.sum(axis=1, keepdims=True)
    target_function = rng.uniform(-1, 1, size=num_states)
    return transition, np.sign(target_function) if sparse else target_function


def test_one_step_by_hand():
    """s0 (l = -0.5) leads to s1 (l = 0), which leads to a goal (-1) or to nothing (1).

    From s1 the minimum is -1 or 0: V(s1) = -0.5, standard deviation 0.5. So
    V(s0) = mean of -1 and -0.5 = -0.75, while min(l(s0), V(s1)) = -0.5: too high by 0.25.
    """
    transition = np.array([[0, 1, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    value, one_step, fixed_point, sigma = both_sides(transition, np.array([-0.5, 0, -1, 1]))
    np.testing.assert_allclose(value, [-0.75, -0.5, -1, 1])
    np.testing.assert_allclose(one_step, [-0.5, -0.5, -1, 1])
    np.testing.assert_allclose(fixed_point, [-0.5, -0.5, -1, 1])
    np.testing.assert_allclose(sigma, [0.5, 0, 0, 0])


@given(st.integers(0, 2**32 - 1), st.integers(2, 9))
@settings(deadline=None)
def test_one_step_inequality_and_its_bound(seed, num_states):
    value, one_step, _, sigma = both_sides(*random_chain(seed, num_states, sparse=False))
    assert (value <= one_step + 1e-12).all()
    assert (one_step - value <= sigma + 1e-7).all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 9))
@settings(deadline=None)
def test_fixed_point_is_never_below_the_true_value(seed, num_states):
    transition, target_function = random_chain(seed, num_states, sparse=False)
    value, one_step, fixed_point, _ = both_sides(transition, target_function)
    again = expected_backup(transition, target_function, fixed_point)
    np.testing.assert_allclose(again, fixed_point)
    assert (value <= fixed_point + 1e-12).all()
    assert (one_step <= fixed_point + 1e-12).all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 9))
@settings(deadline=None)
def test_a_sparse_target_function_leaves_no_gap(seed, num_states):
    """min(1, V') = V' and min(-1, V') = -1: the pessimism comes with the bootstrap alone."""
    value, _, fixed_point, _ = both_sides(*random_chain(seed, num_states, sparse=True))
    np.testing.assert_allclose(fixed_point, value, atol=1e-12)


def test_the_bound_is_for_one_step_and_not_for_the_fixed_point():
    """Gaps add up along a trajectory: here the fixed point is off by more than sigma_Y.

    Four times over, a state with l = -15/16, -7/8, -3/4, -1/2 leads to the toss of a coin
    (l = 1): the goal, or the next such state; after the fourth toss comes l = 0. Every l is
    what the fixed point expects of the coin behind it, so the fixed point at the start is
    -15/16. But 15 of 16 trajectories reach the goal and the last has seen -15/16: the true value
    is -15/16 - 15/256. Behind the first state Y is -1 (15 of 16) or -7/8.
    """
    target_function = np.array([-15 / 16, 1, -7 / 8, 1, -3 / 4, 1, -1 / 2, 1, 0, -1])
    transition = np.zeros((10, 10))
    transition[[0, 2, 4, 6, 8, 9], [1, 3, 5, 7, 8, 9]] = 1
    transition[[1, 3, 5, 7], [2, 4, 6, 8]] = 0.5
    transition[[1, 3, 5, 7], 9] = 0.5
    value, one_step, fixed_point, sigma = both_sides(transition, target_function)
    assert value[0] == pytest.approx(-15 / 16 - 15 / 256)
    assert fixed_point[0] == pytest.approx(-15 / 16)
    assert sigma[0] == pytest.approx(1 / 8 * np.sqrt(15 / 256))
    assert one_step[0] - value[0] <= sigma[0] < fixed_point[0] - value[0]


def test_chain_enumeration_agrees_with_sampling():
    transition, target_function = random_chain(3, 5, sparse=False)
    rng = np.random.default_rng(0)
    state = np.zeros(20_000, dtype=int)
    lowest = np.full(20_000, target_function[0])
    for _ in range(5):
        chosen = rng.uniform(size=(20_000, 1)) < transition[state].cumsum(axis=1)
        state = chosen.argmax(axis=1)
        lowest = np.minimum(lowest, target_function[state])
    value, *_ = both_sides(transition, target_function)
    assert lowest.mean() == pytest.approx(value[0], abs=0.02)
