"""Where a training stands: what it reports now and then, and how often."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from goalward.progress import NO_SETBACKS, Setbacks
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.problem import Problem
from goalward.training.runs import NetRun
from goalward.training.step import State


@dataclass(frozen=True)
class TrainingProgress:
    """Where a training stands: groups of runs train one after the other, by number.

    Losses are means over the runs of the group.
    """

    stages: tuple[str, ...]
    num_runs: int
    group: int
    num_groups: int
    steps: int
    total_steps: int
    loss: float
    held_out_loss: float | None
    # Where workers of a cluster train.
    setbacks: Setbacks = NO_SETBACKS


@dataclass(frozen=True)
class Pace:
    """How often a training reports and is saved, in seconds of wall time."""

    report_s: float = 0.5
    save_s: float = 60.0


UNHURRIED = Pace()
OnProgress = Callable[[TrainingProgress], None]


class Reporter:
    """Calls back now and then, over all groups of a training."""

    def __init__(
        self,
        groups: list[tuple[NetRun, ...]],
        numbers: Hyperparameters,
        on_progress: OnProgress | None,
        pace: Pace,
    ) -> None:
        self.pace = pace
        self._on_progress = on_progress
        # Groups differ in size, and a step of more runs takes longer: count steps of runs.
        own = [numbers.of(group[0].stage.family) for group in groups]
        self._runs = [len(group) for group in groups]
        self._steps = [
            len(group) * mine.num_batches * mine.gradient_steps_per_batch
            for group, mine in zip(groups, own, strict=True)
        ]
        self._last = time.monotonic()

    def report(self, index: int, problem: Problem, state: State, batch: int) -> None:
        now = time.monotonic()
        last = batch == problem.numbers.num_batches
        if self._on_progress is None or (now - self._last < self.pace.report_s and not last):
            return
        self._last = now
        per_batch = problem.numbers.gradient_steps_per_batch
        before = sum(self._steps[:index])
        held_out = None
        if problem.held_out is not None:
            held_out = float(state["held_out_loss"].mean())
        self._on_progress(
            TrainingProgress(
                stages=stage_names(problem.runs),
                num_runs=len(problem.runs),
                group=index,
                num_groups=len(self._steps),
                steps=before + batch * self._runs[index] * per_batch,
                total_steps=sum(self._steps),
                loss=float(state["loss"].mean()),
                held_out_loss=held_out,
            )
        )


def stage_names(runs: Sequence[NetRun]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(run.stage.name for run in runs))
