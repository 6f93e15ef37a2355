"""The scores of a grid: one number per encoder, size, method, seed and metric, in one file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

import pyarrow as pa

from goalward.errors import GoalwardError
from goalward.metrics.score import Interval, Score, no_interval
from goalward.metrics.scores.card import CardRow
from goalward.metrics.uncertainty.intervals import over_seeds
from goalward.metrics.uncertainty.significance import MethodTests, method_tests
from goalward.parquet_files import read_parquet, write_parquet

Cards = Mapping[str, Mapping[str, CardRow]]

_SCHEMA = pa.schema(
    [
        ("encoder", pa.string()),
        ("size", pa.int64()),
        ("method", pa.string()),
        ("seed", pa.int64()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("reason", pa.string()),
    ]
)
_DIGESTS = b"goalward.inputs"
_NO_INTERVAL = "a grid keeps scores per seed, not per episode"


@dataclass(frozen=True)
class ResultRow:
    """One score of one run; `size` is the number of episodes it learned from."""

    encoder: str
    size: int
    method: str
    seed: int
    metric: str
    score: Score


@dataclass(frozen=True)
class Results:
    """All scores of a grid, and for each encoder a digest of what they were made from."""

    rows: tuple[ResultRow, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def encoders(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.encoder for row in self.rows))

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(sorted({row.size for row in self.rows}))

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.method for row in self.rows))

    def of(self, encoder: str) -> "Results":
        """The part of one encoder."""
        known = {name: digest for name, digest in self.inputs.items() if name == encoder}
        return Results(tuple(row for row in self.rows if row.encoder == encoder), known)

    def __add__(self, other: "Results") -> "Results":
        return Results(self.rows + other.rows, {**self.inputs, **other.inputs})

    def cards(self, encoder: str, size: int) -> dict[str, dict[str, CardRow]]:
        """Method -> metric -> scores over seeds, for one encoder and one size."""
        here = [row for row in self.rows if (row.encoder, row.size) == (encoder, size)]
        return _cards([(row.method, row.metric, row.score) for row in here])

    def encoder_cards(self, method: str, size: int) -> dict[str, dict[str, CardRow]]:
        """Encoder -> metric -> scores over seeds, for one method and one size."""
        here = [row for row in self.rows if (row.method, row.size) == (method, size)]
        return _cards([(row.encoder, row.metric, row.score) for row in here])

    def write(self, path: Path) -> None:
        """As parquet; a score that is not defined is null and has a reason."""
        columns = {
            **{
                name: [getattr(row, name) for row in self.rows]
                for name in ("encoder", "size", "method", "seed", "metric")
            },
            "value": [row.score.value for row in self.rows],
            "reason": [row.score.reason for row in self.rows],
        }
        table = pa.table(columns, schema=_SCHEMA)
        inputs = json.dumps(dict(self.inputs), sort_keys=True)
        table = table.replace_schema_metadata({_DIGESTS: inputs.encode()})
        write_parquet(path, table)


def read_results(path: Path) -> Results:
    """What `Results.write` wrote."""
    try:
        table = read_parquet(path)
        inputs = json.loads((table.schema.metadata or {}).get(_DIGESTS, b"{}"))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise GoalwardError(f"{path}: cannot be read as results ({error})") from error
    missing = [name for name in _SCHEMA.names if name not in table.column_names]
    if missing:
        raise GoalwardError(f"{path}: is no table of results (no {', '.join(missing)})")
    rows = tuple(
        ResultRow(
            entry["encoder"],
            entry["size"],
            entry["method"],
            entry["seed"],
            entry["metric"],
            Score(entry["value"], entry["reason"]),
        )
        for entry in table.to_pylist()
    )
    return Results(rows, inputs)


def differences_between(cards: Cards, metrics: Sequence[str]) -> dict[str, MethodTests]:
    """For each metric the tests between all names whose score every seed has.

    Metrics that fewer than two names have, or a single seed, are not there.
    """
    tests: dict[str, MethodTests] = {}
    for metric in metrics:
        scores: dict[str, list[float]] = {}
        for name, card in cards.items():
            found = [score.value for score in card[metric].by_seed]
            numbers = [value for value in found if value is not None and isfinite(value)]
            if len(numbers) == len(found) > 1:
                scores[name] = numbers
        if len(scores) > 1:
            tests[metric] = method_tests(scores)
    return tests


def _cards(found: Sequence[tuple[str, str, Score]]) -> dict[str, dict[str, CardRow]]:
    by_seed: dict[str, dict[str, list[Score]]] = {}
    for name, metric, score in found:
        by_seed.setdefault(name, {}).setdefault(metric, []).append(score)
    return {
        name: {
            metric: CardRow(
                tuple(scores), over_seeds(scores), no_interval(_NO_INTERVAL, Interval.level)
            )
            for metric, scores in metrics.items()
        }
        for name, metrics in by_seed.items()
    }
