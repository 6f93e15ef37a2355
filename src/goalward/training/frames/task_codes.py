"""Which task a frame is of, as numbers that a network of many tasks sees beside the frame.

One network for all tasks learns from all episodes what they have in common; told the task, it can
tell apart what differs. Where the tasks are known by their text (an encoder with a text tower), its
embedding is the code, and tasks that read alike are alike. Elsewhere each task has a direction of
its own: the first layer of a network then learns a vector per task.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goalward.seeds import generator

FloatArray = npt.NDArray[np.float32]
# Length of a code: two tasks are well apart beside the noise that inputs are shaken with.
_LENGTH = 2.0
# So many tasks have directions at right angles; more share the space, at nearly right angles.
_MOST_DIRECTIONS = 64
_MOST_OF_TEXT = 16


@dataclass(frozen=True, eq=False)
class TaskCodes:
    """The code of every task that was learned from, (tasks, size); any other task has none: 0."""

    tasks: tuple[str, ...]
    codes: FloatArray

    @property
    def size(self) -> int:
        return self.codes.shape[1]

    def of(self, tasks: Sequence[str]) -> FloatArray:
        """(len(tasks), size)

        >>> codes = task_codes(["lift", "push"])
        >>> codes.of(["push", "never seen"]).round(1).tolist()
        [[0.0, 2.0], [0.0, 0.0]]
        """
        place = {task: position for position, task in enumerate(self.tasks)}
        found = np.zeros((len(tasks), self.size), dtype=np.float32)
        known = [position for position, task in enumerate(tasks) if task in place]
        found[known] = self.codes[[place[tasks[position]] for position in known]]
        return found


def task_codes(
    tasks: Sequence[str], text_vectors: Mapping[str, npt.ArrayLike] | None = None
) -> TaskCodes:
    """A code for each of these tasks: of its text where every one has a vector, else its own.

    Texts that differ only after the last word that an encoder reads have one vector. Two tasks with
    one code could not be told apart, so then too each has its own.
    """
    names = tuple(dict.fromkeys(tasks))
    codes = _directions(len(names))
    if text_vectors and all(name in text_vectors for name in names):
        vectors = np.array([text_vectors[name] for name in names], dtype=np.float64)
        if len(np.unique(vectors, axis=0)) == len(names):
            codes = _of_text(vectors)
    return TaskCodes(names, (_LENGTH * codes).astype(np.float32))


def _directions(number: int) -> npt.NDArray[np.float64]:
    """Unit vectors, one for each of some tasks."""
    if number <= _MOST_DIRECTIONS:
        return np.eye(number)
    signs = generator(0, "task codes").choice([-1.0, 1.0], (number, _MOST_DIRECTIONS))
    return signs / np.sqrt(_MOST_DIRECTIONS)


def _of_text(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The directions in which texts differ most, of length 1 in the mean."""
    centred = vectors - vectors.mean(axis=0)
    left, spread, _ = np.linalg.svd(centred, full_matrices=False)
    kept = max(min(_MOST_OF_TEXT, int((spread > 1e-6 * max(spread[0], 1e-12)).sum())), 1)
    codes = left[:, :kept] * spread[:kept]
    length = np.sqrt((codes**2).sum(axis=1).mean())
    return codes / max(length, 1e-12)
