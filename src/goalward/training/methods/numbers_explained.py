"""Every hyper-parameter with its meaning and the values it has: what `goalward settings` lists.

Meanings are the texts below the fields of `Hyperparameters`, read from its source, so that they are
written once.
"""

import ast
import difflib
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from goalward.errors import GoalwardError
from goalward.training.methods.efforts import EFFORTS
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.presets import OWN_NUMBERS, PRESETS

# How numbers of single methods are kept, not one of them.
_NOT_SET_BY_NAME = "apart"


@dataclass(frozen=True)
class Setting:
    """One hyper-parameter.

    `default` is that of the preset `default`; `presets` are others that differ from it. `own` are
    numbers of methods that have their own whatever the preset, `efforts` those that an effort
    sets, each by the name that `--set` takes: `width` for all methods, `lambda-returns.width` for
    one.
    """

    name: str
    meaning: str
    default: Any
    presets: Mapping[str, Any]
    own: Mapping[str, Any]
    efforts: Mapping[str, Mapping[str, Any]]


@cache
def settings() -> Mapping[str, Setting]:
    """All hyper-parameters by name, in the order of their fields.

    >>> width = settings()["width"]
    >>> width.meaning, width.default, dict(width.own)
    ('Numbers between two layers.', 512, {'lambda-returns': 256})
    """
    meanings = field_texts(Hyperparameters)
    names = [known.name for known in fields(Hyperparameters) if known.name != _NOT_SET_BY_NAME]
    return {name: _setting(name, meanings.get(name, "")) for name in names}


def _setting(name: str, meaning: str) -> Setting:
    default = getattr(PRESETS["default"], name)
    by_preset = {preset: getattr(numbers, name) for preset, numbers in PRESETS.items()}
    by_effort = {
        effort: {given: value for given, value in found.numbers.items() if _is_of(given, name)}
        for effort, found in EFFORTS.items()
    }
    return Setting(
        name,
        meaning,
        default,
        presets={preset: value for preset, value in by_preset.items() if value != default},
        own={method: numbers[name] for method, numbers in OWN_NUMBERS.items() if name in numbers},
        efforts={effort: numbers for effort, numbers in by_effort.items() if numbers},
    )


def _is_of(given: str, name: str) -> bool:
    return given.rpartition(".")[2] == name


def find_setting(name: str) -> Setting:
    """A hyper-parameter by its name, that of one method too; a wrong one is told what is near.

    >>> find_setting("lambda-returns.width").name
    'width'
    >>> find_setting("widht")
    Traceback (most recent call last):
    ...
    goalward.errors.GoalwardError: no hyper-parameter widht; did you mean width?
    """
    known = settings()
    plain = name.rpartition(".")[2]
    if plain not in known:
        near = difflib.get_close_matches(plain, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known)}"
        raise GoalwardError(f"no hyper-parameter {name}; {hint}")
    return known[plain]


def field_texts(kind: type) -> dict[str, str]:
    """The text below each field of a class, in one line; fields without one are not in it."""
    (found,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(found, ast.ClassDef)
    texts: dict[str, str] = {}
    for field, below in zip(found.body, found.body[1:], strict=False):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                texts[name] = " ".join(text.split())
            case _:
                pass
    return texts
