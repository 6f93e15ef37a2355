"""A process that decodes videos for this one; pictures come through memory that both see.

Started as a program of its own, so that scripts without `if __name__ == "__main__"` work too. It
ends with the process that started it, however that ends.
"""

import logging
import mmap
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection

import numpy as np

from goalward.embeddings.decoding.clip import Group
from goalward.embeddings.decoding.messages import SLOT_BYTES, SLOTS, GroupMessage, Ready, Trouble
from goalward.errors import GoalwardError, RolloutError
from goalward.executors.local import ONE_THREAD
from goalward.rollouts.frames import FrameSource
from goalward.rollouts.video.reading import VideoFrames

_log = logging.getLogger("goalward.embeddings")
_PROGRAM = "goalward.embeddings.decoding.decoder_process"


def works_here() -> bool:
    """Memory without a name that two processes see is Linux's."""
    return hasattr(os, "memfd_create")


class CannotStart(Exception):
    """The process ended before it was ready."""


class DecoderProcess:
    """Decodes one clip after the other; not more than `SLOTS` groups are lent at a time."""

    def __init__(self) -> None:
        self._is_ready = False
        # Clips are asked for by one thread, groups given back by another.
        self._sending = threading.Lock()
        memory = os.memfd_create("goalward frames")
        ours, theirs = socket.socketpair()
        try:
            os.ftruncate(memory, SLOTS * SLOT_BYTES)
            self._memory = mmap.mmap(memory, SLOTS * SLOT_BYTES)
            search = os.pathsep.join(path for path in sys.path if path)
            self._process = subprocess.Popen(
                # -P: files of the current folder are not taken for modules.
                [sys.executable, "-P", "-m", _PROGRAM, str(theirs.fileno()), str(memory)],
                pass_fds=(theirs.fileno(), memory),
                env={**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": search},
                stdin=subprocess.DEVNULL,
                # Ctrl-C is for this process alone, which then ends the others.
                start_new_session=True,
            )
        finally:
            theirs.close()
            os.close(memory)
        self._connection = Connection(ours.detach())

    def groups(self, frames: FrameSource) -> Iterator[Group]:
        """As `groups_of`; the pictures are there until their group is given back."""
        self._send(frames)
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                code = self._process.wait()
                if not self._is_ready:
                    raise CannotStart(f"exit code {code}") from None
                raise GoalwardError(
                    f"the process that decoded it ended with exit code {code}"
                ) from None
            if message is None:
                return
            if isinstance(message, Trouble):
                raise (RolloutError if message.is_of_rollouts else GoalwardError)(message.text)
            if isinstance(message, Ready):
                self._is_ready = True
                continue
            yield self._group(message)

    def _group(self, message: GroupMessage) -> Group:
        if message.shape is None:
            return Group(message.differs, [])
        pictures = np.frombuffer(
            self._memory,
            np.uint8,
            count=int(np.prod(message.shape)),
            offset=message.slot * SLOT_BYTES,
        ).reshape(message.shape)
        return Group(message.differs, list(pictures))

    def give_back(self) -> None:
        """The pictures of the oldest group have been copied; its place may be filled again."""
        self._send(None)

    def _send(self, message: FrameSource | None) -> None:
        # Who has died is noticed where its answer is read.
        with self._sending:
            try:
                self._connection.send(message)
            except OSError:
                return

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def end(self) -> None:
        """Who waits for pictures hears that there will be none."""
        self._process.kill()
        self._process.wait()


class RemoteDecoder:
    """A decoder process, and another one where a video has ended it."""

    def __init__(self) -> None:
        self.process: DecoderProcess | None = DecoderProcess()
        self._ended = False

    def takes(self, frames: FrameSource) -> bool:
        """Videos in files of this machine, whose pictures fit into what is shared."""
        return (
            self.process is not None
            and isinstance(frames, VideoFrames)
            and frames.state() is None
            and 0 < frames.height * frames.width * 3 <= SLOT_BYTES
        )

    def groups(self, frames: FrameSource) -> Iterator[Group]:
        """As those of the process; CannotStart once, and nothing is taken any more."""
        assert self.process is not None
        if self.process.has_ended() and not self._ended:
            self.process = DecoderProcess()
        try:
            yield from self.process.groups(frames)
        except CannotStart as error:
            if not self._ended:
                _log.warning(
                    "no process can be started to decode videos (%s): threads decode, which is "
                    "slower",
                    error,
                )
            self.process = None
            raise

    def end(self) -> None:
        self._ended = True
        process = self.process
        if process is not None:
            process.end()
