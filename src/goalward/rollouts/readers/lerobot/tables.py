"""The frame tables of a LeRobot data set: one row per frame, in parquet files."""

# pyright: standard
# (pyarrow ships no type stubs)

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from goalward.errors import RolloutError
from goalward.rollouts.readers.lerobot.layout import read_table


@dataclass(frozen=True)
class EpisodeTable:
    """The rows of one episode: numbers by column, and where they lie in the file."""

    num_frames: int
    columns: Mapping[str, npt.NDArray[Any]]
    rows: npt.NDArray[np.int64]


def episode_tables(
    path: Path, *, required: Sequence[str], optional: Sequence[str], packs_episodes: bool
) -> Callable[[int], EpisodeTable]:
    """A function that gives the table of one episode out of this file."""
    if not path.is_file():
        raise RolloutError(f"{path}: the data file is missing")
    available = _column_names(path)
    keys = ["episode_index", "frame_index"] if packs_episodes else ["frame_index"]
    for name in (*keys, *required):
        if name not in available:
            raise RolloutError(f"{path}: no column {name}")
    wanted = dict.fromkeys([*keys, *required, *(name for name in optional if name in available)])
    table = read_table(path, list(wanted))
    values = {name: _as_array(table.column(name), name, path) for name in wanted}
    frame_index = values.pop("frame_index")
    episode_index = values.pop("episode_index", np.zeros(len(frame_index), dtype=np.int64))
    order = np.lexsort((frame_index, episode_index))
    episodes, starts = np.unique(episode_index[order], return_index=True)
    rows_of = dict(zip(episodes.tolist(), np.split(order, starts[1:]), strict=True))

    def table_of(index: int) -> EpisodeTable:
        rows = rows_of.get(index if packs_episodes else 0, np.zeros(0, dtype=np.int64))
        if not np.array_equal(frame_index[rows], np.arange(len(rows))):
            raise RolloutError(f"{path}: frame_index of episode {index} is not 0, 1, 2, ...")
        return EpisodeTable(len(rows), {n: column[rows] for n, column in values.items()}, rows)

    return table_of


def _column_names(path: Path) -> list[str]:
    try:
        return pq.read_schema(path).names
    except (pa.ArrowException, OSError, ValueError) as error:
        raise RolloutError(f"{path}: not a readable parquet file ({error})") from error


def _as_array(column: pa.ChunkedArray, name: str, path: Path) -> npt.NDArray[Any]:
    """A column as (rows,) or (rows, size); missing numbers become NaN."""
    try:
        whole = column.combine_chunks()
        if not isinstance(whole, pa.Array):
            whole = pa.concat_arrays(whole.chunks)
        kind = whole.type
        if not pa.types.is_nested(kind):
            return whole.to_numpy(zero_copy_only=False)
        if whole.null_count:
            raise RolloutError(f"{path}: column {name} has empty rows")
        flat = whole.flatten()
        if pa.types.is_nested(flat.type):
            raise RolloutError(f"{path}: column {name} is nested too deeply")
        if len(whole) == 0 or len(flat) % len(whole):
            raise RolloutError(f"{path}: column {name} has rows of different length")
        matrix = flat.to_numpy(zero_copy_only=False).reshape(len(whole), -1)
        if not pa.types.is_fixed_size_list(kind):
            lengths = np.diff(whole.offsets.to_numpy(zero_copy_only=False))
            if (lengths != matrix.shape[1]).any():
                raise RolloutError(f"{path}: column {name} has rows of different length")
        # Shape-(1,) features are scalars in 3.0 and lists of one in some 2.x files.
        return matrix[:, 0] if matrix.shape[1] == 1 else matrix
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise RolloutError(f"{path}: column {name} cannot be read ({error})") from error
