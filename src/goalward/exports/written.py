"""What an export wrote, and what to do with it next."""

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from goalward.errors import GoalwardError, argument
from goalward.files import check_folder
from goalward.runs.run import Run
from goalward.runs.settings import RunEpisode

# The key under which a table says in its metadata who made it, and from what.
MADE_BY = b"goalward"


@dataclass(frozen=True)
class Written:
    """`next_step` says how the tool finds it; `notes` are what the user should know."""

    path: Path
    next_step: str
    notes: tuple[str, ...] = ()


def write_parquet(table: pa.Table, path: Path, made_with: dict[str, Any]) -> None:
    """A table that says in its metadata what it was made with."""
    table = table.replace_schema_metadata({MADE_BY: json.dumps(made_with, sort_keys=True)})
    pq.write_table(table, path)


def episode_paths(run: Run, positions: Sequence[int], out: Path, suffix: str) -> list[Path]:
    """A file for each of these episodes in the folder `out`; or `out`, if it is such a file's name.

    The folder is there afterwards, and can be written.
    """
    if out.suffix != suffix or out.is_dir():
        check_folder(out)
        return [out / f"{run.file_stem(position)}{suffix}" for position in positions]
    if len(positions) != 1:
        raise GoalwardError(
            f"{out}: one file holds one episode, but there are {len(positions)}; choose one with "
            f"{argument('episodes')} or give a folder"
        )
    return [out]


@contextmanager
def errors_of_episode(episode_id: str) -> Generator[None]:
    """Errors in here say which episode they are of: a file may hold the videos of many."""
    try:
        yield
    except GoalwardError as error:
        raise GoalwardError(f"episode {episode_id}: {error}") from error


def missing_note(num_episodes: int, num_frames: int, consequence: str) -> tuple[str, ...]:
    if not num_frames:
        return ()
    return (
        f"{num_frames} frames of {num_episodes} episodes of the data set have no values here: "
        + consequence,
    )


def optimism_note(episodes: Sequence[RunEpisode]) -> str | None:
    """A warning where values are of episodes that the networks learned from."""
    seen = sum(not episode.held_out for episode in episodes)
    if not seen:
        return None
    return (
        f"{seen} of {len(episodes)} episodes were learned from, so their values are optimistic: "
        f"they know how it ended. An evaluation with {argument('folds', 4)} holds each episode out "
        "once"
    )
