"""How many frames a video file holds and when each is shown, without decoding any.

MP4 keeps this in its sample tables (ISO/IEC 14496-12), which are read here directly: opening a
file with FFmpeg decodes its first frames and takes ten times as long, too slow for a data set of
thousands of videos. Other containers are demuxed with PyAV.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import av
import av.error
import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError
from goalward.rollouts.video_container import container_of

# FFmpeg's names, so that they compare with what data sets declare.
_CODEC_NAMES = {
    b"avc1": "h264",
    b"avc3": "h264",
    b"hev1": "hevc",
    b"hvc1": "hevc",
    b"av01": "av1",
    b"vp09": "vp9",
    b"mp4v": "mpeg4",
}
_DECODER_CODECS = {"libdav1d": "av1", "libaom-av1": "av1", "libvpx-vp9": "vp9"}
TURNED = "the video says to turn its pictures when shown; frames are used as they are stored"
_CONTAINERS = frozenset({b"moov", b"trak", b"edts", b"mdia", b"minf", b"stbl"})
_MAX_TABLE_BYTES = 1 << 28
_MAX_FRAMES = 10_000_000


@dataclass(frozen=True)
class VideoIndex:
    """What a video file holds: `timestamps` are seconds after the first frame, in order of
    display, one per frame.

    `num_intact` counts the frames, in order of storage, whose bytes lie inside the file; it is
    less than the number of frames if the file was cut. `is_turned`: a player would turn the
    pictures (known of MP4 only).
    """

    codec: str
    width: int
    height: int
    timestamps: npt.NDArray[np.float64]
    num_intact: int
    is_turned: bool = False

    @property
    def num_frames(self) -> int:
        return len(self.timestamps)


def read_index(path: Path) -> VideoIndex:
    """The index of the first video stream; RolloutError if there is none to be had."""
    try:
        if container_of(path) == "mp4":
            with path.open("rb") as file:
                index = _Mp4(file, path).index()
            if index is not None:
                return index
    except OSError as error:
        raise RolloutError(f"{path}: cannot be read ({error})") from error
    return _demuxed_index(path)


def _demuxed_index(path: Path) -> VideoIndex:
    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise RolloutError(f"{path}: holds no video")
            stream = container.streams.video[0]
            if stream.codec_context is None:  # pyright: ignore[reportUnnecessaryComparison]
                raise RolloutError(f"{path}: the video has an unknown codec")
            ticks = [
                packet.pts
                for packet in container.demux(stream)
                if packet.size and not packet.is_discard
            ]
            shown = [tick for tick in ticks if tick is not None]
            if not shown or len(shown) != len(ticks) or stream.time_base is None:
                raise RolloutError(f"{path}: the video has no usable timestamps")
            in_order = np.sort(np.array(shown, dtype=np.float64))
            name = stream.codec_context.name or "unknown"
            return VideoIndex(
                codec=_DECODER_CODECS.get(name, name),
                width=stream.codec_context.width,
                height=stream.codec_context.height,
                timestamps=(in_order - in_order[0]) * float(stream.time_base),
                num_intact=len(shown),
            )
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise RolloutError(f"{path}: not a readable video ({error})") from error


class _Mp4:
    """The sample tables of an MP4 file."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self._path = path
        self._size = file.seek(0, 2)

    def index(self) -> VideoIndex | None:
        """None for a layout with no sample tables (fragmented), or where they are not all.

        An edit list can leave out frames that the tables have; what is left to see is then
        better told by FFmpeg.
        """
        moov = self._top_level(b"moov")
        if moov is None:
            raise RolloutError(f"{self._path}: the video is cut off (it has no sample tables)")
        try:
            for track in (body for kind, body in _boxes(moov) if kind == b"trak"):
                tables: dict[bytes, bytes] = {}
                for kind, content in _leaves(track):
                    # QuickTime repeats some names further down; the first is the one meant.
                    tables.setdefault(kind, content)
                if tables.get(b"hdlr", b"")[8:12] == b"vide":
                    return self._index_of(tables)
        except (struct.error, IndexError, KeyError, ValueError, OverflowError) as error:
            raise RolloutError(f"{self._path}: the video's sample tables are damaged") from error
        raise RolloutError(f"{self._path}: holds no video")

    def _top_level(self, wanted: bytes) -> bytes | None:
        position = 0
        while position + 8 <= self._size:
            self._file.seek(position)
            header = self._file.read(16)
            size, kind = struct.unpack(">I4s", header[:8])
            header_size = 8
            if size == 1 and len(header) == 16:
                (size,) = struct.unpack(">Q", header[8:])
                header_size = 16
            elif size == 0:
                size = self._size - position
            if size < header_size:
                return None
            if kind == wanted:
                if position + size > self._size or size > _MAX_TABLE_BYTES:
                    return None
                self._file.seek(position + header_size)
                return self._file.read(size - header_size)
            position += size
        return None

    def _index_of(self, tables: dict[bytes, bytes]) -> VideoIndex | None:
        description = tables[b"stsd"]
        fourcc = description[12:16]
        # VisualSampleEntry: 8 bytes entry header, 24 bytes on, then width and height.
        width, height = struct.unpack(">HH", description[40:44])
        version = tables[b"mdhd"][0]
        (timescale,) = struct.unpack_from(">I", tables[b"mdhd"], 20 if version == 1 else 12)
        if timescale == 0:
            raise ValueError("no time scale")
        sizes = _sample_sizes(tables[b"stsz"])
        if len(sizes) == 0:
            return None
        decode_times = _expanded(tables[b"stts"], len(sizes), np.dtype(">u4"))
        ticks = np.concatenate([[0], np.cumsum(decode_times)[:-1]])
        if b"ctts" in tables:
            ticks = ticks + _expanded(tables[b"ctts"], len(sizes), np.dtype(">i4"))
        if _leaves_out_frames(tables.get(b"elst"), int(ticks.min())):
            return None
        ticks = np.sort(ticks) - ticks.min()
        ends = _sample_offsets(tables, sizes) + sizes
        intact = np.flatnonzero(ends > self._size)
        return VideoIndex(
            codec=_CODEC_NAMES.get(fourcc, fourcc.decode("ascii", "replace").strip()),
            width=width,
            height=height,
            timestamps=ticks / timescale,
            num_intact=int(intact[0]) if len(intact) else len(sizes),
            is_turned=_is_turned(tables.get(b"tkhd", b"")),
        )


def _is_turned(track_header: bytes) -> bool:
    """Whether the matrix of the track does anything but scale: phones store a turn there."""
    if not track_header:
        return False
    offset = 52 if track_header[0] == 1 else 40
    a, b, _, c, d = struct.unpack_from(">5i", track_header, offset)
    return b != 0 or c != 0 or a < 0 or d < 0


def _leaves_out_frames(edit_list: bytes | None, first_tick: int) -> bool:
    """Whether an edit list does more than move the first frame to the start.

    That one edit is what encoders write for B-frames. Its duration is not checked: it covers the
    track in every file that was not trimmed by hand, and those start later as well or have
    several edits.
    """
    if edit_list is None:
        return False
    (count,) = struct.unpack_from(">I", edit_list, 4)
    if count != 1:
        return True
    wide = edit_list[0] == 1
    (media_time,) = struct.unpack_from(">q" if wide else ">i", edit_list, 16 if wide else 12)
    return media_time != first_tick


def _boxes(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    position = 0
    while position + 8 <= len(body):
        size, kind = struct.unpack_from(">I4s", body, position)
        if size < 8:
            return
        yield kind, body[position + 8 : position + size]
        position += size


def _leaves(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """All boxes below one, containers opened."""
    for kind, content in _boxes(body):
        if kind in _CONTAINERS:
            yield from _leaves(content)
        else:
            yield kind, content


def _table(box: bytes, offset: int, num_rows: int, row: npt.DTypeLike) -> npt.NDArray[Any]:
    """`num_rows` rows from the box; a box too short for them is damage (ValueError)."""
    return np.frombuffer(box, dtype=row, count=num_rows, offset=offset)


def _sample_sizes(stsz: bytes) -> npt.NDArray[np.int64]:
    uniform, num_samples = struct.unpack_from(">II", stsz, 4)
    if uniform:
        if num_samples > _MAX_FRAMES:
            raise ValueError("too many samples")
        return np.full(num_samples, uniform, dtype=np.int64)
    return _table(stsz, 12, num_samples, ">u4").astype(np.int64)


def _expanded(box: bytes, num_samples: int, value: np.dtype[Any]) -> npt.NDArray[np.int64]:
    """Run-length coded values, one per sample."""
    (num_runs,) = struct.unpack_from(">I", box, 4)
    runs = _table(box, 8, num_runs, np.dtype([("count", ">u4"), ("value", value)]))
    counts = runs["count"].astype(np.int64)
    if counts.sum() != num_samples:
        raise ValueError("sample counts differ between tables")
    return np.repeat(runs["value"].astype(np.int64), counts)


def _sample_offsets(
    tables: dict[bytes, bytes], sizes: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Where each sample starts in the file."""
    wide = b"co64" in tables
    chunk_box = tables[b"co64"] if wide else tables[b"stco"]
    (num_chunks,) = struct.unpack_from(">I", chunk_box, 4)
    chunks = _table(chunk_box, 8, num_chunks, ">u8" if wide else ">u4").astype(np.int64)
    (num_runs,) = struct.unpack_from(">I", tables[b"stsc"], 4)
    row = np.dtype([("first", ">u4"), ("samples", ">u4"), ("description", ">u4")])
    runs = _table(tables[b"stsc"], 8, num_runs, row)
    first = runs["first"].astype(np.int64) - 1
    chunks_per_run = np.diff(np.append(first, num_chunks))
    if len(first) == 0 or first[0] != 0 or (chunks_per_run < 0).any():
        raise ValueError("chunk table is damaged")
    samples_per_chunk = np.repeat(runs["samples"].astype(np.int64), chunks_per_run)
    if samples_per_chunk.sum() != len(sizes):
        raise ValueError("sample counts differ between tables")
    before = np.cumsum(sizes) - sizes
    chunk_starts = np.repeat(np.cumsum(samples_per_chunk) - samples_per_chunk, samples_per_chunk)
    return np.repeat(chunks, samples_per_chunk) + before - before[chunk_starts]
