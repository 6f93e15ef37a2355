"""Processes of this machine that build something heavy once each, then do piece after piece."""

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

from goalward.errors import GoalwardError, argument, speaking_of_flags, speaks_of_flags
from goalward.executors.piece import Answer, Piece, answer_to, in_words
from goalward.executors.tries import OnFailed, Tries
from goalward.progress import OnSetbacks

# Sums over several threads are rounded as many ways: results must not depend on the machine.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Station = TypeVar("Station")
Result = TypeVar("Result")


def num_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_num_workers(num_workers: int) -> int:
    if num_workers < 1:
        given = argument("num_workers", num_workers, flag="workers")
        raise GoalwardError(f"{given}: must be at least 1")
    return num_workers


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    connection: Connection
    # Its first answer says that it has built what it needs.
    is_ready: bool = False
    machine: str = "this one"


class LocalExecutor(Generic[Station]):
    """Starts as many processes; each calls `build` first, and keeps what it gives.

    `build` and pieces travel to the processes, so they are functions and classes that a module
    has, and plain data. Workers end with the process that started them, however it ends.
    """

    def __init__(self, build: Callable[[], Station], num_workers: int) -> None:
        self._build = build
        self._num_workers = checked_num_workers(num_workers)
        self._workers: list[_Worker] = []

    @property
    def num_workers(self) -> int:
        return self._num_workers

    def __enter__(self) -> "LocalExecutor[Station]":
        try:
            self._fill_up()
        except BaseException:
            self._end(self._workers)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end(self._workers)

    def _fill_up(self) -> None:
        while len(self._workers) < self._num_workers:
            self._workers.append(self._started())

    def _end(self, workers: Sequence[_Worker]) -> None:
        for worker in workers:
            worker.process.terminate()
        for worker in list(workers):
            worker.process.join()
            worker.connection.close()
            self._workers.remove(worker)

    def results(
        self,
        pieces: Iterator[Piece[Station, Result]],
        on_failed: OnFailed | None = None,
        on_setbacks: OnSetbacks | None = None,
    ) -> Generator[tuple[Piece[Station, Result], Result]]:
        """Pieces and what became of them, as they finish.

        A piece whose worker dies is tried again; one that failed by trouble of the machine is tried
        by another worker. What fails is told to `on_failed`, or named in an error when all others
        are done. `on_setbacks` hears how many there are of both.
        """
        self._fill_up()
        busy: dict[Connection, tuple[_Worker, Piece[Station, Result]]] = {}
        try:
            yield from self._results(Tries(pieces, on_failed, on_setbacks), busy)
        finally:
            # Those still at work when nobody wants the rest: the next pieces are not theirs.
            self._end([worker for worker, _ in busy.values()])

    def _results(
        self,
        tries: Tries[Piece[Station, Result]],
        busy: dict[Connection, tuple[_Worker, Piece[Station, Result]]],
    ) -> Generator[tuple[Piece[Station, Result], Result]]:
        idle = list(self._workers)
        while True:
            for worker, piece in tries.handed_out(idle, self._workers):
                idle.remove(worker)
                # A worker that could not start has said why and gone; that is read below.
                with contextlib.suppress(OSError):
                    worker.connection.send_bytes(pickle.dumps(piece))
                busy[worker.connection] = (worker, piece)
            if not busy:
                break
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection)
                worker, piece = busy[connection]
                answer = _received(worker)
                if answer is not None and not worker.is_ready:
                    if answer.problem is not None:
                        raise GoalwardError(answer.problem)
                    worker.is_ready = True
                    continue
                del busy[connection]
                if answer is None:
                    how = f"its worker process ended with exit code {worker.process.exitcode}"
                    idle.append(self._replaced(worker, f"{piece}: {how}"))
                    tries.lost(piece, how)
                    continue
                idle.append(worker)
                if answer.problem is not None:
                    tries.not_done(piece, worker, answer)
                    continue
                tries.done(piece, worker)
                yield piece, answer.result
        tries.end()

    def _started(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        with _one_thread_each(), _deaf_to_interrupts():
            ours, theirs = context.Pipe()
            told = (theirs, self._build, speaks_of_flags())
            process = context.Process(target=_serve, args=told, daemon=True)
            process.start()
            # With our copy closed, the end of the process is the end of the connection.
            theirs.close()
        return _Worker(process, ours)

    def _replaced(self, worker: _Worker, why: str) -> _Worker:
        """A worker in place of one that died; where one dies before it is ready, all will."""
        if not worker.is_ready:
            raise GoalwardError(why)
        self._workers.remove(worker)
        worker.connection.close()
        self._workers.append(self._started())
        return self._workers[-1]


def _received(worker: _Worker) -> Answer | None:
    """What a worker says; None: it died."""
    try:
        return worker.connection.recv()
    except (EOFError, OSError):
        worker.process.join()
        return None


@contextlib.contextmanager
def _one_thread_each() -> Generator[None]:
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _deaf_to_interrupts() -> Generator[None]:
    """Ctrl-C goes to every process of a terminal; those started in here never hear it.

    Nor does this one meanwhile, which is a few milliseconds.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# ---------------------------------------------------------------- in the worker process


def _serve(connection: Connection, build: Callable[[], Any], flags: bool) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Whoever started this process has gone: there is nobody to tell.
    with speaking_of_flags(flags), contextlib.suppress(EOFError, OSError):
        _do_pieces(connection, build)


def _do_pieces(connection: Connection, build: Callable[[], Any]) -> None:
    try:
        station = build()
    except Exception as error:
        connection.send(Answer(problem=in_words(error)))
        return
    connection.send(Answer())
    while True:
        connection.send(answer_to(connection.recv_bytes(), station))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
