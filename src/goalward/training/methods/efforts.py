"""How much training an answer is worth: seeds and numbers for quick, normal and thorough.

Chosen from measured errors against the truth over minutes of training: docs/efforts.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from goalward.config import EvaluationConfig
from goalward.errors import GoalwardError
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.presets import hyperparameters


@dataclass(frozen=True)
class Effort:
    """Networks per method, and the numbers that differ from those of preset and method."""

    seeds: int
    numbers: Mapping[str, Any]


EFFORTS: Mapping[str, Effort] = MappingProxyType(
    {
        "quick": Effort(
            seeds=1,
            numbers={
                "lambda-returns.width": 128,
                "lambda-returns.num_steps": 150,
                "lambda-returns.rounds": 2,
                "lambda-returns.patience": 3,
                "width": 256,
                "num_steps": 1000,
            },
        ),
        "normal": Effort(
            seeds=2,
            numbers={
                "lambda-returns.width": 128,
                "lambda-returns.num_steps": 300,
                "lambda-returns.patience": 3,
            },
        ),
        "thorough": Effort(seeds=5, numbers={}),
    }
)


def find_effort(name: str) -> Effort:
    """
    >>> find_effort("thorough").seeds
    5
    """
    if name not in EFFORTS:
        raise GoalwardError(f"no effort {name!r}; efforts: {', '.join(EFFORTS)}")
    return EFFORTS[name]


def with_effort(effort: str, preset: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Hyper-parameters of an effort, under those that were given.

    The paper's presets are the paper's at any effort: an effort changes numbers of all methods only
    beside the preset `default`. What is given for all methods counts for each of them.

    >>> with_effort("quick", "default", {"width": 64})["width"]
    64
    >>> "lambda-returns.width" in with_effort("quick", "default", {"width": 64})
    False
    """
    numbers = {
        name: value
        for name, value in find_effort(effort).numbers.items()
        if ("." in name or preset == "default") and name.rpartition(".")[2] not in overrides
    }
    return numbers | dict(overrides)


def numbers_of(config: EvaluationConfig) -> Hyperparameters:
    """The hyper-parameters that an evaluation trains by."""
    told = with_effort(config.effort, config.preset, config.overrides)
    return hyperparameters(config.preset, **told)
