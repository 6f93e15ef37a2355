"""Goal frames that are marked too early or too late."""

import numpy as np

from goalward.metrics.auditing.goal_marks import goal_marks
from goalward.rollouts.endings import Endings


def marks(curves, goals, ceiling=100, held_out=None):
    endings = Endings(np.cumsum([len(c) for c in curves]), np.array(goals))
    seen = np.ones(len(goals), dtype=bool) if held_out is None else np.array(held_out)
    return goal_marks(np.concatenate(curves), endings, seen, ceiling)


def reached(at, length=100):
    """Looks done from this frame on."""
    return np.where(np.arange(length) >= at, 0.9, 0.05)


def test_marks_that_are_as_usual_are_left_alone():
    assert marks([reached(48)] * 5, [50, 50, 50, 51, 55]) == ()


def test_a_late_mark_is_found_with_the_frame_where_it_belongs():
    (found,) = marks([reached(48)] * 6, [50] * 5 + [80])
    assert (found.episode, found.marked, found.suggested, found.is_late) == (5, 80, 50, True)
    assert round(found.sure, 6) == 0.9


def test_an_early_mark_is_found_with_the_frame_where_it_belongs():
    (found,) = marks([reached(48)] * 5 + [reached(78)], [50] * 6)
    assert (found.episode, found.marked, found.suggested, found.is_late) == (5, 50, 80, False)
    assert 0.8 < found.sure < 0.9


def test_an_episode_that_looked_done_looked_away_and_was_done_is_not_late():
    back = reached(48)
    back[20:30] = 0.9
    assert marks([reached(48)] * 5 + [back], [50] * 6) == ()


def test_nothing_is_said_of_values_that_do_not_see_goals_of_few_goals_or_of_learned_ones():
    assert marks([0.3 * reached(48)] * 6, [50] * 5 + [80]) == ()
    assert marks([reached(48)] * 3, [50, 50, 80]) == ()
    assert marks([reached(48)] * 6, [50] * 5 + [80], held_out=[True] * 5 + [False]) == ()


def test_time_outs_have_no_mark():
    assert marks([reached(48)] * 6, [50] * 5 + [-1]) == ()


def test_an_early_mark_that_is_off_by_little_is_a_matter_of_taste():
    assert marks([reached(48)] * 5 + [reached(55)], [50] * 6) == ()
