"""Correlation with the truth when episodes count more than once, or not at all."""

import numpy as np
import pytest
from scipy import stats

from goalward.metrics.truth.correlation import PearsonCorrelation, pearson, spearman

EPISODE = np.array([0, 0, 1, 1, 2])
TRUE = np.array([0.0, 0.5, 0.25, 1.0, -0.5])
PREDICTED = np.array([[0.1, 0.4, 0.0, 0.7, -0.9], [9.0, 8.5, 8.0, 9.5, 6.0]])


def test_an_episode_that_counts_twice_is_there_twice():
    score = PearsonCorrelation(PREDICTED, TRUE, EPISODE)
    weights = np.array([[1.0, 1, 1], [2.0, 1, 1], [1.0, 0, 3]])
    found = score.weighed(weights)
    for column, weight in enumerate(weights.astype(int)):
        times = np.repeat(np.arange(5), weight[EPISODE])
        for run, predicted in enumerate(PREDICTED):
            expected = stats.pearsonr(predicted[times], TRUE[times]).statistic
            assert found[run, column] == pytest.approx(expected)


def test_where_nothing_varies_any_more_nothing_is_ordered():
    """Without the last episode all predictions are equal."""
    score = PearsonCorrelation(np.array([[3.0, 3, 3, 3, 1]]), TRUE, EPISODE)
    assert score.weighed(np.array([[1.0, 1, 0]])).tolist() == [[0]]
    assert score.reasons == ("",)


@pytest.mark.parametrize("correlation", [pearson, spearman])
def test_intervals_of_correlations_keep_their_bounds(correlation):
    """Three episodes that agree: on a line the interval would pass 1."""
    row = correlation(PREDICTED, TRUE, EPISODE + 7)
    assert len(row.by_seed) == 2
    assert 0.7 < row.over_seeds.mean.value < row.interval.high < 1 == row.over_seeds.interval.high
    # Three episodes of one kind: episodes without frames are none.
    assert len(PearsonCorrelation(PREDICTED, TRUE, EPISODE).strata) == 3


def test_a_truth_without_differences_orders_nothing():
    row = pearson(PREDICTED, np.full(5, 0.3), EPISODE)
    assert row.over_seeds.mean.reason == row.interval.reason
    assert row.interval.reason == "the truth is the same for all frames"
