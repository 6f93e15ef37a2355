"""From what a user points at to rollouts with features: what is told, refused and passed on."""

import logging
from pathlib import Path

import numpy as np
import pytest
from rollout_files.lerobot import make_episode, write_lerobot
from rollout_files.small_encoder import WIDTH, picture_rollouts, small_encoder

import goalward
from goalward.errors import GoalwardError, speaking_of_flags
from goalward.runs.making.given import truth_path_of
from goalward.runs.making.inputs import embed_input, is_feature_file, read_input


@pytest.fixture
def told(caplog):
    """(level, words) of what was logged."""
    caplog.set_level(logging.INFO, "goalward.runs")
    return lambda: [(record.levelname, record.getMessage()) for record in caplog.records]


@pytest.fixture
def data(tmp_path):
    episodes = [make_episode(5 + i, i % 2 == 0, seed=i) for i in range(3)]
    return write_lerobot(tmp_path / "data", episodes, version="v2.1")


def test_a_data_set_is_read_as_asked(data, told):
    rollouts = read_input(data, {"labels": "time_out", "cameras": ()}, {"encoder": "clip"})
    assert rollouts.camera_names == ()
    assert not rollouts.success.any()
    assert [words for _, words in told()] == list(rollouts.warnings)


def test_what_is_left_out_is_told(data, told):
    next(data.rglob("*_000001.mp4")).unlink()
    rollouts = read_input(str(data), {}, {})
    assert rollouts.ids == ("0", "2")
    ((level, words),) = [line for line in told() if "left out" in line[1]]
    assert level == "WARNING"
    assert words.startswith("episode 1 is left out: ")
    assert "000001.mp4" in words


def test_what_reading_noticed_is_told(data, told):
    """All successes: a warning of the data set itself."""
    rollouts = read_input(data, {"labels": "success"}, {})
    assert [("WARNING", text) for text in rollouts.warnings] == told()
    assert rollouts.warnings


def test_a_feature_file_takes_no_options(tmp_path):
    path = tmp_path / "features.npz"
    given = goalward.from_arrays([np.zeros((3, 2), np.float32)] * 2, success=[True, False])
    goalward.write_features(path, given)
    assert is_feature_file(path)
    assert is_feature_file(str(path))
    assert not is_feature_file(tmp_path / "features.npz.d")
    assert read_input(path, {}, {}).features.shape == (6, 2)
    words = "features.npz: a feature file has its outcomes and features already; "
    with pytest.raises(GoalwardError, match=f"{words}labels=, pool= would change nothing"):
        read_input(path, {"labels": "x.csv"}, {"pool": "grid2"})
    with speaking_of_flags(), pytest.raises(GoalwardError, match="--success-key would change"):
        read_input(str(path), {"success_key": "done"}, {})


def test_a_link_that_leads_to_itself_is_no_data(tmp_path):
    (tmp_path / "data.hdf5").symlink_to("data.hdf5")
    with pytest.raises(GoalwardError, match=r"data.hdf5"):
        goalward.evaluate(tmp_path / "data.hdf5", tmp_path / "run")


def test_embedding_is_told_in_numbers(tmp_path, told):
    rollouts = picture_rollouts([4, 3], state_size=2)
    options = {"encoder": small_encoder(), "cache": tmp_path, "n_obs_steps": 2}
    embedded = embed_input(rollouts, options, device="cpu")
    assert embedded.features.shape == (7, 2 * (WIDTH + 2))
    (_, first), (_, second) = told()
    assert first.startswith("7 frames by ")
    assert "; 7 encoded in " in first
    assert "from the cache" not in first
    assert second.startswith(f"embeddings of 2 episodes: {tmp_path}")
    embed_input(rollouts, options, device="cpu")
    assert "; 7 from the cache" in told()[2][1]
    assert "encoded" not in told()[2][1]


def test_frames_that_stand_still_are_told(tmp_path, told):
    pictures = np.repeat(np.zeros((1, 20, 20, 3), np.uint8), 5, axis=0)
    rollouts = goalward.from_arrays(images={"front": [pictures] * 1}, success=[True])
    embed_input(rollouts, {"encoder": small_encoder(), "cache": tmp_path}, device="cpu")
    assert told()[0][1].endswith("; 4 the same as the frame before")


def test_damage_is_told_and_strict_ends_it(data, tmp_path, told):
    rollouts = read_input(data, {}, {})
    options = {"encoder": small_encoder(), "cache": tmp_path / "cache"}
    embed_input(rollouts, options, device="cpu")
    next((tmp_path / "cache").rglob("*.safetensors")).write_bytes(b"")
    video = next(data.rglob("*_000002.mp4"))
    content = bytearray(video.read_bytes())
    end = content.find(b"moov") - 40
    content[end - 260 : end] = b"\x55" * 260
    video.write_bytes(content)
    again = read_input(data, {}, {})
    assert embed_input(again, options, device="cpu").ids == ("0", "1")
    warned = [words for level, words in told() if level == "WARNING"]
    assert any(words.startswith("episode 2 is left out: ") for words in warned)
    with pytest.raises(GoalwardError, match="episode 2: "):
        embed_input(again, options, device="cpu", strict=True)


def test_a_damaged_cache_is_told(tmp_path, told):
    rollouts = picture_rollouts([4, 3])
    options = {"encoder": small_encoder(), "cache": tmp_path}
    embed_input(rollouts, options, device="cpu")
    for path in tmp_path.rglob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:-1])
    embed_input(rollouts, options, device="cpu")
    assert ("WARNING", "2 damaged files of the cache were made again") in told()


def test_a_device_that_is_not_there_is_refused(tmp_path):
    options = {"encoder": small_encoder(), "cache": tmp_path}
    with pytest.raises(GoalwardError, match="no device 'banana'"):
        embed_input(picture_rollouts([3]), options, device="banana")


@pytest.mark.parametrize("begun", ["truth.branches.jsonl", "truth.shard-01-of-02.branches.jsonl"])
def test_a_truth_that_is_gone_is_not_passed_over(tmp_path: Path, caplog, begun: str):
    assert truth_path_of(tmp_path, None) is None
    assert caplog.messages == []
    (tmp_path / begun).write_text("{}")
    assert truth_path_of(tmp_path, None) is None
    assert "truth.parquet: is not there, though its truth was measured" in caplog.messages[0]
