"""Clones without their large files: pointers of Git LFS; and pipes where a file should be."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rollout_files import hdf5, rlds, videos
from rollout_files.lerobot import make_episode, write_lerobot

import goalward
from goalward import GoalwardError, RolloutError

POINTER = """version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
"""
SAID = "is a pointer of Git LFS.*`git lfs pull`"


def lerobot(root: Path, version: str = "v3.0") -> Path:
    return write_lerobot(root, [make_episode(3 + i, i == 0) for i in range(2)], version=version)


def lerobot_v21(root: Path) -> Path:
    return lerobot(root, "v2.1")


def rollout_videos(root: Path) -> Path:
    videos.write_video(root / "a.mp4", 3)
    videos.write_eval_info(root / "eval_info.json", {"x": ([True], ["a.mp4"])})
    return root


def labelled_videos(root: Path) -> Path:
    videos.write_video(root / "a.mp4", 3)
    (root / "labels.csv").write_text("path,success\na.mp4,true\n")
    return root


def robomimic(root: Path) -> Path:
    root.mkdir(parents=True)
    hdf5.write_robomimic(root / "a.hdf5")
    return root


def records(root: Path) -> Path:
    return rlds.write_data_set(root, [rlds.make_episode(3, True), rlds.make_episode(4, False)])


FILES = [
    (lerobot, "meta/info.json"),
    (lerobot, "meta/episodes/chunk-000/file-000.parquet"),
    (lerobot, "data/chunk-000/file-000.parquet"),
    (lerobot, "videos/observation.images.front/chunk-000/file-000.mp4"),
    (lerobot, "meta/tasks.parquet"),
    (lerobot_v21, "meta/episodes.jsonl"),
    (lerobot_v21, "meta/tasks.jsonl"),
    (lerobot_v21, "data/chunk-000/episode_000001.parquet"),
    (lerobot_v21, "videos/chunk-000/observation.images.front/episode_000000.mp4"),
    (rollout_videos, "a.mp4"),
    (rollout_videos, "eval_info.json"),
    (labelled_videos, "labels.csv"),
    (robomimic, "a.hdf5"),
    (records, "toy-train.tfrecord-00000-of-00001"),
    (records, "dataset_info.json"),
]


def said_of(root: Path) -> str:
    """All that is said of a data set, whether or not some of it can be read."""
    try:
        rollouts = goalward.read(root)
    except RolloutError as error:
        return str(error)
    return " ".join([*rollouts.warnings, *(left.reason for left in rollouts.left_out)])


@pytest.mark.parametrize(("write", "name"), FILES)
def test_a_pointer_is_named(tmp_path: Path, write: Callable[[Path], Path], name: str):
    root = write(tmp_path / "set")
    assert "Git LFS" not in said_of(root)
    (root / name).write_text(POINTER)
    said = said_of(root)
    assert name in said
    assert "is a pointer of Git LFS" in said
    assert "`git lfs pull`" in said


def test_a_pointer_in_place_of_labels_and_features(tmp_path: Path):
    root = lerobot(tmp_path / "set")
    for name in ("labels.csv", "labels.json"):
        (tmp_path / name).write_text(POINTER)
        with pytest.raises(RolloutError, match=rf"{name}: {SAID}"):
            goalward.read(root, labels=tmp_path / name)
    (tmp_path / "features.npz").write_text(POINTER)
    with pytest.raises(GoalwardError, match=rf"features.npz: {SAID}"):
        goalward.read_features(tmp_path / "features.npz")


def test_a_pointer_in_place_of_an_image(tmp_path: Path):
    root = write_lerobot(tmp_path, [make_episode(3)], pictures_as="image")
    path = root / "data/chunk-000/file-000.parquet"
    table = pq.read_table(path)
    cells = pa.array([{"bytes": None, "path": f"images/{i}.png"} for i in range(3)])
    position = table.column_names.index("observation.images.front")
    pq.write_table(table.set_column(position, "observation.images.front", cells), path)
    (root / "images").mkdir()
    for number in range(3):
        (root / f"images/{number}.png").write_text(POINTER)
    with pytest.raises(RolloutError, match=rf"frame 0: the stored image {SAID}"):
        next(goalward.read(root)[0].frames("front"))


@pytest.mark.parametrize(("write", "name"), FILES)
def test_a_pipe_is_named_and_not_waited_for(
    tmp_path: Path, write: Callable[[Path], Path], name: str
):
    root = write(tmp_path / "set")
    (root / name).unlink()
    os.mkfifo(root / name)
    said: list[str] = []
    reading = threading.Thread(target=lambda: said.append(said_of(root)), daemon=True)
    reading.start()
    reading.join(20)
    assert said, "waits for somebody to write into a pipe"
    assert name in said[0]
    assert "regular file" in said[0] or "is not a file" in said[0]


def test_a_pipe_in_place_of_a_video_is_named(tmp_path: Path):
    root = lerobot(tmp_path)
    path = root / "videos/observation.images.front/chunk-000/file-000.mp4"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(RolloutError, match=r"file-000\.mp4: is not a file"):
        goalward.read(root)


def test_a_pipe_by_itself(tmp_path: Path):
    for name in ("a.mp4", "a.hdf5", "a.tfrecord"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(RolloutError, match=f"{name}: "):
            goalward.read(tmp_path / name)


def test_json_that_is_no_pointer_is_still_explained(tmp_path: Path):
    root = lerobot(tmp_path)
    (root / "meta/info.json").write_text(json.dumps({"version": POINTER})[:-1])
    with pytest.raises(RolloutError, match=r"info\.json: not readable as json"):
        goalward.read(root)
