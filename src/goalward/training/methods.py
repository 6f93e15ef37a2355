"""The methods, as data: a name stands for stages, a stage for a target and an output."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from goalward.errors import GoalwardError
from goalward.rollouts.episode import Outcome
from goalward.targets.exact import exact_liveness, exact_td
from goalward.targets.liveness import liveness_target, sparse_target_function, steps_to_goal
from goalward.targets.monte_carlo import monte_carlo_return, steps_from_return
from goalward.targets.td import steps_from_td, td_target
from goalward.training.after import AfterTraining, Learned
from goalward.training.frames import TrainingFrames
from goalward.training.outputs import BINS, HAZARD, VALUE, Output
from goalward.training.presets import Hyperparameters

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
    """

    name: str
    table: Table
    output: Output = VALUE
    backup: Backup | None = None
    exact: Table | None = None
    lowest: float = -1.0
    highest: float = 1.0
    steps: Callable[[FloatArray, Hyperparameters], FloatArray] = lambda value, numbers: (
        steps_to_goal(value, _set(numbers.discount))
    )

    @property
    def held_out_table(self) -> Table:
        return self.exact or self.table


@dataclass(frozen=True)
class Method:
    """A way to learn a value function: stages, one after the other, and perhaps a step after them.

    The value of one stage is the anchor of the next; that of the last one, after the step `after`
    training if there is one, is the method's.
    """

    name: str
    stages: tuple[Stage, ...]
    after: AfterTraining | None = None

    def __post_init__(self) -> None:
        if not self.stages:
            raise ValueError(f"method {self.name!r} has no stages")

    def finished(
        self, value: npt.NDArray[np.float32], learned: Sequence[Learned], numbers: Hyperparameters
    ) -> npt.NDArray[np.float32]:
        """What the networks of the last stage say, (runs, frames), after the step after training.

        `learned` holds what the step remembers of each run; values stay in the stage's range.
        """
        if self.after is None:
            return value
        last = self.stages[-1]
        after = self.after.apply(value, learned, numbers)
        return np.clip(after, last.lowest, last.highest).astype(np.float32)

    def steps(self, value: FloatArray, numbers: Hyperparameters) -> FloatArray:
        """How many steps from success its values say the policy is."""
        return self.stages[-1].steps(value, numbers)


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
MC_DIST = Stage("mc-dist", _return, output=BINS, highest=0.0, steps=_return_steps)
SURVIVAL = Stage("survival", _observed_steps, output=HAZARD)

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

# Stages of the same name, seed and episodes are trained once: the first stage of `liveness` is
# `liveness-nb`.
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            Method("liveness", (SPARSE, BOOTSTRAP)),
            Method("liveness-nb", (SPARSE,)),
            Method("td", (TD,)),
            Method("mc", (MC,)),
            Method("mc-dist", (MC_DIST,)),
            Method("liveness-exact", (SPARSE_EXACT, BOOTSTRAP_EXACT)),
            Method("liveness-nb-exact", (SPARSE_EXACT,)),
            Method("survival", (SURVIVAL,)),
        )
    }
)


def find_method(method: str | Method) -> Method:
    """A method by its name, or as it was given; an unknown name lists the ones there are."""
    if isinstance(method, Method):
        return method
    if method not in METHODS:
        raise GoalwardError(f"no method {method!r}; methods: {', '.join(METHODS)}")
    return METHODS[method]


def known_methods(given: Iterable[Method] = ()) -> dict[str, Method]:
    """The methods there are and those that were given, by name.

    Networks are stored under the names of methods and stages, and a run's random numbers come
    from the name of its stage: one name cannot stand for two.
    """
    methods = dict(METHODS)
    for method in given:
        if methods.setdefault(method.name, method) != method:
            raise GoalwardError(f"two methods are called {method.name!r}: give one another name")
    stages_by_name(methods.values())
    return methods


def stages_by_name(methods: Iterable[Method]) -> dict[str, Stage]:
    """Every stage of some methods."""
    stages: dict[str, Stage] = {}
    for method in methods:
        for stage in method.stages:
            if stages.setdefault(stage.name, stage) != stage:
                raise GoalwardError(f"two stages are called {stage.name!r}: give one another name")
    return stages
