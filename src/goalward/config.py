"""What an evaluation depends on, as data; and TOML, which settings are written in."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError, argument

PAPER_METHODS = ("liveness", "liveness-nb", "td", "mc", "mc-dist")
# The first speaks for the policy: of those measured the one nearest to the truth.
DEFAULT_METHODS = ("lambda-returns", *PAPER_METHODS)


@dataclass(frozen=True)
class EvaluationConfig:
    """How an evaluation is made, apart from the episodes and their features."""

    policy: str = "policy"
    """The name of the policy in tables and comparisons."""
    methods: tuple[str, ...] = DEFAULT_METHODS
    """The first one speaks for the policy; the others are compared with it."""
    seeds: int = 5
    preset: str = "default"
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Hyper-parameters that differ from the preset's."""
    folds: int = 1
    """1: a part of the episodes is held out; more: each episode is held out once."""
    test_fraction: float = 0.25
    split_seed: int = 0
    standard_horizon: int | None = None
    """Steps in which the task is usually done; None: what nine of ten successes needed."""
    hindsight: float | None = None
    """How far hindsight values follow the recording (lambda); None: as the data choose, or 0.98."""

    def __post_init__(self) -> None:
        if not self.methods:
            raise GoalwardError("give at least one method")
        if self.seeds < 1:
            raise GoalwardError(f"{argument('seeds', self.seeds)}: must be at least 1")
        if self.folds < 1:
            raise GoalwardError(f"{argument('folds', self.folds)}: must be at least 1")
        if not 0 < self.test_fraction < 1:
            given = argument("test_fraction", self.test_fraction)
            raise GoalwardError(f"{given}: must lie between 0 and 1")
        if self.standard_horizon is not None and self.standard_horizon < 1:
            given = argument("standard_horizon", self.standard_horizon)
            raise GoalwardError(f"{given}: must be at least 1 step")
        if self.hindsight is not None and not 0 <= self.hindsight <= 1:
            given = argument("hindsight", self.hindsight)
            raise GoalwardError(f"{given}: must lie between 0 and 1")


def toml_text(content: Mapping[str, Any]) -> str:
    """A table of tables as TOML."""
    import tomli_w

    return tomli_w.dumps(content, multiline_strings=False)


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file holds; what is wrong with it is said with its name."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GoalwardError(f"{path}: cannot be read as TOML ({error})") from error
