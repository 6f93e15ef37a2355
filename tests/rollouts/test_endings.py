"""How episodes ended, as arrays."""

import math
import subprocess
import sys

import numpy as np
import pytest

from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.endings import Endings
from goalward.rollouts.episode import Episode, Outcome

ROLLOUTS = Rollouts(
    [
        Episode("0", num_frames=5, outcome=Outcome.SUCCESS, goal_frame=3),
        Episode("1", num_frames=2, outcome=Outcome.TIME_OUT),
        Episode("2", num_frames=1, outcome=Outcome.SUCCESS, goal_frame=0),
        Episode("3", num_frames=2, outcome=Outcome.FAILURE),
    ]
)


def test_endings_of_rollouts():
    endings = ROLLOUTS.endings
    assert endings.success.tolist() == [True, False, True, False]
    assert endings.failures.tolist() == [False, False, False, True]
    assert endings.episode_of.tolist() == [0, 0, 0, 0, 0, 1, 1, 2, 3, 3]
    assert endings.frame_in_episode.tolist() == [0, 1, 2, 3, 4, 0, 1, 0, 0, 1]
    assert endings.up_to_goal.tolist() == [True] * 4 + [False] + [True] * 5
    assert np.flatnonzero(endings.at_goal).tolist() == [3, 4, 7]
    assert np.flatnonzero(endings.at_end).tolist() == [4, 6, 7, 9]
    assert endings.outcomes == tuple(ROLLOUTS.outcomes)
    assert endings.steps.tolist() == [3, 2, 1, 0, -1, -1, -1, 0, -1, -1]


def test_endings_follow_the_view():
    view = ROLLOUTS[[3, 0]]
    assert view.endings.episode_ends.tolist() == [2, 7]
    assert view.endings.outcomes == (Outcome.FAILURE, Outcome.SUCCESS)
    assert np.flatnonzero(view.endings.at_goal).tolist() == [5, 6]
    assert view.goal_frames.tolist() == [-1, 3]
    assert view.success.tolist() == [False, True]


@pytest.mark.parametrize(
    ("horizon", "counted"),
    [
        (1, [0, 0, 0, 1, 0, 0, 0, 1, 0, 0]),
        (3, [0, 1, 1, 1, 0, 0, 0, 1, 0, 0]),
        (4, [1, 1, 1, 1, 0, 0, 0, 1, 0, 0]),
        (math.inf, [1, 1, 1, 1, 0, 0, 0, 1, 0, 0]),
    ],
)
def test_final_frames_end_at_the_goal(horizon, counted):
    final = ROLLOUTS.endings.final_frames(horizon)
    np.testing.assert_array_equal(final, counted)


def test_no_episodes():
    endings = Endings(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
    assert endings.num_frames == ROLLOUTS[:0].endings.num_frames == 0
    assert endings.at_goal.shape == endings.at_end.shape == (0,)
    assert endings.final_frames(3).shape == (0,)
    assert endings.per_frame(np.zeros((2, 0))).shape == (2, 0)


@pytest.mark.parametrize(
    ("ends", "goals", "failed", "message"),
    [
        ([3, 3], [-1, -1], None, "has no frames"),
        ([3, 5], [-1], None, "goal frames"),
        ([3, 5], [-1, 2], None, "outside its episode"),
        ([3, 5], [-2, 0], None, "outside its episode"),
        ([3, 5], [-1, 0], [False], "per episode"),
        ([3, 5], [-1, 0], [False, True], "no success is a failure"),
    ],
)
def test_wrong_endings(ends, goals, failed, message):
    failed = None if failed is None else np.array(failed)
    with pytest.raises(ValueError, match=message):
        Endings(np.array(ends), np.array(goals), failed)


def test_wrong_numbers_per_frame():
    endings = Endings(np.array([2, 4]), np.array([1, -1]))
    with pytest.raises(ValueError, match="4 frames, but numbers of shape"):
        endings.per_frame(np.zeros(3))
    with pytest.raises(ValueError, match="NaN at frame 1 of episode 1"):
        endings.per_frame(np.array([[0, 0, 0, 0], [0, 0, 0, np.nan]]))
    with pytest.raises(ValueError, match="horizon"):
        endings.final_frames(0)


def test_scores_need_no_torch():
    code = "import sys, goalward.metrics.scores.card; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
