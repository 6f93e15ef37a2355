"""The rules on a curve, each at its edge: what is just enough, and what is a hair too little."""

import numpy as np
import pytest

from goalward.values.event_rules import (
    EventRules,
    Rise,
    comeback,
    departure,
    rises,
    smoothed,
    standstills,
)

RULES = EventRules()


def curve(*numbers):
    return np.array(numbers, dtype=np.float64)


# ---- smoothing -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "gone", "stays"),
    [
        # Over 3 frames at least, then over the next odd number of 4, 5 and 6 frames.
        (0.001, 1, 2),
        (0.04, 2, 3),
        (0.05, 2, 3),
        (0.06, 3, 4),
    ],
)
def test_what_is_shorter_than_half_the_window_is_smoothed_away(window, gone, stays):
    for num_frames, seen in ((gone, False), (stays, True)):
        numbers = np.zeros((1, 20))
        numbers[0, 8 : 8 + num_frames] = 1
        assert smoothed(numbers, ceiling=100, window=window).any() == seen


def test_curves_are_smoothed_each_by_itself_and_repeat_their_ends():
    numbers = np.array([[9.0, 1, 1, 1, 1], [2.0, 2, 2, 2, 7]])
    np.testing.assert_array_equal(
        smoothed(numbers, ceiling=100, window=0.05), [[9, 1, 1, 1, 1], [2, 2, 2, 2, 7]]
    )


# ---- setbacks --------------------------------------------------------------------------------


def test_a_loss_of_just_enough():
    """As floats, 0.7 - 0.5 is a little less than 0.2."""
    assert rises(curve(0.5, 0.7), 8, RULES) == [Rise(0, 1, 1)]
    assert rises(curve(0.5, 0.699), 8, RULES) == []


def test_a_gain_of_just_enough_ends_it():
    """As floats, 0.7 - 0.6 is a little less than 0.1."""
    assert rises(curve(0.3, 0.7, 0.6, 0.8), 8, RULES) == [Rise(0, 1, 1), Rise(2, 3, 3)]
    assert rises(curve(0.3, 0.7, 0.601, 0.8), 8, RULES) == [Rise(0, 1, 3)]


def test_it_ends_in_its_worst_frame_the_first_of_equal_ones():
    assert rises(curve(0.3, 0.7, 0.75, 0.75, 0.7, 0.6), 8, RULES) == [Rise(0, 1, 2)]


def test_the_best_frame_before_it_is_the_lowest_since_the_last():
    assert rises(curve(0.5, 0.8, 0.6, 0.4, 0.5, 0.9), 8, RULES) == [Rise(0, 1, 1), Rise(3, 5, 5)]


def test_it_starts_in_the_last_frame_that_is_nearly_as_good():
    """Within 0.05 of the best, 0.3: frame 2 is, frame 3 is not."""
    assert rises(curve(0.4, 0.3, 0.35, 0.36, 0.7, 0.7), 8, RULES) == [Rise(2, 4, 4)]


def test_it_is_sharpest_where_the_means_before_and_after_differ_most():
    """Over two frames to either side: by 0.1, 0.2 and 0.25 at the frames 2, 3 and 4."""
    two_frames = EventRules(window=0.02)
    found = rises(curve(0.3, 0.3, 0.4, 0.4, 0.7, 0.6), 100, two_frames)
    assert found == [Rise(1, 4, 4)]
    # Over one frame the last jump, by 0.25, is the sharpest; over two the first ones together.
    steps = curve(0.1, 0.1, 0.32, 0.5, 0.5, 0.75, 0.75)
    assert rises(steps, 100, EventRules(window=0.01)) == [Rise(1, 5, 5)]
    assert rises(steps, 100, two_frames) == [Rise(1, 2, 5)]


# ---- recoveries ------------------------------------------------------------------------------


def test_three_quarters_regained():
    """From 0.4 to 0.8: 0.5 is three quarters of the way back."""
    rise = Rise(0, 1, 1)
    for level, found in ((0.501, None), (0.499, 3)):
        speaking = curve(0.4, 0.8, 0.6, level, 0.2)[: 4 if found is None else None]
        assert comeback(speaking, speaking[None], rise, RULES) == found


def test_just_enough_regained():
    """From 0.25 to 0.75: 0.375 is three quarters of the way back, and 0.5 half of it."""
    speaking = curve(0.25, 0.75, 0.375)
    assert comeback(speaking, speaking[None], Rise(0, 1, 1), RULES) == 2
    assert comeback(speaking, curve(0.25, 0.75, 0.5)[None], Rise(0, 1, 1), RULES) == 2


def test_seeds_agree_that_regained_half():
    """Half of the 0.4 that the mean lost: a seed at 0.9 agrees from 0.7 on. Three of five do."""
    speaking = curve(0.4, 0.8, 0.4)
    agrees, disagrees = curve(0.5, 0.9, 0.69), curve(0.5, 0.9, 0.71)
    three = np.stack([agrees] * 3 + [disagrees] * 2)
    two = np.stack([agrees] * 2 + [disagrees] * 3)
    assert comeback(speaking, three, Rise(0, 1, 1), RULES) == 2
    assert comeback(speaking, two, Rise(0, 1, 1), RULES) is None


# ---- stalls ----------------------------------------------------------------------------------


def test_a_stall_is_longer_than_a_fifth_of_the_ceiling():
    """Of 20 frames more than 4; before and after it goes down by 0.1 a frame."""
    down, on = [0.9, 0.8, 0.7, 0.6], [0.4, 0.3, 0.2, 0.1]
    assert standstills(curve(*down, 0.5, 0.5, 0.5, 0.5, *on), [], 20, RULES) == []
    assert standstills(curve(*down, *[0.5] * 5, *on), [], 20, RULES) == [(4, 8)]


def test_progress_of_just_enough_ends_a_stall():
    """As floats, 0.5 - 0.45 is a little less than 0.05."""
    level = [0.5] * 5
    assert standstills(curve(*level, 0.45, 0.2), [], 20, RULES) == [(0, 4)]
    assert standstills(curve(*level, 0.451, 0.2), [], 20, RULES) == [(0, 5)]


def test_worse_is_no_progress():
    """Back from 0.7 to 0.5 is where it was."""
    assert standstills(curve(0.9, 0.5, 0.7, 0.7, 0.6, 0.5, 0.3), [], 20, RULES) == [(1, 5)]


def test_two_stalls_the_longer_first():
    numbers = curve(*[0.8] * 5, 0.7, *[0.5] * 7, 0.2, *[0.1] * 6)
    assert standstills(numbers, [], 20, RULES) == [(6, 12), (14, 19), (0, 4)]


def test_a_setback_parts_stalls_and_holds_none():
    """Three frames before it and three after it are two short stretches, not one long one."""
    numbers = curve(0.5, 0.5, 0.5, 0.9, 0.9, 0.9)
    assert standstills(numbers, [], 20, RULES) == [(0, 5)]
    assert standstills(numbers, [Rise(2, 3, 3)], 20, RULES) == []
    longer = curve(*[0.5] * 5, *[0.9] * 6)
    assert standstills(longer, [Rise(4, 5, 5)], 20, RULES) == [(0, 4), (5, 10)]


def test_one_frame_is_no_stretch_however_low_the_ceiling():
    assert standstills(curve(0.5), [], 1, RULES) == []
    assert standstills(curve(0.5, 0.5), [], 1, RULES) == [(0, 1)]


# ---- no return -------------------------------------------------------------------------------


def test_from_reachable_to_lost_at_their_edges():
    """Reachable up to 0.6, lost from 0.85 on."""
    assert departure(curve(0.6, 0.7, 0.85, 0.85), 20, RULES) == Rise(0, 2, 2)
    assert departure(curve(0.601, 0.7, 0.85, 0.85), 20, RULES) is None
    assert departure(curve(0.6, 0.7, 0.849, 0.849), 20, RULES) is None


def test_from_the_last_reachable_frame_to_the_first_lost_one():
    numbers = curve(0.2, 0.9, 0.9, 0.5, 0.65, 0.9, 0.95, 0.9)
    assert departure(numbers, 20, RULES) == Rise(3, 5, 5)


def test_it_is_sharpest_no_later_than_the_first_lost_frame():
    """It rises by 0.12, 0.13 and 0.15, the last time when it was lost already."""
    assert departure(curve(0.6, 0.72, 0.85, 1.0), 20, RULES) == Rise(0, 2, 2)


def test_a_departure_is_sharpest_as_a_setback_is():
    """Over one frame at the last jump, by 0.16; over two at the first, where 0.19 are lost."""
    numbers = curve(0.5, 0.5, 0.5, 0.64, 0.74, 0.74, *[0.9] * 12)
    assert departure(numbers, 100, EventRules(window=0.01)) == Rise(2, 6, 6)
    assert departure(numbers, 100, EventRules(window=0.02)) == Rise(2, 3, 6)


def test_a_tenth_of_the_ceiling_must_follow():
    assert departure(curve(0.5, 0.9, 0.9), 20, RULES) == Rise(0, 1, 1)
    assert departure(curve(0.5, 0.9, 0.9), 21, RULES) is None


def test_most_of_what_follows_looks_lost():
    """The median of 0.9, 0.7, 0.85 is enough, that of 0.9, 0.7, 0.84 is not."""
    assert departure(curve(0.5, 0.9, 0.7, 0.85), 20, RULES) == Rise(0, 1, 1)
    assert departure(curve(0.5, 0.9, 0.7, 0.84), 20, RULES) is None
