"""Which of the episodes that were run make the data set."""

from collections.abc import Mapping
from itertools import takewhile

from goalward.simulate.recording.data_set import Plan

# A policy that succeeds, or fails, less than once in forty times is not balanced by patience.
_ATTEMPTS_PER_EPISODE = 20


def most_attempts(plan: Plan) -> int:
    """How many episodes are run before giving up."""
    return plan.episodes * (_ATTEMPTS_PER_EPISODE if plan.balanced else 1)


def chosen_numbers(successes: Mapping[int, bool], plan: Plan) -> list[int]:
    """Numbers of the episodes to take; none while that is not certain.

    The first ones, or the first half of successes and the first half of time-outs. An episode
    counts once all before it are known, so that the order in which they end changes nothing.

    >>> plan = Plan(task="square", policy="noisy", episodes=2, balanced=True, seed=0, size=128,
    ...             every=1, time_out=200, standard_horizon=100)
    >>> chosen_numbers({0: True, 1: True, 3: False}, plan)
    []
    >>> chosen_numbers({0: True, 1: True, 2: True, 3: False}, plan)
    [0, 3]
    """
    chosen: list[int] = []
    room = {True: plan.episodes // 2, False: plan.episodes // 2}
    for number in takewhile(successes.__contains__, range(most_attempts(plan))):
        if not plan.balanced or room[successes[number]]:
            chosen.append(number)
            room[successes[number]] -= 1
        if len(chosen) == plan.episodes:
            return chosen
    return []
