"""Value functions of one data set: fitted, stored, and asked for the value of any frame."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from goalward.devices import chosen_device
from goalward.errors import GoalwardError
from goalward.files import written_whole
from goalward.rollouts.dataset import Rollouts
from goalward.run_folder import RunFolder
from goalward.training.checkpoint import (
    nets_path,
    read_nets,
    runs_as_json,
    runs_from_json,
    write_nets,
)
from goalward.training.fit import UNHURRIED, OnProgress, Pace, nets_of, train
from goalward.training.frames import recording
from goalward.training.inputs import FeatureRows
from goalward.training.methods import stages_of
from goalward.training.nets import Nets, frame_values
from goalward.training.presets import Hyperparameters, hyperparameters
from goalward.training.runs import Run, episodes_by_task, plan_run, warn_of_one_class
from goalward.values.table import ValueTable

_FACTS = "run.json"
_VERSION = 2
# (method, seed, task, subset)
Question = tuple[str, int, str, str]
# All episodes of a task, where a fit was not asked for subsets.
ALL = ""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Trained value functions: one per method, seed, task and subset of the episodes."""

    numbers: Hyperparameters
    answers: Mapping[Question, Run]
    nets: tuple[Nets, ...]
    feature_layout: str = ""

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(method for method, _, _, _ in self.answers))

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(seed for _, seed, _, _ in self.answers))

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(task for _, _, task, _ in self.answers))

    @property
    def subsets(self) -> tuple[str, ...]:
        """The subsets of episodes that were trained on; one without a name for all episodes."""
        return tuple(dict.fromkeys(subset for _, _, _, subset in self.answers))

    def predict(
        self,
        rollouts: Rollouts,
        *,
        subset: str | None = None,
        device: torch.device | str | None = None,
    ) -> ValueTable:
        """The value of every frame of some rollouts, seen in training or not.

        An episode is judged by the value functions of its own task, those that were trained on
        `subset`, which must be named where there are several. Values are computed in float32
        wherever the training took place.
        """
        subset = self._chosen_subset(subset)
        self._check_layout(rollouts)
        frames = recording(rollouts)
        by_task = episodes_by_task(frames)
        unknown = sorted(set(by_task) - set(self.tasks))
        if unknown:
            raise GoalwardError(
                f"no value function for task {unknown[0]!r}; trained: "
                + ", ".join(repr(task) for task in self.tasks)
            )
        shape = (len(self.methods), len(self.seeds), frames.num_frames)
        value = np.empty(shape, dtype=np.float32)
        steps = np.empty(shape, dtype=np.float32)
        for task, episodes in by_task.items():
            here = np.flatnonzero(frames.frames_of(episodes))
            features = frames.features if len(by_task) == 1 else frames.features[here]
            # Read once from front to back: nothing is gained by moving all of it first.
            rows = FeatureRows(features, chosen_device(device), max_bytes=0)
            for m, method in enumerate(self.methods):
                runs = [self.answers[method, seed, task, subset] for seed in self.seeds]
                nets = nets_of(runs[0], list(self.nets)).select(runs)
                values = frame_values(nets, rows, self.numbers)
                value[m][:, here] = values
                steps[m][:, here] = runs[0].stage.steps(values, self.numbers)
        return ValueTable(
            methods=self.methods,
            seeds=self.seeds,
            episode_ids=frames.episode_id,
            episode_tasks=frames.episode_task,
            episode_ends=frames.episode_ends,
            value=value,
            steps_to_goal=steps,
        )

    def _chosen_subset(self, subset: str | None) -> str:
        if subset is None and len(self.subsets) == 1:
            return self.subsets[0]
        if subset in self.subsets:
            return subset
        there = ", ".join(repr(name) for name in self.subsets)
        if subset is None:
            raise GoalwardError(f"there are several subsets of episodes, so name one: {there}")
        raise GoalwardError(f"no subset {subset!r}; there are {there}")

    def _check_layout(self, rollouts: Rollouts) -> None:
        """Numbers that mean something else are refused, even if there are as many of them."""
        known = self.feature_layout and rollouts.feature_layout
        if known and self.feature_layout != rollouts.feature_layout:
            raise GoalwardError(
                f"these value functions know features made of {self.feature_layout}; "
                f"the rollouts have {rollouts.feature_layout}"
            )

    def save(self, folder: str | Path) -> None:
        """Into a folder that `load` reads: `run.json`, and networks as safetensors."""
        folder = Path(folder)
        for index, nets in enumerate(self.nets):
            write_nets(nets_path(folder, index), nets)
        facts = {
            "version": _VERSION,
            "hyperparameters": self.numbers.as_dict(),
            "feature_layout": self.feature_layout,
            "num_groups": len(self.nets),
            "answers": [
                {
                    "method": method,
                    "seed": seed,
                    "task": task,
                    "subset": subset,
                    "run": runs_as_json((run,))[0],
                }
                for (method, seed, task, subset), run in self.answers.items()
            ],
        }
        with written_whole(folder / _FACTS) as temporary:
            temporary.write_text(json.dumps(facts, indent=1), encoding="utf-8")


def fit(
    rollouts: Rollouts,
    methods: str | Sequence[str] = ("liveness",),
    *,
    seeds: int | Sequence[int] = 5,
    preset: str = "default",
    subsets: Mapping[str, npt.ArrayLike] | None = None,
    device: torch.device | str | None = None,
    checkpoint: str | Path | None = None,
    on_progress: OnProgress | None = None,
    pace: Pace = UNHURRIED,
    **overrides: Any,
) -> Fitted:
    """Learn the value of every frame from episodes with features and outcomes.

    `seeds` is how many (0, 1, ...) or which. Any field of `Hyperparameters` can be given by name
    and overrides the preset's. Every task gets value functions of its own. With `checkpoint`, a
    folder, training is saved there every minute, and the same call goes on where it was stopped.

    >>> import numpy as np
    >>> from goalward import from_arrays
    >>> ramp = np.linspace(0, 1, 20)[:, None]
    >>> rollouts = from_arrays([ramp, -ramp] * 4, success=[True, False] * 4)
    >>> fitted = fit(rollouts, "liveness-nb", seeds=1, width=16, num_steps=20, batch_size=32)
    >>> fitted.predict(rollouts).mean("liveness-nb").shape
    (160,)
    """
    methods = (methods,) if isinstance(methods, str) else tuple(dict.fromkeys(methods))
    for method in methods:
        stages_of(method)
    chosen = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    if not methods or not chosen:
        raise GoalwardError("give at least one method and one seed")
    frames = recording(rollouts)
    numbers = hyperparameters(preset, **overrides).for_horizon(frames.horizon)
    answers: dict[Question, Run] = {}
    for subset, positions in _chosen_positions(subsets, len(rollouts)).items():
        for task, episodes in episodes_by_task(frames, positions).items():
            warn_of_one_class(frames, episodes, task)
            name = f"{subset}/{task}" if subset else task
            for method in methods:
                for seed in chosen:
                    run = plan_run(frames, method, seed, episodes, numbers, name=name)
                    answers[method, seed, task, subset] = run
    folder = None if checkpoint is None else Path(checkpoint)
    nets = train(
        frames,
        answers.values(),
        numbers,
        device=device,
        checkpoint_folder=folder,
        on_progress=on_progress,
        pace=pace,
    )
    return Fitted(numbers, answers, tuple(nets), rollouts.feature_layout)


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


def load(folder: str | Path) -> Fitted:
    """Value functions that `Fitted.save`, `goalward fit` or `goalward evaluate` stored."""
    folder = Path(folder)
    if not (folder / _FACTS).is_file() and RunFolder(folder).networks.is_dir():
        folder = RunFolder(folder).networks
    try:
        facts = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GoalwardError(f"{folder}: holds no finished fit ({error})") from error
    if facts.get("version") != _VERSION:
        raise GoalwardError(f"{folder}: was written by another version of goalward")
    answers = {
        (entry["method"], entry["seed"], entry["task"], entry["subset"]): runs_from_json(
            [entry["run"]]
        )[0]
        for entry in facts["answers"]
    }
    nets = tuple(read_nets(nets_path(folder, index)) for index in range(facts["num_groups"]))
    layout = str(facts.get("feature_layout", ""))
    return Fitted(Hyperparameters(**facts["hyperparameters"]), answers, nets, layout)
