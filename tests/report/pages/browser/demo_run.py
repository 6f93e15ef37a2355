"""A small finished run over real pictures, its values made by a formula: nothing is trained."""

from pathlib import Path

import numpy as np

import goalward
from goalward.config import EvaluationConfig, write_toml
from goalward.metrics.evaluation_scores import score_values
from goalward.report.evaluation_files import write_evaluation
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.run_folder import RunFolder
from goalward.values.table import ValueTable

METHODS = ("liveness", "td", "mc")
SEEDS = (0, 1)


def write_demo_run(folder: Path, num_each: int = 3) -> Path:
    """As `goalward evaluate` leaves it: so many successes and time-outs of the demo rollouts."""
    demo = goalward.read("demo")
    chosen: list[int] = []
    for outcome in (Outcome.SUCCESS, Outcome.TIME_OUT):
        chosen += [i for i, e in enumerate(demo) if e.outcome is outcome][:num_each]
    rollouts = demo.select(sorted(chosen))
    write_run(RunFolder(folder), rollouts, "demo")
    return folder


def write_run(folder: RunFolder, rollouts: Rollouts, path: str) -> None:
    config = EvaluationConfig(policy="demo policy", methods=METHODS, seeds=len(SEEDS))
    values = formula_values(rollouts)
    write_toml(
        folder.config,
        {
            "data": {"path": path},
            "reading": {},
            "evaluation": config.as_dict(),
            "made_by": {"command": "goalward evaluate demo --out run", "goalward": "0.1.0"},
        },
    )
    lines = ["episode,task,outcome,num_frames,goal_frame,held_out,fold"]
    for episode in rollouts:
        goal = "" if episode.goal_frame is None else episode.goal_frame
        lines.append(
            f'"{episode.id}","{episode.task}",{episode.outcome},{episode.num_frames},{goal},true,'
        )
    folder.episodes.write_text("\n".join(lines) + "\n")
    values.write(folder.values)
    held_out = np.ones(len(rollouts), dtype=bool)
    scores = score_values(values, rollouts, held_out, None, 50)
    with_features = rollouts.with_features(np.zeros((rollouts.num_frames, 1), np.float32))
    write_evaluation(folder, scores, with_features, config)


def formula_values(rollouts: Rollouts) -> ValueTable:
    steps = np.stack(
        [
            np.stack([np.concatenate([_steps(e, m, s) for e in rollouts]) for s in SEEDS])
            for m in range(len(METHODS))
        ]
    )
    return ValueTable(
        methods=METHODS,
        seeds=SEEDS,
        episode_ids=rollouts.ids,
        episode_tasks=tuple(episode.task for episode in rollouts),
        episode_ends=rollouts.episode_ends,
        value=(1 - 2 * 0.97**steps).astype(np.float32),
        steps_to_goal=steps.astype(np.float32),
    )


def _steps(episode: Episode, method: int, seed: int) -> np.ndarray:
    """Successes count down; time-outs come near, slip in the middle, and stay where they are."""
    frame = np.arange(episode.num_frames, dtype=np.float64)
    if episode.outcome is Outcome.SUCCESS:
        steps = np.maximum(episode.num_frames - 1 - frame, 0)
    else:
        slip = episode.num_frames // 2
        steps = np.where(frame < slip, 45 - frame, 40 - 0.2 * (frame - slip))
    return np.maximum(steps * (1 + 0.25 * method) + 1.5 * seed, 0)
