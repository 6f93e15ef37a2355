"""What can be warned of before any work: too few episodes, one outcome, mixed clocks, copies."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from goalward.config import EvaluationConfig
from goalward.errors import argument
from goalward.rollouts.clocks import mixed_clocks
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import counted, some_of

_FEW_EPISODES = 8


def notices_of(rollouts: Rollouts, config: EvaluationConfig) -> list[str]:
    """Everything that can be warned of before any work, each with what would change it."""
    found: list[str] = []
    outcomes = Counter(Outcome(str(outcome)) for outcome in rollouts.outcomes)
    if len(rollouts) < _FEW_EPISODES:
        found.append(f"{counted(rollouts)} are few: intervals will be wide, and values uncertain")
    if not outcomes[Outcome.SUCCESS]:
        found.append(
            "no episode succeeded: there is nothing to learn the way to the goal from; if some "
            f"did, their labels are missing ({argument('success_key')}, {argument('labels')})"
        )
    elif outcomes[Outcome.SUCCESS] == len(rollouts):
        found.append("every episode succeeded: there is nothing to tell apart")
    found += _task_notices(rollouts, config)
    found += mixed_clocks(rollouts)
    twice = [number for number in Counter(_looks(rollouts)).values() if number > 1]
    if twice:
        found.append(
            f"{sum(twice)} episodes have the same frames as another: identical rollouts count as "
            "many and are worth one"
        )
    return found


def _task_notices(rollouts: Rollouts, config: EvaluationConfig) -> list[str]:
    kinds: dict[str, list[bool]] = {}
    for episode in rollouts:
        kinds.setdefault(episode.task, []).append(episode.outcome is Outcome.SUCCESS)
    if len(kinds) < 2:
        return []
    alone = [task for task, found in kinds.items() if len(found) == 1]
    one_sided = [task for task, found in kinds.items() if len(found) > 1 and len(set(found)) == 1]
    told: list[str] = []
    apart = f" (without {argument('per_task')} they learn from the other tasks)"
    apart = apart if config.per_task else "; they learn from the other tasks"
    if one_sided:
        told.append(
            f"{counted(one_sided, 'task')} of {len(kinds)} have one outcome only "
            f"({_short(one_sided)}){apart}"
        )
    if alone:
        told.append(
            f"{counted(alone, 'task')} of {len(kinds)} have one episode ({_short(alone)}){apart}"
        )
    return told


def _short(tasks: Sequence[str]) -> str:
    return some_of([task if len(task) <= 40 else f"{task[:39]}…" for task in tasks], most=3)


def _looks(rollouts: Rollouts) -> list[object]:
    """What tells episodes apart: all their numbers, where there are any."""
    features = rollouts.features
    numbers = rollouts.proprioception if features is None else features
    if not numbers.shape[1]:
        return list(range(len(rollouts)))
    starts = rollouts.episode_ends - rollouts.lengths
    ends = rollouts.episode_ends
    return [
        hash(np.ascontiguousarray(numbers[a:b]).tobytes())
        for a, b in zip(starts, ends, strict=True)
    ]
