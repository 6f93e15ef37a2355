"""Noise, dropout and weight decay: how much there is of them, and where there is none."""

import math

import numpy as np
import pytest
import torch

from goalward.training.frames.shaking import Shaking
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.scoring import score_held_out
from goalward.training.step import draw, folder, gradient_step, targets, train_batch
from goalward.values.fit import fit

KEYS = torch.tensor([[123], [456]])
SHAPE = (2, 300, 200)


def shaking(step=0, keys=KEYS, **numbers):
    return Shaking(keys, torch.tensor(step), Hyperparameters(**numbers))


def test_nothing_is_shaken_that_is_not_to_be():
    inputs = torch.ones(SHAPE)
    still = shaking()
    assert still.inputs(inputs) is inputs
    assert still.hidden(inputs, 0) is inputs


def test_noise_is_normal_and_of_the_deviation_it_was_given():
    """Of 120,000 numbers a mean is off by 0.003, a deviation by 0.002, of 1."""
    noise = (shaking(input_noise=0.3).inputs(torch.ones(SHAPE)) - 1).flatten() / 0.3
    assert noise.mean().item() == pytest.approx(0, abs=0.012)
    assert noise.std().item() == pytest.approx(1, abs=0.01)
    for bound in (0.5, 1.0, 2.0):
        beyond = (noise > bound).float().mean().item()
        assert beyond == pytest.approx(math.erfc(bound / math.sqrt(2)) / 2, abs=0.006)
    assert noise.isfinite().all()


def test_dropout_leaves_out_its_share_and_raises_the_rest():
    hidden = shaking(dropout=0.3).hidden(torch.ones(SHAPE), 1)
    assert (hidden == 0).float().mean().item() == pytest.approx(0.3, abs=0.006)
    assert hidden[hidden > 0].unique().tolist() == pytest.approx([1 / 0.7])
    assert hidden.mean().item() == pytest.approx(1, abs=0.01)


def correlation(first, second):
    return np.corrcoef(first.flatten(), second.flatten())[0, 1]


def test_runs_steps_layers_rows_and_columns_have_numbers_of_their_own():
    """Of 60,000 pairs a correlation is off by 0.004."""
    zeros, ones = torch.zeros(SHAPE), torch.ones(SHAPE)
    noise = shaking(input_noise=1.0).inputs(zeros)
    later = shaking(step=1, input_noise=1.0).inputs(zeros)
    kept = [shaking(dropout=0.5).hidden(ones, layer) for layer in (0, 1)]
    pairs = [
        (noise[0], noise[1]),
        (noise[0], later[0]),
        (noise[0, 1:], noise[0, :-1]),
        (noise[0, :, 1:], noise[0, :, :-1]),
        (kept[0][0], kept[1][0]),
        (kept[0][0], kept[0][1]),
        (kept[0][0], noise[0]),
    ]
    for first, second in pairs:
        assert abs(correlation(first, second)) < 0.02


def test_noise_is_the_same_in_any_company_and_batch():
    several = shaking(step=5, input_noise=1.0, dropout=0.5)
    alone = shaking(step=5, keys=KEYS[1:], input_noise=1.0, dropout=0.5)
    inputs = torch.zeros(SHAPE)
    assert torch.equal(several.inputs(inputs)[1:], alone.inputs(inputs[1:]))
    ones = torch.ones(SHAPE)
    assert torch.equal(several.hidden(ones, 2)[1:], alone.hidden(ones[1:], 2))
    assert torch.equal(several.inputs(inputs)[:, :10], several.inputs(inputs[:, :10]))


def test_bfloat16_stays_bfloat16():
    inputs = torch.ones(SHAPE, dtype=torch.bfloat16)
    shaken = shaking(input_noise=0.3, dropout=0.5)
    assert shaken.inputs(inputs).dtype == shaken.hidden(inputs, 0).dtype == torch.bfloat16


# ---- in a training ----------------------------------------------------------------------------

SHAKEN = {"dropout": 0.5, "input_noise": 0.5}


def test_every_step_of_a_training_is_shaken_anew(begun):
    """With next to no learning rate all that moves the loss of a batch is the shaking."""
    losses = []
    for options in ({}, {"dropout": 0.5}, {"input_noise": 0.5}):
        problem, state = begun("mc", learning_rate=1e-30, **options)
        rows, importance = draw(problem, state)
        target = targets(problem, state, rows)
        inputs = problem.rows.standardised(rows, problem.mean, problem.scale, torch.float32)
        losses.append(
            [
                gradient_step(
                    problem, state, slice(0, 1), inputs, target, importance, torch.tensor(step)
                )[0].item()
                for step in (0, 1, 0)
            ]
        )
    still, dropped, noisy = losses
    assert still[0] == still[1] == still[2]
    for shaken in (dropped, noisy):
        assert shaken[0] == shaken[2]
        assert abs(shaken[0] - shaken[1]) > 1e-4
        assert abs(shaken[0] - still[0]) > 1e-4


def test_targets_and_held_out_losses_are_never_shaken(begun, frames):
    every_row = torch.arange(frames.num_frames)[None]
    found = []
    for options in ({}, SHAKEN):
        problem, state = begun(held_out_fraction=0.34, **options)
        found.append((targets(problem, state, every_row), score_held_out(problem, state)))
    for still, shaken in zip(*found, strict=True):
        assert torch.equal(still, shaken)


def test_predictions_are_never_shaken(rollouts, small):
    fitted = fit(rollouts, ("mc", "survival"), seeds=2, **small, **SHAKEN)
    first, second = (fitted.predict(rollouts).raw_value for _ in range(2))
    assert np.array_equal(first, second)
    still = fit(rollouts, ("mc", "survival"), seeds=2, **small)
    assert np.abs(still.predict(rollouts).raw_value - first).max(axis=(1, 2)).min() > 1e-4
    # The same networks, whatever their numbers say of shaking.
    numbers = {"learning_rate": 1e-30, **small}
    resting, shaken = (fit(rollouts, "mc", seeds=1, **numbers, **given) for given in ({}, SHAKEN))
    values = [one.predict(rollouts).raw_value for one in (resting, shaken)]
    assert np.array_equal(*values)


def test_weight_decay_shrinks_maps_by_the_rate_and_nothing_else(begun):
    """w * (1 - rate * decay), then the same step of Adam as without."""
    options = {"learning_rate": 1e-2, "learning_rate_end": 0.4, "gradient_steps_per_batch": 1}
    problem, state = begun("mc", **options)
    decaying, other = begun("mc", weight_decay=3.0, **options)
    for tensors in (state, other):
        tensors["batch"].fill_(6)
    # After half of the twelve batches the rate is 1 - 0.6 / 2 of the first.
    rate = 1e-2 * 0.7
    before = {name: tensor.clone() for name, tensor in folder(state, "weights").items()}
    train_batch(problem, state)
    train_batch(decaying, other)
    for name, tensor in before.items():
        shrunk = rate * 3.0 * tensor if name.startswith("weight_") else torch.zeros_like(tensor)
        moved = state[f"weights/{name}"] - other[f"weights/{name}"]
        torch.testing.assert_close(moved, shrunk, rtol=1e-4, atol=1e-6)


def test_weight_decay_in_a_training_makes_smaller_weights(rollouts, small):
    def largest(**given):
        (nets,) = fit(rollouts, "mc", seeds=1, learning_rate=1e-2, **small, **given).nets
        return nets.weights["weight_0"].abs().max()

    assert largest(weight_decay=20.0) < 0.6 * largest()
