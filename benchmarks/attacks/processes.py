"""Commands of goalward as processes that can be stopped at any moment, and how they ended.

A process is a fork of one that has imported everything: importing takes two seconds, and a signal
at a random moment would mostly meet that. `fresh=True` starts an interpreter instead. In a fork,
figures are not drawn unless `drawing` is given (drawing is two thirds of a small evaluation), and a
training is saved after every batch instead of every minute, so that signals meet the saving.
"""

import ctypes
import gc
import hashlib
import importlib
import os
import pkgutil
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from goalward.errors import GoalwardError

TESTS = Path(__file__).resolve().parent.parent.parent / "tests"
LIMIT_S = 60.0
# Enough for everything that is asked for honestly; a file that lies about its size meets this.
MOST_ADDRESS_SPACE = 12 << 30
# Rooms that need nothing that may not be there.
_ROOMS = ("cli", "rollouts", "training", "values", "metrics", "runs", "report", "exports")
_FILE_EVENTS = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate")
# Where sweeps are under way a process of ours may still be ending; that is no leftover.
_ENDING_S = 10.0


@dataclass(frozen=True)
class Stop:
    """A signal after so many seconds, or before the file event of this number."""

    signal: signal.Signals
    seconds: float | None = None
    file_event: int | None = None

    def __str__(self) -> str:
        when = f"after {self.seconds:.2f} s" if self.seconds is not None else ""
        return f"{self.signal.name} {when or f'at file event {self.file_event}'}"


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit status (minus a signal), what it printed, what it needed."""

    code: int
    out: str
    err: str
    seconds: float
    peak_mib: float
    is_hang: bool = False
    num_file_events: int = 0

    @property
    def has_traceback(self) -> bool:
        return "Traceback (most recent call last)" in self.err + self.out

    @property
    def was_stopped(self) -> bool:
        """By a signal that it did not survive, or that it heard and obeyed."""
        return self.code in (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, 130, 143)


def warm_up() -> None:
    """Import what commands import, so that forks need not; nothing is computed here."""
    os.environ["OMP_NUM_THREADS"] = "1"
    sys.path.insert(0, str(TESTS))
    import av  # noqa: F401
    import h5py  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import torch

    for room in _ROOMS:
        package = importlib.import_module(f"goalward.{room}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)
    try:
        import mujoco  # noqa: F401

        from simulate import ball_world  # noqa: F401
    except ImportError:
        pass
    torch.set_num_threads(1)
    # What is imported stays: a fork does not copy it only to look whether it can go.
    gc.freeze()


def command(
    arguments: Sequence[str],
    place: Path,
    *,
    stop: Stop | None = None,
    fresh: bool = False,
    drawing: bool = False,
    limit_s: float = LIMIT_S,
) -> Ended:
    """`goalward ARGUMENTS` in a folder."""
    if fresh:
        return _watched(_started(arguments, place), place, stop, limit_s)
    return in_fork(lambda: goalward_command(arguments, drawing), place, stop=stop, limit_s=limit_s)


def start(arguments: Sequence[str], place: Path, name: str) -> "Started":
    """`goalward ARGUMENTS` in a folder, going on beside us; what it prints goes by this name."""
    return Started(_forked(lambda: goalward_command(arguments), place, None, name), place, name)


def in_fork(
    work: Callable[[], object],
    place: Path,
    *,
    stop: Stop | None = None,
    limit_s: float = LIMIT_S,
) -> Ended:
    """Anything in a process of its own."""
    return _watched(_forked(work, place, stop, "printed"), place, stop, limit_s)


def checked(ended: Ended, what: str) -> Ended:
    """What nobody disturbed has to go well, or there is nothing to compare with."""
    if ended.code != 0:
        raise SystemExit(f"{what}, undisturbed, ended with {ended.code}:\n{ended.out}{ended.err}")
    return ended


@dataclass(frozen=True)
class Started:
    """A process on its way."""

    process: int
    place: Path
    name: str

    def ended(self, limit_s: float = LIMIT_S) -> Ended:
        return _watched(self.process, self.place, None, limit_s, self.name)


# ---- in the parent ------------------------------------------------------------------------------


def _printed(place: Path, name: str) -> tuple[Path, Path, Path]:
    """Beside the folder, so that what is printed is none of its files."""
    out, err, events = (f"{place.name}.{name}.{end}" for end in ("out", "err", "events"))
    return place.parent / out, place.parent / err, place.parent / events


def _forked(work: Callable[[], object], place: Path, stop: Stop | None, name: str) -> int:
    process = os.fork()
    if process == 0:
        _in_child(work, place, stop, name)
    return process


def _started(arguments: Sequence[str], place: Path) -> int:
    code = (
        f"import sys; sys.path.insert(0, {str(TESTS)!r})\n"
        "if 'ball' in sys.argv or 'truth' in sys.argv: import simulate.ball_world\n"
        "from goalward.cli import main; main()"
    )
    out, err, events = _printed(place, "printed")
    events.unlink(missing_ok=True)
    with out.open("wb") as out_file, err.open("wb") as err_file:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=out_file,
            stderr=err_file,
            env=os.environ | _environment(place),
            start_new_session=True,
        )
    # Waited for by its number, as the others are.
    process.returncode = 0
    return process.pid


def _watched(
    process: int, place: Path, stop: Stop | None, limit_s: float, name: str = "printed"
) -> Ended:
    started = time.monotonic()
    wait_s = None if stop is None else stop.seconds
    is_hang = False
    while True:
        found, status, used = os.wait4(process, os.WNOHANG)
        if found:
            break
        passed = time.monotonic() - started
        if wait_s is not None and stop is not None and passed >= wait_s:
            os.kill(process, stop.signal)
            wait_s = None
        if passed > limit_s:
            is_hang = True
            os.killpg(process, signal.SIGKILL)
        time.sleep(0.004)
    seconds = time.monotonic() - started
    is_hang |= _has_company(process)
    out, err, events = _printed(place, name)
    return Ended(
        code=os.waitstatus_to_exitcode(status),
        out=_text(out),
        err=_text(err),
        seconds=seconds,
        peak_mib=used.ru_maxrss / 1024,
        is_hang=is_hang,
        num_file_events=int(_text(events) or 0),
    )


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def _has_company(process: int) -> bool:
    """Whether processes that this one started live on; they are given time, and then ended."""
    until = time.monotonic() + _ENDING_S
    while time.monotonic() < until:
        try:
            os.killpg(process, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    os.killpg(process, signal.SIGKILL)
    return True


# ---- in the child -------------------------------------------------------------------------------


def _environment(place: Path) -> dict[str, str]:
    temporary = place / "tmp"
    temporary.mkdir(exist_ok=True)
    return {"TMPDIR": str(temporary), "GOALWARD_CACHE": str(place / "cache"), "COLUMNS": "100"}


def _in_child(work: Callable[[], object], place: Path, stop: Stop | None, name: str) -> None:
    code = 70
    try:
        os.setsid()
        _end_with_parent()
        out, err, events = _printed(place, name)
        for number, path in ((1, out), (2, err)):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            os.dup2(handle, number)
            os.close(handle)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.update(_environment(place))
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


def _counting(place: Path, stop: Stop | None) -> Callable[[], int]:
    """Counts what happens to files below a folder, and sends the signal when its turn has come."""
    seen = 0
    inside = str(place)
    fatal = None if stop is None else stop.file_event

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
        if seen == fatal and stop is not None:
            os.kill(os.getpid(), stop.signal)

    sys.addaudithook(hear)
    return lambda: seen


def goalward_command(arguments: Sequence[str], drawing: bool = False) -> None:
    """In this very process, which is changed by it: for a fork."""
    from goalward.cli import main
    from goalward.training.progress import UNHURRIED

    object.__setattr__(UNHURRIED, "save_s", 0.0)
    if not drawing:
        _draw_nothing()
    sys.argv = ["goalward", *arguments]
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
