"""A damaged video leaves its episode out, with the reason; all others are embedded."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from rollout_files.lerobot import make_episode, write_lerobot
from rollout_files.small_encoder import small_encoder

import goalward
from goalward import RolloutError, Rollouts
from goalward.embeddings.embed import embed

LENGTHS = [8, 9, 10, 9]


def write(folder: Path, seeds: Sequence[int] = (0, 1, 2, 3)) -> Path:
    """Four episodes with a video file for each of two cameras."""
    episodes = [
        make_episode(length, seed=seed, cameras=("front", "wrist"))
        for length, seed in zip(LENGTHS, seeds, strict=True)
    ]
    return write_lerobot(folder / "rollouts", episodes, version="v2.1")


def video(data_set: Path, episode: int, camera: str) -> Path:
    (path,) = data_set.rglob(f"*.{camera}/episode_{episode:06d}.mp4")
    return path


def spoil_frames(path: Path) -> None:
    """The file stays a video; its last coded frames are noise."""
    content = bytearray(path.read_bytes())
    end = content.find(b"moov") - 40
    content[end - 260 : end] = b"\x55" * 260
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-400])


def remove(path: Path) -> None:
    path.unlink()


@pytest.fixture
def wanted(tmp_path: Path) -> Rollouts:
    """What an undamaged copy gives."""
    rollouts = goalward.read(write(tmp_path / "whole"))
    return embed(rollouts, small_encoder(), device="cpu", cache=tmp_path / "whole_cache")


def copy_of_whole(folder: Path) -> Path:
    """The same bytes again: a coder does not always give them twice."""
    return Path(shutil.copytree(folder / "whole" / "rollouts", folder / "rollouts"))


DAMAGE = [
    (spoil_frames, "the video cannot be decoded"),
    (cut, "the video is cut off"),
    (remove, "the video file is missing"),
]


@pytest.mark.parametrize(("damage", "reason"), DAMAGE)
def test_one_among_good_ones(
    damage: Callable[[Path], None], reason: str, wanted: Rollouts, tmp_path, embed_with_report
):
    data_set = copy_of_whole(tmp_path)
    rollouts = goalward.read(data_set)
    # After reading: the reader leaves out what it notices itself.
    path = video(data_set, 1, "wrist")
    damage(path)
    embedded, report = embed_with_report(rollouts, small_encoder())
    assert embedded.ids == ("0", "2", "3")
    assert np.array_equal(embedded.features, wanted.select([0, 2, 3]).features)
    (left_out,) = embedded.left_out
    assert left_out.episode_id == "1"
    assert str(path) in left_out.reason
    assert reason in left_out.reason
    assert report.left_out == [left_out]
    # All but the nine frames of that camera were encoded, none was there before.
    assert (report.num_encoded + report.num_unchanged, report.num_from_cache) == (2 * 36 - 9, 0)


@pytest.mark.parametrize(("damage", "reason"), DAMAGE)
def test_strict_is_an_error(damage: Callable[[Path], None], reason: str, tmp_path: Path):
    data_set = write(tmp_path)
    rollouts = goalward.read(data_set)
    damage(video(data_set, 1, "wrist"))
    with pytest.raises(RolloutError, match=f"episode 1: .*episode_000001.mp4: {reason}"):
        embed(rollouts, small_encoder(), device="cpu", strict=True)


def test_nothing_left_is_an_error(tmp_path: Path):
    data_set = write(tmp_path)
    rollouts = goalward.read(data_set)
    for episode in range(4):
        spoil_frames(video(data_set, episode, "front"))
    with pytest.raises(RolloutError, match="no episode could be embedded; episode 0: .*decoded"):
        embed(rollouts, small_encoder(), device="cpu")


def test_an_episode_damaged_twice_is_left_out_once(tmp_path: Path):
    data_set = write(tmp_path)
    rollouts = goalward.read(data_set)
    spoil_frames(video(data_set, 2, "front"))
    spoil_frames(video(data_set, 2, "wrist"))
    embedded = embed(rollouts, small_encoder(), device="cpu")
    assert embedded.ids == ("0", "1", "3")
    assert [left.episode_id for left in embedded.left_out] == ["2"]


def test_episodes_with_the_same_damaged_video_are_all_left_out(tmp_path: Path):
    data_set = write(tmp_path, seeds=(0, 1, 2, 1))
    shutil.copyfile(video(data_set, 1, "front"), video(data_set, 3, "front"))
    rollouts = goalward.read(data_set)
    spoil_frames(video(data_set, 1, "front"))
    spoil_frames(video(data_set, 3, "front"))
    fingerprints = [e.camera("front").fingerprint() for e in (rollouts[1], rollouts[3])]
    assert fingerprints[0] == fingerprints[1]
    embedded = embed(rollouts, small_encoder(), device="cpu")
    assert embedded.ids == ("0", "2")
    assert [left.episode_id for left in embedded.left_out] == ["1", "3"]


def test_what_the_reader_left_out_is_still_known(tmp_path: Path):
    data_set = write(tmp_path)
    remove(video(data_set, 0, "front"))
    rollouts = goalward.read(data_set)
    assert rollouts.ids == ("1", "2", "3")
    spoil_frames(video(data_set, 3, "front"))
    embedded = embed(rollouts, small_encoder(), device="cpu")
    assert embedded.ids == ("1", "2")
    assert [left.episode_id for left in embedded.left_out] == ["0", "3"]


def test_a_mended_video_is_embedded_next_time(wanted: Rollouts, tmp_path: Path, embed_with_report):
    data_set = copy_of_whole(tmp_path)
    path = video(data_set, 1, "wrist")
    whole = path.read_bytes()
    rollouts = goalward.read(data_set)
    spoil_frames(path)
    embed_with_report(rollouts, small_encoder())
    path.write_bytes(whole)
    embedded, report = embed_with_report(goalward.read(data_set), small_encoder())
    assert np.array_equal(embedded.features, wanted.features)
    assert report.num_encoded == 9
