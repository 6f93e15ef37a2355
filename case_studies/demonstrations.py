"""Demonstrations of a task by its script, for a policy that learns from them.

    python case_studies/demonstrations.py pick --episodes 200 --seed 0 --out demonstrations.npz
    python case_studies/demonstrations.py square --episodes 200 --seed 0 --out demonstrations.npz

What is recorded at each step is the action as it was meant, not as it was carried out: the learner
sees states off the ideal path together with the action that leads back (DART, Laskey et al. 2017).

pick: the script errs as it always does: it misses, knocks the can over, lets it slip, and tries
again. What it would have done without its errors is recorded (`PickScript.decide`): towards the can
and not beside it, fingers closed while they slip. So a learner sees how to come back from errors
and none to imitate: what it misses and drops is its own. Errors of place are halved: while the hand
lowers, nothing observed tells a place that was mistaken from the right one.

square: the clean script, its actions shaken before they are carried out. Episodes with a miss, a
drop or a misplaced nut are left out, so that nothing teaches the learner to recover.

Episodes that do not succeed in time are left out. The file holds `observations` (frames, size),
proprioception and then the state of the world, `actions` (frames, 7), and `episode_ends`, one past
the last frame of each episode.
"""

import argparse
import functools
import itertools
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goalward.files import written_whole
from goalward.seeds import generator
from goalward.simulate.policies.hand_motion import shaken
from goalward.simulate.policies.pick_policy import PICK_SKILLS, PickScript
from goalward.simulate.policies.square_policy import SquareHabits, SquareScript
from goalward.simulate.worlds.pick import PickWorld
from goalward.simulate.worlds.square import SquareWorld

PICK_TIME_OUT = 400
PICK_SKILL = replace(PICK_SKILLS["retry"], place_error_m=PICK_SKILLS["retry"].place_error_m / 2)
SQUARE_TIME_OUT = 200
SQUARE_ACTION_NOISE = 0.15

# Observations and actions as meant of one episode, and what went wrong in it.
Demonstration = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], list[str]]


@functools.cache
def pick_world() -> PickWorld:
    """Of this process."""
    return PickWorld()


@functools.cache
def square_world() -> SquareWorld:
    """Of this process."""
    return SquareWorld()


def demonstrate_pick(seed: int, episode_index: int) -> Demonstration | None:
    """One episode, or nothing where the script did not succeed in time."""
    world, policy = pick_world(), PickScript(PICK_SKILL)
    world.reset(generator(seed, "demonstration", episode_index, "world"))
    policy.reset(world, generator(seed, "demonstration", episode_index, "policy"))
    observations, actions = [], []
    for _ in range(PICK_TIME_OUT):
        observations.append(np.concatenate([world.proprioception(), world.state()]))
        done, meant = policy.decide(world)
        actions.append(meant)
        world.step(done)
        if world.succeeded():
            events = policy.noted()
            return np.array(observations, np.float32), np.array(actions, np.float32), events
    return None


def demonstrate_square(seed: int, episode_index: int) -> Demonstration | None:
    """One episode, or nothing where the script did not succeed at the first attempt."""
    world, policy = square_world(), SquareScript(SquareHabits(retry=False))
    noise = generator(seed, "demonstration", episode_index, "noise")
    world.reset(generator(seed, "demonstration", episode_index, "world"))
    policy.reset(world, generator(seed, "demonstration", episode_index, "policy"))
    observations, actions = [], []
    for _ in range(SQUARE_TIME_OUT):
        observations.append(np.concatenate([world.proprioception(), world.state()]))
        actions.append(policy.intend(world))
        world.step(shaken(actions[-1], noise, SQUARE_ACTION_NOISE))
        if policy.noted():
            return None
        if world.succeeded():
            return np.array(observations, np.float32), np.array(actions, np.float32), []
    return None


DEMONSTRATE = {"pick": demonstrate_pick, "square": demonstrate_square}


def demonstrations(
    task: str, num_episodes: int, seed: int, num_workers: int
) -> Iterator[Demonstration]:
    """The first successes in the order of their index: the number of workers changes nothing."""
    num_tried = num_kept = 0
    started = time.monotonic()
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(num_workers, mp_context=spawn) as pool:
        while num_kept < num_episodes:
            # No worker without an episode; what is too many is left out below.
            tries = range(num_tried, num_tried + max(num_episodes - num_kept, num_workers))
            for demonstration in pool.map(functools.partial(DEMONSTRATE[task], seed), tries):
                num_tried += 1
                if demonstration is not None and num_kept < num_episodes:
                    num_kept += 1
                    yield demonstration
            print(
                f"{num_kept} of {num_episodes} demonstrations, {num_tried} episodes, "
                f"{time.monotonic() - started:.0f} s",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("task", choices=DEMONSTRATE)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    observations, actions, events = zip(
        *demonstrations(arguments.task, arguments.episodes, arguments.seed, arguments.workers),
        strict=True,
    )
    with written_whole(arguments.out) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file,
            observations=np.concatenate(observations),
            actions=np.concatenate(actions),
            episode_ends=np.cumsum([len(episode) for episode in actions], dtype=np.int64),
        )
    counted = Counter(itertools.chain.from_iterable(events))
    errors = ", ".join(f"{count} {event}" for event, count in sorted(counted.items())) or "none"
    print(
        f"{arguments.out}: {sum(map(len, actions))} frames of {len(actions)} demonstrations, "
        f"{sum(map(bool, events))} of them with errors ({errors})"
    )


if __name__ == "__main__":
    main()
