"""What the methods need to know of recorded episodes, as flat arrays over frames."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome, first_bad_row
from goalward.targets.steps import recorded_steps

BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int64]
_ROWS_AT_A_TIME = 1 << 16


@dataclass(frozen=True, eq=False)
class Recording:
    """The frames of some rollouts and what is known of each of them.

    `at_goal` marks the goal and all that was recorded after it; `steps` and `reached` are as in
    `recorded_steps`; the rest is per frame unless it says episode.
    """

    features: npt.NDArray[np.floating]
    episode_ends: IndexArray
    episode_of: IndexArray
    steps: IndexArray
    reached: BoolArray
    at_goal: BoolArray
    at_end: BoolArray
    timed_out: BoolArray
    failed: BoolArray
    episode_task: tuple[str, ...]
    episode_outcome: tuple[Outcome, ...]
    episode_id: tuple[str, ...]

    @property
    def num_frames(self) -> int:
        return len(self.features)

    @property
    def num_episodes(self) -> int:
        return len(self.episode_ends)

    @property
    def horizon(self) -> int:
        """The most steps between two frames of an episode."""
        return max(int(np.diff(self.episode_ends, prepend=0).max()) - 1, 1)

    def frames_of(self, episodes: tuple[int, ...]) -> BoolArray:
        """True on every frame of these episodes."""
        chosen = np.zeros(self.num_episodes, dtype=np.bool_)
        chosen[list(episodes)] = True
        return chosen[self.episode_of]


def recording(rollouts: Rollouts) -> Recording:
    """The recording of rollouts with features; an error names what is missing or broken."""
    features = rollouts.features
    if not len(rollouts):
        raise GoalwardError("there are no episodes to learn from")
    if features is None or features.shape[1] == 0:
        raise GoalwardError(
            "the rollouts have no features; give them some with rollouts.with_features(array) "
            "or goalward.from_arrays"
        )
    ends = rollouts.episode_ends
    episode_of = np.repeat(np.arange(len(rollouts)), rollouts.lengths)
    _check_finite(features, episode_of, ends, rollouts.ids)
    steps, reached = recorded_steps(ends, rollouts.at_goal)
    at_end = np.zeros(len(features), dtype=np.bool_)
    at_end[ends - 1] = True
    outcomes = rollouts.outcomes
    return Recording(
        features=features,
        episode_ends=ends,
        episode_of=episode_of,
        steps=steps,
        reached=reached,
        at_goal=reached & (steps == 0),
        at_end=at_end,
        timed_out=(outcomes == Outcome.TIME_OUT)[episode_of],
        failed=(outcomes == Outcome.FAILURE)[episode_of],
        episode_task=tuple(episode.task for episode in rollouts),
        episode_outcome=tuple(outcomes),
        episode_id=rollouts.ids,
    )


def _check_finite(
    features: npt.NDArray[np.floating],
    episode_of: IndexArray,
    ends: IndexArray,
    ids: tuple[str, ...],
) -> None:
    # By parts: the array may be a memory map larger than memory.
    for start in range(0, len(features), _ROWS_AT_A_TIME):
        bad = first_bad_row(features[start : start + _ROWS_AT_A_TIME])
        if bad is not None:
            frame = start + bad
            episode = int(episode_of[frame])
            first = int(ends[episode - 1]) if episode else 0
            raise GoalwardError(
                f"episode {ids[episode]}: features hold NaN or infinity at frame {frame - first}"
            )
