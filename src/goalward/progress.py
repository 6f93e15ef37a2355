"""Bars on the terminal for anything that takes longer than two seconds; elsewhere a line at times.

Where there is no terminal (a file, a scheduler) the logger `goalward` hears every half minute how
far the work is and how long it will take.
"""

import logging
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol

_log = logging.getLogger("goalward.progress")
_PATIENCE_S = 2.0
LINE_EVERY_S = 30.0

# Hears how much of how much there is.
OnProgress = Callable[[int, int], None]


class OnPieces(Protocol):
    """The same, and how many pieces have failed."""

    def __call__(self, so_far: int, total: int, num_failed: int = 0, /) -> None: ...


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


def unheard(so_far: int, total: int) -> None:
    """Progress that nobody listens to."""


@contextmanager
def progress_bar(
    what: str, *, unit: str | None = None, is_shown: bool = True
) -> Generator[OnPieces]:
    """A function `update(so_far, total)`; quick work shows nothing at all.

    With a unit ("frames") the bar says how many of them go by in a second. A third number is of
    what has failed, and is said if there is any.
    """
    with _shown(what, is_shown, patience_s=_PATIENCE_S, unit=unit) as show:

        def update(so_far: int, total: int, num_failed: int = 0, /) -> None:
            words = f"{what}, {num_failed} failed" if num_failed else what
            show(so_far, total, words, "")

        yield update


@contextmanager
def fetching_bar(*, is_shown: bool = True) -> Generator[OnProgress]:
    """A bar of what comes from a store, told in bytes and shown in megabytes."""
    with progress_bar("fetching", unit="MB", is_shown=is_shown) as show:
        yield lambda so_far, total: show(round(so_far / 1e6), max(1, round(total / 1e6)))


@contextmanager
def training_bar(*, is_shown: bool = True) -> Generator[Callable[[Training], None]]:
    """A bar with the stages under way, the loss, the held-out loss and the time left."""
    with _shown("training", is_shown, patience_s=0.0, in_percent=True) as show:

        def update(now: Training) -> None:
            losses = f"loss {now.loss:.4f}"
            if now.held_out_loss is not None:
                losses += f", held out {now.held_out_loss:.4f}"
            networks = "1 network" if now.num_runs == 1 else f"{now.num_runs} networks"
            stage = f"stage {now.group + 1} of {now.num_groups} ({', '.join(now.stages)})"
            show(now.steps, now.total_steps, f"training {networks}, {stage}", losses)

        yield update


Show = Callable[[int, int, str, str], None]


@contextmanager
def _shown(
    what: str,
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
        with _bar(what, patience_s=patience_s, unit=unit, in_percent=in_percent) as show:
            yield show
    else:
        yield _lines(unit)


def _lines(unit: str | None) -> Show:
    """A line every half minute, the first after one: quick work says nothing."""
    started = told = time.monotonic()

    def show(so_far: int, total: int, words: str, more: str) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told < LINE_EVERY_S or not total:
            return
        told = now
        facts = [words]
        if unit is not None:
            facts.append(f"{so_far:,} of {total:,} {unit}")
        facts.append(f"{100 * so_far / total:.0f} %")
        # The first steps are slow: from less than a hundredth there is nothing to tell.
        if 100 * so_far >= total:
            left = (now - started) * (total - so_far) / so_far
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
    what: str, *, patience_s: float, unit: str | None = None, in_percent: bool = False
) -> Generator[Show]:
    # rich takes a tenth of a second to import: only who sees a bar pays.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn() if in_percent else MofNCompleteColumn(),
        TextColumn("{task.fields[more]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True, emoji=False, highlight=False),
        transient=True,
    )
    task = bar.add_task(what, total=None, more="")
    started = time.monotonic()

    def show(so_far: int, total: int, words: str, more: str) -> None:
        if unit is not None and (speed := bar.tasks[0].speed):
            more = f"{speed:,.0f} {unit}/s"
        bar.update(task, completed=so_far, total=total, description=words, more=more)
        if time.monotonic() - started > patience_s and not bar.live.is_started:
            bar.start()

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()
