"""Pictures of a report: videos that browsers play, and small ones of frames worth seeing."""

import os
import re
import struct
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image as PillowImage

from goalward.checksums import CHECKSUM_PLACE, written_with_checksum
from goalward.errors import GoalwardError, RolloutError
from goalward.report.pages.scripts import is_whole
from goalward.rollouts.episode import Episode
from goalward.rollouts.frames import Image, new_digest, update_with_parts
from goalward.rollouts.video.browser import (
    DEFAULT_FPS,
    browser_video_name,
    write_browser_video,
)

_THUMB_HEIGHT = 160
_THUMB_QUALITY = 80
# More cameras than this make a strip too wide for a card.
_MOST_IN_THUMB = 3
# Each thread decodes and encodes frames of one video at a time.
_MOST_THREADS = 8
_NAMES = r"([0-9a-f]{32}\.mp4|[0-9a-f]{32}_[0-9]+\.jpg|[0-9]{6,}_[0-9a-f]{8}\.(png|svg|pdf))"
_OURS = re.compile(_NAMES)


@dataclass(frozen=True)
class CameraVideo:
    """What a camera saw: the video's address in the report, or why there is none."""

    name: str
    video: str | None
    problem: str = ""
    # 0 where the recording does not tell: the page then learns it from the video.
    width: int = 0
    height: int = 0


@dataclass(frozen=True)
class EpisodeMedia:
    """All pictures of one episode; `thumbs` are addresses by frame."""

    fps: float = DEFAULT_FPS
    cameras: tuple[CameraVideo, ...] = ()
    thumbs: dict[int, str] = field(default_factory=dict[int, str])

    @property
    def addresses(self) -> list[str]:
        return [*(c.video for c in self.cameras if c.video is not None), *self.thumbs.values()]


@contextmanager
def videos_in_order(
    episodes: Sequence[Episode], folder: Path, max_height: int
) -> Generator[Iterator[tuple[CameraVideo, ...]]]:
    """For each episode, in order, its videos; those that come next are being made meanwhile.

    What is not finished when the block ends is given up: an interrupt must not wait for a video.
    """
    is_over = threading.Event()
    pool = ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_THREADS), "report video")
    try:
        yield pool.map(
            lambda episode: _write_videos(episode, folder, max_height, is_over.is_set), episodes
        )
    finally:
        is_over.set()
        pool.shutdown(cancel_futures=True)


def _write_videos(
    episode: Episode, folder: Path, max_height: int, is_stopped: Callable[[], bool]
) -> tuple[CameraVideo, ...]:
    """Write what is not there yet; names tell the content, so what is there and whole is right.

    A camera that cannot be decoded is told and left out: one damaged file is no reason to show
    nothing of a run.
    """
    fps = episode.fps or DEFAULT_FPS
    videos: list[CameraVideo] = []
    for name, source in episode.cameras.items():
        try:
            file = folder / "videos" / browser_video_name(source, fps, max_height)
            if not is_whole(file):
                with written_with_checksum(file) as temporary:
                    write_browser_video(
                        source, temporary, fps, max_height=max_height, is_stopped=is_stopped
                    )
                    _add_checksum_place(temporary)
            address = f"videos/{file.name}"
            videos.append(CameraVideo(name, address, width=source.width, height=source.height))
        except RolloutError as error:
            videos.append(CameraVideo(name, None, str(error)))
    return tuple(videos)


def _add_checksum_place(video: Path) -> None:
    """A box at the end of an MP4 file that players pass over."""
    text = CHECKSUM_PLACE.encode()
    with video.open("ab") as file:
        file.write(struct.pack(">I4s", 8 + len(text), b"free") + text)


def write_thumbs(episode: Episode, frames: Collection[int], folder: Path) -> dict[int, str]:
    """Frames as small JPEGs, cameras side by side; each camera is gone through once.

    Where a frame cannot be decoded there are none, and the video says why.
    """
    names = list(episode.cameras)[:_MOST_IN_THUMB]
    if not names or not frames:
        return {}
    try:
        prints = [episode.cameras[name].fingerprint().encode() for name in names]
        digest = new_digest("thumbnails")
        update_with_parts(digest, *prints)
        files = {
            frame: folder / "thumbs" / f"{digest.hexdigest()}_{frame}.jpg"
            for frame in sorted(frames)
        }
        missing = [frame for frame, file in files.items() if not is_whole(file)]
        strips = [list(_small_frames(episode, name, missing)) for name in names if missing]
    except RolloutError:
        return {}
    for frame, *pictures in zip(missing, *strips, strict=True):
        with written_with_checksum(files[frame]) as temporary:
            PillowImage.fromarray(np.concatenate(pictures, axis=1)).save(
                temporary, format="JPEG", quality=_THUMB_QUALITY, comment=CHECKSUM_PLACE
            )
    return {frame: f"thumbs/{file.name}" for frame, file in files.items()}


def _small_frames(episode: Episode, camera: str, frames: Sequence[int]) -> Iterator[Image]:
    for picture in episode.frames_at(camera, frames):
        height, width = picture.shape[:2]
        size = (max(round(width * _THUMB_HEIGHT / height), 1), _THUMB_HEIGHT)
        yield np.asarray(PillowImage.fromarray(picture).resize(size))


def remove_unused(folder: Path, used: Collection[str]) -> None:
    """Delete videos and pictures of an earlier report that nothing shows any more."""
    for room in ("videos", "thumbs", "sheets"):
        for file in sorted((folder / room).glob("*")):
            if _OURS.fullmatch(file.name) and f"{room}/{file.name}" not in used:
                try:
                    file.unlink(missing_ok=True)
                except OSError as error:
                    raise GoalwardError(f"{file}: cannot be removed ({error.strerror})") from error
