"""Trainings on disk: what can be gone on with, and what cannot be read or written, in words."""

import json
import logging
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file

from goalward import GoalwardError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome
from goalward.training import fit as training_loop
from goalward.training.progress import Pace
from goalward.training.scoring import evaluate
from goalward.training.stored import tensor_file
from goalward.training.stored.tensor_file import read_tensors, write_tensors
from goalward.values.fit import fit
from goalward.values.fitted import load


def test_a_full_disk_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object, **__: object):
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(tensor_file, "save_file", full)
    with pytest.raises(GoalwardError, match="nets-0.safetensors: cannot be written .*No space"):
        write_tensors(tmp_path / "nets-0.safetensors", {"mean": torch.zeros(2)}, {})
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_file_of_tensors(tmp_path: Path):
    path = tmp_path / "nets-0.safetensors"
    with pytest.raises(GoalwardError, match="nets-0.safetensors: no such file"):
        read_tensors(path)
    path.write_bytes(b"not tensors")
    with pytest.raises(GoalwardError, match="nets-0.safetensors: was changed or damaged"):
        read_tensors(path)


def other_features(rollouts: Rollouts) -> Rollouts:
    return rollouts.with_features(rollouts.features * np.float32(1.5))


def other_outcome(rollouts: Rollouts) -> Rollouts:
    """The failure as a time-out: the same goals in the same frames."""
    episodes = [
        replace(episode, outcome=Outcome.TIME_OUT) if episode.outcome == "failure" else episode
        for episode in rollouts
    ]
    return Rollouts(episodes, features=rollouts.features)


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (other_features, {}),
        (other_outcome, {}),
        (lambda rollouts: rollouts, {"learning_rate": 0.02}),
        (lambda rollouts: rollouts, {"seeds": [1]}),
    ],
    ids=["features", "outcome", "learning rate", "seed"],
)
@pytest.mark.parametrize("stopped", [False, True], ids=["finished", "stopped"])
def test_another_training_in_the_folder_is_not_gone_on_with(
    rollouts, small, tmp_path: Path, change, options, stopped
):
    def stop(now):
        if stopped and now.steps == 4:
            raise KeyboardInterrupt

    first = {"seeds": [0], "learning_rate": 0.01, "held_out_fraction": 0.0}
    with pytest.raises(KeyboardInterrupt) if stopped else nullcontext():
        hurried = {"on_progress": stop, "pace": Pace(report_s=0.0)}
        fit(rollouts, "survival", checkpoint=tmp_path, **hurried, **small | first)
    changed = change(rollouts)
    fitted = fit(changed, "survival", checkpoint=tmp_path, **small | first | options)
    anew = fit(changed, "survival", **small | first | options)
    values = [one.predict(changed).raw_value for one in (fitted, anew)]
    assert np.array_equal(*values)


def test_finished_groups_are_read_and_not_trained(rollouts, small, tmp_path: Path):
    """Networks that were changed by hand come back as they were changed."""
    fit(rollouts, "mc", seeds=1, checkpoint=tmp_path, **small)
    path = tmp_path / "nets-0.safetensors"
    tensors, facts = read_tensors(path)
    tensors["weights/weight_2"].zero_()
    tensors["weights/bias_2"].fill_(-0.25)
    write_tensors(path, tensors, facts)
    value = fit(rollouts, "mc", seeds=1, checkpoint=tmp_path, **small).predict(rollouts).raw_value
    assert (value == -0.25).all()


def test_the_state_of_a_group_that_was_finished_just_before_a_kill_goes(rollouts, small, tmp_path):
    fit(rollouts, "mc", seeds=1, checkpoint=tmp_path, **small)
    files = sorted(path.name for path in tmp_path.iterdir())
    (tmp_path / "progress.safetensors").write_bytes((tmp_path / "nets-0.safetensors").read_bytes())
    fit(rollouts, "mc", seeds=1, checkpoint=tmp_path, **small)
    assert sorted(path.name for path in tmp_path.iterdir()) == files


def test_networks_in_the_place_of_others_are_trained_again(rollouts, small, tmp_path: Path):
    one = fit(rollouts, ["mc", "mc-dist"], seeds=1, checkpoint=tmp_path, **small).predict(rollouts)
    first, second = (tmp_path / f"nets-{index}.safetensors" for index in range(2))
    whole = second.read_bytes()
    second.write_bytes(first.read_bytes())
    other = fit(rollouts, ["mc", "mc-dist"], seeds=1, checkpoint=tmp_path, **small).predict(
        rollouts
    )
    assert second.read_bytes() == whole
    assert (one.raw_value == other.raw_value).all()


def test_networks_of_version_0_1_0_have_no_log(rollouts, small, tmp_path: Path):
    fitted = fit(rollouts, "mc", seeds=1, **small)
    fitted.save(tmp_path)
    path = tmp_path / "nets-0.safetensors"
    tensors, facts = read_tensors(path)
    old = {name: tensor for name, tensor in tensors.items() if not name.startswith("log/")}
    assert len(old) == len(tensors) - 3
    # Nor a checksum, and each fact by itself.
    save_file(old, path, metadata=facts)
    run = json.loads((tmp_path / "run.json").read_text())
    assert run.pop("after") == {}
    assert run.pop("checksum")
    run["version"] = 3
    (tmp_path / "run.json").write_text(json.dumps(run))
    again = load(tmp_path)
    assert again.log.curves == ()
    values = [one.predict(rollouts).raw_value for one in (fitted, again)]
    assert np.array_equal(*values)


def test_a_crash_loses_no_more_than_was_trained_since_the_last_save(
    rollouts, small, tmp_path: Path, caplog
):
    def crash(now):
        if now.steps == 8:
            raise RuntimeError

    always = {"on_progress": crash, "pace": Pace(report_s=0.0, save_s=-1.0)}
    with pytest.raises(RuntimeError):
        fit(rollouts, "td", seeds=1, checkpoint=tmp_path, **always, **small)
    caplog.set_level(logging.INFO, logger="goalward.training")
    fitted = fit(rollouts, "td", seeds=1, checkpoint=tmp_path, **small)
    # It crashed while the fourth batch was reported, before it was saved.
    assert "going on after batch 3 of 6" in caplog.messages
    whole = fit(rollouts, "td", seeds=1, **small)
    values = [one.predict(rollouts).raw_value for one in (fitted, whole)]
    assert np.array_equal(*values)


def test_an_interrupt_while_held_out_episodes_are_scored_loses_no_score(
    rollouts, small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    options = small | {"held_out_fraction": 0.34, "evaluations": 6}
    whole = fit(rollouts, "mc", seeds=1, **options)
    scored = 0

    def stop_at_the_third(problem, state):
        nonlocal scored
        scored += 1
        if scored == 3:
            raise KeyboardInterrupt
        evaluate(problem, state)

    monkeypatch.setattr(training_loop, "evaluate", stop_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        often = Pace(report_s=0.0, save_s=-1.0)
        fit(rollouts, "mc", seeds=1, checkpoint=tmp_path, pace=often, **options)
    fitted = fit(rollouts, "mc", seeds=1, checkpoint=tmp_path, **options)
    assert fitted.log == whole.log
