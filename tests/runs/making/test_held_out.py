"""Every episode is judged by networks that never saw it, and every task keeps a teacher."""

from dataclasses import replace

import numpy as np
import pytest

from goalward.config import EvaluationConfig
from goalward.errors import GoalwardError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.runs.making.held_out import Fold, folds_of, hindsight_of
from goalward.values.table import ValueTable


def rollouts(*kinds):
    """(task, is success) per episode."""
    return Rollouts(
        [
            Episode(
                str(i),
                3,
                Outcome.SUCCESS if success else Outcome.TIME_OUT,
                goal_frame=2 if success else None,
                task=task,
            )
            for i, (task, success) in enumerate(kinds)
        ]
    )


def test_one_fold_holds_out_both_outcomes_in_proportion():
    episodes = rollouts(*[("a", i < 12) for i in range(20)])
    (fold,) = folds_of(episodes, num_folds=1, test_fraction=0.25, seed=0)
    assert sorted([*fold.training, *fold.held_out]) == list(range(20))
    assert episodes.select(fold.held_out).success.sum() == 3
    assert len(fold.held_out) == 5


@pytest.mark.parametrize("num_folds", [2, 3, 5])
def test_folds_hold_each_episode_out_once(num_folds):
    episodes = rollouts(*[("ab"[i % 2], i % 3 > 0) for i in range(23)])
    folds = folds_of(episodes, num_folds=num_folds, test_fraction=0.25, seed=1)
    assert len(folds) == num_folds
    assert sorted(np.concatenate([fold.held_out for fold in folds])) == list(range(23))
    sizes = [len(fold.held_out) for fold in folds]
    assert max(sizes) - min(sizes) <= 1
    for fold in folds:
        assert not set(fold.training) & set(fold.held_out)


def test_the_only_episode_of_a_task_is_never_held_out():
    episodes = rollouts(("a", True), ("a", False), ("a", True), ("b", True))
    for num_folds in (1, 2):
        for fold in folds_of(episodes, num_folds=num_folds, test_fraction=0.5, seed=0):
            assert 3 in fold.training


def test_a_task_is_never_held_out_whole():
    episodes = rollouts(("a", True), ("a", False), ("b", True), ("b", False))
    for seed in range(20):
        (fold,) = folds_of(episodes, num_folds=1, test_fraction=0.5, seed=seed)
        trained = {episodes[int(i)].task for i in fold.training}
        assert trained == {"a", "b"}


def test_what_cannot_be_split_is_said():
    with pytest.raises(GoalwardError, match="one episode cannot be both"):
        folds_of(rollouts(("a", True)), num_folds=1, test_fraction=0.25, seed=0)
    with pytest.raises(GoalwardError, match="^every task has one episode only: there is nothing"):
        folds_of(rollouts(("a", True), ("b", True)), num_folds=1, test_fraction=0.5, seed=0)
    with pytest.raises(GoalwardError, match="3 episodes do not make 4 folds"):
        folds_of(rollouts(*[("a", True)] * 3), num_folds=4, test_fraction=0.5, seed=0)


def test_the_same_seed_gives_the_same_folds():
    episodes = rollouts(*[("a", i % 2 == 0) for i in range(16)])
    once, twice = (folds_of(episodes, num_folds=4, test_fraction=0.25, seed=3) for _ in range(2))
    other = folds_of(episodes, num_folds=4, test_fraction=0.25, seed=4)
    assert [f.held_out.tolist() for f in once] == [f.held_out.tolist() for f in twice]
    assert [f.held_out.tolist() for f in once] != [f.held_out.tolist() for f in other]


def test_two_episodes_of_one_task_are_not_called_one():
    words = (
        "leave none to hold out: it takes two of one outcome, a larger test_fraction=, or folds=2$"
    )
    with pytest.raises(GoalwardError, match=f"^2 episodes of 1 task {words}"):
        folds_of(rollouts(("a", True), ("a", False)), num_folds=1, test_fraction=0.25, seed=0)


def twice(num_starts):
    """Each start recorded twice, with the same end: successes and failures in turn."""
    draws = np.random.default_rng(0)
    outcomes = [Outcome.SUCCESS, Outcome.FAILURE] * (num_starts // 2)
    episodes = [
        Episode(f"{start}{take}", 4, outcome, 3 if outcome is Outcome.SUCCESS else None)
        for start, outcome in enumerate(outcomes)
        for take in "ab"
    ]
    features = np.repeat(draws.normal(size=(num_starts, 3)), 8, axis=0).astype(np.float32)
    steps = np.full((2, 1, 8 * num_starts), 3.0, dtype=np.float32)
    table = ValueTable(
        ("mc", "td"),
        (0,),
        tuple(episode.id for episode in episodes),
        ("",) * len(episodes),
        np.arange(1, len(episodes) + 1) * 4,
        -steps,
        steps,
    )
    return Rollouts(episodes, features=features), table


def test_the_data_choose_how_far_hindsight_follows_the_recording():
    episodes, table = twice(6)
    every = np.arange(12)
    one = (Fold("held out", every[:0], every),)
    config = EvaluationConfig(hindsight=None)
    found = hindsight_of(table, episodes, one, 0.5, config)
    assert (found.decay, found.num_groups, found.num_episodes) == (1.0, 6, 12)
    assert hindsight_of(table, episodes, one, 0.5, replace(config, hindsight=0.9)).decay == 0.9
    # The networks that judge one take have learned from the other.
    apart = (Fold("fold 0", every[1::2], every[::2]), Fold("fold 1", every[::2], every[1::2]))
    assert hindsight_of(table, episodes, apart, 0.5, config).decay == 0.98
    # Episodes that are not held out say nothing.
    few = (Fold("held out", every[8:], every[:8]),)
    assert hindsight_of(table, episodes, few, 0.5, config).num_groups == 4


def test_siblings_are_of_one_fold_of_the_methods_own():
    """By default a method holds episodes out by five folds of its own, others for every seed."""
    episodes, table = twice(60)
    seeds = np.concatenate([table.steps_to_goal] * 2, axis=1)
    table = replace(table, methods=("lambda-returns", "mc"), seeds=(0, 1), raw_value=-seeds)
    table = replace(table, steps_to_goal=seeds)
    every = np.arange(len(episodes))
    own = (Fold("own folds", every, every, is_own=True),)
    config = EvaluationConfig(methods=("lambda-returns", "mc"), seeds=2, folds=0)
    found = hindsight_of(table, episodes, own, 0.5, config)
    # One start in five is in one fold, by either seed.
    assert 10 < found.num_groups < 40
    assert found.num_episodes == 2 * found.num_groups
    assert found.decay == 1.0
    # With as many folds as episodes nothing is held out together.
    apart = replace(config, overrides={"lambda-returns.cross_fit": len(episodes)})
    assert hindsight_of(table, episodes, own, 0.5, apart).num_groups == 0
