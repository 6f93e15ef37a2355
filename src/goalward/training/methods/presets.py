"""The paper's choices of the numbers a fit depends on, and those of methods that have their own."""

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from goalward.errors import GoalwardError
from goalward.training.methods.hyperparameters import Hyperparameters

# "5,000 epochs, 2 gradient steps per batch" read as 10,000 gradient steps (docs/methods).
_PAPER = Hyperparameters(
    learning_rate=1e-5, learning_rate_end=1.0, num_steps=10_000, capacity=10_000
)

PRESETS: Mapping[str, Hyperparameters] = MappingProxyType(
    {
        # Of the readings in docs/methods/liveness.md the one with the smallest largest error.
        "default": Hyperparameters(time_out="open", held_out_fraction=0.2),
        "libero": replace(
            _PAPER, discount=0.993, td_discount=0.999, td_normaliser=250.0, mc_normaliser=500.0
        ),
        "square": replace(
            _PAPER, discount=0.993, td_discount=0.995, td_normaliser=200.0, mc_normaliser=400.0
        ),
        "cloth": replace(
            _PAPER,
            learning_rate=2e-5,
            discount=0.99,
            td_discount=0.99,
            td_normaliser=200.0,
            mc_normaliser=400.0,
        ),
    }
)


# What a method does differently from the preset, whichever that is; docs/methods says why.
OWN_NUMBERS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "lambda-returns": MappingProxyType(
            {
                "num_layers": 4,
                "width": 256,
                "learning_rate": 1e-3,
                "learning_rate_end": 0.0,
                "num_steps": 600,
                "evaluations": 12,
                "input_noise": 0.5,
                "gradient_steps_per_batch": 1,
                "held_out_fraction": 0.0,
                "priority_exponent": 0.0,
                "importance_end": 0.4,
                "capacity": None,
                "lagged_tau": 0.0,
                "time_out": "open",
                "lags": (5, 20),
                "max_inputs": 32,
                "cross_fit": 5,
                "rounds": 4,
                "decay": 0.98,
                "survival_horizons": 3.0,
            }
        ),
        "survival": MappingProxyType({}),
    }
)


def hyperparameters(preset: str = "default", **overrides: Any) -> Hyperparameters:
    """A preset with some of its numbers replaced, for all methods or for one.

    >>> hyperparameters("libero", width=64).learning_rate
    1e-05
    >>> hyperparameters(**{"lambda-returns.width": 64}).of("lambda-returns").width
    64
    """
    if preset not in PRESETS:
        raise GoalwardError(f"no preset {preset!r}; presets: {', '.join(PRESETS)}")
    for_all = {name: value for name, value in overrides.items() if "." not in name}
    known = {field.name for field in fields(Hyperparameters)} - {"apart"}
    apart = {method: {**own, **for_all} for method, own in OWN_NUMBERS.items()}
    unknown = sorted(given for given in overrides if given.rpartition(".")[2] not in known)
    if unknown:
        raise GoalwardError(
            f"no hyper-parameter {', '.join(unknown)}; there are: {', '.join(sorted(known))}"
        )
    for given, value in overrides.items():
        method, _, name = given.rpartition(".")
        if method and method not in apart:
            raise GoalwardError(
                f"{given}: {method} has no numbers of its own; {', '.join(apart)} have"
            )
        if method:
            apart[method][name] = value
    return replace(PRESETS[preset], **for_all, apart=apart)
