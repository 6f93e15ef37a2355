"""Episodes as a page reads them: exact where it counts, small, and never an infinity."""

import json
from dataclasses import replace

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.report.pages.episodes import (
    SPARK_POINTS,
    VALUE_SCALE,
    episode_curves,
    table_rows,
)
from goalward.rollouts.episode import Outcome
from goalward.values.events import Event, EventKind


def values_of(curve):
    return np.cumsum(curve) / VALUE_SCALE


def page_of(run, position=0, truth=None):
    return episode_curves(run, position, [run.curves(m) for m in run.values.methods], truth)


def rows_of(run):
    return table_rows(run, run.curves())


def test_a_curve_is_the_mean_the_lowest_and_the_highest_seed_on_the_common_scale():
    run, _ = drawn_run(
        [drawn_episode("a", 3, outcome=Outcome.SUCCESS)],
        {"td": [np.array([[2.0, 1.0, 0.0], [np.inf, 1.0, 0.0]])]},
    )
    curve = page_of(run)["curves"][0]["now"]
    two_steps = 1 - 2 * run.discount**2
    one_step = 1 - 2 * run.discount
    assert values_of(curve["low"]) == pytest.approx([two_steps, one_step, -1], abs=5e-5)
    assert values_of(curve["high"]) == pytest.approx([1, one_step, -1], abs=5e-5)
    assert values_of(curve["mean"]) == pytest.approx([(two_steps + 1) / 2, one_step, -1], abs=5e-5)


def test_one_seed_has_no_band_and_no_disagreement():
    run, _ = drawn_run([drawn_episode("a", 3)], {"td": [countdown(3, seeds=1)]})
    assert {view: list(line) for view, line in page_of(run)["curves"][0].items()} == {
        "now": ["mean"],
        "hindsight": ["mean"],
    }
    assert rows_of(run)[0]["disagreement"] is None


def test_hindsight_is_a_curve_of_its_own_and_not_the_one_in_the_table():
    run, _ = drawn_run(
        [drawn_episode("a", 3, outcome=Outcome.SUCCESS)],
        {"td": [np.array([[0.0, 0.0, 0.0], [np.inf, np.inf, 0.0]])]},
        hindsight=1.0,
        overrides={"discount": 0.5},
    )
    curve = page_of(run)["curves"][0]
    assert values_of(curve["now"]["mean"]).tolist() == [0, 0, -1]
    # Both seeds know how it went on.
    for line in ("mean", "low", "high"):
        assert values_of(curve["hindsight"][line]).tolist() == [0.5, 0, -1]
    # The table shows the curve that its setbacks and stalls are found in.
    assert rows_of(run)[0]["spark"] == [50, 50, 0]


def test_frames_of_the_second_episode_are_its_own():
    run, _ = drawn_run(
        [drawn_episode("a", 2), drawn_episode("b", 3)],
        {"td": [np.full((1, 2), np.inf), np.zeros((1, 3))]},
    )
    assert values_of(page_of(run)["curves"][0]["now"]["mean"]).tolist() == [1, 1]
    assert values_of(page_of(run, 1)["curves"][0]["now"]["mean"]).tolist() == [-1, -1, -1]


def test_an_episode_that_never_arrives_ends_nowhere():
    run, _ = drawn_run(
        [drawn_episode("a", 3), drawn_episode("b", 3, outcome=Outcome.SUCCESS)],
        {"td": [np.full((1, 3), np.inf), countdown(3, seeds=1)]},
    )
    never, there = rows_of(run)
    assert never["final_steps"] is None
    assert there["final_steps"] == 0.0
    assert never["spark"] == [100, 100, 100]
    assert there["spark"][-1] == 0
    assert json.dumps([never, there], allow_nan=False)


def test_the_end_of_an_episode_is_its_last_frame_as_in_the_table_of_the_run():
    steps = np.concatenate([np.full((2, 20), 500.0), [[3.0], [9.0]]], axis=1)
    run, _ = drawn_run([drawn_episode("a", 21)], {"td": [steps]})
    row = rows_of(run)[0]
    assert row["final_steps"] == pytest.approx(run.episode_table()[0].steps_to_go, abs=1e-4)
    assert 3 < row["final_steps"] < 9


def test_largest_setback_and_longest_stall_are_those_of_the_events():
    run, _ = drawn_run([drawn_episode("a", 50)], {"td": [countdown(50)]})
    events = {
        "a": (
            Event(EventKind.SETBACK, 5, 4, 6, 10.0, 57.45, 1.0),
            Event(EventKind.STALL, 10, 10, 19, 30.0, 30.0, 1.0),
            Event(EventKind.SETBACK, 30, 29, 31, 10.0, 12.5, 1.0),
        )
    }
    row = rows_of(replace(run, events=events))[0]
    # Rounded once, where it is shown: 47.45 is 47 and not, by way of 47.5, 48.
    assert (row["setback"], row["stall"]) == (47.45, 10)
    assert row["events"] == [2, 0, 1, 0, 0]
    assert rows_of(replace(run, events={"a": ()}))[0]["setback"] is None


def test_events_are_told_without_their_kind_which_the_page_shows_by_itself():
    run, _ = drawn_run([drawn_episode("a", 50)], {"td": [countdown(50)]})
    setback = Event(EventKind.SETBACK, 5, 4, 6, 10.0, 30.0, 1.0)
    goal = Event(EventKind.GOAL, 49, 49, 49, 0.0, 0.0, 1.0)
    told = page_of(replace(run, events={"a": (setback, goal)}))["events"]
    assert told[0]["words"] == "10 to 30 steps to go"
    assert told[1]["words"] == ""


def test_a_spark_keeps_the_extremes_of_a_long_episode():
    steps = np.full((1, 5000), np.inf)
    steps[0, 2345] = 0.0
    run, _ = drawn_run([drawn_episode("a", 5000)], {"td": [steps]})
    spark = rows_of(run)[0]["spark"]
    assert len(spark) <= SPARK_POINTS
    assert min(spark) == 0
    assert max(spark) == 100


def test_points_of_a_spark_lie_evenly_in_time():
    """Nothing moves for half of the episode: then half of the points say so."""
    steps = np.full((1, 600), np.inf)
    steps[0, 300::2] = 0.0
    run, _ = drawn_run([drawn_episode("a", 600)], {"td": [steps]})
    spark = rows_of(run)[0]["spark"]
    assert spark.index(0) / len(spark) == pytest.approx(0.5, abs=0.02)


def test_five_thousand_frames_of_five_methods_stay_under_a_megabyte():
    generator = np.random.default_rng(0)
    methods = ("liveness", "liveness-nb", "td", "mc", "mc-dist")
    steps = {name: [generator.uniform(0, 5000, (3, 5000))] for name in methods}
    run, _ = drawn_run([drawn_episode("a", 5000)], steps)
    text = json.dumps(page_of(run), separators=(",", ":"))
    assert len(text) < 1_000_000


def test_what_is_true_stands_beside_the_curve_of_its_own_episode():
    run, _ = drawn_run(
        [drawn_episode("a", 5), drawn_episode("b", 5)], {"td": [countdown(5), countdown(5)]}
    )
    steps = np.array([[0.0, 0.0], [np.inf, np.inf], [1.0, np.nan]])
    truth = FrameTruth(("b", "a", "b"), np.array([3, 1, 2]), steps, cap=50)
    one_step = 1 - 2 * run.discount
    # A frame with one future has no standard error; the episode's frames are in order.
    assert page_of(run, 1, truth)["truth"] == [
        {"frame": 2, "value": pytest.approx(one_step, abs=1e-6), "error": None},
        {"frame": 3, "value": -1.0, "error": 0.0},
    ]
    assert [known["value"] for known in page_of(run, 0, truth)["truth"]] == [1.0]
    assert page_of(run, 1)["truth"] == []
