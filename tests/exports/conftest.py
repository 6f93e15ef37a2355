"""A small LeRobot data set, and a finished run on it whose every number is known."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rollout_files.lerobot import make_episode, write_lerobot

from goalward.config import EvaluationConfig, write_toml
from goalward.run_folder import RunFolder
from goalward.values.table import ValueTable

INF = float("inf")


@dataclass(frozen=True)
class Told:
    """An episode as the run has it: steps to go by method, each a list per seed."""

    id: str
    outcome: str
    goal_frame: int | None
    steps: dict[str, list[list[float]]]
    held_out: bool = True
    task: str = "stack the cubes"

    @property
    def num_frames(self) -> int:
        return len(next(iter(self.steps.values()))[0])


def told(
    episode_id: str, outcome: str, goal_frame: int | None, steps: list[float], **more: Any
) -> Told:
    """Two seeds that agree, and a second method that says one step more, or never with seed 1."""
    other = [[k + 1 for k in steps], [INF] * len(steps)]
    return Told(episode_id, outcome, goal_frame, {"liveness": [steps, steps], "mc": other}, **more)


EPISODES = (
    told("0", "success", 5, [4, 4, 3, 1, 1, 0]),
    told("1", "time_out", None, [4, 2, 5, INF, 3], held_out=False),
    told("3", "failure", None, [3, 3, 8, 8], task="pour"),
)
# The run has no values of the third: it was left out.
LENGTHS = (6, 5, 3, 4)


def write_run(folder: Path, data: Path, episodes: Sequence[Told] = EPISODES) -> Path:
    """As `goalward evaluate` leaves it, without networks and scores; the discount is 0.5."""
    files = RunFolder(folder)
    methods = list(episodes[0].steps)
    steps = np.array(
        [
            [[k for e in episodes for k in e.steps[method][seed]] for seed in (0, 1)]
            for method in methods
        ],
        dtype=np.float32,
    )
    ValueTable(
        methods=tuple(methods),
        seeds=(0, 1),
        episode_ids=tuple(e.id for e in episodes),
        episode_tasks=tuple(e.task for e in episodes),
        episode_ends=np.cumsum([e.num_frames for e in episodes]),
        # Another scale than the common one: exports must not take these.
        value=np.full_like(steps, 0.25),
        steps_to_goal=steps,
    ).write(files.values)
    with files.episodes.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["episode", "task", "outcome", "num_frames", "goal_frame", "held_out"])
        for e in episodes:
            goal = "" if e.goal_frame is None else e.goal_frame
            rows.writerow([e.id, e.task, e.outcome, e.num_frames, goal, str(e.held_out).lower()])
    config = EvaluationConfig(methods=tuple(methods), seeds=2, overrides={"discount": 0.5})
    settings = {"data": {"path": str(data)}, "reading": {}, "evaluation": config.as_dict()}
    write_toml(files.config, settings)
    return folder


def write_data(root: Path, **options: Any) -> Path:
    """Four episodes in two data files."""
    episodes = [
        make_episode(
            length, success, seed=number, task="pour" if number == 3 else "stack the cubes"
        )
        for number, (length, success) in enumerate(
            zip(LENGTHS, (True, False, True, False), strict=True)
        )
    ]
    return write_lerobot(root, episodes, **({"episodes_per_file": 2} | options))


@pytest.fixture
def data(tmp_path) -> Path:
    return write_data(tmp_path / "data")


@pytest.fixture
def run_folder(tmp_path, data) -> Path:
    return write_run(tmp_path / "run", data)
