"""Moves and setbacks along episodes."""

import math

import numpy as np
import pytest

from goalward.metrics.scores.movement import EpisodeMedian, forward_share, median_setback, movement
from goalward.metrics.uncertainty.bootstrap import bootstrap_interval
from goalward.metrics.uncertainty.weighing import only_score, scores_by_run
from goalward.rollouts.endings import Endings

INF = math.inf


def one_episode(*numbers):
    return np.array(numbers, dtype=float), Endings(np.array([len(numbers)]), np.array([-1]))


def test_by_hand():
    """Down 5, level, up 3, up 1, down 8, up 2: from 4 it rose to 8, from 0 only to 2."""
    moves = movement(*one_episode(9, 4, 4, 7, 8, 0, 2))
    assert moves.num_moves.tolist() == [6]
    assert moves.num_down.tolist() == [[2]]
    assert moves.largest_setback.tolist() == [[4]]


def test_a_straight_way_has_no_setback():
    moves = movement(*one_episode(3, 2, 2, 0))
    assert moves.largest_setback.tolist() == [[0]]


def test_never():
    """A rise to never is infinite, from never to never nothing moves, back from never is down."""
    moves = movement(*one_episode(INF, INF, 5, INF, INF, 3))
    assert moves.num_down.tolist() == [[2]]
    assert moves.largest_setback.tolist() == [[INF]]


def test_above_the_ceiling_all_is_equally_far():
    moves = movement(*one_episode(300, INF, 5, INF, 200, 3), ceiling=100)
    assert moves.num_down.tolist() == [[2]]
    assert moves.largest_setback.tolist() == [[95]]


def test_frames_after_the_goal_are_not_looked_at():
    endings = Endings(np.array([5]), np.array([2]))
    moves = movement(np.array([2.0, 1, 0, 50, 60]), endings)
    assert moves.num_moves.tolist() == [2]
    assert moves.largest_setback.tolist() == [[0]]


def test_shares_and_medians_over_episodes():
    """Successes: 2 of 2 and 0 of 1 moves forward, then 1 of 2 and 1 of 1; one frame has none."""
    endings = Endings(np.array([3, 5, 6, 8]), np.array([2, 1, 0, -1]))
    steps = np.array([[2.0, 1, 0, 4, 7, 0, 1, 9], [2.0, 3, 0, 4, 3, 0, 9, 1]])
    moves = movement(steps, endings)
    forward = scores_by_run(forward_share(moves, endings.success))
    assert [score.value for score in forward] == pytest.approx([2 / 3, 2 / 3])
    setbacks = scores_by_run(median_setback(moves, endings.success))
    assert [score.value for score in setbacks] == [0, 0]
    others = scores_by_run(median_setback(moves, ~endings.success))
    assert [score.value for score in others] == [8, 0]


def test_nothing_to_look_at():
    endings = Endings(np.array([1]), np.array([0]))
    moves = movement(np.array([0.0]), endings)
    assert only_score(forward_share(moves, endings.success)).reason == (
        "no such episode with more than one frame"
    )
    assert only_score(median_setback(moves, endings.success)).value == 0
    assert only_score(median_setback(moves, ~endings.success)).reason == "no such episode"


def test_weighed_median():
    median = EpisodeMedian(np.array([[5.0, 1, INF, 3]]))
    weights = np.array([[1.0, 1, 1, 1], [1, 0, 1, 1], [0, 0, 2, 1], [2, 1, 0, 0], [0, 1, 0, 1]])
    assert median.weighed(weights).tolist() == [[4, 5, INF, 5, 2]]


def test_interval_of_a_median_can_reach_never():
    setbacks = np.array([[1.0, 2, 3, 4, 5, INF, INF, INF, INF]])
    interval = bootstrap_interval(EpisodeMedian(setbacks))
    assert interval.low < 5
    assert interval.high == INF
    one = bootstrap_interval(EpisodeMedian(setbacks[:, :1]))
    assert "at least two episodes" in one.reason
