"""Work that is already done: a step is skipped if what it made is there and its inputs are too.

`steps.json` notes for each step a digest of its inputs and of every file it wrote. A file that was
changed, removed or cut counts as not made.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from goalward.files import written_whole
from goalward.rollouts.dataset import Rollouts

_ROWS_AT_A_TIME = 1 << 14


def digest(*parts: Any) -> str:
    """One text for any data that JSON can write.

    >>> digest("fit", {"seeds": 5}) == digest("fit", {"seeds": 5})
    True
    """
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def data_digest(rollouts: Rollouts) -> str:
    """What the episodes are: their names, labels and features."""
    hasher = hashlib.blake2b(digest_size=16)
    facts = (
        rollouts.ids,
        [str(outcome) for outcome in rollouts.outcomes],
        rollouts.goal_frames.tolist(),
        rollouts.lengths.tolist(),
        [episode.task for episode in rollouts],
        rollouts.feature_layout,
    )
    hasher.update(digest(facts).encode())
    features = rollouts.features
    if features is not None:
        hasher.update(digest(features.shape, str(features.dtype)).encode())
        for start in range(0, len(features), _ROWS_AT_A_TIME):
            hasher.update(np.ascontiguousarray(features[start : start + _ROWS_AT_A_TIME]).data)
    return hasher.hexdigest()


class Steps:
    """The steps of one run, finished or not."""

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self._path = path
        self._noted: dict[str, Any] = {}
        if not force and path.is_file():
            try:
                noted = json.loads(path.read_text(encoding="utf-8"))
                self._noted = noted if isinstance(noted, dict) else {}
            except (OSError, ValueError):
                # Unreadable notes are no notes: everything is done again.
                self._noted = {}

    def is_done(self, name: str, inputs: str) -> bool:
        """Whether the step was made from these inputs and all its files are as it left them."""
        note = self._noted.get(name)
        if not isinstance(note, dict) or note.get("inputs") != inputs:
            return False
        files = note.get("files")
        return isinstance(files, dict) and all(
            _file_digest(self._path.parent / file) == known for file, known in files.items()
        )

    def finish(self, name: str, inputs: str, files: Sequence[Path]) -> None:
        """Note that the step is done and what it wrote."""
        folder = self._path.parent
        self._noted[name] = {
            "inputs": inputs,
            "files": {
                file.relative_to(folder).as_posix(): _file_digest(file) for file in sorted(files)
            },
        }
        with written_whole(self._path) as temporary:
            temporary.write_text(json.dumps(self._noted, indent=1), encoding="utf-8")


def _file_digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:32]
    except OSError:
        return None
