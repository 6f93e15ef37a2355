"""What is said of a run's files is what is in them, and nothing in them is left unsaid."""

import csv
import json
import re
import tomllib
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jsonschema import Draft202012Validator

import goalward
from goalward.columns import Column
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.run_folder import RunFolder
from goalward.runs.folder.described import RunFile, run_file, run_files
from goalward.runs.notes import EpisodeNote, keep_note

READERS = {"text": str, "whole number": int, "number": float}
ARROW = {
    "text": pa.types.is_dictionary,
    "whole number": pa.types.is_integer,
    "number": pa.types.is_floating,
    "true or false": pa.types.is_boolean,
    "numbers": pa.types.is_list,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A run with two tasks, two methods, truth, a note."""
    draws = np.random.default_rng(0)
    ramp = np.linspace(0, 1, 20)[:, None]
    success = [i % 2 == 0 for i in range(16)]
    arrays = [(ramp if good else 0 * ramp) + 0.05 * draws.normal(size=(20, 3)) for good in success]
    rollouts = goalward.from_arrays(
        [a.astype(np.float32) for a in arrays],
        success=success,
        tasks=["push" if i < 8 else "pull" for i in range(16)],
        fps=10,
    )
    steps = np.array([[9.0, 8.0] if good else [np.inf, np.inf] for good in success])
    ids = tuple(episode.id for episode in rollouts)
    out = tmp_path_factory.mktemp("described") / "run"
    goalward.evaluate(
        rollouts,
        out,
        methods=("liveness", "mc"),
        seeds=2,
        folds=2,
        truth=FrameTruth(ids, np.full(16, 10), steps, cap=75, made_with={"task": "none"}),
        report=False,
        progress=False,
        width=16,
        num_layers=2,
        num_steps=40,
        batch_size=64,
    )
    keep_note(RunFolder(out).notes, ids[0], EpisodeNote("slips", ("dropped",), wrong_label=True))
    return out


def wrong_columns(file: RunFile, header: list[str]) -> list[str]:
    """What the description lacks, and what the file lacks; those of `within_N` are many."""
    told = [column.name for column in file.columns]
    found = [re.sub(r"^within_\d+$", "within_N", name) for name in header]
    optional = {"interpolated"} | ({"task"} if file.path == "outcomes.csv" else set())
    new = [name for name in found if name not in told]
    return new + [name for name in told if name not in found and name not in optional]


def wrong_cell(column: Column, text: str) -> bool:
    if text == "":
        return not column.empty
    if column.kind == "true or false":
        return text not in ("true", "false")
    try:
        READERS[column.kind](text)
    except ValueError:
        return True
    return False


def wrong_rows(file: RunFile, path: Path) -> list[str]:
    with path.open(newline="") as opened:
        rows = csv.DictReader(opened)
        columns = {column.name: column for column in file.columns}
        wrong = wrong_columns(file, list(rows.fieldnames or ()))
        cells = [(name, text) for row in rows for name, text in row.items()]
    return wrong + [f"{n}: {t!r}" for n, t in cells if n in columns and wrong_cell(columns[n], t)]


def wrong_types(file: RunFile, path: Path) -> list[str]:
    schema = pq.read_schema(path)
    columns = {column.name: column for column in file.columns}
    kinds = {name: columns.get(re.sub(r"^within_\d+$", "within_N", name)) for name in schema.names}
    return wrong_columns(file, schema.names) + [
        f"{name}: {schema.field(name).type}"
        for name, column in kinds.items()
        if column is not None and not ARROW[column.kind](schema.field(name).type)
    ]


def wrong_content(file: RunFile, content: object) -> list[str]:
    """By the schema that allows nothing more than it knows, as a JSON Schema library reads it."""
    schema = file.schema(is_closed=True)
    Draft202012Validator.check_schema(schema)
    return [
        f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}"
        for error in Draft202012Validator(schema).iter_errors(content)
    ]


def content_of(path: Path) -> dict:
    return (tomllib.loads if path.suffix == ".toml" else json.loads)(path.read_text())


TABLES = [file for file in run_files() if file.columns]
CONTENTS = [file for file in run_files() if file.content is not None]


@pytest.mark.parametrize("file", TABLES, ids=lambda file: file.path)
def test_columns_of_tables_are_as_they_are_described(folder, file):
    wrong = wrong_types if file.path.endswith(".parquet") else wrong_rows
    assert wrong(file, folder / file.path) == []


@pytest.mark.parametrize("file", CONTENTS, ids=lambda file: file.path)
def test_json_and_toml_are_as_their_schema_says(folder, file):
    assert wrong_content(file, content_of(folder / file.path)) == []


def test_there_is_nothing_that_nobody_described(folder):
    told = [file.path for file in run_files()]
    found = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    found = [path for path in found if not path.startswith(".")]
    assert len(found) > 12
    assert [path for path in found if not any(fnmatch(path, f"{name}*") for name in told)] == []
    assert [file.path for file in run_files() if not file.what] == []


@pytest.mark.parametrize("file", run_files(), ids=lambda file: file.path)
def test_every_column_and_every_field_has_words(file):
    assert file.undescribed() == ()


# ---- the faults that these tests are for -------------------------------------------------------


def test_a_new_column_without_a_description_is_noticed(folder, tmp_path):
    episodes, values = (next(f for f in TABLES if f.path.startswith(n)) for n in ("epi", "val"))
    lines = (folder / episodes.path).read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join([f"{lines[0]},mood", *(f"{x},0" for x in lines[1:])]))
    assert wrong_rows(episodes, tmp_path / "a.csv") == ["mood"]
    table = pq.read_table(folder / values.path)
    pq.write_table(table.append_column("mood", table["frame"]), tmp_path / "a.parquet")
    assert wrong_types(values, tmp_path / "a.parquet") == ["mood"]
    nameless = replace(episodes, columns=(*episodes.columns, Column("mood", "text", "")))
    assert nameless.undescribed() == ("mood",)


def test_a_cell_of_another_kind_is_noticed(folder, tmp_path):
    (file,) = (f for f in TABLES if f.path == "events.csv")
    text = (folder / file.path).read_text()
    (tmp_path / "a.csv").write_text(re.sub(r"goal,(\d+),", "goal,late,", text, count=1))
    assert wrong_rows(file, tmp_path / "a.csv") == ["frame: 'late'"]


def test_a_new_field_is_noticed(folder):
    file = run_file("scores.json")
    content = content_of(folder / file.path)
    content["scores"]["policy"]["mood"] = 0.5
    content["scores"]["policy"]["success"]["count"] = "many"
    told = "\n".join(wrong_content(file, content))
    assert "'mood' was unexpected" in told
    assert "'many' is not of type 'integer'" in told


@dataclass(frozen=True)
class Mood:
    """How it feels; `since` when."""

    name: str
    since: int


def test_a_field_without_words_is_named():
    assert RunFile("a.json", "", content=tuple[Mood, ...]).undescribed() == ("Mood.name",)


def test_who_reads_files_need_not_know_all_fields(folder):
    """The schema that is published allows what later versions may add."""
    file = run_file("scores.json")
    content = content_of(folder / file.path) | {"added": 1}
    assert list(Draft202012Validator(file.schema()).iter_errors(content)) == []
    del content["scores"]
    assert list(Draft202012Validator(file.schema()).iter_errors(content)) != []
