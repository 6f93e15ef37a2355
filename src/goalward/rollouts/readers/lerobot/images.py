"""The pictures of a LeRobot data set that lie in its tables, or in files that these name."""

# pyright: standard
# (pyarrow ships no type stubs)

import functools
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from goalward.errors import RolloutError
from goalward.rollouts.frames import EncodedFrames
from goalward.rollouts.readers.lerobot.info import Info
from goalward.rollouts.readers.lerobot.paths import is_inside
from goalward.rollouts.readers.lerobot.tables import EpisodeTable


def image_frames(path: Path, camera: str, table: EpisodeTable, info: Info) -> EncodedFrames:
    """Pictures stored in the cells of the frame table."""
    _check_images(path, camera, table.rows, info.root)
    shape = info.shape(camera)
    channels_first = len(shape) == 3 and shape[0] in (1, 3) and shape[2] not in (1, 3)
    height, width = (0, 0) if len(shape) != 3 else shape[1:] if channels_first else shape[:2]
    return EncodedFrames(
        # Not a lambda: clips travel to other processes.
        load=functools.partial(
            _encoded_images, path, camera, table.rows, info.root, path.stat().st_size
        ),
        num_frames=table.num_frames,
        where=f"{path}, {camera}",
        height=height,
        width=width,
        codec="png",
    )


def _check_images(path: Path, camera: str, rows: npt.NDArray[np.int64], root: Path) -> None:
    """That every cell has its picture, by the file's statistics where they say so."""
    if _num_empty(path, camera) == 0:
        return
    for cell in _cells(path, camera, rows):
        if isinstance(cell, dict) and not isinstance(cell.get("bytes"), bytes):
            relative = cell.get("path")
            if isinstance(relative, str) and is_inside(relative) and (root / relative).is_file():
                continue
            raise RolloutError(f"{root / str(relative)}: the image is missing")
        if not isinstance(cell, dict | bytes):
            raise RolloutError(f"{path}: {camera} has empty cells")


@functools.lru_cache(maxsize=1024)
def _num_empty(path: Path, camera: str) -> int | None:
    """Cells of an image column without bytes, by the file's own statistics; None: not known."""
    try:
        metadata = pq.read_metadata(path.absolute())
        total = 0
        for group in range(metadata.num_row_groups):
            for position in range(metadata.num_columns):
                column = metadata.row_group(group).column(position)
                if column.path_in_schema in (camera, f"{camera}.bytes"):
                    if column.statistics is None or not column.statistics.has_null_count:
                        return None
                    total += column.statistics.null_count
        return total
    except (pa.ArrowException, OSError, ValueError) as error:
        raise RolloutError(f"{path}: not a readable parquet file ({error})") from error


def _encoded_images(
    path: Path, camera: str, rows: npt.NDArray[np.int64], root: Path, num_bytes: int
) -> list[bytes]:
    """The stored pictures in these rows of a file that is still as long as it was."""
    if path.is_file() and path.stat().st_size != num_bytes:
        raise RolloutError(f"{path}: has changed since the data set was opened")
    return [_image_bytes(cell, path, root) for cell in _cells(path, camera, rows)]


def _cells(path: Path, camera: str, rows: npt.NDArray[np.int64]) -> list[object]:
    """The cells in these rows; only the row groups that hold them are read."""
    try:
        with pq.ParquetFile(path.absolute(), page_checksum_verification=True) as file:
            counts = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
            ends = np.cumsum(counts)
            groups = np.unique(np.searchsorted(ends, rows, side="right"))
            table = file.read_row_groups(groups.tolist(), columns=[camera])
            kept = np.flatnonzero(np.isin(np.repeat(np.arange(len(counts)), counts), groups))
            return table.column(camera).take(pa.array(np.searchsorted(kept, rows))).to_pylist()
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError, MemoryError) as error:
        raise RolloutError(f"{path}: images of {camera} cannot be read ({error})") from error


def _image_bytes(cell: object, path: Path, root: Path) -> bytes:
    """A cell is a struct of the picture's bytes and, in older files, a path to it instead."""
    if isinstance(cell, bytes):
        return cell
    if isinstance(cell, dict):
        if isinstance(cell.get("bytes"), bytes):
            return cell["bytes"]
        relative = cell.get("path")
        if isinstance(relative, str) and is_inside(relative):
            try:
                return (root / relative).read_bytes()
            except OSError as error:
                raise RolloutError(f"{root / relative}: the image is missing ({error})") from error
    raise RolloutError(f"{path}: holds neither an image nor a path to one")
