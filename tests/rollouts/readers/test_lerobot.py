"""LeRobot data sets as the library writes them: what is written is what is read, as asked for."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rollout_files.lerobot import (
    decoded,
    make_episode,
    write_lerobot,
)
from rollout_files.lerobot_edits import (
    CAMERA,
    VERSIONS,
    data_of,
    edit_list,
    edit_table,
    four,
    video_of,
)

import goalward
from goalward import Outcome, RolloutError


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    version=st.sampled_from(VERSIONS),
    pictures_as=st.sampled_from(["video", "image"]),
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    seed=st.integers(0, 1000),
    num_cameras=st.integers(1, 2),
    episodes_per_file=st.integers(1, 3),
    data=st.data(),
)
def test_write_and_read_back(
    tmp_path_factory, version, pictures_as, lengths, seed, num_cameras, episodes_per_file, data
):
    root = tmp_path_factory.mktemp("set")
    outcomes = [data.draw(st.booleans()) for _ in lengths]
    written = [
        make_episode(
            n, s, seed=seed + i, cameras=("front", "wrist")[:num_cameras], task=f"task {i % 2}"
        )
        for i, (n, s) in enumerate(zip(lengths, outcomes, strict=True))
    ]
    write_lerobot(
        root,
        written,
        version=version,
        pictures_as=pictures_as,
        episodes_per_file=episodes_per_file,
    )
    rollouts = goalward.read(root)
    assert rollouts.left_out == ()
    assert rollouts.lengths.tolist() == lengths
    assert rollouts.success.tolist() == outcomes
    assert [episode.task for episode in rollouts] == [w.task for w in written]
    assert rollouts.sources[0].label_source == "next.success"
    for episode, original in zip(rollouts, written, strict=True):
        assert np.array_equal(episode.proprioception, original.state)
        for camera, pictures in original.pictures.items():
            got = np.stack(list(episode.frames(camera)))
            if pictures_as == "image":
                assert np.array_equal(got, pictures)
            else:
                # Coding changes colours a little; another frame would be far off.
                assert np.abs(got.astype(int) - pictures).mean() < 12


@pytest.mark.parametrize("codec", ["h264", "av1"])
@pytest.mark.parametrize("version", VERSIONS)
def test_video_frames_equal_a_direct_decode(tmp_path: Path, version: str, codec: str):
    root = write_lerobot(tmp_path, four(), version=version, codec=codec)
    rollouts = goalward.read(root)
    got = [frame for episode in rollouts for frame in episode.frames("front")]
    files = [video_of(root, version, i) for i in range(1 if version == "v3.0" else 4)]
    expected = [frame for file in files for frame in decoded(file)]
    assert len(got) == len(expected) == 26
    assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))
    assert rollouts[0].cameras[CAMERA].codec == codec


def test_facts_of_an_episode(tmp_path: Path):
    episode = goalward.read(write_lerobot(tmp_path, four()))[2]
    assert (episode.id, episode.num_frames, episode.outcome) == ("2", 7, Outcome.SUCCESS)
    assert (episode.goal_frame, episode.fps, episode.action_size) == (6, 10.0, 2)
    assert episode.task == "stack the cubes"
    camera = episode.cameras[CAMERA]
    assert (camera.height, camera.width) == (32, 32)


def test_real_data_sets(real_files: Path):
    rollouts = goalward.read(real_files / "lerobot_v30_h264")
    assert rollouts.lengths.tolist() == [208, 300, 167, 300, 137, 300, 184, 300]
    assert rollouts.success.tolist() == [True, False] * 4
    assert rollouts.proprioception.shape == (1896, 8)
    for camera in ("front", "wrist"):
        folder = real_files / f"lerobot_v30_h264/videos/observation.images.{camera}/chunk-000"
        expected = decoded(folder / "file-000.mp4")
        frames = (frame for episode in rollouts for frame in episode.frames(camera))
        assert all(np.array_equal(a, b) for a, b in zip(frames, expected, strict=True))


def test_the_task_by_its_number(tmp_path: Path):
    root = write_lerobot(tmp_path, [make_episode(3, i == 0, task=f"task {i}") for i in range(2)])
    edit_list(root, lambda t: t.drop_columns(["tasks"]))
    assert [episode.task for episode in goalward.read(root)] == ["task 0", "task 1"]


def test_tasks_that_cannot_be_read_are_told(tmp_path: Path):
    root = write_lerobot(tmp_path, [make_episode(3, i == 0, task=f"task {i}") for i in range(2)])
    edit_list(root, lambda t: t.drop_columns(["tasks"]))
    (root / "meta/tasks.parquet").write_bytes(b"PAR1 and no more")
    rollouts = goalward.read(root)
    assert rollouts.tasks == ("",)
    assert any("tasks.parquet: not a readable parquet" in text for text in rollouts.warnings)
    assert f"{root}/meta: no text of task 1; its episodes have none" in rollouts.warnings


@pytest.mark.parametrize("version", ["v3.0", "v2.1"])
def test_what_is_left_without_its_info_is_no_folder_of_videos(tmp_path: Path, version: str):
    """Its videos hold many episodes each, and would be taken for one."""
    root = write_lerobot(tmp_path / "set", four(), version=version)
    (root / "meta/info.json").unlink()
    for path in (root, root / "videos"):
        with pytest.raises(RolloutError, match="is a LeRobot data set|is missing"):
            goalward.read(path, labels="success")
    with pytest.raises(RolloutError, match=r"meta/info\.json: is missing"):
        goalward.read(root, labels="success")


def test_a_folder_that_is_called_as_shells_call_home(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lerobot(tmp_path / "~", four(), pictures_as="image")
    rollouts = goalward.read("~")
    assert len(rollouts) == 4
    assert next(rollouts[0].frames("front")).shape == (32, 32, 3)


def test_pictures_of_a_table_that_was_replaced_since_it_was_read_are_refused(tmp_path: Path):
    for name, seed in (("a", 0), ("b", 5)):
        episodes = [make_episode(4, i == 0, seed=seed + i) for i in range(2)]
        write_lerobot(tmp_path / name, episodes, pictures_as="image")
    rollouts = goalward.read(tmp_path / "a")
    data_of(tmp_path / "b", "v3.0").rename(data_of(tmp_path / "a", "v3.0"))
    with pytest.raises(RolloutError, match="has changed since the data set was opened"):
        next(rollouts[0].frames("front"))


def test_a_column_of_pictures_is_no_proprioception(tmp_path: Path):
    root = write_lerobot(tmp_path, four(), pictures_as="image")
    with pytest.raises(RolloutError, match=f"column {CAMERA} holds struct"):
        goalward.read(root, proprioception=[CAMERA])


def test_proprioception_by_name(tmp_path: Path):
    root = write_lerobot(tmp_path, four())
    assert (
        goalward.read(root, proprioception=["observation.state", "action"]).proprioception.shape[1]
        == 5
    )
    assert goalward.read(root, proprioception=[]).proprioception.shape == (26, 0)
    with pytest.raises(RolloutError, match="no feature joints; there are"):
        goalward.read(root, proprioception=["joints"])


def test_cameras_by_name(tmp_path: Path):
    root = write_lerobot(tmp_path, four(cameras=("front", "wrist")))
    assert goalward.read(root, cameras=["wrist"]).camera_names == ("observation.images.wrist",)
    with pytest.raises(RolloutError, match="no camera top; cameras: observation.images.front"):
        goalward.read(root, cameras=["top"])


def test_flipping(tmp_path: Path):
    root = write_lerobot(tmp_path, four(), pictures_as="image")
    upright = goalward.read(root)[0].frame("front", 2)
    assert np.array_equal(goalward.read(root, flip=True)[0].frame("front", 2), upright[::-1])


def test_images_that_are_paths(tmp_path: Path):
    root = write_lerobot(
        tmp_path, [make_episode(3, True), make_episode(3, False)], pictures_as="image"
    )
    expected = list(goalward.read(root)[1].frames("front"))

    def to_paths(table: pa.Table) -> pa.Table:
        (root / "images").mkdir()
        cells = []
        for row, cell in enumerate(table.column(CAMERA).to_pylist()):
            (root / "images" / f"{row}.png").write_bytes(cell["bytes"])
            cells.append({"bytes": None, "path": f"images/{row}.png"})
        struct = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        position = table.column_names.index(CAMERA)
        return table.set_column(position, CAMERA, pa.array(cells, struct))

    edit_table(data_of(root, "v3.0"), to_paths)
    got = list(goalward.read(root)[1].frames("front"))
    assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))
    rollouts = goalward.read(root)
    (root / "images" / "4.png").unlink()
    with pytest.raises(RolloutError, match=r"4.png: the image is missing"):
        list(rollouts[1].frames("front"))
