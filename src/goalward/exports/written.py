"""What an export wrote, and what to do with it next."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

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


def missing_note(num_episodes: int, num_frames: int, consequence: str) -> tuple[str, ...]:
    if not num_frames:
        return ()
    return (
        f"{num_frames} frames of {num_episodes} episodes of the data set have no values here: "
        + consequence,
    )
