"""A piece of work: it depends on no other, has a name, a digest, mostly a file that it leaves."""

import hashlib
import pickle
import re
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from goalward.errors import GoalwardError

AnyStation = TypeVar("AnyStation", contravariant=True)
AnyResult = TypeVar("AnyResult", covariant=True)
# How libraries written in Rust say so, without an OSError.
_DISK_IS_FULL = "(os error 28)"
_PATH = re.compile(r"\S*/\S*")
# So many pieces that failed are named in an error; the others are counted.
_NUM_NAMED = 5


class Piece(Protocol[AnyStation, AnyResult]):
    """Something to do in a worker, with what the worker has built. Its text is its name.

    What it gives travels back and should be small: what is large goes into files. A piece may say
    which (`result_files`); they have to be there, for whoever waits for them, when it is done.
    """

    def do(self, station: AnyStation, /) -> AnyResult: ...


def digest_of(piece: Piece[Any, Any]) -> str:
    """What tells a piece from all others of its job: equal digests mean the same work.

    It is that of its text (`repr`). What a piece leaves out of that (frames of a clip, numbers of a
    training) has to follow from what is in it (the names of episode and camera, a folder named by
    all that goes into the training).

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Count:
    ...     up_to: int
    >>> digest_of(Count(3)) == digest_of(Count(3)) != digest_of(Count(4))
    True
    """
    return hashlib.blake2b(repr(piece).encode(), digest_size=8).hexdigest()


def result_files(piece: Piece[Any, Any]) -> Sequence[Path]:
    return getattr(piece, "result_files", ())


@dataclass(frozen=True)
class Answer:
    """What a worker says of a piece: its result, or the problem.

    `is_passing`: another machine, or the same one later, may do better (a full disk, a lost mount).
    The problem does not name the piece: who gets the answer knows which it was. `machine` is the
    name of the one in trouble, where there are several.
    """

    result: Any = None
    problem: str | None = None
    is_passing: bool = False
    machine: str = ""


def answer_to(told: bytes, station: Any) -> Answer:
    """Do a piece as it travelled; an error of it stops nothing but itself."""
    try:
        # From the process that started this one, over its own connection.
        piece: Piece[Any, Any] = pickle.loads(told)  # noqa: S301
    except Exception as error:
        return Answer(problem=f"its worker cannot read it: {in_words(error)}", is_passing=True)
    try:
        return Answer(piece.do(station))
    except Exception as error:
        return Answer(problem=in_words(error), is_passing=_is_of_the_machine(error))


def _is_of_the_machine(error: BaseException | None) -> bool:
    """A file that is not there is trouble too: so a lost mount looks."""
    while error is not None:
        if isinstance(error, OSError | MemoryError) or getattr(error, "is_passing", False):
            return True
        if _is_of_a_gpu(error) or _DISK_IS_FULL in str(error):
            return True
        error = error.__cause__
    return False


def _is_of_a_gpu(error: BaseException) -> bool:
    """One that is broken, or full of somebody else's work; torch is not imported to ask."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if kinds & {"OutOfMemoryError", "AcceleratorError"}:
        return True
    return isinstance(error, RuntimeError) and str(error).startswith(("CUDA", "cuDNN", "HIP"))


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


@dataclass(frozen=True)
class Failure:
    """A piece that was tried in vain, and why.

    >>> print(Failure("episode 7", "no space left", machine="node3", num_tries=2))
    episode 7: no space left, on node3, 2 times
    """

    piece: str
    problem: str
    is_passing: bool = False
    machine: str = ""
    num_tries: int = 1

    def __str__(self) -> str:
        on = f", on {self.machine}" if self.machine else ""
        times = f", {self.num_tries} times" if self.num_tries > 1 else ""
        return f"{self.piece}: {self.problem}{on}{times}"

    @property
    def trouble(self) -> str:
        """The problem, but that a full disk is one trouble, whichever file had no room."""
        return _PATH.sub("", self.problem) if self.is_passing else self.problem


class PiecesFailed(GoalwardError):
    """Some pieces could not be done; all others are. What several met is said once."""

    def __init__(self, failures: Sequence[Failure], num_done: int) -> None:
        by_trouble: dict[str, list[Failure]] = {}
        for failure in failures:
            by_trouble.setdefault(failure.trouble, []).append(failure)
        told = [_in_one(alike) for alike in list(by_trouble.values())[:_NUM_NAMED]]
        others = sum(len(alike) for alike in list(by_trouble.values())[_NUM_NAMED:])
        text = "; ".join([*told, f"and {others} others"] if others else told)
        if num_done:
            text += f" ({len(failures)} of {len(failures) + num_done} failed, the others are done)"
        super().__init__(text)


def _in_one(alike: Sequence[Failure]) -> str:
    """
    >>> _in_one([Failure("one", "no space left"), Failure("two", "no space left")])
    'no space left: 2 pieces (one; two)'
    """
    if len(alike) == 1:
        return str(alike[0])
    first = alike[0]
    machines = list(dict.fromkeys(failure.machine for failure in alike if failure.machine))
    on = f", on {_some(machines, ', ')}" if machines else ""
    least = min(failure.num_tries for failure in alike)
    times = f", each tried {least} times" if least > 1 else ""
    names = _some([failure.piece for failure in alike], "; ")
    return f"{first.problem}{on}: {len(alike)} pieces{times} ({names})"


def _some(names: Sequence[str], between: str) -> str:
    shown = between.join(names[:_NUM_NAMED])
    others = len(names) - _NUM_NAMED
    return f"{shown}{between}and {others} others" if others > 0 else shown
