"""The machines of a Ray cluster: actors that build something heavy once, then do piece after piece.

Ray Core alone: pieces and small results travel, frames and vectors do not. A worker or machine
that is lost loses its piece, which another one does; as results are files with names of their own,
a driver that was killed goes on by the same command.
"""

import contextlib
import logging
import os
import pickle
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from goalward.code_version import whole_code_digest
from goalward.errors import GoalwardError, speaks_of_flags
from goalward.executors.local import ONE_THREAD, checked_num_workers
from goalward.executors.piece import Answer, Piece
from goalward.executors.ray_cluster import connected, imported_ray, in_one_line
from goalward.executors.seen import Marks, check_seen, marks_in
from goalward.executors.tries import MOST_TRIES, OnFailed, Tries
from goalward.progress import OnSetbacks

Station = TypeVar("Station")
Result = TypeVar("Result")

# With no worker at all for so long, nobody will come any more.
_PATIENCE_S = 600.0
_LOOK_AGAIN_S = 1.0
# Who is not there by then may never get room.
_COMES_WITHIN_S = 60.0
_log = logging.getLogger("goalward.executors")


@dataclass(eq=False)
class _Worker:
    """An actor, and the node that it is on, when it is known."""

    actor: Any
    # Which start of this place it is, and whether one that worked had the place before.
    num_starts: int
    is_replacement: bool
    machine: str = ""
    started_at: float = field(default_factory=time.monotonic)


class RayExecutor(Generic[Station]):
    """As `LocalExecutor`, on the machines of a cluster, or on a cluster of this machine alone.

    `shared` are folders that all machines must see, and see as the same; `read_from` are paths that
    must be there on all of them. `num_gpus` is what a worker takes for itself; None: one where the
    cluster has any, and its share of the cores beside it.
    """

    def __init__(
        self,
        build: Callable[[], Station],
        num_workers: int | None = None,
        *,
        most_workers: int | None = None,
        address: str | None = None,
        shared: Sequence[Path] = (),
        read_from: Sequence[Path] = (),
        num_gpus: float | None = 0,
    ) -> None:
        self._told = pickle.dumps((build, speaks_of_flags()))
        self._num_workers = None if num_workers is None else checked_num_workers(num_workers)
        self._address = address
        self._most_workers = most_workers
        self._asked_gpus = num_gpus
        self._num_gpus, self._num_cpus = 0.0, 1.0
        self._shared = shared
        self._read_from = read_from
        self._open = contextlib.ExitStack()
        self._marks = Marks(())
        # Workers by the answer they owe: first that they are ready, then that of a piece.
        self._starting: dict[Any, _Worker] = {}
        self._idle: list[_Worker] = []
        self._was_anyone_ready = False
        # Known when the cluster is.
        self.num_workers = 0

    def __enter__(self) -> "RayExecutor[Station]":
        self._ray = imported_ray()
        try:
            self._open.enter_context(connected(self._ray, self._address))
            self._marks = self._open.enter_context(marks_in(self._shared))
            self._share_out()
            self._fill_up()
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for worker in (*self._starting.values(), *self._idle):
            self._end(worker)
        self._starting, self._idle = {}, []
        self._open.close()

    def results(
        self,
        pieces: Iterator[Piece[Station, Result]],
        on_failed: OnFailed | None = None,
        on_setbacks: OnSetbacks | None = None,
    ) -> Generator[tuple[Piece[Station, Result], Result]]:
        """As those of `LocalExecutor`; trouble of a machine is tried again on another."""
        self._fill_up()
        tries = Tries(pieces, on_failed, on_setbacks)
        busy: dict[Any, tuple[_Worker, Piece[Station, Result]]] = {}
        alone_since = time.monotonic()
        try:
            while True:
                self._hand_out(tries, busy)
                if not (busy or tries.is_waiting) and (self._idle or not self._starting):
                    break
                if busy or self._idle:
                    alone_since = time.monotonic()
                self._check_patience(alone_since)
                self._marks.renew()
                waited_for = [*busy, *self._starting]
                found, _ = self._ray.wait(waited_for, num_returns=1, timeout=_LOOK_AGAIN_S)
                for reference in found:
                    if reference in self._starting:
                        self._take_in(reference, is_anyone_at_work=bool(busy))
                        continue
                    worker, piece = busy.pop(reference)
                    answer = self._answer(reference)
                    if isinstance(answer, str):
                        # One that cannot be reached may live, and would keep its room.
                        self._end(worker)
                        self._start(is_replacement=True)
                        tries.lost(piece, answer)
                        continue
                    self._idle.append(worker)
                    if answer.problem is not None:
                        tries.not_done(piece, worker, answer)
                        continue
                    check_seen(piece)
                    tries.done(piece, worker)
                    yield piece, answer.result
        finally:
            # Those still at work when nobody wants the rest.
            for worker, _ in busy.values():
                self._end(worker)
        tries.end()

    def _hand_out(self, tries: Tries[Any], busy: dict[Any, tuple[_Worker, Any]]) -> None:
        crew = [*self._idle, *(worker for worker, _ in busy.values())]
        now = time.monotonic()
        coming = [one for one in self._starting.values() if now - one.started_at < _COMES_WITHIN_S]
        for worker, piece in tries.handed_out(self._idle, crew, is_anyone_coming=bool(coming)):
            self._idle.remove(worker)
            named = worker.actor.do.options(name=str(piece))
            busy[named.remote(pickle.dumps(piece))] = (worker, piece)

    def _end(self, worker: _Worker) -> None:
        # Who closes results late finds Ray gone, and to ask it for anything would start it again.
        if self._ray.is_initialized():
            with contextlib.suppress(Exception):
                self._ray.kill(worker.actor)

    def _share_out(self) -> None:
        """How many workers there are, and what of the machines each has."""
        machines = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        with_gpus = [there for there in machines if there.get("GPU", 0) >= 1]
        if self._asked_gpus is None:
            self._num_gpus = 1.0 if with_gpus else 0.0
        else:
            self._num_gpus = self._asked_gpus
        if self._num_gpus:
            # Beside a GPU others decode: the cores of its machine are for them.
            shares = [there.get("CPU", 1) * self._num_gpus / there["GPU"] for there in with_gpus]
            self._num_cpus = max(1.0, float(int(min(shares, default=1.0))))
        kind, each = ("GPU", self._num_gpus) if self._num_gpus else ("CPU", self._num_cpus)
        room = max(1, int(sum(there.get(kind, 0) for there in machines) / each))
        wanted = room if self._num_workers is None else self._num_workers
        self.num_workers = wanted if self._most_workers is None else min(wanted, self._most_workers)

    def _fill_up(self) -> None:
        for _ in range(self.num_workers - len(self._starting) - len(self._idle)):
            self._start(is_replacement=self._was_anyone_ready)

    def _start(self, num_starts: int = 1, *, is_replacement: bool = False) -> None:
        from goalward.executors import ray_actor

        self._ray.cloudpickle.register_pickle_by_value(ray_actor)
        one_thread = {} if self._num_gpus else dict.fromkeys(ONE_THREAD, "1")
        actor = (
            self._ray.remote(ray_actor.RayWorker)
            .options(
                num_cpus=self._num_cpus,
                num_gpus=self._num_gpus,
                # Spread: a machine that is lost takes few workers with it.
                scheduling_strategy="SPREAD",
                runtime_env={"env_vars": one_thread},
            )
            .remote(str(Path.cwd()), _folders())
        )
        versions = {"version": _version(), "code": whole_code_digest()}
        must_see = [str(path) for path in (*self._marks.must_see, *_absolute(self._read_from))]
        ready = actor.prepare.options(name="prepare").remote(versions, must_see, self._told)
        self._starting[ready] = _Worker(actor, num_starts, is_replacement)

    def _take_in(self, reference: Any, *, is_anyone_at_work: bool) -> None:
        """A worker is ready, or it is not: then another one is tried in its place."""
        worker = self._starting.pop(reference)
        try:
            problem, worker.machine = self._ray.get(reference)
            is_told_at_once = problem is not None and self._is_early(worker)
        except self._ray.exceptions.RayError as error:
            problem = f"no worker can be started: {in_one_line(error)}"
            is_told_at_once = False
        if problem is None:
            self._was_anyone_ready = True
            self._idle.append(worker)
            return
        self._end(worker)
        if is_told_at_once:
            raise GoalwardError(problem)
        if worker.num_starts < MOST_TRIES:
            self._start(worker.num_starts + 1, is_replacement=worker.is_replacement)
        elif self._was_anyone_ready and (is_anyone_at_work or self._idle or self._starting):
            _log.warning("%s, %d times; the others go on", problem, worker.num_starts)
        else:
            raise GoalwardError(problem)

    def _is_early(self, worker: _Worker) -> bool:
        """What is wrong with a machine from the start is for people to mend; later others go on."""
        is_late = time.monotonic() - worker.started_at > _COMES_WITHIN_S
        return not worker.is_replacement and not (is_late and self._was_anyone_ready)

    def _answer(self, reference: Any) -> Answer | str:
        """What a worker says of its piece, or how it was lost."""
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            _log.debug("%s", error)
            return f"its worker was lost ({type(error).__name__})"

    def _check_patience(self, alone_since: float) -> None:
        if time.monotonic() - alone_since > _PATIENCE_S:
            raise GoalwardError(
                f"the cluster had no room for a worker in {_PATIENCE_S / 60:.0f} minutes; "
                "what is finished is kept, and the same command goes on"
            )


def _version() -> str:
    from goalward import __version__

    return __version__


def _absolute(paths: Sequence[Path]) -> list[Path]:
    return [path.absolute() for path in paths]


def _folders() -> list[str]:
    return [os.path.abspath(folder) for folder in sys.path]  # noqa: PTH100 ("" is this folder)
