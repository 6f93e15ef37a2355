"""Numbers that were recorded along an episode and are shown to people: states and actions by name.

Nothing is learned from them: what networks see beside pictures is `Episode.proprioception`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Signal:
    """One number per frame, (frames,), and its name; what the policy commanded `is_action`."""

    name: str
    values: FloatArray
    is_action: bool = False


def signals_of(
    numbers: npt.ArrayLike, names: Sequence[str] | None, group: str, *, is_action: bool = False
) -> tuple[Signal, ...]:
    """The columns of an array, (frames, size), as signals.

    They are called by `names` where there is one for each, else by the group and their number;
    what is no array of numbers gives none: it is only for looking at.

    >>> [signal.name for signal in signals_of([[1, 2]], None, "action", is_action=True)]
    ['action 0', 'action 1']
    >>> [signal.name for signal in signals_of([[1, 2]], ["x", "y"], "state")]
    ['x', 'y']
    """
    array = np.asarray(numbers)
    if array.dtype.kind not in "biuf" or array.ndim == 0 or array.size == 0:
        return ()
    with np.errstate(over="ignore"):
        columns = array.reshape(len(array), -1).astype(np.float32)
    if names is None or len(names) != columns.shape[1]:
        names = (
            [group] if columns.shape[1] == 1 else [f"{group} {i}" for i in range(columns.shape[1])]
        )
    return tuple(
        Signal(str(name), np.ascontiguousarray(columns[:, i]), is_action)
        for i, name in enumerate(names)
    )
