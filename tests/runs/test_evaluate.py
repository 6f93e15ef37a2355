"""`evaluate` from features to summary: twice, interrupted, with too little data, in folds."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import goalward
from goalward.metrics.scores.paper_metrics import paper_metrics
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.runs.folder.codec import encoded
from goalward.runs.making import evaluation as making

TINY = {"width": 16, "num_layers": 2, "num_steps": 40, "batch_size": 64}
USUAL = {"policy": "ours", "methods": ("liveness", "mc"), "seeds": 2, "standard_horizon": 15}
STEPS = ("episodes", "networks", "values", "chances", "scores", "summary")


def evaluate(data, folder, **options):
    """A small evaluation without pages."""
    return goalward.evaluate(data, folder, device="cpu", report=False, **USUAL | TINY | options)


@pytest.fixture
def made(caplog):
    """A function that names the steps that were made since it was last asked."""
    caplog.set_level(logging.INFO, "goalward.runs")

    def since_then():
        told = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return tuple(name for name, words in making.STEP_WORDS.items() if words in told)

    return since_then


def rollouts(num_episodes=16, *, success=None, length=20):
    """Successes walk from 0 to 1, the others stay; all with some noise."""
    draws = np.random.default_rng(0)
    success = [i % 2 == 0 for i in range(num_episodes)] if success is None else success
    ramp = np.linspace(0, 1, length)[:, None]
    arrays = [
        (ramp if good else 0 * ramp) + 0.05 * draws.normal(size=(length, 3)) for good in success
    ]
    return goalward.from_arrays([a.astype(np.float32) for a in arrays], success=success)


def test_all_files_are_there_and_say_the_same(tmp_path, made):
    data = rollouts()
    run = evaluate(data, tmp_path)
    assert made() == STEPS
    names = ("summary.md", "scores.json", "values.parquet", "episodes.csv", "outcomes.csv")
    for path in (*names, "chances.parquet", "events.csv", "training_log.csv", "config.toml"):
        assert (tmp_path / path).stat().st_size > 0
    for name in ("paper_metrics.md", "paper_metrics.tex", "all_scores.md", "all_scores.tex"):
        assert (tmp_path / "tables" / name).stat().st_size > 0
    for name in ("paper_metrics", "calibration", "training"):
        assert (tmp_path / "figures" / f"{name}.png").stat().st_size > 0
        assert (tmp_path / "figures" / f"{name}.svg").stat().st_size > 0
    assert run.scores.policy.success.count == 8
    assert "50 % (8 of 16" in (tmp_path / "summary.md").read_text()
    assert run.summary() == (tmp_path / "summary.md").read_text()
    # The composite again, from the table of values and the episodes that were held out.
    tested = np.flatnonzero([episode.held_out for episode in run.episodes])
    episode_of = np.repeat(np.arange(16), data.lengths)
    frames = np.isin(episode_of, tested)
    again = [
        paper_metrics(steps[frames].astype(float), data.select(tested).endings, 15)
        for steps in goalward.read_values(tmp_path / "values.parquet").steps("liveness")
    ]
    composite = [metrics.composite.value for metrics in again]
    scores = json.loads((tmp_path / "scores.json").read_text())["scores"]
    found = scores["cards"]["liveness"]["composite"]
    assert [score["value"] for score in found["by_seed"]] == pytest.approx(composite)
    assert found["over_seeds"]["mean"]["value"] == pytest.approx(np.mean(composite))


def test_what_is_returned_is_what_is_opened_later(tmp_path):
    run = evaluate(rollouts(), tmp_path, truth=frame_truth())
    again = goalward.open_run(tmp_path)
    assert encoded(again.results) == encoded(run.results)
    assert encoded(again.settings) == encoded(run.settings)
    assert again.episodes == run.episodes
    assert again.events == run.events
    np.testing.assert_array_equal(again.values.steps_to_goal, run.values.steps_to_goal)
    np.testing.assert_array_equal(again.chances.within, run.chances.within)
    assert run.rollouts is not None
    assert again.rollouts is None


def test_the_second_time_nothing_is_made(tmp_path, made):
    first = evaluate(rollouts(), tmp_path)
    kept = [p for p in tmp_path.rglob("*") if p.is_file() and p.name != "config.toml"]
    times = {p: p.stat().st_mtime_ns for p in kept}
    made()
    again = evaluate(rollouts(), tmp_path)
    assert made() == ()
    assert {p: p.stat().st_mtime_ns for p in kept} == times
    assert again.scores.policy.success == first.scores.policy.success


def test_frames_per_second_are_noted_with_the_episodes(tmp_path, made):
    """Known later, they are noted later, and nothing else is made."""
    data = rollouts()
    evaluate(data, tmp_path)
    made()
    timed = goalward.from_arrays(
        np.split(data.features, data.episode_ends[:-1]), success=data.success.tolist(), fps=5.0
    )
    run = evaluate(timed, tmp_path)
    assert made() == ("episodes",)
    assert run.episode_table()[0].seconds == 4.0


def test_only_what_depends_on_a_change_is_made_again(tmp_path, made):
    evaluate(rollouts(), tmp_path / "run")
    assert made() == STEPS
    # In a folder of its own, with the networks of the first.
    other = evaluate(rollouts(), tmp_path / "run", standard_horizon=10)
    assert made() == tuple(step for step in STEPS if step != "networks")
    (other.folder.figures / "paper_metrics.png").unlink()
    evaluate(rollouts(), tmp_path / "run", standard_horizon=10)
    assert made() == ("summary",)
    evaluate(rollouts(), tmp_path / "run", standard_horizon=10, policy="theirs")
    assert made() == ("episodes", "scores", "summary")
    evaluate(rollouts(18), tmp_path / "run", standard_horizon=10, policy="theirs")
    assert made() == STEPS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "run-2"]


@pytest.mark.parametrize("stage", ["held_out_values", "held_out_chances", "judge", "write_results"])
def test_it_goes_on_after_an_interrupt_at_each_stage(tmp_path, monkeypatch, stage, made):
    whole = evaluate(rollouts(), tmp_path / "whole")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(making, stage, interrupted)
        with pytest.raises(KeyboardInterrupt):
            evaluate(rollouts(), tmp_path / "cut")
    made()
    resumed = evaluate(rollouts(), tmp_path / "cut")
    assert "networks" not in made()
    np.testing.assert_array_equal(resumed.values.raw_value, whole.values.raw_value)
    for name in ("scores.json", "summary.md", "outcomes.csv"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def frame_truth(steps_of_success=9.0):
    """Frame 10 of every episode: successes take nine steps from there, the others never succeed."""
    steps = [[steps_of_success] * 4 if i % 2 == 0 else [np.inf] * 4 for i in range(16)]
    ids = tuple(str(i) for i in range(16))
    return FrameTruth(ids, np.full(16, 10), np.array(steps), cap=75)


def test_values_are_compared_with_the_truth(tmp_path):
    run = evaluate(rollouts(), tmp_path, truth=frame_truth())
    found = run.truth
    # The errors again, from the table of values and the episodes that were held out.
    tested = np.flatnonzero([episode.held_out for episode in run.episodes])
    discount = 1 - 1.75 / 19
    true = np.where(tested % 2 == 0, 1 - 2 * discount**9, 1.0)
    steps = goalward.read_values(tmp_path / "values.parquet").steps("mc")[:, 20 * tested + 10]
    error = 1 - 2 * discount ** steps.astype(float) - true
    value = found.methods["mc"].by_group["all"].value
    assert found.discount == pytest.approx(discount)
    assert value.bias.mean.value == pytest.approx(error.mean(), abs=1e-6)
    # Of the mean over seeds, which is what is shown.
    size = np.abs(error.mean(axis=0)).mean()
    assert value.absolute.mean.value == pytest.approx(size, abs=1e-6)
    assert found.groups["all"].num_frames == len(tested)
    assert "**closest to the truth**" in (tmp_path / "summary.md").read_text()
    for name in ("tables/truth.md", "tables/truth_chances.tex", "tables/truth.csv"):
        assert (tmp_path / name).stat().st_size > 0
    assert (tmp_path / "figures" / "truth.svg").stat().st_size > 0


def test_only_scores_are_made_again_when_the_truth_changes(tmp_path, made):
    evaluate(rollouts(), tmp_path)
    made()
    evaluate(rollouts(), tmp_path, truth=frame_truth())
    assert made() == ("scores", "summary")
    again = evaluate(rollouts(), tmp_path, truth=frame_truth())
    assert made() == ()
    assert again.truth is not None
    evaluate(rollouts(), tmp_path, truth=frame_truth(8.0))
    assert made() == ("scores", "summary")


def test_truth_of_training_episodes_alone_is_not_used(tmp_path):
    run = evaluate(rollouts(), tmp_path)
    truth = frame_truth().select(np.array([not episode.held_out for episode in run.episodes]))
    with pytest.warns(UserWarning, match="none of their episodes is held out: folds=2 would"):
        again = evaluate(rollouts(), tmp_path, truth=truth)
    assert again.truth is None


_DRIVER = """
import sys
sys.path.insert(0, {tests!r})
import torch
torch.set_num_threads(1)
from test_evaluate import evaluate, rollouts
print("ready", flush=True)
evaluate(rollouts(), {folder!r})
print("finished", flush=True)
"""


def test_it_goes_on_after_kill_9(tmp_path):
    whole = evaluate(rollouts(), tmp_path / "whole")
    code = _DRIVER.format(tests=str(Path(__file__).parent), folder=str(tmp_path / "cut"))
    for delay_s in (0.05, 0.2, 0.5):
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=os.environ
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(delay_s)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    resumed = evaluate(rollouts(), tmp_path / "cut")
    np.testing.assert_allclose(resumed.values.raw_value, whole.values.raw_value, atol=1e-5)


def test_folds_give_every_episode_a_value_by_networks_that_never_saw_it(tmp_path):
    data = rollouts()
    run = evaluate(data, tmp_path, folds=4, methods="mc")
    assert all(episode.held_out for episode in run.episodes)
    assert run.scores.num_held_out == 16
    fitted = goalward.load(tmp_path / "networks")
    for position, line in enumerate((tmp_path / "episodes.csv").read_text().splitlines()[1:]):
        fold = line.rsplit(",", 1)[1]
        for (_, _, _, subset), nets in fitted.answers.items():
            if subset == fold:
                assert all(position not in net.episodes + net.held_out for net in nets)
        wanted = fitted.predict(data.select([position]), subset=fold, device="cpu").raw_value
        frames = slice(20 * position, 20 * position + 20)
        np.testing.assert_allclose(run.values.raw_value[:, :, frames], wanted, atol=1e-6)


@pytest.mark.filterwarnings("ignore:every episode")
@pytest.mark.parametrize(
    ("success", "words"),
    [
        ([True, True, True], "No episode timed out"),
        ([False, False, False], "No episode succeeded"),
        ([True, False, False], "1 of 3"),
    ],
)
def test_too_little_data_still_gives_plain_words(tmp_path, success, words):
    evaluate(rollouts(success=success), tmp_path, seeds=1, standard_horizon=None)
    text = (tmp_path / "summary.md").read_text()
    assert words in text
    assert "not defined" in text
    assert "nan" not in text.lower().replace("nance", "")
    json.loads((tmp_path / "scores.json").read_text(), parse_constant=_no_constant)


@pytest.mark.filterwarnings("ignore:every episode")
@pytest.mark.parametrize(
    ("lengths", "outcomes"),
    [
        ((9, 9, 9, 9), "success time_out success time_out"),
        ((1, 1, 1, 1), "success time_out success time_out"),
        ((9, 30, 9, 3), "success time_out failure failure"),
        ((5, 9, 12, 7), "success success success success"),
        ((5, 9, 12, 7), "time_out time_out failure time_out"),
    ],
)
def test_four_episodes_of_any_kind_give_chances_and_words(tmp_path, lengths, outcomes):
    draws = np.random.default_rng(0)
    arrays = [draws.normal(size=(length, 2)).astype(np.float32) for length in lengths]
    data = goalward.from_arrays(arrays, outcomes=outcomes.split())
    options = {"folds": 2, "standard_horizon": None, "rounds": 1}
    run = evaluate(data, tmp_path, methods=("lambda-returns", "mc-dist", "mc"), **options)
    assert run.chances.within.shape[:2] == (3, sum(lengths))
    more = run.scores.policy.more_time
    late = [i for i, name in enumerate(outcomes.split()) if name == "time_out"]
    # One of a single frame had no clock that it could be given again.
    told = [i for i in late if lengths[i] > 1] if "success" in outcomes else []
    assert [(one.episode, one.num_steps) for one in more.late] == [
        (i, lengths[i] - 1) for i in told
    ]
    assert "nan" not in run.summary().lower().replace("nance", "")
    json.loads((tmp_path / "scores.json").read_text(), parse_constant=_no_constant)


def _no_constant(name):
    raise AssertionError(f"{name} in scores.json")


def test_outcomes_can_be_compared(tmp_path):
    ours = evaluate(rollouts(), tmp_path / "a", methods="mc", seeds=1)
    evaluate(rollouts(), tmp_path / "b", methods="mc", seeds=1, policy="theirs")
    found = goalward.compare(ours, tmp_path / "b", out=tmp_path / "both")
    assert [policy.policy for policy in found.policies] == ["ours", "theirs"]
    assert (tmp_path / "both" / "comparison.md").stat().st_size > 0


def test_hindsight_is_made_as_it_was_asked_for_and_nothing_is_trained_for_it(tmp_path, made):
    data = rollouts()
    run = evaluate(data, tmp_path / "run", folds=2)
    assert {"networks", "values", "scores"} <= set(made())
    assert run.hindsight.decay == 0.98
    assert run.hindsight.reason.startswith("the default: no start was recorded more than once")
    discount = run.discount
    assert discount == pytest.approx(1 - 1.75 / 19)
    value = 1 - 2 * discount ** run.values.steps("liveness").astype(np.float64)
    np.testing.assert_allclose(run.values.common_values("liveness"), value, atol=1e-12)
    # A step before the goal of the first episode; the end of the second, whose clock ran out.
    hindsight = run.values.hindsight_values("liveness")
    np.testing.assert_allclose(hindsight[:, 18], 1 - 2 * discount)
    np.testing.assert_array_equal(hindsight[:, 39], run.values.common_values("liveness")[:, 39])
    alone = evaluate(data, tmp_path / "run", folds=2, hindsight=1.0)
    again = made()
    assert "networks" not in again
    assert {"values", "scores", "summary"} <= set(again)
    assert (alone.hindsight.decay, alone.hindsight.reason) == (1.0, "as it was asked for")
    assert goalward.open_run(tmp_path / "run").hindsight == run.hindsight
    assert goalward.open_run(tmp_path / "run-2").hindsight == alone.hindsight
    assert goalward.open_run(tmp_path / "run-2").settings.evaluation.hindsight == 1.0
    np.testing.assert_allclose(
        alone.values.hindsight_values("liveness")[:, 0], 1 - 2 * discount**19
    )
    np.testing.assert_array_equal(alone.values.raw_value, run.values.raw_value)
    evaluate(data, tmp_path / "run", folds=2, hindsight=1.0)
    assert made() == ()
