"""The methods, as data: a name stands for stages, a stage for a target and an output."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from goalward.training.after import AfterTraining, Learned
from goalward.training.frames import TrainingFrames
from goalward.training.outputs import BINS, HAZARD, SOFT_HAZARD, VALUE, Output, survival_edges
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


@dataclass(frozen=True)
class Method:
    """A way to learn a value function: stages, one after the other, and perhaps a step after them.

    The value of one stage is the anchor of the next; that of the last one, after the step `after`
    training if there is one, is the method's. `rounds` is a stage that is repeated at the end,
    each time built on the one before. A method that `is_folded` trains on folds of the episodes,
    so that no target comes from a network that saw its episode, and its value is the mean over
    them; its `stages` stand side by side, and the first round builds on the mean of all.
    """

    name: str
    stages: tuple[Stage, ...]
    after: AfterTraining | None = None
    rounds: Stage | None = None
    is_folded: bool = False

    def all_stages(self, numbers: Hyperparameters) -> tuple[Stage, ...]:
        """The stages, and the one that is repeated as often as `numbers` of this method say."""
        if self.rounds is None:
            return self.stages
        names = [f"{self.rounds.name}-{number + 1}" for number in range(numbers.rounds)]
        return (*self.stages, *(replace(self.rounds, name=name) for name in names))

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
        after = self.after.apply(value, learned, numbers.of(last.family))
        return np.clip(after, last.lowest, last.highest).astype(np.float32)

    def steps(self, value: FloatArray, numbers: Hyperparameters) -> FloatArray:
        """How many steps from success its values say the policy is."""
        last = self.stages[-1]
        return last.steps(value, numbers.of(last.family))


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
            Method("survival", (SURVIVAL,), rounds=SURVIVAL_ROUND),
            Method("lambda-returns", (DARK, BRIGHT), rounds=LAMBDA_ROUND, is_folded=True),
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


def stages_by_name(
    methods: Iterable[Method], numbers: Hyperparameters | None = None
) -> dict[str, Stage]:
    """Every stage of some methods; with `numbers`, the rounds that they ask for among them."""
    stages: dict[str, Stage] = {}
    for method in methods:
        here = method.stages if numbers is None else method.all_stages(numbers.of(method.name))
        for stage in here:
            if stages.setdefault(stage.name, stage) != stage:
                raise GoalwardError(f"two stages are called {stage.name!r}: give one another name")
    return stages
