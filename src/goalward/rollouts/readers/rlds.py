"""RLDS data sets (TensorFlow Datasets): TFRecord files with one episode per record.

The format has no index: `find` reads every byte once and keeps what is small; pictures are read
again, one record at a time, when they are asked for.
"""

# pyright: standard
# (protobuf ships no type stubs)

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from goalward.errors import RolloutError
from goalward.git_lfs import explained
from goalward.rollouts.findings import Findings, some_of
from goalward.rollouts.readers.assembly import Found, FoundEpisode, ReadOptions
from goalward.rollouts.readers.rlds_episode import (
    LOOKED_FOR,
    TERMINAL,
    LastRecord,
    notice_pictures_of_another_kind,
    read_episode,
)
from goalward.rollouts.readers.tfrecord import Example, Record, read_records

_FILE_NAME = re.compile(r"(?P<stem>.+)\.tfrecord(?:-(?P<index>\d{1,9})-of-(?P<count>\d{1,9}))?")
# What content of the wrong kind runs into, besides unreadable files and broken JSON.
_JSON_ERRORS = (
    OSError,
    ValueError,
    RecursionError,
    OverflowError,
    AttributeError,
    KeyError,
    TypeError,
)
_VERSION = re.compile(r"\d+\.\d+\.\d+")


def recognises(path: Path) -> bool:
    return bool(_shards(path)) or bool(_versions(path))


def find(path: Path, options: ReadOptions, findings: Findings) -> Found:
    """Every episode of every record file; no picture is decoded."""
    shards = _chosen_shards(path, findings)
    scan = _Scan(options, findings, _short_names(shards))
    promised = _promised_records(shards[0].path.parent, findings)
    for number, shard in enumerate(shards):
        options.on_progress(number, len(shards))
        num_records = scan.read(shard)
        wanted = promised.get((shard.split, shard.index), num_records)
        if num_records != wanted:
            findings.damage(
                f"{shard.path}: {num_records} records were found, dataset_info.json has {wanted}"
            )
    episodes = scan.episodes
    if any(episode.terminated for episode in episodes) and scan.all_terminal:
        # Most writers set is_terminal on the last step whatever happened there: it says that an
        # episode was cut short only where another episode of the data set ends without it.
        episodes = [replace(episode, terminated=False) for episode in episodes]
    return Found(
        format="rlds",
        path=path,
        episodes=_with_unique_names(episodes),
        looked_for=LOOKED_FOR,
        holds=f"Its records hold: {some_of(scan.keys, most=40) or 'nothing'}.",
    )


class _Scan:
    """One pass over the records of all files."""

    def __init__(
        self, options: ReadOptions, findings: Findings, short_names: dict[Path, str]
    ) -> None:
        self.episodes: list[FoundEpisode] = []
        self.keys: list[str] = []
        self.all_terminal = True
        self._options = options
        self._findings = findings
        self._short_names = short_names
        self._pictures = LastRecord()
        # Per split the next file, and how many episodes lie before it; None once that is unknown.
        self._next: dict[str, tuple[int, int | None]] = {}

    def read(self, shard: "_Shard") -> int:
        """Adds the episodes of one file; returns how many records could be found in it."""
        index, counted = self._next.get(shard.stem, (0, 0))
        counted = counted if index == shard.index else None
        num_records = 0
        for record in read_records(shard.path):
            episode_id = f"{self._short_names[shard.path]}/{record.place.number}"
            if record.is_end:
                counted = None
            else:
                num_records += 1
            number = () if counted is None else (str(counted), f"{shard.split}/{counted}")
            self._add(record, episode_id, number)
            counted = None if counted is None else counted + 1
        self._next[shard.stem] = (shard.index + 1, counted)
        return num_records

    def _add(self, record: Record, episode_id: str, number: tuple[str, ...]) -> None:
        where = str(record.place)
        if record.problem:
            self._findings.leave_out(episode_id, f"{where}: {record.problem}")
            return
        try:
            example = Example(record.content, where)
            if not self.keys:
                self.keys = list(example)
                notice_pictures_of_another_kind(example, self._findings)
            episode = read_episode(example, record.place, self._options, self._pictures)
        except RolloutError as error:
            self._findings.leave_out(episode_id, str(error))
            return
        if TERMINAL in example:
            self.all_terminal = self.all_terminal and episode.terminated
        names = (*number, *episode.other_names)
        self.episodes.append(replace(episode, episode_id=episode_id, other_names=names))


def _with_unique_names(episodes: Sequence[FoundEpisode]) -> list[FoundEpisode]:
    """A name that several episodes share names none of them."""
    shared = Counter(name for episode in episodes for name in set(episode.other_names))
    return [
        replace(e, other_names=tuple(name for name in e.other_names if shared[name] == 1))
        for e in episodes
    ]


# ---- the files of a data set ---------------------------------------------------------------------


@dataclass(frozen=True)
class _Shard:
    """One of the files over which a split is spread."""

    path: Path
    stem: str
    index: int
    count: int

    @property
    def split(self) -> str:
        return self.stem.rsplit("-", 1)[-1]


def _shards(path: Path) -> list[_Shard]:
    candidates = [path] if path.is_file() else list(path.iterdir()) if path.is_dir() else []
    shards: list[_Shard] = []
    for candidate in candidates:
        name = _FILE_NAME.fullmatch(candidate.name)
        if name is not None and not candidate.is_dir():
            index, count = int(name["index"] or 0), int(name["count"] or 1)
            shards.append(_Shard(candidate, name["stem"], index, count))
    return sorted(shards, key=lambda shard: (shard.stem, shard.index, shard.path.name))


def _versions(path: Path) -> list[Path]:
    """The folders name/1.0.0 that hold records."""
    if not path.is_dir():
        return []
    return sorted(p for p in path.iterdir() if _VERSION.fullmatch(p.name) and _shards(p))


def _chosen_shards(path: Path, findings: Findings) -> list[_Shard]:
    shards = _shards(path)
    if not shards:
        versions = _versions(path)
        if len(versions) != 1:
            names = ", ".join(version.name for version in versions) or "none"
            raise RolloutError(f"{path}: name one of the versions it holds: {names}")
        shards = _shards(versions[0])
    if path.is_file():
        return shards
    _notice_splits(shards, findings)
    for stem in dict.fromkeys(shard.stem for shard in shards):
        group = [shard for shard in shards if shard.stem == stem]
        absent = group[0].count - len(group)
        if absent > 0:
            findings.damage(
                f"{group[0].path.parent}: {absent} of {group[0].count} files of {stem} are missing"
            )
    return shards


def _notice_splits(shards: Sequence[_Shard], findings: Findings) -> None:
    """Episodes on which a policy was trained and others are seldom meant to be one data set."""
    splits = list(dict.fromkeys(shard.split for shard in shards))
    if len(splits) > 1:
        findings.notice(
            f"{shards[0].path.parent}: holds the splits {', '.join(splits)}, which are read as one "
            "data set; a folder with the files of one split, or one file, is read by itself"
        )


def _promised_records(folder: Path, findings: Findings) -> dict[tuple[str, int], int]:
    """Records per (split, shard) as dataset_info.json has them; empty if it says nothing."""
    path = folder / "dataset_info.json"
    if not path.exists():
        return {}
    try:
        if not path.is_file():  # reading a pipe would wait for ever
            raise OSError("is no regular file")
        splits: Any = json.loads(path.read_text(encoding="utf-8"))["splits"]
        return {
            (str(split["name"]), index): int(length)
            for split in splits
            for index, length in enumerate(split.get("shardLengths", ()))
        }
    except _JSON_ERRORS as error:
        problem = f"cannot be read ({type(error).__name__}: {error})"
        findings.damage(explained(path, problem))
        return {}


def _short_names(shards: Sequence[_Shard]) -> dict[Path, str]:
    """What episode ids call each file: train-00003, or the file name where that is ambiguous."""
    short = {shard.path: f"{shard.split}-{shard.index:05d}" for shard in shards}
    if len(set(short.values())) < len(shards):
        return {shard.path: shard.path.name for shard in shards}
    return short
