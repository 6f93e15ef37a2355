"""Episodes as `record.py` keeps them: run by their numbers, balanced, and gone on with."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from goalward.executors.local import LocalExecutor
from goalward.simulate.policies.policy import Policy
from goalward.simulate.recording.trace import Trace, run_episode, steps_from
from goalward.simulate.tasks import SimulatedTask
from goalward.simulate.truth import (
    TaskStage,
)
from goalward.simulate.worlds.world import World

# As `goalward simulate` numbers them: no two sets share an episode.
SEEDS_PER_SET = 1_000_000


@dataclass(frozen=True)
class RunEpisode:
    """Run the episode with this number; its trace goes to disk, what networks see comes back."""

    seed: int
    number: int
    time_out: int
    trace_file: Path

    def __str__(self) -> str:
        return f"episode number {self.number}"

    def do(self, stage: tuple[World, Policy[Any]], /) -> dict[str, Any]:
        seed = self.seed * SEEDS_PER_SET + self.number
        trace = run_episode(*stage, seed, time_out=self.time_out)
        trace.write(self.trace_file)
        # Of the last frame, where a task has it: how far off the goal was.
        goal_error = stage[0].goal_error()
        after = second_at_goal(*stage) if trace.success else {}
        return after | {
            "number": self.number,
            "success": trace.success,
            "proprioception": trace.proprioception,
            "state": trace.states,
            "action": trace.actions,
            "goal_error": goal_error,
            "events": trace.events,
        }


def second_at_goal(world: World, policy: Policy[Any]) -> dict[str, Any]:
    """What networks would see of the second after success, in which the policy just goes on."""
    proprioception: list[Any] = []
    states: list[Any] = []
    for _ in range(round(world.fps)):
        world.step(policy.act(world))
        proprioception.append(world.proprioception())
        states.append(world.state())
    return {
        "goal_proprioception": np.array(proprioception, dtype=np.float32),
        "goal_state": np.array(states, dtype=np.float32),
    }


@dataclass(frozen=True)
class GoOn:
    """Let a timed-out episode go on as it was, beyond its clock; steps to success or None."""

    trace_file: Path
    cap: int

    def do(self, stage: tuple[World, Policy[Any]], /) -> int | None:
        trace = Trace.read(self.trace_file)
        return steps_from(*stage, trace, trace.num_frames - 1, most=self.cap)


def balanced_episodes(
    task: SimulatedTask,
    stage: TaskStage,
    folder: Path,
    seed: int,
    num_wanted: int,
    num_workers: int,
    first_number: int = 0,
) -> tuple[list[dict[str, Any]], int, int]:
    """As many successes as time-outs, the first of each by number, in turn.

    Also how many of the first episodes by number succeeded, of how many: the natural rate.
    """
    trace_file = functools.partial(trace_file_of, folder, seed)
    results: dict[int, dict[str, Any]] = {}

    def is_enough() -> bool:
        done = _first_without_gap(results, first_number)
        counted = [results[n]["success"] for n in range(first_number, done)]
        return min(sum(counted), len(counted) - sum(counted)) >= num_wanted // 2

    def jobs() -> Any:
        number = first_number
        while not is_enough():
            yield RunEpisode(seed, number, task.time_out, trace_file(number))
            number += 1

    with LocalExecutor(stage, num_workers) as workers:
        for job, result in workers.results(jobs()):
            assert isinstance(job, RunEpisode)
            results[job.number] = result
    last = _first_without_gap(results, first_number)
    found = [results[number] for number in range(first_number, last)]
    by_outcome = [[one for one in found if one["success"] is kind] for kind in (True, False)]
    pairs = zip(*(kind[: num_wanted // 2] for kind in by_outcome), strict=True)
    return [one for pair in pairs for one in pair], len(by_outcome[0]), len(found)


def trace_file_of(folder: Path, seed: int, number: int) -> Path:
    return folder / f"{seed}_{number}.npz"


def _first_without_gap(results: dict[int, Any], first: int) -> int:
    while first in results:
        first += 1
    return first


def episode_arrays(episodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    arrays = {
        name: np.concatenate([episode[name] for episode in episodes])
        for name in ("proprioception", "state", "action")
    }
    at_goal = {
        name: np.stack([episode[name] for episode in episodes if episode["success"]])
        for name in ("goal_proprioception", "goal_state")
    }
    errors = [episode["goal_error"] for episode in episodes]
    if None not in errors:
        arrays["goal_error"] = np.array(errors)
    lengths = [len(episode["action"]) for episode in episodes]
    # What the policy noted: (episode, frame) of each, and what it was.
    noted = [(i, *event) for i, episode in enumerate(episodes) for event in episode["events"]]
    return (
        arrays
        | at_goal
        | {
            "episode_ends": np.cumsum(lengths),
            "success": np.array([episode["success"] for episode in episodes]),
            "number": np.array([episode["number"] for episode in episodes]),
            "event_frames": np.array([event[:2] for event in noted], dtype=np.int64).reshape(-1, 2),
            "event_names": np.array([event[2] for event in noted], dtype=np.str_),
        }
    )


def going_on(
    stage: TaskStage, traces: Sequence[Path], cap: int, num_workers: int
) -> dict[Path, int]:
    """Steps from the last frame of each to success; -1 where the cap came first."""
    found: dict[Path, int] = {}
    with LocalExecutor(stage, num_workers) as workers:
        for job, steps in workers.results(iter([GoOn(path, cap) for path in traces])):
            assert isinstance(job, GoOn)
            found[job.trace_file] = -1 if steps is None else steps
    return found
