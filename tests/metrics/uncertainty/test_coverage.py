"""Nominal 95 % intervals hold the truth in 93 to 97 of 100 simulated experiments.

Frames of an episode are near copies of each other, episodes differ in length, seeds share the
episodes. Near 0 and 1 the intervals are allowed to be too wide, never too narrow.
"""

import numpy as np
import pytest
from scipy import signal, stats

from goalward.metrics.score import Score
from goalward.metrics.scores.movement import EpisodeMedian
from goalward.metrics.scores.rank_correlation import RankCorrelation
from goalward.metrics.scores.separation import Separation
from goalward.metrics.uncertainty.bootstrap import resampling_weights
from goalward.metrics.uncertainty.intervals import limits, over_episodes, over_seeds
from goalward.metrics.uncertainty.weighing import Average, FrameMean

NUM_EXPERIMENTS = 2000
# 93 to 97 %; the noise of 2,000 experiments is 0.5 % (one standard error).
LEAST, MOST = 0.93, 0.975
NUM_FRAMES = 24


def frame_noise(rng, shape, correlation=0.95):
    """Numbers of spread 1 along the last axis that follow each other closely."""
    noise = rng.standard_normal(shape, dtype=np.float32)
    noise[..., 1:] *= np.sqrt(1 - correlation**2)
    return signal.lfilter(np.float32([1]), np.float32([1, -correlation]), noise, axis=-1)


def simulated_share(rng, share, num_episodes, num_seeds=1, episode=1.0, seed=0.0, interaction=0.0):
    """Many experiments in which a frame is right if a latent number lies below a threshold.

    `episode`, `seed` and `interaction` are the spreads over each, next to 1 within an episode.
    """
    shape = (NUM_EXPERIMENTS, num_seeds, num_episodes, NUM_FRAMES)
    shared = (shape[0], 1, *shape[2:])
    latent = frame_noise(rng, shared) if num_seeds == 1 else 0.8 * frame_noise(rng, shared)
    if num_seeds > 1:
        latent = latent + 0.6 * frame_noise(rng, shape)
    latent = latent + episode * rng.standard_normal((shape[0], 1, num_episodes, 1))
    latent = latent + seed * rng.standard_normal((shape[0], num_seeds, 1, 1))
    latent = latent + interaction * rng.standard_normal((*shape[:3], 1))
    spread = np.sqrt(1 + episode**2 + seed**2 + interaction**2)
    lengths = rng.integers(NUM_FRAMES // 3, NUM_FRAMES + 1, (shape[0], num_episodes))
    right = (latent < stats.norm.ppf(share) * spread) & (
        np.arange(NUM_FRAMES) < lengths[:, None, :, None]
    )
    mean = FrameMean(right.sum(axis=-1).astype(float), lengths.astype(float), scale="share")
    return mean, mean.total.sum() / num_seeds / lengths.sum()


def coverage(score, truth, *, with_seeds=False):
    low, high = limits(score, with_seeds=with_seeds)
    assert low.shape == (NUM_EXPERIMENTS,)
    return ((low <= truth) & (truth <= high)).mean()


@pytest.mark.parametrize("episode", [1.0, 2.0])
@pytest.mark.parametrize("num_episodes", [20, 50])
@pytest.mark.parametrize("share", [0.6, 0.85])
def test_a_share_over_episodes(share, num_episodes, episode):
    rng = np.random.default_rng(num_episodes)
    mean, truth = simulated_share(rng, share, num_episodes, episode=episode)
    assert LEAST <= coverage(mean, truth) <= MOST


@pytest.mark.parametrize("num_episodes", [20, 50])
@pytest.mark.parametrize("share", [0.95, 0.98])
def test_a_share_near_one_is_rather_too_wide(share, num_episodes):
    rng = np.random.default_rng(num_episodes)
    mean, truth = simulated_share(rng, share, num_episodes)
    assert 0.95 <= coverage(mean, truth) <= 0.99


@pytest.mark.parametrize(("seed", "interaction"), [(0.1, 0.1), (0.3, 0.3), (0.5, 0.5)])
@pytest.mark.parametrize(("num_episodes", "share"), [(20, 0.6), (50, 0.85)])
def test_a_share_over_five_seeds_and_episodes(num_episodes, share, seed, interaction):
    rng = np.random.default_rng(num_episodes)
    mean, truth = simulated_share(
        rng, share, num_episodes, num_seeds=5, seed=seed, interaction=interaction
    )
    assert LEAST <= coverage(mean, truth, with_seeds=True) <= MOST


def test_episodes_alone_do_not_speak_for_other_seeds():
    rng = np.random.default_rng(0)
    mean, truth = simulated_share(rng, 0.85, 50, num_seeds=5, seed=0.5, interaction=0.5)
    assert coverage(mean, truth, with_seeds=False) < 0.9


@pytest.mark.parametrize("num_episodes", [20, 50])
def test_a_composite(num_episodes):
    rng = np.random.default_rng(num_episodes)
    success, true_success = simulated_share(rng, 0.7, num_episodes)
    failure, true_failure = simulated_share(rng, 0.9, num_episodes)
    composite = Average((success, failure))
    assert LEAST <= coverage(composite, (true_success + true_failure) / 2) <= MOST


@pytest.mark.parametrize("area", [0.7, 0.85])
@pytest.mark.parametrize("num_episodes", [20, 40])
def test_the_area_under_the_curve(num_episodes, area):
    rng = np.random.default_rng(num_episodes)
    num_frames = 8
    shape = (NUM_EXPERIMENTS, num_episodes, num_frames)
    near, far = (
        frame_noise(rng, shape, 0.9) + rng.standard_normal((*shape[:2], 1)) for _ in range(2)
    )
    far = far + 2 * stats.norm.ppf(area)
    wins = np.zeros((NUM_EXPERIMENTS, 1, num_episodes, num_episodes))
    for frame in range(num_frames):
        for other in range(num_frames):
            wins[:, 0] += near[:, :, None, frame] < far[:, None, :, other]
    frames = np.full(num_episodes, float(num_frames))
    separation = Separation(wins, frames, frames)
    assert LEAST <= coverage(separation, wins.mean() / num_frames**2) <= MOST


def test_a_mean_absolute_error():
    rng = np.random.default_rng(0)
    shape = (NUM_EXPERIMENTS, 20, NUM_FRAMES)
    error = np.abs(frame_noise(rng, shape) + rng.standard_normal((*shape[:2], 1)))
    mean = FrameMean(error.sum(axis=-1)[:, None], np.full(20, float(NUM_FRAMES)), scale="line")
    assert LEAST <= coverage(mean, error.mean()) <= MOST


def test_a_rank_correlation():
    """Steps that are off by a factor of their own in every episode, and by noise in every frame."""
    rng = np.random.default_rng(0)
    num_episodes, num_frames = 20, 12
    actual = np.tile(np.arange(num_frames, dtype=float), num_episodes)
    episode = np.repeat(np.arange(num_episodes), num_frames)

    def predicted(experiments):
        shape = (experiments, num_episodes, num_frames)
        factor = np.exp(0.5 * rng.standard_normal((*shape[:2], 1)))
        steps = factor * np.arange(num_frames) + 3 * frame_noise(rng, shape, 0.8)
        return steps.reshape(experiments, -1)

    truth = stats.spearmanr(predicted(2000).ravel(), np.tile(actual, 2000)).statistic
    held = []
    for run in predicted(NUM_EXPERIMENTS):
        interval = over_episodes(RankCorrelation(run[None], actual, episode))
        held.append(interval.low <= truth <= interval.high)
    assert LEAST <= np.mean(held) <= MOST


def test_mean_over_five_seeds():
    rng = np.random.default_rng(0)
    seeds = 0.9 + 0.02 * rng.standard_normal((NUM_EXPERIMENTS, 5))
    intervals = [over_seeds([Score(x) for x in row]).interval for row in seeds.tolist()]
    held = np.mean([i.low <= 0.9 <= i.high for i in intervals])
    assert LEAST <= held <= MOST


def test_a_percentile_bootstrap_of_five_seeds_would_not_do():
    rng = np.random.default_rng(0)
    seeds = rng.standard_normal((NUM_EXPERIMENTS, 5))
    weights = resampling_weights(np.zeros(5, dtype=np.int64), 1000, seed=0) / 5
    low, high = np.quantile(seeds @ weights.T, [0.025, 0.975], axis=1)
    assert ((low <= 0) & (high >= 0)).mean() < 0.87


@pytest.mark.parametrize("num_episodes", [20, 50])
def test_bootstrap_of_a_median(num_episodes):
    """Skewed setbacks, as they are."""
    rng = np.random.default_rng(num_episodes)
    setbacks = rng.lognormal(2, 1, (NUM_EXPERIMENTS, num_episodes))
    weights = resampling_weights(np.zeros(num_episodes, dtype=np.int64), 1000, seed=0)
    medians = EpisodeMedian(setbacks).weighed(weights)
    low, high = np.quantile(medians, [0.025, 0.975], axis=1, method="inverted_cdf")
    assert LEAST <= ((low <= np.exp(2)) & (np.exp(2) <= high)).mean() <= MOST
