"""Limits that solve their equation, looks before the last one, and steps right at the horizon."""

import math

import numpy as np
import pytest

from goalward import Outcome
from goalward.metrics.comparing.steps.comparison import StepTimes, shared_horizon
from goalward.metrics.comparing.steps.time_to_success import (
    restricted_mean,
    restricted_mean_difference,
    success_times,
)
from goalward.metrics.comparing.tables.outcome_table import (
    EpisodeOutcome,
    OutcomeTable,
    PolicyOutcomes,
)
from goalward.metrics.comparing.watching.sequential import difference_interval, log_capital, looks

SUCCESS, TIME_OUT = Outcome.SUCCESS, Outcome.TIME_OUT


# ---- while rollouts come in --------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(
    ("wins", "losses", "pairs"),
    [
        (40, 10, 100),
        (10, 40, 100),
        (3, 0, 5),
        # So many that all that is left lies between two of the differences tried first.
        (302_500, 0, 1_000_000),
        (0, 302_500, 1_000_000),
    ],
)
def test_limits_are_where_the_capital_reaches_what_refutes(wins, losses, pairs, level):
    found = difference_interval(wins, losses, pairs, level)
    assert found.lower < (wins - losses) / pairs < found.upper
    counts = [np.array([float(count)]) for count in (wins, losses, pairs)]
    for limit in found:
        capital = log_capital(np.array([float(limit)]), *counts)
        assert float(capital[0]) == pytest.approx(-math.log(1 - level), abs=1e-2)


def test_intervals_of_many_experiments_are_each_as_if_alone():
    wins, losses, pairs = (
        np.array([[40, 0], [3, 9]]),
        np.array([[10, 8], [0, 9]]),
        np.array([100, 20]),
    )
    found = difference_interval(wins, losses, pairs)
    assert found.lower.shape == found.upper.shape == (2, 2)
    for i in range(2):
        for j in range(2):
            alone = difference_interval(wins[i, j], losses[i, j], pairs[j])
            assert found.lower[i, j] == pytest.approx(float(alone.lower))
            assert found.upper[i, j] == pytest.approx(float(alone.upper))


def test_an_earlier_look_knows_what_was_there():
    second = [True, True, False, True, True, True]
    seen = looks([False] * 6, second)
    assert seen.level == 0.95
    for look in range(6):
        wins = sum(second[: look + 1])
        assert seen.interval(look) == difference_interval(wins, 0, look + 1)
    assert seen.interval() == seen.interval(5) == seen.interval(-1)


def test_small_integers_do_not_run_over():
    byte = np.uint8
    few = difference_interval(byte(10), byte(40), byte(100))
    assert few == difference_interval(10, 40, 100)


# ---- steps -------------------------------------------------------------------------------------


def policy(name, *steps, timed_out=()):
    ended = [(SUCCESS, s) for s in steps] + [(TIME_OUT, s) for s in timed_out]
    return PolicyOutcomes(
        name,
        tuple(
            EpisodeOutcome(str(i), outcome, s, "", None, None, "")
            for i, (outcome, s) in enumerate(ended)
        ),
    )


def mean_steps(one, level, horizon):
    rows = np.arange(len(one.episodes))
    return StepTimes(OutcomeTable((one,)), horizon).mean(0, rows, level)


def test_a_success_in_the_last_step_is_one():
    assert success_times([SUCCESS, SUCCESS], [90, 91], 90).reached.tolist() == [True, False]


def test_the_mean_of_nearly_equal_steps_has_an_interval():
    """10 and 11 by turns: standard error sqrt(1/3) / 2; Student's table has 3.182 for 3 degrees."""
    mean, interval = mean_steps(policy("a", 10, 11, 10, 11), 0.95, 20)
    assert mean == pytest.approx(10.5)
    assert interval == pytest.approx((10.5 - 3.182 * 0.28868, 10.5 + 3.182 * 0.28868), abs=1e-3)


def test_the_interval_of_a_mean_lies_between_nothing_and_the_horizon():
    assert mean_steps(policy("a", 0, 1), 0.95, 20)[1] == (
        0,
        pytest.approx(0.5 + 12.706 / 2, abs=1e-2),
    )
    assert mean_steps(policy("a", 19, 20), 0.95, 20)[1][1] == 20


def test_a_difference_of_nearly_equal_steps_is_known_and_one_without_spread_is_not():
    some, more, none = (
        restricted_mean(success_times([SUCCESS] * 4, steps, 50))
        for steps in ((10, 11, 10, 11), (12, 13, 12, 13), (12, 12, 12, 12))
    )
    for paired in (True, False):
        assert restricted_mean_difference(some, none, paired=paired) is None
        assert restricted_mean_difference(none, some, paired=paired) is None
    # Welch: the sum of two variances of 1/12, and 6 degrees of freedom (2.447).
    found = restricted_mean_difference(some, more, paired=False)
    assert (found.lower, found.upper) == pytest.approx(
        (2 - 2.447 * math.sqrt(1 / 6), 2 + 2.447 * math.sqrt(1 / 6)), abs=1e-3
    )


def test_notes_on_steps_in_full():
    early, late = policy("a", 5, timed_out=(60, 100)), policy("b", 5, timed_out=(100,))
    notes = []
    assert shared_horizon(OutcomeTable((early, late)), notes) == 100
    assert notes == [
        "a: 1 of its time-outs came before step 100; if these episodes failed for good, say so in "
        "a column outcome or time_out"
    ]
    notes = []
    unknown = [policy(name, None) for name in "vwxyz"]
    assert shared_horizon(OutcomeTable(tuple(unknown)), notes) is None
    assert notes == ["steps are not compared: no column steps for v, w, x and 2 more"]
