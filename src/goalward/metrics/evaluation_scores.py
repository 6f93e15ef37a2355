"""Everything an evaluation says in numbers: scores of the methods, answers about the policy."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from goalward.metrics.policy_answers import (
    MoreTime,
    Rate,
    StepsToSuccess,
    TimeOuts,
    WorthWatching,
    rate,
    steps_to_success,
    time_outs,
    with_twice_the_time,
    worth_watching,
)
from goalward.metrics.scores.calibration import Calibration, calibration_of_success
from goalward.metrics.scores.card import CardRow, scorecard
from goalward.metrics.scores.table import scores_tested
from goalward.metrics.uncertainty.significance import MethodTests, method_tests
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.endings import BoolArray, Endings, FloatArray, IndexArray
from goalward.rollouts.episode import Outcome
from goalward.values.events import Event
from goalward.values.table import ValueTable

_USUAL_SHARE = 0.9


@dataclass(frozen=True, eq=False)
class PolicyAnswers:
    """What outcomes and the values of the first method say of the policy."""

    success: Rate
    steps: StepsToSuccess
    num_time_out: int
    num_failure: int
    time_outs: TimeOuts
    more_time: MoreTime
    watch_first: tuple[WorthWatching, ...]


@dataclass(frozen=True, eq=False)
class EvaluationScores:
    """Scores of every method on held-out episodes, tests between methods, answers."""

    methods: tuple[str, ...]
    num_seeds: int
    num_held_out: int
    standard_horizon: int
    time_limit: int
    cards: Mapping[str, Mapping[str, CardRow]]
    calibration: Mapping[str, Calibration]
    tests: Mapping[str, MethodTests]
    policy: PolicyAnswers
    # Tasks whose value functions learned from successes alone, or from none.
    one_sided_tasks: tuple[str, ...] = ()


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


def score_values(
    values: ValueTable,
    rollouts: Rollouts,
    held_out: BoolArray,
    training: IndexArray | None,
    standard_horizon: int | None,
    events: tuple[tuple[Event, ...], ...],
) -> EvaluationScores:
    """Score every method on the held-out episodes; the first method speaks for the policy.

    `training` are positions of episodes that all networks learned from, for the threshold that
    is chosen in training; None where folds differ. `events` are those of every episode, as the
    first method sees them.
    """
    everything = rollouts.endings
    horizon = usual_steps(everything) if standard_horizon is None else standard_horizon
    time_limit = max(int(everything.lengths.max()) - 1, 1)
    tested = np.flatnonzero(held_out)
    endings = rollouts.select(tested).endings
    cards: dict[str, dict[str, CardRow]] = {}
    calibrations: dict[str, Calibration] = {}
    for method in values.methods:
        steps = np.asarray(values.steps(method), dtype=np.float64)
        learned = None
        if training is not None:
            learned = (_frames(steps, values, training), rollouts.select(training).endings)
        judged = _frames(steps, values, tested)
        cards[method] = scorecard(judged, endings, horizon, training=learned)
        # The chance of success in time is the share of seeds that see it coming.
        chance = (judged <= horizon).mean(axis=0)
        limit = time_limit + 1
        calibrations[method] = calibration_of_success(chance, endings, horizon, time_limit=limit)
    first = np.asarray(values.steps(values.methods[0]), dtype=np.float64)
    return EvaluationScores(
        methods=values.methods,
        num_seeds=len(values.seeds),
        num_held_out=len(tested),
        standard_horizon=horizon,
        time_limit=time_limit,
        cards=cards,
        calibration=calibrations,
        tests=_tests(cards, len(values.seeds)),
        policy=_answers(
            _frames(first, values, tested), first, events, rollouts, tested, horizon, time_limit
        ),
        one_sided_tasks=() if training is None else _one_sided_tasks(rollouts.select(training)),
    )


def _one_sided_tasks(training: Rollouts) -> tuple[str, ...]:
    kinds: dict[str, set[bool]] = {}
    for episode in training:
        kinds.setdefault(episode.task, set()).add(episode.outcome is Outcome.SUCCESS)
    return tuple(task for task, found in kinds.items() if task and len(found) == 1)


def _frames(steps: FloatArray, values: ValueTable, episodes: IndexArray) -> FloatArray:
    """The columns of some episodes, in the order of the recording."""
    lengths = np.diff(values.episode_ends, prepend=0)
    episode_of = np.repeat(np.arange(len(lengths)), lengths)
    return steps[:, np.isin(episode_of, episodes)]


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
    held_out_steps: FloatArray,
    steps: FloatArray,
    events: tuple[tuple[Event, ...], ...],
    rollouts: Rollouts,
    tested: IndexArray,
    horizon: int,
    time_limit: int,
) -> PolicyAnswers:
    counts = {outcome: int((rollouts.outcomes == outcome).sum()) for outcome in Outcome}
    held_out = rollouts.select(tested).endings
    late = time_outs(held_out_steps, held_out, standard_horizon=horizon, time_limit=time_limit)
    # Positions among all episodes, not among those that were held out.
    late = replace(late, episodes=tuple(int(tested[position]) for position in late.episodes))
    return PolicyAnswers(
        success=rate(counts[Outcome.SUCCESS], len(rollouts)),
        steps=steps_to_success(rollouts.endings),
        num_time_out=counts[Outcome.TIME_OUT],
        num_failure=counts[Outcome.FAILURE],
        time_outs=late,
        more_time=with_twice_the_time(
            counts[Outcome.SUCCESS],
            counts[Outcome.TIME_OUT],
            counts[Outcome.FAILURE],
            late.in_time,
        ),
        watch_first=worth_watching(steps, rollouts.endings, events, ceiling=time_limit),
    )
