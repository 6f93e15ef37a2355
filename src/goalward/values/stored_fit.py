"""A finished fit on disk: `run.json` says who answers for what, networks are safetensors."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError
from goalward.files import written_whole
from goalward.run_folder import RunFolder
from goalward.training.checkpoint import (
    FACTS,
    nets_path,
    read_nets,
    runs_as_json,
    runs_from_json,
    write_nets,
)
from goalward.training.hyperparameters import Hyperparameters
from goalward.training.methods import METHODS, Method, known_methods, stages_by_name
from goalward.training.nets import Nets
from goalward.training.runs import NetRun
from goalward.training.stages import Stage

_VERSION = 3
# Version 2 wrote every answer's run inside it.
_READABLE = (2, 3)
# The task of a value function that serves many.
EVERY_TASK = ""
# (method, seed, task, subset)
Question = tuple[str, int, str, str]


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
    for index, group in enumerate(nets):
        write_nets(nets_path(folder, index), group)
    facts = {
        "version": _VERSION,
        "hyperparameters": numbers.as_dict(),
        "feature_layout": feature_layout,
        "num_groups": len(nets),
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
        # Those of the first answer, then those of the second, and so on.
        "runs": runs_as_json([run for runs in answers.values() for run in runs]),
    }
    with written_whole(folder / FACTS) as temporary:
        temporary.write_text(json.dumps(facts, indent=1), encoding="utf-8")


def stored_files(folder: Path) -> list[Path]:
    """What `write_fit` wrote there; anybody else's files are none of it."""
    facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
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
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GoalwardError(f"{folder}: holds no finished fit ({error})") from error
    if facts.get("version") not in _READABLE:
        raise GoalwardError(f"{folder}: was written by another version of goalward")
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
    nets = tuple(read_nets(nets_path(folder, i), stages) for i in range(facts["num_groups"]))
    return numbers, methods, answers, nets, str(facts.get("feature_layout", ""))


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
