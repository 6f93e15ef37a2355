"""Learning the value functions of one data set: every method, seed, task and subset."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from goalward.errors import GoalwardError, argument
from goalward.executors.choice import LOCAL, Workers
from goalward.locks import alone_in
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.findings import check_read
from goalward.training.fit import learn_after, train
from goalward.training.fit_pieces import train_on
from goalward.training.frames.task_codes import TaskCodes, task_codes
from goalward.training.frames.training_frames import TrainingFrames, training_frames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.presets import hyperparameters
from goalward.training.methods.table import Method, find_method, known_methods, stages_by_name
from goalward.training.progress import UNHURRIED, OnProgress, Pace
from goalward.training.runs import (
    Episodes,
    NetRun,
    episodes_by_task,
    plan_runs,
    warn_of_one_class,
)
from goalward.values.fitted import Fitted
from goalward.values.stored_fit import EVERY_TASK, Question

# All episodes of a task, where a fit was not asked for subsets.
ALL = ""


def fit(
    rollouts: Rollouts,
    methods: str | Method | Sequence[str | Method] = ("liveness",),
    *,
    seeds: int | Sequence[int] = 5,
    preset: str = "default",
    per_task: bool = False,
    subsets: Mapping[str, npt.ArrayLike] | None = None,
    device: torch.device | str | None = None,
    checkpoint: str | Path | None = None,
    on_progress: OnProgress | None = None,
    pace: Pace = UNHURRIED,
    on: str = LOCAL,
    num_workers: int | None = None,
    **overrides: Any,
) -> Fitted:
    """Learn the value of every frame from episodes with features and outcomes.

    `methods` are names, or methods of your own (docs/methods/adding_a_method.md). `seeds` is how
    many (0, 1, ...) or which. Any field of `Hyperparameters` can be given by name
    and overrides the preset's. One value function serves all tasks and is told which one it looks
    at; with `per_task` every task has its own, learned from its own episodes. With `checkpoint`, a
    folder, training is saved there every minute, and the same call goes on where it was stopped.
    `on` says who trains: this process (`local`), or `num_workers` workers of a Ray cluster (`ray`,
    or `ray://host:10001`) that share the folder.

    >>> import numpy as np
    >>> from goalward import from_arrays
    >>> ramp = np.linspace(0, 1, 20)[:, None]
    >>> rollouts = from_arrays([ramp, -ramp] * 4, success=[True, False] * 4)
    >>> fitted = fit(rollouts, "liveness-nb", seeds=1, width=16, num_steps=20, batch_size=32)
    >>> fitted.predict(rollouts).mean("liveness-nb").shape
    (160,)
    """
    check_read(rollouts, "fit")
    workers = Workers(on, num_workers)
    asked = (methods,) if isinstance(methods, str | Method) else methods
    given = [find_method(method) for method in asked]
    known = known_methods(given)
    chosen_methods = tuple(known[name] for name in dict.fromkeys(method.name for method in given))
    chosen_seeds = _chosen_seeds(seeds)
    if not chosen_methods or not chosen_seeds:
        raise GoalwardError("give at least one method and one seed")
    frames = training_frames(rollouts)
    numbers = hyperparameters(preset, **overrides).for_horizon(frames.horizon, frames.num_frames)
    # With the rounds that these numbers ask for, no two stages may share a name either.
    stages_by_name(known.values(), numbers)
    asked_for = asked_runs(
        frames, chosen_methods, chosen_seeds, numbers, subsets=subsets, per_task=per_task
    )
    for episodes, task in asked_for.learned_from:
        warn_of_one_class(frames, episodes, task)
    folder = None if checkpoint is None else Path(checkpoint)
    with nullcontext() if folder is None else alone_in(folder):
        if workers.is_here:
            nets = train(
                frames,
                asked_for.runs,
                numbers,
                device=device,
                checkpoint_folder=folder,
                on_progress=on_progress,
                pace=pace,
                tasks=asked_for.tasks,
            )
        else:
            nets = train_on(
                on,
                frames,
                asked_for.runs,
                numbers,
                device=device,
                checkpoint_folder=folder,
                on_progress=on_progress,
                tasks=asked_for.tasks,
                num_workers=num_workers,
            )
    for method, runs in asked_for.together:
        nets = learn_after(method, runs, frames, nets, numbers, device)
    return Fitted(numbers, chosen_methods, asked_for.answers, tuple(nets), rollouts.feature_layout)


def _chosen_seeds(seeds: int | Sequence[int]) -> tuple[int, ...]:
    """The first so many, or those that are named."""
    try:
        if isinstance(seeds, Sequence | np.ndarray):
            return tuple(index(seed) for seed in seeds)
        return tuple(range(index(seeds)))
    except TypeError:
        given = argument("seeds", seeds)
        raise GoalwardError(f"{given}: say how many, or name them by whole numbers") from None


@dataclass(frozen=True, eq=False)
class AskedRuns:
    """Which networks answer for what, and what they are told of tasks.

    `together` are the runs of all seeds of a method on one task and subset; `learned_from` are the
    episodes of each task and subset.
    """

    answers: Mapping[Question, tuple[NetRun, ...]]
    together: Sequence[tuple[Method, list[NetRun]]]
    learned_from: Sequence[tuple[Episodes, str]]
    tasks: TaskCodes | None

    @property
    def runs(self) -> list[NetRun]:
        return [run for members in self.answers.values() for run in members]


def asked_runs(
    frames: TrainingFrames,
    methods: Sequence[str | Method],
    seeds: int | Sequence[int],
    numbers: Hyperparameters,
    *,
    subsets: Mapping[str, npt.ArrayLike] | None = None,
    per_task: bool = False,
) -> AskedRuns:
    """The runs of a fit; outcomes and tasks decide which there are, features do not."""
    tasks = None if per_task else _shared_tasks(frames)
    answers: dict[Question, tuple[NetRun, ...]] = {}
    together: list[tuple[Method, list[NetRun]]] = []
    learned_from: list[tuple[Episodes, str]] = []
    chosen_seeds = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    for subset, positions in _chosen_positions(subsets, frames.num_episodes).items():
        by_task = {EVERY_TASK: tuple(positions)}
        by_task = by_task if tasks else episodes_by_task(frames, positions)
        for task, episodes in by_task.items():
            learned_from.append((episodes, task))
            name = f"{subset}/{task}" if subset else task
            for method in map(find_method, methods):
                by_seed = [
                    plan_runs(frames, method, seed, episodes, numbers, name=name)
                    for seed in chosen_seeds
                ]
                together.append((method, [run for members in by_seed for run in members]))
                for seed, members in zip(chosen_seeds, by_seed, strict=True):
                    answers[method.name, seed, task, subset] = members
    return AskedRuns(answers, together, learned_from, tasks)


def _shared_tasks(frames: TrainingFrames) -> TaskCodes | None:
    """How networks are told the task; nothing where there is one."""
    several = len(set(frames.episode_task)) > 1
    return task_codes(frames.episode_task, frames.task_vectors) if several else None


def _chosen_positions(
    subsets: Mapping[str, npt.ArrayLike] | None, num_episodes: int
) -> dict[str, list[int]]:
    if subsets is None:
        return {ALL: list(range(num_episodes))}
    chosen = {name: np.asarray(positions).tolist() for name, positions in subsets.items()}
    for name, positions in chosen.items():
        if not positions:
            raise GoalwardError(f"subset {name!r} has no episodes")
        if (
            len(set(positions)) < len(positions)
            or not 0 <= min(positions) <= max(positions) < num_episodes
        ):
            raise GoalwardError(
                f"subset {name!r} must name positions of {num_episodes} episodes once"
            )
    return chosen
