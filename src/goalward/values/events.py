"""What happens along an episode, as the value sees it: setbacks, recoveries, stalls, the goal."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from goalward.columns import Column, names
from goalward.errors import GoalwardError
from goalward.files import written_whole
from goalward.values.event_rules import (
    EventRules,
    comeback,
    departure,
    rises,
    smoothed,
    standstills,
)
from goalward.values.table import EPISODE, ValueTable

FloatArray = npt.NDArray[np.floating]


class EventKind(StrEnum):
    SETBACK = "setback"
    RECOVERY = "recovery"
    STALL = "stall"
    NO_RETURN = "point_of_no_return"
    GOAL = "goal"


_ORDER = tuple(EventKind)

# The curve that events are found in where nobody asks for the other. Measured in docs/events.md:
# hindsight is closer to how things stood, but can hardly fall, so that setbacks vanish from it.
EventsOf = Literal["hindsight", "value"]
EVENTS_OF: EventsOf = "value"


@dataclass(frozen=True)
class Event:
    """Something that happened, from frame `start` to frame `end`, best looked at in `frame`.

    Steps are no more than the ceiling, where counting stops.
    """

    kind: EventKind
    frame: int
    start: int
    end: int
    steps_before: float
    steps_after: float
    agreement: float

    @property
    def size(self) -> float:
        """Steps that were lost, or regained; of a stall the frames that it lasts."""
        if self.kind is EventKind.STALL:
            return self.end - self.start + 1
        return round(abs(self.steps_after - self.steps_before), 2)


def largest(events: Sequence[Event], kind: EventKind) -> Event | None:
    """The largest event of a kind, the first of equals; None if there is none.

    >>> stalls = [Event(EventKind.STALL, start, start, 9, 50, 50, 1.0) for start in (4, 0, 2)]
    >>> largest(stalls, EventKind.STALL).size, largest(stalls, EventKind.SETBACK)
    (10, None)
    """
    return max((e for e in events if e.kind is kind), key=lambda e: e.size, default=None)


def find_events(
    steps: FloatArray,
    goal_frame: int | None,
    *,
    ceiling: float,
    rules: EventRules = EventRules(),  # noqa: B008 (frozen)
) -> tuple[Event, ...]:
    """The events of one episode from its predicted steps to go, (seeds, frames), in order.

    More steps than the ceiling, infinitely many among them, are as many as the ceiling. What was
    filmed after the goal is not looked at. Steps that are NaN are an error.

    >>> steps = np.concatenate([np.arange(100, 20, -1), np.arange(90, -1, -1)])
    >>> for event in find_events(steps[None], goal_frame=170, ceiling=200):
    ...     print(event.frame, event_words(event))
    80 setback: 24 to 87 steps to go
    131 recovery: 87 back to 39 steps to go
    170 goal
    """
    capped = _capped(steps, goal_frame, ceiling) / ceiling
    seeds = smoothed(capped, ceiling, rules.window)
    curve = smoothed(capped.mean(axis=0, keepdims=True), ceiling, rules.window)[0]

    def event(kind: EventKind, start: int, frame: int, end: int, agreement: float) -> Event:
        before, after = (round(float(curve[at]) * ceiling, 2) for at in (start, end))
        return Event(kind, frame, start, end, before, after, round(agreement, 4))

    setbacks = [
        (rise, float((seeds[:, rise.end] - seeds[:, rise.start] >= rules.setback).mean()))
        for rise in rises(curve, ceiling, rules)
    ]
    agreed = [(rise, share) for rise, share in setbacks if share >= rules.agreement]
    found = [event(EventKind.SETBACK, *rise, share) for rise, share in agreed]

    recovered: set[int] = set()
    for rise, _ in agreed:
        frame = comeback(curve, seeds, rise, rules)
        # One frame may make good two setbacks, of which the first is the larger.
        if frame is not None and frame not in recovered:
            recovered.add(frame)
            regained = seeds[:, rise.end] - seeds[:, frame]
            share = float((regained >= (curve[rise.end] - curve[rise.start]) / 2).mean())
            found.append(event(EventKind.RECOVERY, rise.end, frame, frame, share))

    for first, last in standstills(curve, [rise for rise, _ in setbacks], ceiling, rules):
        share = float((seeds[:, first] - seeds[:, last] < 2 * rules.stall_progress).mean())
        if share >= rules.agreement:
            found.append(event(EventKind.STALL, first, first, last, share))

    if goal_frame is not None:
        found.append(Event(EventKind.GOAL, goal_frame, goal_frame, goal_frame, 0.0, 0.0, 1.0))
    elif (lost := departure(curve, ceiling, rules)) is not None:
        share = float((np.median(seeds[:, lost.end :], axis=1) >= rules.lost).mean())
        if share >= rules.agreement:
            found.append(event(EventKind.NO_RETURN, *lost, share))
    return tuple(sorted(found, key=lambda one: (one.frame, _ORDER.index(one.kind))))


def _capped(steps: FloatArray, goal_frame: int | None, ceiling: float) -> npt.NDArray[np.float64]:
    if steps.ndim != 2 or 0 in steps.shape:
        raise ValueError(f"steps must be (seeds, frames), one at least of each, got {steps.shape}")
    if not 0 < ceiling < np.inf:
        raise ValueError(f"the ceiling must be a number of steps above 0, got {ceiling}")
    num_frames = steps.shape[1]
    if goal_frame is not None and not 0 <= goal_frame < num_frames:
        raise ValueError(f"the goal frame is {goal_frame}, but there are {num_frames} frames")
    bad = np.isnan(steps).any(axis=0)
    if bad.any():
        raise GoalwardError(f"the steps to go of frame {int(bad.argmax())} are not a number")
    stop = num_frames if goal_frame is None else goal_frame + 1
    return np.clip(np.asarray(steps[:, :stop], dtype=np.float64), 0.0, ceiling)


def table_events(
    values: ValueTable,
    method: str,
    goal_frames: Sequence[int | None],
    *,
    ceiling: float,
    steps: FloatArray | None = None,
    rules: EventRules = EventRules(),  # noqa: B008 (frozen)
) -> tuple[tuple[Event, ...], ...]:
    """The events of every episode of a table, in its order, as one method sees them.

    Found in the table's steps to go, what could be said at each frame; or in `steps`,
    (seeds, frames): a run gives those of hindsight values where it is asked to (`Run.events_by`).
    """
    steps = values.steps(method) if steps is None else steps
    starts = values.episode_ends - np.diff(values.episode_ends, prepend=0)
    places = zip(starts.tolist(), values.episode_ends.tolist(), goal_frames, strict=True)
    found: list[tuple[Event, ...]] = []
    for start, end, goal_frame in places:
        try:
            found.append(find_events(steps[:, start:end], goal_frame, ceiling=ceiling, rules=rules))
        except GoalwardError as error:
            episode_id = values.episode_ids[len(found)]
            raise GoalwardError(f"{method}: episode {episode_id}: {error}") from error
    return tuple(found)


def event_words(event: Event, ceiling: float | None = None) -> str:
    """An event in a line; with the ceiling, what meets it is told as "or more".

    >>> event_words(Event(EventKind.SETBACK, 30, 20, 40, 40.2, 180.0, 1.0), ceiling=180)
    'setback: 40 to 180 or more steps to go'
    """
    course = event_course(event, ceiling)
    kind = event.kind.replace("_", " ")
    return f"{kind}: {course}" if course else kind


def event_course(event: Event, ceiling: float | None = None) -> str:
    """What an event did to the steps to go, without its kind; nothing for a goal."""

    def told(steps: float) -> str:
        # The ceiling is where counting stops, not what was predicted.
        is_ceiling = ceiling is not None and steps >= round(ceiling, 2)
        return f"{steps:.0f} or more" if is_ceiling else f"{steps:.0f}"

    before, after = told(event.steps_before), told(event.steps_after)
    match event.kind:
        case EventKind.SETBACK:
            return f"{before} to {after} steps to go"
        case EventKind.RECOVERY:
            return f"{before} back to {after} steps to go"
        case EventKind.STALL:
            return f"{event.size:.0f} frames at {before} steps to go"
        case EventKind.NO_RETURN:
            return f"{before} to {after} steps to go, and never near again"
        case EventKind.GOAL:
            return ""


EVENT_COLUMNS = (
    EPISODE,
    Column("kind", "text", f"one of {', '.join(EventKind)}"),
    Column("frame", "whole number", "where it is best looked at"),
    Column("start", "whole number", "its first frame"),
    Column("end", "whole number", "its last frame"),
    Column("steps_before", "number", "predicted to go at its start", "steps"),
    Column("steps_after", "number", "predicted to go at its end", "steps"),
    Column("agreement", "number", "share of the seeds that see it, 0 to 1"),
)
_COLUMNS = names(EVENT_COLUMNS)


def write_events(path: Path, events: Mapping[str, Sequence[Event]]) -> None:
    """Events by the id of their episode as csv; an episode without any has no row."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for episode_id, found in events.items():
        for event in found:
            values = (str(getattr(event, name)) for name in _COLUMNS[1:])
            rows.writerow((episode_id, *values))
    with written_whole(path) as temporary:
        temporary.write_text(text.getvalue(), encoding="utf-8", newline="")


def read_events(path: Path) -> dict[str, tuple[Event, ...]]:
    """What `write_events` wrote, to the digit; episodes without events are not in it."""
    found: dict[str, tuple[Event, ...]] = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            missing = set(_COLUMNS) - set(rows.fieldnames or ())
            if missing:
                raise ValueError(f"no column {', '.join(sorted(missing))}")
            for row in rows:
                event = Event(
                    kind=EventKind(row["kind"]),
                    frame=int(row["frame"]),
                    start=int(row["start"]),
                    end=int(row["end"]),
                    steps_before=float(row["steps_before"]),
                    steps_after=float(row["steps_after"]),
                    agreement=float(row["agreement"]),
                )
                found[row["episode"]] = (*found.get(row["episode"], ()), event)
    except FileNotFoundError as error:
        raise GoalwardError(f"{path}: no such file") from error
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise GoalwardError(f"{path}: is no list of events ({error})") from error
    return found
