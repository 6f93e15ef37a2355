"""The list of episodes of a LeRobot data set, with the files of each.

Version 3.0 packs many episodes into one parquet and one mp4 file; version 2.x has one of each
per episode. Both end as a list of `EpisodeEntry`.
"""

# pyright: standard
# (json gives untyped values; they are checked here at run time)

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from goalward.errors import RolloutError
from goalward.git_lfs import NOT_FETCHED, is_pointer_file
from goalward.rollouts.findings import Findings
from goalward.rollouts.readers.lerobot.info import Info
from goalward.rollouts.readers.lerobot.tables import read_columns

# Ten times what DROID has, one of the largest; about a gigabyte of memory.
_MOST_EPISODES = 1_000_000
# A list may name an episode again, by an accident of merging.
_MOST_REPEATS = 10_000


@dataclass(frozen=True)
class EpisodeEntry:
    """One line of the list of episodes.

    `numbers` fill the path templates, `window_s` says where each camera's part begins and ends
    in its video file (nothing if the file holds this episode alone).
    """

    episode_index: int
    length: int | None
    task: str | None
    numbers: Mapping[str, int]
    camera_numbers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    window_s: Mapping[str, tuple[float, float | None]] = field(default_factory=dict)
    fields: Mapping[str, object] = field(default_factory=dict)


def read_episodes(root: Path, info: Info, findings: Findings) -> list[EpisodeEntry]:
    """The list of episodes in order; an index named twice is kept once."""
    if info.packs_episodes:
        entries = _packed_entries(root, info.fps, findings)
    else:
        entries = _single_entries(root, info)
    by_index: dict[int, EpisodeEntry | None] = {}
    for entry in entries:
        index = entry.episode_index
        if index not in by_index:
            by_index[index] = entry
        elif by_index[index] == entry:
            findings.damage(f"{root / 'meta'}: episode {index} is listed twice")
        elif by_index[index] is not None:
            findings.leave_out(str(index), f"{root / 'meta'}: is listed twice and differently")
            by_index[index] = None
    num_listed = len(by_index) + len(findings.left_out)
    if info.total_episodes is not None and info.total_episodes != num_listed:
        findings.damage(
            f"{info.path}: promises {info.total_episodes} episodes, {num_listed} are listed"
        )
    return [entry for _, entry in sorted(by_index.items()) if entry is not None]


def _packed_entries(root: Path, fps: float, findings: Findings) -> Iterable[EpisodeEntry]:
    folder = root / "meta" / "episodes"
    files = sorted(folder.glob("*/*.parquet"))
    if not files:
        raise RolloutError(f"{folder}: the list of episodes is missing")
    readable = 0
    for path in files:
        try:
            rows = _listed(path)
        except RolloutError as error:
            findings.damage(str(error))
            continue
        readable += 1
        for row in rows:
            try:
                yield _packed_entry(row, fps, path)
            except RolloutError as error:
                findings.leave_out(str(row.get("episode_index")), str(error))
    if not readable:
        raise RolloutError(
            " ".join([f"{folder}: the list of episodes cannot be read.", *findings.warnings])
        )


def _listed(path: Path) -> list[dict[str, Any]]:
    """The rows of one file of the list; RolloutError if it is not a list of episodes."""
    table = read_columns(path, _without_statistics, most_rows=_MOST_EPISODES)
    if "episode_index" not in table.column_names:
        raise RolloutError(f"{path}: no column episode_index")
    try:
        named = len(table.column("episode_index").unique())
        if len(table) - named > _MOST_REPEATS:
            raise RolloutError(f"{path}: has {len(table):,} rows for {named:,} episodes")
        return table.to_pylist()
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise RolloutError(f"{path}: is no list of episodes ({error})") from error


def _as_number(value: object) -> float | None:
    """None for an empty cell, and for NaN, which merged tables have in its place."""
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None


def _without_statistics(names: list[str]) -> list[str]:
    """They make up most of the file and are not needed."""
    return [name for name in names if not name.startswith("stats/")]


def _packed_entry(row: Mapping[str, Any], fps: float, path: Path) -> EpisodeEntry:
    try:
        length = None if row.get("length") is None else int(row["length"])
        numbers = {
            "chunk_index": int(row["data/chunk_index"]),
            "file_index": int(row["data/file_index"]),
        }
        cameras = [
            name.removeprefix("videos/").removesuffix("/from_timestamp")
            for name, value in row.items()
            if name.startswith("videos/")
            and name.endswith("/from_timestamp")
            and _as_number(value) is not None
        ]
        return EpisodeEntry(
            episode_index=int(row["episode_index"]),
            length=length,
            task=_first_task(row.get("tasks")),
            numbers=numbers,
            camera_numbers={
                camera: {
                    "chunk_index": int(row[f"videos/{camera}/chunk_index"]),
                    "file_index": int(row[f"videos/{camera}/file_index"]),
                }
                for camera in cameras
            },
            window_s={
                camera: _window_s(
                    float(row[f"videos/{camera}/from_timestamp"]),
                    _as_number(row.get(f"videos/{camera}/to_timestamp")),
                    length,
                    fps,
                )
                for camera in cameras
            },
            fields={name: value for name, value in row.items() if "/" not in name},
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        problem = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise RolloutError(
            f"{path}: the entry of episode {row.get('episode_index')} is damaged ({problem})"
        ) from error


def _window_s(
    start_s: float, end_s: float | None, length: int | None, fps: float
) -> tuple[float, float | None]:
    """The part of a video that is an episode's, up to where the next one may begin.

    Writers give the time at which the last frame ends, or that at which it is first shown.

    >>> _window_s(2.0, 2.4, 5, 10.0), _window_s(2.0, 2.5, 5, 10.0)
    ((2.0, 2.5), (2.0, 2.5))
    """
    if end_s is not None and length is not None:
        last_s = start_s + (length - 1) / fps
        if abs(end_s - last_s) < 0.25 / fps:
            return start_s, last_s + 1 / fps
    return start_s, end_s


def _single_entries(root: Path, info: Info) -> Iterable[EpisodeEntry]:
    path = root / "meta" / "episodes.jsonl"
    for number, row in enumerate(_json_lines(path), start=1):
        try:
            index = int(row["episode_index"])
            length = None if row.get("length") is None else int(row["length"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise RolloutError(f"{path}, line {number}: no usable episode_index") from error
        yield EpisodeEntry(
            episode_index=index,
            length=length,
            task=_first_task(row.get("tasks")),
            # Some 2.1 data sets write {chunk_index} in their templates.
            numbers={
                "episode_index": index,
                "episode_chunk": index // info.chunks_size,
                "chunk_index": index // info.chunks_size,
            },
            fields=row,
        )


def _json_lines(path: Path) -> Iterable[dict[str, Any]]:
    if path.exists() and not path.is_file():  # opening a pipe would wait for ever
        raise RolloutError(f"{path}: is not a file")
    if is_pointer_file(path):
        raise RolloutError(f"{path}: {NOT_FETCHED}")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise RolloutError(f"{path}: the list of episodes cannot be read ({error})") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise RolloutError(f"{path}, line {number}: not readable as json ({error})") from error
        if not isinstance(row, dict):
            raise RolloutError(f"{path}, line {number}: wanted an object")
        yield row


def read_tasks(root: Path, findings: Findings) -> dict[int, str]:
    """Task texts by task_index, for lists of episodes that do not spell them out."""
    meta = root / "meta"
    path = meta / "tasks.parquet"
    path = path if path.exists() else meta / "tasks.jsonl"
    if not path.exists():
        return {}
    try:
        if path.suffix == ".parquet":
            stored = read_columns(path, lambda names: names, most_rows=_MOST_EPISODES)
            table = stored.to_pydict()
            # The text is an index column without a name in some versions.
            texts = next((table[name] for name in table if name != "task_index"), [])
            pairs = zip(table.get("task_index", []), texts, strict=True)
        else:
            rows = list(_json_lines(path))
            pairs = [(row.get("task_index"), row.get("task")) for row in rows]
        return {int(number): str(text) for number, text in pairs if number is not None}
    except RolloutError as error:
        findings.damage(str(error))
    except (TypeError, ValueError) as error:
        findings.damage(f"{path}: is no list of tasks ({error})")
    return {}


def _first_task(tasks: object) -> str | None:
    if isinstance(tasks, str):
        return tasks
    if isinstance(tasks, Sequence) and tasks and isinstance(tasks[0], str):
        return tasks[0]
    return None
