"""What a run found: scores of its methods, answers about its policy, how far from the truth."""

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goalward.config import EvaluationConfig
from goalward.errors import argument
from goalward.metrics.doubts import Doubt, doubts_of
from goalward.metrics.evaluation_scores import EvaluationScores, score_values
from goalward.metrics.truth.card import TruthCard, truth_card
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.metrics.truth.known_frames import known_frames
from goalward.rollouts.dataset import Rollouts
from goalward.training.presets import hyperparameters
from goalward.values.events import Event, table_events
from goalward.values.table import ValueTable

BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Results:
    """Everything in numbers; `truth` where a simulator could tell it, `doubts` where the values
    of the speaking method are not to be relied on."""

    scores: EvaluationScores
    truth: TruthCard | None = None
    doubts: tuple[Doubt, ...] = ()


def common_discount(config: EvaluationConfig, time_limit: int) -> float:
    """The common scale of all methods: the discount that those with one learned with."""
    numbers = hyperparameters(config.preset, **config.overrides)
    discount = numbers.for_horizon(time_limit).discount
    assert discount is not None
    return discount


def judge(
    values: ValueTable,
    rollouts: Rollouts,
    held_out: BoolArray,
    config: EvaluationConfig,
    *,
    training: IndexArray | None = None,
    truth: FrameTruth | None = None,
) -> tuple[Results, tuple[tuple[Event, ...], ...]]:
    """What the values say, and the events of every episode as the first method sees them.

    `training` are positions of episodes that all networks learned from; None where folds differ.
    """
    time_limit = max(int(rollouts.lengths.max()) - 1, 1)
    goals = [episode.goal_frame for episode in rollouts]
    events = table_events(values, values.methods[0], goals, ceiling=time_limit)
    scores = score_values(values, rollouts, held_out, training, config.standard_horizon, events)
    card = _against_truth(truth, values, rollouts, held_out, scores, config)
    return Results(scores, card, doubts_of(scores, card)), events


def _against_truth(
    truth: FrameTruth | None,
    values: ValueTable,
    rollouts: Rollouts,
    held_out: BoolArray,
    scores: EvaluationScores,
    config: EvaluationConfig,
) -> TruthCard | None:
    if truth is None:
        return None
    known = known_frames(truth, rollouts, held_out)
    if known.num_frames == 0:
        warnings.warn(
            f"the truth of {truth.num_frames} frames is given, but none of their episodes is held "
            f"out: {argument('folds', 2)} would hold out all",
            stacklevel=3,
        )
        return None
    discount = common_discount(config, scores.time_limit)
    return truth_card(values, known, discount=discount, standard_horizon=scores.standard_horizon)
