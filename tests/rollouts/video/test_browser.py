"""Every frame of an episode at its place in a video for browsers, copied or coded anew.

Each picture carries its number as black and white blocks, which no codec blurs away.
"""

import itertools
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from rollout_files.hdf5 import write_robomimic
from rollout_files.lerobot import as_png, write_video
from rollout_files.videos import remux

import goalward
from goalward.errors import GoalwardError, RolloutError
from goalward.rollouts.frames import ArrayFrames, EncodedFrames, FlippedFrames
from goalward.rollouts.video.browser import (
    HowMade,
    StoppedError,
    browser_video_name,
    write_browser_video,
)
from goalward.rollouts.video.index import read_index
from goalward.rollouts.video.mp4_tables import read_tables
from goalward.rollouts.video.reading import VideoFrames

NUM_BITS = 10
NO_B_FRAMES = {"crf": "20", "bf": "0", "x264-params": "scenecut=0"}
B_FRAMES = {"crf": "20", "bf": "3", "x264-params": "b-adapt=0"}


def numbered(numbers, height: int = 32, width: int = 160):
    """Pictures with their number in binary: ten bars, black for 0, white for 1."""
    bits = np.array([[number >> bit & 1 for bit in range(NUM_BITS)] for number in numbers])
    bars = (40 + 170 * bits).astype(np.uint8)
    wide = np.repeat(bars, width // NUM_BITS, axis=1)
    return np.ascontiguousarray(
        np.broadcast_to(wide[:, None, :, None], (len(bits), height, wide.shape[1], 3))
    )


def number_in(picture) -> int:
    edges = np.linspace(0, picture.shape[1], NUM_BITS + 1).astype(int)
    levels = [float(picture[:, a:b].mean()) for a, b in itertools.pairwise(edges)]
    return sum(1 << bit for bit, level in enumerate(levels) if level > 125)


def shown(path: Path) -> tuple[list[int], list[Fraction]]:
    """The numbers in the pictures of a video, and when each is shown; by PyAV alone."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = list(container.decode(stream))
        assert stream.codec_context.name == "h264"
        assert stream.codec_context.pix_fmt == "yuv420p"
        assert not any(frame.is_corrupt for frame in frames)
        pictures = [frame.to_ndarray(format="rgb24") for frame in frames]
        times = [frame.pts * stream.time_base for frame in frames]
        assert stream.duration * stream.time_base == len(frames) / (1 / times[1])
    return [number_in(picture) for picture in pictures], times


def key_frames(path: Path) -> list[int]:
    """By the tables of the file, which a browser goes by, and by the frames themselves."""
    tables = read_tables(path)
    assert tables is not None
    with av.open(str(path)) as container:
        true = [n for n, frame in enumerate(container.decode(video=0)) if frame.key_frame]
    assert tables.sync_samples.tolist() == true
    return true


def clip(path: Path, numbers, codec: str = "h264", **options) -> Path:
    options = {"key_frame_every": 10, "options": NO_B_FRAMES if codec == "h264" else {}} | options
    return write_video(path, list(numbered(numbers)), codec=codec, **options)


def part(path: Path, first: int, num_frames: int, fps: float = 10.0) -> VideoFrames:
    index = read_index(path)
    times = index.timestamps[first : first + num_frames]
    return VideoFrames(path, times, fps, index.height, index.width, index.codec)


@pytest.fixture(scope="module")
def two_episodes(tmp_path_factory) -> Path:
    """One file: an episode of frames 0 to 44, then one of 500 to 576."""
    folder = tmp_path_factory.mktemp("two")
    clips = [clip(folder / "0.mp4", range(45)), clip(folder / "1.mp4", range(500, 577))]
    return remux(folder / "both.mp4", clips)


def test_numbers_can_be_read_back():
    assert [number_in(picture) for picture in numbered([0, 1, 512, 1023])] == [0, 1, 512, 1023]


def test_the_second_episode_of_a_file_is_copied_frame_by_frame(tmp_path, two_episodes):
    path = tmp_path / "second.mp4"
    source = part(two_episodes, 45, 77)
    assert write_browser_video(source, path, 10) is HowMade.COPIED
    numbers, times = shown(path)
    assert numbers == list(range(500, 577))
    assert times == [Fraction(number, 10) for number in range(77)]
    assert key_frames(path) == list(range(0, 77, 10))
    content = path.read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")
    # The pictures are those of the source, to the last bit.
    with av.open(str(path)) as container:
        copied = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert all(np.array_equal(a, b) for a, b in zip(copied, source, strict=True))


def test_copied_frames_take_the_rate_that_is_asked_for(tmp_path, two_episodes):
    assert write_browser_video(part(two_episodes, 0, 45), tmp_path / "a.mp4", 12.5) == "copied"
    numbers, times = shown(tmp_path / "a.mp4")
    assert numbers == list(range(45))
    assert times == [Fraction(2 * number, 25) for number in range(45)]


def test_an_episode_that_does_not_start_at_a_key_frame_is_coded_anew(tmp_path, two_episodes):
    assert write_browser_video(part(two_episodes, 48, 30), tmp_path / "a.mp4", 10) == "encoded"
    numbers, times = shown(tmp_path / "a.mp4")
    assert numbers == list(range(503, 533))
    assert times == [Fraction(number, 10) for number in range(30)]
    assert key_frames(tmp_path / "a.mp4") == [0, 10, 20]


def test_every_second_frame_is_coded_anew(tmp_path, two_episodes):
    times = read_index(two_episodes).timestamps[45::2]
    source = VideoFrames(two_episodes, times, 5.0)
    assert write_browser_video(source, tmp_path / "a.mp4", 5) == "encoded"
    assert shown(tmp_path / "a.mp4")[0] == list(range(500, 577, 2))


@pytest.mark.parametrize(
    ("name", "made", "options"),
    [
        ("plain.mp4", "copied", {}),
        ("short_groups.mp4", "copied", {"key_frame_every": 2}),
        ("b_frames.mp4", "encoded", {"options": B_FRAMES}),
        ("few_key_frames.mp4", "encoded", {"key_frame_every": 250}),
        ("fragmented.mp4", "encoded", {"container_options": {"movflags": "frag_keyframe"}}),
        ("matroska.mkv", "encoded", {}),
        ("av1.mp4", "encoded", {"codec": "av1"}),
        ("mpeg4.mp4", "encoded", {"codec": "mpeg4"}),
        ("mpeg4.avi", "encoded", {"codec": "mpeg4"}),
    ],
)
def test_each_kind_of_video_is_exact(tmp_path, name, made, options):
    stored = clip(tmp_path / name, range(300, 375), **options)
    assert write_browser_video(part(stored, 0, 75), tmp_path / "out.mp4", 10) == made
    numbers, times = shown(tmp_path / "out.mp4")
    assert numbers == list(range(300, 375))
    assert times == [Fraction(number, 10) for number in range(75)]


def test_uneven_times_become_even(tmp_path):
    steps = np.random.default_rng(0).integers(1, 5, 40)
    path = tmp_path / "uneven.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30, options=NO_B_FRAMES)
        stream.height, stream.width, stream.pix_fmt = 32, 160, "yuv420p"
        for tick, picture in zip(np.cumsum(steps) - steps[0], numbered(range(40)), strict=True):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = int(tick), Fraction(1, 30)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    assert len(set(np.diff(read_index(path).timestamps).round(4))) > 1
    assert write_browser_video(part(path, 0, 40, fps=30.0), tmp_path / "a.mp4", 29.97) == "encoded"
    numbers, times = shown(tmp_path / "a.mp4")
    assert numbers == list(range(40))
    assert times == [Fraction(100 * number, 2997) for number in range(40)]


def test_a_video_that_is_turned_by_players_is_coded_anew(tmp_path, two_episodes):
    content = bytearray(two_episodes.read_bytes())
    # The matrix of the track header: 1, 0, 0, 0, 1, 0 becomes 0, 1, 0, -1, 0, 0.
    start = content.index(b"tkhd") + 4 + 40
    numbers = np.array([0, 1 << 16, 0, -(1 << 16), 0, 0], dtype=">i4")
    content[start : start + 24] = numbers.tobytes()
    turned = tmp_path / "turned.mp4"
    turned.write_bytes(content)
    assert read_index(turned).is_turned
    assert write_browser_video(part(turned, 0, 45), tmp_path / "a.mp4", 10) == "encoded"
    assert shown(tmp_path / "a.mp4")[0] == list(range(45))


def test_large_pictures_become_smaller_and_keep_their_shape(tmp_path):
    source = ArrayFrames(numbered(range(3), height=601, width=1000))
    assert write_browser_video(source, tmp_path / "a.mp4", 10, max_height=240) == "encoded"
    with av.open(str(tmp_path / "a.mp4")) as container:
        assert (container.streams.video[0].height, container.streams.video[0].width) == (240, 398)
    assert shown(tmp_path / "a.mp4")[0] == [0, 1, 2]


def test_a_stored_video_may_be_half_as_high_again_before_it_is_made_smaller(tmp_path):
    for height, made in ((192, "copied"), (194, "encoded")):
        pictures = list(numbered(range(12), height=height))
        path = write_video(tmp_path / f"{height}.mp4", pictures, options=NO_B_FRAMES)
        out = tmp_path / f"{height}_out.mp4"
        assert write_browser_video(part(path, 0, 12), out, 10, max_height=128) == made
        assert shown(out)[0] == list(range(12))


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (7, 9), (15, 16), (33, 47), (1, 5000)])
def test_any_size_makes_a_video(tmp_path, size):
    source = ArrayFrames(np.full((3, *size, 3), 180, np.uint8))
    write_browser_video(source, tmp_path / "a.mp4", 10)
    with av.open(str(tmp_path / "a.mp4")) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) == 3
    assert frames[2].mean() == pytest.approx(180, abs=3)
    assert frames[0].shape[0] % 2 == frames[0].shape[1] % 2 == 0
    if size != (1, 5000):
        assert min(frames[0].shape[:2]) >= 16


def test_one_frame_is_a_video_that_lasts(tmp_path):
    write_browser_video(ArrayFrames(numbered([7])), tmp_path / "a.mp4", 10)
    with av.open(str(tmp_path / "a.mp4")) as container:
        stream = container.streams.video[0]
        assert stream.duration * stream.time_base == Fraction(1, 10)


def test_frames_that_are_no_video(tmp_path):
    pictures = numbered(range(600, 612))
    encoded = [as_png(picture) for picture in pictures]
    sources = {
        "array": ArrayFrames(pictures),
        "images": EncodedFrames(lambda: encoded, 12, "here"),
        "flipped": FlippedFrames(ArrayFrames(pictures)),
    }
    for name, source in sources.items():
        assert write_browser_video(source, tmp_path / f"{name}.mp4", 10) == "encoded"
        assert shown(tmp_path / f"{name}.mp4")[0] == list(range(600, 612))


def test_flipped_video_is_not_copied(tmp_path, two_episodes):
    pictures = np.concatenate([np.full((12, 16, 32, 3), 30), np.full((12, 16, 32, 3), 200)], axis=1)
    path = write_video(tmp_path / "a.mp4", list(pictures.astype(np.uint8)), options=NO_B_FRAMES)
    source = FlippedFrames(part(path, 0, 12))
    assert write_browser_video(source, tmp_path / "b.mp4", 10) == "encoded"
    with av.open(str(tmp_path / "b.mp4")) as container:
        frame = next(container.decode(video=0)).to_ndarray(format="rgb24")
    assert frame[:14].mean() == pytest.approx(200, abs=4)
    assert frame[18:].mean() == pytest.approx(30, abs=4)


def test_pictures_of_an_hdf5_file(tmp_path):
    rollouts = goalward.read(write_robomimic(tmp_path / "a.hdf5"))
    episode = rollouts[0]
    source = episode.camera(next(iter(episode.cameras)))
    assert write_browser_video(source, tmp_path / "a.mp4", 20) == "encoded"
    with av.open(str(tmp_path / "a.mp4")) as container:
        assert sum(1 for _ in container.decode(video=0)) == episode.num_frames


# ---- what is damaged -----------------------------------------------------------------------------


def test_a_cut_video_is_an_error_that_names_it_and_no_file(tmp_path, two_episodes):
    cut = tmp_path / "cut.mp4"
    source = part(two_episodes, 45, 77)
    content = remux(tmp_path / "c.mp4", [two_episodes], container_options={"movflags": "faststart"})
    cut.write_bytes(content.read_bytes()[:-400])
    with pytest.raises(RolloutError, match=r"cut\.mp4"):
        write_browser_video(replace(source, path=cut), tmp_path / "out" / "a.mp4", 10)
    assert list((tmp_path / "out").iterdir()) == []


def test_zeros_inside_a_video_are_not_copied(tmp_path, two_episodes):
    content = bytearray(two_episodes.read_bytes())
    start = content.index(b"mdat") + 4
    middle = start + (content.index(b"moov") - start) // 2
    content[middle : middle + 400] = bytes(400)
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(content)
    source = replace(part(two_episodes, 0, 122), path=damaged)
    try:
        assert write_browser_video(source, tmp_path / "a.mp4", 10) == "encoded"
    except RolloutError as error:
        assert "damaged.mp4" in str(error)
        assert not (tmp_path / "a.mp4").exists()


def test_a_missing_video_is_named(tmp_path):
    source = VideoFrames(tmp_path / "gone.mp4", np.arange(3) / 10, 10.0)
    with pytest.raises(RolloutError, match=r"gone\.mp4: the video file is missing"):
        write_browser_video(source, tmp_path / "a.mp4", 10)


def test_frames_that_do_not_come_are_an_error(tmp_path):
    class Short(ArrayFrames):
        def __iter__(self):
            return iter(self.frames[:2])

    with pytest.raises(RolloutError, match=r"a\.mp4: 2 frames came, not 3"):
        write_browser_video(Short(numbered(range(3))), tmp_path / "a.mp4", 10)
    assert list(tmp_path.iterdir()) == []


def test_a_height_of_nothing_is_refused(tmp_path):
    with pytest.raises(GoalwardError, match="16 pixels high at least, got 0"):
        write_browser_video(ArrayFrames(numbered(range(3))), tmp_path / "a.mp4", 10, max_height=0)


# ---- names ---------------------------------------------------------------------------------------


def test_a_name_says_what_is_in_the_file(two_episodes):
    first, second = part(two_episodes, 0, 45), part(two_episodes, 45, 77)
    name = browser_video_name(first, 10.0, 480)
    assert name == browser_video_name(part(two_episodes, 0, 45), 10, 480)
    assert re.fullmatch(r"[0-9a-f]{32}\.mp4", name)
    others = {
        browser_video_name(second, 10.0, 480),
        browser_video_name(first, 12.5, 480),
        browser_video_name(first, 10.0, 240),
        browser_video_name(FlippedFrames(first), 10.0, 480),
    }
    assert len(others | {name}) == 5


def test_the_same_frames_give_the_same_bytes(tmp_path, two_episodes):
    for source in (part(two_episodes, 45, 77), part(two_episodes, 48, 30)):
        written = []
        for number in range(2):
            write_browser_video(source, tmp_path / f"{number}.mp4", 10)
            written.append((tmp_path / f"{number}.mp4").read_bytes())
        assert written[0] == written[1]


# ---- in a thread ---------------------------------------------------------------------------------


def test_a_video_that_is_no_longer_wanted_is_given_up(tmp_path):
    asked = iter([False] * 5 + [True])
    with pytest.raises(StoppedError):
        write_browser_video(
            ArrayFrames(numbered(range(30))),
            tmp_path / "video.mp4",
            10,
            is_stopped=lambda: next(asked),
        )
    assert next(asked, None) is None
    assert list(tmp_path.iterdir()) == []
