"""What kind of video file this is, and whether all of it is there."""

from pathlib import Path

from goalward.errors import RolloutError
from goalward.git_lfs import NOT_FETCHED, is_pointer
from goalward.stores.heads import opened

_MP4_BOXES = (b"ftyp", b"moov", b"mdat", b"free", b"wide", b"skip")
_EBML, _SEGMENT = b"\x1aE\xdf\xa3", b"\x18S\x80g"


def container_of(path: Path) -> str:
    """mp4, avi or matroska, by the first bytes; RolloutError if the file is cut or no video.

    Matroska and AVI files that were cut still play to the cut, and no index tells. A file that
    is none of these is not handed to FFmpeg, which would open a playlist and the files in it.
    """
    try:
        if path.exists() and not path.is_file():  # opening a pipe would wait for ever
            raise RolloutError(f"{path}: is not a file")
        with opened(path) as file:
            start = file.read(4096)
            size = file.seek(0, 2)
    except FileNotFoundError:
        raise RolloutError(f"{path}: the video file is missing") from None
    except OSError as error:
        raise RolloutError(f"{path}: cannot be read ({error})") from error
    if not start:
        raise RolloutError(f"{path}: the file is empty")
    if start[4:8] in _MP4_BOXES:
        return "mp4"
    if start[:4] == b"RIFF" and start[8:12] == b"AVI ":
        name, promised = "avi", 8 + int.from_bytes(start[4:8], "little")
    elif start[:4] == _EBML:
        name, promised = "matroska", _matroska_size(start)
    elif is_pointer(start):
        raise RolloutError(f"{path}: {NOT_FETCHED}")
    else:
        raise RolloutError(f"{path}: does not start like a video")
    if promised > size:
        raise RolloutError(f"{path}: the video is cut off: {size} of {promised} bytes are there")
    return name


def _matroska_size(start: bytes) -> int:
    """Bytes of a Matroska or WebM file by its header (RFC 8794); 0 if the writer left it open."""
    position = start.find(_SEGMENT) + len(_SEGMENT)
    if position < len(_SEGMENT) or position >= len(start) or start[position] == 0:
        return 0
    num_bytes = 9 - start[position].bit_length()
    field = int.from_bytes(start[position : position + num_bytes], "big")
    length = field & ((1 << 7 * num_bytes) - 1)
    is_open = length == (1 << 7 * num_bytes) - 1
    return 0 if is_open else position + num_bytes + length
