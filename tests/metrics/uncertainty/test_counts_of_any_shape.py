"""Success rates: one rollout, none or all of them, many experiments at once, small integers."""

import math

import numpy as np
import pytest
from scipy import optimize

from goalward.metrics.uncertainty.letters import compact_letters
from goalward.metrics.uncertainty.proportions import (
    clopper_pearson,
    difference,
    difference_by_task,
    paired_difference,
    task_weights,
    wilson,
)

EVERY_TOTAL = np.arange(1, 201)
NEWCOMBE = [0.0524, 0.3339]


def rounded(interval, digits=4):
    return [round(float(limit), digits) for limit in interval]


@pytest.mark.parametrize("rate", [wilson, clopper_pearson])
def test_none_and_all_reach_the_very_end(rate):
    """Exactly, whatever the number of rollouts: rounding may not leave a hair."""
    assert (rate(0 * EVERY_TOTAL, EVERY_TOTAL).lower == 0).all()
    assert (rate(EVERY_TOTAL, EVERY_TOTAL).upper == 1).all()
    assert (rate(0 * EVERY_TOTAL, EVERY_TOTAL).upper < 1).all()


def test_all_of_ten_by_hand():
    """Clopper and Pearson: the rate p with p^10 = 0.025. Wilson: n / (n + z^2)."""
    assert clopper_pearson(10, 10).lower == pytest.approx(0.025**0.1)
    assert clopper_pearson(0, 10).upper == pytest.approx(1 - 0.025**0.1)
    assert clopper_pearson(10, 10, level=0.5).lower == pytest.approx(0.25**0.1)
    assert wilson(10, 10).lower == pytest.approx(10 / (10 + 1.959964**2), abs=1e-6)
    assert wilson(1, 1).lower == pytest.approx(1 / (1 + 1.959964**2), abs=1e-6)


def test_small_integers_do_not_run_over():
    """Counts in one byte: 200 * 200 and 3 - 9 do not fit into it."""
    byte = np.uint8
    assert rounded(wilson(byte(81), np.uint16(263))) == [0.2553, 0.3662]
    assert rounded(difference(byte(48), byte(80), byte(56), byte(70))) == NEWCOMBE
    assert rounded(paired_difference(byte(9), byte(3), byte(32)), 3) == [-0.390, 0.027]
    even = np.array([200, 200], dtype=byte)
    assert task_weights(even, even) == pytest.approx([0.5, 0.5])


def test_many_experiments_are_each_as_if_alone():
    first, first_of = np.array([[3, 10, 7], [5, 0, 0]]), np.array([[10, 12, 8], [5, 5, 3]])
    second, second_of = np.array([[6, 11, 8], [5, 0, 0]]), np.array([[9, 15, 8], [5, 5, 7]])
    weights = task_weights(first_of, second_of)
    lower, upper = difference_by_task(first, first_of, second, second_of, level=0.8)
    assert lower.shape == upper.shape == (2,)
    for i in range(2):
        assert weights[i] == pytest.approx(task_weights(first_of[i], second_of[i]))
        alone = difference_by_task(first[i], first_of[i], second[i], second_of[i], level=0.8)
        assert rounded((lower[i], upper[i]), 12) == rounded(alone, 12)
    # Within each task of the second experiment all ended alike: Newcombe's of 5 / 13 and 5 / 17.
    assert rounded((lower[1], upper[1])) == rounded(difference(5, 13, 5, 17, level=0.8))


def test_a_difference_over_tasks_is_no_less_than_minus_one():
    """All of two, twice, against none of two and none of one: the equation's end lies outside."""
    lower, upper = difference_by_task([2, 2], [2, 2], [0, 0], [2, 1])
    assert lower == -1
    assert -1 < upper < 1
    swapped = difference_by_task([0, 0], [2, 1], [2, 2], [2, 2])
    assert swapped.upper == 1
    assert swapped.lower == pytest.approx(-upper)


def tango_score(difference, losses, wins, pairs):
    """(b - c - n d) over its deviation, at the likeliest share of losses if d is the difference."""
    ties = pairs - losses - wins

    def unlikelihood(share):
        chances = share + difference, share, 1 - 2 * share - difference
        return -sum(
            n * math.log(max(p, 1e-300)) if n else 0.0
            for n, p in zip((wins, losses, ties), chances, strict=True)
        )

    least, most = max(0.0, -difference), (1 - difference) / 2
    share = optimize.minimize_scalar(
        unlikelihood, bounds=(least, most), method="bounded", options={"xatol": 1e-12}
    ).x
    deviation = math.sqrt(pairs * (2 * share + difference * (1 - difference)))
    return (wins - losses - pairs * difference) / deviation


@pytest.mark.parametrize(
    ("losses", "wins", "pairs"), [(0, 1, 2), (1, 1, 3), (1, 2, 4), (0, 2, 3), (2, 5, 30), (0, 1, 1)]
)
def test_few_pairs_against_the_likelihood_itself(losses, wins, pairs):
    lower, upper = paired_difference(losses, wins, pairs)
    assert tango_score(float(lower), losses, wins, pairs) == pytest.approx(1.959964, abs=1e-3)
    if wins < pairs:
        assert tango_score(float(upper), losses, wins, pairs) == pytest.approx(-1.959964, abs=1e-3)


def test_pairs_of_many_experiments():
    lower, upper = paired_difference(np.array([3, 7]), np.array([9, 1]), np.array([32, 21]))
    assert rounded((lower[0], upper[0]), 3) == [-0.027, 0.390]
    assert rounded((lower[1], upper[1]), 3) == [-0.517, -0.026]


def test_all_pairs_won_reach_the_very_end():
    for pairs in (1, 3, 8, 50):
        assert paired_difference(0, pairs, pairs).upper == 1
        assert paired_difference(pairs, 0, pairs).lower == -1


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1])
def test_impossible_levels(level):
    with pytest.raises(ValueError, match=f"^level must lie between 0 and 1, got {level}$"):
        wilson(1, 2, level=level)


def test_impossible_counts_are_named():
    with pytest.raises(ValueError, match="^wanted 0 <= successes <= totals and totals above 0$"):
        difference(1, 2, 3, 2)


def test_two_names_may_differ():
    assert compact_letters(["x", "y"], {frozenset({"x", "y"})}) == {"x": "a", "y": "b"}


@pytest.mark.parametrize(
    ("names", "differs", "order", "message"),
    [
        (["x", "x"], set(), None, "^names must differ, and the order must hold each of them once$"),
        (["x"], np.zeros((2, 2), dtype=bool), None, "^1 names need a symmetric matrix of that"),
        (["x", "y"], {frozenset({"x"})}, None, r"^not a pair of two of the names: \['x'\]$"),
    ],
)
def test_wrong_input_for_letters_is_named(names, differs, order, message):
    with pytest.raises(ValueError, match=message):
        compact_letters(names, differs, order)
