"""The spreadsheet, read back by the csv module alone."""

import csv

import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

import goalward
from exports.conftest import told, told_run
from goalward.values.events import read_events


def export(run_folder, out, **options):
    return goalward.export(run_folder, "csv", out=out, **options)


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_row_per_frame(run_folder, tmp_path):
    found = rows(export(run_folder, tmp_path / "frames.csv").path)
    assert list(found[0]) == [
        "episode", "task", "frame", "seconds", "outcome", "held_out",
        "liveness_value", "liveness_sd", "liveness_steps_to_go",
        "liveness_hindsight_value", "liveness_hindsight_steps_to_go", "liveness_chance",
        "mc_value", "mc_sd", "mc_steps_to_go", "mc_hindsight_value", "mc_hindsight_steps_to_go",
        "mc_chance",
    ]  # fmt: skip
    assert len(found) == 15
    third = found[2]
    assert (third["episode"], third["task"], third["frame"]) == ("0", "stack the cubes", "2")
    assert (third["outcome"], third["held_out"]) == ("success", "true")
    assert found[6]["held_out"] == "false"
    # 3 steps to go at a discount of 0.5.
    assert (third["liveness_value"], third["liveness_sd"]) == ("0.75", "0")
    assert float(third["liveness_steps_to_go"]) == 3
    # Seeds say 4 steps and never: 0.875 and 1.
    assert float(third["mc_value"]) == 0.9375
    assert float(third["mc_sd"]) == pytest.approx(0.125 / 2**0.5, rel=1e-5)
    assert float(third["mc_steps_to_go"]) == pytest.approx(5)
    # Within the standard horizon of five steps: both seeds of one method, one of the other.
    assert [third[f"{name}_chance"] for name in ("liveness", "mc")] == ["1", "0.5"]


def test_hindsight_has_columns_of_its_own(data, tmp_path):
    run = told_run(tmp_path / "run", data, hindsight=1.0)
    found = rows(export(run, tmp_path / "frames.csv").path)
    # Two steps before the goal, where the value says one.
    assert (found[3]["liveness_value"], found[3]["liveness_steps_to_go"]) == ("0", "1")
    assert (found[3]["liveness_hindsight_value"], found[3]["mc_hindsight_value"]) == ("0.5", "0.5")
    assert float(found[3]["liveness_hindsight_steps_to_go"]) == 2
    # Where the clock ran out both are the same: 3 steps to go, by the other method 4 and never.
    last = [found[10][f"{name}value"] for name in ("liveness_", "liveness_hindsight_")]
    assert last == ["0.75", "0.75"]
    assert float(found[10]["mc_hindsight_steps_to_go"]) == pytest.approx(5)


def test_seconds_where_the_frame_rate_is_known(tmp_path):
    episodes = [drawn_episode("slow", 3, fps=2.0), drawn_episode("unknown", 2)]
    run, _ = drawn_run(episodes, {"mc": [countdown(3), countdown(2)]}, tmp_path / "run")
    found = rows(export(run, tmp_path / "frames.csv").path)
    assert [row["seconds"] for row in found] == ["0", "0.5", "1", "", ""]


def test_whatever_is_called_a_value_is_on_one_scale(run_folder, tmp_path):
    """-1 at the goal and 1 for never, the smaller the better, for every method, here and there."""
    run = goalward.open_run(run_folder)
    found = rows(export(run_folder, tmp_path / "frames.csv").path)
    values = [name for name in found[0] if name.endswith("value")]
    assert len(values) == 4
    for row in found:
        for name in values:
            steps = float(row[name.replace("value", "steps_to_go")])
            assert float(row[name]) == pytest.approx(1 - 2 * run.discount**steps, abs=1e-5)
    table = run.to_pandas()
    for method in ("liveness", "mc"):
        of_method = table[table["method"] == method]
        for column in ("value", "hindsight_value"):
            mean = of_method.groupby(["episode", "frame"], sort=False)[column].mean()
            told = [float(row[f"{method}_{column}"]) for row in found]
            assert told == pytest.approx(mean.tolist(), abs=1e-5)


def test_never_is_inf(run_folder, tmp_path):
    frame = rows(export(run_folder, tmp_path / "frames.csv").path)[9]
    assert (frame["liveness_value"], frame["liveness_steps_to_go"]) == ("1", "inf")


def test_events_lie_beside_it(run_folder, tmp_path):
    export(run_folder, tmp_path / "frames.csv", episodes=["0", "3"])
    events = read_events(tmp_path / "frames_events.csv")
    assert [event.kind.value for event in events["0"]][-1] == "goal"
    assert "1" not in events


def test_any_name_survives(data, tmp_path):
    strange = 'a,"b"\n</script>,=1+1 \N{ROBOT FACE}'
    run = told_run(tmp_path / "run", data, [told(strange, "time_out", None, [2, 1], task=strange)])
    found = rows(export(run, tmp_path / "frames.csv").path)
    assert [row["episode"] for row in found] == [strange] * 2
    assert {row["task"] for row in found} == {strange}
