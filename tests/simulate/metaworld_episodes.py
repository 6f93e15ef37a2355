"""Episodes of metaworld's tasks, as tests begin them and go on with them."""

import numpy as np

from goalward.seeds import generator
from goalward.simulate.policies.metaworld_policy import MetaworldScript
from goalward.simulate.tasks import find_task
from goalward.simulate.worlds.metaworld_world import (
    AssemblyWorld,
    MetaworldWorld,
    PegInsertWorld,
    PickPlaceWorld,
    ShelfPlaceWorld,
)

SEED = 4
TASKS = {
    "mw-pick-place": PickPlaceWorld,
    "mw-peg-insert": PegInsertWorld,
    "mw-assembly": AssemblyWorld,
    "mw-shelf-place": ShelfPlaceWorld,
}


def begin(world: MetaworldWorld, task: str, policy: str, seed: int = SEED) -> MetaworldScript:
    script = find_task(task).make_policy(policy)
    assert isinstance(script, MetaworldScript)
    world.reset(generator(seed, "world"))
    script.reset(world, generator(seed, "policy"))
    return script


def go_on(world: MetaworldWorld, script: MetaworldScript, num_steps: int) -> list[np.ndarray]:
    """Snapshots after each step."""
    snapshots = []
    for _ in range(num_steps):
        world.step(script.act(world))
        snapshots.append(world.snapshot())
    return snapshots
