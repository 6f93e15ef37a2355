"""A simulated data set: the name of every file in it, what it was made with, and its traces.

The folder is a LeRobot data set, version 3.0, with one more folder beside `data`, `meta` and
`videos`: `simulation` holds what only a simulator knows.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from goalward.checksums import DamagedFile, noted_checksums, sha256_of
from goalward.errors import GoalwardError, argument
from goalward.files import check_regular, written_whole
from goalward.simulate.recording.trace import Trace
from goalward.simulate.tasks import WEIGHTS_SUFFIX, find_task

# Files per folder, as LeRobot counts them.
CHUNK_SIZE = 1000
DATA_TEMPLATE = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_TEMPLATE = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
# Episodes of one data set never share a seed with those of another that has another seed.
SEEDS_PER_DATA_SET = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is wanted. `time_out` and `standard_horizon` are in frames, of which there is one every
    `every` control steps."""

    task: str
    policy: str
    episodes: int
    balanced: bool
    seed: int
    size: int
    every: int
    time_out: int
    standard_horizon: int
    # How far off, in metres, the eye is that says what is a success; 0: labels are true.
    label_noise: float = 0.0

    @classmethod
    def of(
        cls,
        task: str,
        *,
        policy: str | None = None,
        episodes: int = 100,
        balanced: bool = False,
        seed: int = 0,
        size: int = 128,
        every: int = 1,
        time_out: int | None = None,
        label_noise: float = 0.0,
    ) -> "Plan":
        """A plan for a task by name, checked; `time_out` is in control steps here."""
        found = find_task(task)
        policy = found.default_policy if policy is None else policy
        if policy not in found.policies and not policy.endswith(WEIGHTS_SUFFIX):
            raise GoalwardError(
                f"no policy {policy!r} for {task}: there are {', '.join(found.policies)}"
            )
        _check("every", every, 1)
        steps = found.time_out if time_out is None else time_out
        # One frame is no episode: the clock runs for at least one step.
        _check("time_out", steps, every + 1)
        _check("episodes", episodes, 2 if balanced else 1)
        _check("seed", seed, 0)
        _check("size", size, 16)
        if not 0 <= label_noise < math.inf:
            given = argument("label_noise", label_noise)
            raise GoalwardError(f"{given}: must be 0 or more metres")
        if label_noise and not found.has_goal_error:
            raise GoalwardError(
                f"{argument('label_noise', label_noise)}: success in {task} has no boundary to be "
                "unsure about; cloth has"
            )
        if balanced and episodes % 2:
            raise GoalwardError(
                f"{argument('balanced', True)} halves the episodes: {episodes} is an odd number"
            )
        if size % 2:
            raise GoalwardError(f"{argument('size', size)}: must be even, as videos want it")
        return Plan(
            task=task,
            policy=policy,
            episodes=episodes,
            balanced=balanced,
            seed=seed,
            size=size,
            every=every,
            time_out=math.ceil(steps / every),
            standard_horizon=math.ceil(found.standard_horizon / every),
            label_noise=label_noise,
        )

    def seed_of(self, number: int) -> int:
        """The seed of the episode with this number."""
        return self.seed * SEEDS_PER_DATA_SET + number


def _check(name: str, value: int, least: int) -> None:
    if value < least:
        raise GoalwardError(f"{argument(name, value)}: must be at least {least}")


@dataclass(frozen=True, kw_only=True)
class SimulationSettings(Plan):
    """What a data set was made with.

    The natural rate is that of the episodes that were run to find the wanted ones: of the first
    `natural_attempts` by number, `natural_successes` succeeded in time. Both are None until known.
    """

    fps: int
    versions: Mapping[str, str]
    natural_successes: int | None = None
    natural_attempts: int | None = None
    natural_success_rate: float | None = field(init=False)

    def __post_init__(self) -> None:
        rate = None
        if self.natural_successes is not None and self.natural_attempts:
            rate = self.natural_successes / self.natural_attempts
        object.__setattr__(self, "natural_success_rate", rate)

    def write(self, path: Path) -> None:
        with written_whole(path) as temporary:
            temporary.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Self:
        check_regular(path, may_be_missing=True)
        try:
            stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            stored.pop("natural_success_rate")
            return cls(**stored)
        except FileNotFoundError as error:
            raise GoalwardError(
                f"{path}: there is no such file; `goalward simulate` writes it with its data sets"
            ) from error
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise GoalwardError(f"{path}: not the settings of a simulation ({error})") from error


def differences(there: Plan, wanted: Plan) -> list[str]:
    """What the settings of a data set say other than what is wanted, as a person would say it."""
    found: list[str] = []
    for name in (each.name for each in fields(wanted) if not each.name.startswith("natural")):
        old, new = getattr(there, name), getattr(wanted, name)
        if name == "versions":
            found += [
                f"{package} {old.get(package)} there, {new.get(package)} here"
                for package in sorted({*old, *new})
                if old.get(package) != new.get(package)
            ]
        elif old != new:
            found.append(f"{name} {old} there, {new} wanted")
    return found


@dataclass(frozen=True)
class SimulatedDataSet:
    """Where everything is in one data set, and the way back from its frames to the simulator."""

    path: Path

    @property
    def is_finished(self) -> bool:
        """info.json is written last, so that a part of a data set is not read as a whole one."""
        return self.info_file.is_file()

    @property
    def settings(self) -> SimulationSettings:
        if self.is_finished:
            self.check(self.settings_file)
        return SimulationSettings.read(self.settings_file)

    def check(self, *files: Path) -> None:
        """An error if one of these files of a finished data set is not as it was written."""
        known = noted_checksums(self.checksums_file)
        for path in files:
            wanted = known.get(path.relative_to(self.path).as_posix())
            if wanted is not None and path.is_file() and sha256_of(path) != wanted:
                raise DamagedFile(path, f"{self.checksums_file.name} says another one")

    def trace(self, episode_index: int) -> Trace:
        """The episode as the simulator lived it: snapshots, memories, actions, events."""
        return Trace.read(self.trace_file(episode_index))

    # ---------------------------------------------------------------- LeRobot

    @property
    def info_file(self) -> Path:
        return self.path / "meta" / "info.json"

    @property
    def stats_file(self) -> Path:
        return self.path / "meta" / "stats.json"

    @property
    def tasks_file(self) -> Path:
        return self.path / "meta" / "tasks.parquet"

    @property
    def episodes_file(self) -> Path:
        return self.path / "meta" / "episodes" / "chunk-000" / "file-000.parquet"

    @property
    def frames_file(self) -> Path:
        """All frames of all episodes."""
        return self.path / DATA_TEMPLATE.format(chunk_index=0, file_index=0)

    def video_file(self, video_key: str, episode_index: int) -> Path:
        chunk_index, file_index = video_place(episode_index)
        filled = VIDEO_TEMPLATE.format(
            video_key=video_key, chunk_index=chunk_index, file_index=file_index
        )
        return self.path / filled

    # ---------------------------------------------------------------- simulation

    @property
    def simulation_folder(self) -> Path:
        return self.path / "simulation"

    @property
    def settings_file(self) -> Path:
        return self.simulation_folder / "settings.json"

    @property
    def events_file(self) -> Path:
        return self.simulation_folder / "events.csv"

    @property
    def checksums_file(self) -> Path:
        """`sha256sum --check simulation/checksums.txt` in the data set's folder verifies it."""
        return self.simulation_folder / "checksums.txt"

    def trace_file(self, episode_index: int) -> Path:
        return self.simulation_folder / "traces" / f"episode_{episode_index:06d}.npz"

    @property
    def attempts_folder(self) -> Path:
        """Traces of all episodes run so far; there while the data set is being made."""
        return self.simulation_folder / "attempts"

    def attempt_file(self, number: int) -> Path:
        return self.attempts_folder / f"number_{number:06d}.npz"

    @property
    def lock_file(self) -> Path:
        return self.simulation_folder / ".in_use"


def video_place(episode_index: int) -> tuple[int, int]:
    """Chunk and file of an episode's videos, each in a file of its own.

    >>> video_place(1002)
    (1, 2)
    """
    return divmod(episode_index, CHUNK_SIZE)
