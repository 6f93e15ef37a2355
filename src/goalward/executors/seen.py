"""Whether machines see the same files: marks in shared folders, results that have to show."""

import contextlib
import os
import tempfile
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError
from goalward.executors.piece import Piece, result_files
from goalward.leftovers import writer_mark

# Files may show late on the disks of other machines.
_SEEN_WITHIN_S = 10.0
_LOOK_AGAIN_S = 0.1
# Another machine takes what is older than a day for abandoned.
_RENEW_S = 3600.0


class Marks:
    """Files that show whether another machine sees these very folders.

    A folder that may not be written, as that of a data set, is looked for by its name alone.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._marks: list[Path] = []
        self._renewed_at = time.monotonic()
        self.must_see: list[Path] = []
        for folder in folders:
            try:
                handle, name = tempfile.mkstemp(prefix=f".seen.{writer_mark()}-", dir=folder)
            except OSError:
                self.must_see.append(folder.absolute())
                continue
            os.close(handle)
            self._marks.append(Path(name).absolute())
            self.must_see.append(self._marks[-1])

    def renew(self) -> None:
        """Keep them young, so that nobody sweeps them, for workers that come after days."""
        if time.monotonic() - self._renewed_at < _RENEW_S:
            return
        self._renewed_at = time.monotonic()
        for path in self._marks:
            with contextlib.suppress(OSError):
                path.touch()

    def remove(self) -> None:
        for path in self._marks:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


@contextlib.contextmanager
def marks_in(folders: Sequence[Path]) -> Generator[Marks]:
    marks = Marks(folders)
    try:
        yield marks
    finally:
        marks.remove()


def check_seen(piece: Piece[Any, Any]) -> None:
    """Its files have to be here too, if not at once."""
    for path in result_files(piece):
        until = time.monotonic() + _SEEN_WITHIN_S
        while not path.exists():
            if time.monotonic() > until:
                raise GoalwardError(
                    f"{piece}: its worker wrote {path}, which cannot be seen from here: use a "
                    "folder that all machines share"
                )
            time.sleep(_LOOK_AGAIN_S)
