"""Every function gives the same numbers for numpy and torch, in the precision it was given."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from goalward.targets import (
    bins,
    exact,
    lambda_returns,
    liveness,
    monte_carlo,
    steps,
    survival,
    td,
)

RNG = np.random.default_rng(0)
VALUE, OTHER = RNG.uniform(-1, 1, size=(2, 3, 40))
RETURN = RNG.uniform(-1, 0, size=(3, 40))
AT_GOAL = RNG.uniform(size=40) < 0.1
ENDS = np.array([1, 9, 10, 25, 40])
AT_END = np.isin(np.arange(40) + 1, ENDS)
STEPS = RNG.integers(0, 30, size=40).astype(float)
EDGES = survival.geometric_edges(25, 6)
LOGITS = RNG.normal(size=(3, 40, 6))

FLOATS = {
    liveness.liveness_backup: (VALUE, OTHER, 0.9),
    liveness.liveness_target: (VALUE, OTHER, AT_GOAL, AT_END, 0.9),
    liveness.liveness_value: (STEPS, 0.9),
    liveness.discounted_goal: (VALUE,),
    liveness.steps_to_goal: (VALUE, 0.9),
    td.td_target: (VALUE, AT_GOAL, AT_END, 0.9, 20.0),
    td.steps_from_td: (RETURN, 0.9, 20.0),
    monte_carlo.steps_from_return: (RETURN, 500.0),
    bins.bin_centres: (VALUE,),
    bins.project_onto_bins: (RETURN,),
    bins.expected_value: (bins.project_onto_bins(RETURN),),
    exact.exact_liveness: (VALUE, ENDS, AT_GOAL, 0.9),
    survival.hazard_targets: (STEPS, AT_GOAL, EDGES),
    survival.hazard_loss: (LOGITS, STEPS, AT_GOAL, EDGES),
    survival.soft_hazard_loss: (LOGITS, RNG.uniform(size=(3, 40, 12)), EDGES),
    survival.seen_of_bins: (STEPS, AT_GOAL, EDGES),
    survival.chance_by_bin: (LOGITS, EDGES),
    survival.success_probability: (LOGITS, EDGES, 7.0),
    survival.survival_value: (LOGITS, EDGES, 0.9),
}
# Nothing but integers and booleans goes in: the library's default float comes out.
NO_FLOATS = {
    liveness.sparse_target_function: (AT_GOAL,),
    steps.recorded_steps: (ENDS, AT_GOAL),
    monte_carlo.monte_carlo_return: (ENDS, AT_GOAL, 20.0),
    exact.exact_td: (ENDS, AT_GOAL, 0.9, 20.0),
}
# Built once for all frames, before a training, and of recorded values in a report.
NUMPY_ALONE = {lambda_returns.lambda_return, lambda_returns.lambda_hazard_targets}
# What a training step calls, once per batch.
IN_A_STEP = [
    liveness.liveness_backup,
    liveness.liveness_target,
    td.td_target,
    bins.project_onto_bins,
    bins.expected_value,
    survival.hazard_targets,
    survival.hazard_loss,
    survival.soft_hazard_loss,
]


def convert(arguments, kind, precision):
    """The arguments as one kind of array, floats in one precision."""
    converted = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            if argument.dtype == np.float64:
                argument = argument.astype(precision)
            if kind is torch.Tensor:
                argument = torch.from_numpy(argument)
        converted.append(argument)
    return converted


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def name(function):
    return function.__name__ if callable(function) else None


@pytest.mark.parametrize("function", FLOATS, ids=name)
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("kind", [np.ndarray, torch.Tensor])
def test_kind_and_precision_are_kept(function, kind, precision):
    expected = as_tuple(function(*FLOATS[function]))
    results = as_tuple(function(*convert(FLOATS[function], kind, precision)))
    for result, reference in zip(results, expected, strict=True):
        assert isinstance(result, kind)
        assert str(result.dtype).removeprefix("torch.") == precision
        tolerance = 2e-5 if precision == "float32" else 1e-12
        np.testing.assert_allclose(result, reference, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("function", NO_FLOATS, ids=name)
def test_numpy_and_torch_agree(function):
    expected = as_tuple(function(*NO_FLOATS[function]))
    results = as_tuple(function(*convert(NO_FLOATS[function], torch.Tensor, "float64")))
    for result, reference in zip(results, expected, strict=True):
        assert isinstance(result, torch.Tensor)
        assert isinstance(reference, np.ndarray)
        np.testing.assert_allclose(result, reference, atol=1e-6)


@pytest.mark.parametrize("function", IN_A_STEP, ids=name)
def test_training_steps_compile_whole(function):
    arguments = convert(FLOATS[function], torch.Tensor, "float32")
    compiled = torch.compile(function, fullgraph=True, backend="eager")
    for result, expected in zip(
        as_tuple(compiled(*arguments)), as_tuple(function(*arguments)), strict=True
    ):
        torch.testing.assert_close(result, expected)


def test_numpy_users_do_not_pay_for_torch():
    """Importing torch takes seconds, and a report has no tensors."""
    code = """
import sys
import numpy as np
from goalward.targets import bins, exact, lambda_returns, liveness, monte_carlo, steps, survival, td
value = liveness.liveness_value(np.array([0.0, 1.0]), 0.9)
assert liveness.steps_to_goal(value, 0.9).tolist() == [0.0, 1.0]
assert bins.bin_centres(value, 3).tolist() == [-1.0, -0.5, 0.0]
assert exact.exact_liveness(np.ones(1), np.array([1]), np.array([True]), 0.9).tolist() == [-1.0]
sys.exit('torch' in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_every_public_function_is_here():
    rooms = (bins, exact, lambda_returns, liveness, monte_carlo, steps, survival, td)
    public = {
        function
        for room in rooms
        for function in vars(room).values()
        if callable(function)
        and getattr(function, "__module__", None) == room.__name__
        and not function.__name__.startswith("_")
    }
    assert public == {*FLOATS, *NO_FLOATS, survival.geometric_edges, *NUMPY_ALONE}
