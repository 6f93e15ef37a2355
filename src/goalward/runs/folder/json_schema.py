"""JSON Schema of what the codec writes, from the types alone, with the texts of their fields.

A field is described by the text below it, or by the sentence of its class that names it.
"""

# pyright: standard
# (types are looked at while the program runs)

import dataclasses
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np

from goalward.training.methods.numbers_explained import field_texts

_PLAIN = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    str: {"type": "string"},
    NoneType: {"type": "null"},
}
# JSON has no infinity and no NaN.
_NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf", "nan"]}]}
_ELEMENTS = {"f": _NUMBER, "i": _PLAIN[int], "b": _PLAIN[bool]}


def json_schema(
    kind: Any, *, beside: Mapping[str, Any] | None = None, is_closed: bool = False
) -> dict[str, Any]:
    """The schema of a type; `beside` are further names at the top of the file.

    Fields may be added in any version, so what is not known is allowed, unless `is_closed`.

    >>> from goalward.metrics.score import Score
    >>> json_schema(Score)["$defs"]["Score"]["required"]
    ['value']
    """
    known: dict[str, Any] = {}
    top = _schema(kind, known, is_closed)
    if beside:
        inside = known[kind.__name__] if "$ref" in top else top
        inside["properties"] = {**beside, **inside.get("properties", {})}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **top, "$defs": known}


def described_types(kind: Any) -> tuple[type, ...]:
    """Every dataclass and table that a type holds, itself first."""
    found: dict[type, None] = {}

    def look(one: Any) -> None:
        if _is_table(one) and one not in found:
            found[one] = None
            for inside in get_type_hints(one).values():
                look(inside)
        for inside in get_args(one):
            look(inside)

    look(kind)
    return tuple(found)


def field_meanings(kind: type) -> dict[str, str]:
    """What every field of a dataclass or table means; empty where nobody says so.

    >>> from goalward.metrics.score import Interval
    >>> field_meanings(Interval)["low"]
    'Its lower end.'
    >>> field_meanings(Interval)["level"]
    'Where the true number lies with confidence `level`, or the reason why nobody can say.'
    """
    below = field_texts(kind)
    prose = (kind.__doc__ or "").partition(">>>")[0]
    sentences = re.split(r"(?<=[.;])\s+", " ".join(prose.split()))
    return {
        name: below.get(name) or next((s for s in sentences if f"`{name}`" in s), "")
        for name in _names_of(kind)
    }


def kind_in_words(kind: Any) -> str:
    """A type as people say it.

    >>> kind_in_words(tuple[str, ...]), kind_in_words(float | None)
    ('list of text', 'number or none')
    """
    words = {bool: "true or false", int: "whole number", float: "number", str: "text"}
    words |= {NoneType: "none", Any: "anything"}
    if kind in words:
        return words[kind]
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (UnionType, Union):
        return " or ".join(map(kind_in_words, inside))
    if origin is Literal or (isinstance(kind, type) and issubclass(kind, Enum)):
        members = inside if origin is Literal else [member.value for member in kind]
        return " or ".join(f"`{member}`" for member in members)
    if _is_array(kind):
        letter = _dtype_of(kind).kind
        return {"f": "numbers", "i": "whole numbers", "b": "list of true or false"}[letter]
    if origin is tuple and inside[-1] is not Ellipsis:
        return "list: " + ", ".join(map(kind_in_words, inside))
    if _is_mapping(origin):
        return f"table: {kind_in_words(inside[0])} -> {kind_in_words(inside[1])}"
    if origin is not None:
        return f"list of {kind_in_words(inside[0])}"
    return kind.__name__


def _schema(kind: Any, known: dict[str, Any], is_closed: bool) -> dict[str, Any]:
    def of(inside: Any) -> dict[str, Any]:
        return _schema(inside, known, is_closed)

    if kind is Any:
        return {}
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if kind is float:
        return dict(_NUMBER)
    if _is_table(kind):
        if kind.__name__ not in known:
            known[kind.__name__] = {}
            known[kind.__name__] |= _table(kind, known, is_closed)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (UnionType, Union):
        return {"anyOf": [of(one) for one in inside]}
    if origin is Literal:
        return {"enum": list(inside)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    if _is_array(kind):
        element = _ELEMENTS[_dtype_of(kind).kind]
        return {"type": "array", "items": {"anyOf": [element, {"type": "array"}]}}
    if origin is tuple and inside[-1] is not Ellipsis:
        return {"type": "array", "prefixItems": [of(one) for one in inside], "items": False}
    if _is_mapping(origin):
        # Names are texts in JSON, those that are numbers too.
        digits = {"propertyNames": {"pattern": "^[0-9]+$"}} if inside[0] is int else {}
        return {"type": "object", "additionalProperties": of(inside[1]), **digits}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": of(inside[0])}
    raise TypeError(f"no JSON is known for {kind}")


def _table(kind: type, known: dict[str, Any], is_closed: bool) -> dict[str, Any]:
    meanings = field_meanings(kind)
    table: dict[str, Any] = {
        "type": "object",
        "description": " ".join((kind.__doc__ or "").partition("\n\n")[0].split()),
        "properties": {
            name: {"description": meanings[name], **_schema(inside, known, is_closed)}
            for name, inside in get_type_hints(kind).items()
            if name in meanings
        },
        "required": _required(kind),
    }
    return table | ({"additionalProperties": False} if is_closed else {})


def _names_of(kind: type) -> list[str]:
    if is_typeddict(kind):
        return list(kind.__annotations__)
    return [field.name for field in dataclasses.fields(kind)]


def _required(kind: type) -> list[str]:
    """A field that has its default is left out."""
    if is_typeddict(kind):
        return [name for name in kind.__annotations__ if name in kind.__required_keys__]
    nothing = dataclasses.MISSING
    return [
        field.name
        for field in dataclasses.fields(kind)
        if field.default is nothing and field.default_factory is nothing
    ]


def _is_table(kind: Any) -> bool:
    return isinstance(kind, type) and (dataclasses.is_dataclass(kind) or is_typeddict(kind))


def _is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _is_array(kind: Any) -> bool:
    return get_origin(kind) is np.ndarray


def _dtype_of(kind: Any) -> np.dtype:
    """`np.floating` is any of several; the letter of its kind is what counts."""
    (scalar,) = get_args(get_args(kind)[1])
    return np.dtype(np.float64 if scalar is np.floating else scalar)
