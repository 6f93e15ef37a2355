"""From what a reader found on disk to a data set: damage left out, outcomes decided."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from goalward.errors import RolloutError, argument
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, FloatArray, first_bad_row
from goalward.rollouts.findings import Findings, counted, some_of
from goalward.rollouts.frames import FlippedFrames, FrameSource, matching_name
from goalward.rollouts.labels.evidence import Evidence, Unlabelled
from goalward.rollouts.labels.outcome import LAST_RESORT, LabelOptions, decide
from goalward.rollouts.signals import Signal
from goalward.rollouts.storage import Source
from goalward.stores.place import place_of, told_by_url

# How frames of a table find their pictures in a video.
Match = Literal["time", "index"]


@dataclass(frozen=True)
class ReadOptions:
    """What a user can say when rollouts are read; every reader takes all of it.

    `cameras` and `proprioception` choose by name (None: all cameras, the format's usual
    proprioception; empty: none). `filter_key` names a subset where the format has them. `flip`
    turns images upside down (None: as the file says). `match` pairs the frames of a table with
    those of its video by time or, where the table keeps the times of another clock, in their order
    ("index"). `strict` makes damage an error.
    `on_progress` is called with how much has been read and how much there is.
    """

    label: LabelOptions = field(default_factory=LabelOptions)
    cameras: tuple[str, ...] | None = None
    proprioception: tuple[str, ...] | None = None
    filter_key: str | None = None
    flip: bool | None = None
    match: Match = "time"
    strict: bool = False
    on_progress: Callable[[int, int], None] = lambda done, total: None

    def __post_init__(self) -> None:
        if self.match not in get_args(Match):
            kinds = " or ".join(get_args(Match))
            raise RolloutError(f"{argument('match', self.match)}: must be {kinds}")

    def chosen_cameras(self, names: Sequence[str], where: str) -> list[str]:
        """Those of the recorded cameras that the user wants, in the user's order."""
        if self.cameras is None:
            return list(names)
        return [matching_name(wanted, names, where) for wanted in self.cameras]


@dataclass(frozen=True)
class FoundEpisode:
    """An episode as a reader found it, before its outcome is decided.

    `evidence` says, by name of the source, what the files tell about success; `other_names` are
    the names by which a label file may call the episode besides its id.
    """

    episode_id: str
    num_frames: int
    proprioception: FloatArray
    cameras: Mapping[str, FrameSource]
    evidence: Mapping[str, Evidence]
    task: str = ""
    fps: float | None = None
    action_size: int = 0
    terminated: bool = False
    other_names: tuple[str, ...] = ()
    signals: tuple[Signal, ...] = ()


@dataclass(frozen=True)
class Found:
    """All that a reader found, and the words for the error if no label is among it."""

    format: str
    path: Path
    episodes: Sequence[FoundEpisode]
    looked_for: str
    holds: str


def assemble(found: Found, options: ReadOptions, findings: Findings) -> Rollouts:
    """The data set: damaged episodes left out, outcomes decided, everything checked."""
    episodes = [e for e in found.episodes if _usable(e, found.path, findings)]
    episodes = _of_usual_size(episodes, found.path, findings)
    episodes = _without_dense_rewards(episodes, options.label.success_key, findings)
    _notice_rare_cameras(episodes, findings)
    if not episodes:
        raise RolloutError(f"{found.path}: no usable episode. {_reasons(findings)}")
    labels, label_source = decide(
        [
            Unlabelled(e.episode_id, e.num_frames, e.evidence, e.terminated, e.other_names)
            for e in episodes
        ],
        options.label,
        findings,
        where=str(found.path),
        looked_for=found.looked_for,
        holds=found.holds,
    )
    labelled = [
        Episode(
            id=e.episode_id,
            num_frames=e.num_frames,
            outcome=labels[e.episode_id].outcome,
            goal_frame=labels[e.episode_id].goal_frame,
            task=e.task,
            fps=e.fps,
            cameras=_flipped(e.cameras) if options.flip else e.cameras,
            proprioception=e.proprioception,
            action_size=e.action_size,
            signals=e.signals,
        )
        for e in episodes
        if e.episode_id in labels
    ]
    single = [episode.id for episode in labelled if episode.num_frames == 1]
    if single:
        findings.notice(f"{counted(single)} of a single frame: {some_of(single)}")
    source = Source(
        format=found.format,
        path=place_of(found.path),
        label_source=label_source,
        warnings=tuple(told_by_url(text) for text in findings.warnings),
        left_out=tuple(replace(e, reason=told_by_url(e.reason)) for e in findings.left_out),
        horizon=options.label.horizon,
    )
    return Rollouts(labelled, sources=[source])


def _usable(episode: FoundEpisode, path: Path, findings: Findings) -> bool:
    if episode.num_frames < 1:
        findings.leave_out(episode.episode_id, f"{path}: has no frames")
        return False
    frame = first_bad_row(episode.proprioception)
    if frame is not None:
        findings.leave_out(
            episode.episode_id,
            f"{path}: proprioception holds NaN or infinity at frame {frame}",
        )
        return False
    return True


def _of_usual_size(
    episodes: Sequence[FoundEpisode], path: Path, findings: Findings
) -> list[FoundEpisode]:
    """The episodes with as many proprioceptive numbers per frame as most of them have."""
    sizes = Counter(episode.proprioception.shape[1] for episode in episodes)
    kept: list[FoundEpisode] = []
    for episode in episodes:
        size, usual = episode.proprioception.shape[1], sizes.most_common(1)[0][0]
        if size == usual:
            kept.append(episode)
        else:
            findings.leave_out(
                episode.episode_id,
                f"{path}: {size} proprioceptive numbers per frame where others have {usual}",
            )
    return kept


def _without_dense_rewards(
    episodes: Sequence[FoundEpisode], success_key: str | None, findings: Findings
) -> list[FoundEpisode]:
    """A reward that is more than 0 and 1 in any episode is a label in none."""
    dense: set[str] = set()
    for name in LAST_RESORT:
        labelled = sum(name in episode.evidence for episode in episodes)
        if name != success_key and 0 < labelled < len(episodes):
            dense.add(name)
            findings.notice(f"{name} is not 0 and 1 in every episode, so it is no label")
    return [
        replace(e, evidence={name: e.evidence[name] for name in e.evidence if name not in dense})
        for e in episodes
    ]


def _notice_rare_cameras(episodes: Sequence[FoundEpisode], findings: Findings) -> None:
    counts = Counter(camera for episode in episodes for camera in episode.cameras)
    for camera, count in counts.items():
        if count < len(episodes):
            findings.notice(f"camera {camera} is in {count} of {len(episodes)} episodes only")


def _flipped(cameras: Mapping[str, FrameSource]) -> dict[str, FrameSource]:
    return {name: FlippedFrames(source) for name, source in cameras.items()}


def _reasons(findings: Findings) -> str:
    if not findings.left_out:
        return " ".join(["It holds no episodes.", *findings.warnings])
    first = findings.left_out[0]
    more = len(findings.left_out) - 1
    return f"Episode {first.episode_id}: {first.reason}" + (f" (and {more} more)" if more else "")


def no_proprioception(num_frames: int) -> FloatArray:
    return np.zeros((num_frames, 0), dtype=np.float32)
