"""A run whose curves go forth, back and nowhere, and the LeRobot data set that it is of."""

from pathlib import Path

import pytest
from rollout_files.lerobot import make_episode, write_lerobot

from exports.conftest import told, told_run

INF = float("inf")


def down(first: int, last: int) -> list[float]:
    return [float(k) for k in range(first, last - 1, -1)]


# The longest took 120 steps, so that a setback is 24 of them, and a stall 24 frames.
EPISODES = (
    # 20 frames were filmed after the goal.
    told("0", "success", 79, down(79, 0) + [0.0] * 20),
    # Falls back after 30 frames.
    told("1", "success", 120, down(60, 31) + down(90, 0)),
    told("2", "time_out", None, [110.0] * 121),
    # Never comes back from frame 30 on.
    told("4", "time_out", None, down(60, 31) + [INF] * 91, task="pour"),
    # Stands still, and is at the goal all the same.
    told("5", "success", 40, [60.0] * 41, task="pour"),
    # Stands still for 50 frames, then goes on.
    told("6", "success", 120, [80.0] * 50 + down(80, 10), task="pour"),
)
# The run has no values of episode 3.
LENGTHS = (100, 121, 121, 7, 121, 41, 121)


def write_data(root: Path, version: str = "v3.0") -> Path:
    episodes = [make_episode(length, True, cameras=(), size=8) for length in LENGTHS]
    return write_lerobot(root, episodes, version=version, episodes_per_file=3)


@pytest.fixture
def data(tmp_path) -> Path:
    return write_data(tmp_path / "my data")


@pytest.fixture
def run_folder(tmp_path, data) -> Path:
    return told_run(tmp_path / "run", data, EPISODES)
