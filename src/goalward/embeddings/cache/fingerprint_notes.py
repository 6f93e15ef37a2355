"""What frames in a store are, noted beside their embeddings: no video is fetched to learn it again.

    <cache>/fingerprints/3f/3f6a...c1.txt

The name is that of the state of the object and of the times of the frames; a video that changes in
its store has another one. After the fingerprint stands a digest of both: a note that was damaged,
or is that of another video, is none. Frames of files that are here need no notes: their bytes are
read.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from goalward.embeddings.cache.encoder_cache import EncoderCache, cache_folder
from goalward.files import write_text
from goalward.rollouts.frames import FrameSource, innermost
from goalward.rollouts.video.reading import VideoFrames
from goalward.stores.keeping import bring_all, keep
from goalward.stores.place import StoredPath, short_digest

_ROOM = "fingerprints"


@dataclass(frozen=True)
class FingerprintNotes:
    folder: Path

    @classmethod
    def beside(cls, store: EncoderCache) -> "FingerprintNotes":
        return cls(store.folder.parents[1] / _ROOM)

    @classmethod
    def of(cls, cache: str | Path | None = None) -> "FingerprintNotes":
        return cls(cache_folder(cache) / _ROOM)

    def take(self, clips: Sequence[FrameSource]) -> None:
        """Tell frames what they are, as far as somebody has noted it."""
        stored = [(frames, state) for frames, state in map(_stored, clips) if state]
        if isinstance(self.folder, StoredPath) and stored:
            bring_all(self.folder, [self._path(state) for _, state in stored])
        for frames, state in stored:
            noted = self._noted(state)
            if noted is not None:
                frames.note(noted)

    def knows(self, clip: FrameSource) -> bool:
        """Whether it can be told what the frames are, and nothing is fetched for it."""
        _, state = _stored(clip)
        return not is_in_store(clip) or (state is not None and self._noted(state) is not None)

    def leave(self, clip: FrameSource) -> None:
        """Note what frames are, for others."""
        frames, state = _stored(clip)
        if state is None or self._noted(state) is not None:
            return
        path = self._path(state)
        write_text(path, _note(state, frames.fingerprint()))
        if isinstance(path, StoredPath):
            keep(path)

    def _noted(self, state: str) -> str | None:
        """The fingerprint that somebody noted; None where nobody has, or the note is damaged."""
        with contextlib.suppress(OSError, ValueError):
            text = self._path(state).read_text()
            fingerprint = text.partition(" ")[0]
            if text == _note(state, fingerprint):
                return fingerprint
        return None

    def _path(self, state: str) -> Path:
        return self.folder / state[:2] / f"{state}.txt"


def _note(state: str, fingerprint: str) -> str:
    return f"{fingerprint} {short_digest(f'{state} {fingerprint}')}"


def is_in_store(clip: FrameSource) -> bool:
    return isinstance(getattr(innermost(clip), "path", None), StoredPath)


def _stored(clip: FrameSource) -> tuple[VideoFrames, str | None]:
    """The frames in a store that these are made of, and the name of their state."""
    frames = innermost(clip)
    state = frames.state() if isinstance(frames, VideoFrames) else None
    return frames, state  # pyright: ignore[reportReturnType] (with a state they are a video's)
