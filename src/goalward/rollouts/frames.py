"""Where the pictures of one camera in one episode come from, whatever the file format."""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image as PillowImage
from PIL import UnidentifiedImageError

from goalward.errors import RolloutError

Image = npt.NDArray[np.uint8]

# A frame of a robot camera is far below this; a header that claims more is damage or an attack.
MAX_PIXELS = 64_000_000


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
        encoded = self.load()
        if len(encoded) != self.num_frames:
            raise RolloutError(f"{self.where}: {len(encoded)} images for {self.num_frames} frames")
        for index in indices:
            yield decode_image(encoded[index], f"{self.where}, frame {index}")


def decode_image(encoded: bytes, where: str) -> Image:
    """One stored picture as (height, width, 3) uint8 RGB."""
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
class FlippedFrames:
    """The same frames turned upside down: some simulators store the bottom row first."""

    stored: FrameSource

    @property
    def num_frames(self) -> int:
        return self.stored.num_frames

    @property
    def height(self) -> int:
        return self.stored.height

    @property
    def width(self) -> int:
        return self.stored.width

    @property
    def codec(self) -> str:
        return self.stored.codec

    def __iter__(self) -> Iterator[Image]:
        for frame in self.stored:
            yield np.ascontiguousarray(frame[::-1])

    def at(self, frame_indices: Sequence[int]) -> Iterator[Image]:
        for frame in self.stored.at(frame_indices):
            yield np.ascontiguousarray(frame[::-1])
