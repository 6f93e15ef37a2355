"""The simulated tasks, their policies, and their clocks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from goalward.errors import GoalwardError
from goalward.simulate.policy import Policy
from goalward.simulate.world import World


@dataclass(frozen=True)
class SimulatedTask:
    """One task: how to make its world and its policies, and when the clock runs out, in steps.

    Worlds and policies are made by functions, as their simulators are heavy and optional.
    """

    name: str
    instruction: str
    time_out: int
    standard_horizon: int
    make_world: Callable[[], World]
    policies: Mapping[str, Callable[[], Policy[Any]]]

    @property
    def default_policy(self) -> str:
        return next(iter(self.policies))

    def make_policy(self, name: str) -> Policy[Any]:
        if name not in self.policies:
            raise GoalwardError(
                f"no policy {name!r} for {self.name}: there are {', '.join(self.policies)}"
            )
        return self.policies[name]()


def find_task(name: str) -> SimulatedTask:
    """
    >>> find_task("square").time_out
    200
    """
    if name not in TASKS:
        raise GoalwardError(f"no task {name!r}: there are {', '.join(TASKS)}")
    return TASKS[name]


TASKS: dict[str, SimulatedTask] = {}
