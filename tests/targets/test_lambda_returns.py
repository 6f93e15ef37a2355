"""Lambda-returns against the forward view: a weighted sum over how far to follow the recording.

    G(t) = sum over k = 1 .. N of weight_k * (what holds k steps later, seen from here)
    weight_k = (1 - decay) * decay^(k - 1),   and decay^(N - 1) for the last, N steps to the stop

Written as loops over frames and steps, where the source goes backwards over all episodes at once.
"""

import numpy as np
import pytest

from goalward.targets.lambda_returns import lambda_hazard_targets, lambda_return
from goalward.targets.steps import recorded_steps
from goalward.targets.survival import geometric_edges, seen_of_bins

# A success filmed on after its goal, a time-out, one frame at a goal, a failure, a time-out and a
# failure of one frame, a success that ends with its goal.
LENGTHS = np.array([7, 5, 1, 4, 1, 1, 3])
GOALS = np.array([3, -1, 0, -1, -1, -1, 2])
FAILED = np.array([False, False, False, True, False, True, False])
ENDS = np.cumsum(LENGTHS)
NUM_FRAMES = int(ENDS[-1])
EPISODE = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
FRAME = np.arange(NUM_FRAMES) - (ENDS - LENGTHS)[EPISODE]
AT_GOAL = (GOALS[EPISODE] >= 0) & (GOALS[EPISODE] <= FRAME)
# One step per bin, then wide bins; the last edge lies below and above what was recorded.
ALL_EDGES = [
    np.array([0.0, 1, 2, 3, 4, 5, 6]),
    np.array([0.0, 1, 3, 8, 20]),
    np.array([0.0, 2.0]),
]
decays = pytest.mark.parametrize("decay", [0.0, 0.5, 1.0])
all_edges = pytest.mark.parametrize("edges", ALL_EDGES, ids=["single", "wide", "short"])


def weights(decay, num_steps):
    """Of what holds 1, 2, ... and num_steps later."""
    inner = [(1 - decay) * decay**k for k in range(num_steps - 1)]
    return [*inner, decay ** (num_steps - 1)]


def stop_of(episode):
    return GOALS[episode] if GOALS[episode] >= 0 else LENGTHS[episode] - 1


def known_at(frame, predicted, at_goal, at_failure):
    """What holds at a frame: what was recorded where its episode stops, else what is predicted."""
    episode = EPISODE[frame]
    if AT_GOAL[frame]:
        return at_goal
    if FAILED[episode] and FRAME[frame] == stop_of(episode):
        return at_failure
    return predicted


def slow_return(power, discount, decay):
    found = np.empty(NUM_FRAMES)
    for frame in range(NUM_FRAMES):
        left = stop_of(EPISODE[frame]) - FRAME[frame]
        if left <= 0:
            found[frame] = known_at(frame, power[frame], 1.0, 0.0)
            continue
        found[frame] = sum(
            weight * discount**k * known_at(frame + k, power[frame + k], 1.0, 0.0)
            for k, weight in enumerate(weights(decay, left), start=1)
        )
    return found


def slow_by_step(within, edges):
    """P(K <= n) for n = 0, 1, ...: bins with one hazard per step each."""
    found, left_before = [], 1.0
    for b, end in enumerate(edges[1:]):
        width = int(end - edges[b])
        passing = ((1 - within[b]) / left_before) ** (1 / width)
        found += [1 - left_before * passing ** (n + 1) for n in range(width)]
        left_before = 1 - within[b]
    return np.array(found)


def slow_targets(within, edges, decay):
    num_steps, num_bins = int(edges[-1]), len(edges) - 1
    always, never = np.ones(num_steps), np.zeros(num_steps)

    def known(frame):
        return known_at(frame, slow_by_step(within[frame], edges), always, never)

    found = np.zeros((NUM_FRAMES, 2 * num_bins))
    for frame in range(NUM_FRAMES):
        left = stop_of(EPISODE[frame]) - FRAME[frame]
        if left <= 0:
            chance = known(frame)
        else:
            chance = np.zeros(num_steps)
            for k, weight in enumerate(weights(decay, left), start=1):
                later = known(frame + k)
                for n in range(k, num_steps):
                    chance[n] += weight * later[n - k]
        for b in range(num_bins):
            for n in range(int(edges[b]), int(edges[b + 1])):
                found[frame, b] += 1 - chance[n]
                found[frame, num_bins + b] += chance[n] - (chance[n - 1] if n else 0.0)
    return found


def predicted(edges, dtype=np.float64):
    """Some chance of success by the end of every bin, of every frame."""
    rng = np.random.default_rng(3)
    share = rng.uniform(0, 0.6, size=(NUM_FRAMES, len(edges) - 1))
    return (1 - np.cumprod(1 - share, axis=1)).astype(dtype)


@decays
def test_returns_are_those_of_the_forward_view(decay):
    power = np.random.default_rng(0).uniform(size=(2, NUM_FRAMES))
    found = lambda_return(power, ENDS, GOALS, FAILED, 0.8, decay)
    for row in range(2):
        np.testing.assert_allclose(found[row], slow_return(power[row], 0.8, decay), rtol=1e-12)
        alone = lambda_return(power[row], ENDS, GOALS, FAILED, 0.8, decay)
        assert np.array_equal(alone, found[row])


def test_what_is_given_is_left_as_it_is():
    power = np.full(NUM_FRAMES, 0.25)
    lambda_return(power, ENDS, GOALS, FAILED, 0.8, 0.5)
    assert (power == 0.25).all()
    within = predicted(ALL_EDGES[1])
    before = within.copy()
    lambda_hazard_targets(within, ENDS, GOALS, FAILED, ALL_EDGES[1], 0.5)
    assert np.array_equal(within, before)


@decays
@all_edges
def test_targets_are_those_of_the_forward_view(decay, edges):
    within = predicted(edges)
    found = lambda_hazard_targets(within, ENDS, GOALS, FAILED, edges, decay)
    np.testing.assert_allclose(found, slow_targets(within, edges, decay), atol=1e-12)


@decays
@all_edges
def test_targets_are_chances_and_steps(decay, edges):
    """In float32, as trainings have it: nothing below 0, no more than certain, in no bin more
    steps than it has."""
    edges = edges.astype(np.float32)
    within = predicted(edges, np.float32)
    # Sure of success, and sure of none.
    within[1], within[8] = 1.0, 0.0
    found = lambda_hazard_targets(within, ENDS, GOALS, FAILED, edges, decay)
    assert found.dtype == np.float32
    passed, chance = np.split(found, 2, axis=1)
    assert (chance >= -1e-6).all()
    assert (chance.sum(axis=1) <= 1 + 1e-6).all()
    assert (passed >= -1e-5).all()
    assert (passed <= np.diff(edges) + 1e-5).all()


@all_edges
def test_the_recording_alone_is_what_was_seen(edges):
    """Decay 1: a success is its own steps, a failure never; predictions of others play no part."""
    steps, reached = recorded_steps(ENDS, AT_GOAL)
    steps = np.where(reached, steps, np.inf)
    found = lambda_hazard_targets(predicted(edges), ENDS, GOALS, FAILED, edges, decay=1.0)
    known = (GOALS[EPISODE] >= 0) | FAILED[EPISODE]
    np.testing.assert_array_equal(found[known], seen_of_bins(steps, reached, edges)[known])


def test_a_time_out_leaves_the_clock_open():
    """Its frames are worth more where its last frame is; those of other episodes are not."""
    edges = geometric_edges(20, 6)
    dark, bright = np.zeros((NUM_FRAMES, 6)), np.zeros((NUM_FRAMES, 6))
    last = int(ENDS[1]) - 1
    bright[last] = np.linspace(0.3, 0.9, 6)
    before, after = (
        lambda_hazard_targets(within, ENDS, GOALS, FAILED, edges, 1.0) for within in (dark, bright)
    )
    others = EPISODE != 1
    assert np.array_equal(before[others], after[others])
    total = after[~others][:, 6:].sum(axis=1)
    # What lies within 20 steps of the last frame lies within 20 of the frames before it too, but
    # for the last steps.
    assert (total > 0.8).all()
    assert total[-1] == pytest.approx(0.9)
    assert (before[~others][:, 6:] == 0).all()


def test_power_follows_from_the_distribution():
    """E[discount^K] of the targets is the lambda-return of E[discount^K], on one-step bins."""
    edges = np.arange(401.0)
    rng = np.random.default_rng(5)
    hazard = rng.uniform(0.02, 0.3, size=(NUM_FRAMES, 1))
    steps = np.arange(400)
    within = 1 - (1 - hazard) ** (steps + 1)
    power = (hazard * (1 - hazard) ** steps * 0.9**steps).sum(axis=1)
    for decay in (0.0, 0.7, 1.0):
        targets = lambda_hazard_targets(within, ENDS, GOALS, FAILED, edges, decay)
        expected = lambda_return(power, ENDS, GOALS, FAILED, 0.9, decay)
        np.testing.assert_allclose(targets[:, 400:] @ 0.9**steps, expected, atol=1e-7)
