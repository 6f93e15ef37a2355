"""Training stops when the held-out loss does."""

import numpy as np
import pytest
import torch

from goalward import from_arrays
from goalward.values.fit import fit

SMALL = {"width": 16, "num_layers": 2, "batch_size": 32, "lambda-returns.cross_fit": 2}


def rollouts(seed: int = 0):
    """Outcomes that features know nothing of: held-out losses soon rise."""
    noise = np.random.default_rng(seed)
    episodes = [noise.normal(size=(12, 6)) for _ in range(12)]
    return from_arrays(episodes, success=[True, False] * 6)


def fitted(patience: int, num_steps: int = 240):
    return fit(
        rollouts(),
        "lambda-returns",
        seeds=1,
        device="cpu",
        **SMALL,
        **{
            "lambda-returns.rounds": 0,
            "lambda-returns.starts": "dark",
            "lambda-returns.num_steps": num_steps,
            "lambda-returns.evaluations": 12,
            "lambda-returns.patience": patience,
            "lambda-returns.learning_rate": 0.01,
        },
    )


def test_a_network_that_does_no_better_stops_and_its_best_weights_are_kept() -> None:
    patient, all_the_way = fitted(3), fitted(0)
    losses = patient.nets[0].log.held_out_loss.numpy()
    reference = all_the_way.nets[0].log.held_out_loss.numpy()
    for curve, whole in zip(losses, reference, strict=True):
        best = int(np.nanargmin(curve))
        seen = int((~np.isnan(curve)).sum())
        assert seen == best + 1 + 3 < 12
        np.testing.assert_array_equal(curve[:seen], whole[:seen])
    for position in range(len(losses)):
        if np.nanargmin(losses[position]) == np.nanargmin(reference[position]):
            for name, weight in patient.nets[0].weights.items():
                same = torch.equal(weight[position], all_the_way.nets[0].weights[name][position])
                assert same, name
            break
    else:
        pytest.fail("no network was at its best before it stopped")


def test_without_patience_nothing_stops() -> None:
    assert not np.isnan(fitted(0).nets[0].log.loss.numpy()).any()
