"""Intervals of mean scores: against Clopper-Pearson, random draws, and the truth."""

import numpy as np
import pytest
from scipy import stats

from goalward.metrics.comparing.partial_credit.mean_interval import (
    difference_by_task,
    difference_interval,
    mean_interval,
    paired_difference_interval,
)
from goalward.metrics.comparing.partial_credit.random_weights import above, upper_quantile
from goalward.metrics.uncertainty.proportions import clopper_pearson


def test_random_weights_of_two_numbers_are_a_beta_distribution():
    for more, fewer in [(3.0, 1.0), (1.0, 9.0), (50.0, 3.0), (500.0, 500.0), (0.5, 1.5)]:
        counts = np.array([fewer, more])
        for tail in (0.001, 0.025, 0.5):
            expected = stats.beta.isf(tail, more, fewer)
            found = float(upper_quantile(np.array([0.0, 1.0]), counts, tail))
            assert found == pytest.approx(expected, abs=1e-7)
            chance = float(above(np.array([0.0, 1.0]), counts, np.array(expected)))
            assert chance == pytest.approx(tail, rel=1e-6)


def test_random_weights_of_many_numbers_by_drawing_them():
    numbers = np.array([0.0, 0.1, 0.1, 0.35, 0.5, 0.8, 1.0])
    drawn = np.random.default_rng(0).dirichlet(np.ones(7), 400_000) @ numbers
    limits = np.array([0.2, 0.4, 0.6])
    chance = above(np.broadcast_to(numbers, (3, 7)), np.ones((3, 7)), limits)
    assert chance == pytest.approx((drawn > limits[:, None]).mean(axis=1), abs=0.003)


def test_limits_beyond_all_numbers():
    numbers, counts = np.array([0.2, 0.6]), np.ones(2)
    assert float(above(numbers, counts, np.array(0.1))) == 1.0
    assert float(above(numbers, counts, np.array(0.7))) == 0.0
    # A number that is there 0 times is not there.
    assert float(above(np.array([0.2, 0.6, 1.0]), np.array([1.0, 1, 0]), np.array(0.7))) == 0.0


@pytest.mark.parametrize(("successes", "total"), [(0, 7), (7, 7), (9, 10), (1, 2), (130, 400)])
def test_scores_of_0_and_1_have_clopper_and_pearsons_interval(successes, total):
    scores = [1.0] * successes + [0.0] * (total - successes)
    assert np.array(mean_interval(scores, 0.9)) == pytest.approx(
        np.array(clopper_pearson(successes, total, 0.9)), abs=1e-9
    )


def test_the_order_of_scores_and_the_shape_of_arrays_do_not_matter():
    scores = np.random.default_rng(3).integers(0, 5, (4, 2, 30)) / 4
    together = mean_interval(scores)
    for i in range(4):
        for j in range(2):
            alone = mean_interval(scores[i, j][::-1])
            assert float(together.lower[i, j]) == pytest.approx(float(alone.lower), abs=1e-9)
            assert float(together.upper[i, j]) == pytest.approx(float(alone.upper), abs=1e-9)


def test_turning_scores_around_turns_the_interval_around():
    scores = np.array([0.1, 0.2, 0.9, 1.0, 1.0, 0.75])
    lower, upper = mean_interval(scores)
    turned = mean_interval(1 - scores)
    assert float(turned.upper) == pytest.approx(1 - float(lower), abs=1e-9)
    assert float(turned.lower) == pytest.approx(1 - float(upper), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "choices", "chances"),
    [
        ("rubric", [0, 0.25, 0.5, 0.75, 1], [0.1, 0.1, 0.2, 0.2, 0.4]),
        ("mostly 1", [0, 0.5, 0.75, 1], [0.03, 0.02, 0.05, 0.9]),
        ("nearly constant", [0, 0.78, 0.8, 0.82], [0.02, 0.3, 0.38, 0.3]),
    ],
)
def test_it_holds_the_truth(name, choices, chances):
    truth = float(np.dot(choices, chances))
    for size in (5, 20):
        scores = np.random.default_rng(size).choice(choices, (1_000, size), p=chances)
        lower, upper = mean_interval(scores)
        # Student's interval holds it in 25 to 94 % of these experiments.
        assert ((lower <= truth) & (truth <= upper)).mean() >= 0.95


def test_paired_differences_are_a_mean_on_another_scale():
    first, second = np.array([0.5, 0.0, 1.0, 0.25]), np.array([1.0, 0.5, 1.0, 0.0])
    lower, upper = mean_interval((1 + second - first) / 2)
    found = paired_difference_interval(first, second)
    assert (found.lower, found.upper) == pytest.approx((2 * lower - 1, 2 * upper - 1))


def test_distances_of_two_policies_add_up_as_sides_of_a_triangle():
    first, second = [0.0, 0.5, 0.5, 1.0], [0.75, 1.0, 1.0]
    a, b = mean_interval(first), mean_interval(second)
    estimate = np.mean(second) - 0.5
    found = difference_interval(first, second)
    down = np.hypot(np.mean(second) - b.lower, a.upper - 0.5)
    assert float(found.lower) == pytest.approx(estimate - down)
    up = np.hypot(b.upper - np.mean(second), 0.5 - a.lower)
    assert float(found.upper) == pytest.approx(min(1.0, estimate + up))


def test_tasks_are_weighted_by_how_often_both_ran_them():
    # n1 n2 / (n1 + n2) is 5 and 1: differences of 0.5 and -1 make 1.5 / 6.
    first = [[0.5] * 10, [1.0] * 2]
    second = [[1.0] * 10, [0.0] * 2]
    found = difference_by_task(first, second)
    assert float(found.lower) < 0.25 < float(found.upper)
    same = difference_by_task([[0.5] * 10] * 9, [[0.75] * 10] * 9)
    one = difference_interval([0.5] * 10, [0.75] * 10)
    # Nine tasks alike: a third of the distance on either side.
    assert 0.25 - float(same.lower) == pytest.approx((0.25 - float(one.lower)) / 3)


@pytest.mark.parametrize("bad", [[], [0.5, 1.1], [-0.1], [float("nan")]])
def test_what_is_no_score_is_refused(bad):
    with pytest.raises(ValueError, match="score"):
        mean_interval(bad)
