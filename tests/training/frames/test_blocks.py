"""More than memory holds: blocks of episodes, one after the other."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

import goalward
from goalward import spilled
from goalward.training import fit
from goalward.training.fit import train
from goalward.training.frames import inputs
from goalward.training.frames.blocks import Blocks, frames_per_block, stays_of
from goalward.training.frames.inputs import FeatureRows, standardisation
from goalward.training.frames.training_frames import (
    TrainingFrames,
    episodes_at_a_time,
    training_frames,
)
from goalward.training.methods.presets import hyperparameters
from goalward.training.methods.table import METHODS
from goalward.training.networks import anchors
from goalward.training.networks.nets import frame_values
from goalward.training.problem import problem_of
from goalward.training.progress import UNHURRIED, Reporter
from goalward.training.runs import plan_runs
from goalward.training.scoring import score_held_out
from goalward.training.step import draw, initial_state

SMALL = {"width": 16, "num_layers": 3, "batch_size": 32, "num_steps": 120}
# Of 30 episodes of 20 frames with 6 numbers each in about five blocks.
MEGABYTES = 600 * 45 / 5 / 2**20


def made_rollouts(num: int = 30, tasks: int = 1) -> goalward.Rollouts:
    draws = np.random.default_rng(0)
    ramp = np.linspace(0, 1, 20)[:, None]
    look = draws.normal(size=(2, 6))
    features = [
        np.hstack([sign * ramp, ramp**2]) @ look + 0.05 * draws.normal(size=(20, 6))
        for sign in [1, -1] * (num // 2)
    ]
    success = [True, False] * (num // 2)
    rollouts = goalward.from_arrays(features, success=success)
    if tasks == 1:
        return rollouts
    named = [replace(e, task=f"task {i // 2 % tasks}") for i, e in enumerate(rollouts)]
    return goalward.Rollouts(named, features=rollouts.features)


@pytest.fixture
def frames() -> TrainingFrames:
    return training_frames(made_rollouts())


def numbers_with(frames: TrainingFrames, **options):
    numbers = hyperparameters(**SMALL | options)
    return numbers.for_horizon(frames.horizon, frames.num_frames)


def runs_of(frames, method, numbers, seeds=(0, 1)):
    episodes = range(frames.num_episodes)
    return [
        run for seed in seeds for run in plan_runs(frames, METHODS[method], seed, episodes, numbers)
    ]


def test_every_episode_comes_once_in_an_epoch_and_every_batch_is_of_one_block(frames):
    numbers = numbers_with(frames, num_steps=600, gradient_steps_per_batch=2)
    stays = stays_of(frames, 130, numbers)
    # 300 batches of 32 draw every one of 600 frames 16 times.
    assert {stay.epoch for stay in stays} == set(range(16))
    for epoch in range(16):
        here = [stay for stay in stays if stay.epoch == epoch]
        assert sorted(e for stay in here for e in stay.episodes) == list(range(30))
        assert len(here) == 5
        assert all(20 * len(stay.episodes) <= 130 for stay in here)
    assert [stay.first for stay in stays[1:]] == [stay.end for stay in stays[:-1]]
    assert (stays[0].first, stays[-1].end) == (0, 300)
    assert stays[0].episodes != stays[5].episodes, "a new order in every epoch"
    # 3.75 batches each.
    assert {stay.end - stay.first for stay in stays} == {3, 4}


def test_fewer_batches_than_blocks(frames):
    numbers = numbers_with(frames, num_steps=6)
    stays = stays_of(frames, 20, numbers)
    assert [stay.end - stay.first for stay in stays] == [1, 1, 1]


def test_what_fits_is_one_block(frames):
    (stay,) = stays_of(frames, 600, numbers_with(frames))
    assert (stay.episodes, stay.first, stay.end) == (tuple(range(30)), 0, 60)
    assert (
        frames_per_block(frames, runs_of(frames, "mc", numbers_with(frames)), numbers_with(frames))
        > 600
    )


@pytest.mark.parametrize("method", ["liveness-nb", "mc-dist"])
def test_one_block_is_the_same_to_the_last_bit(frames, method):
    numbers = numbers_with(frames, held_out_fraction=0.2, evaluations=4)
    runs = runs_of(frames, method, numbers)
    cpu = torch.device("cpu")
    whole = problem_of(frames, FeatureRows(frames.features, cpu), runs, {}, numbers, torch.float32)
    blocks = Blocks(frames, runs, {}, numbers, cpu, torch.float32)
    reporter = Reporter([tuple(runs)], numbers, None, UNHURRIED)
    trained = [fit._train_group(given, 0, None, reporter) for given in (whole, blocks)]
    for name, weights in trained[0].weights.items():
        assert torch.equal(weights, trained[1].weights[name])
    assert torch.equal(trained[0].log.held_out_loss, trained[1].log.held_out_loss)


def test_a_frame_is_drawn_as_often_as_if_all_were_there(frames):
    numbers = numbers_with(
        frames,
        num_steps=2400,
        gradient_steps_per_batch=1,
        priority_exponent=0.0,
        held_out_fraction=0.0,
        block_mb=MEGABYTES,
    )
    runs = runs_of(frames, "mc", numbers, seeds=[0])
    blocks = Blocks(frames, runs, {}, numbers, torch.device("cpu"), torch.float32)
    assert 4 <= blocks.num_blocks <= 7
    counts = np.zeros(600, dtype=np.int64)
    for batch in range(numbers.num_batches):
        if blocks.begins(batch):
            problem = blocks.problem(batch)
            state = initial_state(problem)
            stay = next(stay for stay in blocks._stays if stay.first == batch)
            rows = np.flatnonzero(frames.frames_of(stay.episodes))
        state["batch"].fill_(batch)
        np.add.at(counts, rows[draw(problem, state)[0][0].numpy()], 1)
    blocks.close()
    # 128 times each, less scattered than by chance: one from each of 32 equal parts.
    assert counts.sum() == 2400 * 32
    assert np.abs(counts / 128 - 1).max() < 0.35
    by_episode = counts.reshape(30, 20).sum(1)
    assert np.abs(by_episode / (20 * 128) - 1).max() < 0.15


def test_priorities_count_within_a_block(frames):
    numbers = numbers_with(frames, block_mb=MEGABYTES, num_steps=8)
    runs = runs_of(frames, "mc", numbers, seeds=[0])
    blocks = Blocks(frames, runs, {}, numbers, torch.device("cpu"), torch.float32)
    problem = blocks.problem(0)
    state = initial_state(problem)
    state["mass"].fill_(1e-6)
    state["mass"][0, 7] = 1.0
    assert Counter(draw(problem, state)[0][0].tolist()).most_common(1) == [(7, 32)]
    blocks.close()


@pytest.mark.parametrize("method", ["liveness", "mc-dist", "lambda-returns"])
def test_values_are_those_of_a_training_of_all_at_once(frames, method):
    more = {"num_steps": 300, "learning_rate": 2e-3, "lambda-returns.num_steps": 60}
    found = []
    for options in ({}, {"block_mb": 1e-1 if method == "lambda-returns" else MEGABYTES}):
        numbers = numbers_with(frames, **more, **options)
        runs = runs_of(frames, method, numbers)
        trained = train(frames, runs, numbers, device="cpu")
        nets = next(nets for nets in trained if runs[0] in nets.runs)
        rows = FeatureRows(
            frames.features if nets.lens is None else nets.lens.inputs(frames), torch.device("cpu")
        )
        found.append(frame_values(nets.select(runs), rows, numbers))
    whole, in_blocks = found
    assert not np.array_equal(whole, in_blocks), "there was more than one block"
    apart = np.abs(whole[0] - whole[-1]).mean()
    assert np.abs(whole.mean(0) - in_blocks.mean(0)).mean() < max(2 * apart, 0.05)
    assert np.corrcoef(whole.mean(0), in_blocks.mean(0))[0, 1] > 0.97


def test_held_out_episodes_are_scored_by_blocks_as_they_are_as_a_whole(frames):
    numbers = numbers_with(frames, held_out_fraction=0.4, block_mb=MEGABYTES)
    runs = runs_of(frames, "td", numbers)
    cpu = torch.device("cpu")
    whole = problem_of(frames, FeatureRows(frames.features, cpu), runs, {}, numbers, torch.float32)
    blocks = Blocks(frames, runs, {}, numbers, cpu, torch.float32)
    state = initial_state(whole)
    parts = list(blocks.held_out())
    assert len(parts) > 2
    torch.testing.assert_close(
        score_held_out(whole, {k: v.clone() for k, v in state.items()}, parts),
        score_held_out(whole, state),
        rtol=1e-5,
        atol=0,
    )
    blocks.close()


def stop_after(num_reports: int):
    reports = []

    def on_progress(progress) -> None:
        reports.append(progress)
        if len(reports) == num_reports:
            raise KeyboardInterrupt

    return on_progress


@pytest.mark.parametrize("num_batches", [5, 13])
def test_a_training_in_blocks_goes_on_where_it_was_stopped(frames, tmp_path, num_batches):
    """In the middle of a block, and between two."""
    numbers = numbers_with(frames, block_mb=MEGABYTES, held_out_fraction=0.2, evaluations=4)
    runs = runs_of(frames, "liveness-nb", numbers, seeds=[0])
    firsts = {
        stay.first for stay in stays_of(frames, frames_per_block(frames, runs, numbers), numbers)
    }
    assert len(firsts) > 5
    at = num_batches if num_batches == 5 else min(first for first in firsts if first > 8)
    wanted = train(frames, runs, numbers, device="cpu")[0]
    pace = replace(UNHURRIED, report_s=0.0)
    with pytest.raises(KeyboardInterrupt):
        train(
            frames,
            runs,
            numbers,
            device="cpu",
            checkpoint_folder=tmp_path,
            on_progress=stop_after(at),
            pace=pace,
        )
    assert (tmp_path / "progress.safetensors").exists()
    went_on = train(frames, runs, numbers, device="cpu", checkpoint_folder=tmp_path)[0]
    for name, weights in wanted.weights.items():
        assert torch.equal(weights, went_on.weights[name]), name


def test_a_run_that_has_no_episode_in_a_block_borrows_one():
    frames = training_frames(made_rollouts(tasks=5))
    numbers = numbers_with(frames, block_mb=MEGABYTES / 3)
    rollouts = made_rollouts(tasks=5)
    fitted = goalward.fit(
        rollouts, "mc", seeds=1, per_task=True, device="cpu", block_mb=MEGABYTES / 3, **SMALL
    )
    assert np.isfinite(fitted.predict(rollouts).raw_values("mc")).all()
    runs = [
        plan_runs(frames, METHODS["mc"], 0, (2, 3), numbers)[0],
        *runs_of(frames, "mc", numbers),
    ]
    blocks = Blocks(frames, runs, {}, numbers, torch.device("cpu"), torch.float32)
    for stay in blocks._stays:
        assert (blocks.problem(stay.first).first_mass.sum(1) > 0).all()
    blocks.close()


# ---- arrays that are larger than memory ---------------------------------------------------------


def test_large_views_lie_in_a_file(monkeypatch, tmp_path):
    monkeypatch.setenv("GOALWARD_CACHE", str(tmp_path))
    rollouts = made_rollouts()
    wanted = rollouts.select([4, 1, 7]).features
    monkeypatch.setattr(spilled, "IN_MEMORY_BYTES", 100)
    found = rollouts.select([4, 1, 7]).features
    assert isinstance(found, np.memmap)
    assert not isinstance(wanted, np.memmap)
    assert np.array_equal(found, wanted)
    assert list(tmp_path.iterdir()) == [], "the file has no name"


def test_inputs_through_a_lens_are_the_same_in_a_file(frames, monkeypatch, tmp_path):
    from goalward.training.frames.lens import lens_of

    monkeypatch.setenv("GOALWARD_CACHE", str(tmp_path))
    for options in ({"lags": (2, 5)}, {"lags": (3,), "max_inputs": 3}):
        lens = lens_of(frames, numbers_with(frames, **options))
        assert lens is not None
        wanted = lens.inputs(frames)
        with monkeypatch.context() as patched:
            patched.setattr(spilled, "IN_MEMORY_BYTES", 2000)
            found = lens.inputs(frames)
        assert isinstance(found, np.memmap)
        np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_means_and_deviations_are_the_same_by_some_episodes_at_a_time(frames, monkeypatch):
    sets = [tuple(range(30)), (1, 5, 28), (0,)]
    wanted = standardisation(frames, sets)
    frames.scalings.clear()
    monkeypatch.setattr(inputs, "_SUM_BYTES", 7 * 16 * 6)
    for found, of_all in zip(standardisation(frames, sets), wanted, strict=True):
        np.testing.assert_allclose(found, of_all, rtol=1e-6)


def test_portions_of_episodes(frames):
    assert [len(some) for some in episodes_at_a_time(frames, 100)] == [5] * 6
    assert list(episodes_at_a_time(frames, 3)) == [(episode,) for episode in range(30)]


@pytest.mark.parametrize("method", ["liveness", "lambda-returns"])
def test_an_evaluation_of_more_than_memory(method, monkeypatch, tmp_path):
    """Everything in files and blocks: folds, lags, components, hindsight and chances."""
    monkeypatch.setenv("GOALWARD_CACHE", str(tmp_path / "cache"))
    rollouts = made_rollouts(16)
    options = {
        "methods": method,
        "seeds": 1,
        "folds": 2,
        "device": "cpu",
        "progress": False,
        "lags": (2,),
        "max_inputs": 4,
        **SMALL,
        "num_steps": 40,
        "lambda-returns.rounds": 1,
        "lambda-returns.cross_fit": 2,
        "learning_rate": 1e-2,
    }
    whole = goalward.evaluate(rollouts, tmp_path / "whole", **options)
    called = []
    real = anchors.some_distributions
    monkeypatch.setattr(
        anchors, "some_distributions", lambda *given: called.append(1) or real(*given)
    )
    monkeypatch.setattr(spilled, "IN_MEMORY_BYTES", 1000)
    large = goalward.evaluate(rollouts, tmp_path / "large", block_mb=0.02, **options)
    assert bool(called) == (method == "lambda-returns")
    for name in ("value", "hindsight_value"):
        found = [getattr(run.values, name)[0, 0] for run in (whole, large)]
        assert np.isfinite(found[1]).all()
        assert np.corrcoef(*found)[0, 1] > 0.9
    assert np.abs(whole.chances.within - large.chances.within).mean() < 0.1
