"""A clock that cuts episodes off does not make chances look better or worse than they are."""

import numpy as np
import pytest

from goalward.metrics.scores.censored_brier import (
    LEAST_SEEN,
    base_rate_brier,
    censored_brier,
    seen_frames,
)
from goalward.metrics.uncertainty.weighing import only_score
from goalward.rollouts.endings import Endings


def test_without_a_clock_every_frame_counts_once():
    """Successes and failures alone: the plain Brier score, frames after the goal left out."""
    endings = Endings(np.array([4, 6]), np.array([2, -1]), np.array([False, True]))
    seen = seen_frames(endings, num_steps=1)
    assert seen.weight[[0, 1, 2, 4, 5]].tolist() == [1] * 5
    assert seen.reached.astype(int).tolist() == [0, 1, 1, 0, 0, 0]
    chance = np.array([0.5, 1, 1, 0.9, 0, 1])
    found = only_score(censored_brier(chance, endings, 1)).value
    # The frame after the goal, of steps -1, counts nothing.
    assert found == pytest.approx((0.25 + 0 + 0 + 0 + 1) / 5)


def test_a_frame_that_the_clock_cut_off_is_no_failure():
    """Three steps were seen of none of its frames; nothing is known of them."""
    endings = Endings(np.array([3]), np.array([-1]))
    assert seen_frames(endings, num_steps=3).weight.tolist() == [0, 0, 0]
    assert censored_brier(np.zeros(3), endings, 3) == "no frame was seen for 3 steps"
    # Two were seen of the first, and it has not succeeded.
    assert (seen_frames(endings, num_steps=2).weight > 0).tolist() == [True, False, False]


def test_nothing_is_said_without_chances():
    endings = Endings(np.array([3]), np.array([2]))
    assert censored_brier(None, endings, 2) == base_rate_brier(None, endings, 2)
    assert censored_brier(None, endings, 2) == "no chances were given"


@pytest.mark.parametrize("num_steps", [5, 20])
def test_right_chances_have_the_score_they_would_have_without_a_clock(num_steps):
    """A constant chance of 5 % per step; clocks of 5 to 60 steps that say nothing of it.

    Where frames that were cut off count as failures, the share that succeeds comes out too low.
    """
    draws = np.random.default_rng(0)
    steps, clocks = draws.geometric(0.05, 4000), draws.integers(5, 61, 4000)
    succeeded = steps <= clocks
    lengths = np.minimum(steps, clocks) + 1
    endings = Endings(np.cumsum(lengths), np.where(succeeded, steps, -1))
    chance = 1 - 0.95**num_steps
    # Goal frames are there already; all the others succeed in time with this chance.
    at_goal = endings.steps == 0
    said = np.where(at_goal, 1.0, chance)
    seen = seen_frames(endings, num_steps)
    share = (seen.weight * seen.reached)[~at_goal].sum() / seen.weight[~at_goal].sum()
    assert share == pytest.approx(chance, abs=0.006)
    within = seen.reached[~at_goal].mean()
    assert within < chance - 0.01
    goals = seen.weight[at_goal].sum() / seen.weight.sum()
    wanted = (1 - goals) * chance * (1 - chance)
    found = only_score(censored_brier(said, endings, num_steps)).value
    assert found == pytest.approx(wanted, abs=0.006)


def test_a_lone_frame_does_not_stand_for_a_crowd():
    """Of 1,000 frames with a step on the clock one has a hundred: it would count 1,000 times."""
    ends = np.append(2 * np.arange(1, 1001), 2101)
    seen = seen_frames(Endings(ends, np.full(1001, -1)), num_steps=100)
    assert seen.weight.max() == 1 / LEAST_SEEN == 20


def test_the_base_rate_is_the_best_that_one_can_always_say():
    draws = np.random.default_rng(2)
    goals = np.where(np.arange(40) % 2, draws.integers(3, 20, 40), -1)
    endings = Endings(20 * np.arange(1, 41), goals)
    base = only_score(base_rate_brier(np.zeros(800), endings, 6)).value
    constants = [
        only_score(censored_brier(np.full(800, share), endings, 6)).value
        for share in np.linspace(0, 1, 201)
    ]
    assert base <= min(constants)
    assert base == pytest.approx(min(constants), abs=1e-4)
