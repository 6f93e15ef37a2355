"""What stands in a feature file, array by array, and the files that numpy may make of it."""

import math
import zipfile

import numpy as np
import pytest

import goalward
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.training.stored.feature_file import read_features, write_features

FEATURES = np.arange(12, dtype=np.float32).reshape(6, 2)
ARRAYS = {"features": FEATURES, "episode_ends": [1, 4, 6], "outcomes": ["success"] * 3}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "features.npz"


def test_every_array_is_as_the_table_says(path):
    episodes = [
        Episode("a", 1, Outcome.SUCCESS, goal_frame=0, task="lift"),
        Episode("b", 3, Outcome.SUCCESS, goal_frame=1, task="turn", fps=12.5, every=2),
        Episode("c", 2, Outcome.FAILURE, task="lift"),
    ]
    write_features(path, Rollouts(episodes, features=FEATURES, feature_layout="clip of front"))
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name].tolist() for name in file.files}
    unknown, fps, also_unknown = arrays.pop("fps")
    assert (fps, math.isnan(unknown), math.isnan(also_unknown)) == (12.5, True, True)
    assert arrays == {
        "features": FEATURES.tolist(),
        "episode_ends": [1, 4, 6],
        "outcomes": ["success", "success", "failure"],
        "goal_frames": [0, 1, -1],
        "ids": ["a", "b", "c"],
        "tasks": ["lift", "turn", "lift"],
        "every": [1, 2, 1],
        "layout": "clip of front",
    }
    again = read_features(str(path))
    assert [
        (e.id, e.num_frames, e.outcome, e.goal_frame, e.task, e.fps, e.every) for e in again
    ] == [(e.id, e.num_frames, e.outcome, e.goal_frame, e.task, e.fps, e.every) for e in episodes]
    assert again.feature_layout == "clip of front"
    (source,) = again.sources
    assert (source.format, source.path, source.label_source) == ("features", str(path), "outcomes")


def test_what_is_not_in_the_file_is_assumed(path):
    np.savez(path, **ARRAYS)
    rollouts = read_features(path)
    assert rollouts.ids == ("0", "1", "2")
    assert [episode.task for episode in rollouts] == ["", "", ""]
    assert rollouts.goal_frames.tolist() == [0, 2, 1]
    assert rollouts.feature_layout == ""
    assert [(episode.fps, episode.every) for episode in rollouts] == [(None, 1)] * 3


def test_goals_are_those_of_successes(path):
    """-1 is the last frame; a goal in an episode that did not reach it is none."""
    outcomes = ["success", "success", "time_out"]
    np.savez(path, **ARRAYS | {"outcomes": outcomes, "goal_frames": [0, -1, 1]})
    assert read_features(path).goal_frames.tolist() == [0, 2, -1]


def test_a_goal_in_the_first_frame_is_one(path):
    np.savez(path, **ARRAYS | {"goal_frames": [0, 0, 1]})
    assert read_features(path).goal_frames.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("given", "kept"),
    [("float16", "float16"), ("float32", "float32"), ("float64", "float32"), ("int64", "float32")],
)
def test_numbers_are_single_or_half_precision(path, given, kept):
    np.savez(path, **ARRAYS | {"features": FEATURES.astype(given)})
    rollouts = read_features(path)
    assert rollouts.features.dtype == kept
    assert np.array_equal(rollouts.features, FEATURES)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_either_order_compressed_or_not(path, save, order):
    save(path, **ARRAYS | {"features": np.asarray(FEATURES, order=order)})
    rollouts = read_features(path)
    assert np.array_equal(rollouts.features, FEATURES)
    assert isinstance(rollouts.features, np.memmap) == (save is np.savez)


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_either_version_of_the_header(path, version):
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in ARRAYS.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, np.asarray(array), version=version)
    rollouts = read_features(path)
    assert isinstance(rollouts.features, np.memmap)
    assert not rollouts.features.flags.writeable
    assert np.array_equal(rollouts.features, FEATURES)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": None, "outcomes": None}, "holds no features, outcomes; a feature file has "),
        ({"features": np.zeros(6)}, r"features have shape \(6,\), the last episode ends at 6$"),
        ({"episode_ends": []}, r"features have shape \(6, 2\), the last episode ends at 0$"),
        ({"episode_ends": [1, 4, 5]}, r"features have shape \(6, 2\), the last episode ends at 5$"),
        ({"outcomes": ["success"] * 4}, "outcomes has 4 entries for 3 episodes$"),
        ({"goal_frames": [0]}, "goal_frames has 1 entries for 3 episodes$"),
        ({"ids": ["x", "y"]}, "ids has 2 entries for 3 episodes$"),
        ({"tasks": ["x"] * 5}, "tasks has 5 entries for 3 episodes$"),
        ({"fps": [5.0]}, "fps has 1 entries for 3 episodes$"),
        ({"every": [2]}, "every has 1 entries for 3 episodes$"),
        ({"every": [2, 0, 2]}, "episode 1: every must be at least 1, got 0$"),
        ({"fps": ["fast"] * 3}, "fps must be one number per episode, got <U4"),
        ({"fps": [5.0, 0.0, 5.0]}, "episode 1: fps must be above 0, got 0.0$"),
    ],
)
def test_what_does_not_fit_is_named(path, change, message):
    arrays = {name: array for name, array in (ARRAYS | change).items() if array is not None}
    np.savez(path, **arrays)
    with pytest.raises(goalward.GoalwardError, match=rf"features\.npz: {message}"):
        read_features(path)


def test_what_a_feature_file_has_is_said(path):
    np.savez(path, other=FEATURES)
    with pytest.raises(
        goalward.GoalwardError,
        match="holds no features, episode_ends, outcomes; a feature file has features, "
        "episode_ends, outcomes, and perhaps goal_frames, ids, tasks, fps, every, proprioception, "
        "task_names, task_vectors, layout$",
    ):
        read_features(path)


def test_no_file_no_archive_and_no_features(path):
    with pytest.raises(goalward.GoalwardError, match=r"features\.npz: no such file$"):
        read_features(path)
    path.write_text("no archive")
    with pytest.raises(goalward.GoalwardError, match=r"is not a feature file \(\.npz\)$"):
        read_features(path)
    bare = Rollouts([Episode("a", 2, Outcome.TIME_OUT)])
    with pytest.raises(goalward.GoalwardError, match="^the rollouts have no features to write$"):
        write_features(path, bare)


def test_an_archive_that_breaks_off(path):
    np.savez(path, **ARRAYS)
    whole = path.read_bytes()
    path.write_bytes(whole[:60] + bytes(40) + whole[100:])
    with pytest.raises(goalward.GoalwardError, match="cannot be read as a feature file"):
        read_features(path)
