"""An evaluation of rollouts of which one frame in so many was embedded: all in recorded steps."""

import csv
from dataclasses import replace

import numpy as np
import pytest

import goalward
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.rollouts.dataset import Rollouts

TINY = {"width": 16, "num_layers": 2, "num_steps": 60, "batch_size": 64}
LENGTH, EVERY = 21, 6
KEPT = [0, 6, 12, 18, 20]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    draws = np.random.default_rng(0)
    ramp = np.linspace(0, 1, LENGTH)[:, None]
    arrays = [sign * ramp + 0.02 * draws.normal(size=(LENGTH, 2)) for sign in (1, -1) * 6]
    whole = goalward.from_arrays(arrays, success=[True, False] * 6, fps=10.0)
    rollouts = Rollouts([replace(e, every=EVERY) for e in whole], features=whole.features)
    truth = FrameTruth(("1", "1"), np.array([3, 6]), np.array([[9.0, 9.0]] * 2), cap=60)
    folder = tmp_path_factory.mktemp("every") / "run"
    goalward.evaluate(
        rollouts, folder, methods=["mc", "td"], seeds=2, folds=2, report=False, truth=truth, **TINY
    )
    return goalward.open_run(folder)


def test_values_between_are_marked_and_on_the_line(run):
    marks = run.values.interpolated.reshape(12, LENGTH)
    assert (~marks).nonzero()[1].reshape(12, -1).tolist() == [KEPT] * 12
    steps = run.values.steps("mc").reshape(2, 12, LENGTH)
    here = np.isfinite(steps).all(axis=2)
    assert here.any()
    middle = (steps[..., 6] + steps[..., 12]) / 2
    np.testing.assert_allclose(steps[..., 9][here], middle[here], rtol=1e-4)


def test_clocks_and_steps_are_those_of_the_recording(run):
    assert run.time_limit == LENGTH - 1
    assert {late.num_steps for late in run.scores.policy.more_time.late} == {LENGTH - 1}
    assert run.scores.policy.steps.median.value == LENGTH - 1
    assert run.episode_table()[0].seconds == pytest.approx(2.1)
    # A step before the goal is worth one step, whichever frames were looked at.
    goal = run.values.hindsight_values("mc")[0, LENGTH - 2]
    assert goal == pytest.approx(1 - 2 * run.discount, abs=0.05)


def test_frames_with_a_known_truth_are_found_whether_looked_at_or_not(run):
    assert run.truth is not None
    assert run.truth.known.num_frames == 2


def test_the_spreadsheet_says_which_rows_are_interpolated(run, tmp_path):
    path = run.export("csv", out=tmp_path / "frames.csv", anyway=True)
    with path.open(newline="") as file:
        found = list(csv.DictReader(file))
    assert [int(row["frame"]) for row in found[:LENGTH] if row["interpolated"] == "false"] == KEPT
    assert [row["interpolated"] for row in found].count("true") == 12 * (LENGTH - len(KEPT))
