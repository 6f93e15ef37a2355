"""Which piece is next, how often each was tried, and which are given up."""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from goalward.executors.piece import PiecesFailed, digest_of

# A piece that took down three workers would take down the fourth.
MOST_TRIES = 3
# Where so many fail one after another, all will (a full disk): no use in trying the rest.
_HOPELESS = 20

AnyPiece = TypeVar("AnyPiece")
OnFailed = Callable[[Any, str], None]
_log = logging.getLogger("goalward.executors")


class Tries(Generic[AnyPiece]):
    """Pieces in their order; those whose worker was lost come again before any new one.

    A piece is taken from `pieces` only when a worker is free for it, so that what has been found
    so far can decide whether there is another one.
    """

    def __init__(self, pieces: Iterator[AnyPiece], on_failed: OnFailed | None = None) -> None:
        self._pieces = pieces
        self._again: deque[AnyPiece] = deque()
        self._lost: dict[str, int] = {}
        self._problems: list[str] = []
        self._failed_in_a_row = 0
        self._on_failed = on_failed
        self.num_done = 0

    def next(self) -> AnyPiece | None:
        return self._again.popleft() if self._again else next(self._pieces, None)

    def done(self) -> None:
        self.num_done += 1
        self._failed_in_a_row = 0

    def lost(self, piece: AnyPiece, why: str) -> None:
        """Its worker died, or its machine has trouble: another one tries, so many times."""
        digest = digest_of(piece)  # pyright: ignore[reportArgumentType] (any object has a text)
        times = self._lost[digest] = self._lost.get(digest, 0) + 1
        if times < MOST_TRIES:
            _log.warning("%s; it is tried again", why)
            self._again.append(piece)
        else:
            self.failed(piece, f"{why}, {times} times")

    def failed(self, piece: AnyPiece, problem: str) -> None:
        """It would fail again; the others go on."""
        self._problems.append(problem)
        if self._on_failed is not None:
            self._on_failed(piece, problem)
        else:
            _log.warning("%s (%d failed; the others go on)", problem, len(self._problems))
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= _HOPELESS:
            raise PiecesFailed(self._problems, self.num_done)

    def end(self) -> None:
        """Name what failed, unless somebody heard of it."""
        if self._problems and self._on_failed is None:
            raise PiecesFailed(self._problems, self.num_done)
