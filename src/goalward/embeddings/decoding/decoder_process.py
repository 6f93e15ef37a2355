"""The program that decodes for another process: clip after clip, into memory that both see.

    python -m goalward.embeddings.decoding.decoder_process SOCKET MEMORY

Both are open file descriptors that the other process has left it.
"""

import contextlib
import mmap
import sys
from multiprocessing.connection import Connection

import numpy as np

from goalward.embeddings.decoding.clip import FRAMES_PER_GROUP, Group, groups_of
from goalward.embeddings.decoding.messages import SLOT_BYTES, SLOTS, GroupMessage, Ready, Trouble
from goalward.errors import GoalwardError, RolloutError
from goalward.rollouts.video.reading import VideoFrames


class _Slots:
    """Which parts of the memory are free: those that were filled first come back first."""

    def __init__(self, connection: Connection, memory: mmap.mmap) -> None:
        self._connection = connection
        self._memory = memory
        self._next = 0
        self._num_lent = 0

    def given_back(self) -> None:
        self._num_lent -= 1

    def filled(self, group: Group) -> GroupMessage:
        """The group with its pictures in the next slot, once that is free."""
        if not group.pictures:
            return GroupMessage(group.differs)
        while self._num_lent == SLOTS:
            # While a clip is under way nothing else is said.
            self._connection.recv()
            self.given_back()
        slot, self._next = self._next, (self._next + 1) % SLOTS
        self._num_lent += 1
        shape = (len(group.pictures), *group.pictures[0].shape)
        room = np.frombuffer(
            self._memory, np.uint8, count=int(np.prod(shape)), offset=slot * SLOT_BYTES
        ).reshape(shape)
        np.stack(group.pictures, out=room)
        return GroupMessage(group.differs, slot, shape)


def _decode(connection: Connection, slots: _Slots, frames: VideoFrames) -> None:
    most = min(SLOT_BYTES // (frames.height * frames.width * 3), FRAMES_PER_GROUP)
    try:
        for group in groups_of(frames, most):
            connection.send(slots.filled(group))
    except GoalwardError as error:
        connection.send(Trouble(str(error), isinstance(error, RolloutError)))
        return
    connection.send(None)


def main() -> None:
    socket, memory_file = (int(number) for number in sys.argv[1:])
    connection = Connection(socket)
    memory = mmap.mmap(memory_file, SLOTS * SLOT_BYTES)
    slots = _Slots(connection, memory)
    # When the other process has gone there is nobody to decode for.
    with contextlib.suppress(EOFError, OSError):
        connection.send(Ready())
        while True:
            frames = connection.recv()
            if frames is None:
                slots.given_back()
            else:
                _decode(connection, slots, frames)


if __name__ == "__main__":
    main()
