"""Data sets of every format with something wrong in them, and the commands that read them first.

Half of the changes are damage to bytes, half change what a file says: it is whole and means
something else. What a format cannot know (a number in a table without a checksum) may come out
different; what may not is a traceback, a wait without end, or memory without measure.
"""

import hashlib
import re
import sys
from pathlib import Path

import numpy as np

from attacks.children import goalward_command
from attacks.contents import change
from attacks.formats import FORMATS, Format
from attacks.known import Known
from attacks.processes import Ended, checked, in_fork
from attacks.results import Outcome, Tried
from attacks.small_files import (
    DAMAGES,
    SMALL_ENCODER,
    damage,
    emptied,
    renewed,
    write_small_encoder,
)

PART = "mutations"
# What a reading says aloud: a result that differs is no secret where such a line is new.
_TOLD = "told: "
_REFUSED = "refused: "
# A plan times short tries, which take as long as they take.
_DURATION = re.compile(r"\d+(\.\d+)? (s|min|h|minutes|seconds|hours)\b|\d+(\.\d+)? GB")
# One in so many is planned, or embedded, as well.
_MORE_EVERY = 8


class Mutations:
    """The part of the campaign that changes data sets."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._place = folder / "try"
        self._known = Known(folder / "known.json", lambda content: Ended(**content))
        checked(in_fork(lambda: write_small_encoder(folder / "encoder"), folder), "encoder")

    def is_simulated(self, number: int) -> bool:
        return False

    def attack(self, number: int, draws: np.random.Generator) -> Tried:
        name = list(FORMATS)[number % len(FORMATS)]
        verb = "inspect"
        if number // len(FORMATS) % _MORE_EVERY == 0:
            is_embedded = FORMATS[name].path.endswith(".npz")
            verb = "plan" if is_embedded or draws.random() < 0.7 else "embed"
        known = self._undisturbed(name, verb)
        file, how = "", None
        while how is None:
            self._renew(name)
            file, how = self._mutated(draws)
        ended = self._read(name, verb)
        outcome, why = _judged(ended, known)
        suffix = ".tfrecord" if ".tfrecord" in file else Path(file).suffix
        return Tried(
            part=PART,
            number=number,
            kind=name,
            outcome=outcome,
            change=f"{suffix or file}, {how}",
            note=f"{file}, {verb}: {why}",
            peak_mib=ended.peak_mib,
            cpu_s=ended.cpu_s,
        )

    def _renew(self, name: str) -> None:
        home = self._folder / "".join(c if c.isalnum() else "_" for c in name)
        if not home.exists():
            emptied(self._place)
            checked(in_fork(lambda: FORMATS[name].write(self._place), self._place), name)
            renewed(self._place, home)
        renewed(home, self._place)

    def _undisturbed(self, name: str, verb: str) -> Ended:
        def make() -> Ended:
            self._renew(name)
            return checked(self._read(name, verb), f"{verb} {name}")

        return self._known.of(f"{verb} {name}", make)

    def _mutated(self, draws: np.random.Generator) -> tuple[str, str | None]:
        paths = sorted(path for path in self._place.rglob("*") if path.is_file())
        path = paths[draws.integers(len(paths))]
        name = path.relative_to(self._place).as_posix()
        if draws.random() < 0.5:
            how = list(DAMAGES)[draws.integers(len(DAMAGES))]
            return name, how if damage(path, how, draws) else None
        # In a process of its own: libraries that write files have threads, which forks do not like.
        seed = int(draws.integers(2**32))
        before = path.read_bytes()
        ended = in_fork(lambda: print(change(path, np.random.default_rng(seed))), self._place)
        if ended.code != 0 or (path.is_file() and path.read_bytes() == before):
            return name, None
        return name, ended.out.strip()

    def _read(self, name: str, verb: str) -> Ended:
        asked = FORMATS[name]

        def work() -> None:
            if verb == "inspect":
                _tell_all(asked)
                goalward_command(["inspect", asked.path, "--json", *asked.reading])
            elif verb == "embed":
                embedding = (*SMALL_ENCODER, "--device", "cpu", "--out", "e.npz")
                goalward_command(["embed", asked.path, *asked.reading, *embedding])
            else:
                is_embedded = asked.path.endswith(".npz")
                encoder = () if is_embedded else SMALL_ENCODER
                planned = ("--out", "run", "--plan", "--device", "cpu", *encoder, *asked.reading)
                goalward_command(["evaluate", asked.path, *planned])

        return in_fork(work, self._place)


def _tell_all(asked: Format) -> None:
    """All that would be learned from: episodes, numbers, pictures, and what was said of them."""
    import goalward
    from goalward.training.stored.feature_file import read_features

    if asked.path.endswith(".npz"):
        try:
            rollouts = read_features(Path(asked.path))
        except goalward.GoalwardError as error:
            print(_REFUSED, error)
            return
    else:
        labels = asked.reading[1] if asked.reading else None
        try:
            rollouts = goalward.read(asked.path, labels=labels)
        except goalward.GoalwardError as error:
            print(_REFUSED, error)
            return
    for text in (
        *rollouts.warnings,
        *(f"{one.episode_id}: {one.reason}" for one in rollouts.left_out),
    ):
        print(_TOLD, text.replace("\n", " "))
    if rollouts.features is not None:
        print(hashlib.sha256(np.ascontiguousarray(rollouts.features).data).hexdigest())
    for episode in rollouts:
        facts = (episode.id, episode.num_frames, episode.outcome, episode.goal_frame, episode.task)
        print(facts, episode.fps, hashlib.sha256(episode.proprioception.tobytes()).hexdigest())
        for camera in episode.cameras:
            try:
                seen = hashlib.sha256(b"".join(f.tobytes() for f in episode.frames(camera)))
                print(camera, seen.hexdigest())
            except goalward.GoalwardError as error:
                print(_TOLD, error)
    sys.stdout.flush()


def _judged(ended: Ended, known: Ended) -> tuple[Outcome, str]:
    last_words = ended.err.strip()[-300:]
    if ended.is_hang:
        return Outcome.HANG, last_words
    if ended.has_traceback or ended.code not in (0, 1, 2):
        return Outcome.TRACEBACK, f"exit {ended.code}: {last_words}"
    refused = [line for line in ended.out.splitlines() if line.startswith(_REFUSED)]
    if ended.code != 0 or refused:
        return Outcome.REFUSED, refused[0] if refused else last_words
    found, wanted = _DURATION.sub("", ended.out), _DURATION.sub("", known.out)
    if found == wanted:
        return Outcome.RIGHT, ""
    told = _told(ended) - _told(known)
    if told:
        return Outcome.TOLD, min(told)
    return Outcome.DIFFERENT, _first_difference(found, wanted)


def _told(ended: Ended) -> set[str]:
    lines = ended.out.splitlines() + ended.err.splitlines()
    return {line for line in lines if line.startswith((_TOLD, "warning:"))}


def _first_difference(found: str, wanted: str) -> str:
    pairs = zip(found.splitlines(), wanted.splitlines(), strict=False)
    return next((f"{a[:120]} for {b[:120]}" for a, b in pairs if a != b), "more or fewer lines")
