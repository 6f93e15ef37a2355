"""A small finished run over real pictures, its values made by a formula: nothing is trained."""

from pathlib import Path

import numpy as np
from rollout_files.drawn_runs import drawn_run

import goalward
from goalward.rollouts.episode import Episode, Outcome
from goalward.runs.folder.stored import write_run
from goalward.runs.settings import RunData
from goalward.values.training_log import LossCurve, TrainingLog, write_training_log

METHODS = ("liveness", "td", "mc")
SEEDS = (0, 1)


def write_demo_run(folder: Path, num_each: int = 3) -> Path:
    """As `goalward evaluate` leaves it: so many successes and time-outs of the demo rollouts."""
    demo = goalward.read("demo")
    chosen: list[int] = []
    for outcome in (Outcome.SUCCESS, Outcome.TIME_OUT):
        chosen += [i for i, e in enumerate(demo) if e.outcome is outcome][:num_each]
    episodes = demo.select(sorted(chosen))
    run, _ = drawn_run(
        list(episodes),
        {
            method: [np.stack([_steps(e, m, seed) for seed in SEEDS]) for e in episodes]
            for m, method in enumerate(METHODS)
        },
        folder,
        data=RunData(path="demo"),
        policy="demo policy",
        standard_horizon=50,
    )
    write_run(run)
    write_training_log(run.folder.training_log, demo_log())
    return folder


def demo_log() -> TrainingLog:
    """One stage whose networks learn by heart after 60 steps, and one without held-out episodes."""
    steps = tuple(range(10, 201, 10))
    curves = [
        LossCurve(
            stage=stage,
            seed=seed,
            task="",
            subset="",
            fold=None,
            num_episodes=6,
            steps=steps,
            loss=tuple(0.8 * 0.98**step + 0.01 * seed for step in steps),
            held_out_loss=tuple(0.2 + 0.001 * abs(step - 60) + 0.02 * seed for step in steps)
            if is_judged
            else None,
        )
        for stage, is_judged in (("sparse", True), ("mc", False))
        for seed in SEEDS
    ]
    return TrainingLog(tuple(curves))


def _steps(episode: Episode, method: int, seed: int) -> np.ndarray:
    """Successes count down; time-outs come near, slip in the middle, and stay where they are."""
    frame = np.arange(episode.num_frames, dtype=np.float64)
    if episode.outcome is Outcome.SUCCESS:
        steps = np.maximum(episode.num_frames - 1 - frame, 0)
    else:
        slip = episode.num_frames // 2
        steps = np.where(frame < slip, 45 - frame, 40 - 0.2 * (frame - slip))
    return np.maximum(steps * (1 + 0.25 * method) + 1.5 * seed, 0)
