"""How much better than expected a frame turned out: in hindsight, n steps later, or at the end.

Everything here is on a scale where more is better, as the tools that read advantages want it: the
*worth* of a frame is at most 0, and 0 means at the goal. There are two such scales, and both obey
one equation, worth(t) = reward + discount * worth(t + 1):

| unit | worth | reward of a step | discount | never |
|---|---|---|---|---|
| steps | -min(k, ceiling) | -1 | 1 | -ceiling |
| value | discount^k - 1 = -(1 + V) / 2 | -(1 - discount) | discount | -1 |

with k the predicted steps to go and V = 1 - 2 discount^k the value.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError
from goalward.rollouts.episode import Outcome

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

UNITS = ("steps", "value")


@dataclass(frozen=True)
class WorthScale:
    """A scale on which a frame is worth what its successor is, less the price of a step."""

    reward: float
    discount: float
    never: float

    @classmethod
    def of(cls, unit: str, *, discount: float, ceiling: float) -> "WorthScale":
        if unit == "steps":
            return cls(reward=-1.0, discount=1.0, never=-float(ceiling))
        if unit == "value":
            return cls(reward=-(1.0 - discount), discount=discount, never=-1.0)
        raise GoalwardError(f"no unit {unit!r}; there are: {', '.join(UNITS)}")

    def worth(self, steps: npt.NDArray[np.floating]) -> FloatArray:
        """The worth of frames with so many steps to go; inf is never.

        >>> WorthScale.of("steps", discount=0.5, ceiling=60).worth(np.array([0, 3, 80, np.inf]))
        array([ -0.,  -3., -60., -60.])
        >>> WorthScale.of("value", discount=0.5, ceiling=60).worth(np.array([0, 3, np.inf]))
        array([ 0.   , -0.875, -1.   ])
        """
        steps = np.asarray(steps, dtype=np.float64)
        if self.discount == 1.0:
            return -np.minimum(steps, -self.never)
        return self.discount**steps - 1.0


@dataclass(frozen=True, eq=False)
class Advantages:
    """An array per quantity, a number per frame; in all of them

        advantage = reward_sum + discount^num_valid_rewards * worth_next - worth
        reward_sum = outcome(t) - discount^n * outcome(t + n)       n frames ahead there is a frame
        reward_sum = outcome(t), worth_next = 0                     there is none

    In hindsight n is 1, and `worth_next` mixes what the next frame was and turned out to be worth.
    `outcome` is the return: what the episode really brought from here on. `is_open` are the frames
    before the goal, where something could still be gained or lost.
    """

    advantage: FloatArray
    outcome: FloatArray
    worth: FloatArray
    worth_next: FloatArray
    reward_sum: FloatArray
    num_valid_rewards: IntArray
    is_open: BoolArray

    @classmethod
    def joined(cls, parts: "list[Advantages]") -> "Advantages":
        """Those of many episodes, one after the other."""
        names = cls.__dataclass_fields__
        return cls(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in names})


def episode_advantages(
    worth: FloatArray,
    outcome: Outcome,
    goal_frame: int | None,
    *,
    scale: WorthScale,
    n: int | None = None,
    decay: float | None = None,
) -> Advantages:
    """The advantage of every frame of one episode: in hindsight where a decay is given; else n
    steps ahead, or to the end where n is None.

    In hindsight it is the hindsight worth of a frame less its worth, the generalised advantage of
    Schulman et al. (2016), lambda being the decay:

        A(t) = H(t) - w(t),   H(t) = reward + discount * ((1 - decay) * w(t + 1) + decay * H(t + 1))

    in value half of the value less the hindsight value, (V - H) / 2; in steps the same sum on the
    scale of steps. A decay of 0 is n = 1, a decay of 1 is to the end.

    Else in steps, k(t) being the predicted steps to go: A(t) = k(t) - n - k(t + n), how many steps
    more than the clock took were gained. In value: A(t) = discount^n p(t + n) - p(t) with
    p = discount^k = (1 - V) / 2, which is half of V(t) - (1 - discount^n) - discount^n V(t + n).

    What is known is not predicted. At the goal and after it nothing is to go: worth 0, and the
    clock stands still, so that A is 0 there. The last frame of a failure is worth never. How a
    time-out would have gone on is unknown: its last frame is worth what was predicted, and the
    outcome of its frames rests on that. With fewer than n frames ahead, and to the end, the
    outcome takes the place of the prediction: k(t) - (steps to the goal) in a success,
    k(t) - (steps to the last frame) - k(last frame) in a time-out.

    >>> scale = WorthScale.of("steps", discount=0.9, ceiling=60)
    >>> found = episode_advantages(
    ...     np.array([-5.0, -2.0, -2.0, -9.0]), Outcome.SUCCESS, 2, scale=scale, n=1
    ... )
    >>> found.advantage
    array([2., 1., 0., 0.])
    >>> episode_advantages(
    ...     np.array([-5.0, -2.0, -2.0, -9.0]), Outcome.SUCCESS, 2, scale=scale, decay=0.5
    ... ).advantage
    array([2.5, 1. , 0. , 0. ])
    """
    if decay is not None:
        n = 1
    if n is not None and n < 1:
        raise GoalwardError(f"an advantage looks at least 1 step ahead, got {n}")
    num_frames = len(worth)
    known = np.array(worth, dtype=np.float64)
    rewards = np.full(num_frames, scale.reward)
    is_open = np.ones(num_frames, dtype=np.bool_)
    if outcome is Outcome.SUCCESS and goal_frame is not None:
        known[goal_frame:] = 0.0
        rewards[goal_frame:] = 0.0
        is_open[goal_frame:] = False
    else:
        if outcome is Outcome.FAILURE:
            known[-1] = scale.never
        rewards[-1] = known[-1]
    brought = rewards.copy()
    for t in range(num_frames - 2, -1, -1):
        brought[t] += scale.discount * brought[t + 1]

    n = num_frames if n is None else min(n, num_frames)
    has_next = np.arange(num_frames) + n < num_frames
    valid = np.minimum(n, num_frames - np.arange(num_frames)).astype(np.int64)
    worth_next, brought_next = np.zeros(num_frames), np.zeros(num_frames)
    ahead = known if decay is None else _in_hindsight(known, rewards, scale.discount, decay)
    worth_next[has_next], brought_next[has_next] = ahead[n:], brought[n:]
    reward_sum = brought - scale.discount**n * brought_next
    return Advantages(
        advantage=reward_sum + scale.discount**valid * worth_next - known,
        outcome=brought,
        worth=known,
        worth_next=worth_next,
        reward_sum=reward_sum,
        num_valid_rewards=valid,
        is_open=is_open,
    )


def _in_hindsight(
    worth: FloatArray, rewards: FloatArray, discount: float, decay: float
) -> FloatArray:
    """(1 - decay) * w(t) + decay * H(t): what a frame is worth to the one before it."""
    seen = worth.copy()
    for t in range(len(worth) - 2, -1, -1):
        hindsight = rewards[t] + discount * seen[t + 1]
        seen[t] = (1.0 - decay) * worth[t] + decay * hindsight
    return seen
