"""goalward: how good a manipulation policy is, from its recorded rollouts alone."""

from typing import TYPE_CHECKING, Any

from goalward.errors import GoalwardError, RolloutError
from goalward.rollouts.concatenation import concatenate
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.readers import read
from goalward.rollouts.readers.arrays import from_arrays
from goalward.training.feature_file import read_features, write_features

if TYPE_CHECKING:
    from goalward.embeddings.embed import embed
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


def __getattr__(name: str) -> Any:
    """What needs torch is imported when first used: torch takes seconds, reading rollouts not."""
    if name == "embed":
        from goalward.embeddings.embed import embed

        return embed
    if name in ("fit", "load", "Fitted"):
        from goalward.values import fitted

        return getattr(fitted, name)
    if name in ("ValueTable", "read_values"):
        from goalward.values import table

        return getattr(table, name)
    raise AttributeError(f"module 'goalward' has no attribute {name!r}")
