"""Which episodes go where: into a view, to the test side, into a balanced sample."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError
from goalward.rollouts.episode import Episode
from goalward.seeds import generator


def chosen_positions(positions: npt.ArrayLike, num_episodes: int) -> npt.NDArray[np.int64]:
    """Positions from 0 in the order asked for; a boolean array means those where it is true.

    >>> chosen_positions([-1, 0], 3), chosen_positions([True, False, True], 3)
    (array([2, 0]), array([0, 2]))
    """
    chosen = np.asarray(positions)
    if chosen.dtype == np.bool_:
        if chosen.shape != (num_episodes,):
            raise ValueError(f"{num_episodes} episodes, but a mask of shape {chosen.shape}")
        chosen = np.flatnonzero(chosen)
    if chosen.size and chosen.dtype.kind not in "iu":
        raise ValueError(f"positions must be whole numbers, got {chosen.dtype}")
    if chosen.ndim != 1:
        raise ValueError(f"positions must be a list of numbers, got shape {chosen.shape}")
    beyond = chosen[(chosen < -num_episodes) | (chosen >= num_episodes)]
    if beyond.size:
        raise IndexError(f"no position {beyond[0]} among {num_episodes} episodes")
    chosen = np.arange(num_episodes)[chosen.astype(np.int64)]
    if len(np.unique(chosen)) < len(chosen):
        raise ValueError("positions name an episode twice")
    return chosen


def split_positions(episodes: Sequence[Episode], test_fraction: float, seed: int) -> list[int]:
    """Positions of the test episodes, with every task and outcome in the same proportion."""
    if not 0 < test_fraction < 1:
        raise ValueError(f"test_fraction must lie between 0 and 1, got {test_fraction}")
    test: list[int] = []
    for kind, positions in _strata(episodes).items():
        shuffled = generator(seed, "split", *kind).permutation(positions)
        num_test = round(test_fraction * len(positions))
        if len(positions) > 1:
            num_test = min(max(num_test, 1), len(positions) - 1)
        test += shuffled[:num_test].tolist()
    return test


def _strata(episodes: Sequence[Episode]) -> dict[tuple[str, ...], list[int]]:
    """Positions by task and outcome; the only episode of its kind by outcome alone."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for position, episode in enumerate(episodes):
        groups.setdefault((episode.task, episode.outcome), []).append(position)
    strata = {kind: positions for kind, positions in groups.items() if len(positions) > 1}
    for (_, outcome), positions in groups.items():
        if len(positions) == 1:
            strata.setdefault((outcome,), []).extend(positions)
    return strata


def balanced_positions(success: npt.NDArray[np.bool_], num_episodes: int, seed: int) -> list[int]:
    """Positions of a random half of successes and half of the others, smaller inside larger."""
    if num_episodes < 2 or num_episodes % 2:
        raise ValueError(f"num_episodes must be even and at least 2, got {num_episodes}")
    chosen: list[int] = []
    for kind in (True, False):
        positions = np.flatnonzero(success == kind)
        if len(positions) < num_episodes // 2:
            words = "successes" if kind else "episodes without success"
            raise RolloutError(
                f"a balanced sample of {num_episodes} needs {num_episodes // 2} {words}, "
                f"there are {len(positions)}"
            )
        shuffled = generator(seed, "balanced", int(kind)).permutation(positions)
        chosen += shuffled[: num_episodes // 2].tolist()
    return sorted(chosen)
