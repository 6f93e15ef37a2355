"""Tables of preferences: a row per comparison of two policies, saying who won.

| column | names |
|---|---|
| the one | policy_a, model_a, first |
| the other | policy_b, model_b, second |
| winner | winner, preferred, preference: a policy's name, a or b, first or second, or tie |
"""

from collections.abc import Sequence
from pathlib import Path

from goalward.errors import GoalwardError
from goalward.metrics.comparing.preferences import Preference
from goalward.metrics.comparing.tables.csv_lines import csv_lines, file_of

_FIRST, _SECOND = ("policy_a", "model_a", "first"), ("policy_b", "model_b", "second")
_WINNER = ("winner", "preferred", "preference")
_SIDES = {"a": 0, "first": 0, "policy_a": 0, "b": 1, "second": 1, "policy_b": 1}
_TIES = ("tie", "draw", "equal", "both", "neither")


def has_preferences(path: Path) -> bool:
    """Whether a file is a table of preferences, by its header; false if it cannot be read."""
    try:
        with csv_lines(file_of(path)) as table:
            return _columns(table.header) is not None
    except GoalwardError:
        return False


def read_preferences(paths: Sequence[Path]) -> list[Preference]:
    """The comparisons of all files, in order."""
    found: list[Preference] = []
    for path in paths:
        file = file_of(path)
        with csv_lines(file) as table:
            columns = _columns(table.header)
            if columns is None:
                raise GoalwardError(
                    f"{file}: no table of preferences, as the others are; wanted columns policy_a, "
                    "policy_b and winner"
                )
            for line, cells in table.lines:
                row = dict(zip(table.header, cells, strict=True))
                found.append(_preference([row[name] for name in columns], f"{file}, line {line}"))
    return found


def _columns(header: Sequence[str]) -> tuple[str, str, str] | None:
    named = [[name for name in names if name in header] for names in (_FIRST, _SECOND, _WINNER)]
    return (named[0][0], named[1][0], named[2][0]) if all(named) else None


def _preference(cells: Sequence[str], where: str) -> Preference:
    *policies, winner = cells
    if not all(policies) or policies[0] == policies[1]:
        raise GoalwardError(f"{where}: wanted the names of two policies")
    if winner in policies:
        return Preference(policies[0], policies[1], winner)
    word = winner.lower()
    if word in _TIES:
        return Preference(policies[0], policies[1], None)
    if word not in _SIDES:
        raise GoalwardError(
            f"{where}: {winner!r} won; wanted {policies[0]}, {policies[1]}, a, b or tie"
        )
    return Preference(policies[0], policies[1], policies[_SIDES[word]])
