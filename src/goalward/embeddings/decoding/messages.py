"""What a decoding process says, and how the memory is laid out that it shares."""

from dataclasses import dataclass

# Sixteen pictures of 295 x 295; larger ones come in smaller groups. No picture may be larger.
SLOT_BYTES = 4 << 20
# So many groups may wait to be copied.
SLOTS = 4


@dataclass(frozen=True)
class GroupMessage:
    """A `Group` whose pictures (pictures, height, width, 3) lie in a slot; None: there are none."""

    differs: list[bool]
    slot: int = 0
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Ready:
    """The process has started; what ends it from now on is a video."""


@dataclass(frozen=True)
class Trouble:
    """Why the clip cannot be decoded any further."""

    text: str
    is_of_rollouts: bool
