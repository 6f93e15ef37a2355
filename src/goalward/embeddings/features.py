"""Features: one row of numbers per frame, as the value networks take them.

    [camera 1's embedding, camera 2's embedding, ..., proprioception]

and, where the policy saw several observations, the last of them side by side, oldest first.
Proprioception goes in as it was recorded: `goalward.fit` standardises every feature with the
mean and deviation over its own training episodes, and keeps both with the networks.
"""

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.files import reserve

# Features above this size are kept in a file, not in memory.
_IN_MEMORY_BYTES = 2 << 30


def observation(
    embeddings: Sequence[npt.NDArray[np.float16]], proprioception: npt.NDArray[np.float32]
) -> npt.NDArray[Any]:
    """What is known of each frame of an episode: cameras in order, then proprioception.

    In float32 if there is proprioception, whose small differences float16 would lose.

    >>> row = observation([np.ones((1, 2), np.float16)], np.array([[0.5]], np.float32))
    >>> row, row.dtype
    (array([[1. , 1. , 0.5]], dtype=float32), dtype('float32'))
    """
    parts = [*embeddings, proprioception] if proprioception.shape[1] else list(embeddings)
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts, axis=1, dtype=parts[-1].dtype)


def stacked(observations: npt.NDArray[Any], n_obs_steps: int) -> npt.NDArray[Any]:
    """The last `n_obs_steps` observations of every frame side by side, oldest first.

    Before the episode began the first one is repeated, as policies that see several do.

    >>> stacked(np.array([[1], [2], [3]]), 2).tolist()
    [[1, 1], [1, 2], [2, 3]]
    """
    if n_obs_steps == 1:
        return observations
    rows = np.arange(len(observations))
    back = range(n_obs_steps - 1, -1, -1)
    return np.concatenate([observations[np.maximum(rows - steps, 0)] for steps in back], axis=1)


def gathered(
    parts: Iterable[npt.NDArray[Any]], shape: tuple[int, int], dtype: npt.DTypeLike, folder: Path
) -> npt.NDArray[Any]:
    """Parts one after the other in one array; in a file under `folder` if that is large."""
    num_bytes = shape[0] * shape[1] * np.dtype(dtype).itemsize
    if num_bytes <= _IN_MEMORY_BYTES:
        whole = np.empty(shape, dtype=dtype)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        # The file has no name and goes when the array does.
        with tempfile.TemporaryFile(dir=folder) as file:
            reserve(file, num_bytes, folder)
            whole = np.memmap(file, dtype=dtype, mode="r+", shape=shape)
    row = 0
    for part in parts:
        whole[row : row + len(part)] = part
        row += len(part)
    return whole


def layout(encoder: str, cameras: Sequence[str], num_proprioceptive: int, n_obs_steps: int) -> str:
    """The features in words; value functions are asked only about features of the same words.

    >>> layout("siglip2", ["front", "wrist"], 8, 1)
    'siglip2 of front, wrist; 8 proprioceptive numbers; 1 observation'
    """
    observations = "observation" if n_obs_steps == 1 else "observations"
    parts = [f"{encoder} of {', '.join(cameras)}"] if cameras else []
    parts += [f"{num_proprioceptive} proprioceptive numbers", f"{n_obs_steps} {observations}"]
    return "; ".join(parts)
