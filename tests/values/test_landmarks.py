"""Chances held against what happened at landmarks before the clock."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, special

from goalward.rollouts.endings import Endings
from goalward.targets.log_odds import moved
from goalward.values.chances import ChanceTable, read_chances
from goalward.values.landmarks import held_against_outcomes, landmarks, log_odds_step


def table(endings, chance, tasks=None):
    """Of one method that says `chance` (frames,) within any number of steps from 1 on."""
    chance = np.asarray(chance, dtype=np.float32)
    within = np.stack([0 * chance, chance, chance], axis=-1)[None]
    return ChanceTable(
        methods=("m",),
        episode_ids=tuple(map(str, range(endings.num_episodes))),
        episode_tasks=tasks or ("",) * endings.num_episodes,
        episode_ends=endings.episode_ends,
        num_steps=np.array([0, 1, 500]),
        within=within,
        at_end=within[:, None, None, endings.episode_ends - 1],
    )


def test_landmarks_look_at_those_still_running_and_by_the_middle_clock():
    """Clocks of 20 and 40 steps: a success after 30 did not come within the lower of the two."""
    endings = Endings(np.cumsum([21, 41, 31, 11]), np.array([-1, -1, 30, 10]))
    found = landmarks(endings, [""] * 4, np.ones(4, dtype=bool))
    of_last = found.frame >= 93  # the success after 10 steps
    assert (found.frame[of_last] - 93).tolist() == [2, 4, 6, 8]
    assert found.num_steps[of_last].tolist() == [18, 16, 14, 12]
    assert found.came[of_last].all()
    assert not found.came[~of_last].any()
    assert found.num_steps.max() == 18


def test_each_task_has_its_own_clock_and_held_out_episodes_alone_are_seen():
    endings = Endings(np.cumsum([11, 101, 101]), np.array([-1, -1, -1]))
    found = landmarks(endings, ["a", "b", "b"], np.array([True, True, False]))
    assert sorted(found.frame.tolist()) == [*range(1, 10), *range(11 + 10, 11 + 100, 10)]
    assert found.num_steps.max() == 90


@pytest.mark.parametrize("stopped", [[1], [2], [5], [11], [11, 5, 11]])
def test_a_few_short_time_outs_change_little(stopped):
    """They were stopped; what is said of all others does not become what is known of them."""
    lengths, goals = np.full(40, 41), np.where(np.arange(40) < 20, 30, -1)
    endings = Endings(np.cumsum(lengths), goals)
    alone = held_against_outcomes(
        table(endings, np.full(40 * 41, 0.8)), endings, np.ones(40, dtype=bool)
    )
    number = 40 + len(stopped)
    more = Endings(
        np.cumsum([*lengths, *stopped]), np.concatenate([goals, np.full(len(stopped), -1)])
    )
    beside = held_against_outcomes(
        table(more, np.full(more.num_frames, 0.8)), more, np.ones(number, dtype=bool)
    )
    assert alone.moved_by[0] < -1
    assert beside.moved_by == pytest.approx(alone.moved_by, abs=0.05)


def test_with_one_clock_every_episode_speaks_for_itself():
    endings = Endings(np.cumsum([41, 41, 31, 11]), np.array([-1, -1, 30, 10]))
    assert (landmarks(endings, [""] * 4, np.ones(4, dtype=bool)).weight == 1).all()


def test_chances_that_are_right_stay_where_clocks_differ():
    """One chance in fifty a step, clocks of 20 to 80 that know nothing of it: nothing to move."""
    draws = np.random.default_rng(0)
    number = 40_000
    goal, clock = draws.geometric(0.02, number), draws.integers(20, 81, number)
    lengths = np.minimum(goal, clock) + 1
    endings = Endings(np.cumsum(lengths), np.where(goal <= clock, goal, -1))
    found = landmarks(endings, [""] * number, np.ones(number, dtype=bool))
    step = log_odds_step(1 - 0.98**found.num_steps, found.came, found.weight)
    assert abs(step) < 0.03
    # Left out and not spoken for, those that were stopped make chances look too small.
    assert log_odds_step(1 - 0.98**found.num_steps, found.came) > 0.1


def test_a_failure_is_an_outcome():
    """It ended after 5 steps, which is no clock; from then on it is not looked at."""
    endings = Endings(np.cumsum([6, 21]), np.array([-1, -1]), np.array([True, False]))
    found = landmarks(endings, ["", ""], np.array([True, True]))
    assert found.frame[found.frame < 6].tolist() == [2, 4]
    assert found.num_steps.max() == 18


@pytest.mark.parametrize("seed", range(3))
def test_the_step_is_the_most_likely_one(seed):
    draws = np.random.default_rng(seed)
    chance, came = draws.uniform(0.01, 0.99, 400), draws.uniform(size=400) < 0.3

    def cost(step):
        odds = special.logit(chance) + step
        return (np.logaddexp(0, odds) - came * odds).sum() / 9 + step**2 / 2

    wanted = optimize.minimize_scalar(cost, bracket=(-3, 3)).x
    assert log_odds_step(chance, came) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(("said", "share"), [(0.1, 0.9), (0.02, 0.6), (0.005, 0.9), (0.9, 0.1)])
def test_chances_that_are_far_off_move_to_where_they_are_right(said, share):
    """Networks of another policy's run may say 10 % where 90 % succeed."""
    came = np.arange(900) < share * 900
    step = log_odds_step(np.full(900, said), came)
    assert moved(np.array([said]), step)[0] == pytest.approx(share, abs=0.1)


def test_networks_that_disagree_have_the_mean_that_is_told():
    """One says 10 %, the other 90 %: the share is of the mean chance that every file holds."""
    endings = Endings(np.cumsum([21] * 40), np.where(np.arange(40) < 8, 20, -1))
    chances = table(endings, np.full(840, 0.5))
    each = np.zeros((1, 2, 1, 40, 3), dtype=np.float32)
    each[..., 1] = np.array([0.1, 0.8])[None, :, None, None]
    each[..., 2] = np.array([0.1, 0.9])[None, :, None, None]
    chances.within[0, :, 1] = 0.45
    for goals in (np.where(np.arange(40) < 8, 20, -1), np.where(np.arange(40) < 35, 20, -1)):
        of_goals = Endings(endings.episode_ends, goals)
        told = held_against_outcomes(
            replace(chances, at_end=each), of_goals, np.ones(40, dtype=bool)
        )
        assert abs(told.moved_by[0]) > 1
        np.testing.assert_allclose(
            told.at_end[0].mean(axis=(0, 1)), told.within[0, endings.episode_ends - 1], atol=1e-6
        )
        assert told.at_end.min() >= 0
        assert told.at_end.max() <= 1
        assert (np.diff(told.at_end, axis=-1) >= 0).all()


def test_a_method_without_chances_is_left_as_it_is():
    """Two of three seeds see success coming: a share of seeds, which outcomes do not move."""
    endings = Endings(np.cumsum([21] * 40), np.full(40, -1))
    chances = table(endings, np.full(840, 2 / 3))
    each = np.zeros((1, 3, 1, 40, 3), dtype=np.float32)
    each[0, :2, ..., 1:] = 1
    told = held_against_outcomes(replace(chances, at_end=each), endings, np.ones(40, dtype=bool))
    np.testing.assert_array_equal(told.within, chances.within)
    assert told.moved_by == (0.0,)


def test_one_episode_moves_little_and_many_move_all_the_way():
    few, many = (log_odds_step(np.full(n, 0.5), np.zeros(n, dtype=bool)) for n in (9, 9000))
    assert -0.5 < few < 0
    assert moved(np.array([0.5]), many)[0] < 0.01


def test_too_hopeful_chances_are_right_on_average_afterwards():
    """Half are said to succeed, a tenth does: what is left is what one episode holds back."""
    lengths = np.full(200, 101)
    goals = np.where(np.arange(200) < 20, 95, -1)
    endings = Endings(np.cumsum(lengths), goals)
    chances = table(endings, np.full(200 * 101, 0.5))
    after = held_against_outcomes(chances, endings, np.ones(200, dtype=bool))
    assert after.within[0, :, 1].mean() == pytest.approx(0.1, abs=0.02)
    assert after.at_end[0, 0, 0, :, 1] == pytest.approx(
        after.within[0, endings.episode_ends - 1, 1]
    )


def test_no_and_certain_chances_stay_and_missing_networks_stay_missing():
    endings = Endings(np.array([11, 22]), np.array([-1, -1]))
    chances = table(endings, np.linspace(0, 1, 22))
    chances.at_end[0, 0, 0, 1] = np.nan
    after = held_against_outcomes(chances, endings, np.ones(2, dtype=bool))
    assert after.within[0, 0, 1] == 0
    assert after.within[0, -1, 1] == 1
    assert np.isnan(after.at_end[0, 0, 0, 1]).all()
    assert (after.within[0, 1:-1, 1] < chances.within[0, 1:-1, 1]).all()


@pytest.mark.parametrize("frames", [[1], [1, 1], [2], [3, 1]])
def test_episodes_too_short_for_a_landmark_move_nothing(frames):
    endings = Endings(np.cumsum(frames), np.full(len(frames), -1))
    chances = table(endings, np.full(sum(frames), 0.5))
    after = held_against_outcomes(chances, endings, np.ones(len(frames), dtype=bool))
    assert ((after.within > 0) | (chances.within == 0)).all()
    assert (after.within <= chances.within).all()


def test_how_far_chances_were_moved_is_kept_on_disk(tmp_path):
    """Whoever asks the same networks later, a monitor, must move what they say as far."""
    endings = Endings(np.cumsum([21] * 8), np.array([20, -1] * 4))
    said = table(endings, np.full(168, 0.8))
    told = held_against_outcomes(said, endings, np.ones(8, dtype=bool))
    told.write(tmp_path / "chances.parquet")
    (step,) = read_chances(tmp_path / "chances.parquet").moved_by
    assert step < 0
    assert told.within == pytest.approx(moved(said.within, step))
    assert said.moved_by == ()
