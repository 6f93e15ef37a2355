"""Which networks a fit has to train: one per method, seed and task, and what they build on."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from goalward.errors import GoalwardError
from goalward.rollouts.episode import Outcome
from goalward.seeds import generator
from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.stages import STAGES, Stage
from goalward.training.methods.table import Method

Episodes = tuple[int, ...]


@dataclass(frozen=True)
class NetRun:
    """One network to be trained: a stage, a seed and the episodes it sees (by position).

    Two equal runs are the same network and are trained once. `anchors` are the runs whose values
    this one builds on. `name` tells apart data sets that share a seed; a run's random numbers
    depend on stage, seed, name and fold alone, and so not on its company.

    Runs build on runs that build on runs, and each is asked for often: what follows from all of
    them is worked out once.
    """

    stage: Stage
    seed: int
    episodes: Episodes
    held_out: Episodes = ()
    name: str = ""
    fold: int = -1
    anchors: tuple["NetRun", ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        here = (self.stage.name, self.seed, self.episodes, self.held_out, self.name, self.fold)
        return hash((here, self.anchors))

    @cached_property
    def wave(self) -> int:
        """How many runs have to be trained before this one, one after the other."""
        return 1 + max((anchor.wave for anchor in self.anchors), default=-1)

    def integer(self, purpose: str) -> int:
        """A random 32-bit integer for one purpose."""
        names = (purpose, self.stage.name, self.name, self.fold)
        return int(generator(self.seed, *names).integers(1 << 32))


def plan_runs(
    frames: TrainingFrames,
    method: Method,
    seed: int,
    episodes: Sequence[int],
    numbers: Hyperparameters,
    name: str = "",
) -> tuple[NetRun, ...]:
    """The runs that answer for a method on some episodes, with the runs they build on.

    One, or with a method that is folded one per fold: their mean is the answer.
    """
    numbers = numbers.of(method.name)
    if method.is_folded:
        return _folded_runs(frames, method, seed, tuple(episodes), numbers, name)
    trained, held_out = _split(frames, tuple(episodes), numbers.held_out_fraction, seed, name)
    *earlier, last = method.all_stages(numbers)
    anchors: tuple[NetRun, ...] = ()
    for stage in earlier:
        seen = _anchor_episodes(frames, trained, numbers)
        folds = _folds(frames, seen, numbers.cross_fit, seed, name)
        anchors = tuple(
            NetRun(stage, seed, kept, held_out, name, fold, anchors) for fold, kept in folds
        )
    return (NetRun(last, seed, trained, held_out, name, anchors=anchors),)


def plan_run(
    frames: TrainingFrames,
    method: Method,
    seed: int,
    episodes: Sequence[int],
    numbers: Hyperparameters,
    name: str = "",
) -> NetRun:
    """The one run that answers for a method that is not folded."""
    (run,) = plan_runs(frames, method, seed, episodes, numbers, name)
    return run


def _folded_runs(
    frames: TrainingFrames,
    method: Method,
    seed: int,
    episodes: Episodes,
    numbers: Hyperparameters,
    name: str,
) -> tuple[NetRun, ...]:
    """Every stage on every fold; the episodes outside a fold stop its networks.

    A round builds on all networks before it, of which those of one fold never saw the episode at
    hand. Without rounds all first stages answer together.
    """
    folds = _folds(frames, episodes, _possible_folds(numbers.cross_fit, len(episodes)), seed, name)

    def trained(stage: Stage, anchors: tuple[NetRun, ...]) -> tuple[NetRun, ...]:
        return tuple(
            NetRun(stage, seed, kept, _without(episodes, kept), name, fold, anchors)
            for fold, kept in folds
        )

    starts = [stage for stage in method.stages if numbers.starts in ("both", stage.name)]
    runs = tuple(run for stage in starts or method.stages for run in trained(stage, ()))
    for stage in method.all_stages(numbers)[len(method.stages) :]:
        runs = trained(stage, runs)
    return runs


def _possible_folds(wanted: int, num_episodes: int) -> int:
    """Fewer where there are fewer episodes; none where folds would leave nothing to learn from."""
    possible = min(wanted, num_episodes)
    return possible if possible >= 2 else 0


def _without(episodes: Episodes, kept: Episodes) -> Episodes:
    left = set(kept)
    return tuple(episode for episode in episodes if episode not in left)


def all_runs(wanted: Sequence[NetRun]) -> list[list[list[NetRun]]]:
    """Every run there is to train, each once: waves of groups of runs.

    A wave builds on earlier ones. The runs of a group have the same output and train by the same
    numbers, stand next to those of their stage, and those whose targets go through the network
    come first: one slice of the stacked networks serves each purpose.
    """
    found: dict[NetRun, None] = {}

    def visit(run: NetRun) -> None:
        if run in found:
            return
        for anchor in run.anchors:
            visit(anchor)
        found.setdefault(run)

    for run in wanted:
        visit(run)
    order = list(dict.fromkeys([*STAGES, *(run.stage.name for run in found)]))
    waves: list[list[list[NetRun]]] = []
    for wave in range(1 + max(run.wave for run in found)):
        here = [run for run in found if run.wave == wave]
        here.sort(key=lambda run: (run.stage.backup is None, order.index(run.stage.name)))
        kinds = [(run.stage.output, run.stage.family) for run in here]
        waves.append(
            [
                [run for run, kind in zip(here, kinds, strict=True) if kind == wanted]
                for wanted in dict.fromkeys(kinds)
            ]
        )
    return waves


def episodes_by_task(
    frames: TrainingFrames, positions: Sequence[int] | None = None
) -> dict[str, Episodes]:
    """Positions of the episodes of every task; a task is a value function of its own.

    Of all episodes, or of those at some positions.
    """
    tasks: dict[str, list[int]] = {}
    for position in range(frames.num_episodes) if positions is None else positions:
        tasks.setdefault(frames.episode_task[position], []).append(position)
    return {task: tuple(positions) for task, positions in tasks.items()}


def warn_of_one_class(frames: TrainingFrames, episodes: Episodes, name: str) -> None:
    """A value function of one outcome alone is a constant, or a clock; say so."""
    outcomes = {frames.endings.outcomes[episode] == Outcome.SUCCESS for episode in episodes}
    if len(outcomes) == 1:
        kind = "a success" if outcomes.pop() else "no success"
        where = f" of task {name!r}" if name else ""
        warnings.warn(
            f"every episode{where} that is learned from is {kind}: there is nothing to tell apart",
            stacklevel=3,
        )


def _split(
    frames: TrainingFrames, episodes: Episodes, held_out_fraction: float, seed: int, name: str
) -> tuple[Episodes, Episodes]:
    """Episodes to train on and episodes to stop by, every outcome in the same proportion."""
    held_out: set[int] = set()
    for outcome, positions in _by_outcome(frames, episodes).items():
        shuffled = generator(seed, "held_out", name, outcome).permutation(positions)
        held_out |= set(shuffled[: int(held_out_fraction * len(positions))].tolist())
    return tuple(e for e in episodes if e not in held_out), tuple(sorted(held_out))


def _folds(
    frames: TrainingFrames, episodes: Episodes, num_folds: int, seed: int, name: str
) -> list[tuple[int, Episodes]]:
    """(fold, the episodes outside it), or all of them once where there is nothing to fold."""
    if num_folds == 0:
        return [(-1, episodes)]
    if len(episodes) < num_folds:
        raise GoalwardError(f"{len(episodes)} episodes do not make {num_folds} folds")
    fold_of: dict[int, int] = {}
    for outcome, positions in _by_outcome(frames, episodes).items():
        shuffled = generator(seed, "folds", name, outcome).permutation(positions)
        # Going on where the last outcome stopped keeps the folds even.
        first = len(fold_of)
        fold_of |= {int(e): (first + i) % num_folds for i, e in enumerate(shuffled)}
    return [(k, tuple(e for e in episodes if fold_of[e] != k)) for k in range(num_folds)]


def _anchor_episodes(
    frames: TrainingFrames, episodes: Episodes, numbers: Hyperparameters
) -> Episodes:
    if numbers.anchor_frames == "all":
        return episodes
    successes = tuple(e for e in episodes if frames.endings.outcomes[e] == Outcome.SUCCESS)
    # Without a success there is no anchor either way: every frame is worth 1.
    return successes or episodes


def _by_outcome(frames: TrainingFrames, episodes: Episodes) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for episode in episodes:
        groups.setdefault(str(frames.endings.outcomes[episode]), []).append(episode)
    return {outcome: list(np.array(groups[outcome])) for outcome in sorted(groups)}
