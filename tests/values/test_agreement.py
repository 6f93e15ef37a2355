"""How many seeds see what the mean over seeds does; numbers that floats hold exactly."""

from dataclasses import replace

import numpy as np
import pytest

from goalward.values.events import EventKind, EventRules, find_events

CEILING = 64
# Shares of the ceiling that are whole steps: 4 make progress, 56 are lost.
RULES = EventRules(window=0.01, stall_progress=4 / 64, lost=56 / 64)


def levels(*seeds, num_frames=10):
    """For every seed its levels in steps, each for so many frames."""
    return np.repeat(np.array(seeds, dtype=np.float64), num_frames, axis=1)


def only(kind, steps, rules=RULES):
    (event,) = [e for e in find_events(steps, None, ceiling=CEILING, rules=rules) if e.kind is kind]
    return event


def kinds(steps, rules=RULES):
    return {event.kind for event in find_events(steps, None, ceiling=CEILING, rules=rules)}


def test_a_recovery_is_seen_by_seeds_that_regained_half_of_what_the_mean_lost():
    """The mean loses 32 and regains 25.4; seeds regain 16, 16, 40, 40 and 15."""
    steps = levels([16, 48, 32], [16, 48, 32], [16, 48, 8], [16, 48, 8], [16, 48, 33])
    recovery = only(EventKind.RECOVERY, steps)
    assert recovery.agreement == 0.8
    assert (recovery.start, recovery.frame, recovery.end) == (10, 20, 20)


def test_a_setback_is_seen_by_seeds_that_lost_as_much_as_a_setback_is():
    """A quarter of the ceiling: seeds lose 16, 16, 40, 40 and 15."""
    steps = levels([8, 24], [8, 24], [8, 48], [8, 48], [8, 23])
    setback = only(EventKind.SETBACK, steps, replace(RULES, setback=16 / 64))
    assert setback.agreement == 0.8


def test_a_stall_is_seen_by_seeds_that_come_no_nearer_than_twice_what_is_progress():
    """The mean stays at 32; seeds come nearer by 8, 10, 0, -8 and -10."""
    steps = levels([32, 24], [32, 22], [32, 32], [32, 40], [32, 42], num_frames=20)
    stall = only(EventKind.STALL, steps)
    assert stall.agreement == 0.6
    assert (stall.start, stall.end, stall.steps_before) == (0, 39, 32)
    assert EventKind.STALL not in kinds(steps, replace(RULES, agreement=0.61))


def test_no_return_is_seen_by_seeds_whose_median_stays_lost():
    """The mean goes from 16 to 56, which is just lost; seeds to 64, 64, 56, 48 and 48."""
    steps = levels([16, 64], [16, 64], [16, 56], [16, 48], [16, 48])
    assert only(EventKind.NO_RETURN, steps).agreement == 0.6
    assert EventKind.NO_RETURN not in kinds(steps, replace(RULES, agreement=0.61))


def test_agreement_has_four_digits_and_steps_have_two():
    steps = levels([10.126, 40.126], [10.126, 40.126], [10.126, 10.126])
    setback = only(EventKind.SETBACK, steps)
    assert setback.agreement == 0.6667
    assert (setback.steps_before, setback.steps_after) == (10.13, 30.13)


def test_less_than_nothing_is_nothing_and_less_than_a_step_is_what_it_is():
    assert only(EventKind.SETBACK, levels([-3, 30])).steps_before == 0
    assert only(EventKind.SETBACK, levels([0.5, 30])).steps_before == 0.5


@pytest.mark.parametrize("precision", [np.float16, np.float32, np.float64])
def test_steps_are_counted_in_double_precision(precision):
    """100.0625 is exact in half precision, but not a 200th of it."""
    steps = levels([100.0625, 180.0]).astype(precision)
    (setback,) = find_events(steps, None, ceiling=200)[:1]
    assert setback.steps_before == 100.06
