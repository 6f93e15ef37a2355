"""Features: one row of numbers per frame, as the value networks take them.

    [camera 1's embedding, camera 2's embedding, ..., proprioception, features that were given]

and, where the policy saw several observations, the last of them side by side, oldest first.
Proprioception goes in as it was recorded: `goalward.fit` standardises every feature with the
mean and deviation over its own training episodes, and keeps both with the networks.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def observation(
    embeddings: Sequence[npt.NDArray[np.float16]], *numbers: npt.NDArray[np.floating]
) -> npt.NDArray[Any]:
    """What is known of each frame of an episode: cameras in order, then numbers.

    In float32 if proprioception is among them, whose small differences float16 would lose.

    >>> row = observation([np.ones((1, 2), np.float16)], np.array([[0.5]], np.float32))
    >>> row, row.dtype
    (array([[1. , 1. , 0.5]], dtype=float32), dtype('float32'))
    """
    parts = [*embeddings, *(part for part in numbers if part.shape[1])]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


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


def layout(
    encoder: str,
    cameras: Sequence[str],
    num_proprioceptive: int,
    n_obs_steps: int,
    *,
    num_given: int = 0,
    given: str = "",
    every: int = 1,
) -> str:
    """The features in words; value functions are asked only about features of the same words.

    `num_given` features were there before, which `given` described. With `every` above 1 cameras
    were looked at in one frame in so many.

    >>> layout("siglip2", ["front", "wrist"], 8, 1)
    'siglip2 of front, wrist; 8 proprioceptive numbers; 1 observation'
    >>> layout("siglip2", ["front"], 0, 2, num_given=3)
    'siglip2 of front; 0 proprioceptive numbers; 3 given features; 2 observations'
    >>> layout("siglip2", ["front"], 8, 1, every=3)
    'siglip2 of front in one frame of 3; 8 proprioceptive numbers; 1 observation'
    """
    observations = "observation" if n_obs_steps == 1 else "observations"
    how_often = "" if every == 1 else f" in one frame of {every}"
    parts = [f"{encoder} of {', '.join(cameras)}{how_often}"] if cameras else []
    parts.append(f"{num_proprioceptive} proprioceptive numbers")
    if num_given:
        parts.append(f"{num_given} given features" + (f" ({given})" if given else ""))
    return "; ".join([*parts, f"{n_obs_steps} {observations}"])
