"""Episodes as a page reads them: exact where it counts, small, and never an infinity."""

import json

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.report.pages.episodes import (
    SPARK_POINTS,
    VALUE_SCALE,
    episode_curves,
    table_rows,
    watch_first,
)
from goalward.rollouts.episode import Outcome
from goalward.values.events import Event, EventKind


def values_of(curve):
    return np.cumsum(curve) / VALUE_SCALE


def test_a_curve_is_the_mean_the_lowest_and_the_highest_seed_on_the_common_scale():
    run, _ = drawn_run(
        [drawn_episode("a", 3, outcome=Outcome.SUCCESS)],
        {"td": [np.array([[2.0, 1.0, 0.0], [np.inf, 1.0, 0.0]])]},
    )
    curve = episode_curves(run, 0, (), None)["curves"][0]
    two_steps = 1 - 2 * run.discount**2
    one_step = 1 - 2 * run.discount
    assert values_of(curve["low"]) == pytest.approx([two_steps, one_step, -1], abs=5e-5)
    assert values_of(curve["high"]) == pytest.approx([1, one_step, -1], abs=5e-5)
    assert values_of(curve["mean"]) == pytest.approx([(two_steps + 1) / 2, one_step, -1], abs=5e-5)


def test_one_seed_has_no_band_and_no_disagreement():
    run, _ = drawn_run([drawn_episode("a", 3)], {"td": [countdown(3, seeds=1)]})
    assert list(episode_curves(run, 0, (), None)["curves"][0]) == ["mean"]
    assert table_rows(run, {})[0]["disagreement"] is None


def test_frames_of_the_second_episode_are_its_own():
    run, _ = drawn_run(
        [drawn_episode("a", 2), drawn_episode("b", 3)],
        {"td": [np.full((1, 2), np.inf), np.zeros((1, 3))]},
    )
    assert values_of(episode_curves(run, 0, (), None)["curves"][0]["mean"]).tolist() == [1, 1]
    assert values_of(episode_curves(run, 1, (), None)["curves"][0]["mean"]).tolist() == [-1, -1, -1]


def test_an_episode_that_never_arrives_ends_nowhere():
    run, _ = drawn_run(
        [drawn_episode("a", 3), drawn_episode("b", 3, outcome=Outcome.SUCCESS)],
        {"td": [np.full((1, 3), np.inf), countdown(3, seeds=1)]},
    )
    never, there = table_rows(run, {})
    assert (never["final_steps"], never["final_value"]) == (None, 1.0)
    # The median of its last frames, of which there are three.
    assert there["final_steps"] == 1.0
    assert never["spark"] == [100, 100, 100]
    assert there["spark"][-1] == 0
    assert json.dumps([never, there], allow_nan=False)


def test_largest_setback_and_longest_stall_are_those_of_the_events():
    run, _ = drawn_run([drawn_episode("a", 50)], {"td": [countdown(50)]})
    events = {
        "a": (
            Event(EventKind.SETBACK, 5, 4, 6, 10.0, 30.0, 1.0),
            Event(EventKind.STALL, 10, 10, 19, 30.0, 30.0, 1.0),
            Event(EventKind.SETBACK, 30, 29, 31, 10.0, 12.5, 1.0),
        )
    }
    row = table_rows(run, events)[0]
    assert (row["setback"], row["stall"]) == (20.0, 10)
    assert row["events"] == [2, 0, 1, 0, 0]
    assert table_rows(run, {})[0]["setback"] is None


def test_events_are_told_without_their_kind_which_the_page_shows_by_itself():
    run, _ = drawn_run([drawn_episode("a", 50)], {"td": [countdown(50)]})
    setback = Event(EventKind.SETBACK, 5, 4, 6, 10.0, 30.0, 1.0)
    goal = Event(EventKind.GOAL, 49, 49, 49, 0.0, 0.0, 1.0)
    told = episode_curves(run, 0, (setback, goal), None)["events"]
    assert told[0]["words"] == "10 to 30 steps to go"
    assert told[1]["words"] == ""


def test_a_spark_keeps_the_extremes_of_a_long_episode():
    steps = np.full((1, 5000), np.inf)
    steps[0, 2345] = 0.0
    run, _ = drawn_run([drawn_episode("a", 5000)], {"td": [steps]})
    spark = table_rows(run, {})[0]["spark"]
    assert len(spark) <= SPARK_POINTS
    assert min(spark) == 0
    assert max(spark) == 100


def test_five_thousand_frames_of_five_methods_stay_under_a_megabyte():
    generator = np.random.default_rng(0)
    methods = ("liveness", "liveness-nb", "td", "mc", "mc-dist")
    steps = {name: [generator.uniform(0, 5000, (3, 5000))] for name in methods}
    run, _ = drawn_run([drawn_episode("a", 5000)], steps)
    text = json.dumps(episode_curves(run, 0, (), None), separators=(",", ":"))
    assert len(text) < 1_000_000


def test_episodes_to_watch_are_those_that_the_run_has_at_frames_that_they_have():
    run, _ = drawn_run([drawn_episode("a", 5)], {"td": [countdown(5)]})
    found = [
        {"episode": "gone", "frame": 2, "reason": "no"},
        {"episode": "a", "frame": 99, "reason": "setback"},
    ]
    assert watch_first(run, {"policy": {"watch_first": found}}) == [
        {"position": 0, "frame": 4, "reason": "setback"}
    ]
    assert watch_first(run, {}) == []
