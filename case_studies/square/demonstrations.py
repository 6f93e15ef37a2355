"""Demonstrations of the square task by the clean script, for a policy that learns from them.

    python case_studies/square/demonstrations.py --episodes 200 --seed 0 --out demonstrations.npz

The script's actions are shaken before they are carried out, and recorded as they were meant: the
learner sees states somewhat off the ideal path together with the action that leads back to it
(DART, Laskey et al. 2017). Episodes with a miss, a drop or a misplaced nut are left out, so
that nothing teaches the learner to recover.

The file holds `observations` (frames, 26), proprioception and then the state of the world,
`actions` (frames, 7), and `episode_ends`, one past the last frame of each episode.
"""

import argparse
import functools
import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goalward.files import written_whole
from goalward.seeds import generator
from goalward.simulate.policies.hand_motion import shaken
from goalward.simulate.policies.square_policy import SquareHabits, SquareScript
from goalward.simulate.worlds.square import SquareWorld

TIME_OUT = 200
ACTION_NOISE = 0.15

# Observations and intended actions of one episode.
Demonstration = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


@functools.cache
def world_of_this_process() -> SquareWorld:
    return SquareWorld()


def demonstrate(seed: int, episode_index: int) -> Demonstration | None:
    """One episode, or nothing where the script did not succeed at the first attempt."""
    world = world_of_this_process()
    policy = SquareScript(SquareHabits(retry=False))
    noise = generator(seed, "demonstration", episode_index, "noise")
    world.reset(generator(seed, "demonstration", episode_index, "world"))
    policy.reset(world, generator(seed, "demonstration", episode_index, "policy"))
    observations, actions = [], []
    for _ in range(TIME_OUT):
        observations.append(np.concatenate([world.proprioception(), world.state()]))
        actions.append(policy.intend(world))
        world.step(shaken(actions[-1], noise, ACTION_NOISE))
        if policy.noted():
            return None
        if world.succeeded():
            return np.array(observations, np.float32), np.array(actions, np.float32)
    return None


def demonstrations(num_episodes: int, seed: int, num_workers: int) -> Iterator[Demonstration]:
    """The first successes in the order of their index: the number of workers changes nothing."""
    num_tried = num_kept = 0
    started = time.monotonic()
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(num_workers, mp_context=spawn) as pool:
        while num_kept < num_episodes:
            tries = range(num_tried, num_tried + num_episodes - num_kept)
            for demonstration in pool.map(functools.partial(demonstrate, seed), tries):
                num_tried += 1
                if demonstration is not None:
                    num_kept += 1
                    yield demonstration
                print(
                    f"{num_kept} of {num_episodes} demonstrations, {num_tried} episodes, "
                    f"{time.monotonic() - started:.0f} s",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    observations, actions = zip(
        *demonstrations(arguments.episodes, arguments.seed, arguments.workers), strict=True
    )
    with written_whole(arguments.out) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file,
            observations=np.concatenate(observations),
            actions=np.concatenate(actions),
            episode_ends=np.cumsum([len(episode) for episode in actions], dtype=np.int64),
        )
    print(f"{arguments.out}: {sum(map(len, actions))} frames of {len(actions)} demonstrations")


if __name__ == "__main__":
    main()
