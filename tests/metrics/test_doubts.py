"""When the values are to be doubted, and which numbers say so."""

from dataclasses import replace

import numpy as np
import pytest

import goalward
from goalward.metrics.doubts import Doubt, DoubtKind, WrongShare, doubts_of
from goalward.metrics.evaluation_scores import score_values
from goalward.metrics.score import Interval, Score, no_interval
from goalward.metrics.scores.card import CardRow
from goalward.metrics.truth.card import truth_card
from goalward.metrics.truth.clock_end import ClockEndTruth
from goalward.metrics.truth.errors import TruthError
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.metrics.truth.known_frames import known_frames
from goalward.metrics.uncertainty.intervals import over_seeds
from goalward.values.chances import chance_points
from goalward.values.made_chances import chances_of_values
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
CHANCES = chances_of_values(VALUES, chance_points(2))
SCORES = score_values(VALUES, CHANCES, ROLLOUTS, HELD_OUT, None, None, ((),) * 4)
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
    card = truth_card(VALUES, CHANCES, known, discount=0.5, standard_horizon=2)
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
    card = truth_card(VALUES, CHANCES, known, discount=0.5, standard_horizon=2)
    assert doubts_of(with_auroc(Score(0.7), SURE), card) == ()


# ---- the share of time-outs that succeed --------------------------------------------------------


def card_at_clock_end(measured, measured_interval, expected):
    """A card without a large bias; where the clock ran out, this share was measured."""
    card, _ = truth_with_bias(0.0, -0.1, 0.1)
    late = ClockEndTruth(2, Score(measured), measured_interval, {"td": Score(expected)})
    return replace(card, clock_end=late)


def scores_expecting(share, low, high):
    """Values that nobody doubts, and a share with this interval."""
    scores = with_auroc(Score(0.7), SURE)
    curve = tuple(
        replace(one, share=Score(share), share_interval=Interval(low, high))
        for one in scores.policy.more_time.curve
    )
    more = replace(scores.policy.more_time, curve=curve)
    return replace(scores, policy=replace(scores.policy, more_time=more))


@pytest.mark.parametrize(
    ("measured", "low", "high", "doubted"),
    [
        # Expected: 0.4, from 0.3 to 0.6.
        (0.7, 0.6, 0.8, True),
        (0.2, 0.1, 0.3, True),
        (0.55, 0.5, 0.65, False),
        (0.35, 0.32, 0.38, False),
        # Measured too roughly to contradict.
        (0.7, 0.35, 0.9, False),
        (0.2, 0.05, 0.45, False),
    ],
)
def test_the_true_share_where_the_clock_ran_out(measured, low, high, doubted):
    scores = scores_expecting(0.4, 0.3, 0.6)
    found = doubts_of(scores, card_at_clock_end(measured, Interval(low, high), 0.4))
    assert len(found) == doubted
    if doubted:
        share, expected = found[0].share, found[0].share.expected_interval
        assert (found[0].kind, found[0].bias) == (DoubtKind.CONTRADICTED, None)
        assert (expected.low, expected.high) == pytest.approx((0.3, 0.6))
        same = replace(share, expected_interval=expected)
        assert same == WrongShare(0.4, expected, measured, Interval(low, high), at_clock_end=True)


def test_expected_and_measured_are_of_the_same_frames():
    """Of those that were measured 0.65 is expected, of all 0.4: 0.7 is no contradiction."""
    scores = scores_expecting(0.4, 0.3, 0.6)
    card = card_at_clock_end(0.7, Interval(0.69, 0.71), 0.65)
    assert doubts_of(scores, card) == ()


def test_without_an_interval_nothing_is_contradicted():
    scores = scores_expecting(0.4, 0.3, 0.6)
    card = card_at_clock_end(1.0, no_interval("one episode", 0.95), 0.4)
    assert doubts_of(scores, card) == ()


@pytest.mark.parametrize(("bias", "doubted"), [(-0.35, True), (-0.1, False), (0.3, True)])
def test_where_the_clock_ran_out_is_not_measured_other_frames_of_time_outs_count(bias, doubted):
    """Of their futures 0.5 are there within all the time they were given, 0.45 to 0.55."""
    card, _ = truth_with_bias(0.0, -0.1, 0.1)
    groups = dict(card.groups)
    groups["time_out"] = replace(
        groups["time_out"],
        more_time_success=Score(0.5),
        more_time_interval=Interval(0.45, 0.55),
    )
    td = card.methods["td"]
    late = td.by_group["time_out"]
    within = dict(late.within)
    error = TruthError(Score(bias), Score(0.1), Interval(bias - 0.1, bias + 0.1))
    within[4] = replace(within[4], bias=error)
    td = replace(td, by_group={**td.by_group, "time_out": replace(late, within=within)})
    card = replace(card, groups=groups, methods={**card.methods, "td": td})
    assert card.clock_end is None
    found = doubts_of(scores_expecting(0.4, 0.3, 0.6), card)
    assert len(found) == doubted
    if doubted:
        share = found[0].share
        assert (share.expected, share.measured) == pytest.approx((0.5 + bias, 0.5))
        assert not share.at_clock_end
