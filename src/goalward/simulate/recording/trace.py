"""An episode as the simulator lived it: every frame can be returned to and continued from."""

import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.checksums import CHECKSUM_PLACE, check, written_with_checksum
from goalward.errors import GoalwardError
from goalward.seeds import generator
from goalward.simulate.policies.policy import Policy
from goalward.simulate.worlds.world import World


@dataclass(frozen=True, eq=False)
class Trace:
    """Frame by frame: the snapshot of the world, the policy's memory, and the action taken then.

    A success ends with its goal frame, where nothing is done any more: its action repeats the
    one before. `held` says in which frames the gripper held the object; `events` are what the
    policy noted, as (frame, name).
    """

    seed: int
    success: bool
    snapshots: npt.NDArray[np.float64]
    memories: tuple[str, ...]
    actions: npt.NDArray[np.float32]
    proprioception: npt.NDArray[np.float32]
    states: npt.NDArray[np.float32]
    held: npt.NDArray[np.bool_]
    events: tuple[tuple[int, str], ...]

    @property
    def num_frames(self) -> int:
        return len(self.snapshots)

    def write(self, path: Path) -> None:
        events = "\n".join(f"{frame} {name}" for frame, name in self.events)
        with written_with_checksum(path) as temporary:
            with temporary.open("wb") as file:
                np.savez_compressed(
                    file,
                    seed=np.int64(self.seed),
                    success=np.bool_(self.success),
                    snapshots=self.snapshots,
                    memories=_as_bytes("\n".join(self.memories)),
                    actions=self.actions,
                    proprioception=self.proprioception,
                    states=self.states,
                    held=self.held,
                    events=_as_bytes(events),
                )
            with zipfile.ZipFile(temporary, "a") as archive:
                archive.comment = CHECKSUM_PLACE.encode()

    @classmethod
    def read(cls, path: Path) -> "Trace":
        if not path.exists():
            raise GoalwardError(f"{path}: no such file")
        check(path)
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
                arrays: dict[str, Any] = dict(stored)
            events = [line.split(" ", 1) for line in _as_text(arrays["events"]).splitlines()]
            trace = cls(
                seed=int(arrays["seed"]),
                success=bool(arrays["success"]),
                snapshots=arrays["snapshots"],
                memories=tuple(_as_text(arrays["memories"]).split("\n")),
                actions=arrays["actions"],
                proprioception=arrays["proprioception"],
                states=arrays["states"],
                held=arrays["held"],
                events=tuple((int(frame), name) for frame, name in events),
            )
        except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise GoalwardError(f"{path}: not a whole trace of an episode ({error})") from error
        lengths = {
            len(part)
            for part in (trace.snapshots, trace.memories, trace.actions, trace.proprioception)
        }
        if len(lengths) != 1:
            raise GoalwardError(f"{path}: its parts have {sorted(lengths)} frames")
        return trace


def _as_bytes(text: str) -> npt.NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _as_text(stored: npt.NDArray[np.uint8]) -> str:
    return stored.tobytes().decode()


def run_episode(
    world: World, policy: Policy[Any], seed: int, *, time_out: int, every: int = 1
) -> Trace:
    """One episode: until the goal, or until the clock runs out after `time_out` frames.

    A frame is recorded every `every` control steps; success is looked for at every step.
    """
    world.reset(generator(seed, "world"))
    policy.reset(world, generator(seed, "policy"))
    snapshots: list[npt.NDArray[np.float64]] = []
    memories: list[str] = []
    actions: list[npt.NDArray[np.float64]] = []
    proprioception: list[npt.NDArray[np.float64]] = []
    states: list[npt.NDArray[np.float64]] = []
    held: list[bool] = []
    events: list[tuple[int, str]] = []
    success = world.succeeded()
    while True:
        snapshots.append(world.snapshot())
        memories.append(policy.remember())
        proprioception.append(world.proprioception())
        states.append(world.state())
        held.append(world.holds())
        if success or len(snapshots) == time_out:
            break
        actions.append(_one_frame(world, policy, every))
        events += [(len(snapshots) - 1, name) for name in policy.noted()]
        success = world.succeeded()
    # The last frame has an action too, as formats for rollouts want one per frame.
    actions.append(actions[-1] if actions else np.zeros(world.action_size))
    return Trace(
        seed=seed,
        success=success,
        snapshots=np.stack(snapshots),
        memories=tuple(memories),
        actions=np.stack(actions).astype(np.float32),
        proprioception=np.stack(proprioception).astype(np.float32),
        states=np.stack(states).astype(np.float32),
        held=np.array(held),
        events=tuple(events),
    )


def steps_from(
    world: World,
    policy: Policy[Any],
    trace: Trace,
    frame: int,
    *,
    most: int,
    every: int = 1,
    random: np.random.Generator | None = None,
) -> int | None:
    """Frames from this one to success when the policy goes on from here; None if over `most`.

    With `random` the policy decides anew; without it, it does what it did when recorded.
    """
    world.restore(trace.snapshots[frame])
    policy.recall(trace.memories[frame], random)
    for num_frames in range(most + 1):
        if world.succeeded():
            return num_frames
        if num_frames < most:
            _one_frame(world, policy, every)
    return None


def _one_frame(world: World, policy: Policy[Any], every: int) -> npt.NDArray[np.float64]:
    """Act until the next frame; gives the first of the actions."""
    first = action = policy.act(world)
    for step in range(every):
        if step:
            action = policy.act(world)
        world.step(action)
        if world.succeeded():
            break
    return first
