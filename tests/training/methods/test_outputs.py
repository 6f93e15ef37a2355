"""What networks say: sizes, values, losses and chances of each kind of output, by hand."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

import goalward
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.outputs import BINS, HAZARD, VALUE, survival_edges
from goalward.training.methods.stages import STAGES
from goalward.training.methods.table import METHODS
from goalward.values.fit import fit

CPU = torch.device("cpu")
NUMBERS = Hyperparameters(
    discount=0.9, mc_normaliser=400.0, survival_bins=3, survival_max_steps=3
).for_horizon(10)
NO_STEPS = torch.zeros(1, 1)


def steps_of_bins(value):
    return STAGES["mc-dist"].steps(value, NUMBERS)


def certain_bin(*indices):
    """Outputs (1, 1, 201) of a network that shares its certainty among some bins."""
    outputs = torch.full((1, 1, 201), -200.0)
    outputs[..., list(indices)] = 0.0
    return outputs


def hazards(*chances):
    """Outputs (1, 1, 3) with these hazards in three bins of one step each."""
    logits = [math.log(q / (1 - q)) for q in chances]
    return torch.tensor([[logits]]) + math.log(3)


def test_sizes():
    assert VALUE.size(NUMBERS) == 1
    assert BINS.size(NUMBERS) == 201
    assert HAZARD.size(NUMBERS) == 3
    many = Hyperparameters(survival_bins=32, survival_max_steps=5)
    assert HAZARD.size(many) == 5
    assert HAZARD.size(Hyperparameters(survival_bins=4, survival_max_steps=50)) == 4
    np.testing.assert_array_equal(survival_edges(many), [0, 1, 2, 3, 4, 5])


def test_every_stage_has_one_of_four_outputs():
    assert {name: stage.output.name for name, stage in STAGES.items()} == {
        **dict.fromkeys(STAGES, "value"),
        "mc-dist": "bins",
        "survival": "hazard",
        "dark": "soft-hazard",
        "bright": "soft-hazard",
    }
    rounds = {name: m.rounds.output.name for name, m in METHODS.items() if m.rounds is not None}
    assert rounds == {"survival": "soft-hazard", "lambda-returns": "soft-hazard"}


def test_a_value_is_the_output_and_its_loss_the_squared_error():
    outputs, target = torch.tensor([[[0.5], [-2.0]]]), torch.tensor([[0.25, 1.0]])
    assert VALUE.value(NUMBERS, CPU)(outputs).tolist() == [[0.5, -2.0]]
    loss, error = VALUE.loss(NUMBERS, CPU)(outputs.requires_grad_(), target)
    assert loss.tolist() == [[0.0625, 9.0]]
    assert error.tolist() == [[0.25, -3.0]]
    assert not error.requires_grad


def test_bins_have_a_mean_and_learn_by_cross_entropy():
    """Half on -0.5 and half on 0: mean -0.25. A target of -0.0025 lies half-way to the next bin."""
    outputs = certain_bin(100, 200).requires_grad_()
    assert BINS.value(NUMBERS, CPU)(outputs).item() == pytest.approx(-0.25)
    loss, error = BINS.loss(NUMBERS, CPU)(outputs, torch.tensor([[-0.5]]))
    assert loss.item() == pytest.approx(math.log(2))
    assert error.item() == pytest.approx(0.25)
    assert not error.requires_grad
    even = torch.zeros(1, 1, 201)
    even[..., 199] = math.log(2)
    loss, _ = BINS.loss(NUMBERS, CPU)(even, torch.tensor([[-0.0025]]))
    assert loss.item() == pytest.approx(math.log(202) - math.log(2) / 2, rel=1e-5)


def test_hazards_have_a_mean_value_and_learn_by_likelihood():
    """P(0) = 0.1, P(1) = 0.45, P(2) = 0.09: values -1, -0.8, -0.62, and 1 for the rest."""
    outputs = hazards(0.1, 0.5, 0.2).requires_grad_()
    expected = -0.1 - 0.8 * 0.45 - 0.62 * 0.09 + 0.36
    assert HAZARD.value(NUMBERS, CPU)(outputs).item() == pytest.approx(expected, rel=1e-5)
    loss = HAZARD.loss(NUMBERS, CPU)
    # Success after two steps; the clock ran out after one; a failure, never.
    for target, chance in ((2.0, 0.09), (-2.0, 0.45), (-math.inf, 0.36)):
        value, error = loss(outputs, torch.tensor([[target]]))
        assert value.item() == pytest.approx(-math.log(chance), rel=1e-5)
        assert error.item() == value.item()
        assert not error.requires_grad


def test_an_untrained_hazard_expects_one_success_over_all_bins():
    """A network that says 0: hazards of (1/3) / (1 + 1/3) = 1/4 in three bins of one step."""
    chance = HAZARD.chance(NUMBERS, CPU, steps_of_bins)
    within = [chance(torch.zeros(1, 1, 3), NO_STEPS, n).item() for n in (0, 1, 2)]
    np.testing.assert_allclose(within, [1 / 4, 7 / 16, 37 / 64], rtol=1e-5)


def test_the_chance_of_hazards_adds_up_over_steps():
    chance = HAZARD.chance(NUMBERS, CPU, steps_of_bins)
    within = [chance(hazards(0.1, 0.5, 0.2), NO_STEPS, n).item() for n in (0, 1, 2, 99, math.inf)]
    np.testing.assert_allclose(within, [0.1, 0.55, 0.64, 0.64, 0.64], rtol=1e-5)


def test_the_chance_of_bins_is_their_mass_up_to_so_many_steps():
    """Bins 200, 57 and 0 of normaliser 400 stand for 0, 286 and never; a third on each."""
    chance = BINS.chance(NUMBERS, CPU, steps_of_bins)
    outputs = certain_bin(200, 57, 0)
    within = [chance(outputs, NO_STEPS, n).item() for n in (0, 285, 286, 399, math.inf)]
    np.testing.assert_allclose(within, [1 / 3, 1 / 3, 2 / 3, 2 / 3, 2 / 3], rtol=1e-5)
    assert chance(certain_bin(200, 199), NO_STEPS, 2).item() == 1


def test_a_value_is_sure_of_its_steps():
    chance = VALUE.chance(NUMBERS, CPU, steps_of_bins)
    steps = torch.tensor([[0.0, 7.0, 7.5, math.inf]])
    assert chance(torch.zeros(1, 4, 1), steps, 7).tolist() == [[1, 1, 0, 0]]
    assert chance(torch.zeros(1, 4, 1), steps, math.inf).tolist() == [[1, 1, 1, 0]]


@pytest.fixture(scope="module")
def fitted(rollouts, small):
    return fit(rollouts, tuple(METHODS), seeds=2, **small | {"num_steps": 60})


def test_chances_are_probabilities_that_never_fall_with_more_steps(fitted, rollouts):
    several = [fitted.chances(rollouts, n) for n in (0, 0.5, 1, 2, 3, 5, 8, 13, 21, 1000)]
    for chance in several:
        assert chance.shape == (len(METHODS), 2, rollouts.num_frames)
        assert chance.dtype == np.float32
        assert (chance >= 0).all()
        assert (chance <= 1).all()
    for fewer, more in pairwise(several):
        assert (more >= fewer).all()
    assert (several[-1] > several[0]).any(axis=(1, 2)).all()


def test_chances_of_values_are_those_of_their_steps(fitted, rollouts):
    steps = fitted.predict(rollouts).steps_to_goal
    for num_steps in (3, float(np.median(steps[0]))):
        chance = fitted.chances(rollouts, num_steps)
        for index, method in enumerate(fitted.methods):
            if method not in ("mc-dist", "survival", "lambda-returns"):
                assert np.array_equal(chance[index], steps[index] <= num_steps)
            else:
                assert ((chance[index] > 0) & (chance[index] < 1)).all()


def test_chances_of_every_task_come_from_its_own_networks(small):
    rng = np.random.default_rng(1)
    features = [rng.normal(size=(6, 2)) for _ in range(8)]
    both = goalward.from_arrays(features, success=[True, False] * 4, tasks=["a", "a", "b", "b"] * 2)
    fitted = fit(both, "survival", seeds=1, **small)
    together = fitted.chances(both, 3)[0, 0]
    parts = [fitted.chances(both.where(task=task), 3)[0, 0] for task in ("a", "b")]
    of_b = np.repeat([False, False, True, True] * 2, 6)
    np.testing.assert_allclose(together[~of_b], parts[0], atol=1e-6)
    np.testing.assert_allclose(together[of_b], parts[1], atol=1e-6)


@pytest.mark.parametrize("num_steps", [-1, math.nan])
def test_a_number_of_steps_that_is_none(fitted, rollouts, num_steps):
    with pytest.raises(goalward.GoalwardError, match="num_steps must be 0 or more, got"):
        fitted.chances(rollouts, num_steps)


def test_more_frames_than_are_judged_at_a_time(fitted, rollouts, monkeypatch):
    """Outputs come by parts; steps and chances belong to the frames of their part."""
    whole = fitted.chances(rollouts, 5)
    long = goalward.concatenate([rollouts] * 8)
    assert long.num_frames > 4 * 64
    monkeypatch.setattr("goalward.training.networks.nets._NUMBERS_AT_A_TIME", 1)
    by_parts = fitted.chances(long, 5)
    np.testing.assert_allclose(by_parts, np.tile(whole, 8), atol=1e-6)
