"""When the values are to be doubted, and which numbers say so."""

from dataclasses import replace

import numpy as np
import pytest

import goalward
from goalward.metrics.doubts import Doubt, DoubtKind, doubts_of
from goalward.metrics.evaluation_scores import score_values
from goalward.metrics.score import Interval, Score, no_interval
from goalward.metrics.scores.card import CardRow
from goalward.metrics.truth.card import truth_card
from goalward.metrics.truth.errors import TruthError
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.metrics.truth.known_frames import known_frames
from goalward.metrics.uncertainty.intervals import over_seeds
from goalward.values.table import ValueTable

ROLLOUTS = goalward.from_arrays([np.zeros((3, 1))] * 4, success=[True, True, False, False])
STEPS = np.array([[2.0, 1, 0, 2, 1, 0, 9, 9, 9, 9, 9, 9]], dtype=np.float32)
VALUES = ValueTable(
    methods=("td", "mc"),
    seeds=(0,),
    episode_ids=ROLLOUTS.ids,
    episode_tasks=("",) * 4,
    episode_ends=ROLLOUTS.episode_ends,
    raw_value=np.stack([-STEPS, -STEPS]),
    steps_to_goal=np.stack([STEPS, STEPS]),
)
HELD_OUT = np.ones(4, dtype=bool)
SCORES = score_values(VALUES, ROLLOUTS, HELD_OUT, None, None, ((),) * 4)
SURE = Interval(0.5001, 0.9)


def with_auroc(mean, interval):
    """The first method has this AUROC, the second one that nobody doubts."""
    rows = {
        "td": CardRow((mean,), over_seeds([mean]), interval),
        "mc": CardRow((Score(0.9),), over_seeds([Score(0.9)]), Interval(0.8, 1.0)),
    }
    cards = {name: {**SCORES.cards[name], "frame_auroc": row} for name, row in rows.items()}
    return replace(SCORES, cards=cards)


def truth_with_bias(mean, low, high):
    """The truth of a frame of each episode; the bias of td in time-outs is as given."""
    steps = np.array([[1.0], [1.0], [4.0], [np.inf]])
    frames = FrameTruth(("0", "1", "2", "3"), np.zeros(4, np.int64), steps, cap=4)
    known = known_frames(frames, ROLLOUTS, HELD_OUT)
    card = truth_card(VALUES, known, discount=0.5, standard_horizon=2)
    interval = no_interval("one episode", 0.95) if low is None else Interval(low, high)
    bias = TruthError(Score(mean), Score(0.1), interval)
    td = card.methods["td"]
    late = td.by_group["time_out"]
    late = replace(late, value=replace(late.value, bias=bias))
    td = replace(td, by_group={**td.by_group, "time_out": late})
    return replace(card, methods={**card.methods, "td": td}), bias


def test_an_auroc_that_is_not_defined():
    missing, none = Score(None, "no episode succeeded"), no_interval("no episode succeeded", 0.95)
    assert doubts_of(with_auroc(missing, none), None) == (
        Doubt("td", DoubtKind.NOT_DEFINED, 4, missing, none),
    )


def test_an_auroc_without_an_interval():
    none = no_interval("one episode", 0.95)
    assert doubts_of(with_auroc(Score(1.0), none), None) == (
        Doubt("td", DoubtKind.NO_INTERVAL, 4, Score(1.0), none),
    )


@pytest.mark.parametrize(("low", "doubted"), [(0.3, True), (0.5, True), (0.5001, False)])
def test_an_auroc_that_may_be_that_of_a_coin(low, doubted):
    interval = Interval(low, 0.9)
    found = doubts_of(with_auroc(Score(0.7), interval), None)
    expected = (Doubt("td", DoubtKind.NO_SKILL, 4, Score(0.7), interval),)
    assert found == (expected if doubted else ())


@pytest.mark.parametrize(
    ("mean", "low", "high", "doubted"),
    [
        (0.25, 0.1, 0.4, True),
        (-0.25, -0.4, -0.1, True),
        (0.24, 0.1, 0.4, False),
        (-0.24, -0.4, -0.1, False),
        (0.5, 0.0, 1.0, False),
        (0.5, -0.1, 1.1, False),
        (-0.5, -1.0, 0.0, False),
        (0.5, None, None, False),
    ],
)
def test_a_bias_in_time_outs_that_is_sure_and_large(mean, low, high, doubted):
    card, bias = truth_with_bias(mean, low, high)
    found = doubts_of(with_auroc(Score(0.7), SURE), card)
    # Of the futures of two time-outs one reaches the goal.
    expected = Doubt("td", DoubtKind.CONTRADICTED, 4, Score(0.7), SURE, bias, Score(0.5))
    assert found == ((expected,) if doubted else ())


def test_the_truth_is_asked_only_about_values_that_tell_outcomes_apart():
    card, _ = truth_with_bias(0.5, 0.4, 0.6)
    (found,) = doubts_of(with_auroc(Score(0.7), Interval(0.4, 0.9)), card)
    assert (found.kind, found.bias) == (DoubtKind.NO_SKILL, None)


def test_a_truth_without_time_outs_contradicts_nothing():
    frames = FrameTruth(("0", "1"), np.zeros(2, np.int64), np.ones((2, 1)), cap=4)
    known = known_frames(frames, ROLLOUTS, HELD_OUT)
    card = truth_card(VALUES, known, discount=0.5, standard_horizon=2)
    assert doubts_of(with_auroc(Score(0.7), SURE), card) == ()
