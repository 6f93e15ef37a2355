"""Commands of goalward as processes that can be stopped at any moment, and how they ended.

A process is a fork of one that has imported everything: importing takes two seconds, and a signal
at a random moment would mostly meet that. `fresh=True` starts an interpreter instead. In a fork,
figures are not drawn unless `drawing` is given (drawing is two thirds of a small evaluation), and a
training is saved after every batch instead of every minute, so that signals meet the saving.
"""

import gc
import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from attacks.children import (
    HELD_BACK,
    NoRoom,
    Stop,
    environment,
    goalward_command,
    in_child,
    printed_at,
)

TESTS = Path(__file__).resolve().parent.parent.parent / "tests"
# On a machine that others use too, a command may rightly take longer: `limit_to`.
_limit_s = 60.0
_ROOMS = (
    *("cli", "rollouts", "embeddings", "training", "values", "metrics", "runs", "report"),
    *("exports", "experiments", "trackers"),
)
# What these rooms and the libraries under them import when it is first needed: a fork would do it
# again every time, and most of a small command would be that (0.4 s of the processor for 0.1 s).
_LATE = (
    *("pandas", "pyarrow.dataset", "pyarrow.compute", "pyarrow.pandas_compat", "onnx"),
    *(
        "transformers",
        "transformers.models.clip.modeling_clip",
        "onnxruntime",
        "torch.onnx",
        "tomli_w",
        "psutil",
        "goalward.simulate.recording.data_set",
    ),
    *("goalward.simulate.branch_file", "goalward.simulate.truth", "mujoco", "simulate.ball_world"),
)
# Where sweeps are under way a process of ours may still be ending; that is no leftover.
_ENDING_S = 10.0


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit status (minus a signal), what it printed, what it needed."""

    code: int
    out: str
    err: str
    seconds: float
    peak_mib: float
    cpu_s: float = 0.0
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
            # Some files need an extra.
            with suppress(ImportError):
                importlib.import_module(found.name)
    for name in _LATE:
        with suppress(ImportError):
            importlib.import_module(name)
    torch.set_num_threads(1)
    # What is imported stays: a fork does not copy it only to look whether it can go.
    gc.freeze()


def limit_to(seconds: float) -> None:
    """What takes longer hangs."""
    global _limit_s
    _limit_s = seconds


def command(
    arguments: Sequence[str],
    place: Path,
    *,
    stop: Stop | NoRoom | None = None,
    fresh: bool = False,
    drawing: bool = False,
    saving_often: bool = True,
    limit_s: float | None = None,
) -> Ended:
    """`goalward ARGUMENTS` in a folder."""
    if fresh:
        return _watched(_started(arguments, place), place, stop, limit_s)

    def work() -> None:
        goalward_command(arguments, drawing, saving_often)

    return in_fork(work, place, stop=stop, limit_s=limit_s)


def start(arguments: Sequence[str], place: Path, name: str) -> "Started":
    """`goalward ARGUMENTS` in a folder, going on beside us; what it prints goes by this name."""
    return Started(_forked(lambda: goalward_command(arguments), place, None, name), place, name)


def in_fork(
    work: Callable[[], object],
    place: Path,
    *,
    stop: Stop | NoRoom | None = None,
    limit_s: float | None = None,
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

    def ended(self, limit_s: float | None = None) -> Ended:
        return _watched(self.process, self.place, None, limit_s, self.name)


# ---- in the parent ------------------------------------------------------------------------------


def _forked(work: Callable[[], object], place: Path, stop: Stop | NoRoom | None, name: str) -> int:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD_BACK)
    process = os.fork()
    if process == 0:
        in_child(work, place, stop, name)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return process


def _started(arguments: Sequence[str], place: Path) -> int:
    code = (
        f"import sys; sys.path.insert(0, {str(TESTS)!r})\n"
        "if 'ball' in sys.argv or 'truth' in sys.argv: import simulate.ball_world\n"
        "from goalward.cli import main; main()"
    )
    out, err, events = printed_at(place, "printed")
    events.unlink(missing_ok=True)
    with out.open("wb") as out_file, err.open("wb") as err_file:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=out_file,
            stderr=err_file,
            env=os.environ | environment(place),
            start_new_session=True,
        )
    # Waited for by its number, as the others are.
    process.returncode = 0
    return process.pid


def _watched(
    process: int,
    place: Path,
    stop: Stop | NoRoom | None,
    limit_s: float | None,
    name: str = "printed",
) -> Ended:
    started = time.monotonic()
    wait_s = stop.seconds if isinstance(stop, Stop) else None
    is_hang = False
    while True:
        found, status, used = os.wait4(process, os.WNOHANG)
        if found:
            break
        passed = time.monotonic() - started
        if wait_s is not None and isinstance(stop, Stop) and passed >= wait_s:
            os.kill(process, stop.signal)
            wait_s = None
        if passed > (limit_s or _limit_s):
            is_hang = True
            os.killpg(process, signal.SIGKILL)
        time.sleep(0.004)
    seconds = time.monotonic() - started
    is_hang |= _has_company(process)
    out, err, events = printed_at(place, name)
    return Ended(
        code=os.waitstatus_to_exitcode(status),
        out=_text(out),
        err=_text(err),
        seconds=seconds,
        peak_mib=used.ru_maxrss / 1024,
        cpu_s=used.ru_utime + used.ru_stime,
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
