"""Feature files: what is written is read, what numpy writes is read, what is wrong is named."""

from dataclasses import replace

import numpy as np
import pytest

import goalward
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.training.frames.training_frames import training_frames
from goalward.training.stored.feature_file import read_features, write_features


def test_survives_the_disk(rollouts, tmp_path):
    write_features(tmp_path / "features.npz", rollouts)
    again = read_features(tmp_path / "features.npz")
    assert again.ids == rollouts.ids
    assert list(again.outcomes) == list(rollouts.outcomes)
    assert np.array_equal(again.goal_frames, rollouts.goal_frames)
    assert np.array_equal(again.features, rollouts.features)


def test_features_are_mapped_not_read(rollouts, tmp_path):
    write_features(tmp_path / "features.npz", rollouts)
    assert isinstance(read_features(tmp_path / "features.npz").features, np.memmap)


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_a_bit_that_flipped_in_features_is_noticed_though_they_are_mapped(
    rollouts, tmp_path, place
):
    path = tmp_path / "features.npz"
    write_features(path, rollouts)
    numbers = rollouts.features.tobytes()
    content = bytearray(path.read_bytes())
    start = content.index(numbers)
    content[start + int(place * len(numbers))] ^= 1
    path.write_bytes(content)
    with pytest.raises(goalward.GoalwardError, match=r"features.npz: .*Bad CRC-32 for file 'feat"):
        read_features(path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_three_arrays_are_enough(save, tmp_path):
    features = np.arange(10, dtype=np.float16).reshape(5, 2)
    path = tmp_path / "features.npz"
    save(path, features=features, episode_ends=[3, 5], outcomes=["success", "failure"])
    rollouts = read_features(path)
    assert np.array_equal(rollouts.features, features)
    assert rollouts.goal_frames.tolist() == [2, -1]
    assert training_frames(rollouts).endings.at_goal.tolist() == [False, False, True, False, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"episode_ends": [3, 6]}, "the last episode ends at 6"),
        ({"outcomes": ["success", "lost"]}, "no outcome 'lost'; outcomes: success"),
        ({"outcomes": ["success"]}, "outcomes has 1 entries for 2 episodes"),
        ({"proprioception": np.zeros((4, 2))}, "a row for each of 5 frames, got float64, .4, 2."),
        ({"proprioception": np.full((5, 2), "a")}, "proprioception must be numbers"),
        ({"proprioception": np.full((5, 1), 1e300)}, "0: proprioception holds NaN or infinity"),
        ({"outcomes": None}, "holds no outcomes; a feature file has"),
        ({"outcomes": np.array([{}, {}])}, "cannot be read as a feature file .*allow_pickle"),
    ],
)
def test_broken_files_are_explained(change, message, tmp_path):
    arrays = {
        "features": np.zeros((5, 2), dtype=np.float32),
        "episode_ends": [3, 5],
        "outcomes": ["success", "failure"],
    } | change
    np.savez(tmp_path / "bad.npz", **{k: v for k, v in arrays.items() if v is not None})
    with pytest.raises(goalward.GoalwardError, match=f"bad.npz: .*{message}"):
        read_features(tmp_path / "bad.npz")


def test_other_files_are_explained(tmp_path):
    (tmp_path / "bad.npz").write_text("no archive")
    with pytest.raises(goalward.GoalwardError, match="is not a feature file"):
        read_features(tmp_path / "bad.npz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task_vectors": None}, "task_names and task_vectors go together"),
        ({"task_names": ["a"]}, "task_vectors must be numbers, a row for each of 1 task_names"),
        ({"task_names": ["a", "a"]}, "task_names names a task twice"),
        ({"task_vectors": ["1", "2"]}, "task_vectors must be numbers"),
        ({"task_vectors": [[1, 2], [np.nan, 1]]}, "the vector of task 'b' holds NaN"),
        ({"task_vectors": np.zeros((2, 0))}, "vectors of tasks must have one size"),
    ],
)
def test_broken_vectors_of_tasks_are_explained(change, message, tmp_path):
    arrays = {
        "features": np.zeros((5, 2), dtype=np.float32),
        "episode_ends": [3, 5],
        "outcomes": ["success", "failure"],
        "tasks": ["a", "b"],
        "task_names": ["a", "b"],
        "task_vectors": [[1.0, 0.0], [0.0, 1.0]],
    }
    np.savez(tmp_path / "good.npz", **arrays)
    assert read_features(tmp_path / "good.npz").task_vectors == {"a": (1, 0), "b": (0, 1)}
    changed = {k: v for k, v in (arrays | change).items() if v is not None}
    np.savez(tmp_path / "bad.npz", **changed)
    with pytest.raises(goalward.GoalwardError, match=f"bad.npz: .*{message}"):
        read_features(tmp_path / "bad.npz")


def test_the_values_of_a_file_are_those_of_the_rollouts_it_was_written_from(tmp_path):
    """Networks see the main directions of features, and beside them proprioception as it is."""
    draws = np.random.default_rng(0)
    features = draws.normal(size=(40, 20)).astype(np.float32)
    states = draws.normal(size=(40, 3)).astype(np.float32)
    episodes = [
        Episode("a", 25, Outcome.TIME_OUT, proprioception=states[:25]),
        Episode("b", 15, Outcome.SUCCESS, goal_frame=14, proprioception=states[25:]),
    ]
    rollouts = Rollouts(episodes, features=features)
    blind = [replace(one, proprioception=np.zeros((0, 0), np.float32)) for one in episodes]
    alone = Rollouts(blind, features=features)
    path = tmp_path / "features.npz"
    write_features(path, rollouts)
    told = {"methods": ("survival",), "seeds": 1, "device": "cpu", "width": 8, "num_steps": 4}
    for learned_from in (rollouts, alone):
        fitted = goalward.fit(learned_from, max_inputs=5, **told)
        wanted = fitted.predict(learned_from).raw_value
        assert np.array_equal(fitted.predict(read_features(path)).raw_value, wanted)
    assert read_features(path)[1].proprioception.tolist() == states[25:].tolist()
