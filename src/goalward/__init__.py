"""goalward: how good a manipulation policy is, from its recorded rollouts alone."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from goalward.errors import GoalwardError, RolloutError

if TYPE_CHECKING:
    from goalward.embeddings.embed import embed
    from goalward.rollouts.concatenation import concatenate
    from goalward.rollouts.dataset import Rollouts
    from goalward.rollouts.episode import Episode, Outcome
    from goalward.rollouts.readers import read
    from goalward.rollouts.readers.arrays import from_arrays
    from goalward.training.feature_file import read_features, write_features
    from goalward.values.fitted import Fitted, fit, load
    from goalward.values.table import ValueTable, read_values

__version__ = "0.1.0"

__all__ = [
    "Episode",
    "Fitted",
    "GoalwardError",
    "Outcome",
    "RolloutError",
    "Rollouts",
    "ValueTable",
    "concatenate",
    "embed",
    "fit",
    "from_arrays",
    "load",
    "read",
    "read_features",
    "read_values",
    "write_features",
]


# Imported when first used: torch takes seconds, and a command that is stopped while it starts
# should end quietly, which it can only once its own code runs.
_HOMES = {
    "Episode": "rollouts.episode",
    "Fitted": "values.fitted",
    "Outcome": "rollouts.episode",
    "Rollouts": "rollouts.dataset",
    "ValueTable": "values.table",
    "concatenate": "rollouts.concatenation",
    "embed": "embeddings.embed",
    "fit": "values.fitted",
    "from_arrays": "rollouts.readers.arrays",
    "load": "values.fitted",
    "read": "rollouts.readers",
    "read_features": "training.feature_file",
    "read_values": "values.table",
    "write_features": "training.feature_file",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'goalward' has no attribute {name!r}")
    found = getattr(import_module(f"goalward.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
