"""What happens in the fork of a command: its folder, its output, its end, the moment of a stop."""

import ctypes
import errno
import hashlib
import os
import resource
import signal
import sys
import tempfile
import traceback
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from goalward.errors import GoalwardError

# Enough for everything that is asked for honestly; a file that lies about its size meets this.
MOST_ADDRESS_SPACE = 12 << 30
# While a fork is made ready: what comes too early comes first thing.
HELD_BACK = (signal.SIGINT, signal.SIGTERM)
_FILE_EVENTS = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate")


@dataclass(frozen=True)
class Stop:
    """A signal after so many seconds, or before the file event of this number, or before the
    first file whose path ends like this gets its name."""

    signal: signal.Signals
    seconds: float | None = None
    file_event: int | None = None
    before_file: str | None = None

    def __str__(self) -> str:
        when = f"at file event {self.file_event}"
        if self.seconds is not None:
            when = f"after {self.seconds:.2f} s"
        elif self.before_file is not None:
            when = f"before {self.before_file}"
        return f"{self.signal.name} {when}"


@dataclass(frozen=True)
class NoRoom:
    """From the file event of this number on nothing new can be written, as on a full disk."""

    file_event: int

    def __str__(self) -> str:
        return f"no room from file event {self.file_event} on"


def printed_at(place: Path, name: str) -> tuple[Path, Path, Path]:
    """Beside the folder, so that what is printed is none of its files."""
    out, err, events = (f"{place.name}.{name}.{end}" for end in ("out", "err", "events"))
    return place.parent / out, place.parent / err, place.parent / events


def environment(place: Path) -> dict[str, str]:
    temporary = place / "tmp"
    temporary.mkdir(exist_ok=True)
    return {"TMPDIR": str(temporary), "GOALWARD_CACHE": str(place / "cache"), "COLUMNS": "100"}


def in_child(
    work: Callable[[], object], place: Path, stop: Stop | NoRoom | None, name: str
) -> None:
    code = 70
    try:
        os.setsid()
        _end_with_parent()
        out, err, events = printed_at(place, name)
        for number, path in ((1, out), (2, err)):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            os.dup2(handle, number)
            os.close(handle)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.update(environment(place))
        tempfile.tempdir = None
        os.chdir(place)
        # Processes that this one starts anew import nothing of ours.
        sys.modules["__main__"] = types.ModuleType("__main__")
        resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESS_SPACE, MOST_ADDRESS_SPACE))
        count = _counting(place, stop)
        try:
            work()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except GoalwardError as error:
            print(f"error: {error}", file=sys.stderr)
            code = 1
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        events.write_text(str(count()))
    finally:
        os._exit(code)


def _end_with_parent() -> None:
    """A process that outlives a campaign that was killed is of no use."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def _counting(place: Path, stop: Stop | NoRoom | None) -> Callable[[], int]:
    """Counts what happens to files below a folder; when its turn has come, sends the signal or
    begins to refuse."""
    seen = 0
    inside = str(place)

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if event == "open":
            # In Python code the mode says whether it is written; os.open gives flags alone.
            mode, flags = arguments[1], arguments[2]
            writes = any(c in (mode or "") for c in "wax+") or bool(
                flags & (os.O_WRONLY | os.O_RDWR)
            )
        else:
            writes = event in _FILE_EVENTS
        if not writes or not isinstance(arguments[0], str | Path):
            return
        path = os.path.abspath(arguments[0])  # noqa: PTH100 (a hook has to be quick)
        if not path.startswith(inside):
            return
        seen += 1
        if stop is None:
            return
        if isinstance(stop, NoRoom):
            # Names can be changed and removed on a full disk.
            if seen >= stop.file_event and event in ("open", "os.mkdir"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
            return
        named = os.fspath(arguments[1]) if event == "os.rename" else ""
        if seen == stop.file_event or (stop.before_file and named.endswith(stop.before_file)):
            os.kill(os.getpid(), stop.signal)

    sys.addaudithook(hear)
    return lambda: seen


def goalward_command(
    arguments: Sequence[str], drawing: bool = False, saving_often: bool = True
) -> None:
    """In this very process, which is changed by it: for a fork."""
    from goalward.cli import main
    from goalward.training.progress import UNHURRIED

    if saving_often:
        object.__setattr__(UNHURRIED, "save_s", 0.0)
    if not drawing:
        _draw_nothing()
    sys.argv = ["goalward", *arguments]
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_BACK)
    except KeyboardInterrupt:
        # Before the command began.
        sys.exit(130)
    main()


def _draw_nothing() -> None:
    """A figure's file says which numbers would have been drawn."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    def savefig(self: Figure, path: Any, *_: Any, **__: Any) -> None:
        drawn = hashlib.blake2b(digest_size=16)
        for line in self.findobj(Line2D):
            drawn.update(np.asarray(line.get_xydata()).tobytes())
        for text in self.findobj(Text):
            drawn.update(text.get_text().encode())
        content = drawn.hexdigest().encode()
        if isinstance(path, str | Path):
            Path(path).write_bytes(content)
        else:
            path.write(content)

    setattr(Figure, "savefig", savefig)  # noqa: B010 (an assignment of another kind)
