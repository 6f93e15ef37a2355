"""Several processes at once: evaluations with different options into one folder, one cache for all.

Each evaluation has to end with its own answer or say that somebody else is at work, and every
folder that there is afterwards has to hold one evaluation whole: settings, networks and values.
"""

import re
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attacks.kills import data_at
from attacks.processes import Ended, checked, command, in_fork, start
from attacks.results import Outcome, Tried
from attacks.small_files import SMALL_ENCODER, TINY, emptied, files_of, renewed, write_small_encoder

PART = "together"
_EVALUATE = ("evaluate", "features.npz", "--out", "run", "--no-report", *TINY)
# Options that all go to one folder; each gives other values.
VARIANTS: Mapping[str, Sequence[str]] = {
    "one seed": (*_EVALUATE, "--seeds", "1"),
    "two seeds": (*_EVALUATE, "--seeds", "2"),
    "mc": (*_EVALUATE, "--seeds", "1", "--methods", "mc"),
    "another split": (*_EVALUATE, "--seeds", "1", "--split-seed", "7"),
}
_EMBED = ("embed", "data", *SMALL_ENCODER, "--device", "cpu")
# What an evaluation is, apart from where and by whom it was made.
_RESULTS = re.compile(
    r"(episodes|outcomes|events|training_log)\.csv|(values|chances)\.parquet|scores\.json|networks/.*"
)
_FOLDER = re.compile(r"\brun-\d+\b")


class Together:
    """The part of the campaign in which processes share folders."""

    def __init__(self, folder: Path) -> None:
        self._home = folder / "home"
        self._place = folder / "try"
        self._known: dict[str, tuple[Any, dict[str, str], str]] = {}
        self._embedded = ""
        checked(in_fork(lambda: write_small_encoder(folder / "encoder"), folder), "encoder")
        if not self._home.exists():
            emptied(self._place)
            checked(in_fork(data_at(self._place), self._place), "data")
            renewed(self._place, self._home)

    def is_simulated(self, number: int) -> bool:
        return False

    def attack(self, number: int, draws: np.random.Generator) -> Tried:
        num_processes = 2 if number % 5 else 4
        embedding = number % 6 == 5
        names = [f"process {index}" for index in range(num_processes)]
        if not embedding:
            names = [str(name) for name in draws.permutation(list(VARIANTS))[:num_processes]]
        ended = self._embed(names, draws) if embedding else self._evaluate(names, draws)
        outcome, why = _judged_alone(ended)
        if outcome is Outcome.RIGHT:
            outcome, why = self._same_features(names) if embedding else self._unmixed(names, ended)
        what = "embeddings, one cache" if embedding else "evaluations, one folder"
        extra = [name for name in files_of(self._place) if "/." in f"/{name}"]
        return Tried(
            part=PART,
            number=number,
            kind=f"{num_processes} {what}",
            outcome=outcome,
            note=f"{', '.join(names)}: {'; '.join([why, *extra])}",
            num_leftovers=len(extra),
            peak_mib=max(one.peak_mib for one in ended),
            cpu_s=max(one.cpu_s for one in ended),
        )

    def _evaluate(self, names: Sequence[str], draws: np.random.Generator) -> list[Ended]:
        for name in names:
            self._undisturbed(name)
        return self._side_by_side({name: VARIANTS[name] for name in names}, draws)

    def _embed(self, names: Sequence[str], draws: np.random.Generator) -> list[Ended]:
        if not self._embedded:
            renewed(self._home, self._place)
            checked(command((*_EMBED, "--out", "alone.npz"), self._place), "embed")
            self._embedded = files_of(self._place)["alone.npz"]
        outs = {name: f"{name.replace(' ', '_')}.npz" for name in names}
        return self._side_by_side({name: (*_EMBED, "--out", outs[name]) for name in names}, draws)

    def _side_by_side(
        self, commands: Mapping[str, Sequence[str]], draws: np.random.Generator
    ) -> list[Ended]:
        renewed(self._home, self._place)
        started = []
        for name, arguments in commands.items():
            started.append(start(arguments, self._place, name.replace(" ", "_")))
            time.sleep(float(draws.uniform(0, 0.5)) * int(draws.integers(2)))
        return [process.ended() for process in started]

    def _undisturbed(self, name: str) -> tuple[Any, dict[str, str], str]:
        if name not in self._known:
            renewed(self._home, self._place)
            ended = checked(command(VARIANTS[name], self._place), name)
            folder = self._place / "run"
            self._known[name] = (_settings(folder), _results(folder), ended.out)
        return self._known[name]

    def _unmixed(self, names: Sequence[str], ended: Sequence[Ended]) -> tuple[Outcome, str]:
        folders = sorted(path for path in self._place.glob("run*") if path.is_dir())
        whole: set[str] = set()
        for folder in folders:
            settings, results = _settings(folder), _results(folder)
            mine = [name for name in VARIANTS if self._undisturbed_settings(name) == settings]
            if not mine or results != self._known[mine[0]][1]:
                return Outcome.DIFFERENT, f"{folder.name} holds a mixture of {mine or 'unknown'}"
            whole.add(mine[0])
        refused = 0
        for name, one in zip(names, ended, strict=True):
            if one.code != 0:
                refused += 1
            elif name not in whole:
                return Outcome.DIFFERENT, f"{name} ended well, and no folder holds it"
            elif _FOLDER.sub("run", one.out) != self._known[name][2]:
                return Outcome.DIFFERENT, f"{name} printed another answer"
        if refused:
            said = next(one.err for one in ended if one.code != 0)
            return Outcome.REFUSED, f"{refused} refused: {said.strip()[-200:]}"
        return Outcome.RIGHT, ""

    def _undisturbed_settings(self, name: str) -> Any:
        return self._known[name][0] if name in self._known else None

    def _same_features(self, names: Sequence[str]) -> tuple[Outcome, str]:
        found = files_of(self._place)
        outs = [f"{name.replace(' ', '_')}.npz" for name in names]
        differing = [name for name in outs if found.get(name) != self._embedded]
        if differing:
            return Outcome.DIFFERENT, f"{differing[0]} holds other features"
        return Outcome.RIGHT, ""


def _judged_alone(ended: Sequence[Ended]) -> tuple[Outcome, str]:
    for one in ended:
        if one.is_hang:
            return Outcome.HANG, one.err.strip()[-300:]
        if one.has_traceback or one.code not in (0, 1):
            return Outcome.TRACEBACK, f"exit {one.code}: {one.err.strip()[-300:]}"
    if all(one.code != 0 for one in ended):
        return Outcome.TRACEBACK, f"none came to its end: {ended[0].err.strip()[-300:]}"
    return Outcome.RIGHT, ""


def _settings(folder: Path) -> Any:
    """What was asked for; not the command, nor where it was to go."""
    try:
        content = tomllib.loads((folder / "config.toml").read_text())
    except (OSError, ValueError):
        return None
    content.pop("made_by", None)
    return content


def _results(folder: Path) -> dict[str, str]:
    return {name: digest for name, digest in files_of(folder).items() if _RESULTS.fullmatch(name)}
