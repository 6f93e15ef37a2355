"""Features and labels of episodes in one file that numpy alone can write: `.npz`, no pickle.

| array | shape | what |
|---|---|---|
| `features` | (frames, size) float16 or float32 | all episodes one after the other |
| `episode_ends` | (episodes,) integer | one past the last frame of each |
| `outcomes` | (episodes,) text | `success`, `time_out` or `failure` |
| `goal_frames` | (episodes,) integer, optional | in the episode, -1: none; default: last frame |
| `ids` | (episodes,) text, optional | default: 0, 1, ... |
| `tasks` | (episodes,) text, optional | default: one task without a name |
| `layout` | text, optional | what the numbers are; a fit remembers it and accepts no other |

Written with `np.savez` (not compressed) the features are mapped, not read: a file larger than
memory works.
"""

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError
from goalward.files import written_whole
from goalward.git_lfs import explained
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.storage import Source

_WANTED = ("features", "episode_ends", "outcomes")
_LOCAL_HEADER_BYTES = 30


def write_features(path: str | Path, rollouts: Rollouts) -> None:
    """The features and labels of rollouts into a file that `read_features` reads."""
    if rollouts.features is None:
        raise GoalwardError("the rollouts have no features to write")
    with written_whole(Path(path)) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            features=rollouts.features,
            episode_ends=rollouts.episode_ends,
            outcomes=np.array([str(outcome) for outcome in rollouts.outcomes]),
            goal_frames=rollouts.goal_frames,
            ids=np.array(rollouts.ids),
            tasks=np.array([episode.task for episode in rollouts]),
            layout=np.array(rollouts.feature_layout),
        )


def read_features(path: str | Path) -> Rollouts:
    """Rollouts from a feature file."""
    path = Path(path)
    if not path.is_file():
        raise GoalwardError(f"{path}: no such file")
    if not zipfile.is_zipfile(path):
        raise GoalwardError(explained(path, "is not a feature file (.npz)"))
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = [name for name in _WANTED if name not in file.files]
            if missing:
                raise GoalwardError(
                    f"{path}: holds no {', '.join(missing)}; a feature file has "
                    f"{', '.join(_WANTED)}, and perhaps goal_frames, ids, tasks, layout"
                )
            arrays = {name: file[name] for name in file.files if name != "features"}
            features = _mapped(path, "features.npy")
            if features is None:
                features = file["features"]
    except (OSError, ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise GoalwardError(f"{path}: cannot be read as a feature file ({error})") from error
    return _rollouts(path, features, arrays)


def _rollouts(
    path: Path, features: npt.NDArray[Any], arrays: dict[str, npt.NDArray[Any]]
) -> Rollouts:
    ends = np.asarray(arrays["episode_ends"], dtype=np.int64)
    lengths = np.diff(ends, prepend=0)
    count = len(ends)
    if features.ndim != 2 or count == 0 or ends[-1] != len(features):
        raise GoalwardError(
            f"{path}: features have shape {features.shape}, the last episode ends at "
            f"{ends[-1] if count else 0}"
        )
    if features.dtype not in (np.float16, np.float32):
        features = features.astype(np.float32)
    try:
        outcomes = [Outcome(str(text)) for text in arrays["outcomes"]]
    except ValueError as error:
        raise GoalwardError(f"{path}: {error}") from error
    goals = arrays.get("goal_frames", np.full(count, -1)).tolist()
    ids = [str(name) for name in arrays.get("ids", np.arange(count))]
    tasks = [str(task) for task in arrays.get("tasks", np.full(count, ""))]
    for name, given in (
        ("outcomes", outcomes),
        ("goal_frames", goals),
        ("ids", ids),
        ("tasks", tasks),
    ):
        if len(given) != count:
            raise GoalwardError(f"{path}: {name} has {len(given)} entries for {count} episodes")

    def goal(index: int) -> int | None:
        if outcomes[index] is not Outcome.SUCCESS:
            return None
        return int(goals[index]) if goals[index] >= 0 else int(lengths[index]) - 1

    episodes = [
        Episode(ids[i], int(lengths[i]), outcomes[i], goal_frame=goal(i), task=tasks[i])
        for i in range(count)
    ]
    source = Source(format="features", path=str(path), label_source="outcomes")
    layout = str(arrays.get("layout", ""))
    return Rollouts(episodes, features=features, feature_layout=layout, sources=[source])


def _mapped(path: Path, member: str) -> npt.NDArray[Any] | None:
    """An array of an .npz file as a memory map; None where it is compressed."""
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo(member)
        if entry.compress_type != zipfile.ZIP_STORED:
            return None
    with path.open("rb") as file:
        file.seek(entry.header_offset)
        header = file.read(_LOCAL_HEADER_BYTES)
        # The last two fields of a zip's local header: lengths of the name and the extra field.
        name_bytes, extra_bytes = struct.unpack("<HH", header[26:30])
        file.seek(name_bytes + extra_bytes, 1)
        major, _ = np.lib.format.read_magic(file)
        read_header: Callable[..., Any] = (
            np.lib.format.read_array_header_1_0
            if major == 1
            else np.lib.format.read_array_header_2_0
        )
        shape, fortran_order, dtype = read_header(file)
        offset = file.tell()
    if dtype.hasobject or 0 in shape:
        return None
    order = "F" if fortran_order else "C"
    return np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=shape, order=order)
