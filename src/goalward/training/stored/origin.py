"""What a training is of, as a text: networks of another text are not those that are wanted."""

import hashlib
import json

import numpy as np

from goalward.training.frames.task_codes import TaskCodes
from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.runs import NetRun
from goalward.training.stored.checkpoint import runs_as_json

_NUM_ROWS = 997


def fingerprint(
    frames: TrainingFrames,
    numbers: Hyperparameters,
    groups: list[tuple[NetRun, ...]],
    tasks: TaskCodes | None = None,
) -> str:
    """A text that differs when a stored training is not this one: other data, runs or numbers.

    After a hyphen stands a checksum of all features. Version 0.1.0 had none: of large features
    some rows spread over all episodes stood for the rest.
    """
    digest = hashlib.blake2b(digest_size=16)
    content = [numbers.as_dict(), [runs_as_json(group) for group in groups]]
    digest.update(json.dumps(content).encode())
    if tasks is not None:
        digest.update(repr((tasks.tasks, frames.episode_task)).encode())
        digest.update(tasks.codes.tobytes())
    digest.update(repr((frames.features.shape, frames.endings.outcomes)).encode())
    rows = np.linspace(0, frames.num_frames - 1, _NUM_ROWS).astype(np.int64)
    seen = (frames.features[np.unique(rows)], frames.proprioception[np.unique(rows)])
    for array in (frames.episode_ends, frames.endings.at_goal, *seen):
        digest.update(np.ascontiguousarray(array).tobytes())
    return f"{digest.hexdigest()}-{frames.checksum}"
