"""What a curation leaves on disk: lists, weights by the data set's own index, a script."""

import csv
import json
import os
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goalward
from exports.conftest import told_run
from exports.curating.conftest import EPISODES, write_data


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def folder(run_folder):
    goalward.curate(run_folder, drop=("not-success", "after-goal", "stalls"))
    return run_folder / "curation"


def test_a_row_per_episode_with_decision_and_reasons(folder):
    rows = rows_of(folder / "episodes.csv")
    assert list(rows[0].values()) == [
        *("0", "stack the cubes", "success", "part", "100", "80", "0.8000", "after-goal")
    ]
    assert [(row["episode"], row["decision"], row["reasons"]) for row in rows[2:]] == [
        ("2", "drop", "not-success stalls"),
        ("4", "drop", "not-success stalls"),
        ("5", "keep", ""),
        ("6", "part", "stalls"),
    ]


def test_every_stretch_with_its_rule(folder):
    rows = rows_of(folder / "stretches.csv")
    assert rows[0] == {"episode": "0", "first": "80", "last": "99", "rule": "after-goal"}
    assert [row["episode"] for row in rows if row["rule"] == "not-success"] == ["2", "4"]


def test_the_effect_by_task_and_outcome(folder):
    rows = rows_of(folder / "effect.csv")
    assert [(row["task"], row["outcome"]) for row in rows] == [
        ("stack the cubes", "success"),
        ("stack the cubes", "time_out"),
        ("pour", "time_out"),
        ("pour", "success"),
    ]
    assert [row["episodes_kept"] for row in rows] == ["2", "0", "0", "2"]


def test_weights_go_by_the_index_of_the_data_set(run_folder, folder, data):
    found = goalward.curate(run_folder, drop=("not-success", "after-goal", "stalls"))
    table = pq.read_table(folder / "weights.parquet")
    assert [(field.name, field.type) for field in table.schema] == [
        ("index", pa.int64()),
        ("weight", pa.float32()),
        ("episode_index", pa.int64()),
        ("frame_index", pa.int64()),
    ]
    # Frames of episode 3, of which the run has no values, have no row.
    whole = pa.concat_tables(pq.read_table(path) for path in sorted((data / "data").rglob("*.p*")))
    place = {
        (row["episode_index"], row["frame_index"]): row["index"]
        for row in whole.select(["episode_index", "frame_index", "index"]).to_pylist()
        if row["episode_index"] != 3
    }
    rows = table.to_pylist()
    assert {(row["episode_index"], row["frame_index"]): row["index"] for row in rows} == place
    assert [row["index"] for row in rows] == sorted(place.values())
    assert table["weight"].to_numpy() == pytest.approx(found.weights.astype(np.float32))
    made_with = json.loads(table.schema.metadata[b"goalward"])
    assert made_with == {
        "run": "run",
        "method": "liveness",
        "drop": ["not-success", "after-goal", "stalls"],
        "weigh": "equal",
    }


def test_of_other_data_the_index_is_the_place_in_the_run(tmp_path):
    run = told_run(tmp_path / "run", None, EPISODES)
    goalward.curate(run)
    table = pq.read_table(run / "curation" / "weights.parquet")
    assert table.column_names == ["index", "weight", "episode", "frame_index"]
    assert table["index"].to_pylist() == list(range(625))
    assert table["episode"].to_pylist()[99:101] == ["0", "1"]
    assert table["frame_index"].to_pylist()[99:101] == [99, 0]
    text = (run / "curation" / "commands.sh").read_text()
    assert "lerobot-edit-dataset" not in text
    assert str(run / "curation" / "weights.parquet") in text


def ran(script, tmp_path):
    """What a shell calls lerobot-edit-dataset with."""
    stand_in = tmp_path / "bin" / "lerobot-edit-dataset"
    stand_in.parent.mkdir(exist_ok=True)
    stand_in.write_text('#!/bin/sh\nprintf "%s\\0" "$@" >> called\n')
    stand_in.chmod(0o755)
    path = f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["bash", "-eu", str(script)], cwd=tmp_path, env={"PATH": path}, check=True, timeout=60
    )
    called = tmp_path / "called"
    return called.read_text().split("\0")[:-1] if called.exists() else []


def test_a_shell_runs_the_commands_and_lerobot_hears_what_to_delete(folder, data, tmp_path):
    assert ran(folder / "commands.sh", tmp_path) == [
        *("--repo_id", "my data", "--root", str(data)),
        *("--new_repo_id", "my data_curated", "--new_root", "my data_curated"),
        *("--operation.type", "delete_episodes", "--operation.episode_indices", "[2, 4]"),
    ]
    text = (folder / "commands.sh").read_text()
    assert str(folder / "weights.parquet") in text
    assert "7 frames of 1 episodes are not in it" in text
    splits = '{"kept": [0, 1, 5, 6], "dropped": [2, 4]}'
    assert f"#     --operation.type split --operation.splits '{splits}'" in text
    assert f"#     goalward export {folder.parent} --to lerobot-progress" in text


def test_a_copy_that_would_have_no_statistics_is_told(run_folder, data):
    script = run_folder / "curation" / "commands.sh"
    told = "# This data set has no statistics by episode, from which LeRobot makes those of a"
    goalward.curate(run_folder)
    assert told in script.read_text()
    (path,) = (data / "meta" / "episodes").glob("*/*.parquet")
    table = pq.read_table(path)
    counts = pa.array([[1]] * table.num_rows)
    pq.write_table(table.append_column("stats/action/count", counts), path)
    goalward.curate(run_folder)
    assert told not in script.read_text()


def test_where_no_episode_goes_nothing_is_deleted(run_folder, tmp_path):
    goalward.curate(run_folder, drop=("stalls",), keep=["2", "4"])
    assert ran(run_folder / "curation" / "commands.sh", tmp_path) == []


def test_version_2_has_to_be_converted_first(tmp_path):
    run = told_run(tmp_path / "run", write_data(tmp_path / "old", version="v2.1"), EPISODES)
    goalward.curate(run)
    assert "version 3.0: convert the data set first" in (run / "curation/commands.sh").read_text()


def test_a_path_like_a_command_is_quoted(tmp_path):
    data = write_data(tmp_path / "a; touch called; $(touch called) 'b'")
    run = told_run(tmp_path / "run", data, EPISODES)
    goalward.curate(run)
    assert ran(run / "curation" / "commands.sh", tmp_path)[3] == str(data)


def test_a_folder_name_with_a_line_break_stays_a_comment(tmp_path):
    run = told_run(tmp_path / "run", write_data(tmp_path / "data"), EPISODES)
    goalward.curate(run, out=tmp_path / "a\ntouch broken")
    ran(tmp_path / "a\ntouch broken" / "commands.sh", tmp_path)
    assert not (tmp_path / "broken").exists()
