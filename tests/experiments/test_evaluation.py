"""`evaluate` from features to summary: twice, interrupted, with too little data, in folds."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import goalward
from goalward.config import EvaluationConfig
from goalward.experiments import evaluation as evaluation_module
from goalward.experiments.evaluation import evaluate
from goalward.metrics.scores.paper_metrics import paper_metrics
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.rollouts.endings import Endings
from goalward.run_folder import RunFolder

TINY = {"width": 16, "num_layers": 2, "num_steps": 40, "batch_size": 64}
CONFIG = EvaluationConfig(
    policy="ours", methods=("liveness", "mc"), seeds=2, overrides=TINY, standard_horizon=15
)


def rollouts(num_episodes=16, *, success=None, length=20):
    """Successes walk from 0 to 1, the others stay; all with some noise."""
    draws = np.random.default_rng(0)
    success = [i % 2 == 0 for i in range(num_episodes)] if success is None else success
    ramp = np.linspace(0, 1, length)[:, None]
    arrays = [
        (ramp if good else 0 * ramp) + 0.05 * draws.normal(size=(length, 3)) for good in success
    ]
    return goalward.from_arrays([a.astype(np.float32) for a in arrays], success=success)


def test_all_files_are_there_and_say_the_same(tmp_path):
    data = rollouts()
    done = evaluate(data, CONFIG, RunFolder(tmp_path), device="cpu")
    assert done.steps_made == ("episodes", "networks", "values", "scores")
    for path in ("summary.md", "scores.json", "values.parquet", "episodes.csv", "outcomes.csv"):
        assert (tmp_path / path).stat().st_size > 0
    for name in ("paper_metrics.md", "paper_metrics.tex", "all_scores.md", "all_scores.tex"):
        assert (tmp_path / "tables" / name).stat().st_size > 0
    for name in ("paper_metrics.png", "paper_metrics.svg", "calibration.png", "calibration.svg"):
        assert (tmp_path / "figures" / name).stat().st_size > 0
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert scores["policy"]["success_rate"]["count"] == 8
    assert "50 % (8 of 16" in (tmp_path / "summary.md").read_text()
    # The composite again, from the table of values and the episodes that were held out.
    tested = np.flatnonzero(done.held_out)
    episode_of = np.repeat(np.arange(16), data.lengths)
    frames = np.isin(episode_of, tested)
    again = [
        paper_metrics(steps[frames].astype(float), Endings.of(data.select(tested)), 15)
        for steps in goalward.read_values(tmp_path / "values.parquet").steps("liveness")
    ]
    composite = [metrics.composite.value for metrics in again]
    assert scores["methods"]["liveness"]["composite"]["by_seed"] == pytest.approx(composite)
    assert scores["methods"]["liveness"]["composite"]["mean"] == pytest.approx(np.mean(composite))


def test_the_second_time_nothing_is_made(tmp_path):
    first = evaluate(rollouts(), CONFIG, RunFolder(tmp_path), device="cpu")
    times = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()}
    again = evaluate(rollouts(), CONFIG, RunFolder(tmp_path), device="cpu")
    assert again.steps_made == ()
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()} == times
    assert again.scores.policy.success == first.scores.policy.success


def test_only_what_depends_on_a_change_is_made_again(tmp_path):
    evaluate(rollouts(), CONFIG, RunFolder(tmp_path), device="cpu")
    changed = EvaluationConfig(**(vars(CONFIG) | {"standard_horizon": 10}))
    again = evaluate(rollouts(), changed, RunFolder(tmp_path), device="cpu")
    assert again.steps_made == ("episodes", "scores")
    (tmp_path / "figures" / "paper_metrics.png").unlink()
    again = evaluate(rollouts(), changed, RunFolder(tmp_path), device="cpu")
    assert again.steps_made == ("scores",)
    more_seeds = EvaluationConfig(**(vars(changed) | {"seeds": 3}))
    again = evaluate(rollouts(), more_seeds, RunFolder(tmp_path), device="cpu")
    assert again.steps_made == ("episodes", "networks", "values", "scores")
    forced = evaluate(rollouts(), more_seeds, RunFolder(tmp_path), device="cpu", force=True)
    assert len(forced.steps_made) == 4


@pytest.mark.parametrize("stage", ["held_out_values", "score_values", "write_evaluation"])
def test_it_goes_on_after_an_interrupt_at_each_stage(tmp_path, monkeypatch, stage):
    whole = evaluate(rollouts(), CONFIG, RunFolder(tmp_path / "whole"), device="cpu")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(evaluation_module, stage, interrupted)
        with pytest.raises(KeyboardInterrupt):
            evaluate(rollouts(), CONFIG, RunFolder(tmp_path / "cut"), device="cpu")
    resumed = evaluate(rollouts(), CONFIG, RunFolder(tmp_path / "cut"), device="cpu")
    assert "networks" not in resumed.steps_made
    np.testing.assert_array_equal(resumed.values.value, whole.values.value)
    for name in ("scores.json", "summary.md", "outcomes.csv"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def frame_truth(steps_of_success=9.0):
    """Frame 10 of every episode: successes take nine steps from there, the others never succeed."""
    steps = [[steps_of_success] * 4 if i % 2 == 0 else [np.inf] * 4 for i in range(16)]
    ids = tuple(str(i) for i in range(16))
    return FrameTruth(ids, np.full(16, 10), np.array(steps), cap=75)


def test_values_are_compared_with_the_truth(tmp_path):
    data = rollouts()
    done = evaluate(data, CONFIG, RunFolder(tmp_path), truth=frame_truth(), device="cpu")
    found = json.loads((tmp_path / "scores.json").read_text())["truth"]
    # The errors again, from the table of values and the episodes that were held out.
    tested = np.flatnonzero(done.held_out)
    discount = 1 - 1.75 / 19
    true = np.where(tested % 2 == 0, 1 - 2 * discount**9, 1.0)
    steps = goalward.read_values(tmp_path / "values.parquet").steps("mc")[:, 20 * tested + 10]
    error = 1 - 2 * discount ** steps.astype(float) - true
    value = found["methods"]["mc"]["all"]["value"]
    assert found["discount"] == pytest.approx(discount)
    assert value["bias"]["value"] == pytest.approx(error.mean(), abs=1e-6)
    assert value["absolute"]["value"] == pytest.approx(np.abs(error).mean(), abs=1e-6)
    assert found["frames"]["all"]["num_frames"] == len(tested)
    assert "**closest to the truth**" in (tmp_path / "summary.md").read_text()
    for name in ("tables/truth.md", "tables/truth_chances.tex", "tables/truth.csv"):
        assert (tmp_path / name).stat().st_size > 0
    assert (tmp_path / "figures" / "truth.svg").stat().st_size > 0


def test_only_scores_are_made_again_when_the_truth_changes(tmp_path):
    folder = RunFolder(tmp_path)
    evaluate(rollouts(), CONFIG, folder, device="cpu")
    again = evaluate(rollouts(), CONFIG, folder, truth=frame_truth(), device="cpu")
    assert again.steps_made == ("scores",)
    again = evaluate(rollouts(), CONFIG, folder, truth=frame_truth(), device="cpu")
    assert again.steps_made == ()
    assert again.truth is not None
    again = evaluate(rollouts(), CONFIG, folder, truth=frame_truth(8.0), device="cpu")
    assert again.steps_made == ("scores",)


def test_truth_of_training_episodes_alone_is_not_used(tmp_path):
    done = evaluate(rollouts(), CONFIG, RunFolder(tmp_path), device="cpu")
    truth = frame_truth().select(~done.held_out)
    with pytest.warns(UserWarning, match="none of their episodes is held out"):
        again = evaluate(rollouts(), CONFIG, RunFolder(tmp_path), truth=truth, device="cpu")
    assert again.truth is None
    assert "truth" not in json.loads((tmp_path / "scores.json").read_text())


_DRIVER = """
import sys
sys.path.insert(0, {tests!r})
import torch
torch.set_num_threads(1)
from test_evaluation import CONFIG, RunFolder, evaluate, rollouts
from pathlib import Path
print("ready", flush=True)
evaluate(rollouts(), CONFIG, RunFolder(Path({folder!r})), device="cpu")
print("finished", flush=True)
"""


def test_it_goes_on_after_kill_9(tmp_path):
    whole = evaluate(rollouts(), CONFIG, RunFolder(tmp_path / "whole"), device="cpu")
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
    resumed = evaluate(rollouts(), CONFIG, RunFolder(tmp_path / "cut"), device="cpu")
    np.testing.assert_allclose(resumed.values.value, whole.values.value, atol=1e-5)


def test_folds_give_every_episode_a_value_by_networks_that_never_saw_it(tmp_path):
    config = EvaluationConfig(**(vars(CONFIG) | {"folds": 4, "methods": ("mc",)}))
    data = rollouts()
    done = evaluate(data, config, RunFolder(tmp_path), device="cpu")
    assert done.held_out.all()
    assert done.scores.num_held_out == 16
    fitted = goalward.load(tmp_path / "networks")
    for position, line in enumerate((tmp_path / "episodes.csv").read_text().splitlines()[1:]):
        fold = line.rsplit(",", 1)[1]
        for (_, _, _, subset), run in fitted.answers.items():
            if subset == fold:
                assert position not in run.episodes + run.held_out
        wanted = fitted.predict(data.select([position]), subset=fold, device="cpu").value
        frames = slice(20 * position, 20 * position + 20)
        np.testing.assert_allclose(done.values.value[:, :, frames], wanted, atol=1e-6)


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
    config = EvaluationConfig(**(vars(CONFIG) | {"seeds": 1, "standard_horizon": None}))
    evaluate(rollouts(success=success), config, RunFolder(tmp_path), device="cpu")
    text = (tmp_path / "summary.md").read_text()
    assert words in text
    assert "not defined" in text
    assert "nan" not in text.lower().replace("nance", "")
    json.loads((tmp_path / "scores.json").read_text(), parse_constant=_no_constant)


def _no_constant(name):
    raise AssertionError(f"{name} in scores.json")


def test_outcomes_can_be_compared(tmp_path):
    from goalward.metrics.comparing.outcome_file import read_outcomes

    evaluate(rollouts(), CONFIG, RunFolder(tmp_path / "a"), device="cpu")
    theirs = EvaluationConfig(**(vars(CONFIG) | {"policy": "theirs"}))
    evaluate(rollouts(), theirs, RunFolder(tmp_path / "b"), device="cpu")
    table = read_outcomes([tmp_path / "a", tmp_path / "b"])
    assert [policy.policy for policy in table.policies] == ["ours", "theirs"]
