"""Train the diffusion policy of a case study on demonstrations.

    python case_studies/train_policy.py demos.npz --out policy.safetensors [--demos 100]

The demonstrations are an .npz file with `observations` (frames, size), `actions` (frames, size)
and `episode_ends`. AdamW, a cosine learning rate after a short warm-up, and an exponential moving
average of the weights, which is what gets written. The same seed gives the same weights on the
same machine. Needs torch, numpy and safetensors.
"""

import argparse
import math
import time
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from goalward.simulate.policies.diffusion_net import Denoiser, Sizes, window_rows, write_denoiser

WARM_UP_STEPS = 500
WEIGHT_DECAY = 1e-4
# The moving average forgets at a rate that falls with the steps taken, down to this.
SLOWEST_AVERAGE = 1e-3
AVERAGE_POWER = 0.75


@dataclass(frozen=True)
class Demonstrations:
    observations: Tensor
    actions: Tensor
    episode_ends: list[int]

    def first(self, num_episodes: int) -> "Demonstrations":
        ends = self.episode_ends[:num_episodes]
        return Demonstrations(self.observations[: ends[-1]], self.actions[: ends[-1]], ends)


def read_demonstrations(path: Path) -> Demonstrations:
    with np.load(path, allow_pickle=False) as arrays:
        observations = torch.from_numpy(arrays["observations"].astype(np.float32))
        actions = torch.from_numpy(arrays["actions"].astype(np.float32))
        episode_ends = [int(end) for end in arrays["episode_ends"]]
    if not len(observations) == len(actions) == episode_ends[-1]:
        raise SystemExit(
            f"{path}: {len(observations)} observations, {len(actions)} actions, "
            f"the last episode ends at {episode_ends[-1]}"
        )
    return Demonstrations(observations, actions, episode_ends)


def train(
    demonstrations: Demonstrations,
    *,
    width: int,
    num_blocks: int,
    num_steps: int,
    batch_size: int,
    learning_rate: float,
    seed: int,
    device: torch.device,
) -> Denoiser:
    """The averaged network after so many gradient steps."""
    sizes = Sizes(
        demonstrations.observations.shape[1],
        demonstrations.actions.shape[1],
        width=width,
        num_blocks=num_blocks,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        denoiser = Denoiser(sizes)
    denoiser.take_ranges(demonstrations.observations, demonstrations.actions)
    observations = denoiser.normalised_observations(demonstrations.observations).to(device)
    actions = denoiser.normalised_actions(demonstrations.actions).to(device)
    rows = window_rows(demonstrations.episode_ends, sizes.num_observations, sizes.num_predicted)
    rows = rows.to(device)
    denoiser.to(device)
    averaged = deepcopy(denoiser)
    weights, averages = list(denoiser.parameters()), list(averaged.parameters())
    optimiser = torch.optim.AdamW(
        weights, lr=learning_rate, betas=(0.95, 0.999), weight_decay=WEIGHT_DECAY, fused=True
    )
    generator = torch.Generator(device).manual_seed(seed)
    print(
        f"{sum(weight.numel() for weight in weights):,} weights, "
        f"{len(demonstrations.episode_ends)} demonstrations, {len(rows):,} frames, {device}",
        flush=True,
    )
    started, report_every, total = time.perf_counter(), max(1, num_steps // 20), 0.0
    for step in range(1, num_steps + 1):
        for group in optimiser.param_groups:
            group["lr"] = learning_rate * learning_rate_share(step, num_steps)
        batch = rows[torch.randint(len(rows), (batch_size,), generator=generator, device=device)]
        seen = observations[batch[:, : sizes.num_observations]]
        loss = denoiser.loss(seen, actions[batch], generator)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        rate = max(SLOWEST_AVERAGE, (1 + step) ** -AVERAGE_POWER)
        with torch.no_grad():
            for average, weight in zip(averages, weights, strict=True):
                average.lerp_(weight, rate)
        total = total + loss.detach()
        if step % report_every == 0:
            seconds = time.perf_counter() - started
            print(f"step {step:7,}  loss {total / report_every:.5f}  {seconds:5.0f} s", flush=True)
            total = 0.0
    return averaged


def learning_rate_share(step: int, num_steps: int) -> float:
    """Up in a straight line, then down along a cosine to 0."""
    warm_up = min(WARM_UP_STEPS, num_steps // 10)
    if step <= warm_up:
        return step / warm_up
    return 0.5 + 0.5 * math.cos(math.pi * (step - warm_up) / (num_steps - warm_up))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("demonstrations", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--demos", type=int, help="train on the first so many demonstrations")
    parser.add_argument("--steps", type=int, default=100_000, help="gradient steps")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--width", type=int, default=Sizes.width)
    parser.add_argument("--blocks", type=int, default=Sizes.num_blocks)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args(arguments)
    demonstrations = read_demonstrations(options.demonstrations)
    if options.demos is not None:
        if not 1 <= options.demos <= len(demonstrations.episode_ends):
            parser.error(f"--demos: the file has {len(demonstrations.episode_ends)}")
        demonstrations = demonstrations.first(options.demos)
    denoiser = train(
        demonstrations,
        width=options.width,
        num_blocks=options.blocks,
        num_steps=options.steps,
        batch_size=options.batch,
        learning_rate=options.learning_rate,
        seed=options.seed,
        device=torch.device(options.device),
    )
    write_denoiser(options.out, denoiser)


if __name__ == "__main__":
    main()
