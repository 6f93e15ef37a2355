"""What an evaluation depends on, as data; and TOML, which settings are written in."""

import shlex
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError, argument
from goalward.files import check_regular

PAPER_METHODS = ("liveness", "liveness-nb", "td", "mc", "mc-dist")
# Of the methods that were measured the one nearest to the truth: it answers for the policy.
DEFAULT_METHODS = ("lambda-returns",)
# Names that stand for several methods.
METHOD_GROUPS = {"paper": PAPER_METHODS, "all": (*DEFAULT_METHODS, *PAPER_METHODS)}
DEFAULT_EFFORT = "normal"
# `folds`: every episode is judged by those networks of the method itself that never saw it.
OWN_FOLDS = 0


@dataclass(frozen=True)
class EvaluationConfig:
    """How an evaluation is made, apart from the episodes and their features."""

    policy: str = "policy"
    """The name of the policy in tables and comparisons."""
    methods: tuple[str, ...] = DEFAULT_METHODS
    """The first one speaks for the policy; the others are compared with it."""
    seeds: int = 5
    """How often every method is trained."""
    effort: str = DEFAULT_EFFORT
    """How much training the answer is worth: quick, normal or thorough."""
    preset: str = "default"
    """The hyper-parameters to begin from: default, or those of a study of the paper."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Hyper-parameters that differ from those of preset and effort."""
    per_task: bool = False
    """Value functions for each task apart, instead of one that is told the task."""
    folds: int = 1
    """0: each episode is judged by those of a method's own networks that never saw it (of methods
    that train on folds); 1: a part of the episodes is held out; more: each is held out once."""
    test_fraction: float = 0.25
    """The share that is held out with folds = 1."""
    split_seed: int = 0
    """Which episodes those are."""
    standard_horizon: int | None = None
    """Steps in which the task is usually done; None: what nine of ten successes needed."""
    scores: Mapping[str, str] = field(default_factory=dict)
    """Scores of frames by other programs, name -> parquet file: judged as further methods."""
    values_from: str = ""
    """The folder of the run whose networks judge these episodes; empty: they learn anew."""
    hindsight: float | None = None
    """How far hindsight values follow the recording (lambda); None: as the data choose, or 0.98."""

    def __post_init__(self) -> None:
        # Before anything is written: a folder whose settings cannot be read is nobody's.
        for name in ("seeds", "folds", "split_seed", "standard_horizon"):
            self._take(name, Integral, int, "a whole number")
        for name in ("test_fraction", "hindsight"):
            self._take(name, Real, float, "a number")
        for name, kind, words in (("policy", str, "a text"), ("per_task", bool, "true or false")):
            if not isinstance(getattr(self, name), kind):
                raise GoalwardError(f"{argument(name, getattr(self, name))}: must be {words}")
        plain = {name: _plain(value) for name, value in self.overrides.items()}
        object.__setattr__(self, "overrides", plain)
        if not self.methods:
            raise GoalwardError("give at least one method")
        taken = [name for name in self.scores if name in self.methods]
        if taken:
            raise GoalwardError(
                f"{argument('scores')}: {taken[0]} is a method of its own; call the file "
                "otherwise, name=path"
            )
        if self.seeds < 1:
            raise GoalwardError(f"{argument('seeds', self.seeds)}: must be at least 1")
        if self.folds < 0:
            raise GoalwardError(f"{argument('folds', self.folds)}: must be at least 0")
        if self.split_seed < 0:
            raise GoalwardError(f"{argument('split_seed', self.split_seed)}: must be at least 0")
        if not 0 < self.test_fraction < 1:
            given = argument("test_fraction", self.test_fraction)
            raise GoalwardError(f"{given}: must lie between 0 and 1")
        if self.standard_horizon is not None and self.standard_horizon < 1:
            given = argument("standard_horizon", self.standard_horizon)
            raise GoalwardError(f"{given}: must be at least 1 step")
        if self.hindsight is not None and not 0 <= self.hindsight <= 1:
            given = argument("hindsight", self.hindsight)
            raise GoalwardError(f"{given}: must lie between 0 and 1")

    def _take(self, name: str, kind: type, plain: type, words: str) -> None:
        """A field as a plain number, which NumPy's are not; what is none is an error."""
        value = getattr(self, name)
        if value is None and type(self).__dataclass_fields__[name].default is None:
            return
        if isinstance(value, bool) or not isinstance(value, kind):
            raise GoalwardError(f"{argument(name, value)}: must be {words}")
        object.__setattr__(self, name, plain(value))


def _plain(value: Any) -> Any:
    """A number of NumPy as files can hold it."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def toml_text(content: Mapping[str, Any]) -> str:
    """A table of tables as TOML."""
    import tomli_w

    return tomli_w.dumps(content, multiline_strings=False)


def command_behind(config: Path) -> str:
    """What makes anew what is damaged in a run, as its settings name the command or call.

    Empty where none can be read. A folder that was moved, or that another run had made way for, is
    named as it is now; what was removed to make room need not be removed again.
    """
    with suppress(GoalwardError, LookupError, TypeError, ValueError):
        command = str(read_toml(config)["made_by"]["command"])
        words = shlex.split(command)
        if words[0] != "goalward":
            return command
        words = [word for word in words if word not in ("--force", "--replace")]
        for place, word in enumerate(words[:-1]):
            if word == "--out" and Path(words[place + 1]).name != config.parent.name:
                words[place + 1] = str(config.parent)
        return shlex.join(words)
    return ""


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file holds; what is wrong with it is said with its name."""
    check_regular(path, may_be_missing=True)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GoalwardError(f"{path}: cannot be read as TOML ({error})") from error
