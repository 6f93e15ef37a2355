"""Arrays that may be larger than memory: beyond a size they lie in a file without a name.

The file is mapped: pages come in when they are read, and the system takes them back when memory is
short. It goes when the array does, however the process ends.
"""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.files import reserve
from goalward.urls import as_url, without_file_protocol

# Arrays above this size are kept in a file, not in memory.
IN_MEMORY_BYTES = 2 << 30
_ROWS_AT_A_TIME = 1 << 14


def _own_folder() -> Path:
    """Where the cache lies on this machine; one in a store does without these files."""
    named = os.environ.get("GOALWARD_CACHE")
    if named and as_url(named) is None:
        return without_file_protocol(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("goalward", appauthor=False))


def empty_array(
    shape: tuple[int, ...],
    dtype: npt.DTypeLike,
    *,
    most_bytes: int | None = None,
    folder: Path | None = None,
) -> npt.NDArray[Any]:
    """An array to be filled; in a file under `folder`, or under the cache, if it is large."""
    num_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if num_bytes <= (IN_MEMORY_BYTES if most_bytes is None else most_bytes) or num_bytes == 0:
        return np.empty(shape, dtype=dtype)
    folder = _own_folder() if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        reserve(file, num_bytes, folder)
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


def gathered(
    parts: Iterable[npt.NDArray[Any]],
    shape: tuple[int, ...],
    dtype: npt.DTypeLike,
    *,
    most_bytes: int | None = None,
    folder: Path | None = None,
) -> npt.NDArray[Any]:
    """Parts one after the other in one array.

    >>> gathered([np.ones((1, 2)), np.zeros((2, 2))], (3, 2), np.float32)[:, 0].tolist()
    [1.0, 0.0, 0.0]
    """
    whole = empty_array(shape, dtype, most_bytes=most_bytes, folder=folder)
    row = 0
    for part in parts:
        whole[row : row + len(part)] = part
        row += len(part)
    return whole


def taken(
    array: npt.NDArray[Any], rows: npt.NDArray[np.int64], most_bytes: int | None = None
) -> npt.NDArray[Any]:
    """Rows of an array, as `array[rows]` has them."""
    shape = (len(rows), *array.shape[1:])
    parts = (array[rows[at : at + _ROWS_AT_A_TIME]] for at in range(0, len(rows), _ROWS_AT_A_TIME))
    return gathered(parts, shape, array.dtype, most_bytes=most_bytes)
