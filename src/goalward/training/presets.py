"""The numbers a fit depends on, and the paper's choices of them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal

from goalward.errors import GoalwardError


@dataclass(frozen=True)
class Hyperparameters:
    """Everything that shapes a fit apart from its episodes, methods and seeds.

    A constant given as None follows from the horizon, the most steps an episode takes
    (`for_horizon`): what counts as far depends on the task's clock.

    >>> Hyperparameters().for_horizon(200).mc_normaliser
    400.0
    """

    # the network
    num_layers: int = 5
    """Linear maps from input to output; all but the last are followed by LayerNorm and GELU."""
    width: int = 512
    standardise: bool = True
    """Bring every input to mean 0 and deviation 1 over the run's own training frames."""

    # its training
    learning_rate: float = 1e-4
    learning_rate_end: float = 0.0
    """Share of the learning rate that is left at the last step, falling evenly; 1: constant."""
    batch_size: int = 512
    num_steps: int = 3000
    """Gradient steps per stage."""
    gradient_steps_per_batch: int = 2
    held_out_fraction: float = 0.0
    """Share of episodes kept for early stopping: the weights that did best on them are kept."""
    evaluations: int = 20
    """How often held-out episodes are scored in the course of a stage."""
    lagged_tau: float = 0.0
    """With a value above 0, targets come from a lagged network that moves this share of the way
    to the trained one at each `lagged_period`; 0: targets come from the network itself."""
    lagged_period: int = 1

    # prioritised replay
    priority_exponent: float = 0.6
    """alpha: 0 samples uniformly, 1 in proportion to the error."""
    importance_start: float = 0.4
    importance_end: float = 1.0
    """beta, rising evenly over the training."""
    priority_floor: float = 1e-2
    """Added to every error, so that no frame is forgotten."""
    capacity: int | None = None
    """Frames that can be sampled at a time; None: all of them."""

    # the methods
    discount: float | None = None
    td_discount: float | None = None
    td_normaliser: float | None = None
    mc_normaliser: float | None = None
    survival_bins: int = 32
    survival_max_steps: int | None = None
    time_out: Literal["terminal", "open"] = "terminal"
    """The last frame of a time-out: nothing follows it (the paper), or no target at all."""
    anchor_frames: Literal["all", "success"] = "all"
    cross_fit: int = 0
    """With K of 2 or more, the anchor value of an episode comes from networks that never saw it."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not _fits(value, field.default):
                raise GoalwardError(f"{field.name} cannot be {value!r}")
        for name, choices in (("time_out", ("terminal", "open")), ("anchor_frames", ANCHOR_FRAMES)):
            if getattr(self, name) not in choices:
                raise GoalwardError(
                    f"{name} must be one of {', '.join(choices)}, got {getattr(self, name)!r}"
                )
        for name in ("num_layers", "width", "batch_size", "num_steps", "gradient_steps_per_batch"):
            if getattr(self, name) < 1:
                raise GoalwardError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("discount", "td_discount"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise GoalwardError(f"{name} must lie between 0 and 1, got {value}")
        if not 0 <= self.held_out_fraction < 1:
            raise GoalwardError(
                f"held_out_fraction must be at least 0 and below 1, got {self.held_out_fraction}"
            )
        if self.cross_fit < 0 or self.cross_fit == 1:
            raise GoalwardError(f"cross_fit must be 0 or at least 2 folds, got {self.cross_fit}")

    @property
    def num_batches(self) -> int:
        return -(-self.num_steps // self.gradient_steps_per_batch)

    def for_horizon(self, horizon: int) -> "Hyperparameters":
        """The same with every None replaced by what suits episodes of at most `horizon` steps.

        discount       1 - 1.75 / horizon      the paper's 0.993 at its time-out of 250
        td_discount    1 - 1 / horizon         the paper's 0.995 at its time-out of 200
        td_normaliser  horizon                 mc_normaliser  2 * horizon
        """
        horizon = max(horizon, 4)
        derived = {
            "discount": 1 - 1.75 / horizon,
            "td_discount": 1 - 1 / horizon,
            "td_normaliser": float(horizon),
            "mc_normaliser": 2.0 * horizon,
            "survival_max_steps": horizon,
        }
        missing = {name: value for name, value in derived.items() if getattr(self, name) is None}
        return replace(self, **missing)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def _fits(value: object, default: object) -> bool:
    """Whether a value is of the kind of the default; None stands for a number to be derived."""
    if isinstance(default, bool | str):
        return isinstance(value, type(default))
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return value is None and default is None
    return not isinstance(default, int) or value == int(value)


ANCHOR_FRAMES = ("all", "success")

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


def hyperparameters(preset: str = "default", **overrides: Any) -> Hyperparameters:
    """A preset with some of its numbers replaced.

    >>> hyperparameters("libero", width=64).learning_rate
    1e-05
    """
    if preset not in PRESETS:
        raise GoalwardError(f"no preset {preset!r}; presets: {', '.join(PRESETS)}")
    known = {field.name for field in fields(Hyperparameters)}
    unknown = sorted(set(overrides) - known)
    if unknown:
        raise GoalwardError(
            f"no hyper-parameter {', '.join(unknown)}; there are: {', '.join(sorted(known))}"
        )
    return replace(PRESETS[preset], **overrides)
