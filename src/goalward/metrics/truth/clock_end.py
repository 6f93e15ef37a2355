"""What is true where the clock ran out: what more time brought, beside what it was expected to."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from goalward.metrics.score import Interval, Score
from goalward.metrics.truth.known_frames import KnownFrames
from goalward.metrics.uncertainty.intervals import over_episodes
from goalward.metrics.uncertainty.weighing import mean_by_episode
from goalward.rollouts.episode import Outcome
from goalward.values.chances import ChanceTable


@dataclass(frozen=True, eq=False)
class ClockEndTruth:
    """What is true where the clock ran out: the last frames of time-outs, given their clock again.

    `measured` is the share of futures that reach the goal within each episode's own clock, or the
    cap where that is less, over `num_frames` time-outs, with `measured_interval` by episodes;
    `predicted` the mean chance that every method gave them.
    """

    num_frames: int
    measured: Score
    measured_interval: Interval
    predicted: Mapping[str, Score]


def clock_end_truth(chances: ChanceTable, known: KnownFrames) -> ClockEndTruth | None:
    """What was measured there beside what methods said; None where no time-out was measured."""
    last = known.position == chances.episode_ends[known.episode] - 1
    chosen = np.flatnonzero(last & (np.array(known.outcome) == Outcome.TIME_OUT))
    if len(chosen) == 0:
        return None
    episode, position = known.episode[chosen], known.position[chosen]
    num_steps = np.minimum(chances.clocks, known.truth.cap)
    branches = known.truth.steps[chosen]
    within = np.where(np.isnan(branches), np.nan, branches <= num_steps[episode][:, None])
    share = np.nanmean(within, axis=1)
    by_frame = np.repeat(num_steps, chances.clocks + 1)
    return ClockEndTruth(
        num_frames=len(chosen),
        measured=Score(float(share.mean())),
        measured_interval=over_episodes(mean_by_episode(share, episode, scale="share")),
        predicted={
            method: Score(float(chances.within_steps(method, by_frame)[position].mean()))
            for method in chances.methods
        },
    )
