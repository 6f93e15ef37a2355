"""What outcomes and values say of a policy, on examples small enough to check by hand."""

import numpy as np
import pytest

from goalward.metrics.policy_answers import (
    rate,
    steps_to_success,
    worth_watching,
)
from goalward.rollouts.endings import Endings
from goalward.values.events import Event, EventKind, find_events

SETBACK, STALL = EventKind.SETBACK, EventKind.STALL


def endings(*episodes):
    """(length, goal frame or -1, failed) per episode."""
    lengths, goals, failed = zip(*episodes, strict=True)
    return Endings(np.cumsum(lengths), np.array(goals), np.array(failed))


def watched(steps, episodes, ceiling, **options):
    """What is worth watching in the steps of one seed, by the events that are found in them."""
    parts = np.split(steps[None], episodes.episode_ends[:-1], axis=1)
    goals = [None if goal < 0 else int(goal) for goal in episodes.goal_frames]
    events = [
        find_events(part, goal, ceiling=ceiling) for part, goal in zip(parts, goals, strict=True)
    ]
    return worth_watching(steps[None], episodes, events, ceiling=ceiling, **options)


def test_rate_of_nothing_has_a_reason():
    empty = rate(0, 0)
    assert empty.value is None
    assert not empty.interval.defined


def test_steps_to_success_are_those_of_successes():
    found = steps_to_success(endings((11, 10, False), (31, 30, False), (50, -1, False)))
    assert found.median.value == 20
    assert found.quarter.value == 15
    none = steps_to_success(endings((5, -1, False)))
    assert none.median.reason == "no episode succeeded"


def test_what_is_worth_watching_is_found_where_it_happened():
    calm = np.linspace(100, 0, 101)
    slip = np.concatenate([np.linspace(100, 20, 50), np.linspace(90, 0, 51)])
    stall = np.concatenate([np.linspace(100, 60, 20), np.full(81, 60.0)])
    near = np.concatenate([np.linspace(100, 3, 60), np.full(5, 3.0), np.full(36, 100.0)])
    steps = np.concatenate([calm, slip, stall, near])
    episodes = endings((101, 100, False), (101, 100, False), (101, -1, False), (101, -1, False))
    found = {w.episode: w for w in watched(steps, episodes, ceiling=100, num_each=1)}
    assert 0 not in found
    assert found[3].reason == "setback: 3 to 100 or more steps to go"
    assert found[3].frame == 65
    assert found[2].reason == "stall: 84 frames at 64 steps to go"
    assert found[2].frame == 17


def test_one_noisy_frame_is_no_setback():
    steps = np.linspace(100, 0, 101)
    steps[50] = 100
    assert watched(steps, endings((101, 100, False)), ceiling=100) == ()


def test_noise_is_not_worth_watching():
    """A setback of 3 of 100 steps, and a time-out that never looked near."""
    steps = np.concatenate([np.linspace(100, 0, 101), np.linspace(100, 40, 101)])
    steps[40:60] += 3
    assert watched(steps, endings((101, 100, False), (101, -1, False)), ceiling=100) == ()


def test_a_near_miss_is_worth_watching_without_an_event():
    """It comes within 20 of 100 steps, at an even pace, and ends there."""
    (found,) = watched(np.linspace(100, 20, 81), endings((81, -1, False)), ceiling=100)
    assert found.reason == "looked 20 steps from the goal and did not succeed"
    assert found.frame == 80


@pytest.mark.parametrize(("nearest", "named"), [(25, True), (30, False)])
def test_a_miss_is_near_within_a_quarter_of_the_ceiling(nearest, named):
    steps = np.full((1, 30), float(nearest))
    found = worth_watching(steps, endings((30, -1, False)), [()], ceiling=100)
    assert len(found) == named


def test_how_near_a_miss_came_is_the_mean_of_the_seeds():
    """10 and 30, so 20; one seed alone would be nearer, both together further."""
    steps = np.stack([np.full(30, 10.0), np.full(30, 30.0)])
    (found,) = worth_watching(steps, endings((30, -1, False)), [()], ceiling=100)
    assert found.reason == "looked 20 steps from the goal and did not succeed"


def event(kind, start, end, before, after):
    return Event(kind, end, start, end, before, after, agreement=1.0)


def test_an_episode_is_named_once_for_its_strongest_reason_and_two_for_each():
    """Setbacks by the steps they lose, stalls by how long they last, nearest misses first."""
    small, large = event(SETBACK, 0, 9, 10, 40), event(SETBACK, 20, 22, 10, 60)
    short, long = event(STALL, 5, 9, 80, 80), event(STALL, 10, 19, 80, 80)
    found = worth_watching(
        np.repeat([[90.0, 90, 90, 90, 5, 10, 1, 15, 90]], 30, axis=1),
        endings(*[(30, -1, False)] * 6, (30, 29, False), *[(30, -1, False)] * 2),
        # The last of the setbacks is the smallest; the long stall has a large setback as well.
        [(large, small), (small, large, long), (small,), (short, long), (), (), (), (), (short,)],
        ceiling=100,
    )
    assert [(one.episode, one.frame, one.reason.split(":")[0]) for one in found] == [
        (0, 22, "setback"),
        (1, 22, "setback"),
        (3, 19, "stall"),
        (8, 9, "stall"),
        (4, 0, "looked 5 steps from the goal and did not succeed"),
        (5, 0, "looked 10 steps from the goal and did not succeed"),
    ]


def test_the_ceiling_is_not_told_as_a_prediction():
    steps = np.concatenate([np.linspace(90, 10, 50), np.full(50, np.inf)])
    # Smoothed over five frames; ten at the last of them, but twelve two frames before.
    (found,) = watched(steps, endings((100, -1, False)), ceiling=99)
    assert found.reason == "setback: 12 to 99 or more steps to go"
