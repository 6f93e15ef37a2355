"""Work that is already done: a step is skipped if what it made is there and its inputs are too.

`steps.json` notes for each step a digest of its inputs and of every file it wrote. A file that was
changed, removed or cut counts as not made. A step that was begun and not finished has its inputs
noted: what it left may be gone on with, by a step of the same inputs alone.
"""

import hashlib
import json
import shutil
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
    """What the episodes are: their names, labels, features, and what their tasks' texts say."""
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
    if rollouts.task_vectors:
        hasher.update(digest(rollouts.task_vectors).encode())
    features = rollouts.features
    if features is not None:
        hasher.update(digest(features.shape, str(features.dtype)).encode())
        for start in range(0, len(features), _ROWS_AT_A_TIME):
            hasher.update(np.ascontiguousarray(features[start : start + _ROWS_AT_A_TIME]).data)
    return hasher.hexdigest()


class Steps:
    """The steps of one run, finished or not."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._noted: dict[str, Any] = {}
        if path.is_file():
            try:
                noted = json.loads(path.read_text(encoding="utf-8"))
                self._noted = noted if isinstance(noted, dict) else {}
            except (OSError, ValueError):
                # Unreadable notes are no notes: everything is done again.
                self._noted = {}

    def is_done(self, name: str, inputs: str) -> bool:
        """Whether the step was made from these inputs and all its files are as it left them."""
        note = self._note(name)
        files = note.get("files")
        if note.get("inputs") != inputs or not isinstance(files, dict):
            return False
        return len(self.files(name)) == len(files) and not self._changed_files(name)

    def is_of(self, name: str, inputs: str) -> bool:
        """Whether all that the step left, finished or not, is of these inputs."""
        return self._note(name).get("inputs") == inputs

    def files(self, name: str) -> list[Path]:
        """What a finished step wrote."""
        files = self._note(name).get("files")
        inside = [Path(file) for file in files] if isinstance(files, dict) else []
        # Notes that name files elsewhere are not ours.
        inside = [file for file in inside if not file.is_absolute() and ".." not in file.parts]
        return [self._path.parent / file for file in inside]

    def copy(self, name: str, to: Path) -> list[Path]:
        """What a finished step wrote, again in another folder."""
        copies: list[Path] = []
        for file in self.files(name):
            copies.append(to / file.relative_to(self._path.parent))
            with written_whole(copies[-1]) as temporary:
                shutil.copyfile(file, temporary)
        return copies

    def forget(self, *names: str) -> None:
        """Note that of these steps nothing is left."""
        kept = {name: note for name, note in self._noted.items() if name not in names}
        if kept != self._noted:
            self._noted = kept
            self._write()

    def begin(self, name: str, inputs: str) -> None:
        """Note that from now on all that the step leaves is of these inputs.

        Who begins removes what is of others; files that were changed since are removed here.
        """
        for file in self._changed_files(name):
            file.unlink(missing_ok=True)
        self._noted[name] = {"inputs": inputs}
        self._write()

    def finish(self, name: str, inputs: str, files: Sequence[Path]) -> None:
        """Note that the step is done and what it wrote."""
        folder = self._path.parent
        self._noted[name] = {
            "inputs": inputs,
            "files": {
                file.relative_to(folder).as_posix(): _file_digest(file) for file in sorted(files)
            },
        }
        self._write()

    def _note(self, name: str) -> dict[str, Any]:
        note = self._noted.get(name)
        return note if isinstance(note, dict) else {}

    def _changed_files(self, name: str) -> list[Path]:
        """Files of a finished step that are not as it left them."""
        known = self._note(name).get("files", {})
        folder = self._path.parent
        return [
            file
            for file in self.files(name)
            if _file_digest(file) != known.get(file.relative_to(folder).as_posix())
        ]

    def _write(self) -> None:
        with written_whole(self._path) as temporary:
            temporary.write_text(json.dumps(self._noted, indent=1), encoding="utf-8")


def _file_digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:32]
    except OSError:
        return None
