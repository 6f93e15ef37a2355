"""Decode, prepare, encode: all at the same time, with no more in memory than is under way.

Others decode clips and prepare their frames (`decoding/`); this thread fills batches with frames of
whatever clip is next and hands them to the device, which works on one batch while the next is
filled.
A batch always has the same size, and a row of it does not depend on the other rows: a clip gets
the same bytes whichever clips are encoded with it.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator

import numpy as np

from goalward.embeddings.decoding.clip import Clip, ClipKey
from goalward.embeddings.decoding.decoders import Decoders
from goalward.embeddings.models.image_net import Runner, Vectors
from goalward.errors import GoalwardError
from goalward.rollouts.frames import Image


def encode_clips(
    clips: Iterable[Clip[ClipKey]],
    runner: Runner,
    *,
    num_decoders: int,
    in_processes: bool = False,
    on_frames: Callable[[int], None] = lambda _: None,
) -> Generator[Clip[ClipKey]]:
    """Every clip once all its frames are encoded; one that cannot be decoded with its `error`.

    `clips` is read as decoders become free, in their threads. With `in_processes` each has a
    process that decodes for it. `on_frames` hears how many more frames are finished.
    """
    decoders = Decoders(clips, runner.prepare, num_decoders, in_processes=in_processes)
    try:
        yield from _encoded(decoders, runner, on_frames)
    finally:
        decoders.stop()


def _encoded(
    decoders: Decoders[ClipKey], runner: Runner, on_frames: Callable[[int], None]
) -> Iterator[Clip[ClipKey]]:
    batches = _Batches(runner, on_frames)
    finishing: deque[Clip[ClipKey]] = deque()
    for prepared in decoders:
        for frame in prepared.frames:
            batches.add(prepared.clip, frame)
        if prepared.is_last:
            finishing.append(prepared.clip)
        yield from _finished(finishing, on_frames)
    batches.flush()
    yield from _finished(finishing, on_frames)


def _finished(
    finishing: deque[Clip[ClipKey]], on_frames: Callable[[int], None]
) -> Iterator[Clip[ClipKey]]:
    """Clips whose frames have all been decoded and encoded."""
    for _ in range(len(finishing)):
        clip = finishing.popleft()
        num_distinct = clip.shows[-1] + 1 if clip.shows else 0
        if clip.error is None and clip.num_encoded < num_distinct:
            finishing.append(clip)
            continue
        # Those that were like the one before; the others were counted when they were encoded.
        on_frames(len(clip.shows) - num_distinct)
        yield clip


class _Batches:
    """Frames of clips gathered into batches, at most two of them on the device."""

    def __init__(self, runner: Runner, on_frames: Callable[[int], None]) -> None:
        self._runner = runner
        self._on_frames = on_frames
        self._rooms: deque[Image] = deque()
        self._filling: Image | None = None
        self._owners: list[Clip] = []
        self._running: deque[tuple[list[Clip], Image, Callable[[], Vectors]]] = deque()

    def add(self, clip: Clip, pixels: Image) -> None:
        if self._filling is not None and self._filling.shape[1:] != pixels.shape:
            self.flush()
            self._filling = None
            self._rooms.clear()
        if self._filling is None:
            self._filling = self._new_room(pixels)
        self._filling[len(self._owners)] = pixels
        self._owners.append(clip)
        if len(self._owners) == self._runner.batch_size:
            self._submit()

    def flush(self) -> None:
        """Encode what is there, in a batch that is not full, and wait for all results."""
        if self._owners:
            self._submit()
        while self._running:
            self._collect()

    def _new_room(self, pixels: Image) -> Image:
        if self._rooms:
            return self._rooms.popleft()
        return self._runner.new_batch(*pixels.shape[:2])

    def _submit(self) -> None:
        assert self._filling is not None
        pixels, owners = self._filling, self._owners
        result = self._runner.submit(pixels)
        self._running.append((owners, pixels, result))
        self._owners = []
        if len(self._running) == 2:
            self._collect()
        self._filling = self._new_room(pixels[0])

    def _collect(self) -> None:
        owners, pixels, result = self._running.popleft()
        vectors = result()
        self._rooms.append(pixels)
        self._on_frames(len(owners))
        start = 0
        while start < len(owners):
            clip, end = owners[start], start
            while end < len(owners) and owners[end] is clip:
                end += 1
            with np.errstate(over="ignore"):
                half = vectors[start:end].astype(np.float16)
            if not np.isfinite(half).all():
                clip.error = GoalwardError("the encoder gave NaN, infinity or numbers above 65,504")
            clip.vectors.append(half)
            clip.num_encoded += end - start
            start = end
