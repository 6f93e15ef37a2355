"""The numbers a fit depends on: what each means, and which values it may have."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

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
    """Numbers between two layers."""
    standardise: bool = True
    """Bring every input to mean 0 and deviation 1 over the run's own training frames."""

    # its training
    learning_rate: float = 1e-4
    """Adam's, at the first step."""
    learning_rate_end: float = 0.0
    """Share of the learning rate that is left at the last step, falling evenly; 1: constant."""
    batch_size: int = 512
    """Frames per gradient step."""
    num_steps: int = 3000
    """Gradient steps per stage."""
    gradient_steps_per_batch: int = 2
    """Steps that are taken on the same frames before others are drawn."""
    held_out_fraction: float = 0.0
    """Share of episodes kept for early stopping: the weights that did best on them are kept."""
    evaluations: int = 20
    """How often held-out episodes are scored in the course of a stage."""
    patience: int = 0
    """A network that did no better on its held-out episodes so many times in a row is trained no
    further; 0: to the last step."""
    lagged_tau: float = 0.0
    """With a value above 0, targets come from a lagged network that moves this share of the way
    to the trained one at each `lagged_period`; 0: targets come from the network itself."""
    lagged_period: int = 1
    """Gradient steps between two moves of the lagged network."""
    dropout: float = 0.0
    """Share of the numbers between layers that is left out at each step of the training."""
    input_noise: float = 0.0
    """Deviation of the noise that is added to standardised inputs at each step."""
    weight_decay: float = 0.0
    """Share of each weight that goes per step, times the learning rate."""

    # what a network sees
    lags: tuple[int, ...] = ()
    """Besides a frame, how it differs from the frames so many steps earlier."""
    max_inputs: int = 0
    """More features than this are reduced to so many principal components; 0: never."""

    # prioritised replay
    priority_exponent: float = 0.6
    """alpha: 0 samples uniformly, 1 in proportion to the error."""
    importance_start: float = 0.4
    """beta at the first step: 1 makes up for frames being drawn more often, 0 does not."""
    importance_end: float = 1.0
    """beta at the last step; it rises evenly over the training."""
    priority_floor: float = 1e-2
    """Added to every error, so that no frame is forgotten."""
    capacity: int | None = None
    """Frames that can be sampled at a time; None: all of them."""

    # more than memory holds
    block_mb: float = 2048.0
    """Megabytes of features, targets and priorities that a training has in memory at a time; where
    there are more, episodes come in blocks of this size, in a new order each time."""

    # the methods
    discount: float | None = None
    """Of the liveness value, and of the scale that all methods share: k steps to go are worth
    1 - 2 discount^k. None: 1 - 1.75 / horizon."""
    td_discount: float | None = None
    """Of temporal differences (td). None: 1 - 1 / horizon."""
    td_normaliser: float | None = None
    """td counts a step as one over this. None: the horizon."""
    mc_normaliser: float | None = None
    """mc and mc-dist count a step as one over this. None: two horizons."""
    survival_bins: int = 32
    """Stretches of time that survival and lambda-returns tell apart."""
    survival_max_steps: int | None = None
    """Beyond so many steps success counts as never; None: `survival_horizons` horizons."""
    survival_horizons: float = 1.0
    """How far survival and lambda-returns look ahead, in horizons."""
    time_out: Literal["terminal", "open"] = "terminal"
    """The last frame of a time-out: nothing follows it (the paper), or no target at all."""
    anchor_frames: Literal["all", "success"] = "all"
    """What the first stage of liveness is trained on: all frames, or those of successes."""
    cross_fit: int = 0
    """With K of 2 or more, the anchor value of an episode comes from networks that never saw it."""
    rounds: int = 0
    """How often targets are built anew from held-out predictions, and networks fitted to them."""
    starts: Literal["both", "dark", "bright"] = "both"
    """What the first round builds on: time-outs taken as never, as unknown, or the mean of both."""
    decay: float = 0.95
    """lambda: how much of a target is the recorded future, and how much the predictions on it."""
    apart: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Numbers of methods that have some of their own (`of`)."""

    def __post_init__(self) -> None:
        usual = {known.name: known for known in fields(self) if known.name != "apart"}
        for name, known in usual.items():
            object.__setattr__(self, name, _plain(known, getattr(self, name)))
        apart = {
            method: {n: _plain(usual[n], v) if n in usual else v for n, v in own.items()}
            for method, own in self.apart.items()
        }
        object.__setattr__(self, "apart", apart)
        for name, choices in (
            ("time_out", ("terminal", "open")),
            ("anchor_frames", ANCHOR_FRAMES),
            ("starts", ("both", "dark", "bright")),
        ):
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
        if self.capacity is not None and self.capacity < 1:
            raise GoalwardError(f"capacity must be at least 1, got {self.capacity}")
        if not self.learning_rate > 0:
            raise GoalwardError(f"learning_rate must be above 0, got {self.learning_rate}")
        for name in ("rounds", "max_inputs", "input_noise", "weight_decay", "patience"):
            if not getattr(self, name) >= 0:
                raise GoalwardError(f"{name} must be at least 0, got {getattr(self, name)}")
        if not 0 <= self.dropout < 1:
            raise GoalwardError(f"dropout must be at least 0 and below 1, got {self.dropout}")
        if not 0 <= self.decay <= 1:
            raise GoalwardError(f"decay must lie between 0 and 1, got {self.decay}")
        for name in ("learning_rate", "block_mb", "survival_horizons"):
            if not getattr(self, name) > 0:
                raise GoalwardError(f"{name} must be above 0, got {getattr(self, name)}")
        for method in self.apart:
            # Numbers of one method are checked as those of all are.
            self.of(method)

    def of(self, method: str) -> "Hyperparameters":
        """The numbers that a method trains by: its own where it has some, else those of all.

        >>> from goalward.training.methods.presets import hyperparameters
        >>> numbers = hyperparameters("libero", width=64)
        >>> numbers.of("liveness").learning_rate, numbers.of("liveness").width
        (1e-05, 64)
        >>> numbers.of("lambda-returns").learning_rate, numbers.of("lambda-returns").width
        (0.001, 64)
        """
        own = self.apart.get(method, {})
        unknown = sorted(set(own) - {known.name for known in fields(self)})
        if unknown:
            raise GoalwardError(f"no hyper-parameter {', '.join(unknown)} ({method})")
        return replace(self, **own, apart={})

    @property
    def num_batches(self) -> int:
        return -(-self.num_steps // self.gradient_steps_per_batch)

    def for_horizon(self, horizon: int, num_frames: int | None = None) -> "Hyperparameters":
        """The same with every None replaced by what suits episodes of at most `horizon` steps.

        discount       1 - 1.75 / horizon      the paper's 0.993 at its time-out of 250
        td_discount    1 - 1 / horizon         the paper's 0.995 at its time-out of 200
        td_normaliser  horizon                 mc_normaliser  2 * horizon

        Where there are fewer frames (`num_frames`) than a batch has, `lambda-returns` draws no more
        than there are, unless its batches were given: drawing a frame twice teaches nothing.
        """
        horizon = max(horizon, 4)
        apart = {
            method: {**own, **self.of(method)._missing(horizon)}
            for method, own in self.apart.items()
        }
        own = apart.get(_WITHOUT_REPLAY, {})
        if num_frames is not None and own and "batch_size" not in own:
            own["batch_size"] = min(self.batch_size, max(num_frames, _LEAST_BATCH))
        return replace(self, **self._missing(horizon), apart=apart)

    def _missing(self, horizon: int) -> dict[str, Any]:
        """What follows from the horizon, of what was not given."""
        derived = {
            "discount": 1 - 1.75 / horizon,
            "td_discount": 1 - 1 / horizon,
            "td_normaliser": float(horizon),
            "mc_normaliser": 2.0 * horizon,
            "survival_max_steps": math.ceil(self.survival_horizons * horizon),
        }
        return {name: value for name, value in derived.items() if getattr(self, name) is None}

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def noted(self, methods: Iterable[str]) -> dict[str, Any]:
        """What a training of some methods depends on, as its notes have it.

        Without numbers that version 0.1.0 did not know where they change nothing, and without
        those of other methods: a training that would come out the same is noted the same, and
        is not done again.
        """
        numbers = {
            known.name: getattr(self, known.name)
            for known in fields(self)
            if known.name in _KNOWN_TO_0_1_0 or getattr(self, known.name) != known.default
        }
        apart = {
            method: {n: v for n, v in self.apart[method].items() if v != getattr(self, n)}
            for method in sorted(set(methods) & set(self.apart))
        }
        del numbers["apart"]
        apart = {method: own for method, own in apart.items() if own}
        return numbers | {"apart": apart} if apart else numbers


def _lags(given: Any) -> tuple[int, ...]:
    """Steps back, as a number or several."""
    lags = tuple(given) if isinstance(given, list | tuple) else (given,)
    for lag in lags:
        if isinstance(lag, bool) or not isinstance(lag, int) or lag < 1:
            raise GoalwardError(f"lags must be whole numbers of steps from 1 on, got {given!r}")
    return lags


def _plain(known: Field[Any], given: Any) -> Any:
    """A value of the kind of the default (1e5 steps are 100,000); None is one to be derived."""
    if known.name == "lags":
        return _lags(given)
    value = given.item() if isinstance(given, np.generic) else given
    if isinstance(known.default, bool | str):
        fits = isinstance(value, type(known.default))
    elif isinstance(value, bool) or not isinstance(value, int | float):
        fits = value is None and known.default is None
    else:
        is_whole = known.type in (int, int | None)
        fits = abs(value) < _BEYOND_NUMBERS and not (is_whole and value != int(value))
        value = int(value) if fits and is_whole else value
    if not fits:
        raise GoalwardError(f"{known.name} cannot be {given!r}")
    return value


# What no count and no rate is as large as; neither are infinity and NaN below it.
_BEYOND_NUMBERS = 1 << 40
ANCHOR_FRAMES = ("all", "success")
# Draws all frames alike; the paper's methods keep the paper's batches, whatever the data.
_WITHOUT_REPLAY = "lambda-returns"
_LEAST_BATCH = 32

_KNOWN_TO_0_1_0 = frozenset(
    (
        *("num_layers", "width", "standardise", "learning_rate", "learning_rate_end"),
        *("batch_size", "num_steps", "gradient_steps_per_batch", "held_out_fraction"),
        *("evaluations", "lagged_tau", "lagged_period", "priority_exponent", "importance_start"),
        *("importance_end", "priority_floor", "capacity", "discount", "td_discount"),
        *("td_normaliser", "mc_normaliser", "survival_bins", "survival_max_steps", "time_out"),
        *("anchor_frames", "cross_fit"),
    )
)
