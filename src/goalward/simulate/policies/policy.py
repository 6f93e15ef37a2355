"""What acts in a world, and what it has in mind."""

import json
from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np

from goalward.simulate.worlds.world import FloatArray, World

AnyWorld = TypeVar("AnyWorld", bound=World)


class Policy(ABC, Generic[AnyWorld]):
    """Chooses actions. All it remembers from step to step is in its mind, a dict fit for JSON.

    Randomness comes from the policy's own generator, whose state is part of what `remember`
    writes: with it a policy continues as it did, with another generator it tries anew from there.
    """

    generator: np.random.Generator

    def __init__(self) -> None:
        self.mind: dict[str, Any] = {}
        self.events: list[str] = []

    def reset(self, world: AnyWorld, generator: np.random.Generator) -> None:
        """Forget everything; a new episode begins."""
        self.generator = generator
        self.events = []
        self.mind = self.first_thought(world)

    @abstractmethod
    def first_thought(self, world: AnyWorld) -> dict[str, Any]:
        """What is in mind when an episode begins: numbers, strings, lists, dicts of them."""

    @abstractmethod
    def act(self, world: AnyWorld) -> FloatArray:
        """The next action; may change the mind, and note events ("miss", "drop")."""

    def note(self, event: str) -> None:
        """Something happened at this step that people will want to find again."""
        self.events.append(event)

    def noted(self) -> list[str]:
        """The events since last asked."""
        events, self.events = self.events, []
        return events

    def remember(self) -> str:
        """The mind and the generator's state, as one line of text."""
        return json.dumps(
            {"mind": self.mind, "generator": self.generator.bit_generator.state},
            separators=(",", ":"),
        )

    def recall(self, memory: str, generator: np.random.Generator | None = None) -> None:
        """Think again as when `memory` was written; with a generator given, decide anew."""
        remembered = json.loads(memory)
        self.mind = remembered["mind"]
        self.events = []
        if generator is None:
            generator = np.random.default_rng(0)
            generator.bit_generator.state = remembered["generator"]
        self.generator = generator
