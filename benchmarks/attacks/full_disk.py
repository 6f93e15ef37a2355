"""A disk that fills up in the middle of a command; with room again, the same command goes on.

The disk is a small file system in memory (tmpfs), which takes the right to mount: root. Without it
this part is left out, and says so.
"""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

from attacks.kills import COMMANDS, Kills
from attacks.processes import command
from attacks.results import Outcome, Tried
from attacks.small_files import emptied, files_of, leftovers, what_differs

PART = "full-disk"
_PAGE = 4096
_ROOM = 256 << 20


class FullDisk:
    """The part of the campaign in which there is no room."""

    def __init__(self, folder: Path) -> None:
        self._place = folder / "try"
        _unmount(self._place)
        self._why_not = _why_not(folder / "probe")
        self._kills = Kills(folder)

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
        extra = leftovers(files, known.files)
        outcome, why = Outcome.RIGHT, ""
        for one in (first, second):
            if one.is_hang:
                outcome, why = Outcome.HANG, one.err[-300:]
            elif one.has_traceback or one.code not in (0, 1):
                outcome, why = Outcome.TRACEBACK, f"exit {one.code}: {one.err.strip()[-400:]}"
        if outcome is Outcome.RIGHT and second.code != 0:
            outcome, why = Outcome.REFUSED, f"with room again: {second.err.strip()[-300:]}"
        differing = what_differs(files, known.files)
        if outcome is Outcome.RIGHT and differing:
            outcome, why = Outcome.DIFFERENT, f"differs: {', '.join(differing[:5])}"
        ending = "enough" if first.code == 0 else first.err.strip()[-160:]
        return Tried(
            part=PART,
            number=number,
            kind=name,
            outcome=outcome,
            note="; ".join([f"{size} bytes: {ending}", why, *extra]),
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
