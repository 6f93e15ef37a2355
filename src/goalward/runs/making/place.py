"""Which folder an evaluation goes to: never one that holds another evaluation.

A folder that was made with other options stays as it is, unless it is to be replaced; the results
go to the first of run-2, run-3, ... that is free or holds an evaluation with just these options.
"""

import inspect
import json
import logging
import tomllib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import goalward
from goalward.checksums import DamagedFile, check
from goalward.config import EvaluationConfig, read_toml
from goalward.errors import GoalwardError, argument
from goalward.files import resolved
from goalward.leftovers import sweep
from goalward.locks import LOCK_FILE, alone_in
from goalward.rollouts.findings import some_of
from goalward.run_folder import RunFolder
from goalward.runs.folder.codec import FORMAT, FORMAT_KEY, encoded, settings_text
from goalward.runs.making.steps import Steps, digest
from goalward.runs.settings import RunSettings

_log = logging.getLogger("goalward.runs")

# Options that change how fast results come, not what they are.
_NO_DIFFERENCE = ("device", "batch_size", "cache")
# A policy may be renamed, scores by others be added in place: nothing is trained for that.
_MAY_CHANGE = ("policy", "overrides", "scores")
_MOST_NAMED = 3
# What `steps.json` calls the writing of the settings.
SETTINGS_STEP = "settings"
_NOT_GIVEN = object()

# Section and name of an option, and its value.
Options = dict[tuple[str, str], Any]


@dataclass(frozen=True)
class Place:
    """The folder of an evaluation.

    `passed` are folders with evaluations by other options, which stay as they are. `is_replaced`:
    the folder holds one itself, which has to go.
    """

    folder: RunFolder
    passed: tuple[RunFolder, ...] = ()
    is_replaced: bool = False


@contextmanager
def place_alone(out: Path, settings: RunSettings, *, replace: bool = False) -> Generator[Place]:
    """Where these settings belong, with nobody else at work there; what killed runs left is swept.

    Only who is alone in `out` can say whether it is free: another evaluation may be about to begin
    there. The lock of the next folder is taken after that of the one before, so that no two wait
    for each other.
    """
    with ExitStack() as locks:
        locks.enter_context(alone_in(out))
        place = place_of(out, settings, replace=replace)
        locks.enter_context(alone_in(place.folder.path))
        sweep(place.folder.path, below=True)
        yield place


def place_of(out: Path, settings: RunSettings, *, replace: bool = False) -> Place:
    """Where these settings belong; it is said if that is not `out`, or if `out` is replaced."""
    wanted = _wanted(settings)
    asked = RunFolder(out)
    other = what_differs(asked, wanted)
    if not other:
        return Place(asked)
    anew = argument("replace", True)
    if replace:
        _log.warning("%s %s: it is made anew, as %s asks", out, other, anew)
        return Place(asked, is_replaced=True)
    passed = [asked]
    for path in _next_to(out):
        folder = RunFolder(path)
        if _is_free(path) or (folder.config.is_file() and not what_differs(folder, wanted)):
            words = "%s %s: this goes to %s; %s would make it anew in %s"
            _log.warning(words, out, other, path, anew, out)
            return Place(folder, tuple(passed))
        passed.append(folder)
    raise AssertionError("there is always a next number")


def _next_to(out: Path) -> Iterator[Path]:
    whole = out if out.name not in ("", "..") else resolved(out)
    return (whole.with_name(f"{whole.name}-{number}") for number in count(2))


def _is_free(path: Path) -> bool:
    if not path.exists():
        return True
    return path.is_dir() and all(inside.name == LOCK_FILE for inside in path.iterdir())


def what_differs(folder: RunFolder, wanted: Options) -> str:
    """What an evaluation in a folder was made with instead, in words; empty if nothing differs.

    "was made with seeds 5, now 2"
    """
    if not folder.config.is_file():
        return ""
    steps = Steps(folder.steps)
    try:
        check(folder.config)
        stored = read_toml(folder.config)
        written = stored.get(FORMAT_KEY)
        if isinstance(written, int) and written > FORMAT:
            return "was written by a newer goalward"
        if steps.changed_files(SETTINGS_STEP):
            raise DamagedFile(folder.config, "the results beside it were made with another one")
    except GoalwardError as error:
        if steps.is_of(SETTINGS_STEP, _digest(wanted)):
            _log.warning("%s: it is written again", error)
            return ""
        return f"holds an evaluation whose {folder.config.name} was changed or damaged"
    found = options_of(stored)
    names = dict.fromkeys((*found, *wanted))
    told = [
        f"{_name(key)} {_told(found.get(key, _NOT_GIVEN))}, "
        f"now {_told(wanted.get(key, _NOT_GIVEN))}"
        for key in names
        if found.get(key, _NOT_GIVEN) != wanted.get(key, _NOT_GIVEN)
    ]
    return f"was made with {some_of(told, most=_MOST_NAMED)}" if told else ""


def options_of(settings: Mapping[str, Any]) -> Options:
    """What decides the results, as `config.toml` has it; what has its default may be left out.

    Not what was noticed, nor by which version: the same options on more episodes are the same
    evaluation, made again.
    """
    evaluation = _table(settings, "evaluation")
    usual = {name: value for name, value in _usual_evaluation().items() if value is not None}
    sections = {
        "evaluation": {**usual, **evaluation},
        "overrides": _table(evaluation, "overrides"),
        "reading": _unusual(_table(settings, "reading"), goalward.read),
        "embedding": _unusual(_table(settings, "embedding"), goalward.embed),
    }
    options: Options = {
        (section, name): value
        for section, table in sections.items()
        for name, value in table.items()
        if section != "evaluation" or name not in _MAY_CHANGE
    }
    data = _table(settings, "data")
    options["data", "path"] = data.get("path") or "in memory"
    # A part more of the same kind is more episodes, not another data set.
    options["data", "sources"] = list(dict.fromkeys(map(str, data.get("sources", ()))))
    return options


def _wanted(settings: RunSettings) -> Options:
    return options_of(tomllib.loads(settings_text(settings)))


def settings_digest(settings: RunSettings) -> str:
    """What is noted of the options, for when the settings themselves cannot be read."""
    return _digest(_wanted(settings))


def _digest(options: Options) -> str:
    return digest(sorted([*key, json.dumps(value)] for key, value in options.items()))


def _usual_evaluation() -> dict[str, Any]:
    return encoded(EvaluationConfig(), in_full=True)


def _table(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = content.get(name)
    return table if isinstance(table, dict) else {}


def _unusual(options: Mapping[str, Any], function: Callable[..., Any]) -> dict[str, Any]:
    """Options that are not what a function takes by default; version 0.1.0 noted these too."""
    known = inspect.signature(function).parameters
    usual = {name: parameter.default for name, parameter in known.items()}
    return {
        name: value
        for name, value in options.items()
        if name not in _NO_DIFFERENCE and (name not in usual or value != usual[name])
    }


def _name(key: tuple[str, str]) -> str:
    section, name = key
    if section == "data":
        return "data" if name == "path" else "data of format"
    return name.replace("_", " ") if section == "evaluation" else name


def _told(value: Any) -> str:
    if value is _NOT_GIVEN:
        return "not given"
    return ",".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
