"""Fingerprints of video: the coded frames count, not the file around them."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import av
import numpy as np
import pytest
from rollout_files.lerobot import decoded, distinct_pictures, write_video
from rollout_files.videos import remux

from goalward import RolloutError
from goalward.rollouts.frames import FlippedFrames
from goalward.rollouts.video import fingerprint as video_fingerprint
from goalward.rollouts.video.index import read_index
from goalward.rollouts.video.mp4_tables import SampleTables, read_tables
from goalward.rollouts.video.reading import VideoFrames

# (codec, options of the encoder, frames from one key frame to the next)
CODINGS = {
    "h264": ("h264", None, 5),
    "h264 with B-frames": ("h264", {"bf": "2", "x264-params": "b-adapt=0"}, 12),
    "av1": ("av1", None, 2),
    "mpeg4": ("mpeg4", {}, 5),
    "mpeg4 with B-frames": ("mpeg4", {"bf": "2"}, 12),
    "hevc": ("libx265", {"x265-params": "log-level=none"}, 12),
    "vp9": ("libvpx-vp9", {}, 5),
}
OPEN_GOP = {"x264-params": "open-gop=1:keyint=8:min-keyint=8:bframes=3:b-adapt=0:scenecut=0"}


@pytest.fixture(scope="module", params=list(CODINGS))
def clips(request, tmp_path_factory) -> list[Path]:
    """Three clips of 10, 11 and 12 frames, ten per second."""
    codec, options, key_frame_every = CODINGS[request.param]
    folder = tmp_path_factory.mktemp("clips")
    return [
        write_video(
            folder / f"{number}.mp4",
            list(distinct_pictures(10 + number, 64, seed=number)),
            codec=codec,
            options=options,
            key_frame_every=key_frame_every,
        )
        for number in range(3)
    ]


def moving_pictures(num_frames: int, seed: int) -> list[np.ndarray]:
    """Frames that an encoder codes with reference to others."""
    picture = distinct_pictures(1, 64, seed=seed)[0]
    return [np.roll(picture, 2 * index, axis=1) for index in range(num_frames)]


def window(path: Path, first: int = 0, num_frames: int | None = None, step: int = 1) -> VideoFrames:
    """Some frames of the file as an episode."""
    times = read_index(path).timestamps[first:]
    return VideoFrames(path, times[:num_frames:step], fps=10.0)


def fingerprint(path: Path, first: int = 0, num_frames: int | None = None, step: int = 1) -> str:
    return window(path, first, num_frames, step).fingerprint()


def tables_of(path: Path) -> SampleTables:
    tables = read_tables(path)
    assert tables is not None
    return tables


def with_changed_byte(path: Path, sample: int, target: Path) -> Path:
    """A copy with one bit flipped in the middle of this sample, counted as decoded."""
    tables = tables_of(path)
    content = bytearray(path.read_bytes())
    content[tables.offsets[sample] + tables.sizes[sample] // 2] ^= 4
    target.write_bytes(content)
    return target


def same_frames(one: Iterable[np.ndarray], other: Iterable[np.ndarray]) -> bool:
    # One by one: damage can change the size of a single frame.
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


# ---- MP4: the same coded frames ------------------------------------------------------------------


def test_where_the_file_lies_does_not_count(clips: list[Path], tmp_path: Path):
    copy = Path(shutil.copy(clips[0], tmp_path / "renamed.mov"))
    assert fingerprint(copy) == fingerprint(clips[0])


def test_remuxing_does_not_count(clips: list[Path], tmp_path: Path):
    expected = fingerprint(clips[0])
    for number, options in enumerate(
        ({}, {"movflags": "faststart"}, {"video_track_timescale": "90000"}, {"use_editlist": "0"})
    ):
        copy = remux(tmp_path / f"{number}.mp4", clips[:1], container_options=options)
        assert copy.read_bytes() != clips[0].read_bytes()
        assert fingerprint(copy) == expected
    again = remux(tmp_path / "again.mp4", [tmp_path / "0.mp4"])
    assert fingerprint(again) == expected


def test_other_episodes_in_the_file_do_not_count(clips: list[Path], tmp_path: Path):
    alone = [fingerprint(clip) for clip in clips]
    assert len(set(alone)) == 3
    packed = remux(tmp_path / "packed.mp4", clips)
    assert [fingerprint(packed, *w) for w in ((0, 10), (10, 11), (21, 12))] == alone
    reordered = remux(tmp_path / "reordered.mp4", [clips[0], clips[2], clips[1], clips[0]])
    windows = ((0, 10), (22, 11), (10, 12), (33, 10))
    assert [fingerprint(reordered, *w) for w in windows] == [*alone, alone[0]]
    assert same_frames(window(reordered, 22, 11), window(clips[1]))


def test_a_changed_bit_counts_in_the_episode_where_it_is(clips: list[Path], tmp_path: Path):
    packed = remux(tmp_path / "packed.mp4", clips)
    windows = ((0, 10), (10, 11), (21, 12))
    alone = [fingerprint(packed, *w) for w in windows]
    for sample in (0, 1, 9, 10, 14, 20, 21, 32):
        changed = with_changed_byte(packed, sample, tmp_path / f"{sample}.mp4")
        inside = [first <= sample < first + count for first, count in windows]
        now = [fingerprint(changed, *w) for w in windows]
        assert [a != b for a, b in zip(now, alone, strict=True)] == inside


def test_other_frames_are_another_fingerprint(clips: list[Path]):
    windows = [(0, None), (0, 9), (1, None), (1, 8), (0, 8), (0, None, 2), (1, None, 2), (4, 1)]
    assert len({fingerprint(clips[1], *w) for w in windows}) == len(windows)


def test_flipped_video_is_another_fingerprint(clips: list[Path]):
    assert FlippedFrames(window(clips[0])).fingerprint() != fingerprint(clips[0])


def test_nothing_is_decoded(clips: list[Path], monkeypatch: pytest.MonkeyPatch):
    frames = window(clips[0])

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a video was opened for decoding")

    monkeypatch.setattr(av, "open", refuse)
    assert frames.fingerprint()


def test_times_that_are_off_by_less_than_a_quarter_of_a_frame_mean_the_same(clips: list[Path]):
    times = read_index(clips[0]).timestamps
    rng = np.random.default_rng(0)
    near = VideoFrames(clips[0], times + rng.uniform(-0.02, 0.02, len(times)), fps=10.0)
    assert near.fingerprint() == fingerprint(clips[0])
    as_float32 = VideoFrames(clips[0], times.astype(np.float32).astype(float), fps=10.0)
    assert as_float32.fingerprint() == fingerprint(clips[0])


def test_coding_anew_is_another_fingerprint(tmp_path: Path):
    pictures = list(distinct_pictures(8, 32, seed=0))
    options = [{"crf": "18"}, {"crf": "19"}, {"crf": "18", "bf": "0"}]
    paths = [
        write_video(tmp_path / f"{number}.mp4", pictures, options=chosen)
        for number, chosen in enumerate(options)
    ]
    again = write_video(tmp_path / "again.mp4", pictures, options=options[0])
    assert len({fingerprint(path) for path in paths}) == 3
    assert fingerprint(again) == fingerprint(paths[0])


def test_files_joined_as_lerobot_joins_them(tmp_path: Path):
    """Each new episode is appended by way of FFmpeg's list of files, and the file is rewritten."""
    file, alone = tmp_path / "file-000.mp4", []
    for number in range(3):
        pictures = list(distinct_pictures(6, 64, seed=number))
        episode = write_video(tmp_path / f"{number}.mp4", pictures, codec="av1")
        alone.append(fingerprint(episode))
        if number == 0:
            shutil.copy(episode, file)
            continue
        (tmp_path / "list.txt").write_text(f"file '{file}'\nfile '{episode}'\n")
        joined = tmp_path / "joined.mp4"
        with (
            av.open(str(tmp_path / "list.txt"), format="concat", options={"safe": "0"}) as source,
            av.open(str(joined), "w", options={"movflags": "faststart"}) as target,
        ):
            stream = target.add_stream_from_template(source.streams.video[0], opaque=True)
            # As LeRobot does; av 16 and older write nothing without.
            stream.time_base = source.streams.video[0].time_base
            for packet in source.demux(video=0):
                if packet.dts is not None:
                    packet.stream = stream
                    target.mux(packet)
        joined.replace(file)
        assert [fingerprint(file, 6 * i, 6) for i in range(number + 1)] == alone


# ---- MP4: groups of pictures ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def one_group(tmp_path_factory) -> Path:
    """41 frames, one key frame, no B-frames."""
    return write_video(
        tmp_path_factory.mktemp("group") / "one_group.mp4",
        list(distinct_pictures(41, 32, seed=3)),
        options={"bf": "0", "x264-params": "scenecut=0"},
        key_frame_every=250,
    )


def test_episodes_that_share_a_key_frame(one_group: Path, tmp_path: Path):
    """What comes before is needed for decoding; what comes after is not."""
    assert tables_of(one_group).sync_samples.tolist() == [0]
    expected = fingerprint(one_group, 20, 10)
    for sample, differs in ((0, True), (19, True), (29, True), (30, False), (40, False)):
        changed = with_changed_byte(one_group, sample, tmp_path / f"{sample}.mp4")
        assert (fingerprint(changed, 20, 10) != expected) == differs
    # The same first sample and the same last, but other frames of the episode in between.
    assert fingerprint(one_group, 20, 10, 9) != fingerprint(one_group, 11, 19, 18)


def test_b_frames_are_needed_up_to_the_last_in_order_of_decoding(tmp_path: Path):
    path = write_video(
        tmp_path / "b.mp4",
        list(distinct_pictures(24, 32, seed=3)),
        options={"x264-params": "bframes=2:b-adapt=0:scenecut=0:b-pyramid=none"},
        key_frame_every=250,
    )
    tables = tables_of(path)
    # I0 P3 B1 B2 P6 B4 B5 ...: frame 4 needs the sample of frame 6, which is decoded before it.
    assert tables.display_order[:7].tolist() == [0, 2, 3, 1, 5, 6, 4]
    expected = fingerprint(path, 0, 5)
    for sample, differs in ((4, True), (5, True), (6, False), (7, False)):
        changed = with_changed_byte(path, sample, tmp_path / f"{sample}.mp4")
        assert (fingerprint(changed, 0, 5) != expected) == differs


def test_leading_pictures_of_an_open_group_need_the_group_before(tmp_path: Path):
    path = write_video(
        tmp_path / "open.mp4",
        moving_pictures(33, seed=3),
        options=OPEN_GOP,
        key_frame_every=8,
    )
    tables = tables_of(path)
    key = int(tables.sync_samples[2])
    shown_at = tables.display_order.tolist().index(key)
    leading = shown_at - 1
    assert tables.display_order[leading] > key, "decoded after the key frame, shown before it"
    changed = with_changed_byte(path, int(tables.sync_samples[1]), tmp_path / "changed.mp4")
    assert fingerprint(changed, leading, 4) != fingerprint(path, leading, 4)
    assert fingerprint(changed, shown_at, 4) == fingerprint(path, shown_at, 4)
    assert same_frames(window(changed, shown_at, 4), window(path, shown_at, 4))
    assert not same_frames(window(changed, leading, 4), window(path, leading, 4))


# ---- other files: all bytes count ----------------------------------------------------------------


@pytest.fixture(
    scope="module",
    params=[
        ("fragmented.mp4", "h264", {"movflags": "frag_keyframe+empty_moov"}),
        ("half_fragmented.mp4", "h264", {"movflags": "frag_keyframe"}),
        ("a.mkv", "h264", {}),
        ("a.webm", "libvpx-vp9", {}),
        ("a.avi", "mpeg4", {}),
    ],
    ids=lambda p: p[0],
)
def other_file(request, tmp_path_factory) -> Path:
    name, codec, container_options = request.param
    return write_video(
        tmp_path_factory.mktemp("other") / name,
        list(distinct_pictures(12, 32, seed=5)),
        codec=codec,
        options={},
        key_frame_every=4,
        container_options=container_options,
    )


def test_other_files_count_as_a_whole(other_file: Path, tmp_path: Path):
    copy = Path(shutil.copy(other_file, tmp_path / f"copy{other_file.suffix}"))
    windows = [(0, None), (0, 6), (6, 6), (0, 5), (0, None, 2)]
    expected = [fingerprint(other_file, *w) for w in windows]
    assert [fingerprint(copy, *w) for w in windows] == expected
    assert len(set(expected)) == len(windows)
    content = bytearray(other_file.read_bytes())
    content[len(content) // 2] ^= 4
    changed = tmp_path / f"changed{other_file.suffix}"
    changed.write_bytes(content)
    times = read_index(other_file).timestamps
    assert VideoFrames(changed, times, fps=10.0).fingerprint() != expected[0]


def test_a_file_that_is_fragmented_after_its_first_part_has_all_its_frames(tmp_path: Path):
    path = write_video(
        tmp_path / "half.mp4",
        list(distinct_pictures(12, 32, seed=5)),
        key_frame_every=4,
        container_options={"movflags": "frag_keyframe"},
    )
    expected = decoded(path)
    assert read_index(path).num_frames == len(expected) == 12
    assert same_frames(window(path), expected)


def test_frames_after_the_end_of_an_edit_are_not_shown(tmp_path: Path):
    path = write_video(tmp_path / "whole.mp4", list(distinct_pictures(12, 32, seed=5)))
    content = bytearray(path.read_bytes())
    duration = content.find(b"elst") + 12
    assert int.from_bytes(content[duration : duration + 4], "big") == 1200  # milliseconds
    content[duration : duration + 4] = (600).to_bytes(4, "big")
    trimmed = tmp_path / "trimmed.mp4"
    trimmed.write_bytes(content)
    assert read_tables(trimmed) is None
    expected = decoded(trimmed)
    assert 0 < len(expected) < 12
    assert read_index(trimmed).num_frames == len(expected)
    assert fingerprint(trimmed) != fingerprint(path, 0, len(expected))


def test_times_that_could_mean_two_frames_take_the_file_as_a_whole(tmp_path: Path):
    path = write_video(tmp_path / "a.mp4", list(distinct_pictures(12, 32, seed=5)))
    vague = VideoFrames(path, np.array([0.05, 0.55]), fps=1.0)
    assert vague.fingerprint() == vague.fingerprint()
    changed = with_changed_byte(path, 11, tmp_path / "b.mp4")
    elsewhere = VideoFrames(changed, vague.timestamps, fps=1.0)
    assert elsewhere.fingerprint() != vague.fingerprint()


# ---- cost ----------------------------------------------------------------------------------------


def test_a_file_of_many_episodes_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    calls = {"read_tables": 0, "container_of": 0, "new_digest": 0}
    for name in calls:
        function = getattr(video_fingerprint, name)

        def counted(*args, name=name, function=function):
            calls[name] += args != ("mp4 codec",)
            return function(*args)

        monkeypatch.setattr(video_fingerprint, name, counted)
    pictures = list(distinct_pictures(40, 16, seed=0))
    for suffix, expected in ((".mp4", (1, 1, 20)), (".mkv", (0, 1, 20 + 1))):
        calls |= dict.fromkeys(calls, 0)
        path = write_video(tmp_path / f"a{suffix}", pictures, options={})
        found = {fingerprint(path, 2 * i, 2) for i in range(20)}
        assert len(found) == 20
        assert tuple(calls.values()) == expected


def test_a_file_that_changed_is_read_again(tmp_path: Path):
    for suffix in (".mp4", ".mkv"):
        path = tmp_path / f"a{suffix}"
        found = set()
        for number in range(3):
            write_video(path, list(distinct_pictures(6, 32, seed=number)), options={})
            os.utime(path, ns=(0, number))  # a coarse clock may not tell them apart
            found.add(fingerprint(path))
        assert len(found) == 3


# ---- errors --------------------------------------------------------------------------------------


def test_missing_and_cut_files(tmp_path: Path):
    pictures = list(distinct_pictures(12, 32, seed=5))
    with pytest.raises(RolloutError, match="none.mp4: the video file is missing"):
        VideoFrames(tmp_path / "none.mp4", np.array([0.0]), fps=10.0).fingerprint()
    with pytest.raises(RolloutError, match=str(tmp_path)):
        VideoFrames(tmp_path, np.array([0.0]), fps=10.0).fingerprint()
    for name, options in (
        ("back.mp4", {}),
        ("front.mp4", {"movflags": "faststart"}),
        ("a.avi", {}),
    ):
        codec = "mpeg4" if name == "a.avi" else "h264"
        path = write_video(
            tmp_path / name, pictures, codec=codec, options={}, container_options=options
        )
        frames = window(path)
        path.write_bytes(path.read_bytes()[:-100])
        with pytest.raises(RolloutError, match=f"{name}: the video is cut off"):
            frames.fingerprint()
    beginning = VideoFrames(tmp_path / "front.mp4", np.arange(4) / 10, fps=10.0)
    assert beginning.fingerprint()


def test_a_time_without_a_frame(tmp_path: Path):
    path = write_video(tmp_path / "a.mp4", list(distinct_pictures(12, 32, seed=5)))
    for times in ([0.0, 0.1, 0.25], [0.0, 0.1, 9.0], [0.0, 0.1, np.nan]):
        with pytest.raises(RolloutError, match=r"a.mp4: frame 2 of the episode, at .* is missing"):
            VideoFrames(path, np.array(times), fps=10.0).fingerprint()


# ---- damage --------------------------------------------------------------------------------------


@pytest.mark.parametrize("coding", ["h264 with B-frames", "av1", "mpeg4 with B-frames"])
def test_equal_fingerprints_mean_equal_frames(coding: str, tmp_path: Path):
    """Over copies with flipped bits anywhere: a changed copy may be refused, never mistaken."""
    codec, options, key_frame_every = CODINGS[coding]
    clips = [
        write_video(
            tmp_path / f"{number}.mp4",
            moving_pictures(6 + number, seed=number),
            codec=codec,
            options=options,
            key_frame_every=key_frame_every,
        )
        for number in range(3)
    ]
    content = remux(tmp_path / "packed.mp4", clips).read_bytes()
    tables_start = content.find(b"moov")
    rng = np.random.default_rng(0)
    frames_by_fingerprint: dict[str, list[np.ndarray]] = {}
    num_compared = 0
    for number in range(120):
        damaged = bytearray(content)
        for position in rng.integers(tables_start * (number % 2), len(content), size=2):
            damaged[position] ^= 1 << int(rng.integers(8))
        path = tmp_path / f"damaged{number}.mp4"
        path.write_bytes(content if number == 0 else damaged)
        for first, count in ((0, 6), (6, 7), (13, 8), (8, 3)):
            frames = VideoFrames(path, (first + np.arange(count)) / 10, fps=10.0)
            try:
                found = frames.fingerprint()
                pictures = list(frames)
            except RolloutError as error:
                assert path.name in str(error)
                continue
            expected = frames_by_fingerprint.setdefault(found, pictures)
            num_compared += expected is not pictures
            assert same_frames(pictures, expected)
        path.unlink()
    assert num_compared > 100


def test_real_videos(real_files: Path, tmp_path: Path):
    rollouts = sorted((real_files / "openpi_libero_rollouts").glob("*.mp4"))[:4]
    alone = [fingerprint(path) for path in rollouts]
    assert len(set(alone)) == len(rollouts)
    for path, expected in zip(rollouts, alone, strict=True):
        assert fingerprint(remux(tmp_path / path.name, [path])) == expected
