"""Where in a packed video the frames of a LeRobot episode lie."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rollout_files import hdf5
from rollout_files.lerobot import V21_VIDEO, decoded, make_episode, write_lerobot

import goalward
from goalward import RolloutError
from goalward.checksums import sha256_of

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


def test_a_simulated_video_that_was_changed_is_left_out(tmp_path: Path):
    """By the checksums that `goalward simulate` writes; a picture that changed decodes as well."""
    episodes = [make_episode(n, n > 5, seed=n) for n in (5, 6, 7)]
    root = write_lerobot(tmp_path, episodes, version="v2.1")
    videos = sorted(root.rglob("*.mp4"))
    lines = [f"{sha256_of(path)}  {path.relative_to(root).as_posix()}\n" for path in videos]
    (root / "simulation").mkdir()
    (root / "simulation" / "checksums.txt").write_text("".join(lines))
    assert goalward.read(root).left_out == ()
    with videos[1].open("ab") as file:
        file.write(b"x")
    rollouts = goalward.read(root)
    assert rollouts.lengths.tolist() == [5, 7]
    assert f"{videos[1].name}: was changed or damaged" in rollouts.left_out[0].reason


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


@pytest.mark.parametrize(
    ("declared", "codec"), [("mp4v", "mpeg4"), ("avc1", "h264"), ("AV1", "av1")]
)
def test_two_names_of_one_codec_are_no_difference(tmp_path: Path, declared: str, codec: str):
    options = {} if codec == "mpeg4" else None
    root = write_lerobot(
        tmp_path, [make_episode(5), make_episode(6, False)], codec=codec, video_options=options
    )
    path = root / "meta" / "info.json"
    info = json.loads(path.read_text())
    info["features"][CAMERA]["info"]["video.codec"] = declared
    path.write_text(json.dumps(info))
    rollouts = goalward.read(root)
    assert rollouts[0].cameras[CAMERA].codec == codec
    assert rollouts.warnings == ()


# ---- tables with the times of another clock


def write_wall_clock(root: Path, version: str) -> Path:
    """Recorded at about 18.6 frames a second by the clock, played at 20."""
    episodes = [make_episode(n, n == 9, seed=n) for n in (9, 12)]
    write_lerobot(root, episodes, version=version, fps=20)
    rng = np.random.default_rng(0)
    for path in sorted((root / "data").rglob("*.parquet")):
        table = pq.read_table(path)
        frames = np.array(table.column("frame_index"))
        seconds = frames / 18.6 + rng.uniform(0, 0.004, len(frames))
        position = table.column_names.index("timestamp")
        pq.write_table(table.set_column(position, "timestamp", pa.array(seconds)), path)
    return root


@pytest.mark.parametrize("version", ["v3.0", "v2.1"])
def test_a_wall_clock_is_named_and_frames_can_be_taken_in_order(tmp_path: Path, version: str):
    root = write_wall_clock(tmp_path, version)
    with pytest.raises(
        RolloutError,
        match=r"mp4: the table has frame \d of 9 at 0\.\d+ s, where the video shows none: both "
        r"have 9 frames, .* 18\.\d a second \(a wall clock's\?\), the video's at 20\.0; match=",
    ):
        goalward.read(root)
    rollouts = goalward.read(root, match="index", strict=True)
    assert rollouts.lengths.tolist() == [9, 12]
    if version == "v3.0":
        files = [root / f"videos/{CAMERA}/chunk-000/file-000.mp4"]
    else:
        template = V21_VIDEO.replace("{video_key}", CAMERA)
        files = [root / template.format(episode_chunk=0, episode_index=i) for i in range(2)]
    expected = [frame for file in files for frame in decoded(file)]
    frames = [frame for episode in rollouts for frame in episode.frames("front")]
    assert all(np.array_equal(a, b) for a, b in zip(frames, expected, strict=True))
    prints = {episode.cameras[CAMERA].fingerprint() for episode in rollouts}
    assert len(prints) == 2


@pytest.mark.parametrize("version", ["v3.0", "v2.1"])
def test_order_and_time_agree_where_the_clock_is_the_videos(tmp_path: Path, version: str):
    episodes = [make_episode(n, n > 1, seed=n) for n in (5, 1, 7)]
    root = write_lerobot(tmp_path, episodes, version=version)
    by_time, by_index = goalward.read(root), goalward.read(root, match="index")
    assert by_index.warnings == by_time.warnings
    for one, other in zip(by_time, by_index, strict=True):
        assert one.cameras[CAMERA].fingerprint() == other.cameras[CAMERA].fingerprint()


def test_a_video_with_too_few_frames_has_none_to_pair(tmp_path: Path):
    root = write_wall_clock(tmp_path, "v2.1")
    longer = root / "data/chunk-000/episode_000001.parquet"
    table = pq.read_table(longer)
    # The video of the shorter episode in place of the longer one's.
    videos = sorted(root.rglob("*.mp4"))
    videos[1].write_bytes(videos[0].read_bytes())
    rollouts = goalward.read(root, match="index")
    assert (len(table), rollouts.ids) == (12, ("0",))
    assert "frame 9 of 12 is not in the video, which holds 9 int" in rollouts.left_out[0].reason


def test_a_part_of_a_packed_video_must_still_be_the_episodes(tmp_path: Path):
    root = write_wall_clock(tmp_path, "v3.0")
    edit_list(root, end=lambda ends: ends - np.array([0, 0.2]))
    (left,) = goalward.read(root, match="index").left_out
    assert "part of the video has 8 frames in 0.4 s, its table 12 at 20" in left.reason


def test_only_tables_and_videos_are_matched(tmp_path: Path):
    path = hdf5.write_robomimic(tmp_path / "a.hdf5")
    with pytest.raises(RolloutError, match="match='index' would change nothing"):
        goalward.read(path, match="index")
    with pytest.raises(RolloutError, match="match='both': must be time or index"):
        goalward.read(path, match="both")
