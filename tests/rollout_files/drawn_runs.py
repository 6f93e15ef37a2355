"""Finished runs in memory with curves that a test draws, for what reads runs and their frames."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from goalward.config import EvaluationConfig
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.frames import ArrayFrames
from goalward.run_folder import RunFolder
from goalward.values.finished_run import FinishedRun, RunEpisode
from goalward.values.table import ValueTable


def drawn_episode(
    episode_id: str,
    num_frames: int,
    *,
    outcome: Outcome = Outcome.TIME_OUT,
    shapes: Mapping[str, tuple[int, int]] | None = None,
    task: str = "fold",
    fps: float | None = None,
) -> Episode:
    """Cameras of these (height, width); every picture of frame i has the brightness i."""
    cameras = {
        name: ArrayFrames(
            np.stack([np.full((*shape, 3), i % 256, dtype=np.uint8) for i in range(num_frames)])
        )
        for name, shape in (shapes or {}).items()
    }
    goal = num_frames - 1 if outcome is Outcome.SUCCESS else None
    return Episode(episode_id, num_frames, outcome, goal, task, fps, cameras)


def drawn_run(
    episodes: Sequence[Episode],
    steps: Mapping[str, Sequence[np.ndarray]],
    folder: Path = Path("run"),
) -> tuple[FinishedRun, Rollouts]:
    """`steps`: method -> for each episode its steps to go, (seeds, frames)."""
    methods = tuple(steps)
    table = np.stack([np.concatenate(steps[method], axis=1) for method in methods])
    num_seeds = table.shape[1]
    run = FinishedRun(
        folder=RunFolder(folder),
        settings={},
        config=EvaluationConfig(methods=methods, seeds=num_seeds),
        episodes=tuple(
            RunEpisode(e.id, e.task, e.outcome, e.num_frames, e.goal_frame, True) for e in episodes
        ),
        values=ValueTable(
            methods=methods,
            seeds=tuple(range(num_seeds)),
            episode_ids=tuple(e.id for e in episodes),
            episode_tasks=tuple(e.task for e in episodes),
            episode_ends=np.cumsum([e.num_frames for e in episodes]),
            value=np.zeros_like(table, dtype=np.float32),
            steps_to_goal=table.astype(np.float32),
        ),
    )
    return run, Rollouts(episodes)


def countdown(num_frames: int, seeds: int = 2) -> np.ndarray:
    """One step nearer at each frame, 0 at the last; the seeds are one step apart."""
    steps = np.arange(num_frames)[::-1]
    return np.stack([steps + seed for seed in range(seeds)]).astype(np.float64)
