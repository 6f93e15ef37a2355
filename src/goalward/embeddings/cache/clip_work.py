"""Clips on their way into the cache: known by what their frames are, encoded where missing."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from goalward.embeddings.cache.encoder_cache import DamagedEntry, EncoderCache, Wanted
from goalward.embeddings.cache.fingerprint_notes import FingerprintNotes
from goalward.embeddings.embed_report import EmbedProgress, EmbedReport, OnEmbedProgress
from goalward.errors import RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.findings import LeftOut
from goalward.rollouts.frames import FrameSource
from goalward.rollouts.thinning import camera_looked_at
from goalward.stores.place import told_by_url

if TYPE_CHECKING:
    from goalward.embeddings.cache.filling import LoadedEncoder

_NUM_READERS = 4
# So many clips from all over the data set are looked up before the others.
_NUM_TRIED = 16


@dataclass(frozen=True)
class EpisodeClip:
    """What one camera saw of one episode."""

    episode_id: str
    camera: str
    frames: FrameSource = field(repr=False)

    def __str__(self) -> str:
        return f"episode {self.episode_id}, camera {self.camera}"


def clips_of(rollouts: Rollouts, cameras: Sequence[str]) -> list[EpisodeClip]:
    """Every clip, camera after camera; the same for whoever reads the same data set."""
    return [
        EpisodeClip(episode.id, camera, camera_looked_at(episode, camera))
        for camera in cameras
        for episode in rollouts
    ]


@dataclass
class ClipWork:
    """What became of some clips: found in the cache, encoded, or not to be had."""

    store: EncoderCache
    report: EmbedReport
    on_progress: OnEmbedProgress = lambda _: None
    # Of all clips, where they come in several groups.
    total_frames: int = 0
    # By episode and camera.
    fingerprints: dict[tuple[str, str], str] = field(default_factory=dict)
    intact: set[str] = field(default_factory=set)

    def fingerprinted(self, clips: Sequence[EpisodeClip]) -> list[Wanted]:
        """Every clip by what its frames are; one that cannot be read leaves its episode out."""
        before = self.report.num_frames
        here = sum(clip.frames.num_frames for clip in clips)
        total = max(self.total_frames, before + here)
        wanted: list[Wanted] = []
        frames = before
        notes = FingerprintNotes.beside(self.store)
        notes.take([clip.frames for clip in clips])
        # Reading and hashing wait for the disk and release the interpreter.
        readers = ThreadPoolExecutor(_NUM_READERS)
        try:
            found = readers.map(lambda clip: _fingerprint(clip, notes), clips)
            for clip, fingerprint in zip(clips, found, strict=True):
                if isinstance(fingerprint, RolloutError):
                    self.leave_out(clip.episode_id, str(fingerprint))
                else:
                    wanted.append(Wanted(clip.episode_id, clip.camera, clip.frames, fingerprint))
                    self.fingerprints[clip.episode_id, clip.camera] = fingerprint
                frames += clip.frames.num_frames
                self.on_progress(EmbedProgress("reading", frames, total))
        finally:
            # After an interrupt the rest is not read for nothing.
            readers.shutdown(cancel_futures=True)
        self.report.num_frames = before + here
        return wanted

    def take_cached(self, clips: Sequence[EpisodeClip]) -> list[EpisodeClip]:
        """Take what is in the cache, until a clip is missing; what is left is given back.

        Clips from all over the data set come first: where much is missing it is known at once, and
        little is read here that others would read at the same time. No video of a store is fetched.
        """
        self.total_frames = sum(clip.frames.num_frames for clip in clips)
        taken: set[int] = set()
        for positions in _looks(len(clips)):
            new = [position for position in positions if position not in taken]
            found = self._cached_among([clips[position] for position in new])
            taken.update(position for position, there in zip(new, found, strict=True) if there)
            if not all(found):
                break
        return [clip for position, clip in enumerate(clips) if position not in taken]

    def _cached_among(self, clips: Sequence[EpisodeClip]) -> list[bool]:
        """Which are in the cache, or cannot be read; the others count as not looked at."""
        notes = FingerprintNotes.beside(self.store)
        notes.take([clip.frames for clip in clips])
        is_known = [notes.knows(clip.frames) for clip in clips]
        wanted = self.fingerprinted([c for c, known in zip(clips, is_known, strict=True) if known])
        self._missing(wanted)
        missing: set[tuple[str, str]] = set()
        for clip in wanted:
            if clip.fingerprint in self.intact:
                self.report.num_from_cache += clip.frames.num_frames
            else:
                self.report.num_frames -= clip.frames.num_frames
                missing.add((clip.episode_id, clip.camera))
        return [
            known and (clip.episode_id, clip.camera) not in missing
            for clip, known in zip(clips, is_known, strict=True)
        ]

    def leave_out(self, episode_id: str, reason: str) -> None:
        if all(left.episode_id != episode_id for left in self.report.left_out):
            self.report.left_out.append(LeftOut(episode_id, told_by_url(reason)))

    def encode_missing(self, wanted: Sequence[Wanted], load: "Callable[[], LoadedEncoder]") -> None:
        """Encode the clips that are not in the cache and put them there.

        `load` is called only if there are some.
        """
        missing = self._missing(wanted)
        num_missing = sum(clip.frames.num_frames for clip in missing)
        self.report.num_from_cache += sum(clip.frames.num_frames for clip in wanted) - num_missing
        if not missing:
            return
        # torch takes seconds to import: only when there is something to encode.
        from goalward.embeddings.cache.filling import fill_cache

        before = self.report.num_encoded + self.report.num_unchanged
        # What other groups will find in the cache is not known yet.
        total = max(self.total_frames - self.report.num_from_cache, before + num_missing)

        def on_frames(done: int) -> None:
            self.on_progress(EmbedProgress("embedding", before + done, total))

        filled = fill_cache(self.store, missing, load(), on_frames=on_frames)
        errors = {clip.fingerprint: error for clip, error in filled.failed}
        # Several episodes may show the same frames.
        for clip in wanted:
            if clip.fingerprint in errors:
                self.leave_out(clip.episode_id, str(errors[clip.fingerprint]))
        self.report.num_encoded += filled.num_encoded
        self.report.num_unchanged += filled.num_unchanged
        self.report.num_from_cache += filled.num_by_others

    def _missing(self, wanted: Sequence[Wanted]) -> list[Wanted]:
        """Clips to encode, each once; damaged entries are removed."""
        missing: dict[str, Wanted] = {}
        self.store.bring(clip.fingerprint for clip in wanted)
        for clip in wanted:
            if clip.fingerprint in missing:
                continue
            try:
                there = self.store.read(clip.fingerprint, clip.frames.num_frames)
            except DamagedEntry:
                self.store.remove(clip.fingerprint)
                self.report.num_rebuilt_clips += 1
                there = None
            if there is None:
                missing[clip.fingerprint] = clip
            else:
                self.store.touch(clip.fingerprint)
                self.intact.add(clip.fingerprint)
        return list(missing.values())


def _looks(num_clips: int) -> Iterator[Sequence[int]]:
    """Positions to look at together: some of all, then all in order, twice as many each time."""
    yield np.random.default_rng(0).permutation(num_clips)[:_NUM_TRIED].tolist()
    start, size = 0, _NUM_TRIED
    while start < num_clips:
        yield range(start, min(start + size, num_clips))
        start, size = start + size, 2 * size


def _fingerprint(clip: EpisodeClip, notes: FingerprintNotes) -> str | RolloutError:
    try:
        found = clip.frames.fingerprint()
        notes.leave(clip.frames)
        return found
    except RolloutError as error:
        return error
