"""Episodes as a table of pandas, for those who work with it."""

# pyright: standard
# (what pandas gives is unknown in parts)

from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from goalward.errors import GoalwardError
from goalward.rollouts.episode import Episode, Outcome

if TYPE_CHECKING:
    from pandas import DataFrame

# Int64 and Float64 have missing numbers: as a float, a goal would be frame 118.0.
_TYPES = {
    "id": "str",
    "task": "str",
    "outcome": "str",
    "success": "bool",
    "num_frames": "int64",
    "goal_frame": "Int64",
    "fps": "Float64",
    "cameras": "str",
    "num_proprioceptive": "int64",
    "action_size": "int64",
}


def episode_table(episodes: Iterable[Episode]) -> "DataFrame":
    """A row per episode; what an episode does not have (a goal, a rate) is missing there."""
    if find_spec("pandas") is None:
        raise GoalwardError("to_pandas needs the package pandas: pip install pandas")
    import pandas

    rows = [
        (
            episode.id,
            episode.task,
            str(episode.outcome),
            episode.outcome is Outcome.SUCCESS,
            episode.num_frames,
            episode.goal_frame,
            episode.fps,
            ", ".join(episode.cameras),
            episode.proprioception.shape[1],
            episode.action_size,
        )
        for episode in episodes
    ]
    return pandas.DataFrame(rows, columns=list(_TYPES)).astype(_TYPES)
