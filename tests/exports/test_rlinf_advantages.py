"""advantages_{tag}.parquet, read back as RLinf's RECAP reads it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goalward


def export(run_folder, *, out=None, n=2, **options):
    """In place, unless it is said where."""
    return goalward.export(
        run_folder, "rlinf-advantages", out=out, in_place=out is None, n=n, **options
    )


def lookup(path, frames_of_the_data_set):
    """What training makes of the file: (episode, frame) -> bool, and every frame must be there."""
    rows = pq.read_table(path).to_pylist()
    found = {(int(r["episode_index"]), int(r["frame_index"])): bool(r["advantage"]) for r in rows}
    missing = [key for key in frames_of_the_data_set if key not in found]
    assert not missing
    return found


ALL_FRAMES = [(episode, t) for episode, length in enumerate((6, 5, 3, 4)) for t in range(length)]


def test_columns_order_and_types_are_rlinfs(run_folder, tmp_path):
    path = export(run_folder, out=tmp_path / "a.parquet").path
    assert [(field.name, field.type) for field in pq.read_schema(path)] == [
        ("episode_index", pa.int64()),
        ("frame_index", pa.int64()),
        ("advantage_continuous", pa.float64()),
        ("return", pa.float64()),
        ("value_current", pa.float64()),
        ("value_next", pa.float64()),
        ("reward_sum", pa.float64()),
        ("reward_sum_raw", pa.float64()),
        ("num_valid_rewards", pa.int64()),
        ("dataset_name", pa.string()),
        ("advantage", pa.bool_()),
    ]
    assert set(pq.read_table(path)["dataset_name"].to_pylist()) == {"data"}


def test_the_numbers_of_a_success_in_steps(run_folder, tmp_path):
    rows = pq.read_table(export(run_folder, out=tmp_path / "a.parquet").path).slice(0, 6)
    # Predicted 4, 4, 3, 1, 1, 0 steps; two ahead; the time limit is 5 steps.
    assert rows["return"].to_pylist() == [-5, -4, -3, -2, -1, 0]
    assert rows["reward_sum_raw"].to_pylist() == [-2, -2, -2, -2, -1, 0]
    assert rows["num_valid_rewards"].to_pylist() == [2, 2, 2, 2, 2, 1]
    scaled = {
        "value_current": [-4, -4, -3, -1, -1, 0],
        "value_next": [-3, -1, -1, 0, 0, 0],
        "advantage_continuous": [4 - 2 - 3, 4 - 2 - 1, 3 - 2 - 1, 1 - 2 - 0, 1 - 1, 0],
    }
    for name, steps in scaled.items():
        assert rows[name].to_pylist() == pytest.approx(np.array(steps) / 5)


@pytest.mark.parametrize("unit", ["steps", "value"])
@pytest.mark.parametrize("n", [1, 3, "end"])
def test_the_identities_of_rlinf(run_folder, tmp_path, unit, n):
    """normalised(x) = (x - min) / (max - min) - 1 with a greatest return of 0, and
    A = normalised rewards + gamma^valid * value_next - value_current."""
    path = export(run_folder, out=tmp_path / "a.parquet", unit=unit, n=n).path
    rows = [r for r in pq.read_table(path).to_pylist() if r["episode_index"] != 2]
    gamma, return_min = (1.0, -5.0) if unit == "steps" else (0.5, -1.0)
    by_key = {(r["episode_index"], r["frame_index"]): r for r in rows}
    for row in rows:
        assert row["reward_sum"] == pytest.approx(
            (row["reward_sum_raw"] - return_min) / -return_min - 1
        )
        bootstrap = gamma ** row["num_valid_rewards"] * row["value_next"]
        advantage = row["reward_sum"] + bootstrap - row["value_current"]
        assert row["advantage_continuous"] == pytest.approx(advantage)
        assert -1 <= row["value_current"] <= 0
        ahead = None if n == "end" else by_key.get((row["episode_index"], row["frame_index"] + n))
        if ahead is None:
            assert row["value_next"] == 0
            assert row["reward_sum_raw"] == row["return"]
        else:
            assert row["value_next"] == ahead["value_current"]
            assert row["reward_sum_raw"] == pytest.approx(
                row["return"] - gamma**n * ahead["return"]
            )


@pytest.mark.parametrize("unit", ["steps", "value"])
def test_the_identities_hold_in_hindsight_which_is_the_default(run_folder, tmp_path, unit):
    written = export(run_folder, out=tmp_path / "a.parquet", unit=unit, n=None)
    assert "in hindsight (lambda 0.98)" in written.notes[0]
    table = pq.read_table(written.path)
    assert json.loads(table.schema.metadata[b"goalward"])["hindsight"] == 0.98
    rows = [r for r in table.to_pylist() if r["episode_index"] != 2]
    gamma, return_min = (1.0, -5.0) if unit == "steps" else (0.5, -1.0)
    by_key = {(r["episode_index"], r["frame_index"]): r for r in rows}
    for row in rows:
        assert row["num_valid_rewards"] == 1
        bootstrap = gamma * row["value_next"]
        advantage = row["reward_sum"] + bootstrap - row["value_current"]
        assert row["advantage_continuous"] == pytest.approx(advantage)
        ahead = by_key.get((row["episode_index"], row["frame_index"] + 1))
        if ahead is None:
            assert (row["value_next"], row["advantage_continuous"]) == (0, 0)
            continue
        assert row["reward_sum_raw"] == pytest.approx(row["return"] - gamma * ahead["return"])
        # What follows is worth its value, and 0.98 of what it turned out better than that.
        hindsight = ahead["value_current"] + 0.98 * ahead["advantage_continuous"]
        assert row["value_next"] == pytest.approx(hindsight)
        assert row["reward_sum"] == pytest.approx(row["reward_sum_raw"] / -return_min)


def test_every_frame_of_the_data_set_has_a_row(run_folder, tmp_path):
    written = export(run_folder, out=tmp_path / "a.parquet", positive="top:1")
    found = lookup(written.path, ALL_FRAMES)
    assert [found[2, t] for t in range(3)] == [False, False, False]
    assert sum(found.values()) == 15
    left_out = pq.read_table(written.path).to_pylist()[11]
    assert left_out["num_valid_rewards"] == 0
    assert np.isnan(left_out["advantage_continuous"])
    assert "3 frames of 1 episodes of the data set have no values here" in written.notes[1]
    assert "RLinf's own relabelling finds no positive frame" in written.notes[1]


def test_labels_follow_the_rule(run_folder, tmp_path):
    path = export(run_folder, out=tmp_path / "a.parquet", positive="above:0.5").path
    found = lookup(path, ALL_FRAMES)
    # In steps, not in parts of the time limit: 4 - 2 - 1 in the first; in the second 5 - 1 - 3,
    # as never counts as the time limit and one step is left.
    assert [key for key, positive in found.items() if positive] == [(0, 1), (1, 3)]


def test_advantages_are_those_of_the_method(run_folder, tmp_path):
    path = export(run_folder, out=tmp_path / "a.parquet", method="mc").path
    # Seeds say 5 steps and never: the mean value is that of 6, and the time limit is 5.
    assert pq.read_table(path)["value_current"].to_pylist()[:3] == pytest.approx([-1, -1, -1])
    assert json.loads(pq.read_schema(path).metadata[b"goalward"])["method"] == "mc"


def test_in_place_it_goes_into_meta_under_its_tag(run_folder, data):
    written = export(run_folder, tag="goalward")
    assert written.path == data / "meta" / "advantages_goalward.parquet"
    assert written.next_step.endswith("data.advantage_tag=goalward")
    made_with = json.loads(pq.read_schema(written.path).metadata[b"goalward"])
    assert made_with == {
        "method": "liveness",
        "n": 2,
        "positive": "top:0.3",
        "run": "run",
        "unit": "steps",
    }
    assert export(run_folder).path == data / "meta" / "advantages.parquet"
    assert not list(data.rglob("*.bak"))
