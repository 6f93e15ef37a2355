"""Hindsight values: literal numbers, and worlds in which the right decay is known."""

import numpy as np
import pytest

from goalward.errors import GoalwardError
from goalward.rollouts.endings import Endings
from goalward.values.hindsight import (
    CANDIDATES,
    HindsightChoice,
    choose_hindsight,
    groups_alike,
    hindsight_values,
    with_hindsight,
)
from goalward.values.table import ValueTable, read_values

# A success that is filmed on for a frame, a time-out, a failure.
ENDINGS = Endings(np.array([4, 7, 9]), np.array([2, -1, -1]), np.array([False, False, True]))
VALUE = np.array([0.5, 0.2, 0.4, 0.9, 0.6, 0.2, 0.0, -0.2, 0.0])


def test_literal_numbers():
    found = hindsight_values(VALUE, ENDINGS, discount=0.5, decay=0.5)
    # Powers are (1 - V) / 2; G(1) = 0.5 * 1, G(0) = 0.5 * (0.5 * 0.4 + 0.5 * 0.5) = 0.225.
    success = [1 - 2 * 0.225, 0.0, -1.0, -1.0]
    # The clock ran out at W = 0.5; G(1) = 0.25, G(0) = 0.5 * (0.5 * 0.4 + 0.5 * 0.25) = 0.1625.
    time_out = [1 - 2 * 0.1625, 0.5, 0.0]
    assert found == pytest.approx([*success, *time_out, 1.0, 1.0])


def test_where_the_clock_ran_out_hindsight_is_the_value():
    for decay in CANDIDATES:
        assert hindsight_values(VALUE, ENDINGS, 0.9, decay)[6] == 0.0


def test_a_decay_of_one_is_the_recording_and_zero_the_next_frame():
    alone = hindsight_values(VALUE, ENDINGS, 0.5, decay=1.0)
    # Two steps and one step before a goal; two steps and one before a frame of value 0.
    assert alone[:7] == pytest.approx([0.5, 0.0, -1.0, -1.0, 0.75, 0.5, 0.0])
    following = hindsight_values(VALUE, ENDINGS, 0.5, decay=0.0)
    assert following[[0, 4]] == pytest.approx([1 - 2 * 0.5 * 0.4, 1 - 2 * 0.5 * 0.4])


def test_the_mean_over_seeds_is_the_hindsight_of_the_mean():
    seeds = np.random.default_rng(0).uniform(-1, 1, (2, 3, 9))
    found = hindsight_values(seeds, ENDINGS, 0.9, 0.7)
    assert found.shape == (2, 3, 9)
    of_mean = hindsight_values(seeds.mean(axis=1), ENDINGS, 0.9, 0.7)
    np.testing.assert_allclose(found.mean(axis=1), of_mean, atol=1e-12)


def table() -> ValueTable:
    steps = np.array([[[2, 1, 5, 7, np.inf, 1, 1, 2, 3]]], dtype=np.float32)
    return ValueTable(
        ("mc",), (0,), ("a", "b", "c"), ("",) * 3, ENDINGS.episode_ends, -steps, steps
    )


def test_a_table_gets_both_numbers_and_keeps_them_on_disk(tmp_path):
    found = with_hindsight(table(), ENDINGS, discount=0.5, decay=1.0)
    assert found.common_values("mc")[0].tolist() == [
        0.5, 0, 1 - 2 / 32, 1 - 2 / 128, 1, 0, 0, 0.5, 0.75
    ]  # fmt: skip
    assert found.hindsight_values("mc")[0].tolist() == [0.5, 0, -1, -1, 0.75, 0.5, 0, 1, 1]
    found.write(tmp_path / "values.parquet")
    again = read_values(tmp_path / "values.parquet")
    assert again.to_arrow().column_names[-2:] == ["value", "hindsight_value"]
    np.testing.assert_array_equal(again.value, found.value)
    np.testing.assert_array_equal(again.hindsight_value, found.hindsight_value)


def test_a_table_without_says_so(tmp_path):
    table().write(tmp_path / "values.parquet")
    without = read_values(tmp_path / "values.parquet")
    with pytest.raises(GoalwardError, match="raw values and steps alone"):
        without.common_values("mc")
    with pytest.raises(GoalwardError, match="raw values and steps alone"):
        without.hindsight_values("mc")


# ---- the choice ---------------------------------------------------------------------------------

NUM_STARTS, NUM_EACH, NUM_FRAMES = 40, 3, 61
DISCOUNT = 0.98


def world(shared: bool):
    """Episodes of 40 starts, three of each, that reach the goal in 60 steps or fail there.

    Which of the two is decided by a coin that no feature shows until the last third. `shared`: one
    coin a start, a hidden detail. Else one coin an episode, luck. The value is exact for who sees
    the features: half of discount^steps first, all or nothing of it once the coin shows.
    """
    draws = np.random.default_rng(0)
    num_episodes = NUM_STARTS * NUM_EACH
    start_of = np.repeat(np.arange(NUM_STARTS), NUM_EACH)
    coins = draws.random(NUM_STARTS)[start_of] if shared else draws.random(num_episodes)
    success = coins < 0.5
    ends = np.arange(1, num_episodes + 1) * NUM_FRAMES
    endings = Endings(ends, np.where(success, NUM_FRAMES - 1, -1), ~success)
    steps = np.arange(NUM_FRAMES)[::-1]
    chance = np.where(np.arange(NUM_FRAMES) < 40, 0.5, success[:, None])
    power = chance * DISCOUNT**steps
    features = np.zeros((num_episodes, NUM_FRAMES, 2))
    features[:, 0] = draws.normal(size=(NUM_STARTS, 2))[start_of]
    return (1 - 2 * power).ravel(), endings, features.reshape(-1, 2)


def choose(value, endings, features, **options):
    num = endings.num_episodes
    told = {"tasks": [""] * num, "folds": ["held out"] * num} | options
    # Of one judge, unless the test has several.
    told["folds"] = [told["folds"]] if isinstance(told["folds"][0], str) else told["folds"]
    return choose_hindsight(value, endings, DISCOUNT, features=features, **told)


def test_where_all_is_luck_the_recording_is_not_followed():
    found = choose(*world(shared=False))
    assert found.decay == 0.0
    assert (found.num_groups, found.num_episodes) == (40, 120)
    assert found.reason.startswith("chosen by the data: of 40 starts")
    errors = {one.decay: one.error for one in found.errors}
    assert tuple(errors) == CANDIDATES
    # Luck of the other alone, and with that of the episode itself: twice the variance.
    variance = 0.25 * DISCOUNT**120
    assert errors[0.0] == pytest.approx(variance, rel=0.1)
    assert errors[1.0] == pytest.approx(2 * variance, rel=0.15)


def test_where_all_is_hidden_detail_the_recording_is_followed_to_its_end():
    found = choose(*world(shared=True))
    assert found.decay == 1.0
    errors = [one.error for one in found.errors]
    assert errors[-1] == pytest.approx(0.0, abs=1e-12)
    assert errors == sorted(errors, reverse=True)


def test_a_decay_that_is_given_is_taken():
    found = choose(*world(shared=True), given=0.5)
    assert (found.decay, found.reason) == (0.5, "as it was asked for")
    assert found.errors == ()
    assert choose(*world(shared=True), given=0.0).decay == 0.0


def test_four_starts_are_too_few():
    value, endings, features = world(shared=True)
    for num_starts, decay in ((4, 0.98), (5, 1.0)):
        folds = ["held out"] * (NUM_EACH * num_starts)
        folds += [""] * (endings.num_episodes - len(folds))
        assert choose(value, endings, features, folds=folds).decay == decay
    folds = ["held out"] * NUM_EACH + [""] * (endings.num_episodes - NUM_EACH)
    assert choose(value, endings, features, folds=folds) == HindsightChoice(
        0.98,
        "the default: 1 start was recorded more than once in one held-out part, and it takes 5 "
        "for the data to choose",
        1,
        3,
    )


def test_without_features_nothing_starts_alike():
    value, endings, _ = world(shared=True)
    found = choose(value, endings, None)
    assert (found.decay, found.num_groups) == (0.98, 0)
    assert found.reason.startswith("the default: no start was recorded more than once")


def test_siblings_are_of_one_fold():
    """Networks that judge an episode may have learned how its sibling in another fold ended."""
    value, endings, features = world(shared=True)
    folds = [f"fold {i % NUM_EACH}" for i in range(endings.num_episodes)]
    assert choose(value, endings, features, folds=folds).num_groups == 0


def test_every_judge_knows_the_siblings_that_it_held_out_together():
    """Of two seeds with folds of their own one held out 20 starts together, the other 4 of these
    and 2 more: 22 starts chose, each by the values of those who held it out."""
    value, endings, features = world(shared=True)
    apart = [f"fold {i % NUM_EACH}" for i in range(endings.num_episodes)]
    first, second = list(apart), list(apart)
    first[: 20 * NUM_EACH] = ["together"] * (20 * NUM_EACH)
    second[16 * NUM_EACH : 22 * NUM_EACH] = ["together"] * (6 * NUM_EACH)
    values = np.stack([value, value])
    found = choose(values, endings, features, folds=[first, second])
    assert (found.decay, found.num_groups, found.num_episodes) == (1.0, 22, 66)
    # What a judge says of siblings that it did not hold out together is not asked for.
    values[1, : 16 * NUM_EACH * NUM_FRAMES] = np.nan
    assert choose(values, endings, features, folds=[first, second]).errors == found.errors


def test_starts_are_alike_up_to_noise_and_in_one_task_alone():
    # What never changes makes no two starts more alike; the deviation of such a column is not 0.
    first = np.array([[0.0], [1.0], [2.0], [3.0], [0.001], [2.2]])
    starts = np.concatenate([first, np.full((6, 400), 0.1)], axis=1)
    folds = ["x"] * 6

    def groups(tasks):
        return [group.tolist() for group in groups_alike(starts, tasks, folds)]

    assert groups([""] * 6) == [[0, 4]]
    assert groups(["a", "a", "a", "a", "b", "b"]) == []


def test_the_same_start_of_all_is_one_group():
    # The mean of three times 0.1 is not 0.1.
    starts = np.full((3, 2), 0.1)
    assert [group.tolist() for group in groups_alike(starts, [""] * 3, ["x"] * 3)] == [[0, 1, 2]]
