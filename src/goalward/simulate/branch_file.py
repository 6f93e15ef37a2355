"""Finished branches on disk, line by line, so that hours of work survive anything."""

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from goalward.errors import GoalwardError, argument
from goalward.simulate.truth import (
    Branching,
    BranchJob,
    BranchPoint,
    StepsOfBranches,
    branch_jobs,
)

# (episode id, frame, branch) -> steps to success, None where the cap came first.
Branches = dict[tuple[str, int, int], int | None]
_SECONDS_UNTIL_SYNC = 5.0


class BranchFile:
    """Finished branches as lines of JSON, the first line saying what they were made with.

    A line is written whole or, when the power goes, torn: a torn last line is cut off when the
    file is opened again. Lines of two files with the same first line may be put together.
    """

    def __init__(self, path: Path, made_with: Mapping[str, Any]) -> None:
        self._path = path
        self._synced_at = time.monotonic()
        self.branches: Branches = {}
        header = json.dumps(dict(made_with), sort_keys=True)
        try:
            content = path.read_bytes() if path.exists() else b""
            num_whole = content.rfind(b"\n") + 1
            if num_whole:
                self._take(content[:num_whole].decode(errors="replace").splitlines(), header)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")
            if num_whole < len(content):
                self._file.truncate(num_whole)
            if num_whole == 0:
                self._append(header)
        except OSError as error:
            raise GoalwardError(f"{path}: cannot be written ({error.strerror})") from error

    def _take(self, lines: Sequence[str], header: str) -> None:
        if lines[0] != header:
            raise GoalwardError(
                f"{self._path}: was made with {lines[0]}, not with {header}: give another "
                f"{argument('path', flag='out')}, or remove the file to begin anew"
            )
        for number, line in enumerate(lines[1:], start=2):
            try:
                noted = json.loads(line)
                for branch, steps in zip(noted["branches"], noted["steps"], strict=True):
                    key = (str(noted["episode"]), int(noted["frame"]), int(branch))
                    self.branches[key] = None if steps is None else int(steps)
            except (ValueError, KeyError, TypeError) as error:
                raise GoalwardError(f"{self._path}: line {number} is damaged ({error})") from error

    def add(self, job: BranchJob, steps: StepsOfBranches) -> None:
        point = job.point
        noted = {
            "episode": point.episode_id,
            "frame": point.frame,
            "branches": job.branches,
            "steps": steps,
        }
        self._append(json.dumps(noted))
        for branch, found in zip(job.branches, steps, strict=True):
            self.branches[point.episode_id, point.frame, branch] = found

    def _append(self, line: str) -> None:
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        if time.monotonic() - self._synced_at > _SECONDS_UNTIL_SYNC:
            os.fsync(self._file.fileno())
            self._synced_at = time.monotonic()

    def of(self, points: Iterable[BranchPoint], num_branches: int) -> Branches:
        """The finished branches of some frames, frame by frame."""
        keys = ((p.episode_id, p.frame, b) for p in points for b in range(num_branches))
        return {key: self.branches[key] for key in keys if key in self.branches}

    def in_order(self, points: Sequence[BranchPoint], num_branches: int) -> Branches:
        """The finished branches up to the first that is not, in the order they are begun in.

        What was begun later and is finished all the same had short futures: with it, a table of
        work that was stopped would make frames look better than they are.
        """
        kept: Branches = {}
        for job in branch_jobs(points, num_branches, Branching(cap=0, seed=0)):
            keys = [(job.point.episode_id, job.point.frame, branch) for branch in job.branches]
            if not all(key in self.branches for key in keys):
                break
            kept |= {key: self.branches[key] for key in keys}
        return {key: kept[key] for key in self.of(points, num_branches) if key in kept}

    def close(self) -> None:
        os.fsync(self._file.fileno())
        self._file.close()

    def __enter__(self) -> "BranchFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
