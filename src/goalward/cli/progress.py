"""A progress bar that appears when something takes longer than two seconds."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

_PATIENCE_S = 2.0


@contextmanager
def progress_bar(
    what: str, console: Console, *, unit: str | None = None
) -> Generator[Callable[[int, int], None]]:
    """A function `update(done, total)`; quick work shows nothing at all.

    With a unit ("frames") the bar says how many of them go by in a second.
    """
    speed = [] if unit is None else [_Speed(unit)]
    progress = Progress(
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        *speed,
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    task = progress.add_task(what, total=None)
    started = time.monotonic()

    def update(done: int, total: int) -> None:
        progress.update(task, completed=done, total=total)
        # A transient bar in a file would leave an empty line and nothing else.
        is_late = time.monotonic() - started > _PATIENCE_S
        if is_late and console.is_terminal and not progress.live.is_started:
            progress.start()

    try:
        yield update
    finally:
        if progress.live.is_started:
            progress.stop()


class _Speed(ProgressColumn):
    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} {self._unit}/s")
