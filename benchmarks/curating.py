"""Does what `goalward curate` keeps make a better policy than what it drops?

    python case_studies/truth/record.py mw-pick-place --out worlds --test 2 --frames 1 --at-end 0
    python benchmarks/curating.py worlds mw-pick-place --out curated

A run learns values from the recorded episodes of a scripted policy that errs. Then the same small
behaviour cloning network learns from all frames, from successes, from as many frames of random
episodes as curate keeps, and from what curate keeps or weighs; each acts in fresh episodes of the
simulator, the same for all. No pictures: policies and values see the simulator's state. The table
is printed anew after every 25 episodes of each; stopped and started again, it goes on from there.
`--only weigh` ends with the weights of frames, `--only act` begins with them: a machine with
many cores may learn the policies and let them act; `--minutes` ends it early.
"""

import argparse
import dataclasses
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

import goalward
from cloned_policies import Act, Layers, WorldOf, cloned, with_the_one_before
from goalward.executors.local import LocalExecutor
from goalward.metrics.uncertainty.proportions import wilson
from goalward.simulate.tasks import find_task

# What others are compared with.
BASE = "successes"
AT_ONCE = 25
POLICIES = "policies.json"
Array = npt.NDArray[np.float64]


class Nothing:
    """What a worker needs that learns: all it takes is in the piece."""


@dataclasses.dataclass(frozen=True)
class Clone:
    """A policy learned from the weights beside its file, and written there."""

    recorded: Path
    path: Path
    seed: int
    num_steps: int

    @property
    def kept(self) -> Path:
        return Path(f"{self.path}.npz")

    def do(self, _: Nothing, /) -> None:
        torch.set_num_threads(1)
        weights = np.load(f"{self.path}_weights.npy")
        with np.load(self.recorded, allow_pickle=False) as stored:
            num = len(weights)
            rows = np.concatenate([stored["proprioception"][:num], stored["state"][:num]], axis=1)
            actions = stored["action"][:num].astype(np.float64)
            ends = stored["episode_ends"]
        seen = with_the_one_before(rows.astype(np.float32).astype(np.float64), ends[ends <= num])
        layers = cloned(seen, actions, weights, seed=self.seed, num_steps=self.num_steps)
        layers.write(self.kept)


def choices(run: goalward.Run, place: Path, seed: int) -> Mapping[str, Array]:
    """What each policy learns from: a weight for every frame."""

    def curated(name: str, **options: Any) -> Array:
        return goalward.curate(run, out=place / name, anyway=True, **options).weights

    # As `curate` did by default when this was first measured.
    rules = ("not-success", "after-goal", "setbacks", "stalls")
    kept = curated("kept", drop=rules, weigh="equal")
    lengths = np.array([episode.num_frames for episode in run.episodes])
    order = np.random.default_rng(seed).permutation(len(lengths))
    chosen = order[np.cumsum(lengths[order]) <= (kept > 0).sum()]
    some = np.repeat(np.isin(np.arange(len(lengths)), chosen), lengths).astype(np.float64)
    return {
        "all": np.ones(len(kept)),
        "random episodes, as many frames as curate keeps": some,
        "successes": curated("successes", drop=rules[:2], weigh="equal"),
        "curate": kept,
        "curate --weigh advantage": curated("weighed", drop=rules, weigh="advantage"),
        "curate --drop no-return,after-goal --weigh advantage": curated(
            "failures", drop=("no-return", "after-goal"), weigh="advantage"
        ),
    }


def table(succeeded: Mapping[str, Array], num_frames: Mapping[str, int]) -> str:
    """A row per choice of frames, from whether it succeeded, (seeds, starts) of each.

    The difference is that of the same starts, its interval over starts: twice the standard error.
    """
    lines = [f"| learned from | frames | by seed | success | 95 % | less {BASE}, same starts |"]
    for name, good in succeeded.items():
        low, high = (100 * float(limit) for limit in wilson(int(good.sum()), good.size))
        gained = 100 * (good - succeeded[BASE]).mean(axis=0)
        off = 1.96 * gained.std(ddof=1) / np.sqrt(len(gained))
        by_seed = ", ".join(f"{100 * rate:.0f}" for rate in good.mean(axis=1))
        lines.append(
            f"| {name} | {num_frames[name]} | {by_seed} | {100 * good.mean():.1f} % "
            f"| {low:.0f} to {high:.0f} | "
            + ("" if name == BASE else f"{gained.mean():+.1f} +- {off:.1f}")
            + " |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("world")
    parser.add_argument("--out", type=Path, required=True, help="what is done, to go on from")
    parser.add_argument("--episodes", type=int, default=200, help="recorded ones to learn from")
    parser.add_argument("--fresh", type=int, default=200, help="episodes that each policy acts in")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=2000, help="gradient steps of a policy")
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", choices=("weigh", "act"))
    parser.add_argument("--minutes", type=float, default=600, help="of acting")
    options = parser.parse_args()
    if options.only != "act":
        weigh(options)
    if options.only != "weigh":
        act(options)


def act(options: argparse.Namespace) -> None:
    """Fresh episodes of every policy, and the table of how they went."""
    until = time.monotonic() + 60 * options.minutes
    policies = learned(options)
    num_frames = {name: policies[name, 0][1] for name, seed in policies if seed == 0}
    file = options.out / "succeeded.npz"
    succeeded = {name: np.full((options.seeds, options.fresh), np.nan) for name in num_frames}
    if file.is_file():
        with np.load(file) as stored:
            for name in stored:
                shared = min(options.fresh, stored[name].shape[1])
                succeeded[name][:, :shared] = stored[name][:, :shared]
    with LocalExecutor(WorldOf(options.world), options.workers) as workers:
        for first in range(0, options.fresh, AT_ONCE):
            if time.monotonic() > until:
                break
            so_far = min(first + AT_ONCE, options.fresh)
            jobs = [
                Act(layers, name, seed, start, find_task(options.world).time_out)
                for start in range(first, so_far)
                for (name, seed), (layers, _) in policies.items()
                if np.isnan(succeeded[name][seed, start])
            ]
            if not jobs:
                continue
            for job, good in workers.results(iter(jobs)):
                assert isinstance(job, Act)
                succeeded[job.name][job.seed, job.start] = good
            np.savez(file, **succeeded)  # pyright: ignore[reportArgumentType]
            print(f"\n{so_far} fresh episodes of each of {options.seeds} seeds", flush=True)
            told = {name: good[:, :so_far] for name, good in succeeded.items()}
            print(table(told, num_frames), flush=True)


def weigh(options: argparse.Namespace) -> None:
    """How much every frame counts in every policy: by choice and seed, on disk."""
    # Not needed to act, where less may be installed.
    from goalward.metrics.trust import trust_words
    from other_policy import recorded

    rollouts, _ = recorded(options.folder / f"{options.world}_train.npz", options.episodes)
    run = goalward.evaluate(
        rollouts, options.out / "run", effort=options.effort, report=False, progress=False
    )
    print(trust_words(run.trust), flush=True)
    told: list[dict[str, Any]] = []
    for seed in range(options.seeds):
        for number, (name, weights) in enumerate(choices(run, options.out, seed).items()):
            file = f"policy_{number}_{seed}"
            np.save(options.out / f"{file}_weights.npy", weights)
            frames = int((weights > 0).sum())
            told.append({"name": name, "seed": seed, "frames": frames, "file": file})
    (options.out / POLICIES).write_text(json.dumps(told, indent=1))


def learned(options: argparse.Namespace) -> dict[tuple[str, int], tuple[Layers, int]]:
    """The policies by choice and seed, and how many frames each learned from; kept on disk."""
    file = options.folder / f"{options.world}_train.npz"
    wanted = {
        Clone(file, options.out / one["file"], one["seed"], options.steps): one
        for one in json.loads((options.out / POLICIES).read_text())
    }
    with LocalExecutor(Nothing, options.workers) as workers:
        missing = [job for job in wanted if not job.kept.is_file()]
        for job, _ in workers.results(iter(missing)):
            print(f"learned: {wanted[job]['name']}" if isinstance(job, Clone) else "", flush=True)
    return {
        (one["name"], one["seed"]): (Layers.read(job.kept), one["frames"])
        for job, one in wanted.items()
    }


if __name__ == "__main__":
    main()
