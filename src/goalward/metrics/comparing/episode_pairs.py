"""Episodes of two policies to look at side by side: from one start where that is known."""

from collections.abc import Collection
from dataclasses import dataclass

from goalward.metrics.comparing.pairing import Meeting, meeting_by_start, meeting_by_task, starts_of
from goalward.metrics.comparing.result import Comparison, PairComparison
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable
from goalward.rollouts.episode import Outcome

# A page lists no more of two policies.
_MOST_EPISODES = 200


@dataclass(frozen=True)
class EpisodePair:
    """Two episodes of one task, by their names; `initial_state` where both began in the same."""

    task: str
    initial_state: str | None
    first: str
    second: str
    outcomes: tuple[Outcome, Outcome]


@dataclass(frozen=True)
class EpisodePairs:
    """Of two policies: pairs that ended unlike come first, for these say who is better.

    `alike`: whether the two of a pair started alike; None where some episode does not say where it
    started. Episodes that were not compared by their starts are not alike.
    """

    first: str
    second: str
    alike: bool | None
    pairs: tuple[EpisodePair, ...]
    num_pairs: int


def episode_pairs(
    table: OutcomeTable, comparison: Comparison, policies: Collection[str]
) -> list[EpisodePairs]:
    """Of every two of these policies, the episodes that were compared with each other."""
    found: list[EpisodePairs] = []
    for pair in comparison.pairs:
        if pair.first in policies and pair.second in policies:
            meeting = meeting_of(table, pair)
            pairs = [_pair(meeting, *row) for row in meeting.together.tolist()]
            pairs.sort(key=lambda one: one.outcomes[0] is one.outcomes[1])
            shown = tuple(pairs[:_MOST_EPISODES])
            alike = pair.paired if _says_starts(meeting) else None
            found.append(EpisodePairs(pair.first, pair.second, alike, shown, len(pairs)))
    return found


def meeting_of(table: OutcomeTable, pair: PairComparison) -> Meeting:
    """The episodes that a comparison of two policies was over."""
    place = {policy.policy: number for number, policy in enumerate(table.policies)}
    i, j = place[pair.first], place[pair.second]
    starts = starts_of(table) if pair.paired else None
    if starts is not None:
        return meeting_by_start(table, starts, i, j)
    return meeting_by_task(table.policies[i], table.policies[j], [])


def _says_starts(meeting: Meeting) -> bool:
    sides = (meeting.first.episodes, meeting.second.episodes)
    return all(episode.initial_state is not None for side in sides for episode in side)


def _pair(meeting: Meeting, first: int, second: int) -> EpisodePair:
    one, other = meeting.first.episodes[first], meeting.second.episodes[second]
    return EpisodePair(
        task=one.task,
        initial_state=one.initial_state if meeting.paired else None,
        first=one.episode,
        second=other.episode,
        outcomes=(one.outcome, other.outcome),
    )
