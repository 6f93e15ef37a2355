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
from goalward.git_lfs import explained

# Equal values pack so tightly that a file of 100 kB can hold millions of rows. One file with so
# many numbers (2 GB of memory), and fewer than a byte for each of them, is no recording.
_MANY_NUMBERS = 250_000_000


def read_columns(
    path: Path, choose: Callable[[list[str]], list[str]], *, most_rows: int | None = None
) -> pa.Table:
    """The columns of a parquet file that `choose` picks from their names; errors name the file.

    How much the file claims to hold is checked before memory is asked for it.
    """
    if not path.is_file():
        problem = "is not a file" if path.exists() else "the data file is missing"
        raise RolloutError(f"{path}: {problem}")
    try:
        # Checksums are verified where the writer stored them, which few do. Threads and read-ahead
        # only cost time on files this small. Absolute, as pyarrow takes a folder that is called ~
        # for that of the user.
        place = path.absolute()
        with pq.ParquetFile(place, page_checksum_verification=True, pre_buffer=False) as file:
            names = choose(file.schema_arrow.names)
            _check_claims(path, file.metadata, names, most_rows)
            return file.read(columns=names, use_threads=False)
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
        problem = f"not a readable parquet file ({error})"
        raise RolloutError(explained(path, problem)) from error


def _check_claims(path: Path, claimed: Any, names: Sequence[str], most_rows: int | None) -> None:
    if most_rows is not None and claimed.num_rows > most_rows:
        raise RolloutError(
            f"{path}: claims {claimed.num_rows:,} rows, more than the {most_rows:,} that are read"
        )
    inside = tuple(f"{name}." for name in names)
    lists = [
        position
        for position in range(claimed.num_columns)
        if claimed.schema.column(position).path.startswith(inside)
    ]
    num_numbers = claimed.num_rows * len(names) + sum(
        claimed.row_group(group).column(position).num_values
        for group in range(claimed.num_row_groups)
        for position in lists
    )
    num_bytes = path.stat().st_size
    if num_numbers > max(_MANY_NUMBERS, num_bytes):
        raise RolloutError(f"{path}: claims {num_numbers:,} numbers in {num_bytes:,} bytes")


@dataclass(frozen=True)
class EpisodeTable:
    """The rows of one episode: numbers by column, and where they lie in the file."""

    num_frames: int
    columns: Mapping[str, npt.NDArray[Any]]
    rows: npt.NDArray[np.int64]


class FrameTables:
    """The episodes of one data file.

    `required` columns must be there, `optional` ones are read if they are. `column_names` are
    all that the file has.
    """

    def __init__(
        self, path: Path, *, required: Sequence[str], optional: Sequence[str], packs_episodes: bool
    ) -> None:
        self._path = path
        self._packs_episodes = packs_episodes
        self.column_names: list[str] = []

        def choose(names: list[str]) -> list[str]:
            self.column_names = names
            keys = ["episode_index", "frame_index"] if packs_episodes else ["frame_index"]
            for name in (*keys, *required):
                if name not in names:
                    raise RolloutError(f"{path}: no column {name}")
            wanted = [*keys, *required, *optional, "episode_index"]
            return [name for name in dict.fromkeys(wanted) if name in names]

        table = read_columns(path, choose)
        if len(table) == 0:
            raise RolloutError(f"{path}: holds no rows")
        # Lists that no row has, actions say, are as good as no column.
        values = {
            name: _as_array(column, name, path)
            for name, column in zip(table.column_names, table.columns, strict=True)
            if name in required or not _is_empty(column)
        }
        self._frame_index = values.pop("frame_index")
        episode_index = values.pop("episode_index", None)
        # In 2.x the file's name says which episode it is; the column must not say another.
        self._stated_index = None if packs_episodes else episode_index
        if episode_index is None or not packs_episodes:
            episode_index = np.zeros(len(table), dtype=np.int64)
        self._values = values
        order = np.lexsort((self._frame_index, episode_index))
        episodes, starts = np.unique(episode_index[order], return_index=True)
        self._rows = dict(zip(episodes.tolist(), np.split(order, starts[1:]), strict=True))

    def episode(self, index: int) -> EpisodeTable:
        """The rows of this episode in order of time; none if the file does not hold it."""
        if self._stated_index is not None and (self._stated_index != index).any():
            raise RolloutError(f"{self._path}: holds another episode, going by episode_index")
        rows = self._rows.get(index if self._packs_episodes else 0, np.zeros(0, dtype=np.int64))
        if not np.array_equal(self._frame_index[rows], np.arange(len(rows))):
            raise RolloutError(f"{self._path}: frame_index of episode {index} is not 0, 1, 2, ...")
        columns = {name: column[rows] for name, column in self._values.items()}
        return EpisodeTable(len(rows), columns, rows)


def _is_empty(column: pa.ChunkedArray) -> bool:
    return pa.types.is_nested(column.type) and column.null_count == len(column)


def _as_array(column: pa.ChunkedArray, name: str, path: Path) -> npt.NDArray[Any]:
    """A column as (rows,) or (rows, size); missing numbers become NaN."""
    try:
        whole = column.combine_chunks()
        if not isinstance(whole, pa.Array):
            whole = pa.concat_arrays(whole.chunks)
        kind = whole.type
        if not pa.types.is_nested(kind):
            return whole.to_numpy(zero_copy_only=False)
        if not (
            pa.types.is_list(kind)
            or pa.types.is_large_list(kind)
            or pa.types.is_fixed_size_list(kind)
        ):
            raise RolloutError(f"{path}: column {name} holds {kind}, not numbers")
        is_there = whole.is_valid().to_numpy(zero_copy_only=False)
        num_there = int(is_there.sum())
        if len(whole) and not num_there:
            raise RolloutError(f"{path}: column {name} has empty rows alone")
        flat = whole.flatten()
        if pa.types.is_nested(flat.type):
            raise RolloutError(f"{path}: column {name} is nested too deeply")
        if len(whole) == 0 or len(flat) % num_there:
            raise RolloutError(f"{path}: column {name} has rows of different length")
        matrix = flat.to_numpy(zero_copy_only=False).reshape(num_there, -1)
        if not pa.types.is_fixed_size_list(kind):
            lengths = np.diff(whole.offsets.to_numpy(zero_copy_only=False))[is_there]
            if (lengths != matrix.shape[1]).any():
                raise RolloutError(f"{path}: column {name} has rows of different length")
        if num_there < len(whole):
            # Some episodes may have no action, say; the others do not suffer for it.
            filled = np.full((len(whole), matrix.shape[1]), np.nan)
            filled[is_there] = matrix
            matrix = filled
        # Shape-(1,) features are scalars in 3.0 and lists of one in some 2.x files.
        return matrix[:, 0] if matrix.shape[1] == 1 else matrix
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise RolloutError(f"{path}: column {name} cannot be read ({error})") from error
