"""The alarm: a band over time that nearly all successful episodes stay in for their whole length.

A functional conformal band (Diquigiovanni, Fontana and Vantini 2022; for robots Xu et al. 2025). Of
successes that no network learned from, some give the shape: the centre and the spread of the
value at every frame. The others say how wide it has to be: of each, the largest distance from the
centre in units of the spread, over the whole episode. With n of them, the k-th smallest of those,
k = ceil((n + 1) (1 - level)), is exceeded by a new success of the same kind with a chance of at
most `level`, anywhere in the episode, whatever values look like.

Where successes are at different places at the same time a band is wide, and slow to notice what no
success ever looked like. So there is a ceiling as well, the same at every frame: the distance of an
episode is the larger one of that from the centre and that from the mean of all frames, each in
units of the largest among the episodes that gave the shape. The bound is that of the one number.

Only what is worse is an alarm: a value is better the lower it is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError, argument
from goalward.seeds import generator

FloatArray = npt.NDArray[np.float64]
DEFAULT_LEVEL = 0.05
# Of the successes that nothing learned from, the share that gives the shape.
_SHAPE_SHARE = 1 / 3
# A spread below this would make every later difference an alarm.
_LEAST_SPREAD = 0.05
# The shape at a frame is the mean over so many frames on each side.
_SMOOTHING = 2
_FEWEST = 6


@dataclass(frozen=True)
class Band:
    """Above `centre + width * spread` at its frame a value is an alarm; later than the last frame
    its last entry holds. Above the `ceiling` it is one at any frame; earlier monitors have none.

    `level` is the bound on the share of successful episodes with an alarm, from `num_calibration`
    of them; `asked` the one that was wanted. With `from_folds` each was judged by those networks
    that never saw it, a new episode is by all of them: then the bound is not proven but measured.

    >>> band = Band((0.0, -0.5), (0.1, 0.1), width=2.0, level=0.05, asked=0.05, num_calibration=19)
    >>> band.limit(0), band.limit(9), band.is_alarm(1, -0.2)
    (0.2, -0.3, True)
    """

    centre: tuple[float, ...]
    spread: tuple[float, ...]
    width: float
    level: float
    asked: float
    num_calibration: int
    from_folds: bool = False
    ceiling: float | None = None

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Band":
        return cls(
            **{
                **stored,
                "centre": tuple(stored["centre"]),
                "spread": tuple(stored["spread"]),
            }
        )

    def limit(self, frame: int) -> float:
        """The worst value at a frame, counted from 0, that is no alarm."""
        at = min(frame, len(self.centre) - 1)
        of_frame = self.centre[at] + self.width * self.spread[at]
        return of_frame if self.ceiling is None else min(of_frame, self.ceiling)

    def is_alarm(self, frame: int, value: float) -> bool:
        return value > self.limit(frame)

    def first_alarm(self, values: npt.ArrayLike) -> int | None:
        """The first frame of an episode whose value is an alarm."""
        curve = np.asarray(values, dtype=np.float64)
        limits = np.array([self.limit(frame) for frame in range(len(curve))])
        beyond = np.flatnonzero(curve > limits)
        return int(beyond[0]) if len(beyond) else None


def conformal_rank(num: int, level: float) -> int | None:
    """Which of `num` sorted scores, from 1, a new one exceeds with a chance of at most `level`.

    None where there are too few for any.

    >>> conformal_rank(19, 0.05), conformal_rank(18, 0.05), conformal_rank(99, 0.05)
    (19, None, 95)
    """
    # Not ceil of a product that rounding lifted over a whole number.
    rank = math.ceil((num + 1) * (1 - level) - 1e-9)
    return rank if rank <= num else None


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise GoalwardError(
            f"{argument('false_alarms', level)}: must lie between 0 and 1, 0.05 for 5 %"
        )


def band_of(
    successes: Sequence[npt.ArrayLike],
    level: float = DEFAULT_LEVEL,
    *,
    from_folds: bool = False,
    seed: int = 0,
) -> Band | None:
    """A band from the values of successful episodes, each frame by frame up to its goal.

    Where there are too few for the level the least that they allow is taken, and with fewer than
    six there is none.
    """
    check_level(level)
    curves = [np.asarray(curve, dtype=np.float64) for curve in successes]
    if len(curves) < _FEWEST:
        return None
    order = generator(seed, "alarm").permutation(len(curves))
    num_shape = max(round(_SHAPE_SHARE * len(curves)), 2)
    # As few as leave enough to calibrate, but never fewer than 2.
    num_needed = math.ceil(1 / level - 1e-9) - 1
    num_shape = max(min(num_shape, len(curves) - num_needed), min(num_shape, _FEWEST // 2))
    shape = [curves[i] for i in order[:num_shape]]
    others = [curves[i] for i in order[num_shape:]]
    centre, spread = _shape(shape)
    frames = np.concatenate(shape)
    mean, deviation = float(frames.mean()), max(float(frames.std()), _LEAST_SPREAD)

    def distances(curve: FloatArray) -> tuple[float, float]:
        return _furthest(curve, centre, spread), (float(curve.max()) - mean) / deviation

    units = np.maximum(np.max([distances(curve) for curve in shape], axis=0), 1.0)
    scores = np.sort([float(np.max(distances(curve) / units)) for curve in others])
    reached = level
    rank = conformal_rank(len(others), level)
    if rank is None:
        rank, reached = len(others), 1 / (len(others) + 1)
    return Band(
        tuple(centre.tolist()),
        tuple(spread.tolist()),
        width=float(scores[rank - 1] * units[0]),
        level=reached,
        asked=level,
        num_calibration=len(others),
        from_folds=from_folds,
        ceiling=mean + float(scores[rank - 1] * units[1]) * deviation,
    )


def _shape(curves: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Centre and spread of the value, frame by frame, over the successes still under way there.

    An episode that is not over yet is compared with those that were not over yet either. Up to the
    frame where a third of them, or two, go on.
    """
    lengths = np.sort([len(curve) for curve in curves])[::-1]
    length = int(lengths[max(len(curves) // 3, 2) - 1])
    padded = np.stack([_padded(curve, length) for curve in curves])
    centre = np.nanmedian(padded, axis=0)
    spread = np.sqrt(np.nanmean((padded - centre) ** 2, axis=0))
    return _smooth(centre), np.maximum(_smooth(spread), _LEAST_SPREAD)


def _padded(curve: FloatArray, length: int) -> FloatArray:
    """As long as asked, with NaN where an episode is over."""
    short = max(length - len(curve), 0)
    return np.pad(curve[:length], (0, short), constant_values=np.nan)


def _smooth(curve: FloatArray) -> FloatArray:
    size = 2 * _SMOOTHING + 1
    wide = np.pad(curve, _SMOOTHING, mode="edge")
    return np.convolve(wide, np.full(size, 1 / size), mode="valid")


def _furthest(curve: FloatArray, centre: FloatArray, spread: FloatArray) -> float:
    at = np.minimum(np.arange(len(curve)), len(centre) - 1)
    return float(((curve - centre[at]) / spread[at]).max())
