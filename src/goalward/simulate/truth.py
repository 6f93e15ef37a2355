"""The true worth of a frame: return to it, let the policy try again and again, count the steps.

    frame -> restore world and policy -> many futures, each with its own luck -> steps to success

Nothing here needs more than numpy and the task's simulator, so that the hours this takes can be
spent on any machine. With finished work kept in a `BranchFile`, a measurement that was stopped at
any moment goes on; neither that nor the number of processes changes a result.
"""

import importlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError
from goalward.executors.choice import LOCAL, executor_on
from goalward.progress import OnSetbacks
from goalward.seeds import generator
from goalward.simulate.policies.policy import Policy
from goalward.simulate.recording.trace import Trace, steps_from
from goalward.simulate.tasks import find_task
from goalward.simulate.worlds.world import World

# A frame gets this many branches before the next frame has its turn, and all frames have theirs
# before any gets more: whenever it is stopped, all frames rest on about equally many.
BLOCK = 4
# Capped at this many standard horizons: most of what has not succeeded by then never does.
HORIZONS_UNTIL_CAP = 5

Stage = tuple[World, Policy[Any]]
# Steps to success of some branches, None where the cap came first.
StepsOfBranches = tuple[int | None, ...]


@dataclass(frozen=True)
class TaskStage:
    """Makes a task's world and the policy that acts in it, in every process anew."""

    task: str
    policy: str
    # The module that makes the world, which may have put the task into the table.
    module: str

    @classmethod
    def of(cls, task: str, policy: str) -> "TaskStage":
        return cls(task, policy, find_task(task).make_world.__module__)

    def __call__(self) -> Stage:
        importlib.import_module(self.module)
        found = find_task(self.task)
        return found.make_world(), found.make_policy(self.policy)


@dataclass(frozen=True)
class BranchPoint:
    """A frame of a recorded episode from which futures branch off."""

    trace: Path
    episode_id: str
    frame: int


@dataclass(frozen=True)
class Branching:
    """How far each branch goes, in frames, with whose luck, and how many steps a frame has."""

    cap: int
    seed: int
    every: int = 1


@dataclass(frozen=True)
class BranchJob:
    """Some branches of one frame, finished together or not at all.

    Together, because quick branches come first: whoever stops in between would otherwise keep
    those, and the frame would look better than it is.
    """

    point: BranchPoint
    branches: tuple[int, ...]
    branching: Branching

    def __str__(self) -> str:
        return f"episode {self.point.episode_id}, futures of frame {self.point.frame}"

    def do(self, stage: Stage, /) -> StepsOfBranches:
        """Let the policy go on from the frame once per branch, until success or the cap."""
        world, policy = stage
        point, branching = self.point, self.branching
        trace = _read_trace(point.trace)
        return tuple(
            steps_from(
                world,
                policy,
                trace,
                point.frame,
                most=branching.cap,
                every=branching.every,
                random=generator(branching.seed, "truth", point.episode_id, point.frame, branch),
            )
            for branch in self.branches
        )


@lru_cache(maxsize=8)
def _read_trace(path: Path) -> Trace:
    return Trace.read(path)


def sample_frames(traces: Mapping[str, Path], num_frames: int, seed: int) -> list[BranchPoint]:
    """Frames to measure: from successes and time-outs in turn, spread over all episodes.

    Episodes of each outcome take turns in a random order, each giving a frame it has not given
    yet; within an episode every frame is as likely. Goal frames are left out, as their value is
    known. The first frames of a longer list are those of a shorter one. Where one outcome has no
    frames left, the other gives the rest.
    """
    by_outcome: dict[bool, list[list[BranchPoint]]] = {True: [], False: []}
    for episode_id, path in traces.items():
        trace = Trace.read(path)
        count = trace.num_frames - 1 if trace.success else trace.num_frames
        order = generator(seed, "truth frames", episode_id).permutation(count)
        by_outcome[trace.success].append([BranchPoint(path, episode_id, int(f)) for f in order])
    queues: list[Iterator[BranchPoint]] = []
    for success, episodes in by_outcome.items():
        order = generator(seed, "truth episodes", int(success)).permutation(len(episodes))
        queues.append(_in_turn([iter(episodes[i]) for i in order]))
    points = [point for _, point in zip(range(num_frames), _in_turn(queues), strict=False)]
    if len(points) < num_frames:
        raise GoalwardError(
            f"{num_frames} frames are asked for, but {len(traces)} episodes have {len(points)} "
            "before their goals"
        )
    return points


def _in_turn(queues: Sequence[Iterator[BranchPoint]]) -> Iterator[BranchPoint]:
    """One of each in turn; what is empty is passed over."""
    waiting = list(queues)
    while waiting:
        left: list[Iterator[BranchPoint]] = []
        for queue in waiting:
            point = next(queue, None)
            if point is not None:
                left.append(queue)
                yield point
        waiting = left


def branch_jobs(
    points: Sequence[BranchPoint],
    num_branches: int,
    branching: Branching,
    known: Iterable[tuple[str, int, int]] = (),
) -> list[BranchJob]:
    """What is left to do, in the order in which to do it: a block of all frames, then the next.

    >>> points = [BranchPoint(Path("a.npz"), "7", 3), BranchPoint(Path("a.npz"), "7", 9)]
    >>> known = [("7", 3, branch) for branch in range(5)]
    >>> jobs = branch_jobs(points, 6, Branching(cap=500, seed=0), known)
    >>> [(job.point.frame, job.branches) for job in jobs]
    [(9, (0, 1, 2, 3)), (3, (5,)), (9, (4, 5))]
    """
    done = set(known)
    jobs: list[BranchJob] = []
    for first in range(0, num_branches, BLOCK):
        for point in points:
            branches = tuple(
                branch
                for branch in range(first, min(first + BLOCK, num_branches))
                if (point.episode_id, point.frame, branch) not in done
            )
            if branches:
                jobs.append(BranchJob(point, branches, branching))
    return jobs


def measure(
    jobs: Sequence[BranchJob],
    make_stage: Callable[[], Stage],
    num_workers: int | None = 1,
    on: str = LOCAL,
    shared: Sequence[Path] = (),
    on_setbacks: OnSetbacks | None = None,
) -> Generator[tuple[BranchJob, StepsOfBranches]]:
    """Do all jobs, in as many processes, and give each with its steps when it is done.

    Without a number there is a process for every core, here or of the cluster that they are done
    `on`, whose machines have to see the `shared` folders. Jobs are begun in their order and may be
    finished in another. One worker is a process of its own too: it computes with one thread as all
    workers do, so that sums are rounded alike.
    """
    if jobs:
        executor = executor_on(on, make_stage, num_workers, most_workers=len(jobs), shared=shared)
        with executor as workers:
            for job, steps in workers.results(iter(jobs), on_setbacks=on_setbacks):
                assert isinstance(job, BranchJob)
                yield job, steps
