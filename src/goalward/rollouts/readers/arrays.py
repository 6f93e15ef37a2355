"""Plain arrays, for those who have features already."""

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, FloatArray, Outcome
from goalward.rollouts.frames import ArrayFrames
from goalward.rollouts.storage import Source


def from_arrays(
    features: npt.ArrayLike | Sequence[npt.ArrayLike],
    success: Sequence[bool] | npt.NDArray[np.bool_] | None = None,
    *,
    episode_ends: npt.ArrayLike | None = None,
    outcomes: Sequence[Outcome | str] | None = None,
    goal_frames: Sequence[int | None] | None = None,
    tasks: str | Sequence[str] = "",
    ids: Sequence[str] | None = None,
    fps: float | None = None,
    images: Mapping[str, Sequence[npt.NDArray[np.uint8]]] | None = None,
) -> Rollouts:
    """A data set from arrays in memory.

    `features` is a list of (frames, size) arrays, one per episode, or one flat array together
    with `episode_ends`. Outcomes are given as `success` (False means time-out) or as `outcomes`.
    `goal_frames` are positions within the episodes; without them the goal is the last frame of
    a success. `images` maps camera names to one (frames, height, width, 3) array per episode.

    >>> rollouts = from_arrays([np.zeros((3, 2)), np.ones((4, 2))], success=[True, False])
    >>> rollouts
    Rollouts(2 episodes: 1 success, 1 time_out, 0 failure; 7 frames)
    """
    flat, lengths = _flat(features, episode_ends)
    count = len(lengths)
    chosen = _outcomes(success, outcomes, count)
    task_of = [tasks] * count if isinstance(tasks, str) else list(tasks)
    names = [str(i) for i in range(count)] if ids is None else [str(name) for name in ids]
    goals = [None] * count if goal_frames is None else list(goal_frames)
    for what, given in (("tasks", task_of), ("ids", names), ("goal_frames", goals)):
        if len(given) != count:
            raise RolloutError(f"{what} has {len(given)} entries for {count} episodes")
    for camera, per_episode in (images or {}).items():
        if len(per_episode) != count:
            raise RolloutError(f"{camera} has images for {len(per_episode)} of {count} episodes")
    episodes = [
        Episode(
            id=names[i],
            num_frames=int(lengths[i]),
            outcome=chosen[i],
            goal_frame=_goal(goals[i], chosen[i], int(lengths[i])),
            task=task_of[i],
            fps=fps,
            cameras={
                camera: ArrayFrames(np.asarray(per_episode[i]), where=f"episode {names[i]}")
                for camera, per_episode in (images or {}).items()
            },
        )
        for i in range(count)
    ]
    source = Source(format="arrays", path="memory", label_source="given")
    return Rollouts(episodes, features=flat, sources=[source])


def _flat(
    features: npt.ArrayLike | Sequence[npt.ArrayLike], episode_ends: npt.ArrayLike | None
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    if episode_ends is not None:
        flat = _as_floats(cast(npt.ArrayLike, features))
        ends = np.asarray(episode_ends, dtype=np.int64)
        if flat.ndim != 2:
            raise RolloutError(f"features must be (frames, size), got shape {flat.shape}")
        if ends.ndim != 1 or len(ends) == 0 or ends[-1] != len(flat):
            raise RolloutError(
                f"the last episode must end at the last of the {len(flat)} rows of features"
            )
        return flat, np.diff(ends, prepend=0)
    if isinstance(features, np.ndarray) and features.ndim == 2:
        raise RolloutError("a flat array of features needs episode_ends")
    parts = [_as_floats(part) for part in features]  # type: ignore[union-attr]
    if not parts:
        raise RolloutError("features hold no episodes")
    for index, part in enumerate(parts):
        if part.ndim != 2 or part.shape[1] != parts[0].shape[1]:
            raise RolloutError(
                f"episode {index}: features have shape {part.shape}, "
                f"wanted (frames, {parts[0].shape[-1]})"
            )
    return np.concatenate(parts), np.array([len(part) for part in parts], dtype=np.int64)


def _as_floats(values: npt.ArrayLike) -> FloatArray:
    with np.errstate(over="ignore"):  # too large becomes infinite and is refused as such
        return np.asarray(values).astype(np.float32, copy=False)


def _outcomes(
    success: Sequence[bool] | npt.NDArray[np.bool_] | None,
    outcomes: Sequence[Outcome | str] | None,
    count: int,
) -> list[Outcome]:
    if (success is None) == (outcomes is None):
        raise RolloutError(
            "give either success or outcomes: the label of an episode is not guessed"
        )
    if outcomes is not None:
        try:
            chosen = [Outcome(outcome) for outcome in outcomes]
        except ValueError as error:
            raise RolloutError(f"{error}; outcomes: {', '.join(Outcome)}") from error
    else:
        assert success is not None
        values = [_as_bool(value) for value in success]
        chosen = [Outcome.SUCCESS if value else Outcome.TIME_OUT for value in values]
    if len(chosen) != count:
        raise RolloutError(f"{len(chosen)} labels for {count} episodes")
    return chosen


def _as_bool(value: object) -> bool:
    """True or false, 0 or 1; the word "False" is true to Python and an error here."""
    if isinstance(value, str | bytes) or value not in (0, 1):
        raise RolloutError(f"success must be true or false for every episode, got {value!r}")
    return bool(value)


def _goal(goal_frame: int | None, outcome: Outcome, num_frames: int) -> int | None:
    if goal_frame is None or goal_frame == -1:
        return num_frames - 1 if outcome is Outcome.SUCCESS else None
    if goal_frame != int(goal_frame):
        raise RolloutError(f"goal_frames must be whole numbers, got {goal_frame}")
    return int(goal_frame)
