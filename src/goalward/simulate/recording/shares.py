"""Several processes that make one data set, a share of its episodes each."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from goalward.executors.shard import Shard
from goalward.locks import alone_in
from goalward.simulate.recording.data_set import Plan, SimulatedDataSet


@dataclass(frozen=True)
class ShareDone:
    """What a shard has: episodes that were run, and those of the data set that it drew."""

    num_episodes: int
    num_drawn: int


@contextmanager
def at_work_in(data_set: SimulatedDataSet, shard: Shard | None) -> Generator[None]:
    """Inside, nobody does the same: not the same shard, and nobody the whole beside a shard."""
    folder, whole = data_set.simulation_folder, data_set.lock_file.name
    if shard is not None:
        with alone_in(folder, wait=False, name=f"{whole}.{shard.file_part}"):
            # Whoever makes the whole may be putting it together.
            with alone_in(folder, name=whole):
                pass
            yield
        return
    with alone_in(folder, wait=False, name=whole):
        for path in sorted(folder.glob(f"{whole}.*")):
            with alone_in(folder, wait=False, name=path.name):
                pass
        yield


def has_enough(shard: Shard, successes: dict[int, bool], plan: Plan) -> bool:
    """Whether a shard of balanced episodes has its share of both outcomes.

    What it decides by is its own: it does the same whatever the others do. All shares together
    can still lack a few, which the command for the whole runs.

    >>> plan = Plan(task="square", policy="noisy", episodes=6, balanced=True, seed=0, size=128,
    ...             every=1, time_out=200, standard_horizon=100)
    >>> has_enough(Shard(1, 2), {0: True, 2: False, 4: True}, plan)
    False
    >>> has_enough(Shard(1, 2), {0: True, 2: False, 4: True, 6: False}, plan)
    True
    """
    own = [success for number, success in successes.items() if shard.has(number)]
    share = -(-plan.episodes // 2 // shard.count)
    return min(sum(own), len(own) - sum(own)) >= share
