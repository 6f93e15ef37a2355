"""The methods, as data: a name stands for stages, one after the other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError
from goalward.training.methods.after import AfterTraining, Learned
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.stages import (
    BOOTSTRAP,
    BOOTSTRAP_EXACT,
    BRIGHT,
    DARK,
    LAMBDA_ROUND,
    MC,
    MC_DIST,
    SPARSE,
    SPARSE_EXACT,
    SURVIVAL,
    SURVIVAL_ROUND,
    TD,
    FloatArray,
    Stage,
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
