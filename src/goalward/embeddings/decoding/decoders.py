"""Threads that decode clips and prepare their frames, with no more in memory than is under way."""

import queue
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic

from goalward.embeddings.decoding.clip import Clip, ClipKey, Group, groups_of
from goalward.embeddings.decoding.remote import (
    CannotStart,
    DecoderProcess,
    RemoteDecoder,
    works_here,
)
from goalward.embeddings.models.preprocessing import Prepare
from goalward.errors import GoalwardError
from goalward.rollouts.frames import Image
from goalward.stores.problems import StoreError

# Prepared frames that may wait for a batch.
_WAITING_BYTES = 256 << 20


@dataclass(frozen=True)
class Prepared(Generic[ClipKey]):
    """Frames of a clip ready to be encoded; `is_last`: no more of this clip follow.

    Those that lie in memory of a `lender` have to be copied before it is given back.
    """

    clip: Clip[ClipKey]
    frames: list[Image]
    is_last: bool = False
    lender: DecoderProcess | None = None


class Decoders(Generic[ClipKey]):
    """Iterating gives prepared frames as they come, which are copied before the next are asked for.

    With `in_processes` each thread has a process that decodes videos for it: threads alone share
    the interpreter's lock, and sixteen of them decode hardly more than one.
    """

    def __init__(
        self,
        clips: Iterable[Clip[ClipKey]],
        prepare: Prepare,
        num_decoders: int,
        *,
        in_processes: bool = False,
    ) -> None:
        self._clips = iter(clips)
        self._prepare = prepare
        self._next_clip = threading.Lock()
        self._stopped = threading.Event()
        self._prepared: queue.SimpleQueue[Prepared[ClipKey] | BaseException | None]
        self._prepared = queue.SimpleQueue()
        self._waiting = _Room(_WAITING_BYTES)
        has_processes = in_processes and works_here()
        self._remote = [RemoteDecoder() for _ in range(num_decoders if has_processes else 0)]
        self._threads = [
            threading.Thread(
                target=self._work,
                args=(self._remote[index] if self._remote else None,),
                name=f"decoder-{index}",
                daemon=True,
            )
            for index in range(num_decoders)
        ]
        for thread in self._threads:
            thread.start()

    def __iter__(self) -> Iterator[Prepared[ClipKey]]:
        num_working = len(self._threads)
        while num_working:
            prepared = self._prepared.get()
            if prepared is None:
                num_working -= 1
            elif isinstance(prepared, BaseException):
                raise prepared
            else:
                yield prepared
                if prepared.lender is not None:
                    prepared.lender.give_back()
                else:
                    self._waiting.give_back(prepared.frames)

    def stop(self) -> None:
        """End all threads and processes; frames on their way are dropped."""
        self._stopped.set()
        self._waiting.open_up()
        for remote in self._remote:
            remote.end()
        for thread in self._threads:
            thread.join()

    def _work(self, remote: RemoteDecoder | None) -> None:
        try:
            while not self._stopped.is_set():
                with self._next_clip:
                    clip = next(self._clips, None)
                if clip is None:
                    break
                self._decode(clip, remote)
        except BaseException as error:  # a bug in a thread must not hang the program
            self._prepared.put(error)
        self._prepared.put(None)

    def _decode(self, clip: Clip[ClipKey], remote: RemoteDecoder | None) -> None:
        try:
            for group, lender in _groups(clip, remote):
                clip.show(group.differs)
                frames = [self._prepare(picture) for picture in group.pictures]
                self._put(Prepared(clip, frames, lender=lender))
                if self._stopped.is_set():
                    return
        except StoreError:
            raise  # the video may be whole: its episode is not left out
        except GoalwardError as error:
            clip.error = error
        self._put(Prepared(clip, [], is_last=True))

    def _put(self, prepared: Prepared[ClipKey]) -> None:
        # What is lent is limited by the lender.
        if prepared.lender is None:
            self._waiting.take(prepared.frames)
        self._prepared.put(prepared)


def _groups(
    clip: Clip[Any], remote: RemoteDecoder | None
) -> Iterator[tuple[Group, DecoderProcess | None]]:
    """The groups of a clip, and who lends their pictures."""
    if remote is not None and remote.takes(clip.frames):
        try:
            for group in remote.groups(clip.frames):
                yield group, remote.process if group.pictures else None
            return
        except CannotStart:
            pass  # before its first group
    for group in groups_of(clip.frames):
        yield group, None


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
