"""Episodes of a run as a page reads them: a row of the table each, and their curves."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.metrics.policy_answers import steps_at_end
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.report.pages.front import Scores, number
from goalward.rollouts.endings import Endings
from goalward.rollouts.episode import Outcome
from goalward.values.events import Event, EventKind, event_words
from goalward.values.finished_run import FinishedRun

FloatArray = npt.NDArray[np.floating]

# A value v is written as the whole number nearest to 10,000 v: a hundredth of what seeds disagree
# by, and near the goal less than a step in an episode of 5,000 frames.
VALUE_SCALE = 10_000
# A curve in a row of the table: this many points at most, of 0 (at the goal) to 100 (never).
SPARK_POINTS = 60
SPARK_SCALE = 100

Events = Mapping[str, tuple[Event, ...]]


def table_rows(run: FinishedRun, events: Events) -> list[dict[str, Any]]:
    """A row per episode, of the method that speaks for the policy."""
    endings = Endings(
        run.values.episode_ends,
        np.array([-1 if e.goal_frame is None else e.goal_frame for e in run.episodes]),
        np.array([e.outcome is Outcome.FAILURE for e in run.episodes]),
    )
    steps = run.values.steps(run.method).astype(np.float64)
    values = common_scale(steps, run.discount)
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else None
    final = np.median(steps_at_end(steps, endings), axis=0)
    tasks = {task: i for i, task in enumerate(dict.fromkeys(e.task for e in run.episodes))}
    rows: list[dict[str, Any]] = []
    for position, episode in enumerate(run.episodes):
        frames = episode_frames(run, position)
        found = events.get(episode.id, ())
        rows.append(
            {
                "id": episode.id,
                "task": tasks[episode.task],
                "outcome": str(episode.outcome),
                "frames": episode.num_frames,
                "held_out": episode.held_out,
                "setback": _largest_setback(found),
                "stall": _longest_stall(found),
                # null: never.
                "final_steps": number(round(float(final[position]), 1)),
                "final_value": number(float(common_scale(final[position], run.discount))),
                "disagreement": None if spread is None else number(float(spread[frames].mean())),
                "events": [sum(e.kind is kind for e in found) for kind in EventKind],
                "spark": _spark(values[:, frames].mean(axis=0)),
            }
        )
    return rows


def watch_first(run: FinishedRun, scores: Scores) -> list[dict[str, Any]]:
    """Where to look first, and why; nothing that the run does not have."""
    position = {episode.id: i for i, episode in enumerate(run.episodes)}
    return [
        {
            "position": position[found["episode"]],
            "frame": min(max(int(found["frame"]), 0), _last_frame(run, found["episode"], position)),
            "reason": str(found["reason"]),
        }
        for found in scores.get("policy", {}).get("watch_first", [])
        if found.get("episode") in position
    ]


def _last_frame(run: FinishedRun, episode_id: str, position: Mapping[str, int]) -> int:
    return run.episodes[position[episode_id]].num_frames - 1


def episode_curves(
    run: FinishedRun, position: int, events: Sequence[Event], truth: FrameTruth | None
) -> dict[str, Any]:
    """One episode: for each method the mean value over seeds, the lowest and the highest seed.

    Curves are whole numbers (see VALUE_SCALE), each as its difference from the one before: half
    the size. With one seed there is a mean alone.
    """
    episode = run.episodes[position]
    frames = episode_frames(run, position)
    curves: list[dict[str, list[int]]] = []
    for method in run.values.methods:
        values = common_scale(run.values.steps(method)[:, frames], run.discount)
        curve = {"mean": whole_differences(values.mean(axis=0))}
        if len(values) > 1:
            curve["low"] = whole_differences(values.min(axis=0))
            curve["high"] = whole_differences(values.max(axis=0))
        curves.append(curve)
    return {
        "position": position,
        "id": episode.id,
        "goal_frame": episode.goal_frame,
        "curves": curves,
        "events": [_event_data(event, run.time_limit) for event in events],
        "truth": [] if truth is None else _true_values(truth, episode.id, run),
    }


def _event_data(event: Event, ceiling: float) -> dict[str, Any]:
    return {
        "kind": str(event.kind),
        "frame": event.frame,
        "start": event.start,
        "end": event.end,
        # "setback: 40 to 180 steps to go", of which the page shows the kind by itself.
        "words": event_words(event, ceiling).partition(": ")[2],
        "agreement": number(event.agreement),
    }


def common_scale(steps: FloatArray | float, discount: float) -> FloatArray:
    """The value of so many steps to go, the same for all methods: 1 - 2 discount^steps.

    >>> common_scale(np.array([0.0, 1.0, np.inf]), 0.5)
    array([-1.,  0.,  1.])
    """
    return 1.0 - 2.0 * np.power(discount, np.maximum(np.asarray(steps, np.float64), 0.0))


def whole_differences(values: FloatArray) -> list[int]:
    """
    >>> whole_differences(np.array([-1.0, -0.99991, 0.5]))
    [-10000, 1, 14999]
    """
    whole = np.rint(np.asarray(values, np.float64) * VALUE_SCALE).astype(np.int64)
    return np.diff(whole, prepend=0).tolist()


def episode_frames(run: FinishedRun, position: int) -> slice:
    """Where an episode's frames lie in the table of values."""
    ends = run.values.episode_ends
    return slice(int(ends[position - 1]) if position else 0, int(ends[position]))


def _spark(values: FloatArray) -> list[int]:
    """A curve in few points; the extremes of what a point stands for are kept, in turn."""
    if len(values) > SPARK_POINTS:
        parts = np.array_split(values, SPARK_POINTS // 2)
        pairs = [sorted({int(part.argmin()), int(part.argmax())}) for part in parts]
        values = np.concatenate([part[pair] for part, pair in zip(parts, pairs, strict=True)])
    return np.rint((values + 1) / 2 * SPARK_SCALE).astype(np.int64).tolist()


def _largest_setback(events: Sequence[Event]) -> float | None:
    sizes = [e.steps_after - e.steps_before for e in events if e.kind is EventKind.SETBACK]
    return number(round(max(sizes), 1)) if sizes else None


def _longest_stall(events: Sequence[Event]) -> int | None:
    return max((e.end - e.start + 1 for e in events if e.kind is EventKind.STALL), default=None)


def _true_values(truth: FrameTruth, episode_id: str, run: FinishedRun) -> list[dict[str, Any]]:
    chosen = np.array([one == episode_id for one in truth.episode_ids], dtype=np.bool_)
    if not chosen.any():
        return []
    ours = truth.select(chosen)
    true = ours.true_value(run.discount)
    return [
        {"frame": int(frame), "value": number(float(value)), "error": number(float(error))}
        for frame, value, error in zip(
            ours.frame_indices, true.mean, true.standard_error, strict=True
        )
    ]
