"""The rules by which frames are dropped: each says what it drops, and why one might."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from goalward.errors import GoalwardError, argument
from goalward.rollouts.episode import Outcome
from goalward.runs.run import Run
from goalward.runs.settings import RunEpisode
from goalward.values.events import Event, EventKind

# First and last frame, both dropped.
Span = tuple[int, int]


@dataclass(frozen=True)
class Rule:
    """What of an episode is dropped: `find` names the stretches, from its events in order."""

    words: str
    find: Callable[[RunEpisode, tuple[Event, ...]], list[Span]]


def _whole(episode: RunEpisode) -> Span:
    return 0, episode.num_frames - 1


def _not_success(episode: RunEpisode, _: tuple[Event, ...]) -> list[Span]:
    return [] if episode.outcome is Outcome.SUCCESS else [_whole(episode)]


def _after_goal(episode: RunEpisode, _: tuple[Event, ...]) -> list[Span]:
    goal, last = episode.goal_frame, episode.num_frames - 1
    return [] if goal is None or goal == last else [(goal + 1, last)]


def _setbacks(episode: RunEpisode, events: tuple[Event, ...]) -> list[Span]:
    """What was done from the frame before the fall to the last before its bottom."""
    found = _before_the_goal(episode, events, EventKind.SETBACK)
    return [(event.start, event.end - 1) for event in found if event.end > event.start]


def _stalls(episode: RunEpisode, events: tuple[Event, ...]) -> list[Span]:
    found = _before_the_goal(episode, events, EventKind.STALL)
    return [(event.start, event.end) for event in found]


def _before_the_goal(
    episode: RunEpisode, events: tuple[Event, ...], kind: EventKind
) -> list[Event]:
    """Those that ended before the goal: what lasts until it is reached is the value's mistake.

    To drop it would take the very end of the task away, which nothing else shows.
    """
    goal = episode.num_frames if episode.goal_frame is None else episode.goal_frame
    return [event for event in events if event.kind is kind and event.end < goal]


def _no_return(episode: RunEpisode, events: tuple[Event, ...]) -> list[Span]:
    """Nothing after the point of no return led anywhere; nor did what led over it."""
    found = [event for event in events if event.kind is EventKind.NO_RETURN]
    return [(event.start, episode.num_frames - 1) for event in found]


RULES: Mapping[str, Rule] = {
    "not-success": Rule("episodes that did not succeed", _not_success),
    "after-goal": Rule("what was filmed after the goal", _after_goal),
    "setbacks": Rule("setbacks, from before the fall to its bottom; what follows stays", _setbacks),
    "stalls": Rule("stalls, frames that came no nearer", _stalls),
    "no-return": Rule(
        "of what did not succeed, all from where it last looked reachable", _no_return
    ),
}


def named_rules(names: tuple[str, ...]) -> dict[str, Rule]:
    """The rules of these names, in the order of the table.

    >>> list(named_rules(("stalls", "after-goal")))
    ['after-goal', 'stalls']
    """
    for name in names:
        if name not in RULES:
            raise GoalwardError(
                f"{argument('drop')}: no rule {name!r}; there are {', '.join(RULES)}"
            )
    return {name: rule for name, rule in RULES.items() if name in names}


@dataclass(frozen=True)
class Stretch:
    """Frames of an episode, first and last, that a rule drops."""

    episode: str
    first: int
    last: int
    rule: str


def dropped_stretches(run: Run, rules: Mapping[str, Rule], method: str) -> list[Stretch]:
    """What the rules drop, episode by episode; a frame may be dropped by several."""
    events = run.events_by(method)
    return [
        Stretch(episode.id, first, last, name)
        for episode in run.episodes
        for name, rule in rules.items()
        for first, last in rule.find(episode, events.get(episode.id, ()))
    ]
