"""How the losses of networks fell in training: a curve per network, in memory and on disk."""

import csv
import io
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from goalward.columns import Column, names
from goalward.errors import GoalwardError
from goalward.files import written_whole

if TYPE_CHECKING:
    # torch takes seconds, and a report reads a log without it.
    from torch import Tensor

    from goalward.training.networks.nets import LossLog
    from goalward.training.runs import NetRun

_OF_NETWORK = (
    Column("stage", "text", "the stage of a method; one that two methods share is there once"),
    Column("seed", "whole number", "which training"),
    Column("task", "text", "the task it is for", empty="all, or the only one, without a name"),
    Column("subset", "text", "the part of the episodes it was trained for", empty="all"),
    Column("fold", "whole number", "which of several folds", empty="not one of several"),
    Column("num_episodes", "whole number", "how many it learned from", "episodes"),
)
LOG_COLUMNS = (
    *_OF_NETWORK,
    Column("step", "whole number", "gradient steps so far", "steps"),
    Column("loss", "number", "mean over the steps since the row before"),
    Column(
        "held_out_loss",
        "number",
        "of the episodes kept out for early stopping; not to be compared with loss",
        empty="no episode was kept out",
    ),
)
_NETWORK, _COLUMNS = names(_OF_NETWORK), names(LOG_COLUMNS)


@dataclass(frozen=True)
class LossCurve:
    """The losses of one network over its gradient steps.

    `loss` at a step is the mean over the steps since the one before, on the frames that were
    drawn for training, weighted as they were, against the targets of the moment. `held_out_loss`
    is that of the episodes kept out for early stopping, unweighted, against the exact value of
    the recording: it says when to stop, and is not to be compared with `loss`. None without such
    episodes.

    `fold` is None for a network that is not one of several folds; `num_episodes` is how many it
    learned from, which tells an anchor of successes alone from one of all episodes.

    >>> losses = {"loss": (0.9, 0.4, 0.1), "held_out_loss": (0.8, 0.5, 0.6)}
    >>> LossCurve("mc", 0, "", "", None, num_episodes=8, steps=(10, 20, 30), **losses).kept_step
    20
    """

    stage: str
    seed: int
    task: str
    subset: str
    fold: int | None
    num_episodes: int
    steps: tuple[int, ...]
    loss: tuple[float, ...]
    held_out_loss: tuple[float, ...] | None

    @property
    def kept_step(self) -> int:
        """The gradient step whose weights were kept: the first of the best, or the last of all."""
        if self.held_out_loss is None:
            return self.steps[-1]
        return self.steps[self.held_out_loss.index(min(self.held_out_loss))]


@dataclass(frozen=True)
class TrainingLog:
    """The curves of every network of a fit, in the order they were trained.

    A stage that two methods share was trained once and is here once. Networks that were stored
    by version 0.1.0 have no curves.
    """

    curves: tuple[LossCurve, ...]

    def __repr__(self) -> str:
        return f"TrainingLog(networks: {len(self.curves)}; stages: {', '.join(self.stages)})"

    @property
    def stages(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(curve.stage for curve in self.curves))

    def of_stage(self, stage: str) -> tuple[LossCurve, ...]:
        return tuple(curve for curve in self.curves if curve.stage == stage)


def loss_curve(run: "NetRun", task: str, subset: str, log: "LossLog", position: int) -> LossCurve:
    """The curve of the run at a position of a group, for people: which task, which subset."""

    def digits(losses: "Tensor") -> tuple[float, ...]:
        # As few digits as say the float32: 0.1, not 0.10000000149011612.
        return tuple(float(str(loss)) for loss in losses[position].numpy())

    return LossCurve(
        stage=run.stage.name,
        seed=run.seed,
        task=task,
        subset=subset,
        fold=None if run.fold < 0 else run.fold,
        num_episodes=len(run.episodes),
        steps=tuple(log.steps.tolist()),
        loss=digits(log.loss),
        held_out_loss=digits(log.held_out_loss) if run.held_out else None,
    )


def write_training_log(path: Path, log: TrainingLog) -> None:
    """A row per network and step as csv; `read_training_log` reads it back to the digit."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for curve in log.curves:
        network = [getattr(curve, name) for name in _NETWORK]
        held_out = curve.held_out_loss or [None] * len(curve.steps)
        rows.writerows(
            [*network, *point] for point in zip(curve.steps, curve.loss, held_out, strict=True)
        )
    with written_whole(path) as temporary:
        temporary.write_text(text.getvalue(), encoding="utf-8", newline="")


def read_training_log(path: Path) -> TrainingLog:
    """What `write_training_log` wrote."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            missing = set(_COLUMNS) - set(rows.fieldnames or ())
            if missing:
                raise ValueError(f"no column {', '.join(sorted(missing))}")
            networks = groupby(rows, key=lambda row: tuple(row[name] for name in _NETWORK))
            return TrainingLog(tuple(_curve(list(points)) for _, points in networks))
    except FileNotFoundError as error:
        raise GoalwardError(f"{path}: no such file") from error
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise GoalwardError(f"{path}: is no training log ({error})") from error


def _curve(points: list[dict[str, str]]) -> LossCurve:
    first = points[0]
    held_out = [point["held_out_loss"] for point in points]
    return LossCurve(
        stage=first["stage"],
        seed=int(first["seed"]),
        task=first["task"],
        subset=first["subset"],
        fold=int(first["fold"]) if first["fold"] else None,
        num_episodes=int(first["num_episodes"]),
        steps=tuple(int(point["step"]) for point in points),
        loss=tuple(float(point["loss"]) for point in points),
        held_out_loss=tuple(float(loss) for loss in held_out) if any(held_out) else None,
    )
