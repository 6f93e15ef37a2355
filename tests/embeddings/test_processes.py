"""Runs that are killed, interrupted, or share a cache end with the bytes of one left alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from rollout_files import embedding_processes
from rollout_files.lerobot import make_episode, write_lerobot

NUM_CLIPS = 12


@pytest.fixture(scope="module")
def data_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six episodes with two cameras: clips of 9 to 19 frames, none a whole number of batches."""
    episodes = [make_episode(9 + 2 * i, seed=i, cameras=("front", "wrist")) for i in range(6)]
    return write_lerobot(tmp_path_factory.mktemp("data") / "rollouts", episodes)


def outcome(what: str, data_set: Path, folder: Path) -> dict:
    script = embedding_processes.__file__
    ran = subprocess.run(
        [sys.executable, script, what, str(data_set), str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_killed_at_random_moments(data_set: Path, tmp_path: Path):
    num_left = outcome("kill", data_set, tmp_path)["num_left"]
    assert len(num_left) >= 20
    assert any(0 < left < NUM_CLIPS for left in num_left), "some were killed half-way"


def test_killed_while_a_file_is_written(data_set: Path, tmp_path: Path):
    """All that was written before stays; only what was under way is lost."""
    num_left = outcome("kill_in_write", data_set, tmp_path)["num_left"]
    assert num_left == list(range(NUM_CLIPS))


def test_processes_that_share_a_cache(data_set: Path, tmp_path: Path):
    result = outcome("together", data_set, tmp_path)
    assert len(result["counts"]) == 8
    for counts in result["counts"]:
        assert counts["encoded"] + counts["cached"] == result["num_frames"]
    shared = sum(counts["cached"] for counts in result["counts"])
    assert shared > 0, "nobody used what another had encoded"


def test_interrupted_while_waiting_for_another_process(data_set: Path, tmp_path: Path):
    result = outcome("interrupt", data_set, tmp_path)
    assert result["status"] == 130
    assert result["took_s"] < 5
