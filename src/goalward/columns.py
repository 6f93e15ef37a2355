"""Columns of the tables that are written to files: what each is called, holds and means.

A writer takes its names from here, so that no column is written that nobody has described.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

ColumnKind = Literal["text", "whole number", "number", "true or false", "numbers"]


@dataclass(frozen=True)
class Column:
    """One column; an empty cell is allowed only where `empty` says what it means."""

    name: str
    kind: ColumnKind
    meaning: str
    unit: str = ""
    empty: str = ""


def names(columns: Iterable[Column]) -> tuple[str, ...]:
    """
    >>> names([Column("frame", "whole number", "its number in the episode, from 0")])
    ('frame',)
    """
    return tuple(column.name for column in columns)
