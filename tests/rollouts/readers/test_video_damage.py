"""Rollout videos that are cut, broken, or not what they seem: each is named."""

import struct
from pathlib import Path

import numpy as np
import pytest
from rollout_files import videos
from rollout_files.left_out import reasons
from rollout_files.video_folders import place

from goalward.errors import RolloutError
from goalward.rollouts.readers import read


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
