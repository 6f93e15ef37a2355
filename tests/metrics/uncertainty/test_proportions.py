"""Intervals of success rates against published examples."""

import numpy as np
import pytest

from goalward.metrics.uncertainty.proportions import (
    clopper_pearson,
    difference,
    difference_by_task,
    paired_difference,
    task_weights,
    wilson,
)


def rounded(interval, digits=4):
    return [round(float(limit), digits) for limit in interval]


# Newcombe (1998), Statistics in Medicine 17:857-872, Table I: methods 3 (Wilson) and 5 (exact).
@pytest.mark.parametrize(
    ("successes", "total", "score", "exact"),
    [
        (81, 263, [0.2553, 0.3662], [0.2527, 0.3676]),
        (15, 148, [0.0624, 0.1605], [0.0578, 0.1617]),
        (0, 20, [0, 0.1611], [0, 0.1684]),
        (1, 29, [0.0061, 0.1718], [0.0009, 0.1776]),
    ],
)
def test_one_rate(successes, total, score, exact):
    assert rounded(wilson(successes, total)) == score
    assert rounded(clopper_pearson(successes, total)) == exact
    mirrored = wilson(total - successes, total)
    assert rounded(mirrored) == rounded((1 - np.array(score))[::-1])


# Newcombe (1998), Statistics in Medicine 17:873-890, Table II, method 10.
@pytest.mark.parametrize(
    ("second", "first", "limits"),
    [
        ((56, 70), (48, 80), [0.0524, 0.3339]),
        ((9, 10), (3, 10), [0.1705, 0.8090]),
        ((6, 7), (2, 7), [0.0582, 0.8062]),
        ((5, 56), (0, 29), [-0.0381, 0.1926]),
        ((0, 10), (0, 20), [-0.1611, 0.2775]),
        ((0, 10), (0, 10), [-0.2775, 0.2775]),
        ((10, 10), (0, 20), [0.6791, 1]),
        ((10, 10), (0, 10), [0.6075, 1]),
    ],
)
def test_difference_of_independent_rates(second, first, limits):
    assert rounded(difference(*first, *second)) == limits
    assert rounded(difference(*second, *first)) == [-limits[1], -limits[0]]


@pytest.mark.parametrize(
    ("wins", "losses", "pairs", "level", "limits"),
    [
        # Tango (1998), Statistics in Medicine 17:891-908, Tables VII and V.
        (9, 3, 32, 0.95, [-0.027, 0.390]),
        (0, 1, 44, 0.90, [-0.096, 0.037]),
        # Agresti and Min (2005), Statistics in Medicine 24:729-740.
        (16, 8, 86, 0.95, [-0.020, 0.207]),
        # Fagerland, Lydersen and Laake (2014), Statistics in Medicine 33:2850-2875.
        (1, 7, 21, 0.95, [-0.517, -0.026]),
    ],
)
def test_difference_of_paired_rates(wins, losses, pairs, level, limits):
    assert rounded(paired_difference(losses, wins, pairs, level), 3) == limits
    swapped = rounded(paired_difference(wins, losses, pairs, level), 3)
    assert swapped == [-limits[1], -limits[0]]


def test_pairs_without_or_with_only_one_winner():
    low, high = rounded(paired_difference(0, 0, 20))
    assert low == -high < 0
    assert rounded(paired_difference(0, 8, 8))[1] == 1
    assert rounded(paired_difference(8, 0, 8))[0] == -1


def test_tasks_weigh_as_mantel_and_haenszel_say():
    assert task_weights([50, 50], [50, 50]) == pytest.approx([0.5, 0.5])
    assert task_weights([10, 30], [10, 10]) == pytest.approx([5 / 12.5, 7.5 / 12.5])


def test_difference_over_tasks_solves_its_equation():
    # Klingenberg (2014), Statistics in Medicine 33:2968-2983: (d - D)^2 = z^2 var(D), with Sato's
    # variance (Biometrics 1989, 45:1323-1324) of the Mantel-Haenszel difference d.
    x1, n1 = np.array([3, 10, 7]), np.array([10, 12, 8])
    x2, n2 = np.array([6, 11, 8]), np.array([9, 15, 8])
    weight = n1 * n2 / (n1 + n2)
    estimate = (weight * (x2 / n2 - x1 / n1)).sum() / weight.sum()

    def variance(common):
        p = (n2**2 * x1 - n1**2 * x2 + n1 * n2 * (n1 - n2) / 2) / (n1 + n2) ** 2
        q = (x2 * (n1 - x1) + x1 * (n2 - x2)) / (2 * (n1 + n2))
        return (common * p.sum() + q.sum()) / weight.sum() ** 2

    lower, upper = difference_by_task(x1, n1, x2, n2)
    assert lower < estimate < upper
    for limit in (lower, upper):
        assert (estimate - limit) ** 2 == pytest.approx(1.959964**2 * variance(limit), rel=1e-5)
    assert rounded(difference_by_task(x2, n2, x1, n1)) == rounded((-upper, -lower))


def test_equal_large_tasks_agree_with_one_task():
    found = difference_by_task([70, 70, 70, 70], [100] * 4, [80, 80, 80, 80], [100] * 4)
    assert rounded(found, 2) == rounded(difference(280, 400, 320, 400), 2)


def test_tasks_that_always_end_alike_still_leave_doubt():
    found = difference_by_task([5, 0], [5, 5], [5, 0], [5, 5])
    assert rounded(found) == rounded(difference(5, 10, 5, 10))


@pytest.mark.parametrize("counts", [(-1, 5), (6, 5), (0, 0)])
def test_impossible_counts(counts):
    with pytest.raises(ValueError, match="successes"):
        wilson(*counts)
    with pytest.raises(ValueError, match="level"):
        wilson(1, 2, level=95)
