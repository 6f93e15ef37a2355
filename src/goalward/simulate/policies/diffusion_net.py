"""A network that turns noise into the next actions of a robot (Chi et al. 2023, from states)."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from goalward.errors import GoalwardError
from goalward.files import written_whole

# Nothing else of goalward is imported here: a machine that only trains needs no readers of videos.

NUM_NOISE_LEVELS = 100
# A dimension that moved less than this in all demonstrations is taken as constant.
_SMALLEST_RANGE = 1e-4
# What the demonstrations never came near tells the network nothing: it sees the edge instead.
_FARTHEST = 1.5
_TIME_FEATURES = 32
_SIZES = "sizes"


@dataclass(frozen=True)
class Sizes:
    """All that is needed to build the network."""

    observation: int
    action: int
    num_observations: int = 2
    num_predicted: int = 16
    width: int = 256
    num_blocks: int = 3


# ---------------------------------------------------------------- noise


def cosine_schedule(num_levels: int = NUM_NOISE_LEVELS) -> Tensor:
    """How much of the signal's power is left at each noise level (Nichol & Dhariwal 2021, eq. 17).

    No level keeps less than a thousandth of the one before.

    >>> [round(float(left), 4) for left in cosine_schedule()[[0, 49, 99]]]
    [0.9994, 0.4938, 0.0]
    """

    def share(progress: float) -> float:
        return math.cos((progress + 0.008) / 1.008 * math.pi / 2) ** 2

    kept = [
        max(share((level + 1) / num_levels) / share(level / num_levels), 0.001)
        for level in range(num_levels)
    ]
    return torch.tensor(np.cumprod(kept), dtype=torch.float32)


def add_noise(clean: Tensor, noise: Tensor, signal_left: Tensor) -> Tensor:
    """Actions at a noise level: sqrt(left) clean + sqrt(1 - left) noise."""
    return signal_left.sqrt() * clean + (1 - signal_left).sqrt() * noise


def ddim_step(noisy: Tensor, clean: Tensor, signal_left: Tensor, next_left: Tensor) -> Tensor:
    """To a lower noise level along the noise already there (Song et al. 2021, eq. 12, eta 0)."""
    noise = (noisy - signal_left.sqrt() * clean) / (1 - signal_left).sqrt()
    return add_noise(clean, noise, next_left)


def sampling_levels(num_steps: int) -> list[int]:
    """Noise levels visited, from pure noise down, evenly spaced.

    >>> sampling_levels(4)
    [99, 74, 49, 24]
    """
    return [round(NUM_NOISE_LEVELS * (1 - step / num_steps)) - 1 for step in range(num_steps)]


# ---------------------------------------------------------------- network


class Denoiser(nn.Module):
    """Noisy actions, their noise level and what was observed -> the clean actions.

    A residual MLP over the whole chunk of actions; observations and noise level steer every block
    by scale and shift (FiLM). The range of observations and actions is part of its weights.

    It predicts the actions and not, as in the paper, their noise: a narrow network then need not
    carry noise through to its end. Error of sampled actions on the task of the tests after 1,000
    steps: 0.12 predicting actions, 0.17 velocities (Salimans & Ho 2022), 0.25 noise.
    """

    observation_low: Tensor
    observation_high: Tensor
    action_low: Tensor
    action_high: Tensor
    schedule: Tensor

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        for name, size in (("observation", sizes.observation), ("action", sizes.action)):
            self.register_buffer(f"{name}_low", -torch.ones(size))
            self.register_buffer(f"{name}_high", torch.ones(size))
        self.register_buffer("schedule", cosine_schedule(), persistent=False)
        width = sizes.width
        self.steering = nn.Sequential(
            nn.Linear(sizes.num_observations * sizes.observation + 2 * _TIME_FEATURES, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
        )
        chunk = sizes.num_predicted * sizes.action
        self.enter = nn.Linear(chunk, width)
        self.blocks = nn.ModuleList(SteeredBlock(width) for _ in range(sizes.num_blocks))
        self.leave = nn.Sequential(nn.LayerNorm(width), nn.SiLU(), nn.Linear(width, chunk))

    def forward(self, noisy: Tensor, level: Tensor, observations: Tensor) -> Tensor:
        """(batch, predicted, action), (batch,), (batch, observed, observation); all normalised."""
        steering = self.steering(
            torch.cat([observations.flatten(1), level_features(level, noisy.dtype)], dim=1)
        )
        hidden = self.enter(noisy.flatten(1))
        for block in self.blocks:
            hidden = block(hidden, steering)
        return self.leave(hidden).view_as(noisy)

    def loss(self, observations: Tensor, actions: Tensor, generator: torch.Generator) -> Tensor:
        """Squared error of the actions at random noise levels; inputs are normalised."""
        level = torch.randint(
            NUM_NOISE_LEVELS, (len(actions),), generator=generator, device=actions.device
        )
        noise = torch.randn(actions.shape, generator=generator, device=actions.device)
        left = self.schedule[level].view(-1, 1, 1)
        predicted = self(add_noise(actions, noise, left), level, observations)
        return nn.functional.mse_loss(predicted, actions)

    @torch.no_grad()
    def sample(self, observations: Tensor, noise: Tensor, num_steps: int = 10) -> Tensor:
        """Actions, in their own units, from observations in theirs and standard normal noise."""
        observations = self.normalised_observations(observations)
        actions = noise
        levels = sampling_levels(num_steps)
        for level, next_level in zip(levels, [*levels[1:], None], strict=True):
            left = self.schedule[level]
            next_left = left.new_ones(()) if next_level is None else self.schedule[next_level]
            batch_level = torch.full((len(noise),), level, device=noise.device)
            # No action lies outside its range.
            clean = self(actions, batch_level, observations).clamp(-1, 1)
            actions = ddim_step(actions, clean, left, next_left)
        low, high = self.action_low, self.action_high
        return low + (actions + 1) / 2 * (high - low)

    # ------------------------------------------------------------ ranges

    def take_ranges(self, observations: Tensor, actions: Tensor) -> None:
        """Remember the range of every dimension, (frames, size) each."""
        for name, values in (("observation", observations), ("action", actions)):
            low, high = values.min(0).values, values.max(0).values
            # A constant becomes the middle of a range of 2: normalised it is 0.
            constant = high - low < _SMALLEST_RANGE
            middle = (low + high) / 2
            getattr(self, f"{name}_low").copy_(torch.where(constant, middle - 1, low))
            getattr(self, f"{name}_high").copy_(torch.where(constant, middle + 1, high))

    def normalised_observations(self, observations: Tensor) -> Tensor:
        normalised = _to_unit(observations, self.observation_low, self.observation_high)
        return normalised.clamp(-_FARTHEST, _FARTHEST)

    def normalised_actions(self, actions: Tensor) -> Tensor:
        return _to_unit(actions, self.action_low, self.action_high)


class SteeredBlock(nn.Module):
    """hidden + MLP(scale * norm(hidden) + shift), scale and shift chosen by the steering."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.film = nn.Linear(width, 2 * width)
        self.widen = nn.Linear(width, 2 * width)
        self.narrow = nn.Linear(2 * width, width)
        # At first a block changes nothing.
        nn.init.zeros_(self.narrow.weight)
        nn.init.zeros_(self.narrow.bias)

    def forward(self, hidden: Tensor, steering: Tensor) -> Tensor:
        scale, shift = self.film(steering).chunk(2, dim=1)
        steered = self.norm(hidden) * (1 + scale) + shift
        return hidden + self.narrow(nn.functional.silu(self.widen(steered)))


def level_features(level: Tensor, dtype: torch.dtype) -> Tensor:
    """Sines and cosines of the noise level at frequencies from 1 down to 1/1000."""
    exponents = torch.arange(_TIME_FEATURES, device=level.device, dtype=dtype) / _TIME_FEATURES
    angles = level.to(dtype)[:, None] * torch.exp(-math.log(1000) * exponents)
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def _to_unit(values: Tensor, low: Tensor, high: Tensor) -> Tensor:
    return (values - low) / (high - low) * 2 - 1


# ---------------------------------------------------------------- demonstrations


def window_rows(episode_ends: Sequence[int], num_observations: int, num_predicted: int) -> Tensor:
    """For every frame the rows of the chunk around it: (frames, num_predicted).

    The frame is at place `num_observations - 1` of its chunk; the observations are the first
    places. Before its start and after its end an episode repeats its first and last frame. The
    paper's code leaves out the last few frames of an episode as the present; here a new chunk may
    be asked for there too.

    >>> window_rows([3, 5], num_observations=2, num_predicted=4).tolist()
    [[0, 0, 1, 2], [0, 1, 2, 2], [1, 2, 2, 2], [3, 3, 4, 4], [3, 4, 4, 4]]
    """
    offsets = torch.arange(num_predicted) - (num_observations - 1)
    starts = [0, *episode_ends[:-1]]
    return torch.cat(
        [
            (torch.arange(start, end)[:, None] + offsets).clamp(start, end - 1)
            for start, end in zip(starts, episode_ends, strict=True)
        ]
    )


# ---------------------------------------------------------------- files


def write_denoiser(path: Path, denoiser: Denoiser) -> None:
    """Weights and ranges as safetensors; the sizes stand in the file's header."""
    tensors = {
        name: tensor.detach().cpu().float().contiguous()
        for name, tensor in denoiser.state_dict().items()
    }
    with written_whole(path) as temporary:
        try:
            save_file(tensors, temporary, metadata={_SIZES: json.dumps(asdict(denoiser.sizes))})
        except SafetensorError as error:
            raise GoalwardError(f"{path}: cannot be written ({error})") from error


def read_denoiser(path: Path) -> Denoiser:
    """The network that `write_denoiser` wrote, ready to sample on the CPU."""
    try:
        with safe_open(path, framework="pt") as file:
            facts = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise GoalwardError(f"{path}: cannot be read ({error})") from error
    try:
        sizes = Sizes(**json.loads(facts[_SIZES]))
    except (KeyError, TypeError, ValueError) as error:
        raise GoalwardError(f"{path}: is no diffusion policy, its header has no sizes") from error
    denoiser = Denoiser(sizes)
    wanted = {name: tuple(tensor.shape) for name, tensor in denoiser.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            raise GoalwardError(
                f"{path}: {name} has shape {found.get(name)}, its sizes ask for {wanted.get(name)}"
            )
    denoiser.load_state_dict(tensors)
    return denoiser.eval()
