"""Events of a finished evaluation: the same in the run, in events.csv and in scores.json."""

import csv
import json

import numpy as np
import pytest

import goalward
from goalward.config import EvaluationConfig
from goalward.errors import GoalwardError
from goalward.experiments.evaluation import evaluate
from goalward.run_folder import RunFolder
from goalward.values.events import Event, EventKind, read_events, run_events, write_events
from goalward.values.finished_run import FinishedRun, RunEpisode
from goalward.values.table import ValueTable


def run_of(steps, *, goals, ids=("a", "b"), path):
    """A finished run of two episodes of equal length with methods `good` and `blind`."""
    num_frames = steps.shape[1] // 2
    both = np.stack([steps, np.full_like(steps, 50.0)])
    values = ValueTable(
        methods=("good", "blind"),
        seeds=tuple(range(len(steps))),
        episode_ids=ids,
        episode_tasks=("", ""),
        episode_ends=np.array([num_frames, 2 * num_frames]),
        value=both,
        steps_to_goal=both,
    )
    outcomes = ["time_out" if goal is None else "success" for goal in goals]
    episodes = tuple(
        RunEpisode(name, "", goalward.Outcome(outcome), num_frames, goal, True)
        for name, outcome, goal in zip(ids, outcomes, goals, strict=True)
    )
    return FinishedRun(RunFolder(path), {}, EvaluationConfig(), episodes, values)


@pytest.fixture
def run(tmp_path):
    calm = np.arange(100.0, -1, -1)
    slip = np.concatenate([np.arange(100.0, 40, -1), np.full(41, 100.0)])
    return run_of(np.concatenate([calm, slip])[None], goals=(100, None), path=tmp_path)


def test_events_of_a_run_are_those_of_the_speaking_method(run):
    events = run_events(run)
    assert list(events) == ["a", "b"]
    assert [event.kind for event in events["a"]] == [EventKind.GOAL]
    assert [(event.kind, event.frame) for event in events["b"]] == [
        (EventKind.SETBACK, 60),
        (EventKind.STALL, 60),
        (EventKind.NO_RETURN, 60),
    ]


def test_another_method_may_be_asked(run):
    assert [event.kind for event in run_events(run, "blind")["b"]] == [EventKind.STALL]
    with pytest.raises(GoalwardError, match="no method 'td'"):
        run_events(run, "td")


def test_nan_names_method_and_episode(tmp_path):
    steps = np.ones((1, 8))
    steps[0, 6] = np.nan
    bad = run_of(steps, goals=(3, None), path=tmp_path)
    with pytest.raises(GoalwardError, match="good: episode b: the steps to go of frame 2 are not"):
        run_events(bad)


def test_events_survive_the_disk(tmp_path):
    strange = 'a "b", </script>\n../c 🙂'
    events = {
        strange: (
            Event(EventKind.SETBACK, 30, 20, 40, 40.25, 180.0, 0.6667),
            Event(EventKind.GOAL, 90, 90, 90, 0.0, 0.0, 1.0),
        ),
        "7": (Event(EventKind.NO_RETURN, 3, 2, 5, 1.5, 200.0, 1.0),),
    }
    write_events(tmp_path / "events.csv", events | {"calm": ()})
    assert read_events(tmp_path / "events.csv") == events
    lines = (tmp_path / "events.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "episode,kind,frame,start,end,steps_before,steps_after,agreement"
    assert lines[-1] == "7,point_of_no_return,3,2,5,1.5,200.0,1.0"


@pytest.mark.parametrize(
    "text", ["episode,kind\nx,goal\n", "episode,kind,frame\nx,party,3\n", "\x00\xff", '"']
)
def test_a_file_that_lists_no_events_is_named(tmp_path, text):
    (tmp_path / "events.csv").write_text(text, encoding="latin-1")
    with pytest.raises(GoalwardError, match=r"events\.csv: is no list of events"):
        read_events(tmp_path / "events.csv")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(GoalwardError, match=r"events\.csv: no such file"):
        read_events(tmp_path / "events.csv")


def test_an_evaluation_writes_the_events_that_its_run_has(tmp_path):
    draws = np.random.default_rng(0)
    arrays = [draws.normal(size=(40, 3)).astype(np.float32) for _ in range(8)]
    rollouts = goalward.from_arrays(arrays, success=[i % 2 == 0 for i in range(8)])
    config = EvaluationConfig(
        methods=("liveness", "td"), seeds=2, folds=2, overrides={"num_steps": 20, "width": 16}
    )
    folder = RunFolder(tmp_path)
    evaluation = evaluate(rollouts, config, folder, device="cpu")
    events = read_events(folder.events)
    stored = json.loads(folder.scores.read_text())["events"]
    assert stored["method"] == "liveness"
    assert stored["ceiling"] == 39
    assert [one["episode"] for one in stored["episodes"]] == list(rollouts.ids)
    assert stored["counts"]["goal"] == 4
    assert sum(stored["counts"].values()) == sum(map(len, events.values()))
    assert {
        one["episode"]: tuple(Event(**event) for event in one["events"])
        for one in stored["episodes"]
        if one["events"]
    } == events
    in_memory = zip(rollouts.ids, evaluation.scores.policy.events, strict=True)
    assert {name: found for name, found in in_memory if found} == events
    with folder.events.open(newline="") as file:
        assert {row["episode"] for row in csv.DictReader(file)} == set(events)


def test_scores_hold_what_a_page_draws(tmp_path):
    draws = np.random.default_rng(0)
    arrays = [draws.normal(size=(40, 3)).astype(np.float32) for _ in range(8)]
    rollouts = goalward.from_arrays(arrays, success=[i % 2 == 0 for i in range(8)])
    overrides = {"num_steps": 20, "width": 16}
    config = EvaluationConfig(methods=("td",), seeds=2, folds=2, overrides=overrides)
    evaluate(rollouts, config, RunFolder(tmp_path), device="cpu")
    scores = json.loads(RunFolder(tmp_path).scores.read_text())["methods"]["td"]
    for metric in ("success", "failure", "composite"):
        assert len(scores[metric]["by_seed"]) == 2
    bins = scores["calibration"]["bins"]
    assert sum(one["num_frames"] for one in bins) == scores["calibration"]["num_frames"]
    for one in bins:
        low, high = one["edges"]
        assert low <= one["predicted"] <= high
        assert 0 <= one["observed"] <= 1
