"""A finished fit on disk: `run.json` says who answers for what, networks are safetensors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from goalward.checksums import (
    DamagedFile,
    carried_checksum,
    damage_explained,
    read_json_with_checksum,
    write_json_with_checksum,
)
from goalward.config import command_behind
from goalward.errors import GoalwardError
from goalward.run_folder import RunFolder
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.stages import Stage
from goalward.training.methods.table import METHODS, Method, known_methods, stages_by_name
from goalward.training.networks.nets import Nets
from goalward.training.runs import NetRun
from goalward.training.stored.checkpoint import (
    FACTS,
    RunsFacts,
    nets_path,
    read_nets,
    runs_as_json,
    runs_from_json,
    write_nets,
)

_VERSION = 4
# Version 2 wrote every answer's run inside it; 2 and 3 wrote no checksums.
_READABLE = (2, 3, 4)
# What facts that are none of ours lack, or have in another shape.
_OTHER_FACTS = (LookupError, ValueError, TypeError, AttributeError, RuntimeError)
# The task of a value function that serves many.
EVERY_TASK = ""
# (method, seed, task, subset)
Question = tuple[str, int, str, str]


class AnswerFacts(TypedDict):
    """Which networks answer for a method, seed, task and part of the episodes."""

    method: str
    """Its name."""
    seed: int
    """Which training of it."""
    task: str
    """The task it answers for; empty: every task."""
    subset: str
    """The part of the episodes that the networks were trained for."""
    num_runs: int
    """How many networks answer together."""


class FitFacts(TypedDict):
    """A finished fit: who answers for what."""

    version: int
    """Of this file."""
    hyperparameters: dict[str, Any]
    """All of them by name (`goalward settings`)."""
    feature_layout: str
    """What the numbers of a frame are, in words."""
    num_groups: int
    """Files of networks: nets-0.safetensors and so on."""
    networks: list[str | None]
    """The checksum that each of these files carries."""
    after: dict[str, str]
    """Method -> the step after training that it has."""
    answers: list[AnswerFacts]
    """In the order of their networks in `runs`."""
    runs: RunsFacts
    """Networks of the first answer, then those of the second, and so on."""


def is_fitted(folder: Path) -> bool:
    """Whether a finished fit lies in a folder."""
    return (folder / FACTS).is_file()


def write_fit(
    folder: Path,
    numbers: Hyperparameters,
    methods: Sequence[Method],
    answers: Mapping[Question, tuple[NetRun, ...]],
    nets: Sequence[Nets],
    feature_layout: str,
) -> None:
    # Without it the others are not read: stopped half-way, this is no fit.
    (folder / FACTS).unlink(missing_ok=True)
    for index, group in enumerate(nets):
        write_nets(nets_path(folder, index), group)
    facts: FitFacts = {
        "version": _VERSION,
        "hyperparameters": numbers.as_dict(),
        "feature_layout": feature_layout,
        "num_groups": len(nets),
        "networks": [carried_checksum(nets_path(folder, i)) for i in range(len(nets))],
        "after": _steps_after(methods),
        "answers": [
            {
                "method": method,
                "seed": seed,
                "task": task,
                "subset": subset,
                "num_runs": len(runs),
            }
            for (method, seed, task, subset), runs in answers.items()
        ],
        "runs": runs_as_json([run for runs in answers.values() for run in runs]),
    }
    write_json_with_checksum(folder / FACTS, facts)


def stored_files(folder: Path) -> list[Path]:
    """What `write_fit` wrote there; anybody else's files are none of it."""
    facts = read_json_with_checksum(folder / FACTS)
    return [*(nets_path(folder, i) for i in range(facts["num_groups"])), folder / FACTS]


def read_fit(
    folder: Path, given: Sequence[Method] = ()
) -> tuple[
    Hyperparameters, tuple[Method, ...], dict[Question, tuple[NetRun, ...]], tuple[Nets, ...], str
]:
    """What `write_fit` wrote, in the order it takes; of methods that are known or given."""
    if not (folder / FACTS).is_file() and RunFolder(folder).networks.is_dir():
        folder = RunFolder(folder).networks
    _check_finished(folder)
    if not is_fitted(folder):
        raise GoalwardError(f"{folder}: holds no finished fit (it has no {FACTS})")
    with damage_explained(f"{_command_behind(folder)} again trains what is damaged anew"):
        try:
            return _read_fit(folder, given)
        except _OTHER_FACTS as error:
            raise DamagedFile(folder / FACTS, f"it holds no facts of a fit: {error}") from error


def _read_fit(
    folder: Path, given: Sequence[Method]
) -> tuple[
    Hyperparameters, tuple[Method, ...], dict[Question, tuple[NetRun, ...]], tuple[Nets, ...], str
]:
    facts = read_json_with_checksum(folder / FACTS)
    if facts.get("version") not in _READABLE:
        raise GoalwardError(
            f"{folder}: was written by another version of goalward ({FACTS} has version "
            f"{facts.get('version')}, this one reads {', '.join(map(str, _READABLE))}); fit it "
            "again, or use that version"
        )
    known = known_methods(given)
    names = tuple(dict.fromkeys(entry["method"] for entry in facts["answers"]))
    for name in names:
        if name not in known:
            raise GoalwardError(
                f"{folder}: holds networks of the method {name!r}, which is none of "
                f"{', '.join(METHODS)}; give it: load(folder, methods=[...])"
            )
    methods = tuple(known[name] for name in names)
    # Version 0.1.0 knew no steps after training.
    stored_after = facts.get("after", {})
    if stored_after != _steps_after(methods):
        raise GoalwardError(
            f"{folder}: was fitted with other steps after training ({_listed(stored_after)}) than "
            f"its methods have now ({_listed(_steps_after(methods))}); fit it again"
        )
    numbers = Hyperparameters(**facts["hyperparameters"])
    stages = stages_by_name(known.values(), numbers)
    answers = _answers(facts, stages)
    nets = tuple(_read_group(folder, i, facts, stages) for i in range(facts["num_groups"]))
    return numbers, methods, answers, nets, str(facts.get("feature_layout", ""))


def _read_group(
    folder: Path, group: int, facts: Mapping[str, Any], stages: Mapping[str, Stage]
) -> Nets:
    path = nets_path(folder, group)
    nets = read_nets(path, stages)
    if facts["version"] >= _VERSION and carried_checksum(path) != facts["networks"][group]:
        raise DamagedFile(path, "it holds the networks of another training")
    return nets


def _command_behind(folder: Path) -> str:
    """What trained these networks, as far as the folder tells."""
    command = command_behind(RunFolder(folder.parent).config)
    return f"`{command}`" if command else "the command or call that trained them"


def _check_finished(folder: Path) -> None:
    """That networks are not still to be trained, by `goalward fit` or in a run's folder."""
    is_begun = any(folder.glob("*.safetensors"))
    is_run = any(RunFolder(place).config.is_file() for place in (folder, folder.parent))
    if not (folder / FACTS).is_file() and (is_begun or is_run):
        raise GoalwardError(
            f"{folder}: is not finished (training was stopped before its end); the command that "
            "began it goes on where it stopped"
        )


def _answers(
    facts: Mapping[str, Any], stages: Mapping[str, Stage]
) -> dict[Question, tuple[NetRun, ...]]:
    if facts["version"] == 2:
        stored = [entry["run"] for entry in facts["answers"]]
        facts = {"answers": [{**e, "num_runs": 1} for e in facts["answers"]], "runs": stored}
    runs = iter(runs_from_json(facts["runs"], stages))
    return {
        (entry["method"], entry["seed"], entry["task"], entry["subset"]): tuple(
            next(runs) for _ in range(entry["num_runs"])
        )
        for entry in facts["answers"]
    }


def _steps_after(methods: Sequence[Method]) -> dict[str, str]:
    """The names of the steps after training, by method."""
    return {method.name: method.after.name for method in methods if method.after is not None}


def _listed(steps: Mapping[str, str]) -> str:
    return ", ".join(f"{method}: {step}" for method, step in steps.items()) or "none"
