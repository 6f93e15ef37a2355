"""Labels by the name of the episode: from a csv or json file, or from a dict."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from goalward.errors import RolloutError
from goalward.git_lfs import NOT_FETCHED, is_pointer
from goalward.rollouts.labels.evidence import Evidence, evidence_from_outcome, evidence_from_value

# Most specific first: where a file has both a path and a number, the number may count rows.
_ID_COLUMNS = ("path", "video", "file", "episode_index", "episode_id", "episode", "id")
_OUTCOME_COLUMNS = ("outcome", "label")
_SUCCESS_COLUMNS = ("success", "is_success", "episode_success")

Row = Mapping[str, object]
# The episode that a name means, None if there is none.
Find = Callable[[str], str | None]


@dataclass(frozen=True)
class NamedLabel:
    """One stated label: the name it gives, the episode that is, None if there is none."""

    name: str
    episode_id: str | None
    evidence: Evidence


def read_label_file(path: Path, find: Find) -> list[NamedLabel]:
    """The labels of a csv or json file; `find` tells which episode a name means.

    csv: a header with one of path, episode_index, episode_id, episode, id and one of success
    (true or false) or outcome (success, time_out, failure), optionally goal_frame. json: a list
    of such rows, or an object {"0": true, "1": "failure"}.
    """
    try:
        if path.exists() and not path.is_file():  # reading a pipe would wait for ever
            raise OSError("is no regular file")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RolloutError(f"{path}: cannot read the label file ({error})") from error
    if is_pointer(text[:100].encode()):
        raise RolloutError(f"{path}: {NOT_FETCHED}")
    rows = _json_rows(text, path) if path.suffix.lower() == ".json" else _csv_rows(text, path)
    if not rows:
        raise RolloutError(f"{path}: the label file holds no labels")
    return _named_labels(rows, str(path), find)


def labels_of_dict(stated: Mapping[Any, object], find: Find) -> list[NamedLabel]:
    """The labels of a dict from episodes to outcomes, as a json file may hold them.

    >>> labels = labels_of_dict({0: True, "1": "failure"}, str)
    >>> [(label.episode_id, label.evidence.success) for label in labels]
    [('0', True), ('1', False)]
    """
    if not stated:
        raise RolloutError("labels: the dict holds no labels")
    return _named_labels(_object_rows(stated), "labels", find)


def _named_labels(rows: Sequence[tuple[str, Row]], source: str, find: Find) -> list[NamedLabel]:
    column = _id_column([row for _, row in rows], find)
    labels: list[NamedLabel] = []
    for place, row in rows:
        where = f"{source}, {place}"
        if column is None or _is_empty(row.get(column)):
            raise RolloutError(f"{where}: no episode named; columns: {', '.join(row)}")
        name = str(row[column]).strip()
        labels.append(NamedLabel(name, find(name), _row_evidence(row, where)))
    return labels


def labels_by_episode(labels: Sequence[NamedLabel], source: Path | str) -> dict[str, Evidence]:
    """The labels that fit an episode; two that contradict each other are an error."""
    found: dict[str, Evidence] = {}
    for label in labels:
        if label.episode_id is None:
            continue
        if found.setdefault(label.episode_id, label.evidence) != label.evidence:
            raise RolloutError(f"{source}: episode {label.name} has two different labels")
    return found


def by_spelling(names: Mapping[str, str]) -> Find:
    """Finds the episode for a name (`names` maps names to episode ids) as people spell it.

    Numbers may be padded, floats, or behind `episode_`; paths may start anywhere above.

    >>> find = by_spelling({"3": "3", "run1/a.mp4": "run1/a"})
    >>> find("episode_000003"), find("3.0"), find("/data/run1/a.mp4"), find("4")
    ('3', '3', 'run1/a', None)
    """

    def find(name: str) -> str | None:
        return next((names[s] for s in _spellings(name) if s in names), None)

    return find


def _spellings(name: str) -> Iterator[str]:
    yield name
    number = re.fullmatch(r"(?:episode_)?0*(\d+)(?:\.0+)?", name)
    if number:
        yield number[1]
    parts = name.replace("\\", "/").split("/")
    for start in range(1, len(parts)):
        yield "/".join(parts[start:])


def _id_column(rows: Sequence[Row], find: Find) -> str | None:
    """The column that names episodes: the first whose names are known, else the first."""
    there = [c for c in _ID_COLUMNS if any(not _is_empty(row.get(c)) for row in rows)]
    for column in there:
        if any(find(str(row.get(column)).strip()) is not None for row in rows):
            return column
    return there[0] if there else None


def _is_empty(value: object) -> bool:
    return value is None or value == ""


def _csv_rows(text: str, path: Path) -> list[tuple[str, Row]]:
    try:
        lines = list(csv.reader(text.splitlines()))
    except csv.Error as error:
        raise RolloutError(f"{path}: not a csv file ({error})") from error
    if not lines:
        return []
    header = [column.strip().lower() for column in lines[0]]
    if len(set(header)) < len(header):
        raise RolloutError(f"{path}, line 1: a column stands there twice: {', '.join(header)}")
    return [
        (f"line {number}", dict(zip(header, line, strict=False)))
        for number, line in enumerate(lines[1:], start=2)
        if line
    ]


def _json_rows(text: str, path: Path) -> list[tuple[str, Row]]:
    def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key stands there twice")
        return dict(pairs)

    try:
        content: Any = json.loads(text, object_pairs_hook=without_repeats)
    except (ValueError, RecursionError) as error:
        raise RolloutError(f"{path}: not a json file ({error})") from error
    if isinstance(content, dict):
        content = cast(dict[str, Any], content)
        content = content.get("episodes", content)
    if isinstance(content, dict):
        return _object_rows(cast(dict[str, Any], content))
    if not isinstance(content, list):
        raise RolloutError(f"{path}: wanted a list or an object of labels")
    rows: list[tuple[str, Row]] = []
    for number, row in enumerate(cast(list[Any], content)):
        if not isinstance(row, dict):
            raise RolloutError(f"{path}, entry {number}: wanted an object, got {row!r}")
        rows.append((f"entry {number}", cast(Row, row)))
    return rows


def _object_rows(content: Mapping[Any, object]) -> list[tuple[str, Row]]:
    rows: list[tuple[str, Row]] = []
    for key, value in content.items():
        stated = cast(Row, value) if isinstance(value, dict) else {"outcome": value}
        rows.append((f"episode {key}", {"episode": key, **stated}))
    return rows


def _row_evidence(row: Row, where: str) -> Evidence:
    found: list[Evidence] = []
    for name in (*_OUTCOME_COLUMNS, *_SUCCESS_COLUMNS):
        if _is_empty(row.get(name)):
            continue
        parse = evidence_from_outcome if name in _OUTCOME_COLUMNS else evidence_from_value
        evidence = parse(row[name])
        if evidence is None:
            raise RolloutError(
                f"{where}: {name} is {row[name]!r}; use true or false, or success, time_out "
                "or failure"
            )
        found.append(evidence)
    if not found:
        raise RolloutError(f"{where}: neither success nor outcome given; columns: {', '.join(row)}")
    if len({evidence.success for evidence in found}) > 1:
        raise RolloutError(f"{where}: its columns contradict each other")
    return Evidence(found[0].success, _goal_frame(row, where), found[0].outcome)


def _goal_frame(row: Row, where: str) -> int | None:
    value = row.get("goal_frame")
    if _is_empty(value):
        return None
    try:
        number = float(str(value))
        if number != int(number):
            raise ValueError
        return int(number)
    except (ValueError, OverflowError) as error:
        raise RolloutError(f"{where}: goal_frame is {value!r}") from error
