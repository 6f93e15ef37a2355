"""Clips embedded by the machines of a cluster: a few of them are a piece, the cache is the result.

Frames never travel: whoever has a piece reads, decodes and encodes its clips, and puts them into
the cache that all machines share. What comes back is which clips they were.
"""

import platform
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from goalward.embeddings.cache.clip_work import ClipWork, EpisodeClip
from goalward.embeddings.cache.encoder_cache import EncoderCache
from goalward.embeddings.embed_report import EmbedProgress, EmbedReport
from goalward.embeddings.encoders import Encoder, find_encoder
from goalward.errors import GoalwardError, argument
from goalward.executors.choice import executor_on
from goalward.executors.piece import Failure, PiecesFailed
from goalward.files import check_folder
from goalward.progress import Setbacks
from goalward.rollouts.frames import ArrayFrames, FrameSource, innermost
from goalward.stores.place import StoredPath

if TYPE_CHECKING:
    import torch

    from goalward.embeddings.cache.filling import LoadedEncoder
    from goalward.executors.local import LocalExecutor
    from goalward.executors.on_ray import RayExecutor

# Enough for all decoders beside a GPU, few enough that a lost worker loses little.
_MOST_CLIPS = 16
# A worker should get at least so many pieces: the slowest is then not waited for for long.
_PIECES_PER_WORKER = 8


@dataclass(frozen=True)
class NamedEncoder:
    """An encoder that every machine finds by its name, and that must be the same there."""

    name: str
    pool: str
    precision: str
    key: str

    def find(self) -> Encoder:
        found = find_encoder(self.name, pool=self.pool, precision=self.precision)
        if found.key != self.key:
            raise GoalwardError(
                f"encoder {self.name}: on {platform.node()} it is another one ({found.label}); "
                "name a revision (org/model@revision), or use the same folder on all machines"
            )
        return found


@dataclass(frozen=True)
class Desk:
    """Makes, in every worker, the place where clips are embedded."""

    encoder: NamedEncoder | Encoder
    folder: Path
    device: str | None
    batch_size: int | None

    def __call__(self) -> "EmbeddingDesk":
        told = self.encoder
        encoder = told.find() if isinstance(told, NamedEncoder) else told
        store = EncoderCache(self.folder, encoder)
        return EmbeddingDesk(store, self.device, self.batch_size)


class EmbeddingDesk:
    """A cache, and an encoder that is loaded when the first frame wants it."""

    def __init__(
        self, store: EncoderCache, device: "torch.device | str | None", batch_size: int | None
    ) -> None:
        self.store = store
        self._device, self._batch_size = device, batch_size
        self._loaded: LoadedEncoder | None = None

    def load(self) -> "LoadedEncoder":
        from goalward.embeddings.cache.filling import LoadedEncoder

        if self._loaded is None:
            self._loaded = LoadedEncoder(self.store, self._device, self._batch_size)
        return self._loaded


@dataclass(frozen=True)
class ClipsDone:
    """What a worker knows of its clips by now."""

    report: EmbedReport
    fingerprints: dict[tuple[str, str], str]
    intact: set[str]


@dataclass(frozen=True)
class EmbedClips:
    """Some clips, each of which is in the cache afterwards, or named with its damage."""

    clips: tuple[EpisodeClip, ...]

    def __str__(self) -> str:
        others = len(self.clips) - 1
        return str(self.clips[0]) + (f" and {others} more" if others else "")

    def do(self, desk: EmbeddingDesk, /) -> ClipsDone:
        work = ClipWork(desk.store, EmbedReport(desk.store.encoder.label, desk.store.folder))
        work.encode_missing(work.fingerprinted(self.clips), desk.load)
        return ClipsDone(work.report, work.fingerprints, work.intact)


@dataclass
class _Pieces(Iterator[EmbedClips]):
    """Clips a few at a time; those of a piece that failed come again, one by one."""

    waiting: deque[EmbedClips]
    failures: list[Failure] = field(default_factory=list)

    def __next__(self) -> EmbedClips:
        if not self.waiting:
            raise StopIteration
        return self.waiting.popleft()

    def failed(self, piece: EmbedClips, failure: Failure) -> None:
        if len(piece.clips) == 1:
            self.failures.append(failure)
        else:
            self.waiting.extend(EmbedClips((clip,)) for clip in piece.clips)


def embed_on(
    on: str,
    work: ClipWork,
    clips: Sequence[EpisodeClip],
    encoder: NamedEncoder | Encoder,
    *,
    num_workers: int | None,
    device: str | None,
    batch_size: int | None,
    read_from: Sequence[Path],
) -> None:
    """Have the clips embedded on a cluster; afterwards `work` knows what became of all of them.

    What the cache has needs no cluster: where it has everything, none is started. A clip that
    cannot be decoded leaves its episode out, as everywhere. One that takes its worker down again
    and again is an error, when all the others are done.
    """
    for clip in clips:
        if _is_in_memory(clip.frames):
            raise GoalwardError(
                f"{clip}: its frames are in the memory of this process, and frames do not travel: "
                f"write them to files first, or leave out {argument('on', on)}"
            )
    folder = work.store.folder.absolute()
    check_folder(folder)
    if left := work.take_cached(clips):
        executor = executor_on(
            on,
            Desk(encoder, folder, device, batch_size),
            num_workers,
            most_workers=len(left),
            # What lies in a store every machine fetches for itself.
            shared=[] if isinstance(folder, StoredPath) else [folder],
            read_from=read_from,
            num_gpus=0.0 if device == "cpu" else None,
        )
        with executor:
            _have_done(executor, left, work, len(clips))
    # In the order of the episodes, not in that of the workers.
    order = {clip.episode_id: position for position, clip in reversed(list(enumerate(clips)))}
    work.report.left_out.sort(key=lambda out: order[out.episode_id])


def _have_done(
    executor: "LocalExecutor[EmbeddingDesk] | RayExecutor[EmbeddingDesk]",
    left: Sequence[EpisodeClip],
    work: ClipWork,
    num_clips: int,
) -> None:
    pieces = _Pieces(deque(_cut(left, executor.num_workers)))
    num_again = 0

    def tell() -> None:
        so_far, total = work.report.num_frames, work.total_frames
        setbacks = Setbacks(len(pieces.failures), num_again)
        work.on_progress(EmbedProgress("embedding", so_far, total, setbacks))

    def on_setbacks(now: Setbacks) -> None:
        nonlocal num_again
        num_again = now.num_again
        tell()

    # The first piece may take minutes.
    tell()
    for _, done in executor.results(pieces, pieces.failed, on_setbacks):
        work.fingerprints |= done.fingerprints
        work.intact |= done.intact
        work.report.add(done.report)
        for out in done.report.left_out:
            work.leave_out(out.episode_id, out.reason)
        tell()
    if pieces.failures:
        raise PiecesFailed(pieces.failures, num_clips - len(pieces.failures))


def _cut(clips: Sequence[EpisodeClip], num_workers: int) -> Iterator[EmbedClips]:
    size = min(_MOST_CLIPS, max(1, len(clips) // (_PIECES_PER_WORKER * num_workers)))
    for start in range(0, len(clips), size):
        yield EmbedClips(tuple(clips[start : start + size]))


def _is_in_memory(frames: FrameSource) -> bool:
    return isinstance(innermost(frames), ArrayFrames)
