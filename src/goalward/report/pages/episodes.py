"""Episodes of a run as a page reads them: a row of the table each, and their curves."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.report.figures.sheet import known_values
from goalward.report.pages.numbers import number
from goalward.rollouts.episode import Episode
from goalward.rollouts.signals import Signal
from goalward.runs.curves import Curves
from goalward.runs.run import Run
from goalward.values.event_rules import EventRules, smoothed
from goalward.values.events import Event, EventKind, event_course, largest

FloatArray = npt.NDArray[np.floating]

# A value v is written as the whole number nearest to 10,000 v: a hundredth of what seeds disagree
# by, and near the goal less than a step in an episode of 5,000 frames.
VALUE_SCALE = 10_000
# A curve in a row of the table: this many points at most, of 0 (at the goal) to 100 (never).
SPARK_POINTS = 60
SPARK_SCALE = 100


def table_rows(run: Run, curves: Curves) -> list[dict[str, Any]]:
    """A row per episode, of the method that speaks for the policy; `curves` are its."""
    tasks = {task: i for i, task in enumerate(dict.fromkeys(e.task for e in run.episodes))}
    rows: list[dict[str, Any]] = []
    for position, episode in enumerate(run.episodes):
        part = curves.part(run.frames_of(position))
        events = run.events[episode.id]
        has_spread = len(part.by_seed) > 1
        rows.append(
            {
                "id": episode.id,
                "task": tasks[episode.task],
                "outcome": episode.outcome,
                "frames": episode.num_frames,
                "held_out": episode.held_out,
                "setback": _size(largest(events, EventKind.SETBACK)),
                "setback_frame": _frame(largest(events, EventKind.SETBACK)),
                "stall": _size(largest(events, EventKind.STALL)),
                "stall_frame": _frame(largest(events, EventKind.STALL)),
                # In the last frame; null: never.
                "final_steps": number(float(part.steps[-1])),
                "disagreement": number(float(part.spread.mean())) if has_spread else None,
                "events": [sum(e.kind is kind for e in events) for kind in EventKind],
                "spark": _spark(part.value),
            }
        )
    return rows


def episode_curves(
    run: Run, position: int, curves: Sequence[Curves], truth: FrameTruth | None
) -> dict[str, Any]:
    """One episode: for each method the mean value over seeds, the lowest and the highest seed.

    What could be said at each frame is under `now`, what the recording says of it under
    `hindsight`. `curves` are those of each method. They are written as whole numbers (see
    VALUE_SCALE), each as its difference from the one before: half the size. With one seed there is
    a mean alone.
    """
    episode, frames = run.episodes[position], run.frames_of(position)
    return {
        "position": position,
        "curves": [_curve(one.part(frames)) for one in curves],
        "smoothed": _smoothed(run, frames),
        "chances": _chances(run, frames),
        "events": [_event(event, run.time_limit) for event in run.events[episode.id]],
        "truth": [
            {
                "frame": known.frame,
                "value": number(known.value),
                "error": number(known.standard_error),
            }
            for known in known_values(truth, episode.id, run.discount)
        ],
    }


def _curve(part: Curves) -> dict[str, dict[str, list[int]]]:
    return {
        "now": _line(part.value, part.by_seed),
        "hindsight": _line(part.hindsight, part.hindsight_by_seed),
    }


def _line(mean: FloatArray, by_seed: FloatArray) -> dict[str, list[int]]:
    line = {"mean": whole_differences(mean)}
    if len(by_seed) > 1:
        line["low"] = whole_differences(by_seed.min(axis=0))
        line["high"] = whole_differences(by_seed.max(axis=0))
    return line


def _smoothed(run: Run, frames: slice) -> list[int]:
    """The steps to go that events are found in, in tenths: what their numbers can be read off.

    The mean over seeds, cut at the longest episode, smoothed (docs/events.md).
    """
    steps = np.clip(run.values.steps(run.method)[:, frames].astype(np.float64), 0, run.time_limit)
    mean = steps.mean(axis=0, keepdims=True)
    curve = smoothed(mean, float(run.time_limit), EventRules().window)[0]
    return np.diff(np.rint(10 * curve).astype(np.int64), prepend=0).tolist()


def _chances(run: Run, frames: slice) -> dict[str, Any] | None:
    """The chance of success within half the standard horizon, all and twice of it, in thousandths.

    Of the method that speaks for the policy; None where it says none.
    """
    if not run.chances.says_chances(run.method):
        return None
    horizon = run.scores.standard_horizon
    within = [max(horizon // 2, 1), horizon, 2 * horizon]
    lines = [run.chances.within_steps(run.method, steps)[frames] for steps in within]
    return {
        "within": within,
        "lines": [
            np.diff(np.rint(1000 * line).astype(np.int64), prepend=0).tolist() for line in lines
        ],
    }


def signal_lines(episode: Episode) -> list[dict[str, Any]]:
    """States and actions as traces: a character per frame, from `low` ("!") to `high` ("~").

    93 steps from the least to the most are more than a trace shows, and small. A frame that has no
    number is a space.
    """
    return [_trace(signal) for signal in episode.signals]


_FIRST, _LEVELS = ord("!"), 93


def _trace(signal: Signal) -> dict[str, Any]:
    """
    >>> _trace(Signal("grip", np.array([0.0, 1.0, np.nan, 0.5], dtype=np.float32)))["line"]
    '!~ O'
    """
    values = signal.values.astype(np.float64)
    known = np.isfinite(values)
    low, high = (values[known].min(), values[known].max()) if known.any() else (0.0, 0.0)
    part = (values - low) / (high - low) if high > low else np.zeros_like(values)
    levels = np.where(known, np.rint(np.nan_to_num(part) * _LEVELS) + _FIRST, ord(" "))
    return {
        "name": signal.name,
        "is_action": signal.is_action,
        "low": number(float(low)),
        "high": number(float(high)),
        "line": "".join(map(chr, levels.astype(np.int64).tolist())),
    }


def _event(event: Event, ceiling: float) -> dict[str, Any]:
    return {
        "kind": event.kind,
        "frame": event.frame,
        "start": event.start,
        "end": event.end,
        "words": event_course(event, ceiling),
        "over": f"over frames {event.start} to {event.end}" if event.end > event.start else "",
        "agreement": number(event.agreement),
    }


def whole_differences(values: FloatArray) -> list[int]:
    """
    >>> whole_differences(np.array([-1.0, -0.99991, 0.5]))
    [-10000, 1, 14999]
    """
    whole = np.rint(values * VALUE_SCALE).astype(np.int64)
    return np.diff(whole, prepend=0).tolist()


def _spark(values: FloatArray) -> list[int]:
    """A curve in few points; the extremes of what two of them stand for are kept, in turn.

    Two for every part of an episode, also where nothing moves: points lie evenly in time.
    """
    if len(values) > SPARK_POINTS:
        parts = np.array_split(values, SPARK_POINTS // 2)
        pairs = [sorted((int(part.argmin()), int(part.argmax()))) for part in parts]
        values = np.concatenate([part[pair] for part, pair in zip(parts, pairs, strict=True)])
    return whole_percents(values)


def whole_percents(values: FloatArray) -> list[int]:
    """From 0 at the goal to SPARK_SCALE for never."""
    return np.rint((values + 1) / 2 * SPARK_SCALE).astype(np.int64).tolist()


def _frame(event: Event | None) -> int | None:
    return None if event is None else event.frame


def _size(event: Event | None) -> float | None:
    return None if event is None else number(event.size)
