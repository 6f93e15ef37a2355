"""The sample tables of an MP4 file: where each coded frame lies and when it is shown.

MP4 calls a coded frame a sample (ISO/IEC 14496-12). The tables are read directly: opening a file
with FFmpeg decodes its first frames and takes ten times as long, too slow for a data set of
thousands of videos.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError
from goalward.stores.heads import opened

# FFmpeg's names, so that they compare with what data sets declare.
CODEC_NAMES = {
    b"avc1": "h264",
    b"avc3": "h264",
    b"hev1": "hevc",
    b"hvc1": "hevc",
    b"av01": "av1",
    b"vp09": "vp9",
    b"mp4v": "mpeg4",
}
_CONTAINERS = frozenset({b"moov", b"trak", b"edts", b"mdia", b"minf", b"stbl"})
_MAX_TABLE_BYTES = 1 << 28
_MAX_FRAMES = 10_000_000

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SampleTables:
    """The samples of the first video track, in order of decoding.

    `ticks` are the times at which they are shown; the first is shown at 0. `sync_samples` are
    the positions, increasing, of those that decode without any other. `description` is the stsd
    box: what a decoder must know before the first sample. `is_turned`: a player would turn the
    pictures.
    """

    description: bytes
    width: int
    height: int
    ticks_per_s: int
    ticks: Integers
    offsets: Integers
    sizes: Integers
    sync_samples: Integers
    file_size: int
    is_turned: bool

    @property
    def codec(self) -> str:
        fourcc = self.description[12:16]
        return CODEC_NAMES.get(fourcc, fourcc.decode("ascii", "replace").strip())

    @cached_property
    def display_order(self) -> Integers:
        """Positions of the samples, in the order in which they are shown."""
        return np.argsort(self.ticks, kind="stable")

    @cached_property
    def ticks_in_order(self) -> npt.NDArray[np.float64]:
        """`ticks`, increasing; as floats because looking up times would convert them each time."""
        return self.ticks[self.display_order].astype(np.float64)


def read_tables(path: Path) -> SampleTables | None:
    """The tables of an MP4 file; None where they do not tell everything.

    That is so in a fragmented file, which has tables for its first part at most, and where an
    edit list leaves out frames that the tables have.
    """
    try:
        with opened(path) as file:
            file_size = file.seek(0, 2)
            movie = _top_level(file, file_size, b"moov")
    except OSError as error:
        raise RolloutError(f"{path}: cannot be read ({error})") from error
    if movie is None:
        raise RolloutError(f"{path}: the video is cut off (it has no sample tables)")
    try:
        tables = _video_track(movie)
        if tables is not None:
            return None if _is_fragmented(movie) else _tables_of(tables, file_size)
    except (struct.error, IndexError, KeyError, ValueError, OverflowError) as error:
        raise RolloutError(f"{path}: the video's sample tables are damaged") from error
    raise RolloutError(f"{path}: holds no video")


def boxes(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The boxes that follow each other here, kind and content, up to one that does not fit in."""
    position = 0
    while position + 8 <= len(body):
        size, kind = struct.unpack_from(">I4s", body, position)
        if size < 8 or position + size > len(body):
            return
        yield kind, body[position + 8 : position + size]
        position += size


def _leaves(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """All boxes below one, containers opened."""
    for kind, content in boxes(body):
        if kind in _CONTAINERS:
            yield from _leaves(content)
        else:
            yield kind, content


def _top_level(file: IO[bytes], file_size: int, wanted: bytes) -> bytes | None:
    position = 0
    while position + 8 <= file_size:
        file.seek(position)
        header = file.read(16)
        size, kind = struct.unpack(">I4s", header[:8])
        header_size = 8
        if size == 1 and len(header) == 16:
            (size,) = struct.unpack(">Q", header[8:])
            header_size = 16
        elif size == 0:
            size = file_size - position
        if size < header_size:
            return None
        if kind == wanted:
            if position + size > file_size or size > _MAX_TABLE_BYTES:
                return None
            file.seek(position + header_size)
            return file.read(size - header_size)
        position += size
    return None


def _is_fragmented(movie: bytes) -> bool:
    return any(kind == b"mvex" for kind, _ in boxes(movie))


def _video_track(movie: bytes) -> dict[bytes, bytes] | None:
    """The boxes of the first video track by kind, with the header of the movie."""
    for kind, track in boxes(movie):
        if kind != b"trak":
            continue
        tables: dict[bytes, bytes] = {}
        for leaf, content in _leaves(track):
            # QuickTime repeats some names further down; the first is the one meant.
            tables.setdefault(leaf, content)
        if tables.get(b"hdlr", b"")[8:12] == b"vide":
            return tables | {k: header for k, header in boxes(movie) if k == b"mvhd"}
    return None


def _tables_of(tables: dict[bytes, bytes], file_size: int) -> SampleTables | None:
    # VisualSampleEntry: 8 bytes into the box, 8 bytes of entry header, 24 bytes on.
    width, height = struct.unpack_from(">HH", tables[b"stsd"], 40)
    ticks_per_s = _time_scale(tables[b"mdhd"])
    sizes = _sample_sizes(tables[b"stsz"])
    if len(sizes) == 0:
        return None
    decode_times = _expanded(tables[b"stts"], len(sizes), np.dtype(">u4"))
    ticks = np.concatenate([[0], np.cumsum(decode_times)[:-1]])
    if b"ctts" in tables:
        ticks = ticks + _expanded(tables[b"ctts"], len(sizes), np.dtype(">i4"))
    if b"elst" in tables and _leaves_out_frames(tables, ticks, ticks_per_s):
        return None
    return SampleTables(
        description=tables[b"stsd"],
        width=width,
        height=height,
        ticks_per_s=ticks_per_s,
        ticks=ticks - ticks.min(),
        offsets=_sample_offsets(tables, sizes),
        sizes=sizes,
        sync_samples=_sync_samples(tables.get(b"stss"), len(sizes)),
        file_size=file_size,
        is_turned=_is_turned(tables.get(b"tkhd", b"")),
    )


def _time_scale(header: bytes) -> int:
    """Ticks per second, from the header of a movie or of a track's media."""
    (time_scale,) = struct.unpack_from(">I", header, 20 if header[0] == 1 else 12)
    if time_scale == 0:
        raise ValueError("no time scale")
    return time_scale


def _is_turned(track_header: bytes) -> bool:
    """Whether the matrix of the track does anything but scale: phones store a turn there."""
    if not track_header:
        return False
    offset = 52 if track_header[0] == 1 else 40
    a, b, _, c, d = struct.unpack_from(">5i", track_header, offset)
    return b != 0 or c != 0 or a < 0 or d < 0


def _leaves_out_frames(tables: dict[bytes, bytes], ticks: Integers, ticks_per_s: int) -> bool:
    """Whether an edit list does more than move the first frame to the start.

    That one edit is what encoders write for B-frames. One that ends before the last frame is
    shown was trimmed by hand.
    """
    edit_list = tables[b"elst"]
    (count,) = struct.unpack_from(">I", edit_list, 4)
    if count != 1:
        return True
    wide = edit_list[0] == 1
    duration, media_time = struct.unpack_from(">Qq" if wide else ">Ii", edit_list, 8)
    if media_time != int(ticks.min()):
        return True
    # In ticks of the movie, mostly milliseconds. 0 stands for all that there is.
    shown_ticks = duration * ticks_per_s / _time_scale(tables[b"mvhd"])
    return duration != 0 and media_time + shown_ticks <= int(ticks.max())


def _table(box: bytes, offset: int, num_rows: int, row: npt.DTypeLike) -> npt.NDArray[Any]:
    """`num_rows` rows from the box; a box too short for them is damage (ValueError)."""
    return np.frombuffer(box, dtype=row, count=num_rows, offset=offset)


def _sample_sizes(stsz: bytes) -> Integers:
    uniform, num_samples = struct.unpack_from(">II", stsz, 4)
    if uniform:
        if num_samples > _MAX_FRAMES:
            raise ValueError("too many samples")
        return np.full(num_samples, uniform, dtype=np.int64)
    return _table(stsz, 12, num_samples, ">u4").astype(np.int64)


def _sync_samples(stss: bytes | None, num_samples: int) -> Integers:
    """Without the table every sample is one."""
    if stss is None:
        return np.arange(num_samples)
    (num_sync,) = struct.unpack_from(">I", stss, 4)
    counted_from_one = np.unique(_table(stss, 8, num_sync, ">u4").astype(np.int64))
    return counted_from_one[(counted_from_one > 0) & (counted_from_one <= num_samples)] - 1


def _expanded(box: bytes, num_samples: int, value: np.dtype[Any]) -> Integers:
    """Run-length coded values, one per sample."""
    (num_runs,) = struct.unpack_from(">I", box, 4)
    runs = _table(box, 8, num_runs, np.dtype([("count", ">u4"), ("value", value)]))
    counts = runs["count"].astype(np.int64)
    if counts.sum() != num_samples:
        raise ValueError("sample counts differ between tables")
    return np.repeat(runs["value"].astype(np.int64), counts)


def _sample_offsets(tables: dict[bytes, bytes], sizes: Integers) -> Integers:
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
