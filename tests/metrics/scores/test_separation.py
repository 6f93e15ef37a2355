"""AUROC, counted pair by pair."""

import math

import numpy as np
import pytest

from goalward.metrics.scores.separation import (
    Separation,
    episode_separation,
    frame_separation,
)
from goalward.metrics.uncertainty.weighing import only_score, scores_by_run
from goalward.rollouts.endings import Endings

INF = math.inf


def area_by_pairs(near, far):
    pairs = [(a < b) + (a == b) / 2 for a in near for b in far]
    return sum(pairs) / len(pairs)


def test_frames_by_hand():
    """2, 1, 0 against 1, inf: of six pairs four are right and one is equal."""
    endings = Endings(np.array([3, 5]), np.array([2, -1]))
    separation = frame_separation(np.array([2.0, 1, 0, 1, INF]), endings, horizon=9)
    assert only_score(separation).value == pytest.approx(4.5 / 6)


def test_frames_are_those_of_the_paper_metrics():
    """Of the success only the last two frames up to the goal, of the time-out all."""
    endings = Endings(np.array([4, 6]), np.array([2, -1]))
    steps = np.array([9.0, 3, 1, 9, 2, 4])
    near, far = [3, 1], [2, 4]
    separation = frame_separation(steps, endings, horizon=2)
    assert only_score(separation).value == area_by_pairs(near, far) == 0.75
    assert separation.near_frames.tolist() == [2]
    assert separation.strata.tolist() == [0, 1]
    all_frames = frame_separation(steps, endings, horizon=INF)
    assert only_score(all_frames).value == area_by_pairs([9, 3, 1], far)


def test_never_against_never_is_a_tie():
    endings = Endings(np.array([1, 2]), np.array([0, -1]))
    assert only_score(frame_separation(np.array([INF, INF]), endings, 5)).value == 0.5


def test_episodes_by_hand():
    """Medians up to the goal: 5 against 4 (the lower of 4 and inf), 5 and 7."""
    endings = Endings(np.array([5, 7, 8, 9]), np.array([2, -1, -1, -1]))
    steps = np.array([9.0, 5, 0, 99, 99, 4, INF, 5, 7])
    separation = episode_separation(steps, endings)
    assert only_score(separation).value == pytest.approx((0 + 0.5 + 1) / 3)
    assert separation.strata.tolist() == [0, 1, 1, 1]


def test_missing_kinds():
    steps = np.zeros(2)
    for build in (lambda e: frame_separation(steps, e, 5), lambda e: episode_separation(steps, e)):
        assert only_score(build(Endings(np.array([2]), np.array([1])))).reason == (
            "no episode without success"
        )
        assert only_score(build(Endings(np.array([2]), np.array([-1])))).reason == (
            "no episode succeeded"
        )


def random_episodes(rng, num_episodes=12):
    lengths = rng.integers(1, 9, num_episodes)
    goals = np.where(np.arange(num_episodes) % 2, -1, rng.integers(0, 9, num_episodes) % lengths)
    endings = Endings(np.cumsum(lengths), goals)
    steps = rng.integers(0, 6, (3, endings.num_frames)).astype(float)
    return np.where(steps == 5, INF, steps), endings


@pytest.mark.parametrize("seed", range(5))
def test_against_all_pairs(seed):
    steps, endings = random_episodes(np.random.default_rng(seed))
    scores = scores_by_run(frame_separation(steps, endings, horizon=3))
    far = ~endings.success[endings.episode_of]
    for run, score in zip(steps, scores, strict=True):
        expected = area_by_pairs(run[endings.final_frames(3)], run[far])
        assert score.value == pytest.approx(expected)


def test_a_change_of_scale_changes_nothing():
    steps, endings = random_episodes(np.random.default_rng(7))
    scores = scores_by_run(frame_separation(steps, endings, 3))
    assert scores_by_run(frame_separation(7 * steps**2 + 1, endings, 3)) == scores


def test_an_episode_drawn_twice():
    """Weight 2 is the same as the episode being there twice."""
    steps, endings = random_episodes(np.random.default_rng(3), num_episodes=4)
    weighed = frame_separation(steps, endings, 3).weighed(np.array([[2.0, 1, 1, 3]]))
    # Successes are episodes 0 and 2, the others 1 and 3.
    order = [0, 0, 2, 1, 3, 3, 3]
    frames = np.concatenate([np.flatnonzero(endings.episode_of == e) for e in order])
    drawn = Endings(np.cumsum(endings.lengths[order]), endings.goal_frames[order])
    again = frame_separation(steps[:, frames], drawn, 3)
    np.testing.assert_allclose(weighed[:, 0], [s.value for s in scores_by_run(again)])


def test_imagined_episodes_pull_towards_one_half():
    perfect = Separation(np.full((1, 3, 3), 4.0), np.full(3, 2.0), np.full(3, 2.0))
    assert only_score(perfect).value == 1
    imagined = perfect.imagined()
    assert imagined.wins.shape == (1, 5, 5)
    # Weights 3 and 0.2, 0.2: all of 3 * 3, half of the other 3.4 * 3.4 - 9.
    assert only_score(imagined).value == pytest.approx((9 + (3.4**2 - 9) / 2) / 3.4**2)
