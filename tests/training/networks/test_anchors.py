"""Anchor values: whose they are, what they may know, and what the second stage makes of them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from goalward.training.fit import train
from goalward.training.frames.inputs import FeatureRows
from goalward.training.frames.lens import Sight
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.table import METHODS
from goalward.training.networks.anchors import anchor_values
from goalward.training.networks.nets import frame_values, nets_of
from goalward.training.problem import problem_of
from goalward.training.runs import plan_run

CPU = torch.device("cpu")


def numbers_with(**options):
    few = {"width": 8, "num_layers": 3, "batch_size": 16, "num_steps": 30, "learning_rate": 1e-2}
    return Hyperparameters(**few | options).for_horizon(10)


def anchors_of(frames, run, numbers):
    """The anchor of the run's second stage, and the networks it comes from."""
    trained = train(frames, run.anchors, numbers, device="cpu")
    rows = FeatureRows(frames.features, CPU)
    sight = Sight(frames, numbers, CPU)
    value = anchor_values(frames, sight, (run,), trained, numbers)[run.anchors]
    said = {
        anchor: frame_values(nets_of(anchor, trained).select([anchor]), rows, numbers)[0]
        for anchor in run.anchors
    }
    return value, said


def test_the_anchor_of_an_episode_is_of_networks_that_never_saw_it(frames):
    numbers = numbers_with(cross_fit=4, held_out_fraction=0.34)
    run = plan_run(frames, METHODS["liveness"], 0, range(8), numbers)
    value, said = anchors_of(frames, run, numbers)
    assert len(said) == 4
    for episode in range(8):
        own = frames.frames_of((episode,)) & ~frames.endings.at_goal
        strangers = [values for anchor, values in said.items() if episode not in anchor.episodes]
        # One of four folds for an episode that is trained on, all four for one held out.
        assert len(strangers) == (4 if episode in run.held_out else 1)
        np.testing.assert_allclose(value[own], np.mean(strangers, axis=0)[own], rtol=1e-5)
    assert (value[frames.endings.at_goal] == -1).all()


@pytest.mark.parametrize("episode", [0, 1])
def test_a_cross_fitted_anchor_does_not_know_the_label(frames, episode):
    """An episode with another ending has the same anchor: nobody who learned it is asked."""
    numbers = numbers_with(cross_fit=2)
    run = plan_run(frames, METHODS["liveness"], 0, range(8), numbers)
    before, _ = anchors_of(frames, run, numbers)
    goals = frames.endings.goal_frames.copy()
    goals[episode] = -1 if goals[episode] >= 0 else 3
    changed = replace(frames, endings=replace(frames.endings, goal_frames=goals))
    after, _ = anchors_of(changed, run, numbers)
    own = frames.frames_of((episode,)) & ~frames.endings.at_goal & ~changed.endings.at_goal
    assert np.array_equal(before[own], after[own])
    others = ~frames.frames_of((episode,)) & ~frames.endings.at_goal
    assert not np.array_equal(before[others], after[others])


def test_one_anchor_that_saw_everything_is_the_papers(frames):
    numbers = numbers_with()
    run = plan_run(frames, METHODS["liveness"], 0, range(8), numbers)
    value, said = anchors_of(frames, run, numbers)
    (only,) = said.values()
    assert np.array_equal(value, np.where(frames.endings.at_goal, -1, only))


def test_anchors_of_success_frames_are_trained_on_successes_alone(frames):
    run = plan_run(frames, METHODS["liveness"], 0, range(8), numbers_with(anchor_frames="success"))
    assert [anchor.episodes for anchor in run.anchors] == [(0, 2, 4)]
    assert run.episodes == tuple(range(8))
    every = plan_run(frames, METHODS["liveness"], 0, range(8), numbers_with())
    assert [anchor.episodes for anchor in every.anchors] == [tuple(range(8))]


def test_without_a_success_there_is_no_success_to_anchor_on(frames):
    numbers = numbers_with(anchor_frames="success")
    run = plan_run(frames, METHODS["liveness"], 0, [1, 3, 6], numbers)
    assert run.anchors[0].episodes == (1, 3, 6)


def test_the_second_stage_takes_the_better_of_anchor_and_next_frame(frames):
    """The table of the bootstrap is the anchor; held out it is the exact scan over it."""
    numbers = numbers_with(discount=0.9)
    run = plan_run(frames, METHODS["liveness"], 0, range(8), numbers)
    anchor = np.linspace(-0.5, 1, frames.num_frames).astype(np.float32)
    anchor[frames.endings.at_goal] = -1
    rows = FeatureRows(frames.features, CPU)
    problem = problem_of(frames, rows, [run], {run.anchors: anchor}, numbers, torch.float32)
    (part,) = problem.parts
    assert np.array_equal(part.table[0], anchor)
    # The second episode, a time-out: min over what follows of 1 - 0.9^(j + 1) * (1 - anchor).
    own = anchor[10:21]
    worth = [0.9 ** (np.arange(11 - t) + 1) * (1 - own[t:]) for t in range(11)]
    expected = [1 - each.max() for each in worth]
    np.testing.assert_allclose(part.held_out_table[0, 10:21], expected, rtol=1e-5)


def test_the_anchors_of_all_seeds_are_asked_at_once(frames, monkeypatch):
    """One by one they would round differently than those of version 0.1.0 did."""
    numbers = numbers_with()
    runs = tuple(plan_run(frames, METHODS["liveness"], seed, range(8), numbers) for seed in (0, 1))
    trained = train(frames, [run.anchors[0] for run in runs], numbers, device="cpu")
    asked = []

    def noting(nets, rows, numbers):
        asked.append(nets.runs)
        return frame_values(nets, rows, numbers)

    monkeypatch.setattr("goalward.training.networks.anchors.frame_values", noting)
    anchors = anchor_values(frames, Sight(frames, numbers, CPU), runs, trained, numbers)
    assert asked == [(runs[0].anchors[0], runs[1].anchors[0])]
    assert list(anchors) == [run.anchors for run in runs]
