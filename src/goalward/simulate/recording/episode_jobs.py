"""What the workers of a simulation do: run an episode, draw one."""

import importlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from goalward.checksums import sha256_of
from goalward.files import written_whole
from goalward.rollouts.video.writer import VideoWriter
from goalward.simulate.recording.data_set import Plan
from goalward.simulate.recording.episode_video import PictureColours, picture_colours
from goalward.simulate.recording.label_noise import as_seen
from goalward.simulate.recording.trace import Trace, run_episode
from goalward.simulate.tasks import find_task


@dataclass(frozen=True)
class WorldFacts:
    """What a data set says about the world it came from."""

    fps: int
    cameras: tuple[str, ...]
    action_size: int
    proprioception_names: tuple[str, ...]
    state_names: tuple[str, ...]


class Simulator:
    """One world, one policy, and cameras once there is something to draw."""

    def __init__(self, task_module: str, task: str, policy: str) -> None:
        importlib.import_module(task_module)
        found = find_task(task)
        self.world = found.make_world()
        self.policy = found.make_policy(policy)
        self._cameras: Any = None

    def cameras(self, size: int) -> Any:
        if self._cameras is None:
            # Opens a drawing library, which a machine that only runs episodes need not have.
            from goalward.simulate.worlds.cameras import Cameras

            self._cameras = Cameras(self.world, size)
        return self._cameras


def simulator_of(plan: Plan) -> Callable[[], Simulator]:
    """A function that a worker process can call.

    A task may be put into the table by a module of yours: the module that makes its world is
    imported before the task is looked up.
    """
    module = find_task(plan.task).make_world.__module__
    return partial(Simulator, module, plan.task, plan.policy)


@dataclass(frozen=True)
class DescribeWorld:
    def do(self, simulator: Simulator, /) -> WorldFacts:
        world = simulator.world
        return WorldFacts(
            fps=world.fps,
            cameras=tuple(world.cameras),
            action_size=world.action_size,
            proprioception_names=tuple(world.proprioception_names),
            state_names=tuple(world.state_names),
        )


@dataclass(frozen=True)
class SimulateEpisode:
    """Gives whether it succeeded; the rest is in the trace."""

    number: int
    plan: Plan
    trace_file: Path

    def __str__(self) -> str:
        return f"task {self.plan.task}, policy {self.plan.policy}, episode number {self.number}"

    @property
    def result_files(self) -> tuple[Path, ...]:
        return (self.trace_file,)

    def do(self, simulator: Simulator, /) -> bool:
        trace = run_episode(
            simulator.world,
            simulator.policy,
            self.plan.seed_of(self.number),
            time_out=self.plan.time_out,
            every=self.plan.every,
        )
        if self.plan.label_noise:
            trace = as_seen(trace, simulator.world.goal_error(), self.plan.label_noise)
        trace.write(self.trace_file)
        return trace.success


@dataclass(frozen=True)
class DrawEpisode:
    """Makes the videos that are not there yet; gives the colours in all of them by camera.

    A video counts as there if it is as it was drawn, by a note beside the traces of the episodes.
    """

    episode_index: int
    plan: Plan
    fps: int
    trace_file: Path
    video_files: Mapping[str, Path]

    def __str__(self) -> str:
        return f"task {self.plan.task}, pictures of episode {self.episode_index}"

    @property
    def result_files(self) -> tuple[Path, ...]:
        return tuple(self.video_files.values())

    def do(self, simulator: Simulator, /) -> dict[str, PictureColours]:
        missing = {
            camera: path
            for camera, path in self.video_files.items()
            if not path.is_file() or sha256_of(path) != self._noted(camera)
        }
        if missing:
            self._draw(simulator, missing)
        for camera, path in missing.items():
            with written_whole(self._note(camera)) as temporary:
                temporary.write_text(sha256_of(path), encoding="ascii")
        return {camera: picture_colours(path) for camera, path in self.video_files.items()}

    def _note(self, camera: str) -> Path:
        return self.trace_file.parent / f"drawn_{self.episode_index:06d}_{camera}.sha256"

    def _noted(self, camera: str) -> str:
        try:
            note = self._note(camera)
            return note.read_text(encoding="ascii") if note.is_file() else ""
        except (OSError, ValueError):
            return ""

    def _draw(self, simulator: Simulator, video_files: Mapping[str, Path]) -> None:
        cameras = simulator.cameras(self.plan.size)
        with ExitStack() as open_files:
            videos = {
                camera: open_files.enter_context(VideoWriter(path, self.fps))
                for camera, path in video_files.items()
            }
            for snapshot in Trace.read(self.trace_file).snapshots:
                simulator.world.restore(snapshot)
                for camera, video in videos.items():
                    video.add(cameras.picture(camera))
