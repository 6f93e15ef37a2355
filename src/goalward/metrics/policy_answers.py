"""What outcomes and values say of a policy: how good it is, and how good with more time."""

# pyright: standard
# (scipy ships no type stubs)

from dataclasses import dataclass

import numpy as np

from goalward.metrics.endings import Endings, FloatArray
from goalward.metrics.proportions import wilson
from goalward.metrics.score import Interval, Score, no_interval
from goalward.seeds import generator

# The end of an episode is judged by so many of its last frames: one frame is noise.
_LAST_FRAMES = 10
_NUM_DRAWS = 20_000
# Of the ceiling: what is less than this is no setback, no stall and no step forward.
_NOTICEABLE = 0.05
# Of the ceiling: an episode that never looked nearer has missed nothing.
_NEAR = 0.25


@dataclass(frozen=True)
class Rate:
    """How many of how many, and where the true rate lies."""

    count: int
    total: int
    interval: Interval

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
    quarter: Score
    three_quarters: Score


def steps_to_success(endings: Endings) -> StepsToSuccess:
    """Of successes alone; time-outs took longer than all that can be seen."""
    steps = endings.goal_frames[endings.success]
    if len(steps) == 0:
        none = Score(None, "no episode succeeded")
        return StepsToSuccess(none, none, none)
    quarter, median, three_quarters = (float(np.quantile(steps, q)) for q in (0.25, 0.5, 0.75))
    return StepsToSuccess(Score(median), Score(quarter), Score(three_quarters))


def steps_at_end(steps: FloatArray, endings: Endings) -> FloatArray:
    """How far each episode looks at its end, (seeds, episodes): the median of its last frames.

    >>> endings = Endings(np.array([3]), np.array([-1]))
    >>> steps_at_end(np.array([[90.0, 8, 6]]), endings)
    array([[8.]])
    """
    steps = np.atleast_2d(endings.per_frame(steps))
    last = [
        np.median(steps[:, max(end - _LAST_FRAMES, start) : end], axis=1)
        for start, end in zip(endings.starts, endings.episode_ends, strict=True)
    ]
    return np.stack(last, axis=1) if last else np.zeros((len(steps), 0))


@dataclass(frozen=True)
class TimeOuts:
    """Timed-out episodes by what their values say at the end.

    `on_their_way` look no further from the goal than the standard horizon; the rest are stuck.
    `in_time` look no further than one more time limit: they would succeed if the clock were
    twice as long. `episodes` are their positions, `steps_to_go` what the median seed says.
    """

    on_their_way: Rate
    in_time: Rate
    episodes: tuple[int, ...] = ()
    steps_to_go: tuple[float, ...] = ()


def time_outs(
    steps: FloatArray, endings: Endings, *, standard_horizon: float, time_limit: float
) -> TimeOuts:
    """An episode counts if the median seed says so."""
    timed_out = ~endings.success & ~endings.failures
    final = np.median(steps_at_end(steps, endings), axis=0)[timed_out]
    total = len(final)
    return TimeOuts(
        on_their_way=rate(int((final <= standard_horizon).sum()), total),
        in_time=rate(int((final <= time_limit).sum()), total),
        episodes=tuple(int(position) for position in np.flatnonzero(timed_out)),
        steps_to_go=tuple(float(steps_left) for steps_left in final),
    )


@dataclass(frozen=True)
class MoreTime:
    """The success rate that values expect with twice the time."""

    value: Score
    interval: Interval


def with_twice_the_time(
    num_success: int, num_time_out: int, num_failure: int, in_time: Rate, level: float = 0.95
) -> MoreTime:
    """Successes, and of the time-outs the share that looks near enough at the end.

        rate = (successes + time-outs * share in time) / all

    Outcomes are those of all episodes, the share is over time-outs that were held out. The
    interval covers chance in both (Jeffreys), not what the values get wrong.

    >>> with_twice_the_time(50, 50, 0, rate(10, 20)).value
    Score(value=0.75, reason='')
    """
    total = num_success + num_time_out + num_failure
    if num_time_out and not in_time.total:
        reason = "no timed-out episode was held out"
        return MoreTime(Score(None, reason), no_interval(reason, level))
    share = in_time.value or 0.0
    value = (num_success + num_time_out * share) / total
    draws = generator(0, "more time")
    counts = np.array([num_success, num_time_out, num_failure]) + 0.5
    shares = draws.dirichlet(counts, _NUM_DRAWS)
    near, far = in_time.count + 0.5, in_time.total - in_time.count + 0.5
    rates = shares[:, 0] + shares[:, 1] * (draws.beta(near, far, _NUM_DRAWS) if num_time_out else 0)
    edge = (1 - level) / 2
    low, high = (float(limit) for limit in np.quantile(rates, [edge, 1 - edge]))
    return MoreTime(Score(value), Interval(min(low, value), max(high, value), level))


@dataclass(frozen=True)
class WorthWatching:
    """An episode that a person should look at first, where, and why."""

    episode: int
    frame: int
    reason: str


def worth_watching(
    steps: FloatArray, endings: Endings, *, ceiling: float, num_each: int = 2
) -> tuple[WorthWatching, ...]:
    """The episodes with the largest setbacks, the longest stalls and the nearest misses.

    Each is named once, for its strongest reason. Steps, (seeds, frames), are cut at `ceiling`,
    averaged over seeds and smoothed by a running median of five frames. Setbacks and stalls of
    less than a twentieth of the ceiling are noise; a near miss looked nearer than a quarter of it.
    """
    curves = _smooth_curves(steps, endings, ceiling)
    candidates = {
        "setback": [_setback(curve, ceiling) for curve in curves],
        "stall": [_stall(curve, ceiling) for curve in curves],
        "near miss": [
            None if endings.success[i] else _near_miss(curve, ceiling)
            for i, curve in enumerate(curves)
        ],
    }
    chosen: dict[int, WorthWatching] = {}
    for kind in candidates:
        ranked = sorted(
            ((found, i) for i, found in enumerate(candidates[kind]) if found is not None),
            key=lambda entry: -entry[0][0],
        )
        fresh = [(found, i) for found, i in ranked if i not in chosen]
        for (_, frame, reason), i in fresh[:num_each]:
            chosen[i] = WorthWatching(i, frame, reason)
    return tuple(chosen.values())


# (how strong, at which frame, in words)
_Found = tuple[float, int, str]


def _smooth_curves(steps: FloatArray, endings: Endings, ceiling: float) -> list[FloatArray]:
    mean = np.minimum(np.atleast_2d(endings.per_frame(steps)), ceiling).mean(axis=0)
    stops = np.where(
        endings.success, endings.starts + endings.goal_frames + 1, endings.episode_ends
    )
    curves: list[FloatArray] = []
    for start, stop in zip(endings.starts, stops, strict=True):
        padded = np.pad(mean[start:stop], 2, mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, 5)
        curves.append(np.median(windows, axis=1))
    return curves


def _setback(curve: FloatArray, ceiling: float) -> _Found | None:
    rise = curve - np.minimum.accumulate(curve)
    frame = int(rise.argmax())
    before = int(curve[: frame + 1].argmin())
    if rise[frame] <= _NOTICEABLE * ceiling:
        return None
    # All seeds may say never: the ceiling is where counting stops, not what was predicted.
    or_more = " or more" if curve[frame] >= ceiling else ""
    text = f"setback from {curve[before]:.0f} to {curve[frame]:.0f}{or_more} predicted steps to go"
    return float(rise[frame]), frame, text


def _stall(curve: FloatArray, ceiling: float) -> _Found | None:
    """The longest time without coming nearer by a twentieth of the ceiling."""
    best, since, longest, at = curve[0], 0, 0, 0
    for frame, now in enumerate(curve):
        if now < best - _NOTICEABLE * ceiling:
            best, since = now, frame
        elif frame - since > longest:
            longest, at = frame - since, since
    if longest <= _NOTICEABLE * ceiling:
        return None
    or_more = " or more" if curve[at] >= ceiling else ""
    text = f"stall of {longest} frames at {curve[at]:.0f}{or_more} predicted steps to go"
    return float(longest), at, text


def _near_miss(curve: FloatArray, ceiling: float) -> _Found | None:
    frame = int(curve.argmin())
    if curve[frame] > _NEAR * ceiling:
        return None
    text = f"looked {curve[frame]:.0f} steps from the goal and did not succeed"
    return float(ceiling - curve[frame]), frame, text
