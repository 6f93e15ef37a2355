"""Which piece is next and for whom, how often each was tried, and which are given up."""

import logging
import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from goalward.executors.piece import Answer, Failure, PiecesFailed, digest_of
from goalward.progress import OnSetbacks, Setbacks

# A piece that took down three workers would take down the fourth.
MOST_TRIES = 3
# Where so many fail one after another, all will: no use in trying the rest.
_HOPELESS = 20
# A machine in trouble fails pieces faster than others do them: it would take them all.
_RESTS_AFTER = 2
_REST_S = 60.0

AnyPiece = TypeVar("AnyPiece")
OnFailed = Callable[[Any, Failure], None]
_log = logging.getLogger("goalward.executors")


class Worker(Protocol):
    """Who does pieces; each is itself alone, several may be on one machine."""

    @property
    def machine(self) -> str: ...


AnyWorker = TypeVar("AnyWorker", bound=Worker)


@dataclass
class _Past:
    """What became of a piece so far."""

    failure: Failure | None = None
    num_tries: int = 0
    # Those whose machine had trouble with it; who died is not among the living anyway.
    troubled: list[Worker] = field(default_factory=list)

    def is_better_elsewhere(self, worker: Worker, awake: Sequence[Worker]) -> bool:
        """Whether its machine had trouble with the piece, and somebody is on another machine."""
        machines = {other.machine for other in self.troubled}
        return worker.machine in machines and any(one.machine not in machines for one in awake)


class Tries(Generic[AnyPiece]):
    """Pieces in their order; those that were tried in vain come again before any new one.

    A piece is taken from `pieces` only when a worker is free for it, so that what has been found
    so far can decide whether there is another one. One that failed by trouble of a machine (a full
    disk, a lost mount) is for workers that have not failed it, on other machines where there are
    any; it is given up when there is none. A worker with such trouble twice in a row rests for a
    minute, while others work.
    """

    def __init__(
        self,
        pieces: Iterator[AnyPiece],
        on_failed: OnFailed | None = None,
        on_setbacks: OnSetbacks | None = None,
    ) -> None:
        self._pieces = pieces
        self._again: deque[AnyPiece] = deque()
        # Of pieces that failed, until they are done or given up.
        self._past: defaultdict[str, _Past] = defaultdict(_Past)
        self._troubles: defaultdict[Worker, int] = defaultdict(int)
        self._rests_until: dict[Worker, float] = {}
        self._failures: list[Failure] = []
        self._failed_in_a_row = 0
        self._on_failed = on_failed
        self._on_setbacks = on_setbacks
        self.num_done = 0

    @property
    def is_waiting(self) -> bool:
        """Whether there are pieces that nobody here may take, but somebody who is coming."""
        return bool(self._again)

    def handed_out(
        self,
        idle: Sequence[AnyWorker],
        crew: Sequence[AnyWorker],
        *,
        is_anyone_coming: bool = False,
    ) -> Generator[tuple[AnyWorker, AnyPiece]]:
        """Who does what next, of those who are `idle` among the `crew` of all who live."""
        awake = self._awake(crew, is_anyone_coming)
        if awake and not is_anyone_coming:
            self._give_up(awake)
        for worker in list(idle):
            if worker in awake and (piece := self._next_for(worker, awake)) is not None:
                yield worker, piece

    def _awake(self, crew: Sequence[AnyWorker], is_anyone_coming: bool) -> Sequence[AnyWorker]:
        now = time.monotonic()
        awake = [worker for worker in crew if self._rests_until.get(worker, 0.0) <= now]
        # Where all have trouble nobody rests: it is soon known that nothing can be done.
        return awake if awake or is_anyone_coming else crew

    def _give_up(self, awake: Sequence[Worker]) -> None:
        for piece in list(self._again):
            past = self._past_of(piece)
            if all(worker in past.troubled for worker in awake):
                self._again.remove(piece)
                self._fail_after(piece, past)

    def _next_for(self, worker: Worker, awake: Sequence[Worker]) -> AnyPiece | None:
        for piece in self._again:
            past = self._past_of(piece)
            if worker not in past.troubled and not past.is_better_elsewhere(worker, awake):
                self._again.remove(piece)
                _log.warning("%s; it is tried again", past.failure)
                return piece
        return next(self._pieces, None)

    def done(self, piece: AnyPiece, worker: Worker) -> None:
        self.num_done += 1
        self._failed_in_a_row = 0
        self._troubles[worker] = 0
        if self._past.pop(_digest(piece), None) is not None:
            self._tell_setbacks()

    def lost(self, piece: AnyPiece, how: str) -> None:
        """Its worker died: another one tries, so many times."""
        self._try_again(piece, Failure(str(piece), how))

    def not_done(self, piece: AnyPiece, worker: Worker, answer: Answer) -> None:
        """Its worker says why: if that is trouble of the machine, another one tries."""
        problem = answer.problem or ""
        failure = Failure(str(piece), problem, answer.is_passing, answer.machine)
        if not answer.is_passing:
            self._failed(piece, failure)
            return
        self._past_of(piece).troubled.append(worker)
        self._troubles[worker] += 1
        if self._troubles[worker] >= _RESTS_AFTER:
            self._rests_until[worker] = time.monotonic() + _REST_S
        self._try_again(piece, failure)

    def _failed(self, piece: AnyPiece, failure: Failure) -> None:
        """It would fail again; the others go on."""
        self._past.pop(_digest(piece), None)
        self._failures.append(failure)
        self._failed_in_a_row += 1
        is_hopeless = self._failed_in_a_row >= _HOPELESS
        if self._on_failed is not None:
            self._on_failed(piece, failure)
        else:
            rest = f"{_HOPELESS} in a row: the rest is not tried"
            rest = rest if is_hopeless else "the others go on"
            _log.warning("%s (%d failed; %s)", failure, len(self._failures), rest)
        self._tell_setbacks()
        if is_hopeless:
            raise PiecesFailed(self._failures, self.num_done)

    def end(self) -> None:
        """Name what failed, unless somebody heard of it."""
        if self._failures and self._on_failed is None:
            raise PiecesFailed(self._failures, self.num_done)

    def _try_again(self, piece: AnyPiece, failure: Failure) -> None:
        past = self._past_of(piece)
        past.failure = failure
        past.num_tries += 1
        if past.num_tries < MOST_TRIES:
            self._again.append(piece)
            self._tell_setbacks()
        else:
            self._fail_after(piece, past)

    def _fail_after(self, piece: AnyPiece, past: _Past) -> None:
        assert past.failure is not None
        self._failed(piece, replace(past.failure, num_tries=past.num_tries))

    def _tell_setbacks(self) -> None:
        if self._on_setbacks is not None:
            self._on_setbacks(Setbacks(len(self._failures), len(self._past)))

    def _past_of(self, piece: AnyPiece) -> _Past:
        return self._past[_digest(piece)]


def _digest(piece: Any) -> str:
    return digest_of(piece)
