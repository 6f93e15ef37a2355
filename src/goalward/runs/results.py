"""What a run found: scores of its methods, answers about its policy, how far from the truth."""

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goalward.config import EvaluationConfig
from goalward.errors import argument
from goalward.metrics.doubts import Doubt, doubts_of
from goalward.metrics.evaluation_scores import EvaluationScores, score_values
from goalward.metrics.familiarity import Familiarity
from goalward.metrics.trust import Trust, trust_of
from goalward.metrics.truth.card import TruthCard, truth_card
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.metrics.truth.known_frames import known_frames
from goalward.rollouts.dataset import Rollouts
from goalward.runs.curves import curves_of
from goalward.training.methods.efforts import numbers_of
from goalward.values.chances import ChanceTable
from goalward.values.events import EVENTS_OF, Event, table_events
from goalward.values.hindsight import HindsightChoice
from goalward.values.table import ValueTable

BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Results:
    """Everything that was found, in numbers."""

    scores: EvaluationScores
    """Scores of every method on held-out episodes, tests between methods, answers."""
    hindsight: HindsightChoice
    """How hindsight values were made."""
    truth: TruthCard | None = None
    """How far every method is from what is true, where a simulator could tell it."""
    doubts: tuple[Doubt, ...] = ()
    """Why the values of the speaking method are not to be relied on; none if they may be."""
    trust: Trust | None = None
    """How far they can be relied on."""
    familiarity: Familiarity | None = None
    """How far episodes lie from those that the networks of another run learned from."""


def common_discount(config: EvaluationConfig, time_limit: int) -> float:
    """The common scale of all methods: the discount that those with one learned with."""
    discount = numbers_of(config).for_horizon(time_limit).discount
    assert discount is not None
    return discount


def judge(
    values: ValueTable,
    chances: ChanceTable,
    rollouts: Rollouts,
    held_out: BoolArray,
    config: EvaluationConfig,
    *,
    hindsight: HindsightChoice,
    training: IndexArray | None = None,
    truth: FrameTruth | None = None,
) -> tuple[Results, tuple[tuple[Event, ...], ...]]:
    """What values and chances say, and the events of every episode as the first method sees them.

    Scores are of values, and so are events (`EVENTS_OF`); `hindsight` says how hindsight values
    were made. `training` are positions of episodes that all networks learned from; None where
    folds differ.
    """
    time_limit = max(int(rollouts.lengths.max()) - 1, 1)
    goals = [episode.goal_frame for episode in rollouts]
    method = values.methods[0]
    curves = curves_of(values, method, common_discount(config, time_limit))
    watched = curves.hindsight_steps_by_seed if EVENTS_OF == "hindsight" else None
    events = table_events(values, method, goals, ceiling=time_limit, steps=watched)
    scores = score_values(
        values, chances, rollouts, held_out, training, config.standard_horizon, events, watched
    )
    card = _against_truth(truth, values, chances, rollouts, held_out, scores, config)
    doubts = doubts_of(scores, card)
    trust = trust_of(scores, doubts, curves.by_seed)
    return Results(scores, hindsight, card, doubts, trust), events


def _against_truth(
    truth: FrameTruth | None,
    values: ValueTable,
    chances: ChanceTable,
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
    return truth_card(
        values, chances, known, discount=discount, standard_horizon=scores.standard_horizon
    )
