"""Hyper-parameters: the paper's numbers, what follows from the horizon, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from goalward import GoalwardError
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.presets import OWN_NUMBERS, PRESETS, hyperparameters

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
    "patience": 0,
    "lagged_tau": 0.0,
    "lagged_period": 1,
    "dropout": 0.0,
    "input_noise": 0.0,
    "weight_decay": 0.0,
    "lags": (),
    "max_inputs": 0,
    "priority_exponent": 0.6,
    "importance_start": 0.4,
    "importance_end": 1.0,
    "priority_floor": 0.01,
    "capacity": 10_000,
    "block_mb": 2048.0,
    "discount": 0.993,
    "td_discount": 0.999,
    "td_normaliser": 250.0,
    "mc_normaliser": 500.0,
    "survival_bins": 32,
    "survival_max_steps": None,
    "survival_horizons": 1.0,
    "time_out": "terminal",
    "anchor_frames": "all",
    "cross_fit": 0,
    "rounds": 0,
    "starts": "both",
    "decay": 0.95,
    "apart": {},
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
        ({"width": float("inf")}, "width cannot be inf"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0, got 0.0"),
        ({"capacity": 0}, "capacity must be at least 1, got 0"),
        ({"width": None}, "width cannot be None"),
        ({"width": True}, "width cannot be True"),
        ({"standardise": 1}, "standardise cannot be 1"),
        ({"width": 1e99}, "width cannot be 1e\\+99"),
        ({"num_steps": float("inf")}, "num_steps cannot be inf"),
        ({"learning_rate": "fast"}, "learning_rate cannot be 'fast'"),
        ({"learning_rate": float("nan")}, "learning_rate cannot be nan"),
        ({"learning_rate": -0.1}, "learning_rate must be above 0, got -0.1"),
        ({"discount": 0.0}, "discount must lie between 0 and 1, got 0.0"),
        ({"discount": 1.0}, "discount must lie between 0 and 1, got 1.0"),
        ({"td_discount": 1.5}, "td_discount must lie between 0 and 1"),
        ({"discount": "high"}, "discount cannot be 'high'"),
        ({"held_out_fraction": 1.0}, "held_out_fraction must be at least 0 and below 1, got 1.0"),
        ({"held_out_fraction": -0.1}, "held_out_fraction must be at least 0"),
        ({"cross_fit": 1}, "cross_fit must be 0 or at least 2 folds, got 1"),
        ({"cross_fit": -1}, "cross_fit must be 0 or at least 2 folds, got -1"),
        ({"time_out": "shut"}, "time_out must be one of terminal, open, got 'shut'"),
        ({"lags": 0}, "lags must be whole numbers of steps from 1 on, got 0"),
        ({"lags": [5, 2.5]}, r"lags must be whole numbers of steps from 1 on, got \[5, 2.5\]"),
        ({"lags": True}, "lags must be whole numbers of steps from 1 on, got True"),
        ({"rounds": -1}, "rounds must be at least 0, got -1"),
        ({"rounds": 1.5}, "rounds cannot be 1.5"),
        ({"max_inputs": -1}, "max_inputs must be at least 0, got -1"),
        ({"input_noise": -0.1}, "input_noise must be at least 0, got -0.1"),
        ({"weight_decay": -1}, "weight_decay must be at least 0, got -1"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        ({"dropout": -0.1}, "dropout must be at least 0 and below 1, got -0.1"),
        ({"decay": 1.1}, "decay must lie between 0 and 1, got 1.1"),
        ({"decay": -0.1}, "decay must lie between 0 and 1, got -0.1"),
        ({"survival_horizons": 0.0}, "survival_horizons must be above 0, got 0.0"),
        ({"apart": {"survival": {"width": 0}}}, "width must be at least 1, got 0"),
        ({"apart": {"survival": {"depth": 1}}}, r"no hyper-parameter depth \(survival\)"),
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
        {"lags": (1, 30), "max_inputs": 8, "rounds": 2, "decay": 0.0},
        {"dropout": 0.9, "input_noise": 0.1, "weight_decay": 1},
        {"time_out": "open", "anchor_frames": "success", "standardise": False},
    ],
    ids=str,
)
def test_numbers_that_can_be(numbers):
    assert Hyperparameters(**numbers).as_dict().items() >= numbers.items()


def test_overrides_and_unknown_names():
    assert hyperparameters("cloth", width=64).width == 64
    assert hyperparameters("cloth", width=64).learning_rate == 2e-5
    assert replace(hyperparameters(), apart={}) == PRESETS["default"]
    with pytest.raises(GoalwardError, match="no preset 'kitchen'; presets: default, libero, squ"):
        hyperparameters("kitchen")
    with pytest.raises(GoalwardError, match="no hyper-parameter depth, size; there are: anchor_"):
        hyperparameters(size=3, depth=4)


# ---- numbers of one method ---------------------------------------------------------------------


def test_a_number_of_one_method_reaches_it_alone():
    numbers = hyperparameters(**{"lambda-returns.width": 64, "survival.rounds": 3})
    assert numbers.of("lambda-returns").width == 64
    assert numbers.of("survival").rounds == 3
    assert {numbers.of(name).width for name in ("", "liveness", "survival", "mc")} == {512}
    assert {numbers.of(name).rounds for name in ("", "liveness", "mc")} == {0}
    assert numbers.of("lambda-returns").rounds == 4
    # Whoever asks again is told the same.
    assert numbers.of("survival").of("survival") == numbers.of("survival")


def test_a_plain_number_reaches_all_methods_but_those_that_have_their_own():
    numbers = hyperparameters("cloth", width=64, **{"lambda-returns.width": 32})
    assert {numbers.of(name).width for name in ("", "liveness", "survival")} == {64}
    assert numbers.of("lambda-returns").width == 32
    every = hyperparameters("cloth", num_steps=7)
    assert every.of("lambda-returns").num_steps == every.of("td").num_steps == 7


def test_what_lambda_returns_does_whatever_the_preset():
    """What makes it the method it is; how long and how fast it learns may be tuned."""
    for preset, plain in PRESETS.items():
        own = hyperparameters(preset).of("lambda-returns")
        assert (own.rounds, own.cross_fit, own.time_out, own.capacity) == (4, 5, "open", None)
        assert (own.priority_exponent, own.held_out_fraction, own.lagged_tau) == (0, 0, 0)
        for name, value in own.as_dict().items():
            wanted = OWN_NUMBERS["lambda-returns"].get(name, getattr(plain, name))
            assert value == wanted, (preset, name)
        assert hyperparameters(preset).of("survival") == hyperparameters(preset).of("mc") == plain


def test_the_horizon_of_a_method_with_its_own_numbers():
    numbers = hyperparameters().for_horizon(250)
    assert numbers.of("lambda-returns").survival_max_steps == 750
    assert numbers.of("survival").survival_max_steps == numbers.survival_max_steps == 250
    assert numbers.of("lambda-returns").discount == numbers.discount == pytest.approx(0.993)
    given = hyperparameters(survival_max_steps=60, **{"survival.survival_max_steps": 30})
    filled = given.for_horizon(250)
    assert filled.of("lambda-returns").survival_max_steps == 60
    assert filled.of("survival").survival_max_steps == 30
    part = hyperparameters(**{"survival.survival_horizons": 1.5}).for_horizon(5)
    assert part.of("survival").survival_max_steps == 8
    assert filled.for_horizon(9) == filled


def test_a_batch_of_our_method_has_no_more_frames_than_there_are():
    numbers = hyperparameters()
    sizes = [
        numbers.for_horizon(50, frames).of("lambda-returns").batch_size
        for frames in (3, 100, 512, 9_999)
    ]
    assert sizes == [32, 100, 512, 512]
    assert numbers.for_horizon(50, 100).of("liveness").batch_size == 512
    given = hyperparameters(batch_size=256).for_horizon(50, 100)
    assert given.of("lambda-returns").batch_size == 256
    assert numbers.for_horizon(50, 9_999).noted(["lambda-returns"]) == numbers.for_horizon(
        50
    ).noted(["lambda-returns"])


def test_names_and_methods_that_are_none_are_refused():
    with pytest.raises(GoalwardError, match="^no hyper-parameter lambda-returns.depth, size; ther"):
        hyperparameters(**{"size": 3, "lambda-returns.depth": 4, "width": 3})
    with pytest.raises(
        GoalwardError, match="^mc.width: mc has no numbers of its own; lambda-returns, survival ha"
    ):
        hyperparameters(**{"mc.width": 3})
    with pytest.raises(GoalwardError, match="^no hyper-parameter apart; there are: anchor_frames"):
        hyperparameters(apart={})
    with pytest.raises(GoalwardError, match="^width must be at least 1, got 0$"):
        hyperparameters(**{"survival.width": 0})


def test_numbers_survive_json():
    numbers = hyperparameters(lags=[3], **{"survival.lags": 7}).for_horizon(40)
    again = Hyperparameters(**json.loads(json.dumps(numbers.as_dict())))
    assert again == numbers
    assert (again.lags, again.of("survival").lags) == ((3,), (7,))


def test_a_training_is_noted_by_what_it_depends_on():
    """As version 0.1.0 noted it, where it knew all there is to know."""
    newer = (
        "patience",
        "dropout",
        "input_noise",
        "weight_decay",
        "lags",
        "max_inputs",
        "survival_horizons",
        "block_mb",
    )
    old = {
        n: v for n, v in (PAPER | DEFAULT).items() if n not in (*newer, "rounds", "starts", "decay")
    }
    del old["apart"]
    assert hyperparameters().noted(["liveness", "survival"]) == old
    assert hyperparameters(width=8).noted(["survival"]) == old | {"width": 8}
    assert hyperparameters(rounds=2).noted(["mc"]) == old | {"rounds": 2}
    # Numbers of a method count where it is trained.
    other = hyperparameters(**{"survival.rounds": 4})
    assert other.noted(["mc"]) == old
    assert other.noted(["mc", "survival"]) == old | {"apart": {"survival": {"rounds": 4}}}
    own, wider = (
        hyperparameters(**given).noted(["lambda-returns"]) for given in ({}, {"width": 8})
    )
    assert own["apart"]["lambda-returns"]["width"] == 256
    assert "width" not in wider["apart"]["lambda-returns"]


def test_what_is_left_to_the_clock_is_left_to_it_for_every_method():
    numbers = hyperparameters("libero", discount=None, td_normaliser=None).for_horizon(100)
    for method in ("liveness", "lambda-returns", "survival"):
        own = numbers.of(method)
        assert (own.discount, own.td_normaliser) == (1 - 1.75 / 100, 100.0)
    assert hyperparameters("libero").for_horizon(100).of("lambda-returns").discount == 0.993


def test_whole_numbers_may_be_written_as_floats():
    numbers = Hyperparameters(num_steps=1e3, capacity=64.0, apart={"mc": {"width": 8.0}})
    for value in (numbers.num_steps, numbers.capacity, numbers.of("mc").width):
        assert isinstance(value, int)
    assert (numbers.num_steps, numbers.capacity, numbers.of("mc").width) == (1000, 64, 8)


def test_numbers_are_of_the_kind_that_is_wanted():
    """1e5 steps are a whole number, and JSON has no numbers of NumPy."""
    own = {"width": np.int64(4), "dropout": np.float64(0.5), "lags": [5]}
    numbers = Hyperparameters(width=8.0, num_steps=1e5, learning_rate=0.5, apart={"mc": own})
    assert (repr(numbers.width), repr(numbers.num_steps)) == ("8", "100000")
    assert repr(numbers.apart) == "{'mc': {'width': 4, 'dropout': 0.5, 'lags': (5,)}}"
    assert repr(numbers.of("mc").width) == "4"
