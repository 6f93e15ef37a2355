"""What embedding tells: how far it is, and what was done in the end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from goalward.progress import NO_SETBACKS, Setbacks
from goalward.rollouts.findings import LeftOut


@dataclass(frozen=True)
class EmbedProgress:
    """How far embedding is. First the files are read to know the frames ("reading"), then what
    is not in the cache is encoded ("embedding")."""

    stage: str
    frames: int
    total_frames: int
    # Where workers of a cluster embed; what failed is counted clip by clip.
    setbacks: Setbacks = NO_SETBACKS


OnEmbedProgress = Callable[[EmbedProgress], None]


@dataclass
class EmbedReport:
    """What was done: frames are counted per camera."""

    encoder: str
    cache: Path
    num_frames: int = 0
    num_from_cache: int = 0
    num_encoded: int = 0
    num_unchanged: int = 0
    num_rebuilt_clips: int = 0
    seconds: float = 0.0
    left_out: list[LeftOut] = field(default_factory=list)

    def add(self, part: "EmbedReport") -> None:
        """Count what somebody else did of the same work; who is left out is for the whole."""
        self.num_frames += part.num_frames
        self.num_from_cache += part.num_from_cache
        self.num_encoded += part.num_encoded
        self.num_unchanged += part.num_unchanged
        self.num_rebuilt_clips += part.num_rebuilt_clips
