"""Which episodes a value function learns from and which it is judged by; held-out values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from goalward.config import OWN_FOLDS, EvaluationConfig
from goalward.errors import GoalwardError, argument
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.findings import counted
from goalward.runs.settings import RunEpisode
from goalward.seeds import generator
from goalward.targets.liveness import liveness_value
from goalward.values.chances import ChanceTable
from goalward.values.hindsight import HindsightChoice, choose_hindsight
from goalward.values.made_chances import put_together
from goalward.values.table import ValueTable

if TYPE_CHECKING:
    from goalward.values.fitted import Fitted

IndexArray = npt.NDArray[np.int64]
# What an episode has for a fold that was judged by those networks of a method that never saw it.
OWN_FOLDS_NAME = "own folds"
HELD_OUT_NAME = "held out"


@dataclass(frozen=True, eq=False)
class Fold:
    """Positions of the episodes to learn from, and of those that are held out.

    With `is_own` both are all of them: a method that trains its networks on folds has some that
    never saw an episode, and those judge it. `networks` names those that judge, where it is not
    the fold that they were trained for: networks of another run.
    """

    name: str
    training: IndexArray
    held_out: IndexArray
    is_own: bool = False
    networks: str = ""

    @property
    def subset(self) -> str:
        return self.networks or self.name


def folds_of(
    rollouts: Rollouts, *, num_folds: int, test_fraction: float, seed: int
) -> tuple[Fold, ...]:
    """Folds with every task and outcome in the same proportion.

    None (`OWN_FOLDS`) leaves it to the folds that methods train on. One holds `test_fraction` of
    the episodes out; several hold each episode out once. The only episode of a task is never held
    out then: nothing would be left to learn its task from.
    """
    if len(rollouts) < 2:
        raise GoalwardError("one episode cannot be both learned from and held out")
    if num_folds == OWN_FOLDS:
        everything = np.arange(len(rollouts))
        return (Fold(OWN_FOLDS_NAME, everything, everything, is_own=True),)
    tasks, counts = np.unique(rollouts.task_indices, return_counts=True)
    alone = np.isin(rollouts.task_indices, tasks[counts == 1])
    if num_folds == 1:
        _, test = rollouts.split(test_fraction, seed=seed)
        held_out = np.isin(np.array(rollouts.ids), np.array(test.ids)) & ~alone
        return (_fold(HELD_OUT_NAME, _with_teachers(rollouts, held_out)),)
    if num_folds > len(rollouts):
        raise GoalwardError(f"{len(rollouts)} episodes do not make {num_folds} folds")
    fold_of = np.full(len(rollouts), -1)
    position = 0
    kinds = [(episode.task, str(episode.outcome)) for episode in rollouts]
    for kind in sorted(set(kinds)):
        members = [i for i, other in enumerate(kinds) if other == kind and not alone[i]]
        shuffled = generator(seed, "folds", *kind).permutation(members).astype(int)
        # Going on where the last kind stopped keeps the folds even.
        fold_of[shuffled] = (position + np.arange(len(members))) % num_folds
        position += len(members)
    folds = [_fold(f"fold {k}", fold_of == k) for k in range(num_folds) if (fold_of == k).any()]
    if not folds:
        raise _nothing_to_hold_out(rollouts)
    return tuple(folds)


def folds_of_others(num_episodes: int, num_folds: int) -> tuple[Fold, ...]:
    """All episodes held out from networks that learned from others, in so many folds of their own.

    Of several folds the networks of the first judge.
    """
    names = {OWN_FOLDS: OWN_FOLDS_NAME, 1: HELD_OUT_NAME}
    networks = names.get(num_folds, "fold 0")
    nothing = np.zeros(0, dtype=np.int64)
    return (Fold("new", nothing, np.arange(num_episodes), networks=networks),)


def asked_folds(rollouts: Rollouts, config: EvaluationConfig) -> tuple[Fold, ...]:
    """What is learned from and what is held out, as the configuration asks."""
    if config.values_from:
        return folds_of_others(len(rollouts), config.folds)
    return folds_of(
        rollouts,
        num_folds=config.folds,
        test_fraction=config.test_fraction,
        seed=config.split_seed,
    )


def run_episodes(rollouts: Rollouts, folds: Sequence[Fold]) -> list[RunEpisode]:
    """The episodes as a run notes them, each with the fold that it was held out with."""
    fold_of = {int(i): fold.name for fold in folds for i in fold.held_out}
    return [
        RunEpisode(
            episode.id,
            episode.task,
            episode.outcome,
            episode.num_frames,
            episode.goal_frame,
            fold_of.get(position, ""),
            episode.fps,
        )
        for position, episode in enumerate(rollouts)
    ]


def _nothing_to_hold_out(rollouts: Rollouts) -> GoalwardError:
    tasks = rollouts.tasks
    if len(tasks) == len(rollouts):
        return GoalwardError("every task has one episode only: there is nothing to hold out")
    return GoalwardError(
        f"{counted(rollouts)} of {counted(tasks, 'task')} leave none to hold out: it takes two of "
        f"one outcome, a larger {argument('test_fraction')}, or {argument('folds', 2)}"
    )


def _with_teachers(rollouts: Rollouts, held_out: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Of a task whose episodes are all held out, the first goes back to be learned from."""
    held_out = held_out.copy()
    for task in np.unique(rollouts.task_indices):
        members = np.flatnonzero(rollouts.task_indices == task)
        if held_out[members].all():
            held_out[members[0]] = False
    if not held_out.any():
        raise _nothing_to_hold_out(rollouts)
    return held_out


def _fold(name: str, held_out: npt.NDArray[np.bool_]) -> Fold:
    return Fold(name, np.flatnonzero(~held_out), np.flatnonzero(held_out))


def held_out_episodes(folds: Sequence[Fold], num_episodes: int) -> npt.NDArray[np.bool_]:
    """True for every episode that some fold holds out."""
    held_out = np.zeros(num_episodes, dtype=np.bool_)
    for fold in folds:
        held_out[fold.held_out] = True
    return held_out


def held_out_values(
    fitted: "Fitted", rollouts: Rollouts, folds: Sequence[Fold], device: str | None
) -> ValueTable:
    """Values of every frame by networks that never saw its episode.

    Episodes that are never held out are judged by the networks of the first fold, which learned
    from them.
    """
    judge_of = np.zeros(len(rollouts), dtype=np.int64)
    for index, fold in enumerate(folds):
        judge_of[fold.held_out] = index
    first = fitted.predict(rollouts, subset=folds[0].subset, unseen=folds[0].is_own, device=device)
    value, steps = first.raw_value.copy(), first.steps_to_goal.copy()
    episode_of = np.repeat(np.arange(len(rollouts)), rollouts.lengths)
    for index, fold in enumerate(folds[1:], start=1):
        positions = np.flatnonzero(judge_of == index)
        part = fitted.predict(rollouts.select(positions), subset=fold.name, device=device)
        frames = np.isin(episode_of, positions)
        value[:, :, frames] = part.raw_value
        steps[:, :, frames] = part.steps_to_goal
    return replace(first, raw_value=value, steps_to_goal=steps)


def held_out_chances(
    fitted: "Fitted",
    rollouts: Rollouts,
    folds: Sequence[Fold],
    num_steps: IndexArray,
    device: str | None,
) -> ChanceTable:
    """Chances of success within these numbers of steps, by the networks of `held_out_values`."""
    first = fitted.chance_table(
        rollouts, num_steps, subset=folds[0].subset, unseen=folds[0].is_own, device=device
    )
    parts: list[tuple[IndexArray, ChanceTable]] = []
    for fold in folds[1:]:
        held_out = rollouts.select(fold.held_out)
        part = fitted.chance_table(held_out, num_steps, subset=fold.name, device=device)
        parts.append((fold.held_out, part))
    return put_together(first, parts)


def hindsight_of(
    values: ValueTable,
    rollouts: Rollouts,
    folds: Sequence[Fold],
    discount: float,
    config: EvaluationConfig,
) -> HindsightChoice:
    """How hindsight values are made: as asked for, or as the held-out episodes choose.

    By what the first method says, the mean over its seeds, or each seed where it has folds of its
    own; from the steps of the table alone, so that it is the same before hindsight values are there
    and after.
    """
    value = liveness_value(values.steps(values.methods[0]).astype(np.float64), discount)
    if folds[0].is_own:
        parts = _own_parts(rollouts, config)
    else:
        fold_of = {int(position): fold.name for fold in folds for position in fold.held_out}
        parts = [[fold_of.get(position, "") for position in range(len(rollouts))]]
        value = value.mean(axis=0, keepdims=True)
    return choose_hindsight(
        value,
        rollouts.endings,
        discount,
        features=rollouts.features,
        tasks=values.episode_tasks,
        folds=parts,
        given=config.hindsight,
    )


def _own_parts(rollouts: Rollouts, config: EvaluationConfig) -> list[list[str]]:
    """For each seed the fold of the first method's own that held an episode out."""
    from goalward.training.frames.training_frames import planning_frames
    from goalward.training.methods.efforts import numbers_of
    from goalward.values.fit import asked_runs

    frames = planning_frames(rollouts)
    numbers = numbers_of(config).for_horizon(frames.horizon, frames.num_frames)
    subsets = {OWN_FOLDS_NAME: np.arange(len(rollouts))}
    asked = asked_runs(
        frames, config.methods[:1], config.seeds, numbers, subsets=subsets, per_task=config.per_task
    )
    parts = [[""] * len(rollouts) for _ in range(config.seeds)]
    for (_, seed, _, _), runs in asked.answers.items():
        for run in runs:
            for position in run.held_out:
                parts[seed][position] = f"fold {run.fold}"
    return parts
