"""What a data set holds, as facts a person reads in ten seconds and a machine can check."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from goalward.errors import RolloutError
from goalward.rollouts.clocks import Clocks, clocks_of, mixed_clocks
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import LeftOut


@dataclass(frozen=True)
class CameraFacts:
    """Sizes and codecs are lists: a data set may mix them. (0, 0) is unknown without decoding."""

    name: str
    sizes: tuple[tuple[int, int], ...]
    codecs: tuple[str, ...]


@dataclass(frozen=True)
class TaskFacts:
    task: str
    episodes: int
    successes: int
    time_outs: int
    failures: int


@dataclass(frozen=True)
class LengthFacts:
    """Episode lengths in frames."""

    shortest: int
    lower_quartile: float
    median: float
    upper_quartile: float
    longest: int


@dataclass(frozen=True)
class Inspection:
    """`horizon` is the one given, else the longest episode; `share_at_horizon` counts the
    episodes that end exactly there. `clocks` are those of time-outs; None where there is none."""

    path: str
    format: str
    episodes: int
    successes: int
    time_outs: int
    failures: int
    frames: int
    fps: float | None
    tasks: tuple[TaskFacts, ...]
    lengths: LengthFacts
    horizon: int
    horizon_given: bool
    share_at_horizon: float
    clocks: Clocks | None
    early_goals: int
    cameras: tuple[CameraFacts, ...]
    proprioception: int
    actions: int
    features: int
    feature_layout: str
    label_source: str
    warnings: tuple[str, ...]
    left_out: tuple[LeftOut, ...]

    def as_dict(self) -> dict[str, Any]:
        clocks = None if self.clocks is None else self.clocks._asdict()
        return {**asdict(self), "clocks": clocks}


def inspect(rollouts: Rollouts) -> Inspection:
    """The facts of a data set, without decoding a frame."""
    if not len(rollouts):
        raise RolloutError("there are no episodes to inspect")
    lengths = rollouts.lengths
    given = [source.horizon for source in rollouts.sources if source.horizon is not None]
    horizon = given[0] if given else int(lengths.max())
    lower, median, upper = np.quantile(lengths, [0.25, 0.5, 0.75]).tolist()
    whole = _task_facts("", rollouts)
    fps = {episode.fps for episode in rollouts}
    return Inspection(
        path=", ".join(source.path for source in rollouts.sources),
        format=", ".join(dict.fromkeys(source.format for source in rollouts.sources)),
        episodes=whole.episodes,
        successes=whole.successes,
        time_outs=whole.time_outs,
        failures=whole.failures,
        frames=rollouts.num_frames,
        fps=fps.pop() if len(fps) == 1 else None,
        tasks=tuple(_task_facts(task, rollouts.where(task=task)) for task in rollouts.tasks),
        lengths=LengthFacts(int(lengths.min()), lower, median, upper, int(lengths.max())),
        horizon=horizon,
        horizon_given=bool(given),
        share_at_horizon=float((lengths == horizon).mean()),
        clocks=clocks_of(rollouts),
        early_goals=sum(
            episode.goal_frame is not None and episode.goal_frame < episode.num_frames - 1
            for episode in rollouts
        ),
        cameras=_camera_facts(rollouts),
        proprioception=rollouts.proprioception.shape[1],
        actions=max(episode.action_size for episode in rollouts),
        # Of the first episode: those of all may have to be put together first.
        features=0 if (first := rollouts[:1].features) is None else first.shape[1],
        feature_layout=rollouts.feature_layout,
        label_source=", ".join(dict.fromkeys(s.label_source for s in rollouts.sources)),
        warnings=(*rollouts.warnings, *mixed_clocks(rollouts)),
        left_out=rollouts.left_out,
    )


def _task_facts(task: str, rollouts: Rollouts) -> TaskFacts:
    counts = Counter(episode.outcome for episode in rollouts)
    return TaskFacts(
        task=task,
        episodes=len(rollouts),
        successes=counts[Outcome.SUCCESS],
        time_outs=counts[Outcome.TIME_OUT],
        failures=counts[Outcome.FAILURE],
    )


def _camera_facts(rollouts: Rollouts) -> tuple[CameraFacts, ...]:
    sizes: dict[str, dict[tuple[int, int], None]] = {}
    codecs: dict[str, dict[str, None]] = {}
    for episode in rollouts:
        for name, source in episode.cameras.items():
            sizes.setdefault(name, {})[(source.height, source.width)] = None
            codecs.setdefault(name, {})[source.codec] = None
    return tuple(CameraFacts(name, tuple(sizes[name]), tuple(codecs[name])) for name in sizes)
