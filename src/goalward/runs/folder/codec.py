"""Results as files and back: dataclasses as JSON or TOML by their types, with a format number.

The annotation of a field is all that is needed: frozen dataclasses, tuples, mappings, enums, numpy
arrays and numbers come back as they were. JSON has no infinity and no NaN: these are the texts
"inf", "-inf" and "nan". In results a field that has its default is left out; settings are told in
full, as a later version may have other defaults.
"""

# pyright: standard
# (what comes out of files is checked while it is structured)

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import numpy as np
from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError, ForbiddenExtraKeysError

from goalward.checksums import (
    CHECKSUM_PLACE,
    check,
    read_json_with_checksum,
    write_json_with_checksum,
    written_with_checksum,
)
from goalward.config import read_toml, toml_text
from goalward.errors import GoalwardError
from goalward.files import check_regular, write_text

# Raise it when older files would be read wrongly; 0.1.0 wrote no number.
FORMAT = 2
FORMAT_KEY = "format"

Kind = TypeVar("Kind")


def encoded(content: Any, *, in_full: bool = False) -> Any:
    """A dataclass as what JSON and TOML can hold.

    >>> from goalward.metrics.score import Interval, Score
    >>> encoded(Score(float("inf"))), encoded(Interval(0.25, 0.5))
    ({'value': 'inf'}, {'low': 0.25, 'high': 0.5})
    """
    return _converter(in_full).unstructure(content)


def decoded(content: Any, kind: type[Kind], where: str) -> Kind:
    """The dataclass again; what does not fit is an error that says where.

    >>> from goalward.metrics.score import Score
    >>> decoded({"value": 0.5}, Score, "scores.json")
    Score(value=0.5, reason='')
    >>> decoded({"value": "high"}, Score, "scores.json")
    Traceback (most recent call last):
    ...
    goalward.errors.GoalwardError: scores.json: value: wanted a number, got 'high'
    """
    try:
        return _converter(in_full=False).structure(content, kind)
    except (BaseValidationError, ForbiddenExtraKeysError, ValueError, TypeError) as error:
        raise GoalwardError(f"{where}: {_told(error)}") from error


def write_json(path: Path, content: Any, *, has_checksum: bool = False) -> None:
    """A dataclass as JSON, whole or not at all; with a checksum where no step notes one."""
    whole = {FORMAT_KEY: FORMAT, **encoded(content)}
    if has_checksum:
        write_json_with_checksum(path, whole)
        return
    text = json.dumps(whole, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    write_text(path, text)


def read_json(path: Path, kind: type[Kind], *, has_checksum: bool = False) -> Kind:
    """What `write_json` wrote."""
    if has_checksum:
        content = read_json_with_checksum(path, always_carried=True)
        return decoded(_without_format(content, path), kind, str(path))
    check_regular(path, may_be_missing=True)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise GoalwardError(f"{path}: cannot be read as JSON ({error})") from error
    return decoded(_without_format(content, path), kind, str(path))


def write_settings(path: Path, content: Any) -> None:
    """A dataclass as TOML, whole or not at all; its checksum is a comment."""
    with written_with_checksum(path) as temporary:
        text = f"# {CHECKSUM_PLACE}\n{settings_text(content)}"
        temporary.write_text(text, encoding="utf-8", newline="")


def settings_text(content: Any) -> str:
    """Settings as TOML; TOML has no word for none."""
    return toml_text({FORMAT_KEY: FORMAT, **_without_nones(encoded(content, in_full=True))})


def read_settings(path: Path, kind: type[Kind]) -> Kind:
    """What `write_settings` wrote."""
    check(path)
    return decoded(_without_format(read_toml(path), path), kind, str(path))


def _without_format(content: Any, path: Path) -> Any:
    if not isinstance(content, dict):
        raise GoalwardError(f"{path}: holds no table of names and values")
    if content.get(FORMAT_KEY) != FORMAT:
        raise GoalwardError(
            f"{path}: has the format {content.get(FORMAT_KEY, 'of version 0.1.0')}, this version "
            f"of goalward reads {FORMAT}"
        )
    return {name: value for name, value in content.items() if name != FORMAT_KEY}


def _without_nones(content: Any) -> Any:
    if isinstance(content, dict):
        kept = {name: value for name, value in content.items() if value is not None}
        return {name: _without_nones(value) for name, value in kept.items()}
    return [_without_nones(value) for value in content] if isinstance(content, list) else content


def _told(error: BaseException) -> str:
    """The first thing that is wrong, and where: "cards.mc.success.by_seed[0]: wanted ..."."""
    if not isinstance(error, BaseValidationError):
        return str(error)
    words = transform_error(error, format_exception=lambda found, _: _what(found))[0]
    what, _, place = words.partition(" @ $")
    return f"{place.lstrip('.')}: {what}" if place.lstrip(".") else what


def _what(error: BaseException) -> str:
    if isinstance(error, ForbiddenExtraKeysError):
        return f"no field is called {', '.join(sorted(error.extra_fields))}"
    return "is missing" if isinstance(error, KeyError) else str(error)


# ---- what each type becomes ---------------------------------------------------------------------


@cache
def _converter(in_full: bool) -> Converter:
    converter = Converter(forbid_extra_keys=True, omit_if_default=not in_full)
    converter.register_unstructure_hook(float, _number_out)
    converter.register_unstructure_hook(np.floating, lambda number: _number_out(float(number)))
    converter.register_structure_hook(float, lambda value, _: _number_in(value))
    for plain, words in ((int, "a whole number"), (str, "a text"), (bool, "true or false")):
        converter.register_structure_hook(plain, _strict(plain, words))
    converter.register_unstructure_hook_func(_is_array, _array_out)
    converter.register_structure_hook_func(_is_array, _array_in)
    return converter


def _number_out(number: float) -> float | str:
    return float(number) if math.isfinite(number) else str(float(number))


def _number_in(value: Any) -> float:
    if isinstance(value, str) and value in ("inf", "-inf", "nan"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"wanted a number, got {value!r}")
    return float(value)


def _strict(plain: type, words: str) -> Callable[[Any, Any], Any]:
    def checked(value: Any, kind: Any) -> Any:
        if kind is not plain:
            # An enum whose members are texts.
            return kind(value)
        # Keys of a table are texts in JSON, whatever they were.
        if plain is int and isinstance(value, str) and value.isdecimal():
            return int(value)
        if type(value) is not plain:
            raise ValueError(f"wanted {words}, got {value!r}")
        return value

    return checked


def _is_array(kind: Any) -> bool:
    return kind is np.ndarray or get_origin(kind) is np.ndarray


def _array_out(array: np.ndarray) -> Any:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return [_array_out(row) for row in array] if array.ndim > 1 else _line_out(array)
    return array.tolist()


def _line_out(line: np.ndarray) -> list[float | str]:
    return [_number_out(number) for number in line.tolist()]


def _array_in(content: Any, kind: Any) -> np.ndarray:
    dtype = get_args(get_args(kind)[1])[0]
    try:
        # numpy reads "inf" and "nan" as numbers, but no other text.
        return np.array(content, dtype=dtype)
    except (ValueError, TypeError) as error:
        raise ValueError(f"wanted an array of numbers ({error})") from error
