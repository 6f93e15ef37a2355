"""Work that is already done: a step is skipped if what it made is there and its inputs are too.

`steps.json` notes for each step a digest of its inputs and of every file it wrote. A file that was
changed, removed or cut counts as not made; who only reads a run asks here whether it is whole. A
step that was begun and not finished has its inputs noted: what it left may be gone on with, by a
step of the same inputs alone.
"""

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from goalward.checksums import (
    DamagedFile,
    check,
    file_digest,
    read_json_with_checksum,
    write_json_with_checksum,
)
from goalward.errors import GoalwardError
from goalward.files import written_whole
from goalward.rollouts.dataset import Rollouts

_ROWS_AT_A_TIME = 1 << 14


class StepNote(TypedDict, total=False):
    """One step; begun and not finished, it has no files."""

    inputs: str
    """Digest of all that it depends on."""
    files: dict[str, str | None]
    """Path below the folder -> digest of the file that it wrote."""


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
        # Damaged notes are no notes: everything is done again.
        self.damage: DamagedFile | None = None
        if path.is_file():
            try:
                self._noted = read_json_with_checksum(path)
            except DamagedFile as error:
                self.damage = error

    def is_done(self, name: str, inputs: str) -> bool:
        """Whether the step was made from these inputs and all its files are as it left them."""
        note = self._note(name)
        files = note.get("files")
        if note.get("inputs") != inputs or not isinstance(files, dict):
            return False
        return len(self.files(name)) == len(files) and not self.changed_files(name)

    def check(self, *files: Path) -> None:
        """An error if one of these files is not as a step left it, or the notes themselves are not.

        A file that no step has noted is not known to be anything else.
        """
        if self.damage is not None:
            raise self.damage
        if self._path.is_file():
            check(self._path, always_carried=True)
        known = {file: name for name in self._noted for file in self.files(name)}
        for file in files:
            if file in known and not file.exists():
                raise DamagedFile(file, "it is gone")
            if file in known and not self._is_as_left(known[file], file):
                raise DamagedFile(file)

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
        for file in self.changed_files(name):
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                reason = error.strerror or error
                raise GoalwardError(f"{file}: cannot be removed ({reason})") from error
        begun: StepNote = {"inputs": inputs}
        self._noted[name] = begun
        self._write()

    def finish(self, name: str, inputs: str, files: Sequence[Path]) -> None:
        """Note that the step is done and what it wrote."""
        folder = self._path.parent
        digests = {file.relative_to(folder).as_posix(): file_digest(file) for file in sorted(files)}
        note: StepNote = {"inputs": inputs, "files": digests}
        if self._noted.get(name) != note:
            self._noted[name] = note
            self._write()

    def _note(self, name: str) -> dict[str, Any]:
        note = self._noted.get(name)
        return note if isinstance(note, dict) else {}

    def changed_files(self, name: str) -> list[Path]:
        """Files of a finished step that are not as it left them."""
        return [file for file in self.files(name) if not self._is_as_left(name, file)]

    def _is_as_left(self, name: str, file: Path) -> bool:
        known = self._note(name).get("files", {})
        return file_digest(file) == known.get(file.relative_to(self._path.parent).as_posix())

    def _write(self) -> None:
        write_json_with_checksum(self._path, self._noted)
