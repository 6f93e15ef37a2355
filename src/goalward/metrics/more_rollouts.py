"""How many more rollouts a question about one policy needs, if things stay as they now seem.

They do not quite: read the answers as an order of magnitude.
"""

from math import ceil

from goalward.metrics.doubts import CHANCE
from goalward.metrics.policy_answers import Rate
from goalward.metrics.trust import Trust
from goalward.metrics.uncertainty.proportions import wilson

# Half the width of the interval that a success rate is asked for: 10 points either way.
POINTS = 0.10
# Held-out episodes of each of the two outcomes from which an AUROC of 0.75 is told from a coin's:
# Hanley and McNeil's standard error (1982) with 8 and 8 is 0.126, and 0.75 - 1.96 * 0.126 > 0.5.
EACH_OUTCOME = 8
# Nobody records more for one answer; beyond it the answer is None.
MOST = 10_000


def rollouts_for_rate(rate: Rate, half_width: float = POINTS) -> int | None:
    """More rollouts until Wilson's interval reaches no further than this from its middle.

    At the rate seen so far; 0 where it is narrow enough already, None where nobody records so
    many.

    >>> from goalward.metrics.policy_answers import rate
    >>> [rollouts_for_rate(rate(count, total)) for count, total in ((24, 48), (48, 50), (8, 8))]
    [45, 0, 8]
    """
    share = 0.5 if rate.value is None else rate.value
    for total in range(rate.total, MOST + 1):
        if total == 0:
            continue
        low, high = wilson(share * total, total, rate.interval.level)
        if float(high - low) <= 2 * half_width:
            return total - rate.total
    return None


def rollouts_for_trust(trust: Trust, success: Rate) -> int | None:
    """More rollouts until one could tell whether the values know anything; None: more do not help.

    An interval shrinks with the square root of the number of episodes. Where there is none yet,
    it takes `EACH_OUTCOME` episodes of either outcome, at the success rate seen so far. Values
    that are no better than a coin in the mean are not mended by more of the same, once there are
    so many: of fewer nobody can tell.

    >>> from goalward.metrics.policy_answers import rate
    >>> from goalward.metrics.score import Interval, Score
    >>> from goalward.metrics.trust import Grade
    >>> weak = Trust("td", Grade.WEAK, 20, Score(0.6), Interval(0.45, 0.75))
    >>> rollouts_for_trust(weak, rate(10, 20))
    26
    >>> unknown = Trust("td", Grade.UNKNOWN, 6, Score(0.6), Interval(None, None, reason="few"))
    >>> rollouts_for_trust(unknown, rate(2, 6))
    18
    """
    skill, low = trust.skill.value, trust.skill_interval.low
    if skill is None or low is None:
        return _for_both_outcomes(success)
    if skill <= CHANCE:
        return _for_both_outcomes(success) or None
    wanted = trust.num_held_out * ((skill - low) / (skill - CHANCE)) ** 2
    # One more than where the interval just touches a coin's.
    more = max(ceil(wanted) - trust.num_held_out, 0) + 1 if low <= CHANCE else 0
    return more if more <= MOST else None


def _for_both_outcomes(success: Rate) -> int | None:
    """Until there are enough of both, at the rate so far; a rate of 0 or 1 gives no answer."""
    share = success.value
    if share is None or share in (0.0, 1.0):
        return None
    missing = (EACH_OUTCOME / share, EACH_OUTCOME / (1 - share))
    more = max(ceil(max(missing)) - success.total, 0)
    return more if more <= MOST else None
