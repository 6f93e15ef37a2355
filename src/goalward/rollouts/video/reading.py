"""Frames of one episode out of a video file, each matched to its time."""

import contextlib
import itertools
import struct
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import av
import av.error
import numpy as np
import numpy.typing as npt
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from av.video.stream import VideoStream

from goalward.errors import RolloutError
from goalward.rollouts.frames import Image, checked_indices, new_digest
from goalward.rollouts.video.fingerprint import video_fingerprint
from goalward.stores.fetching import fetched
from goalward.stores.objects import state_name
from goalward.stores.place import StoredPath

# A frame counts as the one wanted if it is shown within a quarter of a frame of its time.
# Recorders round timestamps to a microsecond or a float32; a wrong frame is a whole frame off.
_TOLERANCE_FRAMES = 0.25

# Jumping ahead costs a seek and the decoding from the key frame before it; for gaps up to about
# this many frames reading on is cheaper (benchmarks/decode.py).
_SEEK_GAP = 32

# Fingerprints by the state of frames in a store.
_noted: dict[str, str] = {}


@dataclass(frozen=True, eq=False)
class VideoFrames:
    """The frames of a video that are shown at given times; the file may hold other episodes.

    `timestamps` are seconds after the first frame of the file, increasing, one per frame of the
    episode. A time at which the file shows no frame is an error, never the nearest frame.
    `file_size` is that of the file they were found in, 0 if it is not known: a file of another size
    is another one.
    """

    path: Path
    timestamps: npt.NDArray[np.float64]
    fps: float
    height: int = 0
    width: int = 0
    codec: str = ""
    file_size: int = 0

    @property
    def num_frames(self) -> int:
        return len(self.timestamps)

    def __iter__(self) -> Iterator[Image]:
        return self.at(range(self.num_frames))

    def at(self, frame_indices: Sequence[int]) -> Iterator[Image]:
        indices = checked_indices(frame_indices, self.num_frames, str(self.path))
        in_order = sorted(set(indices))
        if in_order == indices:
            yield from self._decode(in_order)
        else:
            # Decoding goes forward only: fetch each frame once, then hand out as asked.
            fetched = dict(zip(in_order, self._decode(in_order), strict=True))
            for index in indices:
                yield fetched[index]

    def fingerprint(self) -> str:
        state = self.state()
        if state is not None and state in _noted:
            return _noted[state]
        found = video_fingerprint(self.path, self.timestamps, _TOLERANCE_FRAMES / self.fps)
        # Not before, as a file that was cut is told as such.
        self._check_unchanged()
        if state is not None:
            _noted[state] = found
        return found

    def state(self) -> str | None:
        """What the frames depend on while their file is in a store: which object, in which state.

        None where the bytes themselves are at hand, or the store does not tell its states apart.
        """
        of_file = state_name(self.path)
        if of_file is None:
            return None
        digest = new_digest("state of frames")
        digest.update(of_file.encode())
        digest.update(struct.pack("<d", self.fps))
        digest.update(self.timestamps.astype("<f8").tobytes())
        return digest.hexdigest()

    def note(self, fingerprint: str) -> None:
        """Take somebody's word for what the frames in this state are: nothing need be fetched."""
        state = self.state()
        if state is not None:
            _noted[state] = fingerprint

    def _check_unchanged(self) -> None:
        """Frames of a file that was replaced meanwhile would stand beside the labels of the old.

        Files of stores have states of their own.
        """
        if self.file_size == 0 or isinstance(self.path, StoredPath):
            return
        with contextlib.suppress(OSError):
            if self.path.stat().st_size != self.file_size:
                raise RolloutError(f"{self.path}: has changed since the data set was opened")

    def _decode(self, in_order: Sequence[int]) -> Iterator[Image]:
        """The frames with these increasing indices."""
        # One reformatter for the whole clip: a new one per frame halves the speed.
        reformatter = VideoReformatter()
        self._check_unchanged()
        with _opened(self.path) as (container, stream):
            for run in _runs(in_order):
                yield from self._decode_run(container, stream, reformatter, run)

    def _decode_run(
        self,
        container: InputContainer,
        stream: VideoStream,
        reformatter: VideoReformatter,
        run: Sequence[int],
    ) -> Iterator[Image]:
        if stream.time_base is None:
            raise RolloutError(f"{self.path}: the video has no time base")
        second = float(1 / stream.time_base)
        start = stream.start_time or 0
        tolerance = _TOLERANCE_FRAMES / self.fps * second
        wanted_ticks = [start + float(self.timestamps[i] * second) for i in run]
        position = 0
        for frame in _decoded_from(container, stream, int(wanted_ticks[0] + tolerance)):
            if frame.pts is None or frame.pts < wanted_ticks[position] - tolerance:
                continue
            if frame.pts > wanted_ticks[position] + tolerance or frame.is_corrupt:
                break
            yield _as_image(reformatter.reformat(frame, format="rgb24"))
            position += 1
            if position == len(run):
                return
        raise RolloutError(
            f"{self.path}: frame {run[position]} of the episode, at "
            f"{self.timestamps[run[position]]:.3f} s, is missing or damaged"
        )


def _decoded_from(
    container: InputContainer, stream: VideoStream, tick: int
) -> Iterator[VideoFrame]:
    """Frames from the key frame at or before this time on."""
    container.seek(tick, stream=stream, backward=True)
    frames = container.decode(stream)
    first = next(frames, None)
    if first is None or first.pts is None or first.pts > tick:
        # Some containers (fragmented mp4) jump too far: start over at the beginning.
        container.seek(-(1 << 40), stream=stream, backward=True)
        return container.decode(stream)
    return itertools.chain([first], frames)


def _as_image(frame: VideoFrame) -> Image:
    return np.asarray(frame.to_ndarray(), dtype=np.uint8)


def _runs(in_order: Sequence[int]) -> Iterator[Sequence[int]]:
    """Increasing indices cut where jumping ahead is cheaper than reading on."""
    start = 0
    for position in range(1, len(in_order)):
        if in_order[position] - in_order[position - 1] > _SEEK_GAP:
            yield in_order[start:position]
            start = position
    if in_order:
        yield in_order[start:]


@contextmanager
def _opened(path: Path) -> Generator[tuple[InputContainer, VideoStream]]:
    """An open video; every failure of FFmpeg becomes an error that names the file."""
    try:
        with av.open(str(fetched(path))) as container:
            if not container.streams.video:
                raise RolloutError(f"{path}: holds no video")
            stream = container.streams.video[0]
            # With frame threads FFmpeg hides damage differently on every run: the same file would
            # not always give the same pixels. On 2 cores they are no faster.
            stream.thread_type = "SLICE"
            yield container, stream
    except FileNotFoundError:
        raise RolloutError(f"{path}: the video file is missing") from None
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise RolloutError(f"{path}: the video cannot be decoded ({error})") from error
