"""Frames to learn from as one file, for processes that share a disk: features are mapped."""

import json
import logging
from pathlib import Path

import numpy as np

from goalward.files import written_whole
from goalward.rollouts.endings import Endings
from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.stored.npz_arrays import read_npz

_log = logging.getLogger("goalward.training")

_NAMES = (
    *("features", "proprioception", "episode_ends", "goal_frames", "failures"),
    *("words", "looked_at"),
)


def write_frames(path: Path, frames: TrainingFrames) -> None:
    """All that a training looks at; a feature file has no proprioception beside the features."""
    looked_at = frames.looked_at
    with written_whole(path) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            features=frames.features,
            proprioception=frames.proprioception,
            episode_ends=frames.endings.episode_ends,
            goal_frames=frames.endings.goal_frames,
            failures=frames.endings.failures,
            words=np.array(
                json.dumps([frames.episode_task, frames.episode_id, dict(frames.task_vectors)])
            ),
            looked_at=np.zeros(0, np.bool_) if looked_at is None else looked_at,
        )


def read_frames(path: Path) -> TrainingFrames:
    """What `write_frames` wrote, with features in the file until they are asked for."""
    arrays = read_npz(path, _NAMES, mapped="features")
    tasks, ids, vectors = json.loads(str(arrays["words"]))
    return TrainingFrames(
        arrays["features"],
        Endings(arrays["episode_ends"], arrays["goal_frames"], arrays["failures"]),
        tuple(tasks),
        tuple(ids),
        arrays["proprioception"],
        {task: tuple(vector) for task, vector in vectors.items()},
        looked_at=arrays["looked_at"] if arrays["looked_at"].size else None,
    )


def holds(path: Path, frames: TrainingFrames) -> bool:
    """Whether a file that was left by an earlier call has these frames, whole."""
    if not path.exists():
        return False
    try:
        return read_frames(path).checksum == frames.checksum
    except Exception as error:  # a file that was damaged fails in any way
        _log.warning("%s: is written again, as it was damaged (%s)", path, error)
        return False
