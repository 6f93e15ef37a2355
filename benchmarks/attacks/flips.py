"""Files that goalward wrote, damaged on disk, and every command that reads them back.

A bit that flipped, a file that was cut, a stretch of zeros, a file of another run in its place: the
command finds out and says so, makes the file anew, or never needed it.
"""

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attacks.children import Stop, goalward_command
from attacks.kills import COMMANDS as KILLED
from attacks.kills import data_at
from attacks.known import Known
from attacks.processes import Ended, checked, command, in_fork
from attacks.read_back import fetched, monitored, opened
from attacks.results import Outcome, Tried
from attacks.small_files import (
    DAMAGES,
    SMALL_ENCODER,
    TINY,
    damage,
    emptied,
    files_of,
    renewed,
    what_differs,
    write_small_encoder,
    write_small_features,
)

PART = "flips"
_SWAPPED = "swapped"
_PIPE = "a pipe in its place"
_EVALUATE = ("--seeds", "1", *TINY, "--no-report")
_FIT = ("--methods", "liveness,mc", "--seeds", "2", *TINY)
_SIMULATE = tuple(part for part in KILLED["simulate"] if part not in ("--out", "sim"))
_TRUTH = ("truth", "sim", "--frames", "6", "--rollouts", "8", "--workers", "1")


VERBS: dict[str, Sequence[str] | Callable[[], None]] = {
    "evaluate": ("evaluate", "features.npz", "--out", "run", *_EVALUATE),
    "predict": ("predict", "run", "features.npz", "--out", "predicted.parquet"),
    "export": ("export", "run", "--to", "csv"),
    "report": ("report", "run"),
    "sheet": ("sheet", "run", "0", "--cameras", ""),
    "compare": ("compare", "run", "run_b"),
    "episodes": ("episodes", "run"),
    "audit": ("audit", "run"),
    "curate": ("curate", "run", "--anyway"),
    "evaluate by its networks": (
        *("evaluate", "features_b.npz", "--out", "other", "--values", "run"),
        *("--device", "cpu", "--no-report"),
    ),
    "open_run": opened,
    "evaluate, going on": ("evaluate", "features.npz", "--out", "half", *_EVALUATE),
    "fit": ("fit", "features.npz", "--out", "fit", *_FIT),
    "fit, going on": ("fit", "features.npz", "--out", "fit_half", *_FIT),
    "predict by fit": ("predict", "fit", "features.npz", "--out", "predicted.parquet"),
    "embed": KILLED["embed"],
    "embed in 8 bits": (
        *("embed", "data", *SMALL_ENCODER, "--device", "cpu", "--precision", "int8"),
        *("--cache", "cache_8", "--out", "embedded_8.npz"),
    ),
    "monitor": monitored,
    "read from a store": fetched,
    "evaluate embedded": ("evaluate", "embedded.npz", "--out", "run_c", *_EVALUATE),
    "simulate, going on": (*_SIMULATE, "--out", "sim_half"),
    "simulate, nearly done": (*_SIMULATE, "--out", "sim_late"),
    "inspect": ("inspect", "sim", "--json"),
    "truth": _TRUTH,
    "evaluate with truth": (*("evaluate", "sim", "--out", "run_d", *SMALL_ENCODER, *_EVALUATE),),
    "export in place": KILLED["export in place, evo-rl"],
}
_RUN_READERS = (
    *("evaluate", "predict", "export", "report", "sheet", "compare", "episodes", "open_run"),
    *("audit", "curate", "evaluate by its networks"),
)


@dataclass(frozen=True)
class Target:
    """A kind of file: where they lie, which commands read them, in which other folder a peer is."""

    pattern: str
    verbs: tuple[str, ...]
    peers: tuple[str, str] | None = None


_RUN_FILES = (
    *("config.toml", "episodes.csv", "outcomes.csv", "training_log.csv", "values.parquet"),
    *("chances.parquet", "events.csv", "scores.json", "steps.json"),
)
TARGETS = {
    **{
        f"run/{name}": Target(f"run/{name}", _RUN_READERS, ("run/", "run_b/"))
        for name in _RUN_FILES
    },
    **{
        f"run/{name}": Target(f"run/{name}", ("evaluate", "report"), ("run/", "run_b/"))
        for name in ("summary.md", "tables/*", "figures/*")
    },
    "run/networks/": Target(
        "run/networks/*",
        ("evaluate", "predict", "evaluate by its networks"),
        ("run/", "run_b/"),
    ),
    "half-trained run": Target("half/**/*", ("evaluate, going on",), ("half/", "run/")),
    "fit": Target("fit/*", ("predict by fit", "fit"), ("fit/", "fit_half/")),
    "half-trained fit": Target("fit_half/*", ("fit, going on",), ("fit_half/", "fit/")),
    "embedding cache": Target("cache/**/*", ("embed",)),
    "encoder in 8 bits": Target("cache_8/**/*", ("embed in 8 bits",)),
    "monitor": Target("monitor/*", ("monitor",)),
    "files of a store": Target("stores/**/*", ("read from a store",)),
    "feature file": Target("embedded.npz", ("evaluate embedded",)),
    "simulated data set": Target("sim/[dmv]*/**/*", ("inspect", "truth", "evaluate with truth")),
    "half-simulated, pictures": Target(
        "sim_half/**/*", ("simulate, going on",), ("sim_half/", "sim/")
    ),
    "half-simulated, tables": Target(
        "sim_late/**/*", ("simulate, nearly done",), ("sim_late/", "sim_other/")
    ),
    "simulation": Target("sim/simulation/**/*", ("truth", "inspect", "evaluate with truth")),
    "truth": Target("sim/truth*", ("truth", "evaluate with truth")),
    "record of exports": Target("data/meta/goalward_exports.json", ("export in place",)),
}


@dataclass(frozen=True)
class _Undisturbed:
    """What a command prints and leaves when nothing is damaged."""

    ended: Ended
    files: dict[str, str]


class Flips:
    """The part of the campaign that damages files of ours."""

    def __init__(self, folder: Path, *, simulator: bool = True) -> None:
        self._home = folder / "home"
        self._place = folder / "try"
        self._known = Known(folder / "known.json", _read)
        checked(in_fork(lambda: write_small_encoder(folder / "encoder"), folder), "encoder")
        if not self._home.exists():
            _make_home(self._place)
            if simulator:
                _simulate_in(self._place)
            self._place.rename(self._home)

    def is_simulated(self, number: int) -> bool:
        kind = list(TARGETS)[number % len(TARGETS)]
        return TARGETS[kind].pattern.startswith("sim")

    def attack(self, number: int, draws: np.random.Generator) -> Tried:
        kind = list(TARGETS)[number % len(TARGETS)]
        target = TARGETS[kind]
        verb = target.verbs[draws.integers(len(target.verbs))]
        known = self._undisturbed(verb)
        how = ""
        damaged = ""
        # Some damage is none: a zero that is zeroed.
        while not how:
            renewed(self._home, self._place)
            damaged, how = _damaged(self._place, target, draws)
        before = files_of(self._place)
        ended = _run(verb, self._place)
        outcome, why = _judged(ended, files_of(self._place), known, before, damaged)
        return Tried(
            part=PART,
            number=number,
            kind=kind,
            outcome=outcome,
            change=how.partition(" for ")[0],
            note=f"{damaged} {how}, {verb}: {why}",
            peak_mib=ended.peak_mib,
            cpu_s=ended.cpu_s,
        )

    def _undisturbed(self, verb: str) -> _Undisturbed:
        def make() -> _Undisturbed:
            renewed(self._home, self._place)
            ended = checked(_run(verb, self._place), verb)
            return _Undisturbed(ended, files_of(self._place))

        return self._known.of(verb, make)


def _read(content: dict[str, Any]) -> _Undisturbed:
    return _Undisturbed(Ended(**content["ended"]), content["files"])


def _run(verb: str, place: Path) -> Ended:
    asked = VERBS[verb]
    return in_fork(asked, place) if callable(asked) else command(asked, place)


def _make_home(place: Path) -> None:
    """All that the commands read, made where the tries are: files note where they were made."""
    emptied(place)

    def more() -> None:
        data_at(place)()
        write_small_features(place / "features_b.npz", seed=1)

    checked(in_fork(more, place), "data")
    for arguments in (
        VERBS["evaluate"],
        ("evaluate", "features_b.npz", "--out", "run_b", *_EVALUATE),
        VERBS["fit"],
        KILLED["embed"],
        ("evaluate", "data", "--out", "run_of_data", *SMALL_ENCODER, *_EVALUATE),
        VERBS["export in place"],
        VERBS["embed in 8 bits"],
        ("export", "run", "--to", "onnx", "--out", "monitor"),
    ):
        assert not callable(arguments)
        checked(command(arguments, place), " ".join(arguments))
    checked(in_fork(fetched, place), "read from a store")
    # Without embeddings the network that makes them is needed again.
    for path in (place / "cache_8").rglob("*.safetensors"):
        path.unlink()
    for verb, progress in (
        ("evaluate, going on", place / "half/networks/progress.safetensors"),
        ("fit, going on", place / "fit_half/progress.safetensors"),
    ):
        arguments = VERBS[verb]
        assert not callable(arguments)
        _stop_with(progress, arguments, place)


def _simulate_in(place: Path) -> None:
    """Simulated data sets, finished and half finished."""
    for arguments in (
        KILLED["simulate"],
        (*_SIMULATE, "--out", "sim_other", "--seed", "1"),
        _TRUTH,
    ):
        checked(command(arguments, place), " ".join(arguments))
    for verb, missing in (
        ("simulate, going on", "sim_half/simulation/traces/episode_000000.npz"),
        ("simulate, nearly done", "sim_late/meta/info.json"),
    ):
        arguments = VERBS[verb]
        assert not callable(arguments)
        ended = command(arguments, place, stop=Stop(signal.SIGKILL, before_file=missing))
        if not ended.was_stopped:
            raise SystemExit(f"{verb}: {missing} is never written")


def _stop_with(file: Path, arguments: Sequence[str], place: Path) -> None:
    """Stopped while this file is there, and whole."""
    for file_event in range(20, 400, 7):
        stop = Stop(signal.SIGKILL, file_event=file_event)
        ended = in_fork(lambda: goalward_command(arguments), place, stop=stop)
        if file.is_file():
            return
        checked(ended, f"{file.name} is never there") if not ended.was_stopped else None
    raise SystemExit(f"{file}: is never there")


def _damaged(place: Path, target: Target, draws: np.random.Generator) -> tuple[str, str]:
    """The file that was damaged and how; no word for how if nothing came of it."""
    paths = sorted(path for path in place.glob(target.pattern) if path.is_file())
    path = paths[draws.integers(len(paths))]
    name = path.relative_to(place).as_posix()
    ways = [*DAMAGES, _SWAPPED, _PIPE]
    how = ways[draws.integers(len(ways))]
    if how == _PIPE:
        path.unlink()
        os.mkfifo(path)
        return name, how
    if how != _SWAPPED:
        return name, how if damage(path, how, draws) else ""
    others = [one for one in paths if one != path and one.suffix == path.suffix]
    if target.peers is not None:
        other = place / name.replace(*target.peers, 1)
        others = [other] if other.is_file() else others
    others = [one for one in others if one.read_bytes() != path.read_bytes()]
    if not others:
        return name, ""
    other = others[draws.integers(len(others))]
    path.write_bytes(other.read_bytes())
    return name, f"swapped for {other.relative_to(place)}"


def _judged(
    ended: Ended, files: dict[str, str], known: _Undisturbed, before: dict[str, str], damaged: str
) -> tuple[Outcome, str]:
    last_words = ended.err.strip()[-300:]
    if ended.is_hang:
        return Outcome.HANG, last_words
    if ended.has_traceback or ended.code not in (0, 1, 2):
        return Outcome.TRACEBACK, f"exit {ended.code}: {last_words}"
    if ended.code != 0:
        return (Outcome.REFUSED if last_words else Outcome.TRACEBACK), last_words
    differing = what_differs(files, known.files, but=[damaged])
    if ended.out != known.ended.out:
        differing.append("what is printed")
    # What the command rewrote has to be right, what it never touched need not be.
    is_same = files.get(damaged) == known.files.get(damaged)
    if not is_same and files.get(damaged) != before.get(damaged):
        differing.append(damaged)
    if not differing:
        return (Outcome.REMADE if is_same else Outcome.RIGHT), ""
    warned = [line for line in ended.err.splitlines() if line.startswith("warning:")]
    # As JSON it is told in its own place: why an episode is left out.
    warned += [line for line in ended.out.splitlines() if line.strip().startswith('"reason"')]
    told = [line for line in warned if line not in known.ended.err and Path(damaged).name in line]
    what = f"differs: {', '.join(differing[:5])}"
    return (Outcome.TOLD, told[0]) if told else (Outcome.DIFFERENT, what)
