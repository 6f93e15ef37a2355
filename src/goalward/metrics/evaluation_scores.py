"""Everything an evaluation says in numbers: scores of the methods, answers about the policy."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from goalward.metrics.more_time import MoreTime, more_time
from goalward.metrics.policy_answers import (
    Rate,
    StepsToSuccess,
    WorthWatching,
    rate,
    steps_to_success,
    worth_watching,
)
from goalward.metrics.scores.calibration import Calibration, calibration_of_success
from goalward.metrics.scores.card import CardRow, scorecard
from goalward.metrics.scores.table import scores_tested
from goalward.metrics.task_answers import TaskAnswers, task_answers
from goalward.metrics.truth.card import chance_steps
from goalward.metrics.uncertainty.significance import MethodTests, method_tests
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.endings import BoolArray, Endings, FloatArray, IndexArray
from goalward.rollouts.episode import Outcome
from goalward.values.chances import ChanceTable, chance_points
from goalward.values.clocks import task_clocks
from goalward.values.events import Event
from goalward.values.table import ValueTable

_USUAL_SHARE = 0.9


@dataclass(frozen=True, eq=False)
class PolicyAnswers:
    """What outcomes, and chances and values of the first method, say of the policy."""

    success: Rate
    """Successes among all episodes."""
    steps: StepsToSuccess
    """How long successes took."""
    num_time_out: int
    """Episodes whose clock ran out."""
    num_failure: int
    """Episodes that ended before their clock without the goal."""
    more_time: MoreTime
    """What time-outs are expected to do with more time."""
    watch_first: tuple[WorthWatching, ...]
    """Episodes that a person should look at first, the most telling before the others."""


@dataclass(frozen=True, eq=False)
class EvaluationScores:
    """Scores of every method on held-out episodes, tests between methods, answers."""

    methods: tuple[str, ...]
    """The first one speaks for the policy; scores of other programs come last."""
    num_seeds: int
    """Trainings of every method."""
    num_held_out: int
    """Episodes that no network learned from which judged them."""
    standard_horizon: int
    """Steps in which the task is usually done."""
    time_limit: int
    """Steps of the longest episode."""
    cards: Mapping[str, Mapping[str, CardRow]]
    """Method -> name of a score (docs/metrics.md) -> the score."""
    calibration: Mapping[str, Calibration]
    """Method -> its chances of success within the standard horizon against outcomes."""
    tests: Mapping[str, MethodTests]
    """Name of a score -> tests between methods."""
    policy: PolicyAnswers
    """What all of it says of the policy."""
    one_sided_tasks: tuple[str, ...] = ()
    """Tasks whose value functions learned from successes alone, or from none."""
    tasks: TaskAnswers | None = None
    """The same by task; none where all episodes attempt one."""

    def __repr__(self) -> str:
        methods = ", ".join(self.methods)
        return (
            f"EvaluationScores({methods}; seeds: {self.num_seeds}, held out: {self.num_held_out})"
        )


def usual_steps(endings: Endings) -> int:
    """The standard horizon where none is given: steps in which nine of ten successes were done.

    Without a success, the length of the longest episode.

    >>> usual_steps(Endings(np.array([11, 32]), np.array([10, 20])))
    20
    """
    steps = endings.goal_frames[endings.success]
    if len(steps) == 0:
        return max(int(endings.lengths.max()) - 1, 1)
    return max(int(np.quantile(steps, _USUAL_SHARE, method="higher")), 1)


def steps_of_chances(endings: Endings, standard_horizon: int | None) -> IndexArray:
    """The numbers of steps to ask chances for: where they are judged they are not read off a line.

    Up to three longest clocks; the standard horizon, half and twice that, and the longest clock
    are among them.
    """
    horizon = usual_steps(endings) if standard_horizon is None else standard_horizon
    longest = max(int(endings.lengths.max()) - 1, 1)
    return chance_points(longest, (*chance_steps(horizon), longest))


def score_values(
    values: ValueTable,
    chances: ChanceTable,
    rollouts: Rollouts,
    held_out: BoolArray,
    training: IndexArray | None,
    standard_horizon: int | None,
    events: tuple[tuple[Event, ...], ...],
    watched: FloatArray | None = None,
) -> EvaluationScores:
    """Score every method on the held-out episodes; the first method speaks for the policy.

    `training` are positions of episodes that all networks learned from, for the threshold that
    is chosen in training; None where folds differ. `events` are those of every episode, as the
    first method sees them in the steps to go `watched`, (seeds, frames); None: in the table's.
    """
    everything = rollouts.endings
    horizon = usual_steps(everything) if standard_horizon is None else standard_horizon
    time_limit = max(int(everything.lengths.max()) - 1, 1)
    tested = np.flatnonzero(held_out)
    clocks = task_clocks(everything, [episode.task for episode in rollouts])[tested]
    endings = rollouts.select(tested).endings
    cards: dict[str, dict[str, CardRow]] = {}
    calibrations: dict[str, Calibration] = {}
    for method in values.methods:
        steps = np.asarray(values.steps(method), dtype=np.float64)
        learned = None
        if training is not None:
            learned = (_frames(steps, values, training), rollouts.select(training).endings)
        judged = _frames(steps, values, tested)
        chance = _frames(chances.within_steps(method, horizon), values, tested)
        cards[method] = scorecard(judged, endings, horizon, training=learned, chance=chance)
        calibrations[method] = calibration_of_success(
            chance, endings, horizon, time_limit=clocks + 1
        )
    first = np.asarray(values.steps(values.methods[0]), dtype=np.float64)
    policy = _answers(
        chances, first if watched is None else watched, events, rollouts, held_out, time_limit
    )
    return EvaluationScores(
        methods=values.methods,
        num_seeds=len(values.seeds),
        num_held_out=len(tested),
        standard_horizon=horizon,
        time_limit=time_limit,
        cards=cards,
        calibration=calibrations,
        tests=_tests(cards, len(values.seeds)),
        policy=policy,
        one_sided_tasks=() if training is None else _one_sided_tasks(rollouts.select(training)),
        tasks=task_answers(first, chances, policy.more_time, rollouts, held_out, horizon),
    )


def _one_sided_tasks(training: Rollouts) -> tuple[str, ...]:
    kinds: dict[str, set[bool]] = {}
    for episode in training:
        kinds.setdefault(episode.task, set()).add(episode.outcome is Outcome.SUCCESS)
    return tuple(task for task, found in kinds.items() if task and len(found) == 1)


def _frames(steps: FloatArray, values: ValueTable, episodes: IndexArray) -> FloatArray:
    """The frames of some episodes, in the order of the recording: (..., frames)."""
    lengths = np.diff(values.episode_ends, prepend=0)
    episode_of = np.repeat(np.arange(len(lengths)), lengths)
    return steps[..., np.isin(episode_of, episodes)]


def _tests(cards: Mapping[str, Mapping[str, CardRow]], num_seeds: int) -> dict[str, MethodTests]:
    """Tests between methods over seeds, for each score that every seed of all methods has."""
    tests: dict[str, MethodTests] = {}
    if len(cards) < 2 or num_seeds < 2:
        return tests
    for metric in scores_tested():
        scores = {
            method: [score.value for score in card[metric].by_seed if score.value is not None]
            for method, card in cards.items()
        }
        if all(len(by_seed) == num_seeds for by_seed in scores.values()):
            tests[metric] = method_tests(scores)
    return tests


def _answers(
    chances: ChanceTable,
    watched: FloatArray,
    events: tuple[tuple[Event, ...], ...],
    rollouts: Rollouts,
    held_out: BoolArray,
    time_limit: int,
) -> PolicyAnswers:
    counts = {outcome: int((rollouts.outcomes == outcome).sum()) for outcome in Outcome}
    return PolicyAnswers(
        success=rate(counts[Outcome.SUCCESS], len(rollouts)),
        steps=steps_to_success(rollouts.endings),
        num_time_out=counts[Outcome.TIME_OUT],
        num_failure=counts[Outcome.FAILURE],
        more_time=more_time(chances, rollouts.endings, held_out),
        watch_first=worth_watching(watched, rollouts.endings, events, ceiling=time_limit),
    )
