"""The episodes of a run as a table: how each ended, how its end looks, what happened in it."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from goalward.errors import GoalwardError
from goalward.metrics.more_time import Verdict
from goalward.metrics.policy_answers import NearMiss, near_misses
from goalward.rollouts.endings import Endings
from goalward.rollouts.episode import Outcome
from goalward.values.events import EVENTS_OF, EventKind, largest

if TYPE_CHECKING:
    from goalward.runs.run import Run

SortedBy = Literal["setback", "stall", "chance", "steps", "value", "frames", "id"]


@dataclass(frozen=True)
class EpisodeRow:
    """One episode as the method sees it that speaks for the policy; None is "there is none".

    `value` (-1 at the goal, 1 never), `steps_to_go` (of the mean value; inf: never) and `chance`
    are of the last frame; `chance` is that of success if the episode were given its own clock
    again, the steps that it took. `verdict` says what that means for a time-out that was held out.
    Numbers of an episode that was learned from are not to be trusted: the networks know its end.

    `setback_steps` are those that its largest setback lost, `stall_frames` how long its longest
    stall lasted, `near_miss_steps` how near it looked that did not succeed; the frame of each is
    the one to look at.
    """

    id: str
    task: str
    outcome: Outcome
    num_frames: int
    seconds: float | None
    goal_frame: int | None
    held_out: bool
    value: float
    steps_to_go: float
    chance: float
    verdict: Verdict | None = None
    setback_steps: float | None = None
    setback_frame: int | None = None
    stall_frames: int | None = None
    stall_frame: int | None = None
    near_miss_steps: float | None = None
    near_miss_frame: int | None = None


def episode_rows(run: "Run") -> tuple[EpisodeRow, ...]:
    """A row per episode, in the order of the run."""
    curves, last = run.curves(), run.values.episode_ends - 1
    by_network = run.chances.within_steps_at_end(run.method, run.chances.clocks)
    chance = np.nanmean(by_network, axis=(0, 1)).tolist()
    value, steps = curves.value[last].tolist(), curves.steps[last].tolist()
    verdicts = {late.episode: late.verdict for late in run.scores.policy.more_time.late}
    rows: list[EpisodeRow] = []
    for position, (episode, miss) in enumerate(zip(run.episodes, _near_misses(run), strict=True)):
        setback = largest(run.events[episode.id], EventKind.SETBACK)
        stall = largest(run.events[episode.id], EventKind.STALL)
        rows.append(
            EpisodeRow(
                id=episode.id,
                task=episode.task,
                outcome=episode.outcome,
                num_frames=episode.num_frames,
                seconds=episode.seconds,
                goal_frame=episode.goal_frame,
                held_out=episode.held_out,
                value=value[position],
                steps_to_go=steps[position],
                chance=chance[position],
                verdict=verdicts.get(position),
                setback_steps=None if setback is None else setback.size,
                setback_frame=None if setback is None else setback.frame,
                stall_frames=None if stall is None else int(stall.size),
                stall_frame=None if stall is None else stall.frame,
                near_miss_steps=None if miss is None else miss.steps,
                near_miss_frame=None if miss is None else miss.frame,
            )
        )
    return tuple(rows)


def _near_misses(run: "Run") -> list[NearMiss | None]:
    """In the curve that events are found in."""
    goals = [-1 if episode.goal_frame is None else episode.goal_frame for episode in run.episodes]
    endings = Endings(run.values.episode_ends, np.array(goals))
    in_hindsight = EVENTS_OF == "hindsight"
    steps = run.curves().hindsight_steps_by_seed if in_hindsight else run.values.steps(run.method)
    return near_misses(np.asarray(steps, dtype=np.float64), endings, run.time_limit)


def sorted_rows(
    rows: tuple[EpisodeRow, ...], by: SortedBy = "setback", *, reverse: bool = False
) -> tuple[EpisodeRow, ...]:
    """What to look at first comes first; rows without the number come last, whichever way.

    The largest setback, the longest stall, the best chance, the most frames; the fewest steps to
    go and the lowest value, which are nearest to the goal; ids in their order, 9 before 10.
    """
    if by not in get_args(SortedBy):
        raise GoalwardError(f"episodes are sorted by {', '.join(get_args(SortedBy))}, not by {by}")
    if by == "id":
        return tuple(sorted(rows, key=lambda row: _in_order(row.id), reverse=reverse))

    def key(row: EpisodeRow) -> tuple[bool, float]:
        number = {
            "setback": row.setback_steps,
            "stall": row.stall_frames,
            "chance": row.chance,
            "steps": row.steps_to_go,
            "value": row.value,
            "frames": row.num_frames,
        }[by]
        is_rising = (by in ("steps", "value")) != reverse
        return number is None, 0.0 if number is None else number if is_rising else -number

    return tuple(sorted(rows, key=key))


def _in_order(episode_id: str) -> tuple[tuple[bool, int, str], ...]:
    """Digits count as numbers.

    >>> sorted(["b", "10", "9"], key=_in_order)
    ['9', '10', 'b']
    """
    parts = re.findall(r"\d+|\D+", episode_id)
    return tuple(
        (not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts
    )
