"""Which episodes go where: to the test side, into a balanced sample."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError
from goalward.rollouts.episode import Episode
from goalward.seeds import generator


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
