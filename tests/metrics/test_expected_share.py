"""How sure one may be of the share of episodes that networks expect to succeed."""

import numpy as np
import pytest
from scipy import stats

from goalward.metrics.expected_share import expected_share, share_spread


def variance_of(by_network):
    return share_spread(np.array(by_network, dtype=np.float64))[1] ** 2


def test_the_variance_of_one_network_by_hand():
    """Chances 0.2, 0.4, 0.6, 0.8: squares 0.2 in all, mean 1/2; an imagined one adds 1/4."""
    by_hand = (0.2 + 0.25) / 16 + 0.13**2
    assert variance_of([[[0.2, 0.4, 0.6, 0.8]]]) == pytest.approx(by_hand)


def test_members_of_a_seed_are_a_jackknife_over_folds():
    """Shares 0.4, 0.5 and 0.6 in one seed, 0.5 three times in the other: 2/3 * 0.02, and 0."""
    said = np.array([[[0.4] * 4, [0.5] * 4, [0.6] * 4], [[0.5] * 4] * 3])
    by_hand = 0.25 / 16 + (2 / 3 * 0.02 + 0) / 2 + 0.13**2
    assert variance_of(said) == pytest.approx(by_hand)


def test_seeds_of_one_network_each_count_by_their_variance():
    """0.4 and 0.6: 0.02. One seed alone shows none."""
    said = np.array([[[0.4] * 4], [[0.6] * 4]])
    assert variance_of(said) == pytest.approx(0.25 / 16 + 0.02 + 0.13**2)
    assert variance_of(said[:1]) == pytest.approx((2.1 / 5) * (2.9 / 5) / 16 + 0.13**2)


def test_a_network_that_some_episodes_lack_does_not_count_there():
    """The third member judged the first two episodes alone, where it says what the others say."""
    said = np.array([[[0.5, 0.5, 0.2, 0.8], [0.5, 0.5, 0.2, 0.8], [0.5, 0.5, np.nan, np.nan]]])
    by_hand = (2 * 0.09 + 0.25) / 16 + 0.13**2
    assert variance_of(said) == pytest.approx(by_hand)


def test_one_episode_is_as_unsure_as_a_chance_can_be():
    """m (1 - m) with m = (1 + 1/2) / 2: from nothing to all."""
    middle, deviation = share_spread(np.array([[[1.0]]]))
    assert (middle, deviation**2) == pytest.approx((0.75, 0.75 * 0.25 + 0.13**2))
    _, interval = expected_share(np.array([[[1.0]]]))
    assert (interval.low, interval.high) == (0.0, 1.0)


def test_intervals_cover_the_share_of_a_world_whose_models_err_as_they_are_said_to():
    """Episodes drawn anew, and a model that is off by 0.13 all over: at least 93 times in 100."""
    draws = np.random.default_rng(1)
    hits = 0
    for _ in range(1000):
        true = draws.beta(1.0, 1.5, 24)
        said = np.clip(true + draws.normal(0, 0.13), 0, 1)
        low, high = stats.norm.ppf([0.025, 0.975], *share_spread(said[None, None]))
        hits += low <= 0.4 <= high
    assert 0.93 <= hits / 1000 < 1


# ---- other methods ------------------------------------------------------------------------------
