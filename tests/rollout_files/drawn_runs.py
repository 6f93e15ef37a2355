"""Runs in memory with curves that a test draws, for what reads runs and their frames."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from goalward.config import EvaluationConfig
from goalward.metrics.evaluation_scores import steps_of_chances
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.frames import ArrayFrames
from goalward.run_folder import RunFolder
from goalward.runs.results import common_discount, judge
from goalward.runs.run import Run
from goalward.runs.settings import MadeBy, RunData, RunEpisode, RunSettings
from goalward.values.hindsight import HindsightChoice, with_hindsight
from goalward.values.made_chances import chances_of_values
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
    *,
    learned_from: Sequence[str] = (),
    training: np.ndarray | None = None,
    truth: FrameTruth | None = None,
    data: RunData | None = None,
    reading: Mapping[str, Any] | None = None,
    hindsight: float | None = None,
    **config: Any,
) -> tuple[Run, Rollouts]:
    """A judged run, in memory, whose steps to go are drawn; `stored.write_run` puts it on disk.

    `steps`: method -> for each episode its steps to go, (seeds, frames). Every episode is held out
    but those that were `learned_from`. `training` are positions of episodes that all networks
    learned from, for the threshold of training. `config` are fields of `EvaluationConfig`. Chances
    are the share of seeds that see success coming.

    Hindsight values are the values, so that either curve is the one that is drawn; with
    `hindsight`, a decay, they are made as an evaluation makes them.
    """
    methods = tuple(steps)
    table = np.stack([np.concatenate(steps[method], axis=1) for method in methods])
    num_seeds = table.shape[1]
    values = ValueTable(
        methods=methods,
        seeds=tuple(range(num_seeds)),
        episode_ids=tuple(e.id for e in episodes),
        episode_tasks=tuple(e.task for e in episodes),
        episode_ends=np.cumsum([e.num_frames for e in episodes]),
        # On another scale than the common one: nobody may take these for values.
        raw_value=np.full_like(table, 0.25, dtype=np.float32),
        steps_to_goal=table.astype(np.float32),
    )
    rollouts = Rollouts(episodes)
    chosen = HindsightChoice(0.98 if hindsight is None else hindsight, "as it was drawn")
    evaluation = EvaluationConfig(**({"methods": methods, "seeds": num_seeds} | config))
    discount = common_discount(evaluation, max(int(rollouts.lengths.max()) - 1, 1))
    values = with_hindsight(values, rollouts.endings, discount, chosen.decay)
    if hindsight is None:
        values = replace(values, hindsight_value=values.value)
    settings = RunSettings(
        evaluation=evaluation,
        data=RunData() if data is None else data,
        reading={} if reading is None else reading,
        made_by=MadeBy(command="goalward evaluate rollouts --out run", goalward="0.2.0"),
    )
    held_out = np.array([e.id not in learned_from for e in episodes])
    chances = chances_of_values(
        values, steps_of_chances(rollouts.endings, evaluation.standard_horizon)
    )
    results, events = judge(
        values,
        chances,
        rollouts,
        held_out,
        evaluation,
        hindsight=chosen,
        training=training,
        truth=truth,
    )
    run = Run(
        folder=RunFolder(folder),
        settings=settings,
        episodes=tuple(
            RunEpisode(
                e.id,
                e.task,
                e.outcome,
                e.num_frames,
                e.goal_frame,
                "held out" if e.id not in learned_from else "",
                e.fps,
            )
            for e in episodes
        ),
        values=values,
        chances=chances,
        events=dict(zip(rollouts.ids, events, strict=True)),
        results=results,
    )
    return run, rollouts


def countdown(num_frames: int, seeds: int = 2) -> np.ndarray:
    """One step nearer at each frame, 0 at the last; the seeds are one step apart."""
    steps = np.arange(num_frames)[::-1]
    return np.stack([steps + seed for seed in range(seeds)]).astype(np.float64)
