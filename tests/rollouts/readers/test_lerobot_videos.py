"""Where in a packed video the frames of a LeRobot episode lie."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rollout_files.lerobot import decoded, make_episode, write_lerobot

import goalward

CAMERA = "observation.images.front"
START, END = f"videos/{CAMERA}/from_timestamp", f"videos/{CAMERA}/to_timestamp"


def write_three(root: Path) -> Path:
    """A success of 5 frames, a time-out of a single one, a success of 7."""
    episodes = [make_episode(n, n > 1, seed=n) for n in (5, 1, 7)]
    return write_lerobot(root, episodes, fps=30)


def edit_list(root: Path, **columns):
    """Other numbers in the list of episodes; `start` and `end` are those of the video."""
    path = root / "meta/episodes/chunk-000/file-000.parquet"
    table = pq.read_table(path)
    for word, change in columns.items():
        name = {"start": START, "end": END}[word]
        values = change(np.array(table.column(name).to_pylist()))
        table = table.set_column(table.column_names.index(name), name, pa.array(values))
    pq.write_table(table, path)


def test_the_end_may_be_the_time_of_the_last_frame(tmp_path: Path):
    root = write_three(tmp_path)
    edit_list(root, end=lambda ends: ends - 1 / 30)
    rollouts = goalward.read(root, strict=True)
    assert rollouts.lengths.tolist() == [5, 1, 7]
    assert rollouts.warnings == ("1 episode of a single frame: 1",)
    frames = [frame for episode in rollouts for frame in episode.frames("front")]
    expected = decoded(root / f"videos/{CAMERA}/chunk-000/file-000.mp4")
    assert all(np.array_equal(a, b) for a, b in zip(frames, expected, strict=True))


def test_a_frame_is_not_that_of_two_episodes(tmp_path: Path):
    root = write_three(tmp_path)
    # The last episode begins where the one before it shows its only frame.
    edit_list(
        root,
        start=lambda starts: starts - np.array([0, 0, 1 / 30]),
        end=lambda ends: ends - np.array([1, 1, 2]) / 30,
    )
    rollouts = goalward.read(root)
    assert rollouts.ids == ("0",)
    for left in rollouts.left_out:
        assert "another episode claims the same part of the video" in left.reason


@pytest.mark.parametrize("version", ["v3.0", "v2.1"])
@pytest.mark.parametrize("dtype", ["vidoe", "float32", None])
def test_a_camera_of_another_dtype_is_named(tmp_path: Path, version: str, dtype: str | None):
    episodes = [make_episode(4 + i, i == 0, cameras=("front", "wrist")) for i in range(2)]
    root = write_lerobot(tmp_path, episodes, version=version)
    assert goalward.read(root).camera_names == (CAMERA, "observation.images.wrist")
    path = root / "meta" / "info.json"
    info = json.loads(path.read_text())
    info["features"]["observation.images.wrist"]["dtype"] = dtype
    path.write_text(json.dumps(info))
    rollouts = goalward.read(root)
    assert rollouts.camera_names == (CAMERA,)
    said = f"observation.images.wrist looks like a camera, but its dtype is {dtype!r}, not video or"
    assert any(said in warning for warning in rollouts.warnings)
