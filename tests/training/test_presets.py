"""Hyper-parameters: the paper's numbers, what follows from the horizon, and what is refused."""

import pytest

from goalward import GoalwardError
from goalward.training.presets import PRESETS, Hyperparameters, hyperparameters

PAPER = {
    "num_layers": 5,
    "width": 512,
    "standardise": True,
    "learning_rate": 1e-5,
    "learning_rate_end": 1.0,
    "batch_size": 512,
    "num_steps": 10_000,
    "gradient_steps_per_batch": 2,
    "held_out_fraction": 0.0,
    "evaluations": 20,
    "lagged_tau": 0.0,
    "lagged_period": 1,
    "priority_exponent": 0.6,
    "importance_start": 0.4,
    "importance_end": 1.0,
    "priority_floor": 0.01,
    "capacity": 10_000,
    "discount": 0.993,
    "td_discount": 0.999,
    "td_normaliser": 250.0,
    "mc_normaliser": 500.0,
    "survival_bins": 32,
    "survival_max_steps": None,
    "time_out": "terminal",
    "anchor_frames": "all",
    "cross_fit": 0,
}
SQUARE = {"td_discount": 0.995, "td_normaliser": 200.0, "mc_normaliser": 400.0}
CLOTH = SQUARE | {"learning_rate": 2e-5, "discount": 0.99, "td_discount": 0.99}
# Of our own: what docs/methods/liveness.md measures.
DEFAULT = {
    "learning_rate": 1e-4,
    "learning_rate_end": 0.0,
    "num_steps": 3000,
    "capacity": None,
    "held_out_fraction": 0.2,
    "time_out": "open",
    **dict.fromkeys(("discount", "td_discount", "td_normaliser", "mc_normaliser")),
}


def test_every_number_of_every_preset():
    assert {name: numbers.as_dict() for name, numbers in PRESETS.items()} == {
        "default": PAPER | DEFAULT,
        "libero": PAPER,
        "square": PAPER | SQUARE,
        "cloth": PAPER | CLOTH,
    }
    assert (Hyperparameters().as_dict()) == PAPER | DEFAULT | {
        "held_out_fraction": 0.0,
        "time_out": "terminal",
    }


def test_what_follows_from_the_horizon():
    derived = Hyperparameters().for_horizon(250)
    assert derived.discount == pytest.approx(0.993)
    assert derived.td_discount == pytest.approx(0.996)
    assert derived.td_normaliser == 250
    assert derived.mc_normaliser == 500
    assert derived.survival_max_steps == 250
    assert Hyperparameters(discount=0.5).for_horizon(250).discount == 0.5
    # Shorter than four steps a discount would fall to where nothing follows from it.
    assert Hyperparameters().for_horizon(1) == Hyperparameters().for_horizon(4)
    assert Hyperparameters().for_horizon(5).mc_normaliser == 10


@pytest.mark.parametrize(
    ("steps", "per_batch", "batches"), [(10, 2, 5), (11, 2, 6), (1, 2, 1), (6, 3, 2), (6, 1, 6)]
)
def test_batches_there_are(steps, per_batch, batches):
    numbers = Hyperparameters(num_steps=steps, gradient_steps_per_batch=per_batch)
    assert numbers.num_batches == batches


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"width": 0}, "width must be at least 1, got 0"),
        ({"num_layers": 0}, "num_layers must be at least 1"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"num_steps": 0}, "num_steps must be at least 1"),
        ({"gradient_steps_per_batch": 0}, "gradient_steps_per_batch must be at least 1"),
        ({"width": 2.5}, "width cannot be 2.5"),
        ({"width": "8"}, "width cannot be '8'"),
        ({"width": None}, "width cannot be None"),
        ({"width": True}, "width cannot be True"),
        ({"standardise": 1}, "standardise cannot be 1"),
        ({"learning_rate": "fast"}, "learning_rate cannot be 'fast'"),
        ({"discount": 0.0}, "discount must lie between 0 and 1, got 0.0"),
        ({"discount": 1.0}, "discount must lie between 0 and 1, got 1.0"),
        ({"td_discount": 1.5}, "td_discount must lie between 0 and 1"),
        ({"discount": "high"}, "discount cannot be 'high'"),
        ({"held_out_fraction": 1.0}, "held_out_fraction must be at least 0 and below 1, got 1.0"),
        ({"held_out_fraction": -0.1}, "held_out_fraction must be at least 0"),
        ({"cross_fit": 1}, "cross_fit must be 0 or at least 2 folds, got 1"),
        ({"cross_fit": -1}, "cross_fit must be 0 or at least 2 folds, got -1"),
        ({"time_out": "shut"}, "time_out must be one of terminal, open, got 'shut'"),
        ({"anchor_frames": "some"}, "anchor_frames must be one of all, success, got 'some'"),
    ],
    ids=str,
)
def test_numbers_that_cannot_be(numbers, message):
    with pytest.raises(GoalwardError, match=message):
        Hyperparameters(**numbers)


@pytest.mark.parametrize(
    "numbers",
    [
        {"width": 1, "num_layers": 1, "batch_size": 1, "num_steps": 1},
        {"width": 8.0},
        {"learning_rate": 1},
        {"discount": 0.001, "td_discount": 0.999},
        {"held_out_fraction": 0.99},
        {"cross_fit": 2},
        {"capacity": 5},
        {"time_out": "open", "anchor_frames": "success", "standardise": False},
    ],
    ids=str,
)
def test_numbers_that_can_be(numbers):
    assert Hyperparameters(**numbers).as_dict().items() >= numbers.items()


def test_overrides_and_unknown_names():
    assert hyperparameters("cloth", width=64).width == 64
    assert hyperparameters("cloth", width=64).learning_rate == 2e-5
    assert hyperparameters() == PRESETS["default"]
    with pytest.raises(GoalwardError, match="no preset 'kitchen'; presets: default, libero, squ"):
        hyperparameters("kitchen")
    with pytest.raises(GoalwardError, match="no hyper-parameter depth, size; there are: anchor_"):
        hyperparameters(size=3, depth=4)
