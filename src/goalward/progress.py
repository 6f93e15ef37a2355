"""Bars on the terminal for anything that takes longer than two seconds; elsewhere nothing."""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol

_PATIENCE_S = 2.0

# Hears how much of how much there is.
OnProgress = Callable[[int, int], None]


class Training(Protocol):
    """What a bar wants to know of a training under way."""

    @property
    def stages(self) -> tuple[str, ...]: ...
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
) -> Generator[OnProgress]:
    """A function `update(so_far, total)`; quick work shows nothing at all.

    With a unit ("frames") the bar says how many of them go by in a second.
    """
    with _bar(what, is_shown, patience_s=_PATIENCE_S, unit=unit) as show:
        yield lambda so_far, total: show(so_far, total, what, "")


@contextmanager
def training_bar(*, is_shown: bool = True) -> Generator[Callable[[Training], None]]:
    """A bar with the stages under way, the loss, the held-out loss and the time left."""
    with _bar("training", is_shown, patience_s=0.0, in_percent=True) as show:

        def update(now: Training) -> None:
            losses = f"loss {now.loss:.4f}"
            if now.held_out_loss is not None:
                losses += f", held out {now.held_out_loss:.4f}"
            show(now.steps, now.total_steps, f"training {', '.join(now.stages)}", losses)

        yield update


@contextmanager
def _bar(
    what: str,
    is_shown: bool,
    *,
    patience_s: float,
    unit: str | None = None,
    in_percent: bool = False,
) -> Generator[Callable[[int, int, str, str], None]]:
    # A transient bar in a file would leave an empty line and nothing else.
    if not is_shown or not sys.stderr.isatty():
        yield lambda so_far, total, words, more: None
        return
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
