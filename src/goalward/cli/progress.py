"""A progress bar that appears when something takes longer than two seconds."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

_PATIENCE_S = 2.0


@contextmanager
def progress_bar(what: str, console: Console) -> Generator[Callable[[int, int], None]]:
    """A function `update(done, total)`; quick work shows nothing at all."""
    progress = Progress(
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    task = progress.add_task(what, total=None)
    started = time.monotonic()

    def update(done: int, total: int) -> None:
        progress.update(task, completed=done, total=total)
        if not progress.live.is_started and time.monotonic() - started > _PATIENCE_S:
            progress.start()

    try:
        yield update
    finally:
        if progress.live.is_started:
            progress.stop()
