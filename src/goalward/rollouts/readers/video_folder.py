"""Folders of rollout videos: one episode per video, one camera, nothing but pictures.

Nothing is decoded here: the number of frames and their times come from the container.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError
from goalward.rollouts.findings import Findings, counted, some_of
from goalward.rollouts.readers import lerobot
from goalward.rollouts.readers.assembly import Found, FoundEpisode, ReadOptions, no_proprioception
from goalward.rollouts.readers.video_labels import (
    EVAL_INFO,
    FILE_NAME,
    LabelClaims,
    VideoNames,
    claim_from_name,
    label_files,
    notice_unknown,
    read_csv,
    read_eval_info,
)
from goalward.rollouts.video.index import TURNED, read_index
from goalward.rollouts.video.reading import VideoFrames

CAMERA = "video"

_SUFFIXES = frozenset({".mp4", ".mkv", ".webm", ".avi", ".mov"})
_LOOKED_FOR = (
    "rollout_<task>_success.mp4 and ..--success=True--task=...mp4 in file names, eval_info.json "
    "of lerobot-eval, a csv file with the columns path and success"
)


def recognises(path: Path) -> bool:
    if path.is_file():
        return _is_video_name(path.name)
    if not path.is_dir():
        return False
    return (path / EVAL_INFO).exists() or next(_videos_below(path), None) is not None


def find(path: Path, options: ReadOptions, findings: Findings) -> Found:
    """Every video at or below the path, in natural order of names."""
    if options.proprioception:
        raise RolloutError(f"{path}: videos hold no proprioception")
    folder = path if path.is_dir() else path.parent
    _refuse_parts_of_lerobot(folder)
    relative = sorted(_videos_below(path), key=_natural) if path.is_dir() else [path.name]
    if not relative:
        raise RolloutError(f"{path}: {EVAL_INFO} is there, but no video")
    names = VideoNames(relative)
    sources = _sources(folder, names, findings) if path.is_dir() else []
    not_episodes = {video for source in sources for video in source.not_episodes}
    # One after the other: 0.3 s for 1,000 MP4 files; threads make it slower, not faster.
    episodes: list[FoundEpisode] = []
    for number, video in enumerate(relative):
        options.on_progress(number, len(relative))
        if video not in not_episodes:
            episode = _found_episode(folder, video, names, sources, options, findings)
            episodes += [episode] if episode else []
    return Found(
        format="videos",
        path=path,
        episodes=episodes,
        looked_for=_LOOKED_FOR,
        holds=f"It holds {counted(relative, 'video')}: {some_of(relative)}.",
    )


def _refuse_parts_of_lerobot(folder: Path) -> None:
    """Its videos hold many episodes each: taken one by one they would be read wrongly."""
    below = [path.parent for path in folder.glob("*/meta") if lerobot.recognises(path.parent)]
    above = [path for path in folder.absolute().parents if lerobot.recognises(path)]
    for root in (*below, *above[:1]):
        raise RolloutError(f"{folder}: {root} is a LeRobot data set; point at it")


def _is_video_name(name: str) -> bool:
    # macOS leaves a ._name.mp4 that holds no video next to each name.mp4.
    return Path(name).suffix.lower() in _SUFFIXES and not name.startswith(".")


def _videos_below(folder: Path) -> Iterator[str]:
    """Paths of videos relative to the folder; hidden folders are caches and previews."""
    seen: set[tuple[int, int]] = set()
    for parent, folders, files in os.walk(folder, onerror=_refuse, followlinks=True):
        status = Path(parent).stat()
        if (status.st_dev, status.st_ino) in seen:  # a link back up
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = [name for name in folders if not name.startswith(".")]
        # A pipe or a link to nothing too: an episode that cannot be read is to be named.
        for name in (*files, *(name for name in folders if _is_video_name(name))):
            is_folder = name in folders
            if _is_video_name(name) and not (is_folder and _holds_videos(Path(parent, name))):
                yield Path(parent, name).relative_to(folder).as_posix()


def _holds_videos(folder: Path) -> bool:
    return next(_videos_below(folder), None) is not None


def _refuse(error: OSError) -> None:
    raise RolloutError(f"{error.filename}: the folder cannot be read ({error.strerror})")


def _natural(name: str) -> list[list[str | int]]:
    """episode_2 before episode_10."""
    return [
        [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", word)]
        for word in name.split("/")
    ]


# ---- labels --------------------------------------------------------------------------------------


def _sources(folder: Path, names: VideoNames, findings: Findings) -> list[LabelClaims]:
    """What the files next to the videos say. One that cannot be read is reported, and labels
    come from the others."""
    readers: list[tuple[Path, Callable[[Path, VideoNames, Findings], LabelClaims]]] = []
    if (folder / EVAL_INFO).exists():
        readers.append((folder / EVAL_INFO, read_eval_info))
    readers += [(path, read_csv) for path in label_files(folder)]
    sources: list[LabelClaims] = []
    for path, read in readers:
        try:
            sources.append(read(path, names, findings))
        except RolloutError as error:
            findings.damage(str(error))
    notice_unknown(folder, sources, findings)
    return sources


def _found_episode(
    folder: Path,
    video: str,
    names: VideoNames,
    sources: Sequence[LabelClaims],
    options: ReadOptions,
    findings: Findings,
) -> FoundEpisode | None:
    episode_id = names.ids[video]
    for source in sources:
        if video in source.contested:
            findings.leave_out(
                episode_id,
                f"{folder / source.source}: says different things about {folder / video}",
            )
            return None
    try:
        frames, fps = _frames(folder / video, findings)
    except RolloutError as error:
        findings.leave_out(episode_id, str(error))
        return None
    claims = {FILE_NAME: claim_from_name(Path(video).stem)}
    claims |= {source.source: source.claims[video] for source in sources if video in source.claims}
    tasks = [claim.task for claim in reversed(claims.values()) if claim.task]
    return FoundEpisode(
        episode_id=episode_id,
        num_frames=frames.num_frames,
        proprioception=no_proprioception(frames.num_frames),
        cameras=dict.fromkeys(options.chosen_cameras([CAMERA], str(folder)), frames),
        evidence={name: claim.evidence for name, claim in claims.items() if claim.evidence},
        task=tasks[0] if tasks else "",
        fps=fps,
        other_names=names.other_names[video],
    )


# ---- one video -----------------------------------------------------------------------------------


def _frames(path: Path, findings: Findings) -> tuple[VideoFrames, float | None]:
    """The frames of a whole file and their rate; RolloutError if it is not all there."""
    index = read_index(path)
    times = index.timestamps
    if index.is_turned:
        findings.notice(f"{path}: {TURNED}")
    if index.num_intact < index.num_frames:
        raise RolloutError(
            f"{path}: the video is cut off: {index.num_intact} of {index.num_frames} frames "
            "are there"
        )
    spacing = np.diff(times)
    if (spacing <= 0).any():
        raise RolloutError(f"{path}: the times of the video's frames do not increase")
    # Frames are told apart by their time: what counts there is the smallest spacing.
    closest = 1 / float(spacing.min()) if len(spacing) else 1.0
    frames = VideoFrames(
        path, times, closest, index.height, index.width, index.codec, index.file_size
    )
    return frames, _rate(spacing)


def _rate(spacing: npt.NDArray[np.float64]) -> float | None:
    """Frames per second, from the usual time between frames: pauses do not count.

    Matroska rounds times to a millisecond: if a whole number explains them, it is that.

    >>> _rate(np.array([0.033, 0.034, 0.033, 0.033, 5.0]))
    30.0
    >>> _rate(np.array([0.1, 5.0]))
    10.0
    """
    if len(spacing) == 0:
        return None
    # One of the spacings, not the middle between two that may both be far from it.
    usual = float(np.sort(spacing)[(len(spacing) - 1) // 2])
    near = spacing[np.abs(spacing - usual) < 0.1 * usual]
    rate = float(f"{1 / near.mean():.4g}")
    is_rounded = near.max() - near.min() > 1e-6
    whole = float(max(1, round(rate)))
    return whole if is_rounded and abs(near.sum() - len(near) / whole) < 0.0011 else rate
