"""Processes that build something heavy once each, and then do one job after another."""

import contextlib
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from goalward.errors import GoalwardError, argument, speaking_of_flags, speaks_of_flags

# Sums over several threads are rounded as many ways: results must not depend on the machine.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Station = TypeVar("Station")
AnyStation = TypeVar("AnyStation", contravariant=True)
Result = TypeVar("Result")
AnyResult = TypeVar("AnyResult", covariant=True)


class Job(Protocol[AnyStation, AnyResult]):
    """Something to do in a worker, with what the worker has built. Its text names it in errors."""

    def do(self, station: AnyStation, /) -> AnyResult: ...


@dataclass(frozen=True)
class _Answer:
    result: Any = None
    problem: str | None = None


@dataclass(frozen=True)
class _Worker:
    process: BaseProcess
    connection: Connection


class Workers(Generic[Station]):
    """Starts as many processes; each calls `build` first, and keeps what it gives.

    `build` and jobs travel to the processes, so they are functions and classes that a module
    has, and plain data. Workers end with the process that started them, however it ends.
    """

    def __init__(self, build: Callable[[], Station], num_workers: int) -> None:
        if num_workers < 1:
            given = argument("num_workers", num_workers, flag="workers")
            raise GoalwardError(f"{given}: must be at least 1")
        self._build = build
        self._num_workers = num_workers
        self._workers: list[_Worker] = []

    def __enter__(self) -> "Workers[Station]":
        context = multiprocessing.get_context("spawn")
        with _one_thread_each(), _deaf_to_interrupts():
            for _ in range(self._num_workers):
                ours, theirs = context.Pipe()
                told = (theirs, self._build, speaks_of_flags())
                process = context.Process(target=_serve, args=told, daemon=True)
                process.start()
                # With our copy closed, the end of the process is the end of the connection.
                theirs.close()
                self._workers.append(_Worker(process, ours))
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()
        self._workers = []

    def results(
        self, jobs: Iterator[Job[Station, Result]]
    ) -> Generator[tuple[Job[Station, Result], Result]]:
        """Jobs and what became of them, as they finish.

        A job is taken from `jobs` only when a worker is free for it, so that what has been
        found so far can decide whether there is another one.
        """
        idle = list(self._workers)
        busy: dict[Connection, tuple[_Worker, Job[Station, Result]]] = {}
        while True:
            while idle and (job := next(jobs, None)) is not None:
                worker = idle.pop()
                # A worker that could not start has said why and gone; that is read below.
                with contextlib.suppress(OSError):
                    worker.connection.send(job)
                busy[worker.connection] = (worker, job)
            if not busy:
                return
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection)
                worker, job = busy.pop(connection)
                result = _received(worker, job)
                idle.append(worker)
                yield job, result


def _received(worker: _Worker, job: Any) -> Any:
    try:
        answer: _Answer = worker.connection.recv()
    except (EOFError, OSError) as error:
        worker.process.join()
        raise GoalwardError(
            f"{job}: its worker process ended with exit code {worker.process.exitcode}"
        ) from error
    if answer.problem is not None:
        raise GoalwardError(answer.problem)
    return answer.result


@contextlib.contextmanager
def _one_thread_each() -> Generator[None]:
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
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
    with speaking_of_flags(flags):
        _do_jobs(connection, build)


def _do_jobs(connection: Connection, build: Callable[[], Any]) -> None:
    try:
        station = build()
    except Exception as error:
        connection.send(_Answer(problem=in_words(error)))
        return
    while True:
        job: Job[Any, Any] = connection.recv()
        try:
            answer = _Answer(job.do(station))
        except Exception as error:
            answer = _Answer(problem=f"{job}: {in_words(error)}")
        connection.send(answer)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def in_words(error: Exception) -> str:
    """An error as one line; one that was not meant for people says where it arose.

    >>> in_words(GoalwardError("no task 'sqare'"))
    "no task 'sqare'"
    """
    if isinstance(error, GoalwardError):
        return str(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"{text} ({Path(place.filename).name}, line {place.lineno})"
