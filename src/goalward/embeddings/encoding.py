"""Decode, prepare, encode: all at the same time, with no more in memory than is under way.

Threads decode clips and prepare their frames; this thread fills batches with frames of whatever
clip is next and hands them to the device, which works on one batch while the next is filled.
A batch always has the same size, and a row of it does not depend on the other rows: a clip gets
the same bytes whichever clips are encoded with it.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from goalward.embeddings.models.image_net import Runner, Vectors
from goalward.embeddings.models.preprocessing import Prepare
from goalward.errors import GoalwardError
from goalward.rollouts.frames import FrameSource, Image
from goalward.stores.problems import StoreError

HalfVectors = npt.NDArray[np.float16]
ClipKey = TypeVar("ClipKey")

# Frames travel between threads in groups: a queue entry per frame costs more than some encoders.
_FRAMES_PER_GROUP = 16
# Prepared frames that may wait for a batch.
_WAITING_BYTES = 256 << 20


@dataclass
class Clip(Generic[ClipKey]):
    """The frames of one camera in one episode on their way to vectors."""

    key: ClipKey
    frames: FrameSource
    # For each frame, which of the distinct ones it shows: a frame like the one before is not
    # encoded again.
    shows: list[int] = field(default_factory=list)
    vectors: list[HalfVectors] = field(default_factory=list)
    num_encoded: int = 0
    error: GoalwardError | None = None


@dataclass(frozen=True)
class _Prepared(Generic[ClipKey]):
    """Frames of a clip ready to be encoded; `is_last`: no more of this clip follow."""

    clip: Clip[ClipKey]
    frames: list[Image]
    is_last: bool = False


def encode_clips(
    clips: Iterable[Clip[ClipKey]],
    runner: Runner,
    *,
    num_decoders: int,
    on_frames: Callable[[int], None] = lambda _: None,
) -> Generator[Clip[ClipKey]]:
    """Every clip once all its frames are encoded; one that cannot be decoded with its `error`.

    `clips` is read as decoders become free, in their threads. `on_frames` hears how many more
    frames are finished.
    """
    decoders = _Decoders(clips, runner.prepare, num_decoders)
    try:
        yield from _encoded(decoders, runner, on_frames)
    finally:
        decoders.stop()


def _encoded(
    decoders: "_Decoders[ClipKey]", runner: Runner, on_frames: Callable[[int], None]
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


class _Decoders(Generic[ClipKey]):
    """Threads that decode clips; iterating gives prepared frames as they come."""

    def __init__(
        self,
        clips: Iterable[Clip[ClipKey]],
        prepare: Prepare,
        num_decoders: int,
    ) -> None:
        self._clips = iter(clips)
        self._prepare = prepare
        self._next_clip = threading.Lock()
        self._stopped = threading.Event()
        self._prepared: queue.SimpleQueue[_Prepared[ClipKey] | BaseException | None]
        self._prepared = queue.SimpleQueue()
        self._waiting = _Room(_WAITING_BYTES)
        self._threads = [
            threading.Thread(target=self._work, name=f"decoder-{index}", daemon=True)
            for index in range(num_decoders)
        ]
        for thread in self._threads:
            thread.start()

    def __iter__(self) -> Iterator[_Prepared[ClipKey]]:
        num_working = len(self._threads)
        while num_working:
            prepared = self._prepared.get()
            if prepared is None:
                num_working -= 1
            elif isinstance(prepared, BaseException):
                raise prepared
            else:
                yield prepared
                self._waiting.give_back(prepared.frames)

    def stop(self) -> None:
        """End all threads; frames on their way are dropped."""
        self._stopped.set()
        self._waiting.open_up()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        try:
            while not self._stopped.is_set():
                with self._next_clip:
                    clip = next(self._clips, None)
                if clip is None:
                    break
                self._decode(clip)
        except BaseException as error:  # a bug in a thread must not hang the program
            self._prepared.put(error)
        self._prepared.put(None)

    def _decode(self, clip: Clip[ClipKey]) -> None:
        before: Image | None = None
        group: list[Image] = []
        try:
            for frame in clip.frames:
                if before is not None and _are_equal(frame, before):
                    clip.shows.append(clip.shows[-1])
                    continue
                clip.shows.append(clip.shows[-1] + 1 if clip.shows else 0)
                group.append(self._prepare(frame))
                before = frame
                if len(group) == _FRAMES_PER_GROUP:
                    self._put(_Prepared(clip, group))
                    group = []
                if self._stopped.is_set():
                    return
        except StoreError:
            raise  # the video may be whole: its episode is not left out
        except GoalwardError as error:
            clip.error = error
        self._put(_Prepared(clip, group, is_last=True))

    def _put(self, prepared: _Prepared[ClipKey]) -> None:
        self._waiting.take(prepared.frames)
        self._prepared.put(prepared)


def _are_equal(frame: Image, before: Image) -> bool:
    # A glance at every sixteenth pixel tells most frames apart.
    return np.array_equal(frame[::16, ::16], before[::16, ::16]) and np.array_equal(frame, before)


class _Room:
    """How many bytes may wait; whoever brings more waits until others have gone."""

    def __init__(self, num_bytes: int) -> None:
        self._free = num_bytes
        self._changed = threading.Condition()
        self._is_open = False

    def take(self, frames: list[Image]) -> None:
        num_bytes = sum(frame.nbytes for frame in frames)
        with self._changed:
            self._changed.wait_for(lambda: self._free > 0 or self._is_open)
            self._free -= num_bytes
            if self._free > 0:
                self._changed.notify()

    def give_back(self, frames: list[Image]) -> None:
        with self._changed:
            self._free += sum(frame.nbytes for frame in frames)
            # One at a time: sixteen threads that wake up for room for one take turns in vain.
            self._changed.notify()

    def open_up(self) -> None:
        """Nobody waits any more."""
        with self._changed:
            self._is_open = True
            self._changed.notify_all()
