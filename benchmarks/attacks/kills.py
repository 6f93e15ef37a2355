"""Commands stopped at random moments, then run to their end: as if nothing had happened.

Half of the moments are times, half are file events: just before the n-th time that a file is opened
to be written, renamed or removed, which is where a half-finished change would show.
"""

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from attacks.children import Stop
from attacks.known import Known
from attacks.processes import Ended, checked, command, in_fork
from attacks.results import Outcome, Tried
from attacks.small_files import (
    SMALL_ENCODER,
    TINY,
    emptied,
    files_of,
    leftovers,
    num_bytes,
    renewed,
    what_differs,
    write_small_encoder,
    write_small_features,
    write_small_lerobot,
)

PART = "kills"
_EVALUATE = ("evaluate", "features.npz", "--out", "run", "--seeds", "1", *TINY)
_EMBED = ("embed", "data", *SMALL_ENCODER, "--device", "cpu", "--out", "embedded.npz")
_OF_DATA = ("evaluate", "data", "--out", "run_of_data", *SMALL_ENCODER, "--seeds", "1")
COMMANDS = {
    "evaluate": (*_EVALUATE, "--no-report"),
    "evaluate, report": _EVALUATE,
    "embed": _EMBED,
    "fit": (
        "fit",
        "features.npz",
        "--out",
        "fit",
        "--methods",
        "liveness,mc",
        "--seeds",
        "2",
        *TINY,
    ),
    "simulate": (
        *("simulate", "ball", "--out", "sim", "--episodes", "4", "--balanced"),
        *("--size", "16", "--workers", "1"),
    ),
    "truth": ("truth", "sim", "--frames", "6", "--rollouts", "8", "--workers", "1"),
    "export in place, evo-rl": (
        "export",
        "run_of_data",
        "--to",
        "evo-rl",
        "--in-place",
        "--anyway",
    ),
    "export in place, lerobot-progress": (
        *("export", "run_of_data", "--to", "lerobot-progress", "--in-place", "--anyway"),
    ),
}
# Which of them draw worlds, or need some that were drawn.
SIMULATED = ("simulate", "truth")
# Which commands have to be done before, once.
_BEFORE = {
    "truth": (COMMANDS["simulate"],),
    "export in place, evo-rl": ((*_OF_DATA, *TINY, "--no-report"),),
    "export in place, lerobot-progress": ((*_OF_DATA, *TINY, "--no-report"),),
}
_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_MOST_STOPS = 3
# One in so many has an interpreter of its own, so that starting it is stopped too.
_FRESH_EVERY = 10


@dataclass(frozen=True)
class Undisturbed:
    """What a command makes when nobody disturbs it, and how long that takes."""

    home: str
    files: dict[str, str]
    seconds: float
    num_file_events: int
    num_bytes_before: int
    num_bytes_made: int


class Kills:
    """The part of the campaign that stops commands."""

    def __init__(self, folder: Path, *, saving_often: bool = True) -> None:
        self._folder = folder
        self._saving_often = saving_often
        self._place = folder / "try"
        self._known = Known(folder / "known.json", lambda content: Undisturbed(**content))
        checked(in_fork(lambda: write_small_encoder(folder / "encoder"), folder), "encoder")

    def is_simulated(self, number: int) -> bool:
        return list(COMMANDS)[number % len(COMMANDS)] in SIMULATED

    def attack(self, number: int, draws: np.random.Generator) -> Tried:
        name = list(COMMANDS)[number % len(COMMANDS)]
        known = self.undisturbed(name)
        renewed(Path(known.home), self._place)
        fresh = number % _FRESH_EVERY == 0
        stops: list[str] = []
        ended: list[Ended] = []
        for _ in range(int(draws.integers(1, _MOST_STOPS + 1))):
            stop = _moment(known, draws, by_time=fresh)
            ended.append(command(COMMANDS[name], self._place, stop=stop, fresh=fresh))
            stops.append(str(stop))
            if not ended[-1].was_stopped:
                break
        ended.append(command(COMMANDS[name], self._place))
        # A fresh interpreter draws its figures, a fork does not.
        files = files_of(self._place, figures=False)
        outcome, why = _judged(ended, files, known.files)
        extra = leftovers(files, known.files)
        return Tried(
            part=PART,
            number=number,
            kind=name,
            outcome=outcome,
            note="; ".join([*stops, *why, *extra]),
            num_leftovers=len(extra),
            peak_mib=max(one.peak_mib for one in ended),
            cpu_s=max(one.cpu_s for one in ended),
            num_attacks=len(stops),
        )

    def undisturbed(self, name: str) -> Undisturbed:
        return self._known.of(name, lambda: self._make(name))

    def _make(self, name: str) -> Undisturbed:
        """Made at the place of the tries, and left there."""
        home = self._folder / f"home {name}".replace(",", "").replace(" ", "_")
        if not home.exists():
            self._make_home(home, name)
        renewed(home, self._place)
        ended = command(COMMANDS[name], self._place, saving_often=self._saving_often)
        checked(ended, name)
        before = num_bytes(home)
        return Undisturbed(
            home=str(home),
            files=files_of(self._place, figures=False),
            seconds=ended.seconds,
            num_file_events=ended.num_file_events,
            num_bytes_before=before,
            num_bytes_made=num_bytes(self._place) - before,
        )

    def _make_home(self, home: Path, name: str) -> None:
        """At the place of the tries: some files note where they were made."""
        emptied(self._place)
        checked(in_fork(data_at(self._place), self._place), "data")
        for before in _BEFORE.get(name, ()):
            checked(command(before, self._place), " ".join(before))
        renewed(self._place, home)


def data_at(place: Path) -> Callable[[], None]:
    """A function that writes what the commands begin with."""

    def make() -> None:
        write_small_features(place / "features.npz")
        write_small_lerobot(place / "data")

    return make


def _moment(known: Undisturbed, draws: np.random.Generator, *, by_time: bool) -> Stop:
    name = _SIGNALS[draws.integers(len(_SIGNALS))]
    if by_time or draws.random() < 0.5:
        # A fresh interpreter takes seconds longer.
        most = known.seconds + (3.0 if by_time else 0.0)
        return Stop(name, seconds=float(draws.uniform(0, most)))
    return Stop(name, file_event=int(draws.integers(1, max(known.num_file_events, 1) + 1)))


def _judged(
    ended: list[Ended], files: dict[str, str], wanted: dict[str, str]
) -> tuple[Outcome, list[str]]:
    why = [one.err.strip().splitlines()[-1] for one in ended if one.has_traceback]
    if any(one.is_hang for one in ended):
        return Outcome.HANG, why
    if why:
        return Outcome.TRACEBACK, why
    last = ended[-1]
    if last.code != 0:
        told = [f"then exit {last.code}: {last.err.strip()[-300:]}"]
        return (Outcome.REFUSED if last.code in (1, 2) else Outcome.TRACEBACK), told
    stopped = [one for one in ended[:-1] if not one.was_stopped and one.code != 0]
    if stopped:
        return Outcome.TRACEBACK, [f"stopped with exit {stopped[0].code}: {stopped[0].err[-300:]}"]
    differing = what_differs(files, wanted)
    if differing:
        return Outcome.DIFFERENT, [f"differs: {', '.join(differing[:5])}"]
    return Outcome.RIGHT, []
