"""The frames of a camera in an episode as a video that every browser plays.

Data sets hold many episodes in a file, AV1 with any distance between key frames, MPEG-4 part 2,
HDF5, single pictures. A browser gets an MP4 file of that episode alone: h264, 4:2:0, tables
first, a key frame at least every 60 frames, so that dragging along the curve finds its frame at
once. Frame i is shown at i / fps.
"""

from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path

import av
import numpy as np
from av.video.reformatter import VideoReformatter

from goalward.errors import GoalwardError, RolloutError
from goalward.rollouts.frames import FrameSource, Image, new_digest, update_with_parts
from goalward.rollouts.video.cutting import MAX_SIDE, MIN_SIDE, copy_coded_frames
from goalward.rollouts.video.reading import VideoFrames
from goalward.rollouts.video.writer import BROWSER_OPTIONS, VideoWriter, frame_rate

# Where the recording does not say.
DEFAULT_FPS = 10.0
MAX_HEIGHT = 480

# Copying is worth more than fewer pixels, up to this many times the height asked for.
_COPIED_HEIGHTS = 1.5
# Another number where the same settings give other videos.
_VERSION = 1


class HowMade(StrEnum):
    """Copied: the coded frames as they were. Encoded: decoded and coded anew, which costs time."""

    COPIED = "copied"
    ENCODED = "encoded"


class StoppedError(Exception):
    """Whoever wanted the video is gone."""


def browser_video_name(source: FrameSource, fps: float, max_height: int = MAX_HEIGHT) -> str:
    """A file name that says what is in the file: the same frames and settings have the same.

    32 hexadecimal digits and `.mp4`; nothing of the names that a data set brings is in it.
    """
    digest = new_digest("browser video")
    settings = f"{_VERSION} {frame_rate(fps)} {max_height} {sorted(BROWSER_OPTIONS.items())}"
    update_with_parts(digest, source.fingerprint().encode(), settings.encode())
    return f"{digest.hexdigest()}.mp4"


def write_browser_video(
    source: FrameSource,
    path: Path,
    fps: float,
    *,
    max_height: int = MAX_HEIGHT,
    is_stopped: Callable[[], bool] = lambda: False,
) -> HowMade:
    """Write the frames as a video for browsers, and say how.

    Coded frames are copied where a browser plays them as they are. Whether each of them decodes
    is not tried then. Anything else is coded anew; frames that cannot be read are a RolloutError,
    and no file. Where it runs in a thread nobody can interrupt, `is_stopped` is asked at every
    frame; then it ends with a StoppedError, and no file.
    """
    rate = frame_rate(fps)
    if max_height < MIN_SIDE:
        raise GoalwardError(f"videos must be {MIN_SIDE} pixels high at least, got {max_height}")
    if isinstance(source, VideoFrames):
        copied_height = int(_COPIED_HEIGHTS * max_height)
        if copy_coded_frames(source, path, rate, max_height=copied_height):
            return HowMade.COPIED
    num_frames = 0
    with VideoWriter(path, float(rate), for_browser=True) as video:
        for picture in _resized(source, max_height):
            if is_stopped():
                raise StoppedError
            video.add(picture)
            num_frames += 1
        if num_frames != source.num_frames:
            raise RolloutError(f"{path}: {num_frames} frames came, not {source.num_frames}")
    return HowMade.ENCODED


def _resized(pictures: FrameSource, max_height: int) -> Iterator[Image]:
    # One for the whole clip: a new one per frame halves the speed.
    reformatter = VideoReformatter()
    for picture in pictures:
        height, width = picture.shape[:2]
        scale = min(max_height / height, MAX_SIDE / width)
        if scale < 1:
            smaller_height, smaller_width = (
                max(2, 2 * int(scale * n / 2)) for n in (height, width)
            )
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            smaller = reformatter.reformat(
                frame, smaller_width, smaller_height, "rgb24", interpolation="AREA"
            )
            picture = np.asarray(smaller.to_ndarray(), dtype=np.uint8)
        times = _times_larger(*picture.shape[:2])
        yield picture if times == 1 else picture.repeat(times, axis=0).repeat(times, axis=1)


def _times_larger(height: int, width: int) -> int:
    """How often to repeat each pixel so that the picture is large enough.

    >>> _times_larger(8, 8), _times_larger(16, 64), _times_larger(1, 4096)
    (2, 1, 1)
    """
    return max(1, min(-(-MIN_SIDE // min(height, width)), MAX_SIDE // max(height, width)))
