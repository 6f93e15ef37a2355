"""Pieces of work that do little, fail, vanish or wait: what executors are tested with.

Workers are other processes, and find this module by its name.
"""

import contextlib
import errno
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError


def thousand() -> int:
    """What a worker builds first."""
    return 1000


def no_build() -> int:
    raise GoalwardError("no weights for the worker")


def vanishing_build() -> int:
    os._exit(3)


@dataclass(frozen=True)
class SomeBuilds:
    """So many workers are built; those that come later vanish, or say what is wrong."""

    folder: Path
    count: int
    problem: str = ""

    def __call__(self) -> int:
        for number in range(self.count):
            with contextlib.suppress(FileExistsError), (self.folder / f"built {number}").open("x"):
                return thousand()
        if self.problem:
            raise GoalwardError(self.problem)
        vanishing_build()
        raise AssertionError


@dataclass(frozen=True)
class Add:
    number: int

    def __str__(self) -> str:
        return f"number {self.number}"

    def do(self, station: int, /) -> int:
        return station + self.number


@dataclass(frozen=True)
class SlowAdd(Add):
    seconds: float

    __str__ = Add.__str__

    def do(self, station: int, /) -> int:
        time.sleep(self.seconds)
        return super().do(station)


@dataclass(frozen=True)
class Poisoned(Add):
    """Fails whoever does it."""

    __str__ = Add.__str__

    def do(self, station: int, /) -> int:
        raise ValueError("cannot be added")


@dataclass(frozen=True)
class Deadly(Add):
    """Takes its process down: always, or as long as `killed` says fewer than `times`."""

    killed: Path
    times: int = 1_000

    __str__ = Add.__str__

    def do(self, station: int, /) -> int:
        so_far = len(self.killed.read_bytes()) if self.killed.exists() else 0
        if so_far < self.times:
            with self.killed.open("ab") as file:
                file.write(b"x")
            os.kill(os.getpid(), signal.SIGKILL)
        return super().do(station)


@dataclass(frozen=True)
class FullDisk(Add):
    """The first machine to try has no space left; the next one has."""

    tried: Path

    __str__ = Add.__str__

    def do(self, station: int, /) -> int:
        if not self.tried.exists():
            self.tried.touch()
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().do(station)


@dataclass(frozen=True)
class FullForOne(Add):
    """The first process to come never has space; the others do the work, in a moment."""

    is_full: Path

    __str__ = Add.__str__

    def do(self, station: int, /) -> int:
        with contextlib.suppress(FileExistsError), self.is_full.open("x") as file:
            file.write(str(os.getpid()))
        time.sleep(0.02)
        if self.is_full.read_text() == str(os.getpid()):
            raise OSError(errno.ENOSPC, "No space left on device")
        time.sleep(0.1)
        return super().do(station)


def not_here(*_: object) -> Any:
    raise ModuleNotFoundError("No module named 'my_methods'")


@dataclass(frozen=True)
class Unreadable(Add):
    """Holds something of a module that workers do not have."""

    __str__ = Add.__str__

    def __reduce__(self) -> Any:
        return not_here, (self.number,)


@dataclass(frozen=True)
class WriteNumber(Add):
    """Leaves its result in a file."""

    path: Path

    __str__ = Add.__str__

    @property
    def result_files(self) -> tuple[Path, ...]:
        return (self.path,)

    def do(self, station: int, /) -> int:
        self.path.write_text(str(station + self.number))
        return self.number


@dataclass(frozen=True)
class ForgetsToWrite(WriteNumber):
    __str__ = Add.__str__

    def do(self, station: int, /) -> int:
        return self.number


@dataclass(frozen=True)
class Tell:
    """What a worker process looks like from inside."""

    number: int = 0

    def do(self, station: int, /) -> dict[str, Any]:
        time.sleep(0.02)
        return {
            "threads": os.environ.get("OMP_NUM_THREADS"),
            "process": os.getpid(),
            "node": _node(),
        }


def _node() -> str | None:
    ray = sys.modules.get("ray")
    return None if ray is None else ray.get_runtime_context().get_node_id()


def numbers(results: Any) -> dict[int, Any]:
    return {piece.number: result for piece, result in results}
