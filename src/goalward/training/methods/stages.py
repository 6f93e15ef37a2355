"""The stages of methods, as data: one training of one network, by its target and its output."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from torch import Tensor

from goalward.errors import GoalwardError
from goalward.rollouts.episode import Outcome
from goalward.targets.exact import exact_liveness, exact_td
from goalward.targets.lambda_returns import lambda_hazard_targets
from goalward.targets.liveness import liveness_target, sparse_target_function, steps_to_goal
from goalward.targets.monte_carlo import monte_carlo_return, steps_from_return
from goalward.targets.survival import seen_of_bins
from goalward.targets.td import steps_from_td, td_target
from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.outputs import (
    BINS,
    HAZARD,
    SOFT_HAZARD,
    VALUE,
    Output,
    survival_edges,
)

FloatArray = npt.NDArray[np.floating[Any]]
# (frames, anchor values (runs, frames) or None, hyper-parameters) -> (frames,) or (runs, frames)
Table = Callable[[TrainingFrames, Any, Hyperparameters], FloatArray]
# (table at the rows, V(s'), at_goal, at_end, hyper-parameters) -> target, all (runs, batch)
Backup = Callable[[Tensor, Tensor, Tensor, Tensor, Hyperparameters], Tensor]


@dataclass(frozen=True)
class Stage:
    """One training of one network.

    Without a `backup` the network regresses on `table`. With one, the table is what the backup
    needs to know of a frame (the target function), and the target goes through the network's own
    value of the next frame. `exact` is the fixed point of that: held-out episodes are scored
    against it, because the error against one's own next value is least where nothing was learned.
    `reads` says what a table is given of the runs this one builds on: their values, or the
    distributions of steps that they predict. `family` names the method by whose numbers it trains.
    """

    name: str
    table: Table
    output: Output = VALUE
    backup: Backup | None = None
    exact: Table | None = None
    reads: Literal["value", "distribution"] = "value"
    family: str = ""
    lowest: float = -1.0
    highest: float = 1.0
    steps: Callable[[FloatArray, Hyperparameters], FloatArray] = lambda value, numbers: (
        steps_to_goal(value, _set(numbers.discount))
    )


def _set(number: float | None) -> float:
    """A hyper-parameter that `for_horizon` has filled in."""
    if number is None:
        raise GoalwardError("hyper-parameters depend on the horizon: call for_horizon first")
    return number


# ---- tables -----------------------------------------------------------------------------------


def _sparse(frames: TrainingFrames, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    return sparse_target_function(frames.endings.at_goal)


def _anchor(frames: TrainingFrames, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    return anchor


def _exact_sparse(frames: TrainingFrames, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    return _exact_anchor(frames, _sparse(frames, anchor, numbers), numbers)


def _exact_anchor(frames: TrainingFrames, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    ends, discount = frames.episode_ends, _set(numbers.discount)
    return exact_liveness(anchor, ends, frames.endings.at_goal, discount)


def _exact_td(frames: TrainingFrames, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    return exact_td(
        frames.episode_ends,
        frames.endings.at_goal,
        _set(numbers.td_discount),
        _set(numbers.td_normaliser),
    )


def _return(frames: TrainingFrames, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    return monte_carlo_return(
        frames.episode_ends, frames.endings.at_goal, _set(numbers.mc_normaliser)
    )


def _observed_steps(frames: TrainingFrames, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    """Steps to the goal; -1 - steps where the clock ran out first; -inf after a failure."""
    steps = frames.steps.astype(np.float64)
    censored = np.where(frames.ended_in(Outcome.FAILURE), -np.inf, -1 - steps)
    return np.where(frames.reached, steps, censored)


def _dark(frames: TrainingFrames, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    """What was recorded of each bin of steps, as if no time-out could ever succeed."""
    return _recorded(frames, np.inf, numbers)


def _bright(frames: TrainingFrames, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    """The same with nothing said of what follows a clock: beyond it a network goes on as before."""
    lost = frames.ended_in(Outcome.FAILURE)
    return _recorded(frames, np.where(lost, np.inf, frames.steps), numbers)


def _recorded(
    frames: TrainingFrames, without_success: FloatArray | float, numbers: Hyperparameters
) -> FloatArray:
    """(1, frames, 2 * bins): `without_success` are the steps that passed where no goal came."""
    edges = survival_edges(numbers).numpy()
    steps = np.where(frames.reached, frames.steps, without_success).astype(edges.dtype)
    return seen_of_bins(steps, frames.reached, edges)[None]


def _through_predictions(
    frames: TrainingFrames, anchor: Any, numbers: Hyperparameters
) -> FloatArray:
    """Lambda-returns of held-out distributions, (tables, frames, 2 * bins)."""
    endings, edges = frames.endings, survival_edges(numbers).numpy()
    return np.stack(
        [
            lambda_hazard_targets(
                within,
                endings.episode_ends,
                endings.goal_frames,
                endings.failures,
                edges,
                numbers.decay,
            )
            for within in anchor
        ]
    )


# ---- backups ----------------------------------------------------------------------------------


def _liveness_backup(
    table: Tensor, next_value: Tensor, at_goal: Tensor, at_end: Tensor, numbers: Hyperparameters
) -> Tensor:
    return liveness_target(table, next_value, at_goal, at_end, _set(numbers.discount))


def _td_backup(
    table: Tensor, next_value: Tensor, at_goal: Tensor, at_end: Tensor, numbers: Hyperparameters
) -> Tensor:
    discount, normaliser = _set(numbers.td_discount), _set(numbers.td_normaliser)
    return td_target(next_value, at_goal, at_end, discount, normaliser)


# ---- from value to steps ----------------------------------------------------------------------


def _td_steps(value: FloatArray, numbers: Hyperparameters) -> FloatArray:
    return steps_from_td(value, _set(numbers.td_discount), _set(numbers.td_normaliser))


def _return_steps(value: FloatArray, numbers: Hyperparameters) -> FloatArray:
    return steps_from_return(value, _set(numbers.mc_normaliser))


# ---- the table of stages ----------------------------------------------------------------------

SPARSE = Stage("sparse", _sparse, backup=_liveness_backup, exact=_exact_sparse)
BOOTSTRAP = Stage("bootstrap", _anchor, backup=_liveness_backup, exact=_exact_anchor)
SPARSE_EXACT = Stage("sparse-exact", _exact_sparse)
BOOTSTRAP_EXACT = Stage("bootstrap-exact", _exact_anchor)
# However many steps and a failure after them, TD costs no more than endless steps, or than 1.
TD = Stage(
    "td",
    _sparse,
    backup=_td_backup,
    exact=_exact_td,
    lowest=-np.inf,
    highest=0.0,
    steps=_td_steps,
)
MC = Stage("mc", _return, highest=0.0, steps=_return_steps)
MC_DIST = Stage("mc-dist", _return, output=BINS, highest=0.0, steps=_return_steps)
SURVIVAL = Stage("survival", _observed_steps, output=HAZARD, family="survival")
SURVIVAL_ROUND = Stage(
    "survival-round",
    _through_predictions,
    output=SOFT_HAZARD,
    reads="distribution",
    family="survival",
)
# Where rounds begin: too dark and too bright, so that the truth lies between them.
DARK = Stage("dark", _dark, output=SOFT_HAZARD, family="lambda-returns")
BRIGHT = Stage("bright", _bright, output=SOFT_HAZARD, family="lambda-returns")
LAMBDA_ROUND = Stage(
    "lambda",
    _through_predictions,
    output=SOFT_HAZARD,
    reads="distribution",
    family="lambda-returns",
)

STAGES: Mapping[str, Stage] = MappingProxyType(
    {
        stage.name: stage
        for stage in (
            SPARSE,
            BOOTSTRAP,
            SPARSE_EXACT,
            BOOTSTRAP_EXACT,
            TD,
            MC,
            MC_DIST,
            SURVIVAL,
            DARK,
            BRIGHT,
        )
    }
)
