"""What the frames of an episode in a video file are, as a digest, without decoding any.

Of an MP4 file the samples are digested that decoding the episode needs, and what the decoder is
told before the first of them. Where in the file they lie does not count, nor do their times, only
which of them are shown as which frames: data sets rewrite their files when episodes are added,
and the frames stay what they are.

Of every other file all bytes are digested, with the times of the frames: a file that holds other
episodes as well gives new digests to all of them when it changes.
"""

import functools
import hashlib
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError
from goalward.rollouts.frames import new_digest, update_with_parts
from goalward.rollouts.video.container import container_of
from goalward.rollouts.video.mp4_tables import (
    CODEC_NAMES,
    Integers,
    SampleTables,
    boxes,
    read_tables,
)
from goalward.stores.fetching import fetched

_BLOCK_BYTES = 1 << 20

# Boxes next to the decoder's configuration that change with what else the file holds (btrt: bits
# per second) or with the program that copied it (pasp: shape of a pixel on screen), and leave the
# decoded pixels as they are.
_IGNORED_BOXES = frozenset({b"btrt", b"pasp"})
_SAMPLE_ENTRY_BYTES = 86

# Digests of whole files are small; tables of a file with 100,000 frames are 5 MB. Episodes come in
# the order of their files, cameras in turn.
_NUM_FILES_DIGESTED = 4096
_NUM_FILES_WITH_TABLES = 8


def video_fingerprint(path: Path, timestamps: npt.NDArray[np.float64], tolerance_s: float) -> str:
    """Digest of the frames that are shown at these times, give or take the tolerance.

    Times are in seconds after the first frame of the file, as everywhere. A time at which the
    file shows no frame is an error.
    """
    state = _state_of(fetched(path))
    tables = _tables(path, *state)
    if tables is not None:
        configuration = _decoder_configuration(tables)
        shown = _shown_samples(path, tables, timestamps, tolerance_s)
        if configuration is not None and shown is not None:
            return _digest_of_samples(path, tables, configuration, shown)
    digest = new_digest("video file")
    digest.update(_digest_of_file(path, *state))
    digest.update(struct.pack("<d", tolerance_s))
    digest.update(timestamps.astype("<f8").tobytes())
    return digest.hexdigest()


# ---- files, each looked at once ------------------------------------------------------------------


def _state_of(path: Path) -> tuple[int, int, int]:
    """What changes when the file does: size, time of the last change, inode."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise RolloutError(f"{path}: the video file is missing") from None
    except OSError as error:
        raise RolloutError(f"{path}: cannot be read ({error})") from error
    return status.st_size, status.st_mtime_ns, status.st_ino


@functools.lru_cache(maxsize=_NUM_FILES_WITH_TABLES)
def _tables(path: Path, _size: int, _mtime_ns: int, _inode: int) -> SampleTables | None:
    return read_tables(path) if container_of(path) == "mp4" else None


@functools.lru_cache(maxsize=_NUM_FILES_DIGESTED)
def _digest_of_file(path: Path, _size: int, _mtime_ns: int, _inode: int) -> bytes:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: new_digest("file")).digest()
    except OSError as error:
        raise RolloutError(f"{path}: cannot be read ({error})") from error


# ---- samples of an MP4 file ----------------------------------------------------------------------


def _shown_samples(
    path: Path, tables: SampleTables, timestamps: npt.NDArray[np.float64], tolerance_s: float
) -> Integers | None:
    """The sample behind each frame of the episode; None where a time could mean two of them."""
    wanted = timestamps * tables.ticks_per_s
    tolerance = tolerance_s * tables.ticks_per_s
    first = np.searchsorted(tables.ticks_in_order, wanted - tolerance, side="left")
    after = np.searchsorted(tables.ticks_in_order, wanted + tolerance, side="right")
    missing = np.flatnonzero(first >= after)
    if len(missing):
        raise RolloutError(
            f"{path}: frame {missing[0]} of the episode, at {timestamps[missing[0]]:.3f} s, "
            "is missing or damaged"
        )
    if len(first) == 0 or (after - first > 1).any() or (np.diff(first) <= 0).any():
        return None
    return tables.display_order[first]


def _first_needed(tables: SampleTables, shown: Integers) -> int:
    """The sync sample at which decoding must start.

    One that is shown after the first frame of the episode does not do, even if it is decoded
    before: that frame may refer to samples before it (open group of pictures).
    """
    first_tick = tables.ticks[shown[0]]
    position = int(np.searchsorted(tables.sync_samples, int(shown.min()), side="right"))
    while position > 0:
        position -= 1
        sample = int(tables.sync_samples[position])
        if tables.ticks[sample] <= first_tick:
            return sample
    return 0


def _digest_of_samples(
    path: Path, tables: SampleTables, configuration: bytes, shown: Integers
) -> str:
    start, stop = _first_needed(tables, shown), int(shown.max()) + 1
    sizes, offsets = tables.sizes[start:stop], tables.offsets[start:stop]
    frame_indices = np.full(stop - start, -1)  # -1: needed for decoding, but not shown
    frame_indices[shown - start] = np.arange(len(shown))
    sync_first, sync_after = np.searchsorted(tables.sync_samples, (start, stop))
    is_sync = np.zeros(stop - start, dtype=np.int64)
    is_sync[tables.sync_samples[sync_first:sync_after] - start] = 1
    digest = new_digest("mp4 samples")
    samples = np.stack([sizes, frame_indices, is_sync]).astype("<i8")
    update_with_parts(digest, configuration, samples.tobytes())
    _update_with_file(digest, path, offsets, sizes, tables.file_size)
    return digest.hexdigest()


def _update_with_file(
    digest: hashlib.blake2b, path: Path, offsets: Integers, sizes: Integers, file_size: int
) -> None:
    """Add the bytes of the samples; those that follow each other in the file are read at once."""
    ends = offsets + sizes
    if (offsets < 0).any() or (ends > file_size).any():
        raise RolloutError(f"{path}: the video is cut off: frames of the episode are not there")
    cuts = np.flatnonzero(offsets[1:] != ends[:-1]) + 1
    starts = offsets[np.concatenate([[0], cuts])].tolist()
    stops = ends[np.concatenate([cuts - 1, [len(ends) - 1]])].tolist()
    try:
        with path.open("rb", buffering=0) as file:
            for start, stop in zip(starts, stops, strict=True):
                file.seek(start)
                while start < stop:
                    block = file.read(min(_BLOCK_BYTES, stop - start))
                    if not block:
                        raise RolloutError(f"{path}: the file changed while it was read")
                    digest.update(block)
                    start += len(block)
    except OSError as error:
        raise RolloutError(f"{path}: cannot be read ({error})") from error


# ---- what the decoder is told --------------------------------------------------------------------


def _decoder_configuration(tables: SampleTables) -> bytes | None:
    """The part of the sample description on which decoded pixels depend; None if not known.

    The rest tells who wrote the file, and how many bits per second all of it has.
    """
    (num_entries,) = struct.unpack_from(">I", tables.description, 4)
    if num_entries != 1 or tables.codec not in CODEC_NAMES.values():
        return None
    digest = new_digest("mp4 codec")
    size = struct.pack("<II", tables.width, tables.height)
    update_with_parts(digest, tables.codec.encode(), size)
    position = 8 + _SAMPLE_ENTRY_BYTES
    for kind, content in boxes(tables.description[position:]):
        position += 8 + len(content)
        if kind in _IGNORED_BOXES:
            continue
        relevant = _without_bit_rates(content) if kind == b"esds" else content
        if relevant is None:
            return None
        update_with_parts(digest, kind, relevant)
    digest.update(tables.description[position:])  # what no box is made of
    return digest.digest()


def _without_bit_rates(stream_description: bytes) -> bytes | None:
    """An esds box (ISO/IEC 14496-1) less its bit rates and stream number; None if it is odd."""
    try:
        stream = _descriptor(stream_description, 4, tag=3)
        has_more_fields = stream_description[stream + 2] & 0xE0
        decoder = _descriptor(stream_description, stream + 3, tag=4)
    except (IndexError, ValueError):
        return None
    # 1 byte says which codec, 1 holds flags; 3 bytes of buffer size and 8 of bit rates are left
    # out; the configuration of the codec follows.
    kept = stream_description[decoder : decoder + 2] + stream_description[decoder + 13 :]
    return None if has_more_fields else kept


def _descriptor(content: bytes, position: int, *, tag: int) -> int:
    """Where the content of the descriptor with this tag starts."""
    if content[position] != tag:
        raise ValueError(f"no descriptor {tag}")
    position += 1
    while content[position] & 0x80:  # the length: 7 bits to a byte, the last one below 128
        position += 1
    return position + 1
