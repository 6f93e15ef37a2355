"""What is known of each task: its rate, its time-outs, whether values can be trusted there."""

from dataclasses import dataclass

import numpy as np

from goalward.metrics.expected_share import expected_share
from goalward.metrics.more_time import MoreTime, chances_with_twice
from goalward.metrics.policy_answers import Rate, rate
from goalward.metrics.score import Interval, Score, no_interval
from goalward.metrics.scores.card import scorecard
from goalward.metrics.scores.table import SCORES
from goalward.metrics.uncertainty.equal_rates import (
    ALPHA,
    EqualRates,
    against_the_rest,
    equal_rates,
)
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.endings import BoolArray, FloatArray, IndexArray
from goalward.rollouts.episode import Outcome
from goalward.values.chances import ChanceTable

# The AUROC of values that know nothing.
COIN = 0.5
ONE_OUTCOME = "one outcome only"
ONE_EPISODE = "one episode"
NONE_HELD_OUT = "no episode held out"
TOO_FEW = "too few episodes"


@dataclass(frozen=True)
class TaskAnswer:
    """One task: outcomes of all its episodes, and what held-out ones say of values there.

    `share` is that of its time-outs expected to succeed with twice the time, over the `num_late`
    that were held out; `auroc` that of frames of the first method, within the task. `p_value`:
    could the task be as good as all others together (exact, adjusted over tasks)?
    """

    task: str
    """Its name."""
    success: Rate
    """Successes among its episodes."""
    num_time_out: int
    """Its time-outs."""
    num_failure: int
    """Its failures."""
    num_held_out: int
    """Its episodes that were held out."""
    num_late: int
    share: Score
    share_interval: Interval
    """Of the share."""
    auroc: Score
    auroc_interval: Interval
    """Of the AUROC."""
    p_value: float

    @property
    def values_tell(self) -> bool | None:
        """Whether values tell successes from others here; None where that cannot be checked."""
        low = self.auroc_interval.low
        return None if low is None else low > COIN

    @property
    def unchecked(self) -> str:
        """Why that cannot be checked; empty where it can."""
        return self.auroc_interval.reason


@dataclass(frozen=True)
class TaskAnswers:
    """Every task in the order of first appearance, and whether their rates differ."""

    tasks: tuple[TaskAnswer, ...]
    """A row each."""
    equal_rates: EqualRates
    """Whether all have one rate of success."""

    @property
    def overall(self) -> float:
        """The success rate of all episodes."""
        count = sum(one.success.count for one in self.tasks)
        return count / sum(one.success.total for one in self.tasks)

    @property
    def most_telling_first(self) -> tuple[TaskAnswer, ...]:
        """Most episodes first, then those whose rate lies furthest from that of all."""
        overall = self.overall

        def order(one: TaskAnswer) -> tuple[int, float]:
            return -one.success.total, -abs((one.success.value or 0.0) - overall)

        return tuple(sorted(self.tasks, key=order))

    def standing_out(self, *, above: bool) -> tuple[TaskAnswer, ...]:
        """Tasks that differ from all others together, better or worse than these."""
        overall = self.overall
        return tuple(
            one
            for one in self.most_telling_first
            if one.p_value <= ALPHA and above == ((one.success.value or 0.0) > overall)
        )


def task_answers(
    steps: FloatArray,
    chances: ChanceTable,
    more: MoreTime,
    rollouts: Rollouts,
    held_out: BoolArray,
    horizon: int,
) -> TaskAnswers | None:
    """The answers by task, None where all episodes attempt one.

    `steps` (seeds, frames) are those of the method that speaks, which comes first in `chances`;
    `more` is what it expects of all time-outs.
    """
    positions: dict[str, list[int]] = {}
    for position, episode in enumerate(rollouts):
        positions.setdefault(episode.task, []).append(position)
    if len(positions) < 2:
        return None
    by_task = {task: np.array(found) for task, found in positions.items()}
    rates = [
        rate(int(rollouts.endings.success[found].sum()), len(found)) for found in by_task.values()
    ]
    counts, totals = [one.count for one in rates], [one.total for one in rates]
    late = np.array([one.episode for one in more.late], dtype=np.int64)
    with_twice = chances_with_twice(chances)
    answers: list[TaskAnswer] = []
    for (task, found), success, p_value in zip(
        by_task.items(), rates, against_the_rest(counts, totals), strict=True
    ):
        outcomes = rollouts.outcomes[found]
        num_time_out = int((outcomes == Outcome.TIME_OUT).sum())
        own_late, tested = np.intersect1d(late, found), found[held_out[found]]
        share, share_interval = _share(with_twice[:, :, own_late], num_time_out, more)
        auroc, auroc_interval = _auroc(steps, rollouts, tested, horizon)
        answers.append(
            TaskAnswer(
                task=task,
                success=success,
                num_time_out=num_time_out,
                num_failure=int((outcomes == Outcome.FAILURE).sum()),
                num_held_out=len(tested),
                num_late=len(own_late),
                share=share,
                share_interval=share_interval,
                auroc=auroc,
                auroc_interval=auroc_interval,
                p_value=p_value,
            )
        )
    return TaskAnswers(tuple(answers), equal_rates(counts, totals))


def _share(by_network: FloatArray, num_time_out: int, more: MoreTime) -> tuple[Score, Interval]:
    """Of the held-out time-outs of a task; where none is, why."""
    if num_time_out == 0:
        return _none("no episode timed out")
    if not more.twice.share.defined:
        return _none(more.twice.share.reason)
    if by_network.shape[-1] == 0:
        return _none("no timed-out episode was held out")
    return expected_share(by_network)


def _auroc(
    steps: FloatArray, rollouts: Rollouts, tested: IndexArray, horizon: int
) -> tuple[Score, Interval]:
    """Of the frames of some episodes among themselves."""
    everything = rollouts.endings
    num_success = int(everything.success[tested].sum())
    if len(tested) < 2:
        return _none(ONE_EPISODE if len(tested) else NONE_HELD_OUT)
    if num_success in (0, len(tested)):
        return _none(ONE_OUTCOME)
    parts = zip(everything.starts[tested], everything.episode_ends[tested], strict=True)
    judged = np.concatenate([steps[:, start:end] for start, end in parts], axis=1)
    endings = rollouts.select(tested).endings
    kinds = {"frame_auroc": SCORES["frame_auroc"]}
    row = scorecard(judged, endings, horizon, kinds=kinds)["frame_auroc"]
    if row.over_seeds.mean.value is None:
        return _none(row.over_seeds.mean.reason)
    interval = row.interval
    return row.over_seeds.mean, no_interval(TOO_FEW, 0.95) if interval.low is None else interval


def _none(reason: str) -> tuple[Score, Interval]:
    return Score(None, reason), no_interval(reason, 0.95)
