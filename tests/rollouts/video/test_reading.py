"""Decoding and indexing against PyAV, bit for bit."""

import shutil
from pathlib import Path

import av
import numpy as np
import pytest
from rollout_files.lerobot import decoded, distinct_pictures, write_video

import goalward
from goalward import RolloutError
from goalward.rollouts.video.index import read_index
from goalward.rollouts.video.reading import VideoFrames

PICTURES = distinct_pictures(41, 32, seed=3)


@pytest.fixture(
    scope="module",
    params=[
        ("plain.mp4", "h264", 2, None, {}),
        ("long_gop.mp4", "h264", 250, {"crf": "20", "bf": "3"}, {}),
        ("av1.mp4", "av1", 2, None, {}),
        ("front_index.mp4", "h264", 12, None, {"movflags": "faststart"}),
        ("fragmented.mp4", "h264", 2, None, {"movflags": "frag_keyframe+empty_moov"}),
        ("quicktime.mov", "h264", 12, None, {}),
        ("matroska.mkv", "h264", 12, None, {}),
        ("mpeg4.avi", "mpeg4", 12, {}, {}),
    ],
    ids=lambda p: p[0],
)
def video(request, tmp_path_factory) -> Path:
    name, codec, key_frame_every, options, container_options = request.param
    return write_video(
        tmp_path_factory.mktemp("video") / name,
        list(PICTURES),
        codec=codec,
        key_frame_every=key_frame_every,
        options=options,
        container_options=container_options,
    )


def frames_of(path: Path) -> VideoFrames:
    return VideoFrames(path, read_index(path).timestamps, fps=10.0)


def test_the_index_agrees_with_a_full_decode(video: Path):
    index = read_index(video)
    assert index.num_frames == index.num_intact == len(PICTURES)
    assert (index.width, index.height) == (32, 32)
    assert index.codec == {"av1.mp4": "av1", "mpeg4.avi": "mpeg4"}.get(video.name, "h264")
    assert np.allclose(np.diff(index.timestamps), 0.1, atol=1e-3)


def test_frames_equal_a_direct_decode(video: Path):
    expected = decoded(video)
    got = list(frames_of(video))
    assert len(got) == len(expected) == len(PICTURES)
    assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))


def test_random_access_equals_a_direct_decode(video: Path):
    expected = decoded(video)
    wanted = [40, 0, 39, 3, 3, 17]
    got = list(frames_of(video).at(wanted))
    assert all(np.array_equal(g, expected[i]) for g, i in zip(got, wanted, strict=True))


def test_an_episode_inside_a_longer_file(video: Path):
    expected = decoded(video)
    clip = VideoFrames(video, 1.3 + np.arange(9) / 10, fps=10.0)
    assert all(np.array_equal(g, e) for g, e in zip(clip, expected[13:22], strict=True))


def test_a_time_without_a_frame_is_an_error_not_the_nearest_frame(video: Path):
    with pytest.raises(RolloutError, match=r"frame 2 of the episode, at 0.250 s, is missing"):
        list(VideoFrames(video, np.array([0.0, 0.1, 0.25]), fps=10.0))
    with pytest.raises(RolloutError, match=r"at 9.000 s, is missing or damaged"):
        list(VideoFrames(video, np.array([4.0, 9.0]), fps=10.0))


def test_far_apart_frames_are_reached_by_seeking(tmp_path: Path):
    path = write_video(tmp_path / "long.mp4", list(distinct_pictures(400, 16, seed=1)))
    expected = decoded(path)
    wanted = [0, 1, 33, 34, 200, 399]
    got = list(frames_of(path).at(wanted))
    assert all(np.array_equal(g, expected[i]) for g, i in zip(got, wanted, strict=True))


def test_a_cut_video_with_its_index_in_front_counts_what_is_intact(tmp_path: Path):
    path = write_video(
        tmp_path / "cut.mp4",
        list(PICTURES),
        options={"crf": "18", "bf": "0"},
        container_options={"movflags": "faststart"},
    )
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])
    index = read_index(path)
    assert index.num_frames == 41
    assert 10 < index.num_intact < 41
    intact = VideoFrames(path, np.arange(index.num_intact) / 10, fps=10.0)
    assert len(list(intact)) == index.num_intact
    with pytest.raises(RolloutError, match="cut.mp4"):
        list(frames_of(path))


def test_a_cut_video_with_its_index_at_the_end(tmp_path: Path):
    path = write_video(tmp_path / "cut.mp4", list(PICTURES))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(RolloutError, match=r"cut.mp4: the video is cut off"):
        read_index(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"not a video at all, only some text\n" * 9, "does not start like a video"),
        (b"#EXTM3U\n/etc/passwd\n", "does not start like a video"),
    ],
)
def test_files_that_are_no_videos(tmp_path: Path, content: bytes, message: str):
    path = tmp_path / "x.mp4"
    path.write_bytes(content)
    with pytest.raises(RolloutError, match=f"x.mp4: {message}"):
        read_index(path)
    with pytest.raises(RolloutError, match="x.mp4: "):
        list(VideoFrames(path, np.array([0.0]), 10.0))


def test_a_trimmed_video_has_the_frames_that_are_shown(tmp_path: Path):
    path = write_video(tmp_path / "whole.mp4", list(PICTURES[:12]), key_frame_every=250)
    with av.open(str(path)) as source, av.open(str(tmp_path / "cut.mp4"), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.pts is not None:
                # Frames shown before time 0 are kept for decoding and hidden by an edit list.
                packet.pts, packet.dts = packet.pts - 3 * 1024, packet.dts - 3 * 1024
                packet.stream = stream
                target.mux(packet)
    expected = decoded(tmp_path / "cut.mp4")
    assert 0 < len(expected) < 12
    assert read_index(tmp_path / "cut.mp4").num_frames == len(expected)
    got = list(frames_of(tmp_path / "cut.mp4"))
    assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))


def test_a_missing_file(tmp_path: Path):
    with pytest.raises(RolloutError, match="the video file is missing"):
        read_index(tmp_path / "none.mp4")
    with pytest.raises(RolloutError, match="the video file is missing"):
        list(VideoFrames(tmp_path / "none.mp4", np.array([0.0]), 10.0))


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_a_video_that_was_replaced_since_it_was_read_is_named(tmp_path: Path, name: str):
    for index in range(2):
        write_video(
            tmp_path / f"rollout_{index}_success{name[1:]}", list(PICTURES[index : index + 9])
        )
    rollouts = goalward.read(tmp_path)
    first, second = sorted(tmp_path.iterdir())
    shutil.copyfile(second, first)
    assert first.stat().st_size != rollouts[0].camera("video").file_size
    for look in (
        lambda: next(rollouts[0].frames("video")),
        rollouts[0].camera("video").fingerprint,
    ):
        with pytest.raises(
            RolloutError, match="rollout_0.*has changed since the data set was opened"
        ):
            look()


def test_damaged_sample_tables_never_give_another_exception(tmp_path: Path):
    path = write_video(tmp_path / "a.mp4", list(PICTURES[:12]))
    content = bytearray(path.read_bytes())
    tables = content.find(b"moov")
    rng = np.random.default_rng(0)
    for _ in range(400):
        damaged = content.copy()
        for position in rng.integers(tables, len(content), size=2):
            damaged[position] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            index = read_index(path)
        except RolloutError as error:
            assert "a.mp4" in str(error)
        else:
            assert index.num_frames < 100_000


def test_real_videos(real_files: Path, tmp_path: Path):
    av1 = real_files / "lerobot_v30_by_0.6.1/videos/observation.images.front/chunk-000"
    for path in [
        next((real_files / "openpi_libero_rollouts").glob("*.mp4")),
        av1 / "file-000.mp4",
    ]:
        shutil.copy(path, tmp_path / "copy.mp4")
        expected = decoded(path)
        got = list(frames_of(tmp_path / "copy.mp4"))
        assert len(got) == len(expected)
        assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))
