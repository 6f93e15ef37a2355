"""A run in memory: its events by any method, its curves, what it hands on."""

import numpy as np
import pytest
from rollout_files.drawn_runs import drawn_episode, drawn_run

from goalward.errors import GoalwardError
from goalward.rollouts.episode import Outcome
from goalward.runs.curves import Curves
from goalward.values.events import EventKind


def run_of(steps, tmp_path, goals=(100, None)):
    """A run of two episodes of equal length with methods `good` and `blind`."""
    num_frames = steps.shape[1] // 2
    outcomes = [Outcome.TIME_OUT if goal is None else Outcome.SUCCESS for goal in goals]
    episodes = [
        drawn_episode(name, num_frames, outcome=outcome)
        for name, outcome in zip("ab", outcomes, strict=True)
    ]
    parts = [steps[:, :num_frames], steps[:, num_frames:]]
    drawn = {"good": parts, "blind": [np.full_like(part, 50.0) for part in parts]}
    return drawn_run(episodes, drawn, tmp_path)[0]


@pytest.fixture
def run(tmp_path):
    calm = np.arange(100.0, -1, -1)
    slip = np.concatenate([np.arange(100.0, 40, -1), np.full(41, 100.0)])
    return run_of(np.concatenate([calm, slip])[None], tmp_path)


def test_events_are_those_of_the_speaking_method(run):
    assert list(run.events) == ["a", "b"]
    assert [event.kind for event in run.events["a"]] == [EventKind.GOAL]
    assert [(event.kind, event.frame) for event in run.events["b"]] == [
        (EventKind.SETBACK, 60),
        (EventKind.STALL, 60),
        (EventKind.NO_RETURN, 60),
    ]
    assert run.events_by("good") is run.events


def test_another_method_may_be_asked(run):
    assert [event.kind for event in run.events_by("blind")["b"]] == [EventKind.STALL]
    with pytest.raises(GoalwardError, match="no method 'td'"):
        run.events_by("td")


def test_nan_names_method_and_episode(tmp_path):
    steps = np.ones((1, 8))
    steps[0, 6] = np.nan
    with pytest.raises(GoalwardError, match="good: episode b: the steps to go of frame 2 are not"):
        run_of(steps, tmp_path, goals=(3, None))


def test_curves_are_on_the_common_scale(run):
    curves = run.curves()
    assert curves.method == "good"
    assert curves.discount == run.discount == pytest.approx(1 - 1.75 / 100)
    assert curves.value[100] == -1
    assert curves.value[0] == pytest.approx(1 - 2 * run.discount**100)
    part = curves.part(run.frames_of(1))
    assert part.steps[60] == pytest.approx(100)
    assert run.curves("blind").steps == pytest.approx(np.full(202, 50.0))


def test_seeds_are_averaged_as_values_not_as_steps():
    """One seed that says never must not make the mean never."""
    curves = Curves.of_steps("mc", np.array([[1.0], [np.inf]]), discount=0.5)
    assert curves.value == pytest.approx([0.5])
    assert curves.steps == pytest.approx([2.0])
    assert curves.spread == pytest.approx([np.sqrt(0.5)])
    assert Curves.of_steps("mc", np.array([[1.0]]), 0.5).spread == pytest.approx([0.0])
