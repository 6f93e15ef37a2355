"""What training knows of recorded frames, frame by frame."""

import numpy as np
import pytest

import goalward
from goalward.rollouts import episode as episode_module
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.training.frames.training_frames import training_frames


@pytest.fixture
def recorded():
    """A success filmed on after its goal, a time-out, a failure."""
    episodes = [
        Episode("a", 4, Outcome.SUCCESS, goal_frame=1, task="lift"),
        Episode("b", 3, Outcome.TIME_OUT, task="turn"),
        Episode("c", 2, Outcome.FAILURE, task="lift"),
    ]
    return Rollouts(episodes, features=np.arange(18, dtype=np.float32).reshape(9, 2))


def test_frames(recorded):
    frames = training_frames(recorded)
    assert np.array_equal(frames.features, recorded.features)
    assert frames.num_frames == 9
    assert frames.num_episodes == 3
    assert frames.episode_id == ("a", "b", "c")
    assert frames.episode_task == ("lift", "turn", "lift")
    assert frames.episode_ends.tolist() == [4, 7, 9]
    assert frames.steps.tolist() == [1, 0, 0, 0, 2, 1, 0, 1, 0]
    assert frames.reached.tolist() == [True] * 4 + [False] * 5
    assert frames.ended_in(Outcome.SUCCESS).tolist() == [True] * 4 + [False] * 5
    assert frames.ended_in(Outcome.TIME_OUT).tolist() == [False] * 4 + [True] * 3 + [False] * 2
    assert frames.ended_in(Outcome.FAILURE).tolist() == [False] * 7 + [True] * 2
    assert frames.frames_of((0, 2)).tolist() == [True] * 4 + [False] * 3 + [True] * 2
    assert not frames.frames_of(()).any()


def test_the_horizon_is_the_most_steps_between_two_frames(recorded):
    assert training_frames(recorded).horizon == 3
    assert training_frames(recorded.select([2])).horizon == 1
    single = goalward.from_arrays([np.zeros((1, 1))], success=[True])
    assert training_frames(single).horizon == 1


def test_what_cannot_be_learned_from(recorded):
    with pytest.raises(goalward.GoalwardError, match="there are no episodes to learn from"):
        training_frames(recorded.select(np.zeros(3, dtype=bool)))
    with pytest.raises(goalward.GoalwardError, match="the rollouts have no features; give them"):
        training_frames(Rollouts(list(recorded)))
    empty = recorded.with_features(np.zeros((9, 0), dtype=np.float32))
    with pytest.raises(goalward.GoalwardError, match="the rollouts have no features"):
        training_frames(empty)


@pytest.mark.parametrize("rows_at_a_time", [2, 4, 100])
@pytest.mark.parametrize(("row", "place"), [(0, "a: .*frame 0"), (3, "a: .*3"), (8, "c: .*1")])
def test_bad_features_name_episode_and_frame(recorded, monkeypatch, rows_at_a_time, row, place):
    features = recorded.features.copy()
    numbers = rows_at_a_time * features.shape[1]
    monkeypatch.setattr(episode_module, "_NUMBERS_AT_A_TIME", numbers)
    features[row, 1] = np.inf
    with pytest.raises(goalward.GoalwardError, match=f"episode {place}$"):
        training_frames(recorded.with_features(features))
