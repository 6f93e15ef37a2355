"""One value function for several tasks against one per task, by how far each is from the truth.

    python case_studies/truth/many_tasks.py worlds mw-assembly mw-peg-insert mw-pick-place \
        mw-shelf-place --episodes 4 10 50

The worlds must show frames as the same numbers (metaworld's do). Per number of episodes a task and
per way: the mean error of the value over the frames whose truth is known, of the test episodes of
each world, and seconds. Episodes are the first of each world, as many successes as time-outs.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from worlds import RecordedWorld, read_world

from goalward.metrics.truth.known_frames import known_frames
from goalward.rollouts.concatenation import concatenate
from goalward.rollouts.dataset import Rollouts
from goalward.targets.liveness import liveness_value
from goalward.training.methods.efforts import find_effort, with_effort
from goalward.values.fit import fit

METHOD = "lambda-returns"


def named(rollouts: Rollouts, task: str) -> Rollouts:
    """The same episodes, of a task with this name, and with names of their own."""
    episodes = [replace(e, id=f"{task}/{e.id}", task=task) for e in rollouts]
    return Rollouts(episodes, features=rollouts.features)


def error(world: RecordedWorld, said: Any, discount: float) -> float:
    """The mean error over frames spread over episodes, those at the clock's end left out."""
    held_out = np.ones(len(world.test), dtype=np.bool_)
    known = known_frames(world.truth, world.test, held_out)
    value = liveness_value(said.steps(METHOD).astype(np.float64), discount).mean(axis=0)
    true = known.truth.true_value(discount).mean
    late = np.array(known.outcome) != "success"
    at_end = late & (known.position == world.test.episode_ends[known.episode] - 1)
    return float(np.abs(value[known.position] - true)[~at_end].mean())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("worlds", nargs="+")
    parser.add_argument("--episodes", type=int, nargs="+", default=[4, 10, 50])
    parser.add_argument("--effort", default="quick")
    options = parser.parse_args()
    numbers = with_effort(options.effort, "default", {})
    seeds = find_effort(options.effort).seeds
    print(f"| episodes a task | way | {' | '.join(options.worlds)} | mean | seconds |")
    print("|---|---|" + "---|" * (len(options.worlds) + 2))
    for count in options.episodes:
        worlds = [read_world(options.folder, name, num_train=count) for name in options.worlds]
        together = concatenate([named(world.train, world.name) for world in worlds])
        for per_task in (False, True):
            started = time.monotonic()
            fitted = fit(together, METHOD, seeds=seeds, per_task=per_task, **numbers)
            seconds = time.monotonic() - started
            discount = fitted.numbers.discount
            assert discount is not None
            errors = [
                error(world, fitted.predict(named(world.test, world.name)), discount)
                for world in worlds
            ]
            way = "one per task" if per_task else "one for all"
            shown = " | ".join(f"{found:.3f}" for found in errors)
            line = f"| {count} | {way} | {shown} | {np.mean(errors):.3f} | {seconds:.0f} |"
            print(line, flush=True)


if __name__ == "__main__":
    main()
