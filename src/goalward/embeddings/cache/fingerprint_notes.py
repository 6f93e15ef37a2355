"""What frames in a store are, noted beside their embeddings: no video is fetched to learn it again.

    <cache>/fingerprints/3f/3f6a...c1.txt

The name is that of the state of the object and of the times of the frames; a video that changes in
its store has another one. Frames of files that are here need no notes: their bytes are read.
"""

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from goalward.embeddings.cache.encoder_cache import EncoderCache
from goalward.files import write_text
from goalward.rollouts.frames import FrameSource, innermost
from goalward.rollouts.video.reading import VideoFrames
from goalward.stores.keeping import bring_all, keep
from goalward.stores.place import StoredPath

_ROOM = "fingerprints"
_FINGERPRINT = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class FingerprintNotes:
    folder: Path

    @classmethod
    def beside(cls, store: EncoderCache) -> "FingerprintNotes":
        return cls(store.folder.parents[1] / _ROOM)

    def take(self, clips: Sequence[FrameSource]) -> None:
        """Tell frames what they are, as far as somebody has noted it."""
        stored = [(frames, self._path(state)) for frames, state in map(_stored, clips) if state]
        if isinstance(self.folder, StoredPath) and stored:
            bring_all(self.folder, [path for _, path in stored])
        for frames, path in stored:
            with contextlib.suppress(OSError, ValueError):
                text = path.read_text()
                if _FINGERPRINT.fullmatch(text):
                    frames.note(text)

    def leave(self, clip: FrameSource) -> None:
        """Note what frames are, for others."""
        frames, state = _stored(clip)
        path = None if state is None else self._path(state)
        if path is None or path.exists():
            return
        write_text(path, frames.fingerprint())
        if isinstance(path, StoredPath):
            keep(path)

    def _path(self, state: str) -> Path:
        return self.folder / state[:2] / f"{state}.txt"


def is_in_store(clip: FrameSource) -> bool:
    return isinstance(getattr(innermost(clip), "path", None), StoredPath)


def _stored(clip: FrameSource) -> tuple[VideoFrames, str | None]:
    """The frames in a store that these are made of, and the name of their state."""
    frames = innermost(clip)
    state = frames.state() if isinstance(frames, VideoFrames) else None
    return frames, state  # pyright: ignore[reportReturnType] (with a state they are a video's)
