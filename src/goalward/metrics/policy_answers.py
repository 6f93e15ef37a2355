"""What outcomes and values say of a policy: how good it is, and what to look at first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from goalward.metrics.score import Interval, Score, no_interval
from goalward.metrics.uncertainty.proportions import wilson
from goalward.rollouts.endings import Endings, FloatArray
from goalward.values.event_rules import EventRules, smoothed
from goalward.values.events import Event, EventKind, event_words, largest

# Of the ceiling: an episode that never looked nearer has missed nothing.
_NEAR = 0.25


@dataclass(frozen=True)
class Rate:
    """How many of how many, and where the true rate lies."""

    count: int
    """How many."""
    total: int
    """Of how many."""
    interval: Interval
    """Of the true rate."""

    @property
    def value(self) -> float | None:
        return self.count / self.total if self.total else None


def rate(count: int, total: int, level: float = 0.95) -> Rate:
    """A rate with Wilson's interval.

    >>> answer = rate(9, 10)
    >>> answer.value, str(answer.interval)
    (0.9, '0.596 to 0.982')
    """
    if total == 0:
        return Rate(0, 0, no_interval("nothing was counted", level))
    low, high = wilson(count, total, level)
    return Rate(count, total, Interval(float(low), float(high), level))


@dataclass(frozen=True)
class StepsToSuccess:
    """The usual number of steps from the first frame to the goal."""

    median: Score
    """Half of the successes took no more steps."""
    quarter: Score
    """A quarter of them took no more."""
    three_quarters: Score
    """Three quarters of them took no more."""


def steps_to_success(endings: Endings) -> StepsToSuccess:
    """Of successes alone; time-outs took longer than all that can be seen."""
    steps = endings.goal_frames[endings.success]
    if len(steps) == 0:
        none = Score(None, "no episode succeeded")
        return StepsToSuccess(none, none, none)
    quarter, median, three_quarters = (float(np.quantile(steps, q)) for q in (0.25, 0.5, 0.75))
    return StepsToSuccess(Score(median), Score(quarter), Score(three_quarters))


@dataclass(frozen=True)
class WorthWatching:
    """An episode that a person should look at first, where, and why."""

    episode: int
    """Its position in episodes.csv, from 0."""
    frame: int
    """Where to look first."""
    reason: str
    """What is to be seen there."""


def worth_watching(
    steps: FloatArray,
    endings: Endings,
    events: Sequence[Sequence[Event]],
    *,
    ceiling: float,
    num_each: int = 2,
) -> tuple[WorthWatching, ...]:
    """The episodes with the largest setbacks, the longest stalls and the nearest misses.

    Each is named once, for its strongest reason. `events` are those of each episode, found in
    steps, (seeds, frames), with the same ceiling.
    """
    candidates = {
        "setback": [_largest(found, EventKind.SETBACK, ceiling) for found in events],
        "stall": [_largest(found, EventKind.STALL, ceiling) for found in events],
        "near miss": [_nearest(miss, ceiling) for miss in near_misses(steps, endings, ceiling)],
    }
    chosen: dict[int, WorthWatching] = {}
    for found in candidates.values():
        ranked = sorted(
            ((one, i) for i, one in enumerate(found) if one is not None),
            key=lambda entry: -entry[0][0],
        )
        fresh = [(one, i) for one, i in ranked if i not in chosen]
        for (_, frame, reason), i in fresh[:num_each]:
            chosen[i] = WorthWatching(i, frame, reason)
    return tuple(chosen.values())


# (how strong, at which frame, in words)
_Found = tuple[float, int, str]


def _largest(events: Sequence[Event], kind: EventKind, ceiling: float) -> _Found | None:
    """The setback that loses most steps, or the longest stall."""
    event = largest(events, kind)
    return None if event is None else (event.size, event.frame, event_words(event, ceiling))


class NearMiss(NamedTuple):
    """Where an episode that did not succeed looked nearest to the goal, and how near."""

    frame: int
    steps: float


def near_misses(steps: FloatArray, endings: Endings, ceiling: float) -> list[NearMiss | None]:
    """For each episode where it nearly succeeded; None for successes and those never near.

    Near is a quarter of the ceiling or less, in the curve that events are found in: the mean over
    seeds of steps, (seeds, frames), smoothed.

    >>> endings = Endings(np.array([5, 10]), np.array([-1, 4]))
    >>> near_misses(np.array([9.0, 2, 2, 2, 9, 4, 3, 2, 1, 0]), endings, ceiling=9)
    [NearMiss(frame=1, steps=2.0), None]
    """
    capped = np.clip(np.atleast_2d(endings.per_frame(steps)), 0.0, ceiling)
    mean = capped.mean(axis=0, keepdims=True)
    found: list[NearMiss | None] = [None] * endings.num_episodes
    for i in np.flatnonzero(~endings.success).tolist():
        frames = mean[:, endings.starts[i] : endings.episode_ends[i]]
        curve = smoothed(frames, ceiling, EventRules().window)[0]
        frame = int(curve.argmin())
        if curve[frame] <= _NEAR * ceiling:
            found[i] = NearMiss(frame, float(curve[frame]))
    return found


def _nearest(miss: NearMiss | None, ceiling: float) -> _Found | None:
    if miss is None:
        return None
    text = f"looked {miss.steps:.0f} steps from the goal and did not succeed"
    return ceiling - miss.steps, miss.frame, text
