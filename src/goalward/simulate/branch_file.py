"""Finished branches on disk, line by line, so that hours of work survive anything."""

import glob
import json
import logging
import os
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError, argument
from goalward.executors.shard import Shard
from goalward.files import check_regular
from goalward.metrics.truth import BRANCHES_SUFFIX
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
_CHECK = "crc32"
_FACTS = ("episode", "frame", "branches", "steps")

_log = logging.getLogger("goalward.simulate")


def branch_file(table: Path, shard: Shard | None = None) -> Path:
    """Where the branches of a table are kept, or of a shard of it.

    >>> branch_file(Path("truth.parquet"), Shard(3, 16)).name
    'truth.shard-03-of-16.branches.jsonl'
    """
    part = "" if shard is None else f".{shard.file_part}"
    return table.with_name(f"{table.stem}{part}{BRANCHES_SUFFIX}")


def shard_files(table: Path) -> list[Path]:
    """The files of all shards that were begun."""
    return sorted(table.parent.glob(f"{glob.escape(table.stem)}.shard-*-of-*{BRANCHES_SUFFIX}"))


class BranchFile:
    """Finished branches as lines of JSON, the first line saying what they were made with.

    A line is written whole or, when the power goes, torn: a torn last line is cut off when the
    file is opened again. Each line carries a checksum; one that was damaged counts as not there,
    and its branches are run again. Lines of two files with the same first line may be put together.
    """

    def __init__(self, path: Path, made_with: Mapping[str, Any]) -> None:
        self._path = path
        self._synced_at = time.monotonic()
        self.branches: Branches = {}
        self._header = json.dumps(dict(made_with), sort_keys=True)
        try:
            check_regular(path, may_be_missing=True)
            content = path.read_bytes() if path.exists() else b""
            num_whole = content.rfind(b"\n") + 1
            if num_whole:
                self._take(
                    content[:num_whole].decode(errors="replace").splitlines(), self._header, path
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")
            if num_whole < len(content):
                self._file.truncate(num_whole)
            if num_whole == 0:
                self._append(self._header)
        except OSError as error:
            raise GoalwardError(f"{path}: cannot be written ({error.strerror})") from error

    def _take(self, lines: Sequence[str], header: str, path: Path) -> None:
        if lines[0] != header:
            raise GoalwardError(
                f"{path}: was made with {lines[0]}, not with {header}: give another "
                f"{argument('path', flag='out')}, or remove the file to begin anew"
            )
        for number, line in enumerate(lines[1:], start=2):
            try:
                noted = _checked(json.loads(line))
                key = str(noted["episode"]), int(noted["frame"])
                steps = [None if s is None else int(s) for s in noted["steps"]]
                found = zip(map(int, noted["branches"]), steps, strict=True)
                self.branches |= {(*key, branch): steps for branch, steps in found}
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                words = "%s: line %d is damaged (%s): these futures are run again"
                _log.warning(words, path, number, error)

    def take_over(self, path: Path) -> None:
        """Add what another file holds that was made with the same; one with other facts is named.

        The other file stays: whoever writes it may be at work.
        """
        before = dict(self.branches)
        content = path.read_bytes()
        lines = content[: content.rfind(b"\n") + 1].decode(errors="replace").splitlines()
        if lines:
            self._take(lines, self._header, path)
        found: dict[tuple[str, int], list[int]] = {}
        for episode, frame, branch in self.branches.keys() - before.keys():
            found.setdefault((episode, frame), []).append(branch)
        for (episode, frame), branches in sorted(found.items()):
            steps = [self.branches[episode, frame, branch] for branch in sorted(branches)]
            self._append(_line(episode, frame, sorted(branches), steps))

    def has(self, job: BranchJob) -> bool:
        point = job.point
        return all((point.episode_id, point.frame, b) in self.branches for b in job.branches)

    def add(self, job: BranchJob, steps: StepsOfBranches) -> None:
        point = job.point
        self._append(_line(point.episode_id, point.frame, job.branches, steps))
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

    def __exit__(self, *_: object) -> None:
        self.close()


def _line(episode: str, frame: int, branches: Sequence[int], steps: Sequence[int | None]) -> str:
    noted = {"episode": episode, "frame": frame, "branches": branches, "steps": steps}
    return json.dumps(noted | {_CHECK: _check_of(noted)})


def _check_of(noted: Mapping[str, Any]) -> str:
    facts = json.dumps([noted[name] for name in _FACTS])
    return f"{zlib.crc32(facts.encode()):08x}"


def _checked(noted: dict[str, Any]) -> dict[str, Any]:
    """What a line says; version 0.1.0 wrote no checksums, and nothing else either."""
    told = noted.pop(_CHECK, None)
    if noted.keys() != set(_FACTS) or (told is not None and told != _check_of(noted)):
        raise ValueError("its checksum does not fit")
    return noted
