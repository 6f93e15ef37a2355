"""What is to be embedded and by whom: this process, or the workers of a cluster."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goalward.embeddings.cache.clip_work import ClipWork, EpisodeClip, clips_of
from goalward.embeddings.cache.encoder_cache import EncoderCache
from goalward.embeddings.embed_pieces import EmbeddingDesk, NamedEncoder, embed_on
from goalward.embeddings.embed_report import EmbedReport, OnEmbedProgress
from goalward.embeddings.encoders import Encoder, find_encoder
from goalward.errors import GoalwardError, argument
from goalward.executors.choice import Workers
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.frames import innermost, matching_name
from goalward.rollouts.thinning import looked_at_every
from goalward.stores.objects import wanted_state
from goalward.stores.place import StoredPath, limit_bytes, url_of
from goalward.urls import as_url

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class EmbedJob:
    """One call of `embed`: which clips of which cameras, by which encoder."""

    rollouts: Rollouts
    encoder: Encoder
    cameras: tuple[str, ...]
    # What finds the encoder on another machine.
    told: NamedEncoder | Encoder
    device: "torch.device | str | None"
    batch_size: int | None
    workers: Workers

    @classmethod
    def of(
        cls,
        rollouts: Rollouts,
        encoder: str | Encoder,
        cameras: Sequence[str] | None,
        pool: str,
        precision: str,
        every: int,
        batch_size: int | None,
        device: "torch.device | str | None",
        workers: Workers,
    ) -> "EmbedJob":
        if not len(rollouts):
            raise GoalwardError("there are no episodes to embed")
        if batch_size is not None and batch_size < 1:
            raise GoalwardError(f"{argument('batch_size', batch_size)}: must be at least 1")
        chosen: Encoder
        told: NamedEncoder | Encoder
        if isinstance(encoder, str):
            chosen = find_encoder(encoder, pool=pool, precision=precision)
            told = NamedEncoder(encoder, pool, precision, chosen.key)
        else:
            chosen = told = encoder
        names = _camera_names(rollouts, cameras)
        if every != 1 and not names:
            raise GoalwardError(
                f"{argument('every', every)}: there are no cameras to look at less often"
            )
        seen = looked_at_every(rollouts, every)
        return cls(seen, chosen, names, told, device, batch_size, workers)

    @property
    def clips(self) -> list[EpisodeClip]:
        return clips_of(self.rollouts, self.cameras)

    def work(self, cache: str | Path | None, on_progress: OnEmbedProgress | None) -> ClipWork:
        store = EncoderCache.of(self.encoder, cache)
        store.sweep()
        report = EmbedReport(encoder=self.encoder.label, cache=store.folder)
        return ClipWork(store, report, on_progress or (lambda _: None))

    def do(self, work: ClipWork, clips: Sequence[EpisodeClip]) -> None:
        """Find the clips in the cache, or put them there."""
        if self.workers.is_here or not clips:
            desk = EmbeddingDesk(work.store, self.device, self.batch_size)
            work.total_frames = sum(clip.frames.num_frames for clip in clips)
            for group in _groups(clips):
                work.encode_missing(work.fingerprinted(group), desk.load)
            return
        embed_on(
            self.workers.on,
            work,
            clips,
            self.told,
            num_workers=self.workers.num_workers,
            device=None if self.device is None else str(self.device),
            batch_size=self.batch_size,
            read_from=[
                Path(source.path) for source in self.rollouts.sources if as_url(source.path) is None
            ],
        )


def _groups(clips: Sequence[EpisodeClip]) -> Iterator[Sequence[EpisodeClip]]:
    """Clips that are read and encoded before the next ones are looked at.

    All at once, but for those of a store whose files do not fit on the disk together: each is to be
    decoded before it has to go.
    """
    start, files, num_bytes = 0, set[Path](), 0
    for position, clip in enumerate(clips):
        path = getattr(innermost(clip.frames), "path", None)
        if not isinstance(path, StoredPath) or path in files:
            continue
        size = wanted_state(path, url_of(path)).size
        if files and num_bytes + size > limit_bytes() // 4:
            yield clips[start:position]
            start, files, num_bytes = position, set[Path](), 0
        files.add(path)
        num_bytes += size
    yield clips[start:]


def _camera_names(rollouts: Rollouts, cameras: Sequence[str] | None) -> tuple[str, ...]:
    there = rollouts.camera_names
    if cameras is None and not there:
        raise GoalwardError(
            "no camera is in every episode, so there is nothing to embed; `goalward inspect` "
            f"shows the cameras, and {argument('cameras', ())} leaves proprioception alone"
        )
    if cameras is None:
        return there
    where = rollouts.sources[0].path if rollouts.sources else "rollouts"
    return tuple(dict.fromkeys(matching_name(name, there, where) for name in cameras))
