"""The bars of a process on its terminal: lines of one display."""

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# What a bar says after itself.
_TEXTS = ("count", "more", "left")


class Line:
    """A bar as one line of the display, seen when its time has come if it is still there then.

    All bars of a process are lines of one display: two displays would write over each other.
    """

    _lock = threading.Lock()
    _display: "Progress | None" = None

    def __init__(self) -> None:
        self._shown: dict[str, Any] = {}
        self._task: TaskID | None = None
        self._is_closed = False
        self._timer: threading.Timer | None = None

    def come_in(self, seconds: float) -> None:
        """Also if nothing is heard until then: a first piece may take minutes."""
        if seconds <= 0:
            self._come()
            return
        self._timer = threading.Timer(seconds, self._come)
        self._timer.daemon = True
        self._timer.start()

    def update(self, words: str, so_far: int, total: int, **texts: str) -> None:
        with Line._lock:
            self._shown = {"description": words, "completed": so_far, "total": total, **texts}
            if self._task is not None and Line._display is not None:
                Line._display.update(self._task, **self._shown)
                _hide_finished(Line._display)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with Line._lock:
            self._is_closed = True
            display = Line._display
            if self._task is None or display is None:
                return
            display.remove_task(self._task)
            if not display.tasks:
                Line._display = None
                display.stop()

    def _come(self) -> None:
        with Line._lock:
            if self._is_closed:
                return
            if Line._display is None:
                Line._display = _started_display()
            self._task = Line._display.add_task(**self._shown)
            _hide_finished(Line._display)


def _hide_finished(display: "Progress") -> None:
    """What is done makes room; the last bar stays until something else is to be seen."""
    under_way = [
        task for task in display.tasks if task.total is None or task.completed < task.total
    ]
    for task in display.tasks:
        task.visible = task in (under_way or display.tasks[-1:])


def _started_display() -> "Progress":
    # rich takes a tenth of a second to import: only who sees a bar pays.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    display = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *(TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in _TEXTS),
        console=Console(stderr=True, emoji=False, highlight=False),
        transient=True,
    )
    display.start()
    return display
