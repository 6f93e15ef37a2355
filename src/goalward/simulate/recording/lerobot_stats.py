"""Statistics as LeRobot keeps them: of every episode beside its row, of all frames in stats.json.

Its delete, split and merge make the statistics of what is left from those of the episodes, and
policies that scale by quantiles (pi05 and its like) need q01 and q99.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from goalward.simulate.recording.episode_video import PictureColours

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
Stats = dict[str, Any]


def column_stats(tables: Sequence[pa.Table], name: str) -> Stats:
    """Of a column of frames; every statistic has an entry per number of the feature."""
    values = np.concatenate([_as_matrix(table.column(name)) for table in tables])
    quantiles = np.quantile(values, list(QUANTILES.values()), axis=0)
    return {
        "min": values.min(axis=0).tolist(),
        "max": values.max(axis=0).tolist(),
        "mean": values.mean(axis=0).tolist(),
        "std": values.std(axis=0).tolist(),
        "count": [len(values)],
        **dict(zip(QUANTILES, quantiles.tolist(), strict=True)),
    }


def _as_matrix(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    whole: Any = column.combine_chunks()
    if pa.types.is_fixed_size_list(whole.type):
        whole = whole.flatten()
    values = whole.to_numpy(zero_copy_only=False).astype(np.float64)
    return values.reshape(len(column), -1)


def picture_stats(colours: PictureColours) -> Stats:
    """By colour, from 0 to 1, in the library's shape: (3, 1, 1).

    >>> counts = np.zeros((3, 256), dtype=np.int64)
    >>> counts[:, [0, 255]] = 5
    >>> stats = picture_stats(PictureColours(1, counts))
    >>> stats["mean"][0], stats["std"][0], stats["q10"][0], stats["q90"][0]
    ([[0.5]], [[0.5]], [[0.0]], [[1.0]])
    """
    levels = np.arange(colours.counts.shape[1])
    found: dict[str, list[float]] = {name: [] for name in ("min", "max", "mean", "std", *QUANTILES)}
    for counts in colours.counts:
        there, total = np.flatnonzero(counts), int(counts.sum())
        mean = int((counts * levels).sum()) / total
        square = int((counts * levels**2).sum()) / total
        found["min"].append(float(there[0]))
        found["max"].append(float(there[-1]))
        found["mean"].append(mean)
        found["std"].append(math.sqrt(max(square - mean**2, 0.0)))
        for name, share in QUANTILES.items():
            found[name].append(float(np.searchsorted(np.cumsum(counts), share * total)))
    by_name = {name: [[[value / 255]] for value in values] for name, values in found.items()}
    return {**by_name, "count": [colours.num_pictures]}


def episode_columns(stats: Mapping[str, Stats]) -> dict[str, Any]:
    """The statistics of one episode as columns of its row.

    >>> episode_columns({"action": {"min": [0.0], "count": [3]}})
    {'stats/action/min': [0.0], 'stats/action/count': [3]}
    """
    return {
        f"stats/{feature}/{name}": value
        for feature, found in stats.items()
        for name, value in found.items()
    }
