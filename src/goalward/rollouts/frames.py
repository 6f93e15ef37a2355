"""Where the pictures of one camera in one episode come from, whatever the file format."""

import hashlib
import io
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image as PillowImage
from PIL import UnidentifiedImageError

from goalward.errors import RolloutError
from goalward.git_lfs import NOT_FETCHED, is_pointer

Image = npt.NDArray[np.uint8]

# A frame of a robot camera is far below this; a header that claims more is damage or an attack.
MAX_PIXELS = 64_000_000

# Bytes of an array digested at a time: an array may be a memory map larger than memory.
_BLOCK_BYTES = 1 << 22


class FrameSource(Protocol):
    """The frames of one camera in one episode, decoded when asked for.

    `height` and `width` are 0 when finding them out would mean decoding a frame.
    """

    @property
    def num_frames(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def codec(self) -> str: ...

    def __iter__(self) -> Iterator[Image]:
        """Every frame in order, one at a time: (height, width, 3) uint8 RGB."""
        ...

    def at(self, frame_indices: Sequence[int]) -> Iterator[Image]:
        """These frames, in this order."""
        ...

    def fingerprint(self) -> str:
        """What the frames are: 32 hexadecimal digits, found without decoding any.

        Equal fingerprints mean equal frames: what was computed from frames can be kept on disk
        under theirs. Frames stored in the same bytes have the same fingerprint, wherever the
        file lies, and in an MP4 file whatever else it holds. The same pictures coded anew or
        stored in another way have another one. RolloutError if the stored bytes are not there.
        """
        ...


def innermost(frames: FrameSource) -> FrameSource:
    """What turned or thinned frames are made of."""
    while (stored := getattr(frames, "stored", None)) is not None:
        frames = stored
    return frames


def new_digest(kind: str) -> hashlib.blake2b:
    """An empty digest of 16 bytes; those of different kinds never agree."""
    return hashlib.blake2b(digest_size=16, person=kind.encode())


def update_with_parts(digest: hashlib.blake2b, *parts: bytes) -> None:
    """Add the parts, each after its length: no two lists of parts look alike."""
    for part in parts:
        digest.update(struct.pack("<Q", len(part)))
        digest.update(part)


def raw_fingerprint(shape: Sequence[int], blocks: Iterable[Image]) -> str:
    """Fingerprint of uncompressed frames of (num_frames, height, width, 3), handed in by blocks.

    >>> frames = np.zeros((2, 4, 4, 3), np.uint8)
    >>> raw_fingerprint(frames.shape, [frames]) == raw_fingerprint(frames.shape, iter(frames))
    True
    """
    digest = new_digest("raw frames")
    digest.update(struct.pack(f"<{len(shape)}Q", *shape))
    for block in blocks:
        digest.update(np.ascontiguousarray(block).data)
    return digest.hexdigest()


def checked_indices(frame_indices: Sequence[int], num_frames: int, where: str) -> list[int]:
    """The indices as a list; an index outside the episode is an error, negative ones too."""
    indices = [int(index) for index in frame_indices]
    for index in indices:
        if not 0 <= index < num_frames:
            raise RolloutError(f"{where}: no frame {index}; frames are 0 to {num_frames - 1}")
    return indices


def matching_name(wanted: str, names: Sequence[str], where: str) -> str:
    """The one camera meant by a full name or by its last part.

    >>> matching_name("front", ["observation.images.front", "observation.images.wrist"], "here")
    'observation.images.front'
    """
    if wanted in names:
        return wanted
    found = [name for name in names if name.replace("/", ".").rsplit(".", 1)[-1] == wanted]
    if len(found) != 1:
        problem = f"camera {wanted} is ambiguous" if found else f"no camera {wanted}"
        raise RolloutError(f"{where}: {problem}; cameras: {', '.join(names) or 'none'}")
    return found[0]


@dataclass(frozen=True)
class ArrayFrames:
    """Frames that lie in an array: (num_frames, height, width, 3) uint8."""

    frames: Image
    where: str = "array"
    codec: str = "raw"

    def __post_init__(self) -> None:
        if self.frames.ndim != 4 or self.frames.shape[3] != 3 or self.frames.dtype != np.uint8:
            raise RolloutError(
                f"{self.where}: images must be (frames, height, width, 3) uint8, "
                f"got {self.frames.shape} {self.frames.dtype}"
            )

    @property
    def num_frames(self) -> int:
        return len(self.frames)

    @property
    def height(self) -> int:
        return self.frames.shape[1]

    @property
    def width(self) -> int:
        return self.frames.shape[2]

    def __iter__(self) -> Iterator[Image]:
        return iter(self.frames)

    def at(self, frame_indices: Sequence[int]) -> Iterator[Image]:
        for index in checked_indices(frame_indices, self.num_frames, self.where):
            yield self.frames[index]

    def fingerprint(self) -> str:
        per_block = max(1, _BLOCK_BYTES // max(1, self.height * self.width * 3))
        starts = range(0, self.num_frames, per_block)
        blocks = (self.frames[start : start + per_block] for start in starts)
        return raw_fingerprint(self.frames.shape, blocks)


@dataclass(frozen=True)
class EncodedFrames:
    """Frames stored one by one as PNG or JPEG bytes, loaded together for one episode."""

    load: Callable[[], Sequence[bytes]]
    num_frames: int
    where: str
    height: int = 0
    width: int = 0
    codec: str = "image"

    def __iter__(self) -> Iterator[Image]:
        return self.at(range(self.num_frames))

    def at(self, frame_indices: Sequence[int]) -> Iterator[Image]:
        indices = checked_indices(frame_indices, self.num_frames, self.where)
        encoded = self._loaded()
        for index in indices:
            yield decode_image(encoded[index], f"{self.where}, frame {index}")

    def fingerprint(self) -> str:
        digest = new_digest("encoded frames")
        update_with_parts(digest, *self._loaded())
        return digest.hexdigest()

    def _loaded(self) -> Sequence[bytes]:
        encoded = self.load()
        if len(encoded) != self.num_frames:
            raise RolloutError(f"{self.where}: {len(encoded)} images for {self.num_frames} frames")
        return encoded


def decode_image(encoded: bytes, where: str) -> Image:
    """One stored picture as (height, width, 3) uint8 RGB."""
    if is_pointer(encoded):
        raise RolloutError(f"{where}: the stored image {NOT_FETCHED}")
    try:
        with PillowImage.open(io.BytesIO(encoded)) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise RolloutError(f"{where}: image of {picture.width} x {picture.height} pixels")
            if picture.mode.startswith(("I", "F")):
                # Converting would clip to white: depth, or an image of 16 bits.
                raise RolloutError(f"{where}: image of mode {picture.mode}, wanted 8 bits")
            return np.asarray(picture.convert("RGB"))
    except (
        UnidentifiedImageError,
        PillowImage.DecompressionBombError,
        PillowImage.DecompressionBombWarning,
        OSError,
        ValueError,
        SyntaxError,  # Pillow's word for a broken PNG
        EOFError,
    ) as error:
        raise RolloutError(f"{where}: the stored image cannot be decoded ({error})") from error


@dataclass(frozen=True)
class FramesOfOthers:
    """Frames made of those of another source, of the same size."""

    stored: FrameSource

    @property
    def height(self) -> int:
        return self.stored.height

    @property
    def width(self) -> int:
        return self.stored.width

    @property
    def codec(self) -> str:
        return self.stored.codec


@dataclass(frozen=True)
class FlippedFrames(FramesOfOthers):
    """The same frames turned upside down: some simulators store the bottom row first."""

    @property
    def num_frames(self) -> int:
        return self.stored.num_frames

    def __iter__(self) -> Iterator[Image]:
        for frame in self.stored:
            yield np.ascontiguousarray(frame[::-1])

    def at(self, frame_indices: Sequence[int]) -> Iterator[Image]:
        for frame in self.stored.at(frame_indices):
            yield np.ascontiguousarray(frame[::-1])

    def fingerprint(self) -> str:
        digest = new_digest("flipped frames")
        digest.update(self.stored.fingerprint().encode())
        return digest.hexdigest()
