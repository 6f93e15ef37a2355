"""Features and labels of episodes in one file that numpy alone can write: `.npz`, no pickle.

| array | shape | what |
|---|---|---|
| `features` | (frames, size) float16 or float32 | all episodes one after the other |
| `episode_ends` | (episodes,) integer | one past the last frame of each |
| `outcomes` | (episodes,) text | `success`, `time_out` or `failure` |
| `goal_frames` | (episodes,) integer, optional | in the episode, -1: none; default: last frame |
| `ids` | (episodes,) text, optional | default: 0, 1, ... |
| `tasks` | (episodes,) text, optional | default: one task without a name |
| `fps` | (episodes,) number, optional | frames per second, NaN: unknown |
| `task_names` | (tasks,) text, optional | tasks whose texts an encoder has read |
| `task_vectors` | (tasks, size) number, with `task_names` | what it made of them |
| `every` | (episodes,) integer, optional | one frame in so many was embedded; default: 1 |
| `proprioception` | (frames, size) number, optional | among the features too; |
| | | networks that see main directions of those see these numbers as they are |
| `layout` | text, optional | what the numbers are; a fit remembers it and accepts no other |

Written with `np.savez` (not compressed) the features are mapped, not read: a file larger than
memory works.
"""

import math
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError, RolloutError
from goalward.files import check_regular, written_whole
from goalward.git_lfs import explained
from goalward.progress import OnProgress, unheard
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.embedded import located
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.storage import Source, whole_numbers
from goalward.stores.layout import laid_out
from goalward.stores.place import StoredPath, place_of, told_by_url
from goalward.training.stored.npz_arrays import read_npz

_WANTED = ("features", "episode_ends", "outcomes")
_OPTIONAL = (
    *("goal_frames", "ids", "tasks", "fps", "every", "proprioception"),
    *("task_names", "task_vectors", "layout"),
)
# What zipfile and numpy raise on damaged files; encrypted ones are a RuntimeError.
_BROKEN = (
    OSError,
    ValueError,
    TypeError,
    EOFError,
    LookupError,
    ArithmeticError,
    RuntimeError,
    MemoryError,
    SyntaxError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def write_features(path: str | Path, rollouts: Rollouts) -> None:
    """The features and labels of rollouts into a file that `read_features` reads."""
    if rollouts.features is None:
        raise GoalwardError("the rollouts have no features to write")
    if Path(path).suffix != ".npz":
        raise GoalwardError(f"{path}: a feature file is known by its name, which ends in .npz")
    vectors = rollouts.task_vectors
    of_tasks: dict[str, Any] = {
        "task_names": np.array(list(vectors)),
        "task_vectors": np.array(list(vectors.values())),
    }
    with written_whole(Path(path)) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            features=rollouts.features,
            episode_ends=rollouts.episode_ends,
            outcomes=np.array([str(outcome) for outcome in rollouts.outcomes]),
            goal_frames=rollouts.goal_frames,
            ids=np.array(rollouts.ids),
            tasks=np.array([episode.task for episode in rollouts]),
            fps=np.array([math.nan if e.fps is None else e.fps for e in rollouts]),
            every=np.array([episode.every for episode in rollouts]),
            layout=np.array(rollouts.feature_layout),
            **({"proprioception": numbers} if (numbers := rollouts.proprioception).size else {}),
            **(of_tasks if vectors else {}),
        )


def read_features(path: str | Path, *, on_fetch: OnProgress = unheard) -> Rollouts:
    """Rollouts from a feature file, here or in a store."""
    path = located(path)
    if isinstance(path, StoredPath):
        laid_out(path, on_fetch)
    try:
        return _read(path)
    except GoalwardError as error:
        if not isinstance(path, StoredPath):
            raise
        raise type(error)(told_by_url(str(error))) from error


def _read(path: Path) -> Rollouts:
    if path.is_dir():
        raise GoalwardError(
            f"{path}: is a folder; wanted a feature file (.npz), as `goalward embed` or "
            "goalward.write_features makes of rollouts"
        )
    check_regular(path)
    if not zipfile.is_zipfile(path):
        raise GoalwardError(explained(path, "is not a feature file (.npz)"))
    try:
        arrays = read_npz(path, (*_WANTED, *_OPTIONAL), mapped="features")
    except _BROKEN as error:
        raise GoalwardError(f"{path}: cannot be read as a feature file ({error})") from error
    missing = [name for name in _WANTED if name not in arrays]
    if missing:
        raise GoalwardError(
            f"{path}: holds no {', '.join(missing)}; a feature file has "
            f"{', '.join(_WANTED)}, and perhaps {', '.join(_OPTIONAL)}"
        )
    try:
        return _rollouts(path, arrays.pop("features"), arrays)
    except RolloutError as error:
        raise RolloutError(f"{path}: {error}") from error


def _rollouts(
    path: Path, features: npt.NDArray[Any], arrays: dict[str, npt.NDArray[Any]]
) -> Rollouts:
    ends = whole_numbers(arrays["episode_ends"], "episode_ends")
    lengths = np.diff(ends, prepend=0)
    count = len(ends)
    if features.ndim != 2 or count == 0 or ends[-1] != len(features):
        raise RolloutError(
            f"features have shape {features.shape}, the last episode ends at "
            f"{ends[-1] if count else 0}"
        )
    if features.dtype.kind not in "biuf":
        raise RolloutError(f"features are {features.dtype}, not numbers")
    if features.dtype not in (np.float16, np.float32):
        with np.errstate(over="ignore"):  # too large becomes infinite and is found as such
            features = features.astype(np.float32)
    numbers = _numbers(arrays, len(features))
    goals = whole_numbers(arrays.get("goal_frames", np.full(count, -1)), "goal_frames")
    every = whole_numbers(arrays.get("every", np.ones(count, np.int64)), "every")
    rates = _rates(arrays.get("fps", np.full(count, math.nan)))
    words = {
        "outcomes": _texts(arrays["outcomes"], "outcomes"),
        "ids": _texts(arrays.get("ids", np.arange(count)), "ids"),
        "tasks": _texts(arrays.get("tasks", np.full(count, "")), "tasks"),
    }
    for name, given in (*words.items(), ("goal_frames", goals), ("fps", rates), ("every", every)):
        if len(given) != count:
            raise RolloutError(f"{name} has {len(given)} entries for {count} episodes")
    try:
        outcomes = [Outcome(text) for text in words["outcomes"]]
    except ValueError as error:
        raise RolloutError(str(error)) from error

    def goal(index: int) -> int | None:
        if goals[index] < -1:
            raise RolloutError(f"goal_frames holds {goals[index]}; -1 is none")
        if outcomes[index] is not Outcome.SUCCESS:
            return None
        return int(goals[index]) if goals[index] >= 0 else int(lengths[index]) - 1

    episodes = [
        Episode(
            words["ids"][i],
            int(lengths[i]),
            outcomes[i],
            goal_frame=goal(i),
            task=words["tasks"][i],
            fps=rates[i],
            every=int(every[i]),
            proprioception=numbers[int(ends[i] - lengths[i]) : int(ends[i])],
        )
        for i in range(count)
    ]
    source = Source(format="features", path=place_of(path), label_source="outcomes")
    layout = _texts(arrays.get("layout", np.array("")).reshape(-1)[:1], "layout")
    return Rollouts(
        episodes,
        features=features,
        feature_layout="".join(layout),
        sources=[source],
        task_vectors=_task_vectors(arrays),
    )


def _numbers(arrays: dict[str, npt.NDArray[Any]], num_frames: int) -> npt.NDArray[np.float32]:
    given = arrays.get("proprioception", np.zeros((num_frames, 0), np.float32))
    if given.ndim != 2 or len(given) != num_frames or given.dtype.kind not in "biuf":
        raise RolloutError(
            f"proprioception must be numbers, a row for each of {num_frames} frames, got "
            f"{given.dtype}, {given.shape}"
        )
    with np.errstate(over="ignore"):  # too large becomes infinite and is found as such
        return given.astype(np.float32)


def _task_vectors(arrays: dict[str, npt.NDArray[Any]]) -> dict[str, tuple[float, ...]]:
    if "task_names" not in arrays and "task_vectors" not in arrays:
        return {}
    if "task_names" not in arrays or "task_vectors" not in arrays:
        raise RolloutError("task_names and task_vectors go together, and one is missing")
    names, vectors = _texts(arrays["task_names"], "task_names"), arrays["task_vectors"]
    if vectors.ndim != 2 or vectors.dtype.kind not in "iuf" or len(vectors) != len(names):
        raise RolloutError(
            f"task_vectors must be numbers, a row for each of {len(names)} task_names, got "
            f"{vectors.dtype}, {vectors.shape}"
        )
    if len(set(names)) < len(names):
        raise RolloutError("task_names names a task twice")
    rows = vectors.astype(np.float64).tolist()
    return {name: tuple(row) for name, row in zip(names, rows, strict=True)}


def _rates(array: npt.NDArray[Any]) -> list[float | None]:
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise RolloutError(f"fps must be one number per episode, got {array.dtype}, {array.shape}")
    return [None if math.isnan(rate) else float(rate) for rate in array.tolist()]


def _texts(array: npt.NDArray[Any], name: str) -> list[str]:
    if array.ndim != 1:
        raise RolloutError(f"{name} must be one text per episode, got shape {array.shape}")
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    # Numbers may be names, but say nothing of how an episode ended or what its numbers are.
    if array.dtype.kind != "U" and name in ("outcomes", "layout"):
        raise RolloutError(f"{name} holds {array.dtype}, not text")
    return [str(text) for text in array]
