"""A small LeRobot data set, and a finished run on it whose every number is known."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rollout_files.drawn_runs import drawn_run
from rollout_files.lerobot import make_episode, write_lerobot

from goalward.metrics.trust import Grade
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.readers import lerobot
from goalward.runs.folder.stored import write_run
from goalward.runs.settings import RunData

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
    def episode(self) -> Episode:
        num_frames = len(next(iter(self.steps.values()))[0])
        return Episode(self.id, num_frames, Outcome(self.outcome), self.goal_frame, self.task)


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


def told_run(
    folder: Path,
    data: Path | None,
    episodes: Sequence[Told] = EPISODES,
    hindsight: float | None = None,
    grade: Grade = Grade.GOOD,
) -> Path:
    """A run on disk as `goalward evaluate` leaves it, without networks; the discount is 0.5.

    Three episodes prove nothing, so the grade is as given.
    """
    methods = episodes[0].steps
    run, _ = drawn_run(
        [one.episode for one in episodes],
        {method: [np.array(one.steps[method]) for one in episodes] for method in methods},
        folder,
        learned_from=[one.id for one in episodes if not one.held_out],
        data=None if data is None else _run_data(data),
        overrides={"discount": 0.5},
        hindsight=hindsight,
    )
    trust = replace(run.trust, grade=grade)
    write_run(replace(run, results=replace(run.results, trust=trust)))
    return folder


def _run_data(path: Path) -> RunData:
    return RunData(str(path), sources=("lerobot v3.0",) if lerobot.recognises(path) else ())


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
    return told_run(tmp_path / "run", data)
