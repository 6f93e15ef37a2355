"""Folders of rollout videos: which files are episodes, and what their frames are."""

import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_files import videos
from rollout_files.left_out import reasons
from rollout_files.video_folders import place, success_by_id

from goalward.errors import RolloutError
from goalward.rollouts.readers import detect, read, video_folder


@pytest.mark.parametrize(
    ("suffix", "codec", "name"),
    [
        (".mp4", "libx264", "h264"),
        (".mkv", "libx264", "h264"),
        (".webm", "libvpx-vp9", "vp9"),
        (".avi", "mpeg4", "mpeg4"),
    ],
)
def test_every_container_gives_the_frames_that_pyav_gives(
    tmp_path: Path, suffix: str, codec: str, name: str
) -> None:
    path = videos.write_video(tmp_path / f"rollout_x_success{suffix}", 12, fps=30, codec=codec)
    expected = videos.decoded(path)
    episode = read(tmp_path)[0]
    assert episode.num_frames == len(expected) == 12
    assert episode.fps == 30
    np.testing.assert_array_equal(list(episode.frames("video")), expected)
    backwards = list(episode.frames_at("video", range(11, -1, -1)))
    np.testing.assert_array_equal(backwards, expected[::-1])
    for frame in range(12):
        np.testing.assert_array_equal(episode.frame("video", frame), expected[frame])
    source = episode.camera("video")
    assert (source.height, source.width, source.codec) == (32, 32, name)


def test_an_episode_of_one_video(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "rollout_close_the_drawer_success.mp4")
    rollouts = read(tmp_path)
    episode = rollouts[0]
    assert episode.id == "rollout_close_the_drawer_success"
    assert episode.task == "close the drawer"
    assert (episode.num_frames, episode.goal_frame, episode.fps) == (6, 5, 10.0)
    assert episode.proprioception.shape == (6, 0)
    assert episode.action_size == 0
    assert rollouts.camera_names == ("video",)
    assert rollouts.sources[0].format == "videos"
    assert rollouts.sources[0].label_source == "file name"


def test_the_rate_is_the_usual_one_and_pauses_do_not_shift_frames(tmp_path: Path) -> None:
    path = tmp_path / "rollout_x_success.mp4"
    videos.write_video(path, 6, times=[0, 1, 2, 12, 13, 40])
    episode = read(tmp_path)[0]
    assert episode.fps == 10
    expected = videos.decoded(path)
    np.testing.assert_array_equal(list(episode.frames("video")), expected)
    np.testing.assert_array_equal(episode.frame("video", 4), expected[4])


def test_frames_much_closer_than_usual_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "rollout_x_success.mkv"
    videos.write_video(path, 8, fps=100, times=[0, 20, 40, 60, 80, 81, 82, 102])
    expected = videos.decoded(path)
    episode = read(tmp_path)[0]
    for frame in range(8):
        np.testing.assert_array_equal(episode.frame("video", frame), expected[frame])


def test_a_single_frame_has_no_rate(tmp_path: Path) -> None:
    path = videos.write_video(tmp_path / "rollout_x_success.mp4", 1)
    episode = read(tmp_path)[0]
    assert (episode.num_frames, episode.fps) == (1, None)
    np.testing.assert_array_equal(list(episode.frames("video")), videos.decoded(path))


def test_options_that_videos_cannot_serve(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "rollout_x_success.mp4")
    assert read(tmp_path, cameras=[]).camera_names == ()
    assert read(tmp_path, cameras=["video"], proprioception=[]).camera_names == ("video",)
    refused: list[dict[str, Any]] = [
        {"cameras": ["wrist"]},
        {"proprioception": ["state"]},
        {"filter_key": "a"},
    ]
    for options in refused:
        with pytest.raises(RolloutError, match=str(tmp_path)):
            read(tmp_path, **options)


def test_videos_are_found_below_in_natural_order(tmp_path: Path, clip: Path) -> None:
    names = ["b/rollout_2_x_success.mp4", "b/rollout_10_x_failure.mp4", "a/rollout_1_x_success.MP4"]
    place(clip, *(tmp_path / name for name in names))
    # Left by macOS, by a cache, and by nobody in particular.
    place(clip, tmp_path / "b/._rollout_2_x_success.mp4", tmp_path / ".cache/rollout_x_success.mp4")
    (tmp_path / "folder.mp4").mkdir()
    (tmp_path / "notes.txt").write_text("rollout_x_success.mp4")
    os.mkfifo(tmp_path / "rollout_pipe_success.mp4")
    assert success_by_id(read(tmp_path)) == {
        "a/rollout_1_x_success": True,
        "b/rollout_2_x_success": True,
        "b/rollout_10_x_failure": False,
    }


def test_a_link_to_a_video_counts(tmp_path: Path, clip: Path) -> None:
    """As in the cache of a model hub, where every file is a link."""
    (tmp_path / "rollout_x_success.mp4").symlink_to(clip)
    (tmp_path / "rollout_y_success.mp4").symlink_to(tmp_path / "absent.mp4")
    assert read(tmp_path).ids == ("rollout_x_success",)


def test_a_folder_in_place_of_a_video_is_named(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "rollout_0_success.mp4", tmp_path / "rollout_1_failure.mp4")
    (tmp_path / "rollout_2_success.mp4").mkdir()
    # A folder that only has such a name is none: its videos are read.
    place(clip, tmp_path / "robot.mp4" / "rollout_3_success.mp4")
    rollouts = read(tmp_path)
    assert rollouts.ids == ("robot.mp4/rollout_3_success", "rollout_0_success", "rollout_1_failure")
    (left,) = rollouts.left_out
    assert left.episode_id == "rollout_2_success"
    assert "rollout_2_success.mp4: is not a file" in left.reason


@pytest.mark.timeout(10)
def test_what_is_no_file_is_named(tmp_path: Path, clip: Path) -> None:
    """A pipe, a link to nothing and one to itself: episodes are missing, and it is said."""
    place(clip, tmp_path / "rollout_0_success.mp4", tmp_path / "rollout_1_failure.mp4")
    os.mkfifo(tmp_path / "rollout_2_success.mp4")
    (tmp_path / "rollout_3_success.mp4").symlink_to("nowhere.mp4")
    (tmp_path / "rollout_4_success.mp4").symlink_to("rollout_4_success.mp4")
    rollouts = read(tmp_path)
    assert list(reasons(rollouts)) == [
        "rollout_2_success",
        "rollout_3_success",
        "rollout_4_success",
    ]
    assert len(rollouts) == 2


def test_what_is_recognised(tmp_path: Path, clip: Path) -> None:
    assert detect(clip).name == "videos"
    assert not video_folder.recognises(tmp_path)
    assert not video_folder.recognises(tmp_path / "absent")
    (tmp_path / "text.csv").write_text("path,success\n")
    assert not video_folder.recognises(tmp_path)
    place(clip, tmp_path / "deep/down/clip.mp4")
    assert detect(tmp_path).name == "videos"
    report = tmp_path / "report"
    report.mkdir()
    (report / "eval_info.json").write_text("{}")
    assert detect(report).name == "videos"
    with pytest.raises(RolloutError, match="eval_info.json is there, but no video"):
        read(report)


def test_one_video_file(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "rollout_x_success.mp4", tmp_path / "rollout_y_success.mp4")
    assert read(tmp_path / "rollout_x_success.mp4").ids == ("rollout_x_success",)
    with pytest.raises(RolloutError, match="no outcome label found"):
        read(clip)
    assert read(clip, labels="success").ids == ("clip",)


def test_the_same_name_with_two_suffixes(tmp_path: Path, clip: Path) -> None:
    videos.write_video(tmp_path / "rollout_x_success.mkv", 4)
    place(clip, tmp_path / "rollout_x_success.mp4")
    assert read(tmp_path).ids == ("rollout_x_success.mkv", "rollout_x_success.mp4")


@settings(max_examples=15, deadline=None)
@given(
    shapes=st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=3),
    fps=st.sampled_from([5, 10, 24, 30, 50]),
    suffix=st.sampled_from([".mp4", ".mkv"]),
)
def test_reads_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory,
    shapes: list[tuple[int, bool]],
    fps: int,
    suffix: str,
) -> None:
    folder = tmp_path_factory.mktemp("videos")
    for number, (num_frames, success) in enumerate(shapes):
        word = "success" if success else "failure"
        path = folder / f"rollout_{number}_{word}{suffix}"
        videos.write_video(path, videos.pictures(num_frames, seed=number), fps=fps)
    rollouts = read(folder, strict=True)
    assert list(zip(rollouts.lengths, rollouts.success, strict=True)) == shapes
    for episode in rollouts:
        assert episode.fps is None or abs(episode.fps - fps) < 0.04 * fps
        expected = videos.decoded(folder / f"{episode.id}{suffix}")
        np.testing.assert_array_equal(list(episode.frames("video")), expected)


def test_real_rollouts_of_openpi(real_files: Path) -> None:
    folder = real_files / "openpi_libero_rollouts"
    if not folder.is_dir():
        pytest.skip("the rollouts of openpi are not there")
    rollouts = read(folder, strict=True)
    assert (len(rollouts), int(rollouts.success.sum())) == (125, 42)
    assert {episode.fps for episode in rollouts} == {10.0}
    episode = rollouts[0]
    expected = videos.decoded(folder / f"{episode.id}.mp4")
    assert episode.num_frames == len(expected)
    np.testing.assert_array_equal(list(episode.frames("video")), expected)


def test_linked_folders_are_followed_once(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "elsewhere" / "rollout_x_success.mp4")
    (tmp_path / "runs").mkdir()
    place(clip, tmp_path / "runs" / "rollout_y_failure.mp4")
    (tmp_path / "runs" / "more").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "back").symlink_to(tmp_path / "runs")
    assert read(tmp_path / "runs").ids == ("more/rollout_x_success", "rollout_y_failure")


def test_part_of_a_lerobot_data_set_is_refused(tmp_path: Path, clip: Path) -> None:
    (tmp_path / "set" / "meta").mkdir(parents=True)
    (tmp_path / "set" / "meta" / "info.json").write_text("{}")
    place(clip, tmp_path / "set" / "videos" / "a" / "file-000.mp4")
    for path in (tmp_path, tmp_path / "set" / "videos"):
        with pytest.raises(RolloutError, match="set is a LeRobot data set; point at it"):
            read(path, labels="success")


def test_a_video_that_wants_to_be_turned_is_noticed(tmp_path: Path, clip: Path) -> None:
    content = bytearray(clip.read_bytes())
    matrix = content.find(b"tkhd") + 4 + 40
    struct.pack_into(">9i", content, matrix, 0, 1 << 16, 0, -(1 << 16), 0, 0, 0, 0, 1 << 30)
    (tmp_path / "rollout_x_success.mp4").write_bytes(content)
    assert any("says to turn its pictures" in text for text in read(tmp_path).warnings)
