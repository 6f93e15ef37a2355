import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalward import Outcome, RolloutError, Rollouts, concatenate, from_arrays


def make(num_successes=3, num_time_outs=2, tasks=("a",), size=2, **more) -> Rollouts:
    """Features count frames, so that every row can be recognised."""
    count = num_successes + num_time_outs
    lengths = [3 + i % 4 for i in range(count)]
    flat = np.arange(sum(lengths) * size, dtype=np.float32).reshape(-1, size)
    return from_arrays(
        flat,
        [i < num_successes for i in range(count)],
        episode_ends=np.cumsum(lengths),
        tasks=[tasks[i % len(tasks)] for i in range(count)],
        **more,
    )


def test_flat_arrays_follow_the_view():
    rollouts = make(2, 1)
    assert rollouts.lengths.tolist() == [3, 4, 5]
    assert rollouts.episode_ends.tolist() == [3, 7, 12]
    assert np.flatnonzero(rollouts.endings.at_goal).tolist() == [2, 6]
    view = rollouts.select([2, 0])
    assert view.ids == ("2", "0")
    assert view.episode_ends.tolist() == [5, 8]
    assert np.flatnonzero(view.endings.at_goal).tolist() == [7]
    assert view.features[:, 0].tolist() == [14, 16, 18, 20, 22, 0, 2, 4]


def test_a_view_of_neighbours_copies_nothing():
    rollouts = make(4, 4)
    assert np.shares_memory(rollouts[2:5].features, rollouts.features)
    assert rollouts[2:5].features[0, 0] == rollouts.features[rollouts.episode_ends[1], 0]
    assert rollouts[2:5][0] is rollouts[2]


def test_views_of_views():
    rollouts = make(3, 3)
    view = rollouts.where(outcome=Outcome.TIME_OUT)[1:]
    assert view.ids == ("4", "5")
    assert view.filter(lambda e: e.num_frames > 3).ids == ("5",)
    assert view[:0].num_frames == 0
    assert view[:0].features.shape == (0, 2)


@given(
    st.integers(1, 30),
    st.integers(1, 30),
    st.floats(0.05, 0.95),
    st.integers(0, 5),
    st.integers(1, 3),
)
def test_split_is_by_episode_stratified_and_seeded(successes, others, fraction, seed, num_tasks):
    rollouts = make(successes, others, tasks=[f"t{i}" for i in range(num_tasks)])
    train, test = rollouts.split(fraction, seed=seed)
    assert sorted(train.ids + test.ids, key=int) == list(rollouts.ids)
    assert rollouts.split(fraction, seed=seed)[1].ids == test.ids
    for task in rollouts.tasks:
        for outcome in (Outcome.SUCCESS, Outcome.TIME_OUT):
            whole = len(rollouts.where(task=task, outcome=outcome))
            tested = len(test.where(task=task, outcome=outcome))
            if whole > 1:
                assert 1 <= tested <= whole - 1
                assert abs(tested - fraction * whole) <= 1
            else:
                assert tested <= whole


def test_single_episodes_of_their_kind_are_pooled_over_tasks():
    train, test = make(6, 6, tasks=[f"t{i}" for i in range(12)]).split(0.5)
    assert (len(train), len(test)) == (6, 6)
    assert test.success.sum() == 3
    train, test = make(1, 1).split(0.5)
    assert (len(train), len(test)) == (2, 0)


def test_another_seed_splits_differently():
    rollouts = make(20, 20)
    assert rollouts.split(seed=0)[1].ids != rollouts.split(seed=1)[1].ids


def test_adding_a_task_does_not_move_episodes_of_another():
    both = make(8, 8, tasks=("a", "b"))
    alone = both.where(task="a")
    tested = set(both.split(seed=3)[1].where(task="a").ids)
    assert set(alone.split(seed=3)[1].ids) == tested


def test_balanced_samples_are_nested():
    rollouts = make(20, 30)
    small, large = rollouts.balanced(10, seed=1), rollouts.balanced(30, seed=1)
    assert small.success.sum() == 5
    assert large.success.sum() == 15
    assert len(small) == 10
    assert set(small.ids) < set(large.ids)
    assert rollouts.balanced(10, seed=2).ids != small.ids


def test_balanced_says_what_is_missing():
    with pytest.raises(RolloutError, match="needs 3 episodes without success, there are 2"):
        make(5, 2).balanced(6)
    with pytest.raises(ValueError, match="even"):
        make(5, 5).balanced(5)


def test_concatenation():
    first, second = make(1, 1, ids=["a", "b"]), make(2, 0, ids=["c", "d"], tasks=("z",))
    both = concatenate([first, second])
    assert both.ids == ("a", "b", "c", "d")
    assert both.tasks == ("a", "z")
    assert both.task_indices.tolist() == [0, 0, 1, 1]
    assert np.array_equal(both.features, np.concatenate([first.features, second.features]))
    assert len(both.sources) == 2


def test_concatenation_keeps_ids_apart():
    assert concatenate([make(1, 0), make(1, 0)]).ids == ("memory#0/0", "memory#1/0")


def test_what_cannot_be_concatenated():
    with pytest.raises(RolloutError, match=r"differ in size between data sets: \[2, 3\]"):
        concatenate([make(1, 0), make(1, 0, size=3)])
    with pytest.raises(RolloutError, match="nothing to concatenate"):
        concatenate([])
    pictures = {"front": [np.zeros((3, 2, 2, 3), np.uint8)]}
    with pytest.raises(RolloutError, match="cameras front"):
        concatenate([make(1, 0), make(1, 0, images=pictures)])


def test_clips_go_camera_by_camera():
    pictures = {name: [np.full((3, 2, 2, 3), i, np.uint8)] for i, name in enumerate("xy")}
    seen = [(e.id, name, next(f)[0, 0, 0]) for e, name, f in make(1, 0, images=pictures).clips()]
    assert seen == [("0", "x", 0), ("0", "y", 1)]


def test_unknown_episode():
    with pytest.raises(RolloutError, match="no episode 9 among 2"):
        make(1, 1).episode("9")
    assert make(1, 1).episode("1").outcome is Outcome.TIME_OUT


def test_features_can_be_attached_to_a_view():
    view = make(2, 2).where(outcome=Outcome.SUCCESS)
    other = view.with_features(np.ones((view.num_frames, 5), np.float32))
    assert other.features.shape == (view.num_frames, 5)
    with pytest.raises(RolloutError, match="features have 1 rows"):
        view.with_features(np.ones((1, 5), np.float32))


@pytest.mark.parametrize(
    ("chosen", "ids"),
    [
        ([0, 2], ("0", "2")),
        ((2, 0), ("2", "0")),
        ([-1, 0], ("4", "0")),
        (np.array([3, 1], np.uint8), ("3", "1")),
        ([True, False, False, False, True], ("0", "4")),
        (np.array([False, True, True, False, False]), ("1", "2")),
        ([], ()),
        (slice(1, 4, 2), ("1", "3")),
    ],
)
def test_several_episodes_by_position_or_by_truth(chosen, ids):
    rollouts = make(3, 2)
    assert rollouts[chosen].ids == ids
    assert rollouts[chosen].num_frames == sum(rollouts.episode(name).num_frames for name in ids)
    if not isinstance(chosen, slice):
        assert rollouts.select(chosen).ids == ids
    # Positions are those of the view, not of what it is a view of.
    view = rollouts[::-1]
    assert view[chosen].ids == tuple(str(4 - int(name)) for name in ids)


def test_one_episode_by_position():
    rollouts = make(3, 2)
    assert [rollouts[i].id for i in (0, -1, np.int64(3), np.uint8(1))] == ["0", "4", "3", "1"]
    for beyond in (5, -6, np.int64(5)):
        with pytest.raises(IndexError):
            rollouts[beyond]


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ([True], ValueError, r"4 episodes, but a mask of shape \(1,\)"),
        (True, ValueError, r"a mask of shape \(\)"),
        ([0.5], ValueError, "whole numbers, got float64"),
        (["0"], ValueError, "whole numbers, got <U1"),
        ([1, 1], ValueError, "name an episode twice"),
        ([0, -4], ValueError, "name an episode twice"),
        ([0, 4], IndexError, "no position 4 among 4 episodes"),
        ([-5], IndexError, "no position -5 among 4 episodes"),
        ([[0, 1], [2, 3]], ValueError, r"a list of numbers, got shape \(2, 2\)"),
    ],
)
def test_positions_that_make_no_sense(wrong, kind, message):
    rollouts = make(2, 2)
    for choose in (rollouts.select, rollouts.__getitem__):
        with pytest.raises(kind, match=message):
            choose(wrong)


def test_outcomes_by_name():
    assert make(1, 2).where(outcome="time_out").ids == ("1", "2")
    with pytest.raises(ValueError, match="no outcome 'sucess'; outcomes: success, time_out"):
        make(1, 2).where(outcome="sucess")


def test_a_single_data_set_is_not_a_list_of_them():
    with pytest.raises(RolloutError, match="takes a list"):
        concatenate(make(1, 1))
