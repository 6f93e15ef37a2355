"""A piece of work: it depends on no other, has a name, a digest, mostly a file that it leaves."""

import hashlib
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from goalward.errors import GoalwardError

AnyStation = TypeVar("AnyStation", contravariant=True)
AnyResult = TypeVar("AnyResult", covariant=True)
# So many pieces that failed are named in an error; the others are counted.
_NUM_NAMED = 5


class Piece(Protocol[AnyStation, AnyResult]):
    """Something to do in a worker, with what the worker has built. Its text is its name.

    What it gives travels back and should be small: what is large goes into files. A piece may say
    which (`result_files`); they have to be there, for whoever waits for them, when it is done.
    """

    def do(self, station: AnyStation, /) -> AnyResult: ...


def digest_of(piece: Piece[Any, Any]) -> str:
    """What tells a piece from all others: equal digests mean the same work.

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
    """

    result: Any = None
    problem: str | None = None
    is_passing: bool = False


def answer_to(piece: Piece[Any, Any], station: Any) -> Answer:
    """Do a piece; an error of it stops nothing but itself."""
    try:
        return Answer(piece.do(station))
    except Exception as error:
        return Answer(problem=f"{piece}: {in_words(error)}", is_passing=_is_of_the_machine(error))


def _is_of_the_machine(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
            return True
        if getattr(error, "is_passing", False):
            return True
        error = error.__cause__
    return False


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


class PiecesFailed(GoalwardError):
    """Some pieces could not be done; all others are."""

    def __init__(self, problems: Sequence[str], num_done: int) -> None:
        text = "; ".join(problems[:_NUM_NAMED])
        if len(problems) > _NUM_NAMED:
            text += f"; and {len(problems) - _NUM_NAMED} others"
        if num_done:
            text += f" ({len(problems)} of {len(problems) + num_done} failed, the others are done)"
        super().__init__(text)
