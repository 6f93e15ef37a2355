"""goalward: how good a manipulation policy is, from its recorded rollouts alone."""

from goalward.errors import GoalwardError, RolloutError
from goalward.rollouts.concatenation import concatenate
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.readers import read
from goalward.rollouts.readers.arrays import from_arrays

__version__ = "0.1.0"

__all__ = [
    "Episode",
    "GoalwardError",
    "Outcome",
    "RolloutError",
    "Rollouts",
    "concatenate",
    "from_arrays",
    "read",
]
