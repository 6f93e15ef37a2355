"""How a prediction moves along an episode: towards the goal, and back."""

import math
from dataclasses import dataclass

import numpy as np

from goalward.metrics.uncertainty.weighing import FrameMean, Scale
from goalward.rollouts.endings import BoolArray, Endings, FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class Movement:
    """Per episode, how often a number fell from frame to frame, and its largest setback.

    Frames after the goal are not looked at. `num_moves` is (episodes,), one less than the frames;
    the rest is (runs, episodes). The largest setback is the most that the number ever stood
    above its lowest so far.
    """

    num_moves: IndexArray
    num_down: IndexArray
    largest_setback: FloatArray


def movement(numbers: FloatArray, endings: Endings, *, ceiling: float = math.inf) -> Movement:
    """Moves and setbacks of predicted steps, or of values: lower is nearer the goal.

    Above the `ceiling` all is equally far: steps are best cut at the horizon, where a change from
    300 to never is no news. From never to never nothing moves; a rise to never is infinite.

    >>> endings = Endings(np.array([6]), np.array([5]))
    >>> moves = movement(np.array([9.0, 4, 4, 7, 5, 0]), endings)
    >>> moves.num_moves, moves.num_down, moves.largest_setback
    (array([5]), array([[3]]), array([[3.]]))
    """
    numbers = np.minimum(np.atleast_2d(endings.per_frame(numbers)), ceiling)
    shape = (len(numbers), endings.num_episodes)
    num_down, largest = np.zeros(shape, np.int64), np.zeros(shape)
    stops = np.where(
        endings.success, endings.starts + endings.goal_frames + 1, endings.episode_ends
    )
    for episode, (start, stop) in enumerate(zip(endings.starts, stops, strict=True)):
        along = numbers[:, start:stop]
        num_down[:, episode] = (_difference(along[:, 1:], along[:, :-1]) < 0).sum(axis=1)
        lowest = np.minimum.accumulate(along, axis=1)
        largest[:, episode] = _difference(along, lowest).max(axis=1)
    return Movement(stops - endings.starts - 1, num_down, largest)


def forward_share(moves: Movement, episodes: BoolArray) -> FrameMean:
    """The share of moves that go down, towards the goal, in some of the episodes."""
    counted = episodes & (moves.num_moves > 0)
    down = moves.num_down[:, counted].astype(np.float64)
    return FrameMean(
        down,
        moves.num_moves[counted].astype(np.float64),
        scale="share",
        if_empty="no such episode with more than one frame",
    )


@dataclass(frozen=True, eq=False)
class EpisodeMedian:
    """The median over episodes of one number per episode, (runs, episodes).

    Halfway between the two middle ones if there are two; infinite if one of them is.
    """

    numbers: FloatArray
    if_empty: str = "no episodes"

    @property
    def scale(self) -> Scale:
        return "line"

    @property
    def strata(self) -> IndexArray:
        return np.zeros(int(self.numbers.shape[-1]), dtype=np.int64)

    @property
    def reasons(self) -> tuple[str, ...]:
        return ("" if len(self.strata) else self.if_empty,) * len(self.numbers)

    def weighed(self, weights: FloatArray) -> FloatArray:
        medians = np.empty((len(self.numbers), len(weights)))
        for row, run in enumerate(self.numbers):
            by_size = np.argsort(run, kind="stable")
            reached = np.cumsum(weights[:, by_size], axis=-1)
            half = reached[:, -1:] / 2
            lower, upper = (reached >= half).argmax(axis=-1), (reached > half).argmax(axis=-1)
            medians[row] = (run[by_size][lower] + run[by_size][upper]) / 2
        return medians

    def imagined(self) -> None:
        return None


def median_setback(moves: Movement, episodes: BoolArray) -> EpisodeMedian:
    """The median over some of the episodes of their largest setback."""
    return EpisodeMedian(moves.largest_setback[:, episodes], if_empty="no such episode")


def _difference(later: FloatArray, earlier: FloatArray) -> FloatArray:
    """later - earlier, where from never to never nothing changes."""
    moved = np.isfinite(later) | np.isfinite(earlier)
    return np.subtract(later, earlier, out=np.zeros_like(later), where=moved)
