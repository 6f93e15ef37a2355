"""Events on curves that were made for it: what happened, and when, is known."""

import time

import numpy as np
import pytest

from goalward.errors import GoalwardError
from goalward.values.events import Event, EventKind, EventRules, event_words, find_events

CEILING = 200
SETBACK, RECOVERY, STALL, NO_RETURN, GOAL = EventKind


def down(start, end):
    """One step nearer at each frame."""
    return np.arange(start, end, -1.0)


def flat(level, num_frames):
    return np.full(num_frames, float(level))


def found(*parts, goal=None, seeds=1, **options):
    steps = np.tile(np.concatenate(parts), (seeds, 1))
    return find_events(steps, goal, ceiling=CEILING, **options)


def kinds(events):
    return [event.kind for event in events]


def test_an_even_approach_has_nothing_but_its_goal():
    events = found(down(150, -1), goal=150)
    assert events == (Event(GOAL, 150, 150, 150, 0.0, 0.0, 1.0),)


def test_a_drop_is_a_setback_where_it_happened():
    (setback,) = found(down(150, 50), down(150, 90))
    assert setback.kind is SETBACK
    assert setback.frame == 100
    assert (setback.start, setback.end) == (99, 100)
    # Smoothed over seven frames, neither side of the drop is quite as it was.
    assert setback.steps_before == pytest.approx(51, abs=5)
    assert setback.steps_after == pytest.approx(150, abs=5)
    assert setback.agreement == 1.0


def test_less_than_a_fifth_of_the_ceiling_is_no_setback():
    assert SETBACK not in kinds(found(down(150, 60), down(97, 20)))
    assert kinds(found(down(150, 60), down(107, 20))) == [SETBACK, RECOVERY]


def test_an_outlier_shorter_than_half_the_window_is_none():
    assert found(down(150, 60), flat(200, 3), down(57, 0)) == ()
    assert kinds(found(down(150, 60), flat(200, 9), down(51, 0))) == [SETBACK, RECOVERY]


def test_a_setback_goes_on_until_a_tenth_of_the_ceiling_is_regained():
    """60 lost, 10 regained, 40 lost: one. 60 lost, 30 regained, 50 lost: two."""
    one = found(down(100, 40), down(100, 90), down(130, 100))
    assert kinds(one) == [SETBACK]
    assert (one[0].start, one[0].end) == (59, 70)
    two = found(down(100, 40), down(100, 70), down(120, 100))
    assert kinds(two) == [SETBACK, SETBACK]


def test_a_setback_starts_where_a_plateau_ends():
    events = found(down(80, 50), flat(50, 40), flat(120, 40))
    (setback,) = [event for event in events if event.kind is SETBACK]
    assert (setback.start, setback.frame, setback.end) == (69, 70, 70)


def test_a_recovery_regains_three_quarters():
    setback, recovery = found(down(150, 50), down(150, 50))
    assert recovery.kind is RECOVERY
    assert recovery.start == setback.end
    lost = setback.steps_after - setback.steps_before
    assert recovery.steps_after == pytest.approx(setback.steps_after - 0.75 * lost, abs=1)
    assert kinds(found(down(150, 50), down(150, 90))) == [SETBACK]


def test_two_setbacks_made_good_at_once_have_one_recovery():
    events = found(down(100, 40), down(100, 70), down(120, 119), flat(120, 6), flat(20, 20))
    assert kinds(events) == [SETBACK, SETBACK, RECOVERY]


def test_a_stall_is_a_fifth_of_the_ceiling_without_progress():
    assert kinds(found(down(120, 80), flat(80, 28), down(80, 0))) == []
    (stall,) = found(down(120, 80), flat(80, 50), down(80, 0))
    # The first frames of an even approach are nearer by less than what counts as progress.
    assert (stall.kind, stall.frame, stall.start, stall.end) == (STALL, 40, 40, 99)
    assert stall.steps_before == 80


def test_noise_is_no_progress():
    draws = np.random.default_rng(1)
    steps = np.concatenate([down(120, 80), draws.normal(80, 5, 60), flat(60, 1), down(60, 0)])
    (stall,) = [event for event in found(steps) if event.kind is STALL]
    assert stall.start in range(30, 45)
    assert stall.end in range(95, 105)


def test_a_single_frame_is_no_stall():
    (event,) = find_events(np.array([[3.0]]), goal_frame=0, ceiling=1)
    assert event.kind is GOAL
    assert find_events(np.array([[3.0]]), goal_frame=None, ceiling=1) == ()


def test_after_a_setback_that_is_not_made_good_it_may_stall():
    assert kinds(found(down(100, 20), flat(110, 60))) == [SETBACK, STALL]


def test_lost_for_good_is_a_point_of_no_return_but_not_before_a_goal():
    parts = (down(150, 60), flat(np.inf, 40))
    setback, lost = found(*parts)
    assert (setback.kind, lost.kind) == (SETBACK, NO_RETURN)
    assert lost.frame == setback.frame == 90
    assert NO_RETURN not in kinds(found(*parts, goal=129))


def test_what_looks_near_once_more_was_not_lost():
    assert NO_RETURN not in kinds(found(down(150, 60), flat(200, 40), flat(100, 10)))


def test_what_never_looked_near_cannot_be_lost():
    assert NO_RETURN not in kinds(found(flat(150, 30), flat(200, 60)))


def test_the_last_frames_are_no_point_of_no_return():
    """Fewer frames than a tenth of the ceiling: nobody knows what would have followed."""
    assert NO_RETURN not in kinds(found(down(150, 60), flat(200, 18)))
    assert NO_RETURN in kinds(found(down(150, 60), flat(200, 22)))


def test_seeds_must_agree():
    """Two of five see a drop to the ceiling: the mean loses a quarter of it, and it is no event."""
    calm, drop = down(150, 30), np.concatenate([down(150, 50), flat(200, 20)])
    two = np.stack([drop, drop, calm, calm, calm])
    three = np.stack([drop, drop, drop, calm, calm])
    assert find_events(two, None, ceiling=CEILING) == ()
    (event,) = find_events(three, None, ceiling=CEILING)
    assert (event.kind, event.agreement) == (SETBACK, 0.6)


def test_frames_after_the_goal_are_not_looked_at():
    approach = down(100, -1)
    assert found(approach, flat(200, 80), goal=100) == found(approach, goal=100)


@pytest.mark.parametrize("num_frames", [1, 2, 3])
def test_very_short_episodes(num_frames):
    assert found(flat(np.inf, num_frames)) == ()
    assert kinds(found(flat(9, num_frames), goal=num_frames - 1)) == [GOAL]


def test_never_is_as_far_as_the_ceiling():
    assert found(flat(np.inf, 100))[0].steps_before == CEILING
    assert found(down(150, 60), flat(np.inf, 9)) == found(down(150, 60), flat(CEILING, 9))


def test_nan_is_an_error():
    with pytest.raises(GoalwardError, match="frame 1 are not a number"):
        find_events(np.array([[3.0, np.nan]]), None, ceiling=CEILING)


@pytest.mark.parametrize(
    ("steps", "goal", "ceiling"),
    [
        (np.zeros(3), None, 10),
        (np.zeros((0, 3)), None, 10),
        (np.zeros((1, 0)), None, 10),
        (np.zeros((1, 3)), 3, 10),
        (np.zeros((1, 3)), None, 0),
        (np.zeros((1, 3)), None, np.inf),
    ],
)
def test_what_cannot_be_is_refused(steps, goal, ceiling):
    with pytest.raises(ValueError, match=r"steps must be|goal frame is|ceiling must be"):
        find_events(steps, goal, ceiling=ceiling)


def test_rules_can_be_changed():
    parts = (down(150, 60), down(97, 20))
    assert SETBACK in kinds(found(*parts, rules=EventRules(setback=0.1)))


def test_slips_among_noise_are_found_and_nothing_else():
    """100 episodes of 5 seeds, noise of a tenth of what is left; half of them slip by 70 to 90."""
    draws = np.random.default_rng(3)
    hits = misses = false = 0
    delays = []
    for number in range(100):
        slip = int(draws.integers(90, 150)) if number % 2 else None
        truth = down(200, 0)
        if slip is not None:
            truth = np.concatenate([truth[:slip], truth[slip - int(draws.integers(70, 91)) :]])
        # One error for all seeds and one for each.
        shared, own = draws.normal(0, 0.07, len(truth)), draws.normal(0, 0.1, (5, len(truth)))
        steps = truth * (1 + shared + own)
        marks = [e.frame for e in find_events(steps, None, ceiling=200) if e.kind is SETBACK]
        near = [] if slip is None else [mark - slip for mark in marks if abs(mark - slip) <= 5]
        hits += len(near[:1])
        misses += slip is not None and not near
        false += len(marks) - len(near[:1])
        delays += near[:1]
    assert (hits + misses, false) == (50, 0)
    assert hits >= 49
    assert abs(np.median(delays)) <= 1


def test_a_thousand_episodes_take_seconds_and_a_long_one_less():
    draws = np.random.default_rng(0)
    steps = draws.uniform(0, 300, (5, 250))
    started = time.process_time()
    for _ in range(100):
        find_events(steps, None, ceiling=249)
    find_events(draws.uniform(0, 6000, (5, 5000)), None, ceiling=4999)
    assert time.process_time() - started < 2


def test_events_in_words():
    at = {"frame": 5, "start": 4, "end": 84, "agreement": 1.0}
    event = {
        kind: Event(kind=kind, steps_before=40.4, steps_after=180.0, **at) for kind in EventKind
    }
    assert event_words(event[SETBACK]) == "setback: 40 to 180 steps to go"
    assert event_words(event[SETBACK], ceiling=180) == "setback: 40 to 180 or more steps to go"
    assert event_words(event[RECOVERY]) == "recovery: 40 back to 180 steps to go"
    assert event_words(event[STALL]) == "stall: 81 frames at 40 steps to go"
    assert event_words(event[NO_RETURN]).startswith("point of no return: 40 to 180 steps to go")
    assert event_words(event[GOAL]) == "goal"
