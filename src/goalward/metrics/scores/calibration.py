"""Are predicted chances of success right? Of the frames said to be 70 %, do 70 % succeed?"""

from dataclasses import dataclass

import numpy as np

from goalward.metrics.score import Interval, Score, no_interval
from goalward.metrics.uncertainty.intervals import over_episodes
from goalward.metrics.uncertainty.weighing import mean_by_episode
from goalward.rollouts.endings import BoolArray, Endings, FloatArray, IndexArray


@dataclass(frozen=True)
class ReliabilityBin:
    """The frames whose predicted chance lies between two edges, and how many of them succeeded."""

    edges: tuple[float, float]
    """The least and the largest chance of the bin."""
    predicted: float
    """Mean chance that was told."""
    observed: float
    """Share that succeeded."""
    observed_interval: Interval
    """Of that share, by episodes."""
    num_frames: int
    """Frames in the bin."""
    num_episodes: int
    """Episodes that they are from."""


@dataclass(frozen=True)
class Calibration:
    """How far predicted chances are from what happened.

        brier = mean of (predicted - observed)^2
              = reliability - resolution + uncertainty + within_bins
        expected_error = sum over bins of (share of frames) * |predicted - observed|

    `reliability` (0 is best) is how far bins lie from the diagonal, `resolution` how far they lie
    from the overall rate, `uncertainty` the Brier score of always saying that rate. `within_bins`
    is what the three leave over because predictions within a bin differ (Stephenson, Coelho and
    Jolliffe 2008); with it the sum is exact. Bins without frames are not listed.
    """

    brier: Score
    """Mean squared error of the chances; 0 is best."""
    brier_interval: Interval
    """Of the Brier score, by episodes."""
    reliability: Score
    resolution: Score
    uncertainty: Score
    within_bins: Score
    expected_error: Score
    """Mean distance of bins from the diagonal, by frames."""
    bins: tuple[ReliabilityBin, ...]
    """The curve of reliability."""
    num_frames: int
    """Frames that were judged."""

    @property
    def sharpness(self) -> float | None:
        """How much chances differ from frame to frame: their standard deviation, bin by bin.

        0 is who says the same of every frame; None where there are no frames.
        """
        if not self.bins:
            return None
        counts = np.array([one.num_frames for one in self.bins])
        said = np.array([one.predicted for one in self.bins])
        return float(
            np.sqrt(np.average((said - np.average(said, weights=counts)) ** 2, weights=counts))
        )


def success_within(
    endings: Endings, num_steps: int, *, time_limit: int | IndexArray | None = None
) -> tuple[BoolArray, BoolArray]:
    """Which frames reached the goal within a number of steps, and of which frames that is known.

    The clock stops the watching, not the episode: near its end only quick successes can still be
    seen. A success that comes in time shows itself there, a frame that would have needed longer
    does not, and counting the ones that show makes chances look too good. So a frame counts only
    if `num_steps` more were left on the clock, *whatever its episode came to*: what is left out
    then depends on time alone. (Weighting by the inverse chance of being seen is not an option: for
    the last frames before a fixed time limit that chance is zero.)

    `time_limit` is the number of frames after which the clock stops an episode, one for all or one
    for each; where it is not given, the longest episode. A time-out that ended before it is unknown
    near its own end, and left out there. A FAILURE is known never to succeed. Frames after the goal
    are left out.

    >>> endings = Endings(np.array([3, 8]), np.array([2, -1]))
    >>> reached, known = success_within(endings, num_steps=1)
    >>> reached.astype(int).tolist(), known.astype(int).tolist()
    ([0, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 0])
    """
    if time_limit is None:
        time_limit = int(endings.lengths.max(initial=0))
    frame, episode = endings.frame_in_episode, endings.episode_of
    limit = np.broadcast_to(np.asarray(time_limit), endings.num_episodes)
    on_the_clock = limit[episode] - 1 - frame >= num_steps
    timed_out = ~endings.success & ~endings.failures
    seen = endings.lengths[episode] - 1 - frame >= num_steps
    known = endings.up_to_goal & on_the_clock & (seen | ~timed_out[episode])
    reached = (endings.steps >= 0) & (endings.steps <= num_steps)
    return reached, known


def calibration_of_success(
    probability: FloatArray,
    endings: Endings,
    num_steps: int,
    *,
    time_limit: int | IndexArray | None = None,
    num_bins: int = 10,
) -> Calibration:
    """Calibration of the predicted chance of success within a number of steps, (frames,)."""
    probability = endings.per_frame(probability)
    reached, known = success_within(endings, num_steps, time_limit=time_limit)
    return calibration(
        probability[known],
        reached[known].astype(np.float64),
        endings.episode_of[known],
        num_bins=num_bins,
        reason_if_empty=f"no frame had {num_steps} more steps on the clock",
    )


def calibration(
    predicted: FloatArray,
    observed: FloatArray,
    episode: IndexArray,
    *,
    num_bins: int = 10,
    reason_if_empty: str = "no frames",
) -> Calibration:
    """Calibration of chances against outcomes, (frames,) each, in bins of equal width.

    `observed` is 0 or 1, or the share of several tries from the same frame. `episode` says which
    frames belong together: intervals are over episodes.

    >>> predicted, observed = np.array([0.1, 0.1, 0.8, 0.8]), np.array([0.0, 0, 1, 0])
    >>> result = calibration(predicted, observed, np.arange(4))
    >>> print(result.brier, result.reliability, result.resolution, result.uncertainty)
    0.175 0.050 0.062 0.188
    >>> print(result.expected_error)
    0.200
    >>> round(result.sharpness, 3)
    0.35
    """
    if ((predicted < 0) | (predicted > 1)).any():
        raise ValueError("a predicted chance lies between 0 and 1")
    if len(predicted) == 0:
        none = Score(None, reason_if_empty)
        empty = no_interval(reason_if_empty, Interval.level)
        return Calibration(none, empty, none, none, none, none, none, (), 0)
    bin_of = np.minimum((predicted * num_bins).astype(np.int64), num_bins - 1)
    chosen, bin_of = np.unique(bin_of, return_inverse=True)
    counts = np.bincount(bin_of)
    mean_predicted = np.bincount(bin_of, predicted) / counts
    mean_observed = np.bincount(bin_of, observed) / counts
    share = counts / len(predicted)
    overall = observed.mean()

    squared = (predicted - observed) ** 2
    reliability = float((share * (mean_predicted - mean_observed) ** 2).sum())
    resolution = float((share * (mean_observed - overall) ** 2).sum())
    uncertainty = float(observed.var())
    brier = float(squared.mean())
    bins = tuple(
        ReliabilityBin(
            edges=(int(chosen[i]) / num_bins, (int(chosen[i]) + 1) / num_bins),
            predicted=float(mean_predicted[i]),
            observed=float(mean_observed[i]),
            observed_interval=over_episodes(
                mean_by_episode(observed[bin_of == i], episode[bin_of == i], scale="share")
            ),
            num_frames=int(counts[i]),
            num_episodes=len(np.unique(episode[bin_of == i])),
        )
        for i in range(len(chosen))
    )
    return Calibration(
        brier=Score(brier),
        brier_interval=over_episodes(mean_by_episode(squared, episode, scale="line")),
        reliability=Score(reliability),
        resolution=Score(resolution),
        uncertainty=Score(uncertainty),
        within_bins=Score(brier - reliability + resolution - uncertainty),
        expected_error=Score(float((share * np.abs(mean_predicted - mean_observed)).sum())),
        bins=bins,
        num_frames=len(predicted),
    )
