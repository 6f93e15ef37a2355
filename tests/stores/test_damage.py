"""What was fetched and then damaged on this disk: fetched again, and never another number."""

import logging
import os
import shutil

import numpy as np
import pytest
from rollout_files import hdf5, videos
from rollout_files.lerobot import make_episode, write_lerobot
from rollout_files.small_encoder import small_encoder
from rollout_files.stores import PlantedFiles, put

import goalward
from goalward.errors import GoalwardError
from goalward.rollouts.video import reading
from goalward.stores import fetching, objects
from goalward.stores.fetching import fetched
from goalward.stores.place import StoredPath


def flipped(path, position=0.5):
    content = bytearray(path.read_bytes())
    content[int(position * len(content))] ^= 1
    path.write_bytes(content)


def another_process():
    """Which remembers nothing of what this one was told and compared."""
    objects._noted.clear()
    reading._noted.clear()
    fetching._compared.clear()


@pytest.fixture
def clips(tmp_path):
    path = tmp_path / "videos"
    path.mkdir()
    for number in range(2):
        videos.write_video(path / f"{number}_success.mp4", videos.pictures(5, seed=number))
    return put(path, "planted")


def embedded(clips, cache):
    rollouts = goalward.read(clips, labels="success")
    return goalward.embed(rollouts, small_encoder(), cache=cache, device="cpu").features


def test_a_table_that_was_damaged_is_fetched_again_and_told(tmp_path, stores, caplog):
    episodes = [make_episode(length, seed=length) for length in (5, 6)]
    url = put(write_lerobot(tmp_path / "cubes", episodes), "planted")
    goalward.read(url)
    path = next((stores / "objects").rglob("info.json"))
    whole = path.read_bytes()
    # Still JSON, and of the size it had.
    path.write_bytes(whole.replace(b'"fps": 10', b'"fps": 20'))
    assert path.read_bytes() != whole
    another_process()
    PlantedFiles.reset()
    with caplog.at_level(logging.WARNING, "goalward.stores"):
        assert goalward.read(url)[0].fps == 10
    assert f"{url}/meta/info.json: was damaged since it was fetched" in caplog.text
    assert PlantedFiles.asked == {"info.json": 1}
    assert path.read_bytes() == whole


def test_a_video_that_was_damaged_is_fetched_again(clips, tmp_path, stores):
    wanted = embedded(clips, tmp_path / "cache")
    damaged = next((stores / "objects").rglob("1_success.mp4"))
    flipped(damaged, 0.3)
    another_process()
    PlantedFiles.reset()
    assert np.array_equal(embedded(clips, tmp_path / "other"), wanted)
    assert PlantedFiles.asked == {"1_success.mp4": 1}


def test_an_index_that_was_kept_and_damaged_is_asked_for_again(clips, stores):
    def told():
        return [(e.id, e.num_frames, e.fps) for e in goalward.read(clips, labels="success")]

    wanted = told()
    first, second = sorted((stores / "heads").rglob("*.mp4.*"))
    whole = first.read_bytes()
    for content in (whole[:-1] + bytes([whole[-1] ^ 1]), whole[:50], b"", second.read_bytes()):
        first.write_bytes(content)
        another_process()
        PlantedFiles.reset()
        assert told() == wanted
        assert set(PlantedFiles.asked) == {"0_success.mp4"}
        assert first.read_bytes() == whole


@pytest.mark.parametrize("content", ["", "null", "[1]", '[9999, "", 0]'])
def test_a_mark_that_was_damaged_is_none(tmp_path, stores, content):
    demos = hdf5.write_robomimic(tmp_path / "demo.hdf5")
    url = put(demos, "planted")
    goalward.read(url)
    (mark,) = (stores / "marks").rglob("demo.hdf5")
    mark.write_text(content)
    another_process()
    assert len(goalward.read(url)) == 2


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["marks", "heads"])
def test_a_pipe_in_place_of_what_is_kept_is_not_waited_for(clips, tmp_path, stores, kind):
    wanted = embedded(clips, tmp_path / "cache")
    first, second = sorted(path for path in (stores / kind).rglob("*.mp4*") if path.is_file())
    for kept in (first, second):
        kept.unlink()
        os.mkfifo(kept)
    another_process()
    assert np.array_equal(embedded(clips, tmp_path / "other"), wanted)


def test_of_a_part_what_is_not_as_it_was_fetched_is_fetched_again(tmp_path, stores, monkeypatch):
    monkeypatch.setattr(fetching, "_PAUSES_S", (0.0, 0.0))
    monkeypatch.setattr(fetching, "_BLOCK_BYTES", 1000)
    path = tmp_path / "features.npz"
    path.write_bytes(np.random.default_rng(0).bytes(5500))
    stored = StoredPath.of(put(path, "planted"))

    def cut_after_four(_):
        if PlantedFiles.asked.total() == 4:
            PlantedFiles.cut = {"features.npz": 3}

    PlantedFiles.after_block = cut_after_four
    with pytest.raises(GoalwardError, match="the store gave"):
        fetched(stored)
    (part,) = (file for file in (stores / "parts").rglob("*") if file.suffix == ".5500")
    flipped(part, 2500 / part.stat().st_size)
    PlantedFiles.reset()
    assert fetched(stored).read_bytes() == path.read_bytes()
    # The first two blocks were as they had been.
    assert PlantedFiles.num_bytes == 3500
    assert not [file for file in (stores / "parts").rglob("*") if file.is_file()]


def test_a_note_of_a_fingerprint_that_was_damaged_is_none(clips, tmp_path, stores):
    """That of another video would bring its embeddings."""
    cache = tmp_path / "cache"
    wanted = embedded(clips, cache)
    first, second = sorted((cache / "fingerprints").rglob("*.txt"))
    whole = first.read_text()
    for text in (second.read_text(), whole.replace(whole[5], "f" if whole[5] == "0" else "0"), ""):
        first.write_text(text)
        another_process()
        assert np.array_equal(embedded(clips, cache), wanted)
        assert first.read_text() == whole
    shutil.rmtree(cache / "fingerprints")
    another_process()
    assert np.array_equal(embedded(clips, cache), wanted)
