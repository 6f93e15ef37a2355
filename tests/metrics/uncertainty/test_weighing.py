"""Scores as functions of episode weights: sums, averages and imagined episodes by hand."""

import numpy as np
import pytest

from goalward.metrics.score import Score
from goalward.metrics.uncertainty.weighing import (
    IMAGINED_EPISODES,
    Average,
    FrameMean,
    frame_mean,
    mean_by_episode,
    only_score,
    scores_by_run,
    sum_by_episode,
)
from goalward.rollouts.endings import Endings

# Three episodes of 2, 3 and 1 frames; the second has no frame that counts.
ENDINGS = Endings(np.array([2, 5, 6]), np.array([-1, -1, -1]))
COUNTED = np.array([True, True, False, False, False, True])
NUMBERS = np.array([[1.0, 2, 100, 100, 100, 6], [0.0, 0, 100, 100, 100, 3]])


def test_every_frame_or_every_episode_counts_the_same():
    """Frames 1, 2 and 6: 9 / 3. Episodes 1.5 and 6: 7.5 / 2."""
    by_frame = frame_mean(NUMBERS, COUNTED, ENDINGS, scale="line", by_episode=False, if_empty="-")
    assert by_frame.total.tolist() == [[3, 6], [0, 3]]
    assert by_frame.num_frames.tolist() == [2, 1]
    assert scores_by_run(by_frame) == (Score(3.0), Score(1.0))
    by_episode = frame_mean(NUMBERS, COUNTED, ENDINGS, scale="line", by_episode=True, if_empty="-")
    assert by_episode.total.tolist() == [[1.5, 6], [0, 3]]
    assert by_episode.num_frames.tolist() == [1, 1]
    assert scores_by_run(by_episode) == (Score(3.75), Score(1.5))


@pytest.mark.parametrize("by_episode", [True, False])
def test_a_mean_keeps_its_scale_and_says_what_is_missing(by_episode):
    none = np.zeros(6, dtype=bool)
    mean = frame_mean(
        NUMBERS, none, ENDINGS, scale="correlation", by_episode=by_episode, if_empty="no frame"
    )
    assert mean.scale == "correlation"
    assert scores_by_run(mean) == (Score(None, "no frame"), Score(None, "no frame"))


def test_numbers_of_one_run_need_no_axis_of_runs():
    mean = frame_mean(NUMBERS[0], COUNTED, ENDINGS, scale="line", by_episode=False, if_empty="-")
    assert only_score(mean) == Score(3.0)
    with pytest.raises(ValueError):
        only_score(FrameMean(np.ones((2, 1)), np.ones(1), "line"))


def test_frames_in_any_order_find_their_episode():
    """Episode 3 has the frame 2, episode 7 the frames 1 and 4."""
    numbers, episode = np.array([[1.0, 2, 4], [10.0, 20, 40]]), np.array([7, 3, 7])
    mean = mean_by_episode(numbers, episode, scale="share")
    assert mean.total.tolist() == [[2, 5], [20, 50]]
    assert mean.num_frames.tolist() == [1, 2]
    assert mean.scale == "share"
    # Episode 0 is an episode like any other.
    assert mean_by_episode(np.ones(3), np.array([0, 1, 0]), scale="line").total.tolist() == [[2, 1]]


def test_sums_of_no_episode_and_of_one():
    nothing = Endings(np.array([], dtype=int), np.array([], dtype=int))
    assert sum_by_episode(np.zeros((4, 0)), np.zeros(0, dtype=bool), nothing).shape == (4, 0)
    assert sum_by_episode(np.zeros(0), np.zeros(0, dtype=bool), nothing).shape == (0,)
    one = Endings(np.array([2]), np.array([-1]))
    assert sum_by_episode(np.array([1.0, 2.0]), np.array([True, True]), one).tolist() == [3]


def test_a_run_without_a_score_does_not_hide_the_others():
    class SecondRunHasNone(FrameMean):
        reasons = ("", "never moved")

    mean = SecondRunHasNone(np.array([[1.0, 3], [0.0, 0]]), np.ones(2), "line")
    assert scores_by_run(mean) == (Score(2.0), Score(None, "never moved"))


def test_two_imagined_episodes_one_right_and_one_wrong():
    """Of average length 15, weighed with 0.4: six frames right, six frames wrong."""
    assert IMAGINED_EPISODES == 0.4
    mean = FrameMean(np.array([[10.0, 5], [0.0, 20]]), np.array([10.0, 20]), "share", "no frames!")
    more = mean.imagined()
    np.testing.assert_allclose(more.total, [[10, 5, 6, 0], [0, 20, 6, 0]])
    np.testing.assert_allclose(more.num_frames, [10, 20, 6, 6])
    assert (more.scale, more.if_empty) == ("share", "no frames!")
    assert FrameMean(mean.total, mean.num_frames, "line").imagined() is None


def test_imagined_episodes_where_further_axes_lead():
    """Two thresholds with lengths of their own: means of 3 and 30, times 0.4."""
    total = np.array([[[1.0, 2]], [[10.0, 20]]])
    more = FrameMean(total, np.array([[2.0, 4], [20.0, 40]]), "share").imagined()
    np.testing.assert_allclose(more.total, [[[1, 2, 1.2, 0]], [[10, 20, 12, 0]]])
    np.testing.assert_allclose(more.num_frames, [[2, 4, 1.2, 1.2], [20, 40, 12, 12]])


FIRST = FrameMean(np.array([[1.0, 0, 1], [1.0, 1, 1]]), np.ones(3), "share", "no success")
SECOND = FrameMean(np.array([[2.0, 0], [2.0, 2]]), np.full(2, 2.0), "share", "no time-out")


def test_an_average_weighs_each_part_with_its_own_episodes():
    """Run 0: 2/3 and 1/2; run 1: 1 and 1. Without the second and the last episode: 1 and 1."""
    both = Average((FIRST, SECOND))
    weights = np.array([[1.0, 1, 1, 1, 1], [1.0, 0, 1, 1, 0]])
    np.testing.assert_allclose(both.weighed(weights), [[7 / 12, 1], [1, 1]])
    three = Average((FIRST, SECOND, FIRST))
    assert three.strata.tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    np.testing.assert_allclose(three.weighed(np.ones((1, 8))), [[11 / 18], [1]])


def test_an_average_of_averages():
    inner = Average((FIRST, SECOND))
    outer = Average((inner, FIRST))
    assert outer.strata.tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    np.testing.assert_allclose(outer.weighed(np.ones((1, 8))), [[(7 / 12 + 2 / 3) / 2], [1]])


def test_an_average_lacks_what_any_of_its_parts_lacks():
    empty = FrameMean(np.zeros((2, 0)), np.zeros(0), "share", "no failure")
    both = Average((empty, FIRST, FrameMean(np.zeros((2, 0)), np.zeros(0), "share", "no end")))
    assert both.reasons == ("no failure; no end", "no failure; no end")
    assert both.strata.tolist() == [0, 0, 0]


def test_an_average_is_imagined_whole_or_not_at_all():
    """Average lengths 1 and 2, times 0.4."""
    more = Average((FIRST, SECOND)).imagined()
    assert [len(part.strata) for part in more.parts] == [5, 4]
    first, second = (2 + 0.4) / 3.8, (2 + 0.8) / 5.6
    np.testing.assert_allclose(more.weighed(np.ones((1, 9)))[0], [(first + second) / 2])
    on_the_line = FrameMean(FIRST.total, FIRST.num_frames, "line")
    assert Average((FIRST, on_the_line)).imagined() is None
