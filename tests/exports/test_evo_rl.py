"""Evo-RL's columns in a copy and in place; nothing else of the data set changes."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goalward
from exports.conftest import told_run, write_data
from goalward.errors import GoalwardError

VALUE, ADVANTAGE, INDICATOR = (
    f"complementary_info.{name}" for name in ("value", "advantage", "acp_indicator")
)


def export(run_folder, *, out=None, **options):
    """In place, unless it is said where."""
    return goalward.export(run_folder, "evo-rl", out=out, in_place=out is None, **options)


def data_files(root):
    return sorted((root / "data").glob("chunk-*/file-*.parquet"))


def contents(root):
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_columns_and_features_are_evo_rls(run_folder, data, tmp_path):
    before = contents(data)
    out = export(run_folder, out=tmp_path / "copy").path
    assert contents(data) == before
    for copy, original in zip(data_files(out), data_files(data), strict=True):
        table, old = pq.read_table(copy), pq.read_table(original)
        assert table.select(old.column_names).equals(old)
        assert [(f.name, f.type) for f in table.schema][len(old.column_names) :] == [
            (VALUE, pa.float32()),
            (ADVANTAGE, pa.float32()),
            (INDICATOR, pa.int64()),
        ]
        groups = [pq.ParquetFile(path).num_row_groups for path in (copy, original)]
        assert groups == [2, 2]
    info = json.loads((out / "meta" / "info.json").read_text())
    old_info = json.loads((data / "meta" / "info.json").read_text())
    added = {name: info["features"].pop(name) for name in (VALUE, ADVANTAGE, INDICATOR)}
    assert info == old_info
    assert added == {
        VALUE: {"dtype": "float32", "shape": [1], "names": None},
        ADVANTAGE: {"dtype": "float32", "shape": [1], "names": None},
        INDICATOR: {"dtype": "int64", "shape": [1], "names": None},
    }


def test_values_lie_between_minus_one_and_zero_and_frames_without_have_none(run_folder, tmp_path):
    out = export(run_folder, out=tmp_path / "copy", n=50).path
    first, second = (pq.read_table(path) for path in data_files(out))
    assert first[VALUE].to_pylist()[:6] == pytest.approx(np.array([-4, -4, -3, -1, -1, 0]) / 5)
    # Predicted less real steps.
    assert first[ADVANTAGE].to_pylist()[:6] == pytest.approx(np.array([-1, 0, 0, -1, 0, 0]) / 5)
    assert np.isnan(second[VALUE].to_pylist()[:3]).all()
    assert second[INDICATOR].to_pylist()[:3] == [0, 0, 0]
    assert second[INDICATOR].null_count == 0
    assert set(first[INDICATOR].to_pylist()) == {0, 1}


def test_an_advantage_is_hindsight_less_value_unless_told_otherwise(run_folder, tmp_path):
    found = pq.read_table(data_files(export(run_folder, out=tmp_path / "copy").path)[0])
    # From the goal back: 0, -1, -2, then 0.02 of the next value and 0.98 of the next hindsight.
    hindsight = np.array([-4.980792, -3.9804, -2.98, -2, -1, 0])
    value = np.array([-4, -4, -3, -1, -1, 0])
    assert found[VALUE].to_pylist()[:6] == pytest.approx(value / 5)
    assert found[ADVANTAGE].to_pylist()[:6] == pytest.approx((hindsight - value) / 5, abs=1e-7)


def test_a_copy_can_be_read_with_its_videos(run_folder, data, tmp_path):
    out = export(run_folder, out=tmp_path / "copy").path
    episode = goalward.read(out)[0]
    original = goalward.read(data)[0]
    name = "observation.images.front"
    assert np.array_equal(episode.frame(name, 3), original.frame(name, 3))
    assert (out / "videos").is_symlink()


def test_a_copy_takes_the_place_of_an_earlier_one_and_of_nothing_else(run_folder, data, tmp_path):
    export(run_folder, out=tmp_path / "copy")
    out = export(run_folder, out=tmp_path / "copy", tag="two").path
    names = pq.read_schema(data_files(out)[0]).names
    assert f"{VALUE}_two" in names
    assert VALUE not in names
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "data", "run"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(GoalwardError, match="is there already and is no export; .* another out="):
        export(run_folder, out=tmp_path / "mine")
    with pytest.raises(GoalwardError, match="lies in the data set, which only in_place=True"):
        export(run_folder, out=data)
    assert (data / "videos").is_dir()


def test_interrupted_between_two_copies_the_old_one_is_still_there(
    run_folder, tmp_path, monkeypatch
):
    out = export(run_folder, out=tmp_path / "copy").path
    before = contents(out)
    real = Path.rename

    def stop(self, target):
        # The old copy leaves under its own name; it is the new one that has another.
        if target == out and self.name != out.name:
            raise KeyboardInterrupt
        return real(self, target)

    monkeypatch.setattr(Path, "rename", stop)
    with pytest.raises(KeyboardInterrupt):
        export(run_folder, out=out, tag="two")
    assert contents(out) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "data", "run"]


def test_in_place_twice_keeps_the_first_backup(run_folder, data):
    before = contents(data)
    export(run_folder)
    once = contents(data)
    export(run_folder, positive="above:0")
    changed = {p for p in before if contents(data)[p] != before[p]}
    assert {path.as_posix() for path in changed} == {
        "data/chunk-000/file-000.parquet",
        "data/chunk-000/file-001.parquet",
        "meta/info.json",
    }
    for path in changed:
        backup = data / f"{path}.goalward.bak"
        assert backup.read_bytes() == before[path]
    assert set(contents(data)) == set(once)
    assert goalward.read(data).ids == ("0", "1", "2", "3")


def test_frames_that_are_not_exported_keep_what_they_had(run_folder, data):
    export(run_folder, positive="top:1")
    export(run_folder, episodes=["1"], positive="above:1000")
    first = pq.read_table(data_files(data)[0])
    assert first[INDICATOR].to_pylist() == [1] * 6 + [0] * 5
    assert first[VALUE].to_pylist()[0] == pytest.approx(-4 / 5)
    assert first.column_names.count(VALUE) == 1


def test_where_a_human_took_over_is_positive(run_folder, data, tmp_path):
    path = data_files(data)[0]
    table = pq.read_table(path)
    took_over = pa.array(np.arange(11) == 3, type=pa.float32())
    name = "complementary_info.is_intervention"
    pq.write_table(table.append_column(name, took_over), path)
    out = export(run_folder, out=tmp_path / "copy", positive="above:1000").path
    assert pq.read_table(data_files(out)[0])[INDICATOR].to_pylist() == [0, 0, 0, 1] + [0] * 7


def test_version_2_is_refused(tmp_path):
    data = write_data(tmp_path / "old", version="v2.1")
    run = told_run(tmp_path / "run", data)
    with pytest.raises(GoalwardError, match="version 2.1; Evo-RL reads 3.0"):
        export(run)


def test_a_damaged_data_file_changes_nothing(run_folder, data, monkeypatch):
    before = contents(data)
    real = pq.ParquetWriter.write_table
    calls = []

    def break_at_the_third(self, *arguments, **options):
        calls.append(1)
        if len(calls) == 3:
            raise pa.ArrowInvalid("broken")
        return real(self, *arguments, **options)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", break_at_the_third)
    with pytest.raises(GoalwardError, match="file-001.parquet: cannot be copied"):
        export(run_folder)
    assert contents(data) == before
