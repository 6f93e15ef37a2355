"""Steps to success against textbook survival data, and what each outcome says."""

import numpy as np
import pytest
from scipy import stats

from goalward import Outcome
from goalward.metrics.comparing.steps.time_to_success import (
    SuccessTimes,
    log_rank,
    longest_horizon,
    restricted_mean,
    restricted_mean_difference,
    success_curve,
    success_times,
)

SUCCESS, TIME_OUT, FAILURE = Outcome.SUCCESS, Outcome.TIME_OUT, Outcome.FAILURE

# Freireich et al. (1963), Blood 21:699-716, as in Kleinbaum and Klein, Survival Analysis, ch. 2:
# weeks to relapse of leukaemia patients, with 6-mercaptopurine (0: still in remission) and without.
TREATED = [
    *[(6, 1), (6, 1), (6, 1), (7, 1), (10, 1), (13, 1), (16, 1), (22, 1), (23, 1), (6, 0), (9, 0)],
    *[(10, 0), (11, 0), (17, 0), (19, 0), (20, 0), (25, 0), (32, 0), (32, 0), (34, 0), (35, 0)],
]
PLACEBO = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]


@pytest.fixture
def treated():
    outcomes = [SUCCESS if seen else TIME_OUT for _, seen in TREATED]
    return success_times(outcomes, [weeks for weeks, _ in TREATED], 35)


@pytest.fixture
def placebo():
    return success_times([SUCCESS] * 21, PLACEBO, 35)


def test_kaplan_meier_of_freireich(treated):
    curve = success_curve(treated)
    # Kleinbaum and Klein, table 2.4.
    expected = {6: 0.8571, 7: 0.8067, 10: 0.7529, 13: 0.6902, 16: 0.6275, 22: 0.5378, 23: 0.4482}
    for week, left in expected.items():
        assert 1 - curve.share[curve.steps == week][0] == pytest.approx(left, abs=5e-5)
    assert (curve.steps[0], curve.share[0], curve.steps[-1]) == (0, 0, 35)


def test_log_rank_of_freireich(treated, placebo):
    # Kleinbaum and Klein: log-rank statistic 16.793 with one degree of freedom.
    assert log_rank(treated, placebo) == pytest.approx(4.17e-5, rel=1e-3)


def test_restricted_means_of_freireich(treated, placebo):
    # R: survfit(Surv(time, status) ~ treat), rmean to 35 with Greenwood's error (divisor n).
    by_n = np.sqrt(20 / 21)
    first, second = restricted_mean(placebo), restricted_mean(treated)
    assert (second.mean, second.standard_error * by_n) == pytest.approx((23.287, 2.827), abs=1e-3)
    assert (first.mean, first.standard_error * by_n) == pytest.approx((8.667, 1.377), abs=1e-3)
    found = restricted_mean_difference(first, second, paired=False)
    assert found.difference == pytest.approx(14.621, abs=1e-3)
    assert 0 < found.lower < found.difference < found.upper


def test_influence_is_what_leaving_out_an_episode_does(treated):
    found = restricted_mean(treated)
    without = [
        restricted_mean(
            SuccessTimes(np.delete(treated.steps, i), np.delete(treated.reached, i), 35)
        ).mean
        for i in range(21)
    ]
    pseudo = 21 * found.mean - 20 * np.array(without)
    assert found.influence.sum() == pytest.approx(0, abs=1e-9)
    assert np.corrcoef(pseudo, found.influence)[0, 1] > 0.99
    assert found.standard_error == pytest.approx(pseudo.std(ddof=1) / np.sqrt(21), rel=0.05)


def test_without_early_time_outs_it_is_the_mean():
    steps = [30, 50, 50, 100, 100]
    times = success_times([SUCCESS] * 3 + [TIME_OUT] * 2, steps, 100)
    found = restricted_mean(times)
    assert found.mean == pytest.approx(np.mean(steps))
    assert found.influence == pytest.approx(np.array(steps) - np.mean(steps))
    assert found.standard_error == pytest.approx(np.std(steps, ddof=1) / np.sqrt(5))


def test_failing_early_does_not_look_fast():
    ends = [(SUCCESS, 60), (SUCCESS, 80), (TIME_OUT, 100)]
    outcomes, steps = [o for o, _ in ends], [s for _, s in ends]
    failed_early = restricted_mean(success_times([*outcomes, FAILURE], [*steps, 5], 100))
    failed_late = restricted_mean(success_times([*outcomes, FAILURE], [*steps, 95], 100))
    assert failed_early.mean == failed_late.mean == (60 + 80 + 100 + 100) / 4
    # A time-out after 5 steps says nothing, and counts nearly as if it were not there.
    stopped_early = restricted_mean(success_times([*outcomes, TIME_OUT], [*steps, 5], 100))
    assert stopped_early.mean == pytest.approx((60 + 80 + 100) / 3)


def test_steps_beyond_the_horizon():
    times = success_times([SUCCESS, SUCCESS, TIME_OUT], [40, 120, 150], 100)
    assert times.steps.tolist() == [40, 100, 100]
    assert times.reached.tolist() == [True, False, False]


def test_horizons():
    short = [SUCCESS, TIME_OUT], [70, 200]
    long = [SUCCESS, TIME_OUT], [70, 500]
    without_time_outs = [SUCCESS, FAILURE], [90, 30]
    assert longest_horizon([short, long]) == 200
    assert longest_horizon([long, without_time_outs]) == 500
    assert longest_horizon([without_time_outs, without_time_outs]) == 90


def test_pairs_cancel_what_they_share():
    rng = np.random.default_rng(0)
    shared = rng.integers(20, 90, 30)
    first = restricted_mean(success_times([SUCCESS] * 30, shared.tolist(), 100))
    faster = (shared - rng.integers(1, 5, 30)).tolist()
    second = restricted_mean(success_times([SUCCESS] * 30, faster, 100))
    apart = restricted_mean_difference(first, second, paired=False)
    paired = restricted_mean_difference(first, second, paired=True)
    assert paired.difference == apart.difference
    assert apart.upper > 0 > paired.upper


FIRST, SECOND = [30, 50, 52, 90, 61], [20, 44, 49, 70, 35]


@pytest.mark.parametrize("level", [0.95, 0.8])
@pytest.mark.parametrize("num", [2, 5])
def test_intervals_are_those_of_student_and_welch(level, num):
    """Every episode succeeds, so that the means are plain and SciPy's intervals hold."""
    first, second = FIRST[:num], SECOND[:num]
    means = [restricted_mean(success_times([SUCCESS] * num, s, 100)) for s in (first, second)]
    found = restricted_mean_difference(*means, paired=False, level=level)
    welch = stats.ttest_ind(second, first, equal_var=False).confidence_interval(level)
    assert (found.lower, found.upper) == pytest.approx((welch.low, welch.high))
    found = restricted_mean_difference(*means, paired=True, level=level)
    student = stats.ttest_rel(second, first).confidence_interval(level)
    assert (found.lower, found.upper) == pytest.approx((student.low, student.high))


def test_one_policy_without_success_is_slower():
    """Four of four succeed before anyone else does; the log-rank test by hand.

    Of 8, 7, 6 and 5 still running one succeeds each time, expected 4/8, 3/7, 2/6 and 1/5 of the
    first policy, with the variance of as many coins.
    """
    first = success_times([SUCCESS] * 4, [1, 2, 3, 4], 9)
    second = success_times([TIME_OUT] * 4, [9] * 4, 9)
    chances = np.array([4 / 8, 3 / 7, 2 / 6, 1 / 5])
    statistic = (4 - chances.sum()) ** 2 / (chances * (1 - chances)).sum()
    for order in ((first, second), (second, first)):
        assert log_rank(*order) == pytest.approx(stats.chi2.sf(statistic, 1))


def test_no_claim_without_spread():
    never = success_times([TIME_OUT, FAILURE], [50, 3], 50)
    found = restricted_mean(never)
    assert (found.mean, found.standard_error) == (50, 0)
    some = restricted_mean(success_times([SUCCESS, TIME_OUT], [20, 50], 50))
    assert restricted_mean_difference(found, some, paired=False) is None
    assert restricted_mean_difference(some, some, paired=True) is None
    one = restricted_mean(success_times([SUCCESS], [20], 50))
    assert np.isnan(one.standard_error)
    assert restricted_mean_difference(one, some, paired=False) is None
    assert log_rank(never, never) is None
    assert success_curve(never).share.max() == 0
