"""The machines of a Ray cluster: actors that build something heavy once, then do piece after piece.

Ray Core alone: pieces and small results travel, frames and vectors do not. A worker or machine
that is lost loses its piece, which another one does; as results are files with names of their own,
a driver that was killed goes on by the same command.
"""

import contextlib
import logging
import os
import pickle
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from goalward.code_version import whole_code_digest
from goalward.errors import GoalwardError, argument, speaks_of_flags
from goalward.executors.local import ONE_THREAD, checked_num_workers
from goalward.executors.piece import Answer, Piece, result_files
from goalward.executors.tries import MOST_TRIES, OnFailed, Tries
from goalward.leftovers import writer_mark

Station = TypeVar("Station")
Result = TypeVar("Result")

_ANSWERS_WITHIN_S = 5.0
# With no worker at all for so long, nobody will come any more.
_PATIENCE_S = 600.0
_LOOK_AGAIN_S = 1.0
# Files may show late on the disks of other machines.
_SEEN_WITHIN_S = 10.0
_log = logging.getLogger("goalward.executors")


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
        self._must_see: list[str] = []
        # Actors by the answer they owe: first that they are ready, then that of a piece.
        self._starting: dict[Any, Any] = {}
        self._idle: list[Any] = []
        self._num_failed_starts = 0
        # Known when the cluster is.
        self.num_workers = 0

    def __enter__(self) -> "RayExecutor[Station]":
        self._ray = _ray()
        try:
            self._open.enter_context(_connected(self._ray, self._address))
            self._must_see = [
                *(str(self._open.enter_context(_mark_in(folder))) for folder in self._shared),
                *(str(path.absolute()) for path in self._read_from),
            ]
            self._share_out()
            for _ in range(self.num_workers):
                self._start()
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for actor in (*self._starting.values(), *self._idle):
            self._end(actor)
        self._starting, self._idle = {}, []
        self._open.close()

    def results(
        self,
        pieces: Iterator[Piece[Station, Result]],
        on_failed: OnFailed | None = None,
    ) -> Generator[tuple[Piece[Station, Result], Result]]:
        """As those of `LocalExecutor`; trouble of a machine is tried again on another."""
        tries = Tries(pieces, on_failed)
        busy: dict[Any, tuple[Any, Piece[Station, Result]]] = {}
        alone_since = time.monotonic()
        try:
            while True:
                while self._idle and (piece := tries.next()) is not None:
                    # The one that was idle for longest: a piece that is tried again moves on.
                    actor = self._idle.pop(0)
                    named = actor.do.options(name=str(piece))
                    busy[named.remote(pickle.dumps(piece))] = (actor, piece)
                if not busy and (self._idle or not self._starting):
                    break
                if busy or self._idle:
                    alone_since = time.monotonic()
                self._check_patience(alone_since)
                waited_for = [*busy, *self._starting]
                found, _ = self._ray.wait(waited_for, num_returns=1, timeout=_LOOK_AGAIN_S)
                for reference in found:
                    if reference in self._starting:
                        self._take_in(reference)
                        continue
                    actor, piece = busy.pop(reference)
                    answer = self._answer(reference)
                    if isinstance(answer, str):
                        # One that cannot be reached may live, and would keep its room.
                        self._end(actor)
                        self._start()
                        tries.lost(piece, f"{piece}: {answer}")
                        continue
                    self._idle.append(actor)
                    if answer.problem is not None and answer.is_passing:
                        tries.lost(piece, answer.problem)
                    elif answer.problem is not None:
                        tries.failed(piece, answer.problem)
                    else:
                        _check_seen(piece)
                        tries.done()
                        yield piece, answer.result
        finally:
            # Those still at work when nobody wants the rest.
            for actor, _ in busy.values():
                self._end(actor)
        tries.end()

    def _end(self, actor: Any) -> None:
        with contextlib.suppress(Exception):
            self._ray.kill(actor)

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

    def _start(self) -> None:
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
        ready = actor.prepare.options(name="prepare").remote(versions, self._must_see, self._told)
        self._starting[ready] = actor

    def _take_in(self, reference: Any) -> None:
        actor = self._starting.pop(reference)
        try:
            problem = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._num_failed_starts += 1
            if self._num_failed_starts >= MOST_TRIES:
                raise GoalwardError(f"no worker can be started: {_first_line(error)}") from error
            self._start()
            return
        if problem is not None:
            raise GoalwardError(problem)
        self._num_failed_starts = 0
        self._idle.append(actor)

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


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _version() -> str:
    from goalward import __version__

    return __version__


def _folders() -> list[str]:
    return [os.path.abspath(folder) for folder in sys.path]  # noqa: PTH100 ("" is this folder)


def _ray() -> Any:
    # Said before Ray is imported: without GPUs to hand out it leaves the variables alone, and it
    # tells its makers nothing.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray  # pyright: ignore[reportMissingImports] (an extra)
        import ray.cloudpickle  # pyright: ignore[reportMissingImports]
        import ray.exceptions  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise GoalwardError(
            f"{argument('on', 'ray')} needs Ray: pip install 'goalward[ray]'"
        ) from error
    return ray


@contextlib.contextmanager
def _connected(ray: Any, address: str | None) -> Generator[None]:
    """Inside, Ray is there: the cluster of an address, that of RAY_ADDRESS, or one of our own."""
    if ray.is_initialized():
        yield
        return
    given = address or os.environ.get("RAY_ADDRESS") or None
    if given not in (None, "local", "auto"):
        _check_somebody_answers(given)
    try:
        with _same_answer_to_stops():
            ray.init(
                # Not a cluster that somebody left running here, which Ray would look for.
                address=given or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **({} if given not in (None, "local") else {"include_dashboard": False}),
            )
    except Exception as error:  # Ray has many kinds, builtin ones among them
        raise GoalwardError(
            f"Ray at {given or 'this machine'} cannot be used: {_first_line(error)}"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def _same_answer_to_stops() -> Generator[None]:
    """A cluster that Ray starts here would answer SIGTERM by exit(1), in the middle of anything."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _check_somebody_answers(address: str) -> None:
    """Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise GoalwardError(
            f"{address}: not an address of a Ray cluster, which is written host:port or "
            "ray://host:port"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWERS_WITHIN_S).close()
    except (OSError, OverflowError) as error:
        raise GoalwardError(
            f"nobody answers at the Ray address {address} ({error}): is the cluster up?"
        ) from error


@contextlib.contextmanager
def _mark_in(folder: Path) -> Generator[Path]:
    """A file that shows whether another machine sees this very folder.

    A folder that may not be written, as that of a data set, is looked for by its name alone.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".seen.{writer_mark()}-", dir=folder)
    except OSError:
        yield folder.absolute()
        return
    os.close(handle)
    path = Path(name).absolute()
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _check_seen(piece: Piece[Any, Any]) -> None:
    """Its files have to be here too, if not at once."""
    for path in result_files(piece):
        until = time.monotonic() + _SEEN_WITHIN_S
        while not path.exists():
            if time.monotonic() > until:
                raise GoalwardError(
                    f"{piece}: its worker wrote {path}, which cannot be seen from here: use a "
                    "folder that all machines share"
                )
            time.sleep(_LOOK_AGAIN_S / 10)
