"""Value functions that were fitted: stored, and asked for the value of any frame."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from goalward.devices import chosen_device
from goalward.errors import GoalwardError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.findings import counted
from goalward.training.frames.training_frames import TrainingFrames, training_frames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.table import Method
from goalward.training.networks.nets import (
    Nets,
    chance_curves,
    frame_chances,
    frame_values,
    nets_of,
    rows_seen_by,
)
from goalward.training.runs import NetRun, episodes_by_task
from goalward.values.between import between, chances_between, values_between
from goalward.values.chances import ChanceTable, asked_of, chance_points
from goalward.values.judging import Judgement, over_members, rising, shares
from goalward.values.stored_fit import EVERY_TASK, Question, read_fit, write_fit
from goalward.values.table import ValueTable
from goalward.values.training_log import TrainingLog, loss_curve


@dataclass(frozen=True, eq=False)
class Fitted:
    """Trained value functions: one per method, seed, task and subset of the episodes.

    `answers` says which networks answer for each: one, or several whose mean is the answer. The
    task is `EVERY_TASK` where one value function serves many tasks.
    """

    numbers: Hyperparameters
    fitted_methods: tuple[Method, ...]
    answers: Mapping[Question, tuple[NetRun, ...]]
    nets: tuple[Nets, ...]
    feature_layout: str = ""

    def __repr__(self) -> str:
        networks = sum(len(nets.runs) for nets in self.nets)
        seeds = counted(self.seeds, "seed")
        return f"Fitted({', '.join(self.methods)}; {seeds}, networks: {networks})"

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(method.name for method in self.fitted_methods)

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

    @property
    def is_shared(self) -> bool:
        """Whether one value function serves many tasks, told which one it looks at."""
        return any(nets.lens is not None and nets.lens.tasks is not None for nets in self.nets)

    def predict(
        self,
        rollouts: Rollouts,
        *,
        subset: str | None = None,
        unseen: bool = False,
        device: torch.device | str | None = None,
    ) -> ValueTable:
        """The value of every frame of some rollouts, seen in training or not.

        An episode is judged by the value functions of its own task, those that were trained on
        `subset`, which must be named where there are several. Values are computed in float32
        wherever the training took place.

        With `unseen` the rollouts are those of the fit, in the same order, and each episode is
        judged by those of a method's networks alone that never saw it, which takes a method that
        trains on folds of the episodes.
        """
        frames = self._known_frames(rollouts)
        shape = (len(self.methods), len(self.seeds), frames.num_frames)
        value = np.empty(shape, dtype=np.float32)
        steps = np.empty(shape, dtype=np.float32)
        for judgement in self._judgements(frames, subset, device, unseen):
            value[judgement.method_index][:, judgement.frames] = judgement.value
            steps[judgement.method_index][:, judgement.frames] = judgement.steps
        table = ValueTable(
            methods=self.methods,
            seeds=self.seeds,
            episode_ids=frames.episode_id,
            episode_tasks=frames.episode_task,
            episode_ends=frames.episode_ends,
            raw_value=value,
            steps_to_goal=steps,
        )
        return values_between(table, rollouts)

    def chances(
        self,
        rollouts: Rollouts,
        num_steps: float,
        *,
        subset: str | None = None,
        device: torch.device | str | None = None,
    ) -> npt.NDArray[np.float32]:
        """How likely success is within a number of steps of every frame: (methods, seeds, frames).

        Between 0 and 1, and no lower for more steps. `survival` and `lambda-returns` say the chance
        itself, `mc-dist` by the mass of its bins up to so many steps; a method that says nothing
        but a value is sure of it: 1 where its steps to the goal are no more than these, 0
        elsewhere. A step after training changes the value, and so the last kind of chance alone.

        These are what the networks say, not yet what comes true.
        """
        if not num_steps >= 0:
            raise GoalwardError(f"num_steps must be 0 or more, got {num_steps}")
        # A number of numpy's is as good as one of Python's.
        num_steps = float(num_steps)
        frames = self._known_frames(rollouts)
        chance = np.empty((len(self.methods), len(self.seeds), frames.num_frames), np.float32)
        for judgement in self._judgements(frames, subset, device):
            members = len(judgement.nets.runs) // len(self.seeds)
            said = frame_chances(
                judgement.nets,
                judgement.rows,
                self.numbers,
                judgement.steps.repeat(members, axis=0).astype(np.float32),
                lambda value, method=judgement.method: method.steps(value, self.numbers),
                num_steps,
            )
            chance[judgement.method_index][:, judgement.frames] = over_members(
                said, judgement.share, len(self.seeds)
            )
        return between(chance[..., None], rollouts)[..., 0]

    def chance_table(
        self,
        rollouts: Rollouts,
        num_steps: npt.NDArray[np.int64] | None = None,
        *,
        subset: str | None = None,
        unseen: bool = False,
        device: torch.device | str | None = None,
    ) -> ChanceTable:
        """How likely success is within any number of steps of every frame, as one answer.

        The mean over seeds and over the networks of each, and what every network says where an
        episode ends; with `unseen` as `predict` has it. `num_steps` are the numbers of steps to ask
        for, rising from 0; None: up to three times the longest of these episodes (`chance_points`).
        The last stands for ever.
        """
        frames = self._known_frames(rollouts)
        points = chance_points(frames.horizon) if num_steps is None else num_steps
        num_members = max(len(runs) for runs in self.answers.values())
        last = frames.episode_ends - 1
        within = np.empty((len(self.methods), frames.num_frames, len(points)), np.float32)
        shape = (len(self.methods), len(self.seeds), num_members, len(last), len(points))
        at_end = np.full(shape, np.nan, dtype=np.float32)
        for judgement in self._judgements(frames, subset, device, unseen):
            members = len(judgement.nets.runs) // len(self.seeds)
            episodes = np.flatnonzero(np.isin(last, judgement.frames))
            ends = np.searchsorted(judgement.frames, last[episodes])
            mean, each = chance_curves(
                judgement.nets,
                judgement.rows,
                self.numbers,
                judgement.steps.repeat(members, axis=0).astype(np.float32),
                lambda value, method=judgement.method: method.steps(value, self.numbers),
                asked_of(points),
                ends,
                judgement.share / np.float32(len(self.seeds)),
            )
            within[judgement.method_index][judgement.frames] = rising(mean)
            each = np.where(judgement.share[:, ends, None] > 0, rising(each), np.nan)
            by_seed = each.reshape(len(self.seeds), members, len(episodes), len(points))
            at_end[judgement.method_index][:, :members, episodes] = by_seed
        table = ChanceTable(
            methods=self.methods,
            episode_ids=frames.episode_id,
            episode_tasks=frames.episode_task,
            episode_ends=frames.episode_ends,
            num_steps=points,
            within=within,
            at_end=at_end,
        )
        return chances_between(table, rollouts)

    def _judgements(
        self,
        frames: TrainingFrames,
        subset: str | None,
        device: torch.device | str | None,
        unseen: bool = False,
    ) -> Iterator[Judgement]:
        """What every method says of the frames of every task."""
        subset = self._chosen_subset(subset)
        by_task = {EVERY_TASK: tuple(range(frames.num_episodes))}
        by_task = by_task if self.is_shared else episodes_by_task(frames)
        for task, episodes in by_task.items():
            here = np.flatnonzero(frames.frames_of(episodes))
            of_task = frames if len(by_task) == 1 else frames.select(episodes)
            for index, method in enumerate(self.fitted_methods):
                by_seed = [self.answers[method.name, seed, task, subset] for seed in self.seeds]
                runs = [run for members in by_seed for run in members]
                nets = nets_of(runs[0], self.nets).select(runs)
                rows = rows_seen_by(nets, of_task, chosen_device(device))
                share = shares(frames, by_seed, unseen)[:, here]
                value = frame_values(nets, rows, self.numbers)
                value = method.finished(value, nets.learned(method.name), self.numbers)
                value = over_members(value, share, len(self.seeds))
                steps = method.steps(value, self.numbers)
                yield Judgement(index, method, here, rows, nets, share, value, steps)

    def _known_frames(self, rollouts: Rollouts) -> TrainingFrames:
        """The frames of rollouts that there are value functions for."""
        known = self.feature_layout and rollouts.feature_layout
        # Numbers that mean something else are refused, even if there are as many of them.
        if known and self.feature_layout != rollouts.feature_layout:
            raise GoalwardError(
                f"these value functions know features made of {self.feature_layout}; "
                f"the rollouts have {rollouts.feature_layout}"
            )
        frames = training_frames(rollouts)
        unknown = sorted(set(frames.episode_task) - set(self.tasks))
        if unknown and not self.is_shared:
            raise GoalwardError(
                f"no value function for task {unknown[0]!r}; trained: "
                + ", ".join(repr(task) for task in self.tasks)
            )
        return frames

    @property
    def log(self) -> TrainingLog:
        """The losses of every network in the course of its training."""
        places = {
            run.name: (task, subset)
            for (_, _, task, subset), runs in self.answers.items()
            for run in runs
        }
        return TrainingLog(
            tuple(
                loss_curve(run, *places[run.name], nets.log, position)
                for nets in self.nets
                if nets.log is not None
                for position, run in enumerate(nets.runs)
            )
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

    def save(self, folder: str | Path) -> None:
        """Into a folder that `load` reads: `run.json`, and networks as safetensors."""
        write_fit(
            Path(folder),
            self.numbers,
            self.fitted_methods,
            self.answers,
            self.nets,
            self.feature_layout,
        )


def load(folder: str | Path, methods: Sequence[Method] = ()) -> Fitted:
    """Value functions that `Fitted.save`, `goalward fit` or `goalward evaluate` stored.

    Those of a method of your own need it again, in `methods`.
    """
    return Fitted(*read_fit(Path(folder), methods))
