"""Every score at once."""

import numpy as np
import pytest

from goalward.metrics.scores.card import scorecard
from goalward.metrics.scores.paper_metrics import paper_metrics
from goalward.metrics.scores.table import SCORES
from goalward.rollouts.endings import Endings


def simulated(num_episodes, seed, num_seeds=3):
    """Successes count down with noise, time-outs hover about twice the horizon."""
    rng = np.random.default_rng(seed)
    lengths = np.where(np.arange(num_episodes) % 2, 40, rng.integers(15, 40, num_episodes))
    goals = np.where(np.arange(num_episodes) % 2, -1, lengths - 1)
    endings = Endings(np.cumsum(lengths), goals)
    level = np.where(endings.steps >= 0, endings.steps, 60)
    noise = rng.normal(0, 0.3, (num_seeds, 1, num_episodes))[:, 0][:, endings.episode_of]
    steps = level * np.exp(noise + rng.normal(0, 0.1, (num_seeds, endings.num_frames)))
    return np.where(steps > 100, np.inf, steps), endings


def test_every_score_is_there_and_in_order():
    steps, endings = simulated(20, seed=0)
    chance = (steps <= 30).mean(axis=0)
    card = scorecard(steps, endings, 30, training=simulated(20, seed=1), chance=chance)
    assert list(card) == list(SCORES)
    for name, row in card.items():
        # All seeds together give one chance.
        assert len(row.by_seed) == (1 if SCORES[name].of_chances else 3), name
        assert row.over_seeds.mean.defined, name
        assert row.interval.defined, name
        mean = row.over_seeds.mean.value
        if SCORES[name].unit != "steps":
            assert row.interval.low <= mean <= row.interval.high, name
    assert card["frame_auroc"].over_seeds.mean.value > 0.9


def test_rows_are_the_scores():
    steps, endings = simulated(8, seed=2)
    card = scorecard(steps, endings, 30)
    alone = [paper_metrics(run, endings, 30).composite for run in steps]
    assert list(card["composite"].by_seed) == alone
    assert card["composite"].over_seeds.mean.value == pytest.approx(
        np.mean([score.value for score in alone])
    )


def test_the_threshold_of_each_seed_is_its_own():
    """Seeds on different scales: the composite at the threshold does not see it."""
    steps, endings = simulated(12, seed=3)
    training, training_endings = simulated(12, seed=4)
    scale = np.array([[1.0], [7.0], [0.1]])
    plain = scorecard(steps, endings, 30, training=(training, training_endings))
    scaled = scorecard(steps * scale, endings, 30, training=(training * scale, training_endings))
    row = "composite_at_threshold"
    assert scaled[row].by_seed == plain[row].by_seed
    assert scaled["composite"].by_seed != plain["composite"].by_seed


@pytest.mark.parametrize("goal", [1, -1])
def test_one_kind_of_episode_and_one_frame_leave_words_not_nan(goal):
    endings = Endings(np.array([2, 3]), np.array([goal, min(goal, 0)]))
    card = scorecard(np.array([1.0, 0, 0]), endings, 5, training=(np.zeros(3), endings))
    for name in ("composite", "composite_at_threshold", "frame_auroc", "episode_auroc"):
        assert card[name].by_seed[0].reason
        assert card[name].interval.reason
    for row in card.values():
        assert row.over_seeds.interval.reason
    assert card["brier"].interval.reason == "no chances were given"


def test_no_episodes_at_all():
    none = np.array([], dtype=np.int64)
    card = scorecard(np.zeros((2, 0)), Endings(none, none), 5)
    for row in card.values():
        assert all(score.reason for score in row.by_seed)
        assert row.interval.reason


def test_training_must_have_the_same_seeds():
    steps, endings = simulated(4, seed=5)
    with pytest.raises(ValueError, match="3 seeds in test, 2 in training"):
        scorecard(steps, endings, 30, training=(steps[:2], endings))
