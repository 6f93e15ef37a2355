"""Tables of outcomes: csv files with one row per episode."""

import csv
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from goalward.metrics.comparing.pairing import starts_of
from goalward.metrics.comparing.tables.outcome_file import read_outcomes
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable

Row = dict[str, object]


def outcome_rows(
    policy: str,
    successes: int,
    total: int,
    *,
    steps: int = 50,
    horizon: int = 100,
    **columns: Callable[[int], object],
) -> list[Row]:
    """The first episodes succeed, the others time out; rows are as mixed as real ones.

    Successes take `steps` to `steps` + 6. More columns are functions of the episode.
    """
    return [
        {
            "policy": policy,
            "episode": i,
            "success": i < successes,
            "steps": steps + i % 7 if i < successes else horizon,
            **{name: value(i) for name, value in columns.items()},
        }
        for i in np.random.default_rng([*policy.encode()]).permutation(total).tolist()
    ]


def write_rows(path: Path, rows: Sequence[Row]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_policy(path: Path, successes: int, total: int, **options) -> Path:
    """A file of its own for one policy, which is named after the file."""
    rows = outcome_rows(path.stem, successes, total, **options)
    without_policy = [{k: v for k, v in row.items() if k != "policy"} for row in rows]
    return write_rows(path, without_policy)


def table_of(folder: Path, *rows: Sequence[Row]) -> OutcomeTable:
    """Rows of all policies, written and read again."""
    return read_outcomes([write_rows(folder / "all.csv", [*chain(*rows)])])


def matched(table: OutcomeTable) -> list[list[int]]:
    """The episodes of all policies that started alike, by their positions in each."""
    starts = starts_of(table)
    return [] if starts is None else starts.shared(*range(len(table.policies))).tolist()
