"""One vector per picture: pooled over all of it, or over the cells of a grid.

`global` is the paper's and the model's own; a grid keeps where things are in the picture, at the
price of as many times the numbers as it has cells.
"""

import re
from typing import TYPE_CHECKING

from goalward.errors import GoalwardError

if TYPE_CHECKING:
    from torch import Tensor

_LARGEST_GRID = 7


def grid_of(pool: str) -> int | None:
    """How many cells the grid has along each side; None for `global`.

    >>> grid_of("global"), grid_of("grid3")
    (None, 3)
    """
    if pool == "global":
        return None
    match = re.fullmatch(r"grid([1-9])", pool)
    if match is None or int(match[1]) > _LARGEST_GRID:
        raise GoalwardError(f"no pooling {pool!r}; there are global, grid2, grid3, ... grid7")
    return int(match[1])


def pooled_over_grid(feature_map: "Tensor", grid: int) -> "Tensor":
    """(images, size, height, width) -> (images, grid * grid * size), cells in reading order.

    Where the map does not divide evenly, neighbouring cells share a row or column of it.
    """
    height, width = feature_map.shape[2:]
    along_columns = _cell_means(int(height), grid).to(feature_map)
    along_rows = _cell_means(int(width), grid).to(feature_map)
    # Two products instead of a pooling operator, which ONNX does not have for such cells.
    cells = along_columns @ feature_map @ along_rows.T
    return cells.permute(0, 2, 3, 1).flatten(1)


def _cell_means(length: int, grid: int) -> "Tensor":
    """(grid, length): the weights of the mean over each cell."""
    import torch

    weights = torch.zeros(grid, length)
    for cell in range(grid):
        start, end = cell * length // grid, -(-(cell + 1) * length // grid)
        weights[cell, start:end] = 1 / (end - start)
    return weights
