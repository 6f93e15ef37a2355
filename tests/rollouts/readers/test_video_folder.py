"""Folders of videos: frames as PyAV decodes them, outcomes from names, reports and csv files."""

import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_files import videos

from goalward.errors import RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.readers import detect, read, video_folder
from goalward.rollouts.readers.video_labels import VideoNames, claim_from_name

OPENVLA = "2026_01_02-03_04_05--openvla--episode={}--success={}--task={}"


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six frames at ten per second."""
    return videos.write_video(tmp_path_factory.mktemp("clip") / "clip.mp4", 6)


def place(clip: Path, *paths: Path) -> None:
    """The same clip at these places."""
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(clip.read_bytes())


def success_by_id(rollouts: Rollouts) -> dict[str, bool]:
    return dict(zip(rollouts.ids, rollouts.success.tolist(), strict=True))


def reasons(rollouts: Rollouts) -> dict[str, str]:
    return {left_out.episode_id: left_out.reason for left_out in rollouts.left_out}


# ---- frames --------------------------------------------------------------------------------------


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


# ---- which files ---------------------------------------------------------------------------------


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


# ---- labels in file names ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stem", "success", "task"),
    [
        ("rollout_put_the_bowl_on_the_plate_success", True, "put the bowl on the plate"),
        ("rollout_a_success_story_failure", False, "a success story"),
        ("rollout_success", True, ""),
        (OPENVLA.format(3, "True", "pick_up_the_cup"), True, "pick up the cup"),
        (OPENVLA.format(3, "False", "rollout_a_success"), False, "rollout a success"),
        ("success=true--task=x", True, "x"),
        ("rollout_x_succes", None, ""),
        ("x_success", None, ""),
        ("rollout_x_success_2", None, ""),
        ("a--success=Truely--task=x", None, ""),
        ("eval_episode_0", None, ""),
    ],
)
def test_names(stem: str, success: bool | None, task: str) -> None:
    claim = claim_from_name(stem)
    assert (None if claim.evidence is None else claim.evidence.success) is success
    assert claim.task == task


def test_openvla_episode_numbers_repeat_and_name_nothing(tmp_path: Path, clip: Path) -> None:
    stems = [OPENVLA.format(1, "True", "lift"), OPENVLA.format(1, "False", "push")]
    place(clip, *(tmp_path / f"{stem}.mp4" for stem in stems))
    assert read(tmp_path).success.tolist() == [False, True]
    labels = tmp_path / "labels.json"
    labels.write_text('{"1": true}')
    with pytest.raises(RolloutError, match="fits none of the 2 episodes"):
        read(tmp_path, labels=labels)


def test_names_without_a_label_are_left_out(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "rollout_x_success.mp4", tmp_path / "warm_up.mp4")
    rollouts = read(tmp_path)
    assert rollouts.ids == ("rollout_x_success",)
    assert "no label in file name" in reasons(rollouts)["warm_up"]
    with pytest.raises(RolloutError, match="warm_up"):
        read(tmp_path, strict=True)


def test_a_name_shared_by_two_videos_is_no_label(tmp_path: Path, clip: Path) -> None:
    place(clip, *(tmp_path / f"{run}/take.mp4" for run in ("a", "b")), tmp_path / "c/other.mp4")
    labels = tmp_path.parent / f"{tmp_path.name}.csv"
    labels.write_text("episode,success\ntake,true\ntake.mp4,true\nb/take,false\nother,true\n")
    assert success_by_id(read(tmp_path, labels=labels)) == {"b/take": False, "c/other": True}


# ---- eval_info.json ------------------------------------------------------------------------------


def test_the_report_of_lerobot_eval(tmp_path: Path, clip: Path) -> None:
    ran_in = "outputs/eval/2026-01-01/10-00-00_act/videos"
    place(clip, *(tmp_path / f"videos/{t}_0/eval_episode_{n}.mp4" for t in "ab" for n in range(2)))
    tasks = {
        "a": ([True, False, True, True], [f"{ran_in}/a_0/eval_episode_{n}.mp4" for n in range(2)]),
        "b": ([False, True], [f"{ran_in}/b_0/eval_episode_{n}.mp4" for n in range(2)]),
    }
    videos.write_eval_info(tmp_path / "eval_info.json", tasks)
    rollouts = read(tmp_path)
    assert success_by_id(rollouts) == {
        "videos/a_0/eval_episode_0": True,
        "videos/a_0/eval_episode_1": False,
        "videos/b_0/eval_episode_0": False,
        "videos/b_0/eval_episode_1": True,
    }
    assert rollouts.tasks == ("a/0", "b/0")
    assert rollouts.sources[0].label_source == "eval_info.json"
    assert rollouts.warnings == (
        f"{tmp_path / 'eval_info.json'}: 2 of 6 episodes have no video and are left out "
        "(lerobot-eval films the first few of each task)",
    )


def test_the_older_report(tmp_path: Path, clip: Path) -> None:
    names = [f"eval_episode_{n}.mp4" for n in (0, 1, 2)]
    place(clip, *(tmp_path / "videos" / name for name in names))
    # The last batch films more episodes than it reports.
    stated = [f"C:\\runs\\videos\\{name}" for name in names]
    videos.write_old_eval_info(tmp_path / "eval_info.json", [False, True], stated)
    rollouts = read(tmp_path)
    assert success_by_id(rollouts) == {
        "videos/eval_episode_0": False,
        "videos/eval_episode_1": True,
    }
    assert list(reasons(rollouts)) == ["videos/eval_episode_2"]
    assert rollouts.tasks == ("",)


def test_imagined_videos_are_no_episodes(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "eval_episode_0.mp4", tmp_path / "pred_episode_0.mp4")
    videos.write_eval_info(tmp_path / "eval_info.json", {"a": ([True], ["eval_episode_0.mp4"])})
    report = json.loads((tmp_path / "eval_info.json").read_text())
    report["per_task"][0]["metrics"]["predicted_video_paths"] = ["out/pred_episode_0.mp4"]
    (tmp_path / "eval_info.json").write_text(json.dumps(report))
    assert read(tmp_path, strict=True).ids == ("eval_episode_0",)


def test_two_reports_about_one_video_cancel(tmp_path: Path, clip: Path) -> None:
    """The folder of one task, with the report of all: each task has an eval_episode_0."""
    place(clip, tmp_path / "eval_episode_0.mp4", tmp_path / "eval_episode_1.mp4")
    tasks = {
        "a": ([True, True], ["videos/a_0/eval_episode_0.mp4", "videos/a_0/eval_episode_1.mp4"]),
        "b": ([False], ["videos/b_0/eval_episode_0.mp4"]),
    }
    videos.write_eval_info(tmp_path / "eval_info.json", tasks)
    rollouts = read(tmp_path)
    assert rollouts.ids == ("eval_episode_1",)
    assert "says different things about" in reasons(rollouts)["eval_episode_0"]


def test_a_video_of_another_task_is_not_taken_for_it(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "b_0/eval_episode_0.mp4")
    videos.write_eval_info(
        tmp_path / "eval_info.json",
        {"a": ([True], ["a_0/eval_episode_0.mp4"]), "b": ([False], ["b_0/eval_episode_0.mp4"])},
    )
    rollouts = read(tmp_path)
    assert success_by_id(rollouts) == {"b_0/eval_episode_0": False}
    assert any("names 1 videos that are not in the folder" in text for text in rollouts.warnings)


def test_paths_never_lead_out_of_the_folder(tmp_path: Path, clip: Path) -> None:
    inside = tmp_path / "inside"
    place(clip, tmp_path / "secret.mp4", inside / "rollout_x_success.mp4")
    stated = ["../secret.mp4", str(tmp_path / "secret.mp4"), "/" * 100_000, "", "..", "x/" * 99_999]
    videos.write_eval_info(inside / "eval_info.json", {"a": ([True] * len(stated), stated)})
    assert read(inside).ids == ("rollout_x_success",)
    assert VideoNames(["secret.mp4"]).find("../secret.mp4") == "secret.mp4"
    assert VideoNames(["a/secret.mp4"]).find("../secret.mp4") is None


@pytest.mark.parametrize(
    "text",
    ["", "[" * 100_000, "{}", "[]", "3", "null", '{"per_task": 3}', '{"per_task": [3]}',
     '{"per_task": [{"task_group": "a", "task_id": 0, "metrics": 3}]}',
     '{"per_task": [{"task_group": "a", "task_id": 0, "metrics": {"successes": 1}}]}',
     '{"per_episode": [3]}', '{"per_episode": {"a": 1}}',
     '{"per_episode": [{"success": true}], "video_paths": [3]}',
     '{"per_episode": [{"success": true}], "video_paths": "rollout_x_success.mp4"}'],
)  # fmt: skip
def test_a_strange_report_is_named_and_other_labels_count(
    tmp_path: Path, clip: Path, text: str
) -> None:
    place(clip, tmp_path / "rollout_x_success.mp4")
    (tmp_path / "eval_info.json").write_text(text)
    rollouts = read(tmp_path)
    assert rollouts.success.tolist() == [True]
    assert "eval_info.json: not a report of lerobot-eval" in rollouts.warnings[0]
    with pytest.raises(RolloutError, match="eval_info.json"):
        read(tmp_path, strict=True)


# ---- csv files -----------------------------------------------------------------------------------


def test_a_csv_beside_the_videos(tmp_path: Path, clip: Path) -> None:
    place(clip, *(tmp_path / f"{n}.mp4" for n in range(4)), tmp_path / "more/9.mp4")
    (tmp_path / "labels.csv").write_text(
        "\ufeffPath,Outcome\n./0.mp4,success\n/data/run/1.mp4,failure\n2,time_out\nmore\\9.mp4,success\n"
    )
    (tmp_path / "speeds.csv").write_text("path,metres\n0.mp4,3\n")
    (tmp_path / "torn.csv").write_bytes(b"path,success\xff\xfe\n")
    rollouts = read(tmp_path)
    outcomes = {episode.id: str(episode.outcome) for episode in rollouts}
    assert outcomes == {"0": "success", "1": "failure", "2": "time_out", "more/9": "success"}
    assert rollouts.sources[0].label_source == "labels.csv"
    assert list(reasons(rollouts)) == ["3"]


def test_a_csv_with_a_bad_row_is_named(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "rollout_x_success.mp4")
    (tmp_path / "labels.csv").write_text("video,success\nrollout_x_success.mp4,perhaps\n")
    assert "labels.csv, line 2" in read(tmp_path).warnings[0]


def test_sources_that_disagree_are_an_error(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "rollout_x_success.mp4")
    (tmp_path / "labels.csv").write_text("file,success\nrollout_x_success.mp4,false\n")
    with pytest.raises(RolloutError, match="file name and labels.csv disagree on 1 episode"):
        read(tmp_path)
    assert read(tmp_path, success_key="labels.csv").success.tolist() == [False]


# ---- damage --------------------------------------------------------------------------------------


def test_videos_that_cannot_be_trusted_are_named(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "rollout_good_success.mp4")
    whole = clip.read_bytes()
    broken = {
        "rollout_cut_success.mp4": whole[: len(whole) // 2],
        "rollout_empty_success.mp4": b"",
        "rollout_text_success.mp4": b"not a video at all",
        "rollout_list_success.mp4": b"ffconcat version 1.0\nfile rollout_good_success.mp4\n",
        "rollout_hls_success.mp4": b"#EXTM3U\n#EXTINF:1,\nrollout_good_success.mp4\n",
    }
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
    rollouts = read(tmp_path)
    assert rollouts.ids == ("rollout_good_success",)
    assert sorted(reasons(rollouts)) == sorted(name.removesuffix(".mp4") for name in broken)
    for episode_id, reason in reasons(rollouts).items():
        assert str(tmp_path / f"{episode_id}.mp4") in reason
    with pytest.raises(RolloutError, match="rollout_cut_success"):
        read(tmp_path, strict=True)


@pytest.mark.parametrize(("suffix", "codec"), [(".mkv", "libx264"), (".avi", "mpeg4")])
def test_a_cut_that_no_index_shows(tmp_path: Path, suffix: str, codec: str) -> None:
    path = videos.write_video(tmp_path / f"rollout_x_success{suffix}", 12, codec=codec)
    path.write_bytes(path.read_bytes()[:-2500])
    assert 0 < len(videos.decoded(path)) < 12
    with pytest.raises(RolloutError, match="the video is cut off"):
        read(tmp_path)


def test_a_video_whose_tables_come_first_is_cut(tmp_path: Path, clip: Path) -> None:
    """The index is whole, the pictures are not."""
    path = tmp_path / "rollout_x_success.mp4"
    path.write_bytes(_tables_first(clip.read_bytes()))
    assert len(list(read(tmp_path)[0].frames("video"))) == 6
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(RolloutError, match=r"cut off: \d of 6 frames are there"):
        read(tmp_path)


def _tables_first(content: bytes) -> bytes:
    """The same MP4 with moov before mdat, chunk offsets moved along."""
    boxes: dict[bytes, bytes] = {}
    position = 0
    while position < len(content):
        size, kind = struct.unpack_from(">I4s", content, position)
        boxes[kind] = content[position : position + size]
        position += size
    moov = bytearray(boxes[b"moov"])
    start = moov.find(b"stco") + 8
    (count,) = struct.unpack_from(">I", moov, start)
    for number in range(count):
        at = start + 4 + 4 * number
        (offset,) = struct.unpack_from(">I", moov, at)
        struct.pack_into(">I", moov, at, offset + len(moov))
    others = [box for kind, box in boxes.items() if kind not in (b"ftyp", b"moov")]
    return boxes[b"ftyp"] + bytes(moov) + b"".join(others)


def test_a_time_scale_of_zero_is_damage(tmp_path: Path, clip: Path) -> None:
    content = bytearray(clip.read_bytes())
    struct.pack_into(">I", content, content.find(b"mdhd") + 16, 0)
    path = tmp_path / "rollout_x_success.mp4"
    path.write_bytes(content)
    with pytest.raises(RolloutError, match="rollout_x_success.mp4: the video's sample tables"):
        read(tmp_path)


def test_a_codec_nobody_knows_is_damage(tmp_path: Path) -> None:
    path = videos.write_video(tmp_path / "rollout_x_success.mkv", 4)
    path.write_bytes(path.read_bytes().replace(b"V_MPEG4/ISO/AVC", b"V_MPEGX/ISO/AVC"))
    with pytest.raises(RolloutError, match=r"x_success.mkv: the video has an unknown codec"):
        read(tmp_path)


def test_a_video_that_vanishes(tmp_path: Path, clip: Path) -> None:
    place(clip, tmp_path / "rollout_x_success.mp4")
    episode = read(tmp_path)[0]
    (tmp_path / "rollout_x_success.mp4").unlink()
    with pytest.raises(RolloutError, match="rollout_x_success.mp4"):
        next(episode.frames("video"))


# ---- properties ----------------------------------------------------------------------------------


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


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
@pytest.mark.parametrize("seed", range(40))
def test_damage_gives_the_frames_that_are_there_or_an_error(
    tmp_path: Path, seed: int, suffix: str
) -> None:
    """Flipped bits and cuts: what is handed out is what FFmpeg decodes from the same file."""
    rng = np.random.default_rng(seed)
    path = videos.write_video(tmp_path / f"rollout_x_success{suffix}", 4)
    content = bytearray(path.read_bytes())
    if seed % 4 == 0:
        content = content[: rng.integers(len(content))]
    else:
        # Every other time into the tables, which are the smaller part of the file.
        moov = content.find(b"moov") if suffix == ".mp4" and seed % 2 else 0
        for position in rng.integers(moov, len(content), size=1 + seed % 3):
            content[position] ^= 1 << int(rng.integers(8))
    path.write_bytes(content)
    try:
        frames = list(read(path)[0].frames("video"))
    except RolloutError as error:
        assert str(path) in str(error)
        return
    np.testing.assert_array_equal(frames, videos.decoded(path))


# ---- real files ----------------------------------------------------------------------------------


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
