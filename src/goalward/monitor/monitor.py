"""`goalward.Monitor`: the value of every frame while an episode is under way.

The numbers are those of `goalward predict` on the same frames. Nothing of torch is imported: what
has to run beside a robot is numpy, Pillow and ONNX Runtime.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.embeddings.features import observation
from goalward.errors import GoalwardError, argument
from goalward.monitor.folder import ENCODER, LensArrays, MonitorSettings, read_folder
from goalward.monitor.inputs import checked_features, checked_pictures, checked_state
from goalward.monitor.seen import Seen, camera_means
from goalward.monitor.sessions import Session
from goalward.monitor.watchfulness import Watchfulness
from goalward.rollouts.frames import Image
from goalward.targets.liveness import liveness_value, steps_to_goal
from goalward.targets.log_odds import moved
from goalward.targets.survival import success_probability, survival_value

Pictures = Mapping[str, Image] | Sequence[Image] | Image
FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Reading:
    """What a monitor says of one frame.

    `value` is -1 at the goal and 1 where it is never reached; `steps` to go are those that the
    value stands for (inf: never). `chance` is that of success within `within` steps, `ever` that of
    success at all. `alarm`: the value is worse than in the successes that the band was made of;
    `alarm_frame` is the first frame of the episode where it was. `doubts` are sentences on why not
    to believe this frame.
    """

    frame: int
    value: float
    steps: float
    chance: float
    within: int
    ever: float
    alarm: bool
    alarm_frame: int | None
    doubts: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it: no number of steps (null) stands for never."""
        told = asdict(self)
        told["steps"] = self.steps if np.isfinite(self.steps) else None
        return told | {"doubts": list(self.doubts)}


class Monitor:
    """A learned value beside a robot, as `goalward export RUN --to onnx` wrote it.

        monitor = goalward.Monitor.load("run/exports/onnx")
        for frames, state in robot:
            reading = monitor.step(frames, state)

    `reset` begins an episode; a new monitor has begun one. Not for several threads at once.
    """

    def __init__(
        self,
        settings: MonitorSettings,
        lens: LensArrays,
        heads: Session,
        encoder: Session | None,
        task: str = "",
        within: int | None = None,
    ) -> None:
        self.settings = settings
        self.task = task
        self.within = settings.standard_horizon if within is None else within
        self._heads = heads
        self._encoder = encoder
        self._seen = Seen(lens, settings.n_obs_steps, settings.lags, task)
        self._prepare = settings.prepare if settings.cameras else None
        self._means = camera_means(lens.centre, settings)
        self._edges = np.array(settings.edges, dtype=np.float32)
        self.reset()

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        task: str | None = None,
        within: int | None = None,
        threads: int = 2,
    ) -> "Monitor":
        """A monitor from its folder; a file that is not as it was written is an error.

        `task` is needed where the run has several. Chances are told `within` so many steps, the
        run's standard horizon unless told otherwise.
        """
        folder = Path(folder)
        if within is not None and within < 1:
            raise GoalwardError(f"{argument('within', within)}: must be at least 1 step")
        if threads < 1:
            raise GoalwardError(f"{argument('threads', threads)}: must be at least 1")
        settings, lens = read_folder(folder)
        task = _chosen_task(settings, folder, task)
        head = settings.heads.get(task, settings.heads.get(""))
        assert head is not None
        heads = Session(folder / head, threads)
        encoder = Session(folder / ENCODER, threads) if settings.cameras else None
        return cls(settings, lens, heads, encoder, task, within)

    def reset(self) -> None:
        """Begin an episode: lags, the band and the look for frozen cameras start anew."""
        self.num_frames = 0
        self.alarm_frame: int | None = None
        self._seen.reset()
        self._watchfulness = Watchfulness(self.settings, self._means)

    def step(
        self,
        frames: Pictures | None = None,
        state: npt.ArrayLike | None = None,
        action: npt.ArrayLike | None = None,
        *,
        features: npt.ArrayLike | None = None,
        time: float | None = None,
    ) -> Reading:
        """The next frame of the episode.

        `frames` are (height, width, 3) bytes in RGB by camera, or in the order of
        `settings.cameras`; `state` is proprioception as it was recorded. Values are learned from
        what is seen: an `action` is taken for the robot's loop to hand on what it has, and changes
        nothing. `features` instead of frames where the run was given features, and instead of
        `state` too unless they came with proprioception. `time` in seconds lets a clock that
        jumps be noticed.
        """
        pictures = checked_pictures(self.settings, frames)
        given = checked_features(self.settings, features)
        numbers = checked_state(self.settings, state)
        vectors = self._vectors(pictures)
        doubts = self._watchfulness.doubts(pictures, vectors, time)
        # Features that a run was given hold all that it saw of a frame.
        beside = numbers if given is None else given
        row = observation([vector[None] for vector in vectors], beside[None])
        inputs = self._seen.inputs(row[0], numbers)
        (outputs,) = self._heads.run(inputs[None, None])
        reading = self._reading(outputs[:, 0], doubts)
        self.num_frames += 1
        return reading

    def _vectors(self, pictures: Sequence[Image]) -> list[npt.NDArray[np.float16]]:
        """As the cache holds them, in half precision."""
        if self._encoder is None or self._prepare is None:
            return []
        batch = np.stack([self._prepare(picture) for picture in pictures])
        at_once = self._encoder.num_at_once
        starts = range(0, len(batch), at_once)
        parts = [self._encoder.run(batch[start : start + at_once])[0] for start in starts]
        vectors = np.concatenate(parts)
        with np.errstate(over="ignore"):
            half = vectors.astype(np.float16)
        if not np.isfinite(half).all():
            raise GoalwardError("the encoder gave NaN, infinity or numbers above 65,504")
        return list(half)

    def _reading(self, outputs: FloatArray, doubts: tuple[str, ...]) -> Reading:
        """Hazards (networks, bins), the members of the first seed first, as one answer."""
        told = self.settings
        # A network that says 0 expects one success over all bins (training/methods/outputs.py).
        logits = outputs - np.float32(np.log(outputs.shape[-1]))
        value = np.clip(survival_value(logits, self._edges, told.fit_discount), -1.0, 1.0)
        by_seed = value.reshape(told.num_seeds, -1).mean(axis=1).astype(np.float32)
        steps = steps_to_goal(by_seed, told.fit_discount)
        mean = float(liveness_value(steps.astype(np.float64), told.discount).mean())
        frame = self.num_frames
        alarm = told.band is not None and told.band.is_alarm(frame, mean)
        if alarm and self.alarm_frame is None:
            self.alarm_frame = frame
        return Reading(
            frame=frame,
            value=mean,
            steps=float(steps_to_goal(np.array([mean]), told.discount)[0]),
            chance=self._chance(logits, float(self.within)),
            within=self.within,
            ever=self._chance(logits, np.inf),
            alarm=alarm,
            alarm_frame=self.alarm_frame,
            doubts=doubts,
        )

    def _chance(self, logits: FloatArray, num_steps: float) -> float:
        said = success_probability(logits, self._edges, num_steps)
        mean = np.clip(said.mean(keepdims=True), 0.0, 1.0)
        return float(moved(mean, self.settings.chance_step)[0])


def _chosen_task(settings: MonitorSettings, folder: Path, task: str | None) -> str:
    if task is None and len(settings.tasks) == 1:
        return settings.tasks[0]
    if task is not None and task in settings.tasks:
        return task
    there = ", ".join(repr(name) for name in settings.tasks)
    if task is None:
        raise GoalwardError(f"{folder}: give {argument('task')}, one of {there}")
    raise GoalwardError(f"{folder}: no task {task!r}; there are {there}")
