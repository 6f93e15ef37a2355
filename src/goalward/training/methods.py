"""The methods, as data: a name stands for stages, a stage for a target, a loss and an output."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from torch import Tensor

from goalward.errors import GoalwardError
from goalward.targets.bins import NUM_BINS
from goalward.targets.exact import exact_liveness, exact_td
from goalward.targets.liveness import liveness_target, sparse_target_function, steps_to_goal
from goalward.targets.monte_carlo import monte_carlo_return, steps_from_return
from goalward.targets.td import steps_from_td, td_target
from goalward.training.frames import Recording
from goalward.training.presets import Hyperparameters

FloatArray = npt.NDArray[np.floating[Any]]
# (recording, anchor values (runs, frames) or None, hyper-parameters) -> (frames,) or (runs, frames)
Table = Callable[[Recording, Any, Hyperparameters], FloatArray]
# (table at the rows, V(s'), at_goal, at_end, hyper-parameters) -> target, all (runs, batch)
Backup = Callable[[Tensor, Tensor, Tensor, Tensor, Hyperparameters], Tensor]


@dataclass(frozen=True)
class Stage:
    """One training of one network.

    Without a `backup` the network regresses on `table`. With one, the table is what the backup
    needs to know of a frame (the target function), and the target goes through the network's own
    value of the next frame. `exact` is the fixed point of that: held-out episodes are scored
    against it, because the error against one's own next value is least where nothing was learned.
    """

    name: str
    table: Table
    output: Literal["value", "bins", "hazard"] = "value"
    backup: Backup | None = None
    exact: Table | None = None
    lowest: float = -1.0
    highest: float = 1.0
    steps: Callable[[FloatArray, Hyperparameters], FloatArray] = lambda value, numbers: (
        steps_to_goal(value, _set(numbers.discount))
    )

    def output_size(self, numbers: Hyperparameters) -> int:
        if self.output == "bins":
            return NUM_BINS
        if self.output == "hazard":
            return min(numbers.survival_bins, int(_set(numbers.survival_max_steps)))
        return 1

    @property
    def held_out_table(self) -> Table:
        return self.exact or self.table


def _set(number: float | None) -> float:
    """A hyper-parameter that `for_horizon` has filled in."""
    if number is None:
        raise GoalwardError("hyper-parameters depend on the horizon: call for_horizon first")
    return number


# ---- tables -----------------------------------------------------------------------------------


def _sparse(recording: Recording, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    return sparse_target_function(recording.at_goal)


def _anchor(recording: Recording, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    return anchor


def _exact_sparse(recording: Recording, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    return _exact_anchor(recording, _sparse(recording, anchor, numbers), numbers)


def _exact_anchor(recording: Recording, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    ends, discount = recording.episode_ends, _set(numbers.discount)
    return exact_liveness(anchor, ends, recording.at_goal, discount)


def _exact_td(recording: Recording, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    return exact_td(
        recording.episode_ends,
        recording.at_goal,
        _set(numbers.td_discount),
        _set(numbers.td_normaliser),
    )


def _return(recording: Recording, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    return monte_carlo_return(
        recording.episode_ends, recording.at_goal, _set(numbers.mc_normaliser)
    )


def _observed_steps(recording: Recording, anchor: Any, numbers: Hyperparameters) -> FloatArray:
    """Steps to the goal; -1 - steps where the clock ran out first; -inf after a failure."""
    steps = recording.steps.astype(np.float64)
    censored = np.where(recording.failed, -np.inf, -1 - steps)
    return np.where(recording.reached, steps, censored)


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


# ---- the table of methods ---------------------------------------------------------------------

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
MC_DIST = Stage("mc-dist", _return, output="bins", highest=0.0, steps=_return_steps)
SURVIVAL = Stage("survival", _observed_steps, output="hazard")

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
        )
    }
)

# The value of one stage is the anchor of the next. Stages of the same name, seed and episodes are
# trained once: the first stage of `liveness` is `liveness-nb`.
METHODS: Mapping[str, tuple[Stage, ...]] = MappingProxyType(
    {
        "liveness": (SPARSE, BOOTSTRAP),
        "liveness-nb": (SPARSE,),
        "td": (TD,),
        "mc": (MC,),
        "mc-dist": (MC_DIST,),
        "liveness-exact": (SPARSE_EXACT, BOOTSTRAP_EXACT),
        "liveness-nb-exact": (SPARSE_EXACT,),
        "survival": (SURVIVAL,),
    }
)


def stages_of(method: str) -> tuple[Stage, ...]:
    """The stages of a method; an unknown name lists the ones there are."""
    if method not in METHODS:
        raise GoalwardError(f"no method {method!r}; methods: {', '.join(METHODS)}")
    return METHODS[method]
