"""Compact letters: two names share a letter exactly if they cannot be told apart."""

import string
from collections.abc import Sequence

import numpy as np

from goalward.rollouts.endings import BoolArray

_SYMBOLS = string.ascii_lowercase + string.ascii_uppercase


def compact_letters(
    names: Sequence[str],
    differs: set[frozenset[str]] | BoolArray,
    order: Sequence[str] | None = None,
) -> dict[str, str]:
    """Letters for a table: names without a common letter differ, the others may be equal.

    Insert and absorb (Piepho 2004): begin with one letter for all; for each pair that differs,
    split every letter that both carry into one without the first and one without the second;
    drop a letter whose carriers all carry another one. What remains are all largest groups
    without a pair that differs, whatever the order of the pairs.

    `differs` holds pairs of names, or is a symmetric matrix in the order of `names`. Letters are
    given out along `order` (best first; as named if not given), so that the best has an a.

    >>> compact_letters(["a1", "b2", "c3"], {frozenset({"a1", "c3"})})
    {'a1': 'a', 'b2': 'ab', 'c3': 'b'}
    """
    pairs = _pairs(names, differs)
    order = names if order is None else order
    if len(set(names)) < len(names) or sorted(order) != sorted(names):
        raise ValueError("names must differ, and the order must hold each of them once")
    place = {name: position for position, name in enumerate(order)}
    groups = {frozenset(names)} if names else set[frozenset[str]]()
    for pair in sorted(pairs, key=lambda pair: sorted(place[name] for name in pair)):
        split = {group - {name} if pair <= group else group for group in groups for name in pair}
        groups = {group for group in split if not any(group < other for other in split)}
    ranked = sorted(groups, key=lambda group: sorted(place[name] for name in group))
    return {
        name: "".join(_symbol(i) for i, group in enumerate(ranked) if name in group)
        for name in names
    }


def _pairs(names: Sequence[str], differs: set[frozenset[str]] | BoolArray) -> set[frozenset[str]]:
    if isinstance(differs, np.ndarray):
        if differs.shape != (len(names), len(names)) or (differs != differs.T).any():
            raise ValueError(f"{len(names)} names need a symmetric matrix of that size")
        rows = enumerate(differs.tolist())
        return {frozenset({names[i], names[j]}) for i, row in rows for j in range(i) if row[j]}
    for pair in differs:
        if len(pair) != 2 or not pair <= set(names):
            raise ValueError(f"not a pair of two of the names: {sorted(pair)}")
    return differs


def _symbol(position: int) -> str:
    return _SYMBOLS[position] if position < len(_SYMBOLS) else f"({position + 1})"
