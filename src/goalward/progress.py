"""Bars on the terminal for anything that takes longer than two seconds; elsewhere a line at times.

Where there is no terminal (a file, a scheduler) the logger `goalward` hears every half minute how
far the work is and how long it will take.
"""

import logging
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isnan
from typing import Protocol

from goalward.display import Line
from goalward.pace import Pace

_log = logging.getLogger("goalward.progress")
_PATIENCE_S = 2.0
LINE_EVERY_S = 30.0

# Hears how much of how much there is.
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Setbacks:
    """Pieces of work that failed for good, and those that failed and are tried again.

    >>> str(Setbacks(1, 2)), str(Setbacks(2)), str(Setbacks(num_again=1)), str(Setbacks())
    ('1 piece failed, 2 tried again', '2 pieces failed', '1 piece tried again', '')
    """

    num_failed: int = 0
    num_again: int = 0

    def __str__(self) -> str:
        first = self.num_failed or self.num_again
        pieces = "piece" if first == 1 else "pieces"
        if not self.num_failed:
            return f"{first} {pieces} tried again" if first else ""
        again = f", {self.num_again} tried again" if self.num_again else ""
        return f"{first} {pieces} failed{again}"


NO_SETBACKS = Setbacks()
OnSetbacks = Callable[[Setbacks], None]


class PieceBar(Protocol):
    """Hears how far the work is, and what became of its pieces."""

    def __call__(self, so_far: int, total: int, /) -> None: ...
    def met(self, setbacks: Setbacks, /) -> None: ...


class Training(Protocol):
    """What a bar wants to know of a training under way."""

    @property
    def stages(self) -> tuple[str, ...]: ...
    @property
    def num_runs(self) -> int: ...
    @property
    def group(self) -> int: ...
    @property
    def num_groups(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def total_steps(self) -> int: ...
    @property
    def loss(self) -> float: ...
    @property
    def held_out_loss(self) -> float | None: ...
    @property
    def setbacks(self) -> Setbacks: ...


def unheard(so_far: int, total: int) -> None:
    """Progress that nobody listens to."""


@contextmanager
def progress_bar(
    what: str, *, unit: str | None = None, is_shown: bool = True
) -> Generator[PieceBar]:
    """A function `update(so_far, total)`; quick work shows nothing at all.

    With a unit ("frames") the bar says how many of them go by in a second. `update.met` says what
    pieces failed and are tried again, and is shown if there are any.
    """
    with _shown(is_shown, patience_s=_PATIENCE_S, unit=unit) as show:
        yield _PieceBar(what, show)


class _PieceBar:
    def __init__(self, what: str, show: "Show") -> None:
        self._what = what
        self._show = show
        self._so_far: tuple[int, int] | None = None
        self._setbacks = NO_SETBACKS

    def __call__(self, so_far: int, total: int, /) -> None:
        self._so_far = so_far, total
        self._show(so_far, total, _with(self._what, self._setbacks), "")

    def met(self, setbacks: Setbacks, /) -> None:
        if setbacks != self._setbacks:
            self._setbacks = setbacks
            if self._so_far is not None:
                self(*self._so_far)


def _with(what: str, setbacks: Setbacks) -> str:
    return ", ".join(filter(None, (what, str(setbacks))))


@contextmanager
def fetching_bar(*, is_shown: bool = True) -> Generator[OnProgress]:
    """A bar of what comes from a store, told in bytes and shown in megabytes."""
    with progress_bar("fetching", unit="MB", is_shown=is_shown) as show:
        yield lambda so_far, total: show(round(so_far / 1e6), max(1, round(total / 1e6)))


@contextmanager
def training_bar(*, is_shown: bool = True) -> Generator[Callable[[Training], None]]:
    """A bar with the stages under way, the loss, the held-out loss and the time left."""
    with _shown(is_shown, patience_s=0.0, in_percent=True) as show:

        def update(now: Training) -> None:
            losses = "" if isnan(now.loss) else f"loss {now.loss:.4f}"
            if now.held_out_loss is not None:
                losses += f", held out {now.held_out_loss:.4f}"
            networks = "1 network" if now.num_runs == 1 else f"{now.num_runs} networks"
            stage = f"stage {now.group + 1} of {now.num_groups} ({', '.join(now.stages)})"
            words = _with(f"training {networks}, {stage}", now.setbacks)
            show(now.steps, now.total_steps, words, losses)

        yield update


Show = Callable[[int, int, str, str], None]


@contextmanager
def _shown(
    is_shown: bool,
    *,
    patience_s: float,
    unit: str | None = None,
    in_percent: bool = False,
) -> Generator[Show]:
    """How far some work is, for whoever watches: a bar, lines, or nothing."""
    if not is_shown:
        yield lambda so_far, total, words, more: None
    elif sys.stderr.isatty():
        with _bar(patience_s=patience_s, unit=unit, in_percent=in_percent) as show:
            yield show
    else:
        yield _lines(unit)


def _lines(unit: str | None) -> Show:
    """A line every half minute, the first after one: quick work says nothing."""
    told = time.monotonic()
    pace = Pace()

    def show(so_far: int, total: int, words: str, more: str) -> None:
        nonlocal told
        pace.hear(so_far)
        now = time.monotonic()
        if now - told < LINE_EVERY_S or not total:
            return
        told = now
        facts = [words]
        if unit is not None:
            facts.append(f"{so_far:,} of {total:,} {unit}")
        facts.append(f"{100 * so_far / total:.0f} %")
        # The first steps are slow: from less than a hundredth there is nothing to tell.
        left = pace.left(total)
        if 100 * so_far >= total and left is not None:
            facts.append(f"about {duration(left)} left")
        _log.info("%s", ", ".join(facts))

    return show


def duration(seconds: float) -> str:
    """
    >>> duration(3.2), duration(100), duration(400), duration(9000)
    ('3 s', '1.7 min', '7 min', '2.5 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        minutes = seconds / 60
        return f"{minutes:.1f} min" if minutes < 5 else f"{minutes:.0f} min"
    return f"{seconds / 3600:.1f} h"


@contextmanager
def _bar(
    *, patience_s: float, unit: str | None = None, in_percent: bool = False
) -> Generator[Show]:
    opened = time.monotonic()
    pace = Pace()
    line = Line()
    is_told = False

    def show(so_far: int, total: int, words: str, more: str) -> None:
        nonlocal is_told
        pace.hear(so_far)
        left = pace.left(total)
        if unit is not None:
            more = pace.in_words(unit)
        count = f"{100 * so_far / (total or 1):.0f} %" if in_percent else f"{so_far:,}/{total:,}"
        rest = "" if left is None else f"{duration(left)} left"
        line.update(words, so_far, total, count=count, more=more, left=rest)
        if not is_told:
            is_told = True
            line.come_in(patience_s - (time.monotonic() - opened))

    try:
        yield show
    finally:
        line.close()
