"""A training on disk, so that it can go on after a crash: tensors as safetensors, never pickle."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

import torch
from torch import Tensor

from goalward.checksums import DamagedFile
from goalward.errors import GoalwardError
from goalward.training.frames.lens import Lens
from goalward.training.frames.task_codes import TaskCodes
from goalward.training.methods.stages import Stage
from goalward.training.networks.nets import LossLog, Nets
from goalward.training.runs import NetRun
from goalward.training.stored.tensor_file import read_tensors, write_tensors

_log = logging.getLogger("goalward.training")

_PROGRESS = "progress.safetensors"
# Who answers for what, once all groups are trained.
FACTS = "run.json"
# What a file with other tensors than networks lacks, or has in another shape.
_OTHER_TENSORS = (LookupError, ValueError, TypeError, AttributeError)


def nets_path(folder: Path, group: int) -> Path:
    return folder / f"nets-{group}.safetensors"


def write_nets(path: Path, nets: Nets) -> None:
    """The networks of a group in one file; their runs go into it as JSON.

    | tensor | what |
    |---|---|
    | `weights/...`, `mean`, `scale` | the networks and the scaling of their inputs |
    | `log/steps`, `log/loss`, `log/held_out_loss` | their losses in the course of training |
    | `lens/...` | what turns features into their inputs, where something does |
    | `after/METHOD/RUN/...` | what a method's step after training learned of a run, by position |
    """
    tensors = {f"weights/{name}": tensor for name, tensor in nets.weights.items()}
    tensors |= {"mean": nets.mean, "scale": nets.scale}
    if nets.log is not None:
        tensors |= {f"log/{name}": tensor for name, tensor in vars(nets.log).items()}
    for method, learned in nets.after.items():
        for position, of_run in enumerate(learned):
            tensors |= {f"after/{method}/{position}/{name}": of_run[name] for name in of_run}
    facts = {"fingerprint": nets.fingerprint, "runs": json.dumps(runs_as_json(nets.runs))}
    if nets.lens is not None:
        tensors |= _lens_tensors(nets.lens)
        if nets.lens.tasks is not None:
            facts["tasks"] = json.dumps(nets.lens.tasks.tasks)
    write_tensors(path, tensors, facts)


def read_nets(path: Path, stages: Mapping[str, Stage]) -> Nets:
    """What `write_nets` wrote; networks of version 0.1.0 have neither log nor step after."""
    tensors, facts = read_tensors(path)
    try:
        return _nets(tensors, facts, stages)
    except _OTHER_TENSORS as error:
        raise DamagedFile(path, f"it holds no networks: {error}") from error


def _nets(
    tensors: Mapping[str, Tensor], facts: Mapping[str, str], stages: Mapping[str, Stage]
) -> Nets:
    runs = runs_from_json(json.loads(facts["runs"]), stages)
    log = _below(tensors, "log")
    after: dict[str, list[dict[str, Tensor]]] = {}
    for path, tensor in _below(tensors, "after").items():
        method, position, name = path.rsplit("/", 2)
        after.setdefault(method, [{} for _ in runs])[int(position)][name] = tensor
    return Nets(
        runs=runs,
        weights=_below(tensors, "weights"),
        mean=tensors["mean"],
        scale=tensors["scale"],
        lens=_lens(_below(tensors, "lens"), json.loads(facts.get("tasks", "[]"))),
        log=LossLog(**log) if log else None,
        after=after,
        fingerprint=facts["fingerprint"],
    )


def _below(tensors: Mapping[str, Tensor], name: str) -> dict[str, Tensor]:
    prefix = f"{name}/"
    return {key.removeprefix(prefix): tensors[key] for key in tensors if key.startswith(prefix)}


def _lens_tensors(lens: Lens) -> dict[str, Tensor]:
    tensors = {"lens/lags": torch.tensor(lens.lags, dtype=torch.int64)}
    if lens.mean is not None and lens.components is not None:
        tensors["lens/mean"] = torch.from_numpy(lens.mean)
        tensors["lens/components"] = torch.from_numpy(lens.components)
    if lens.tasks is not None:
        tensors["lens/codes"] = torch.from_numpy(lens.tasks.codes)
    return tensors


def _lens(tensors: Mapping[str, Tensor], tasks: Sequence[str]) -> Lens | None:
    if not tensors:
        return None
    codes = tensors.get("codes")
    return Lens(
        lags=tuple(int(lag) for lag in tensors["lags"]),
        mean=tensors["mean"].numpy() if "mean" in tensors else None,
        components=tensors["components"].numpy() if "components" in tensors else None,
        tasks=None if codes is None else TaskCodes(tuple(tasks), codes.numpy()),
    )


class RunFacts(TypedDict):
    """One network of a fit."""

    stage_name: str
    """The stage of a method."""
    seed: int
    """Which training."""
    episodes: tuple[int, ...]
    """Positions of the episodes that it learned from."""
    held_out: tuple[int, ...]
    """Positions of those that said when to stop."""
    name: str
    """What its random numbers are drawn by, besides the seed."""
    fold: int
    """Which of several folds; -1: not one of several."""
    anchors: list[int]
    """Places in `known` of the networks that it builds on."""


class RunsFacts(TypedDict):
    """Networks, and all that they build on."""

    runs: list[int]
    """Those that answer, as places in `known`."""
    known: list[RunFacts]
    """Each once; what a network builds on comes before it."""


def runs_as_json(runs: Sequence[NetRun]) -> RunsFacts:
    """Runs, and all that they build on, each once: `runs` are places in `known`.

    A run names its anchors by their places, which come before its own: written inside one another,
    four rounds of five folds would be written 5^4 times.
    """
    place: dict[NetRun, int] = {}
    known: list[RunFacts] = []

    def placed(run: NetRun) -> int:
        if run not in place:
            anchors = [placed(anchor) for anchor in run.anchors]
            place[run] = len(known)
            known.append(
                {
                    "stage_name": run.stage.name,
                    "seed": run.seed,
                    "episodes": run.episodes,
                    "held_out": run.held_out,
                    "name": run.name,
                    "fold": run.fold,
                    "anchors": anchors,
                }
            )
        return place[run]

    return {"runs": [placed(run) for run in runs], "known": known}


def runs_from_json(content: Any, stages: Mapping[str, Stage]) -> tuple[NetRun, ...]:
    """What `runs_as_json` made; version 0.1.0 wrote anchors inside their runs."""
    if isinstance(content, list):
        return tuple(_nested_run(entry, stages) for entry in content)
    found: list[NetRun] = []
    for entry in content["known"]:
        found.append(_run(entry, tuple(found[place] for place in entry["anchors"]), stages))
    return tuple(found[place] for place in content["runs"])


def _nested_run(entry: Mapping[str, Any], stages: Mapping[str, Stage]) -> NetRun:
    return _run(entry, runs_from_json(entry["anchors"], stages), stages)


def _run(
    entry: Mapping[str, Any], anchors: tuple[NetRun, ...], stages: Mapping[str, Stage]
) -> NetRun:
    return NetRun(
        stage=_stage(entry["stage_name"], stages),
        seed=entry["seed"],
        episodes=tuple(entry["episodes"]),
        held_out=tuple(entry["held_out"]),
        name=entry["name"],
        fold=entry["fold"],
        anchors=anchors,
    )


def _stage(name: str, stages: Mapping[str, Stage]) -> Stage:
    if name not in stages:
        raise GoalwardError(
            f"networks of stage {name!r} are stored here, but no method that is known has it"
        )
    return stages[name]


def remove_training(folder: Path) -> None:
    """The files of a training, finished or not; others stay, and then the folder too."""
    try:
        # First the file without which the others are not read.
        (folder / FACTS).unlink(missing_ok=True)
        temporary = (".nets-*.safetensors", f".{_PROGRESS}.*", f".{FACTS}.*")
        for pattern in ("nets-*.safetensors", _PROGRESS, *temporary):
            for path in folder.glob(pattern):
                path.unlink(missing_ok=True)
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()
    except OSError as error:
        raise GoalwardError(f"{folder}: cannot be removed ({error.strerror or error})") from error


@dataclass(frozen=True)
class Checkpoint:
    """The folder of a training: one file per finished group, one for the group under way.

    Files of another training (their fingerprint differs) are not read, and are overwritten.
    """

    folder: Path
    fingerprint: str
    stages: Mapping[str, Stage]

    def finished(self, group: int) -> Nets | None:
        """The networks of a group if they are trained; what comes after is learned anew."""
        path = nets_path(self.folder, group)
        if not path.exists():
            return None
        try:
            _, facts = found = read_tensors(path)
            if not self._is_of(facts):
                return None
            return replace(_nets(*found, self.stages), after={})
        except (DamagedFile, *_OTHER_TENSORS) as error:
            _log.warning("%s: these networks are trained again", error)
            return None

    def finish(self, group: int, nets: Nets) -> None:
        # Of the fit that lay here before: with a network of another it would be a mixture.
        (self.folder / FACTS).unlink(missing_ok=True)
        write_nets(nets_path(self.folder, group), nets)
        self.forget_progress()

    def forget_progress(self) -> None:
        """No group is under way; a kill may have come just after the last one was finished."""
        (self.folder / _PROGRESS).unlink(missing_ok=True)

    def progress(self, group: int) -> dict[str, Tensor] | None:
        """The state of a group that was interrupted."""
        path = self.folder / _PROGRESS
        if not path.exists():
            return None
        try:
            state, facts = read_tensors(path)
        except DamagedFile as error:
            _log.warning("%s: the training of these networks begins again", error)
            return None
        return state if self._is_of(facts) and facts.get("group") == str(group) else None

    def _is_of(self, facts: Mapping[str, str]) -> bool:
        """Whether a file is of this training; version 0.1.0 noted no checksum of all features."""
        noted = facts.get("fingerprint", "")
        return noted in (self.fingerprint, self.fingerprint.partition("-")[0])

    def save_progress(self, group: int, state: Mapping[str, Tensor]) -> None:
        facts = {"fingerprint": self.fingerprint, "group": str(group)}
        write_tensors(self.folder / _PROGRESS, state, facts)
