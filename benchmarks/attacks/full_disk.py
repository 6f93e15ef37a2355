"""A disk that fills up in the middle of a command; with room again, the same command goes on.

The disk of `full-disk` is a small file system in memory (tmpfs), which takes the right to mount:
root. Without it this part is left out, and says so. `every-write` draws nothing: from the first
file event on there is no room, then from the second on, and so forth to the last.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from attacks.children import NoRoom
from attacks.kills import COMMANDS, SIMULATED, Kills
from attacks.processes import Ended, command
from attacks.results import Outcome, Tried
from attacks.small_files import emptied, files_of, leftovers, renewed, what_differs

PART = "full-disk"
EVERY_WRITE = "every-write"
_PAGE = 4096
_ROOM = 256 << 20


class FullDisk:
    """The part of the campaign in which there is no room."""

    def __init__(self, folder: Path) -> None:
        self._place = folder / "try"
        _unmount(self._place)
        self._why_not = _why_not(folder / "probe")
        self._kills = Kills(folder)
        self.is_simulated = self._kills.is_simulated

    def attack(self, number: int, draws: np.random.Generator) -> Tried:
        name = list(COMMANDS)[number % len(COMMANDS)]
        if self._why_not:
            note = f"left out: {self._why_not}"
            return Tried(PART, number, name, Outcome.RIGHT, note, num_attacks=0)
        known = self._kills.undisturbed(name)
        size = known.num_bytes_before + int(draws.random() * known.num_bytes_made)
        emptied(self._place)
        _mount(self._place, size)
        try:
            for path in Path(known.home).iterdir():
                copy = shutil.copytree if path.is_dir() else shutil.copy2
                copy(path, self._place / path.name)
            first = command(COMMANDS[name], self._place)
            _mount(self._place, _ROOM, "remount,")
            second = command(COMMANDS[name], self._place)
            files = files_of(self._place, figures=False)
        finally:
            _unmount(self._place)
        return _tried(PART, number, name, (first, second), files, known.files, f"{size} bytes")


class EveryWrite:
    """The part of the campaign in which there is no room from every file event on in turn."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self._names = names
        self._place = folder / "try"
        self._kills = Kills(folder, saving_often=False)

    @property
    def num_tries(self) -> int:
        """Once for every event of every command; the commands are run once to count them."""
        return sum(self._kills.undisturbed(name).num_file_events for name in self._names)

    def is_simulated(self, number: int) -> bool:
        return self._names[0] in SIMULATED

    def attack(self, number: int, draws: np.random.Generator) -> Tried:
        before = 0
        for name in self._names:
            known = self._kills.undisturbed(name)
            if number < before + known.num_file_events:
                break
            before += known.num_file_events
        else:
            raise IndexError(number)
        renewed(Path(known.home), self._place)
        stop = NoRoom(number - before + 1)
        first = command(COMMANDS[name], self._place, stop=stop, saving_often=False)
        second = command(COMMANDS[name], self._place, saving_often=False)
        files = files_of(self._place, figures=False)
        both = (first, second)
        return _tried(EVERY_WRITE, number, name, both, files, known.files, str(stop))


def _tried(
    part: str,
    number: int,
    name: str,
    ended: tuple[Ended, Ended],
    files: dict[str, str],
    wanted: dict[str, str],
    how: str,
) -> Tried:
    """`ended` without room and with room again."""
    first, second = ended
    extra = leftovers(files, wanted)
    outcome, why = Outcome.RIGHT, ""
    for one in ended:
        if one.is_hang:
            outcome, why = Outcome.HANG, one.err[-300:]
        elif one.has_traceback or one.code not in (0, 1):
            outcome, why = Outcome.TRACEBACK, f"exit {one.code}: {one.err.strip()[-400:]}"
    if outcome is Outcome.RIGHT and second.code != 0:
        outcome, why = Outcome.REFUSED, f"with room again: {second.err.strip()[-300:]}"
    differing = what_differs(files, wanted)
    if outcome is Outcome.RIGHT and differing:
        outcome, why = Outcome.DIFFERENT, f"differs: {', '.join(differing[:5])}"
    ending = "enough" if first.code == 0 else first.err.strip()[-160:]
    return Tried(
        part=part,
        number=number,
        kind=name,
        outcome=outcome,
        note="; ".join([f"{how}: {ending}", why, *extra]),
        num_leftovers=len(extra),
        peak_mib=max(first.peak_mib, second.peak_mib),
        cpu_s=max(first.cpu_s, second.cpu_s),
    )


def _mount(place: Path, size: int, more: str = "") -> None:
    options = ["-t", "tmpfs", "-o", f"{more}size={max(size, _PAGE)}", "tmpfs", str(place)]
    subprocess.run(["mount", *options], check=True, capture_output=True)


def _unmount(place: Path) -> None:
    if place.exists() and os.path.ismount(place):
        subprocess.run(["umount", str(place)], check=False, capture_output=True)


def _why_not(probe: Path) -> str:
    probe.mkdir(exist_ok=True)
    try:
        _mount(probe, _PAGE)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"a small disk cannot be mounted here ({error})"
    _unmount(probe)
    return ""
