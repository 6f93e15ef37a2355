"""Labels by episode from a csv or json file."""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from goalward.errors import RolloutError
from goalward.rollouts.evidence import Evidence, evidence_from_outcome, evidence_from_value

_ID_COLUMNS = ("episode_index", "episode_id", "episode", "id", "path", "video", "file")
_OUTCOME_COLUMNS = ("outcome", "label")
_SUCCESS_VALUE_COLUMNS = ("success", "is_success", "episode_success")


def read_label_file(path: Path) -> dict[str, Evidence]:
    """Labels by episode from a csv or json file.

    csv: a header with one of episode_index, episode_id, episode, id, path and one of success
    (true or false) or outcome (success, time_out, failure), optionally goal_frame. json: a list
    of such rows, or an object {"0": true, "1": "failure"}.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RolloutError(f"{path}: cannot read the label file ({error})") from error
    rows = _json_rows(text, path) if path.suffix.lower() == ".json" else _csv_rows(text, path)
    labels: dict[str, Evidence] = {}
    for number, row in rows:
        keys, evidence = _row_label(row, f"{path}, {number}")
        for key in keys:
            if key in labels and labels[key] != evidence:
                raise RolloutError(f"{path}, {number}: episode {key} has two different labels")
            labels[key] = evidence
    if not labels:
        raise RolloutError(f"{path}: the label file holds no labels")
    return labels


def _csv_rows(text: str, path: Path) -> Iterable[tuple[str, Mapping[str, object]]]:
    try:
        for number, row in enumerate(csv.DictReader(text.splitlines()), start=2):
            yield f"line {number}", {str(key).strip().lower(): v for key, v in row.items()}
    except csv.Error as error:
        raise RolloutError(f"{path}: not a csv file ({error})") from error


def _json_rows(text: str, path: Path) -> Iterable[tuple[str, Mapping[str, object]]]:
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RolloutError(f"{path}: not a json file ({error})") from error
    if isinstance(content, dict):
        content = cast(dict[str, Any], content)
        content = content.get("episodes", content)
    if isinstance(content, dict):
        for key, value in cast(dict[str, Any], content).items():
            row = cast(dict[str, object], value) if isinstance(value, dict) else {"outcome": value}
            yield f"episode {key}", {"episode": key, **row}
    elif isinstance(content, list):
        for number, row in enumerate(cast(list[Any], content)):
            if not isinstance(row, dict):
                raise RolloutError(f"{path}, entry {number}: wanted an object, got {row!r}")
            yield f"entry {number}", cast(dict[str, object], row)
    else:
        raise RolloutError(f"{path}: wanted a list or an object of labels")


def _row_label(row: Mapping[str, object], where: str) -> tuple[list[str], Evidence]:
    """The names a row gives to its episode (an index and a path, say), and its label."""
    keys = [str(row[name]).strip() for name in _ID_COLUMNS if row.get(name) not in (None, "")]
    if not keys:
        raise RolloutError(f"{where}: no episode named; columns: {', '.join(map(str, row))}")
    evidence = None
    for name in (*_OUTCOME_COLUMNS, *_SUCCESS_VALUE_COLUMNS):
        if row.get(name) in (None, ""):
            continue
        parse = evidence_from_outcome if name in _OUTCOME_COLUMNS else evidence_from_value
        evidence = parse(row[name])
        if evidence is None:
            raise RolloutError(
                f"{where}: {name} is {row[name]!r}; use true or false, or success, time_out "
                "or failure"
            )
        break
    if evidence is None:
        raise RolloutError(
            f"{where}: neither success nor outcome given; columns: {', '.join(map(str, row))}"
        )
    goal_frame = row.get("goal_frame")
    if goal_frame not in (None, ""):
        try:
            evidence = Evidence(evidence.success, int(str(goal_frame)), evidence.outcome)
        except ValueError as error:
            raise RolloutError(f"{where}: goal_frame is {goal_frame!r}") from error
    return keys, evidence
