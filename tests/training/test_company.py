"""A run is the same network whoever trains beside it."""

import numpy as np
import pytest
import torch

from goalward.training.fit import train
from goalward.training.frames.inputs import FeatureRows, standardisation
from goalward.training.frames.training_frames import training_frames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.table import METHODS
from goalward.training.networks.nets import frame_values
from goalward.training.networks.value_net import NetShape, initial_weights
from goalward.training.runs import all_runs, plan_run

# On the CPU runs are computed one by one: only the sums behind the input scaling may round
# differently in company.
TOLERANCE = 1e-6


def planned(frames, numbers, methods=("liveness", "td", "mc", "mc-dist"), seeds=range(5)):
    episodes = range(frames.num_episodes)
    return [
        plan_run(frames, METHODS[m], seed, episodes, numbers) for m in methods for seed in seeds
    ]


def values_of(run, trained, frames, numbers):
    rows = FeatureRows(frames.features, torch.device("cpu"), max_bytes=0)
    nets = next(nets for nets in trained if run in nets.runs)
    return frame_values(nets.select([run]), rows, numbers)[0]


def test_run_among_twenty_equals_run_alone(rollouts, numbers):
    frames = training_frames(rollouts)
    runs = planned(frames, numbers)
    assert len(runs) == 20
    together = train(frames, runs, numbers, device="cpu")
    for run in runs[3::5]:
        alone = train(frames, [run], numbers, device="cpu")
        np.testing.assert_allclose(
            values_of(run, together, frames, numbers),
            values_of(run, alone, frames, numbers),
            atol=TOLERANCE,
        )


def test_equal_stages_are_trained_once(rollouts, numbers):
    frames = training_frames(rollouts)
    runs = planned(frames, numbers, methods=("liveness", "liveness-nb"), seeds=[0])
    waves = all_runs(runs)
    assert [[len(group) for group in wave] for wave in waves] == [[1], [1]]
    assert runs[0].anchors == (runs[1],)


def test_groups_hold_one_output_and_backups_come_first(rollouts, numbers):
    frames = training_frames(rollouts)
    runs = planned(frames, numbers, methods=("mc", "mc-dist", "td", "liveness"), seeds=[0, 1])
    groups = [group for wave in all_runs(runs) for group in wave]
    names = [[run.stage.name for run in group] for group in groups]
    assert names == [
        ["sparse"] * 2 + ["td"] * 2 + ["mc"] * 2,
        ["mc-dist"] * 2,
        ["bootstrap"] * 2,
    ]


def test_cross_fit_judges_an_episode_by_networks_that_never_saw_it(rollouts):
    frames = training_frames(rollouts)
    numbers = Hyperparameters(cross_fit=3).for_horizon(frames.horizon)
    run = plan_run(frames, METHODS["liveness"], 0, range(8), numbers)
    assert len(run.anchors) == 3
    for episode in range(8):
        unseen_by = [anchor.fold for anchor in run.anchors if episode not in anchor.episodes]
        assert len(unseen_by) == 1


def test_held_out_episodes_are_whole_and_of_every_outcome(rollouts):
    frames = training_frames(rollouts)
    numbers = Hyperparameters(held_out_fraction=0.34).for_horizon(frames.horizon)
    run = plan_run(frames, METHODS["td"], 0, range(8), numbers)
    assert sorted(run.episodes + run.held_out) == list(range(8))
    assert {str(frames.endings.outcomes[e]) for e in run.held_out} == {"success", "time_out"}


def test_streamed_features_train_the_same_network(rollouts, numbers):
    frames = training_frames(rollouts)
    runs = planned(frames, numbers, seeds=[0])
    held = train(frames, runs, numbers, device="cpu")
    streamed = train(frames, runs, numbers, device="cpu", max_feature_bytes=0)
    for run in runs:
        first, second = (values_of(run, nets, frames, numbers) for nets in (held, streamed))
        assert np.array_equal(first, second)


def test_standardisation_is_over_a_runs_own_frames(rollouts):
    frames = training_frames(rollouts)
    mean, scale = standardisation(frames, [(0, 2), (1,), (0, 2)])
    own = frames.features[frames.frames_of((0, 2))]
    np.testing.assert_allclose(mean[0], own.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(scale[0], own.std(axis=0), rtol=1e-5)
    assert np.array_equal(mean[0], mean[2])
    assert not np.allclose(mean[0], mean[1])


def test_weights_start_as_torch_starts_a_linear_map():
    shape = NetShape(50, 1, width=100, num_layers=2)
    weights = initial_weights(shape, [torch.Generator().manual_seed(0)] * 2)
    assert weights["weight_0"].abs().max() <= 50**-0.5
    assert weights["weight_0"].std() == pytest.approx(50**-0.5 / 3**0.5, rel=0.02)
    assert not torch.equal(weights["weight_0"][0], weights["weight_0"][1])
