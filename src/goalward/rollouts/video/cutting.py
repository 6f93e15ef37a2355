"""One episode cut out of a video file without coding its frames anew.

About a hundred times as fast as encoding (benchmarks/browser_video.py), and no picture gets worse.
"""

import functools
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.error
import numpy as np
import numpy.typing as npt

from goalward.rollouts.video.container import container_of
from goalward.rollouts.video.mp4_tables import Integers, SampleTables, read_tables
from goalward.rollouts.video.reading import VideoFrames
from goalward.rollouts.video.writer import PIXEL_FORMAT, mp4_in_the_making
from goalward.stores.fetching import fetched

# h264 codes blocks of 16 pixels; some decoders give up below that, and above the other number.
MIN_SIDE, MAX_SIDE = 16, 4096
# A player that seeks decodes as many frames at most before it has its own.
MAX_KEY_FRAME_DISTANCE = 60

# A frame is the one wanted if it is shown within this part of a frame of its time, as in
# `VideoFrames`; a rate is constant if no step is off by more.
_TOLERANCE_FRAMES = 0.25
_UNIT_KEY_PICTURE = 5  # a unit (NAL) of an IDR picture: nothing after it needs what was before


def copy_coded_frames(source: VideoFrames, path: Path, rate: Fraction, *, max_height: int) -> bool:
    """Copy the coded frames of an episode to an MP4 file of its own, frame i at i / rate.

    False, and no file, if a browser could not use them: other codecs than h264 with 4:2:0, frames
    stored in another order than they are shown in, no key frame at the start or too few later,
    frames left out or at uneven times, pictures to be turned or stretched, too small or large, and
    bytes that are missing or are no h264. Whether each frame decodes is not tried.
    """
    try:
        status = fetched(source.path).stat()
        tables = _tables(source.path, status.st_size, status.st_mtime_ns)
        if tables is None or tables.height > max_height:
            return False
        samples = _samples_to_copy(tables, source.timestamps, _TOLERANCE_FRAMES / source.fps)
        if samples is None:
            return False
        coded = _coded_frames(source.path, tables, samples)
        keys = set(tables.sync_samples.tolist())
        is_key = [sample in keys for sample in samples]
        with av.open(str(source.path)) as container:
            stream: Any = container.streams.video[0]
            if not _is_for_browsers(stream, coded, is_key):
                return False
            _mux(path, stream, coded, is_key, rate)
    except (av.error.FFmpegError, OSError):
        return False  # whoever decodes it will say what is wrong
    return True


@functools.lru_cache(maxsize=8)
def _tables(path: Path, _size: int, _mtime_ns: int) -> SampleTables | None:
    return read_tables(path) if container_of(path) == "mp4" else None


def _samples_to_copy(
    tables: SampleTables, timestamps: npt.NDArray[np.float64], tolerance_s: float
) -> range | None:
    """The run of samples that the episode is, if it can stand alone and is easy to seek in."""
    ticks = tables.ticks
    is_plain = (
        tables.description[4:8] == struct.pack(">I", 1)  # one kind of sample
        and tables.description[12:16] == b"avc1"
        and not tables.is_turned
        and min(tables.width, tables.height) >= MIN_SIDE
        and max(tables.width, tables.height) <= MAX_SIDE
        and _is_increasing(ticks)  # else there are B-frames
    )
    if not is_plain or len(timestamps) == 0:
        return None
    wanted = timestamps * tables.ticks_per_s
    tolerance = tolerance_s * tables.ticks_per_s
    earliest = float(wanted[0]) - tolerance
    first = int(np.searchsorted(ticks, earliest))
    samples = range(first, first + len(timestamps))
    if samples.stop > len(ticks):
        return None
    shown = ticks[samples.start : samples.stop]
    inside = (tables.sync_samples >= samples.start) & (tables.sync_samples < samples.stop)
    keys = [*tables.sync_samples[inside].tolist(), samples.stop]
    can_stand_alone = (
        _are_near(shown, wanted, tolerance)
        and _is_even(np.diff(shown))
        and keys[0] == samples.start
        and max(np.diff(keys).tolist()) <= MAX_KEY_FRAME_DISTANCE
    )
    return samples if can_stand_alone else None


def _are_near(ticks: Integers, wanted: npt.NDArray[np.float64], tolerance: float) -> bool:
    return bool((abs(ticks - wanted) <= tolerance).all())


def _is_increasing(ticks: Integers) -> bool:
    return bool((ticks[1:] > ticks[:-1]).all())


def _is_even(steps: Integers) -> bool:
    usual = float(np.median(steps)) if len(steps) else 0.0
    return bool((np.abs(steps - usual) <= _TOLERANCE_FRAMES * usual).all())


def _coded_frames(path: Path, tables: SampleTables, samples: range) -> list[bytes]:
    coded: list[bytes] = []
    with path.open("rb") as file:
        for sample in samples:
            file.seek(int(tables.offsets[sample]))
            coded.append(file.read(int(tables.sizes[sample])))
            if len(coded[-1]) != tables.sizes[sample]:
                raise OSError(f"{path}: cut off")
    return coded


def _is_for_browsers(stream: Any, coded: list[bytes], is_key: list[bool]) -> bool:
    header = stream.codec_context.extradata or b""
    if (
        stream.codec_context.pix_fmt != PIXEL_FORMAT
        or stream.sample_aspect_ratio not in (None, 0, 1)
        or len(header) < 5
        or header[0] != 1
    ):
        return False
    length_bytes = (header[4] & 3) + 1
    for frame, is_key_frame in zip(coded, is_key, strict=True):
        kinds = _unit_kinds(frame, length_bytes)
        if kinds is None or (is_key_frame and _UNIT_KEY_PICTURE not in kinds):
            return False
    return True


def _unit_kinds(coded: bytes, length_bytes: int) -> set[int] | None:
    """The kinds of units (NAL) in a coded frame, each after its length; None if it is not that.

    >>> _unit_kinds(bytes([0, 2, 0x65, 0, 0, 1, 0x41]), length_bytes=2)
    {1, 5}
    >>> _unit_kinds(bytes([0, 9, 0x65, 0]), length_bytes=2) is None
    True
    """
    kinds: set[int] = set()
    position = 0
    while position + length_bytes < len(coded):
        length = int.from_bytes(coded[position : position + length_bytes], "big")
        position += length_bytes
        is_forbidden = length == 0 or coded[position] & 0x80 or coded[position] & 0x1F == 0
        if is_forbidden:
            return None
        kinds.add(coded[position] & 0x1F)
        position += length
    return kinds if kinds and position == len(coded) else None


def _mux(path: Path, stream: Any, coded: list[bytes], is_key: list[bool], rate: Fraction) -> None:
    with mp4_in_the_making(path, faststart=True) as target:
        # Opaque: a decoder without an encoder of the same name will do.
        copy = target.add_stream_from_template(stream, opaque=True)
        copy.time_base = 1 / rate
        for index, (frame, is_key_frame) in enumerate(zip(coded, is_key, strict=True)):
            packet: Any = av.Packet(frame)
            packet.stream, packet.time_base = copy, 1 / rate
            packet.pts = packet.dts = index
            packet.duration = 1
            packet.is_keyframe = is_key_frame
            target.mux(packet)
