"""What a training leaves behind besides its networks: losses, messages, progress."""

import logging

import numpy as np
import pytest
import torch

import goalward
from goalward.training.frames.inputs import FeatureRows
from goalward.training.networks.value_net import net_outputs
from goalward.training.progress import Pace
from goalward.values.fit import fit

EVERY_BATCH = Pace(report_s=0.0)
OVERFITTING = {"num_steps": 200, "learning_rate": 3e-2, "held_out_fraction": 0.34}


def test_a_curve_per_stage_seed_and_fold(rollouts, small):
    options = small | {"cross_fit": 2, "evaluations": 3, "held_out_fraction": 0.34}
    log = fit(rollouts, ("liveness", "liveness-nb", "mc-dist"), seeds=[2, 7], **options).log
    assert log.stages == ("sparse", "mc-dist", "bootstrap")
    facts = [(c.stage, c.seed, c.fold, c.num_episodes) for c in log.curves]
    # Two of eight episodes are held out, and half of the rest is left out by each fold.
    assert sorted(facts[:6], key=str) == [
        ("sparse", seed, fold, 6 if fold is None else 3) for seed in (2, 7) for fold in (0, 1, None)
    ]
    assert facts[6:] == [
        (stage, seed, None, 6) for stage in ("mc-dist", "bootstrap") for seed in (2, 7)
    ]
    for curve in log.curves:
        assert (curve.task, curve.subset) == ("", "")
        assert curve.steps == (4, 8, 12)
        assert len(curve.loss) == len(curve.held_out_loss) == 3
        assert np.isfinite([*curve.loss, *curve.held_out_loss]).all()
    assert len({curve.loss for curve in log.curves}) == len(log.curves)


def test_the_loss_is_the_mean_over_the_steps_since_the_last_point(rollouts, small):
    heard = []
    options = small | {"gradient_steps_per_batch": 1, "evaluations": 3, "num_steps": 13}
    fitted = fit(
        rollouts,
        "mc",
        seeds=1,
        on_progress=lambda now: heard.append(now.loss),
        pace=EVERY_BATCH,
        **options,
    )
    (curve,) = fitted.log.curves
    assert len(heard) == 13
    assert curve.steps == (4, 8, 12, 13)
    parts = (heard[:4], heard[4:8], heard[8:12], heard[12:])
    np.testing.assert_allclose(curve.loss, [np.mean(part) for part in parts], rtol=1e-5)


def test_without_held_out_episodes_there_is_no_held_out_loss(rollouts, small):
    (curve,) = fit(rollouts, "td", seeds=1, held_out_fraction=0.0, **small).log.curves
    assert curve.held_out_loss is None
    assert curve.kept_step == 12
    assert len(curve.loss) == 6


def test_tasks_and_subsets_are_told_apart(small):
    rng = np.random.default_rng(1)
    features = [rng.normal(size=(6, 2)) for _ in range(8)]
    tasks = ["a/b", "a/b", "c", "c"] * 2
    rollouts = goalward.from_arrays(features, success=[True, False] * 4, tasks=tasks)
    fitted = fit(
        rollouts, "mc", seeds=1, per_task=True, subsets={"x": range(4), "y": range(8)}, **small
    )
    places = [(c.task, c.subset, c.num_episodes) for c in fitted.log.curves]
    assert places == [("a/b", "x", 2), ("c", "x", 2), ("a/b", "y", 4), ("c", "y", 4)]


def test_an_anchor_of_successes_is_not_mistaken_for_one_of_all(rollouts, small):
    fitted = fit(
        rollouts,
        ("liveness", "liveness-nb"),
        seeds=1,
        anchor_frames="success",
        **small | {"held_out_fraction": 0.0},
    )
    assert [(c.stage, c.num_episodes) for c in fitted.log.curves] == [
        ("sparse", 3),
        ("sparse", 8),
        ("bootstrap", 8),
    ]


@pytest.mark.parametrize("method", ["liveness-nb", "td", "mc"])
def test_the_weights_that_are_kept_are_those_of_the_best_point(method, frames, rollouts, small):
    """Scored once more by hand: as good as the best of the log, which is not the last."""
    fitted = fit(rollouts, method, seeds=[1], discount=0.9, **small | OVERFITTING)
    numbers = fitted.numbers
    (curve,), (nets,) = fitted.log.curves, fitted.nets
    rows = FeatureRows(frames.features, torch.device("cpu"))
    every = torch.arange(frames.num_frames)[None]
    inputs = rows.standardised(every, nets.mean, nets.scale, torch.float32)
    said = net_outputs(nets.weights, inputs)[0, :, 0].numpy()
    steps, reached = frames.steps, frames.reached
    power = numbers.td_discount**steps
    exact = {
        "liveness-nb": np.where(reached, 1 - 2 * 0.9**steps, 1.0),
        "td": -(1 - power) / (1 - numbers.td_discount) / numbers.td_normaliser
        - np.where(reached, 0.0, power),
        "mc": -(steps / numbers.mc_normaliser) - np.where(reached, 0.0, 0.5),
    }
    held_out = frames.frames_of(nets.runs[0].held_out)
    loss = ((said - np.clip(exact[method], -2, 1)) ** 2)[held_out].mean()
    assert loss == pytest.approx(min(curve.held_out_loss), rel=1e-4)
    assert curve.held_out_loss[-1] > 1.2 * loss
    assert curve.kept_step < 200


def test_progress_counts_the_steps_of_all_runs(rollouts, small):
    heard = []
    fit(rollouts, "liveness", seeds=2, on_progress=heard.append, pace=EVERY_BATCH, **small)
    assert [now.steps for now in heard] == list(range(4, 49, 4))
    assert {now.total_steps for now in heard} == {2 * 2 * 12}
    assert [now.stages for now in heard] == [("sparse",)] * 6 + [("bootstrap",)] * 6
    assert {now.num_runs for now in heard} == {2}
    assert {now.held_out_loss for now in heard} == {None}


def test_progress_tells_the_best_held_out_loss_so_far(rollouts, small):
    heard = []
    told = {"on_progress": heard.append, "pace": EVERY_BATCH}
    (curve,) = fit(rollouts, "mc", seeds=[1], **told, **small | OVERFITTING).log.curves
    best_so_far = np.minimum.accumulate(curve.held_out_loss)
    assert best_so_far[-1] < curve.held_out_loss[-1]
    # Twenty points over a hundred batches.
    at_points = [now.held_out_loss for now in heard[4::5]]
    np.testing.assert_allclose(at_points, best_so_far, rtol=1e-5)


def test_unhurried_progress_is_told_at_the_end_of_a_group(rollouts, small):
    heard = []
    calm = Pace(report_s=1e9)
    fit(rollouts, ("mc", "survival"), seeds=1, on_progress=heard.append, pace=calm, **small)
    assert [(now.stages, now.steps) for now in heard] == [(("mc",), 12), (("survival",), 24)]


def test_messages_say_what_is_trained_and_what_is_read(rollouts, small, tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="goalward.training")
    for _ in range(2):
        fit(rollouts, ("liveness", "mc"), seeds=2, checkpoint=tmp_path, **small)
    assert {record.name for record in caplog.records} == {"goalward.training"}
    assert caplog.messages == [
        "training sparse, mc, 4 networks",
        "training bootstrap, 2 networks",
        "read from checkpoint: sparse, mc, 4 networks",
        "read from checkpoint: bootstrap, 2 networks",
    ]


def test_an_interrupted_training_says_where_it_goes_on(rollouts, small, tmp_path, caplog):
    def stop(now):
        if now.steps == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hurried = {"on_progress": stop, "pace": EVERY_BATCH}
        fit(rollouts, "mc", seeds=1, checkpoint=tmp_path, **hurried, **small)
    caplog.set_level(logging.INFO, logger="goalward.training")
    fit(rollouts, "mc", seeds=1, checkpoint=tmp_path, **small)
    assert caplog.messages == ["training mc, 1 network", "going on after batch 2 of 6"]
    assert not (tmp_path / "progress.safetensors").exists()
