"""`goalward truth`: stopped, resumed, extended, refused; the table is the same in the end."""

import itertools
import json
import logging
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from goalward import progress
from goalward.cli.truth import truth_command
from goalward.errors import GoalwardError
from goalward.executors.piece import PiecesFailed
from goalward.metrics.truth.frame_truth import read_truth
from goalward.simulate import truth as truth_module
from goalward.simulate.recording.data_set import SimulatedDataSet, SimulationSettings
from goalward.simulate.truth import sample_frames
from simulate.walk_world import write_traces

TESTS = Path(__file__).parent.parent


def write_data_set(folder: Path, policy: str = "walker", every: int = 1) -> Path:
    """As `goalward simulate` leaves it, without pictures."""
    data_set = SimulatedDataSet(folder)
    write_traces(data_set.trace_file(0).parent)
    SimulationSettings(
        task="walk",
        policy=policy,
        episodes=12,
        balanced=False,
        seed=0,
        size=16,
        every=every,
        time_out=14,
        standard_horizon=12,
        fps=10,
        versions={},
    ).write(data_set.settings_file)
    data_set.info_file.parent.mkdir(parents=True)
    data_set.info_file.write_text("{}")
    return folder


@pytest.fixture
def data_set(tmp_path) -> Path:
    return write_data_set(tmp_path / "walks")


def test_the_table_says_what_it_rests_on(data_set, capsys):
    truth_command(data_set, frames=10, rollouts=5, workers=1)
    table = pq.read_table(data_set / "truth.parquet")
    assert table.num_rows == 50
    assert table.column_names == ["episode_id", "frame_index", "branch", "steps", "cap"]
    # Five times the standard horizon.
    assert table["cap"].unique().to_pylist() == [60]
    assert 0 < table["steps"].null_count < 50
    truth = read_truth(data_set / "truth.parquet")
    assert truth.num_branches.tolist() == [5] * 10
    assert truth.made_with is not None
    wanted = {"task": "walk", "policy": "walker", "every": 1, "seed": 0, "rollouts": 5, "cap": 60}
    assert truth.made_with.items() >= wanted.items()
    told = capsys.readouterr().err
    assert "truth of 10 frames, 5 futures each" in told


def test_one_future_is_one(data_set, capsys):
    truth_command(data_set, frames=1, rollouts=1, workers=1)
    assert "truth of 1 frame, 1 future each, of which " in capsys.readouterr().err
    truth_command(data_set, frames=2, rollouts=1, workers=1)
    assert "truth of 2 frames, 1 future each, of which " in capsys.readouterr().err


def test_shards_and_the_command_without_make_the_same_table(
    data_set, tmp_path, capsys, monkeypatch
):
    """The second of three shards was never run: the last command makes up for it."""
    num_jobs = []

    def counted(jobs, *told):
        num_jobs.append(len(jobs))
        return measure(jobs, *told)

    measure = truth_module.measure
    monkeypatch.setattr(truth_module, "measure", counted)
    asked = {"frames": 5, "rollouts": 6, "workers": 1}
    for number in (1, 3):
        truth_command(data_set, **asked, shard=f"{number}/3")
        told = capsys.readouterr().err
        assert told.startswith(f"shard {number}/3: ")
        assert told.endswith(
            "; when all shards are there, the same command without --shard makes the table\n"
        )
    assert not (data_set / "truth.parquet").exists()
    shards = sorted(path.name for path in data_set.glob("*.branches.jsonl"))
    assert shards == [f"truth.shard-{number}-of-3.branches.jsonl" for number in (1, 3)]
    # Again it does nothing.
    before = (data_set / shards[0]).read_bytes()
    truth_command(data_set, **asked, shard="1/3")
    assert (data_set / shards[0]).read_bytes() == before
    truth_command(data_set, **asked)
    truth_command(data_set, **asked, out=tmp_path / "at_once.parquet")
    shared, at_once = data_set / "truth.parquet", tmp_path / "at_once.parquet"
    assert pq.read_table(shared).equals(pq.read_table(at_once), check_metadata=True)
    # Four futures of a frame are a job, and two are the rest of its six.
    assert num_jobs == [4, 3, 0, 3, 10]


def test_more_frames_and_rollouts_add_to_what_is_there(data_set, tmp_path):
    truth_command(data_set, frames=6, rollouts=2, workers=1)
    before = (data_set / "truth.branches.jsonl").read_bytes()
    truth_command(data_set, frames=9, rollouts=6, workers=2)
    assert (data_set / "truth.branches.jsonl").read_bytes().startswith(before)
    truth_command(data_set, frames=9, rollouts=6, workers=1, out=tmp_path / "at_once.parquet")
    grown, at_once = data_set / "truth.parquet", tmp_path / "at_once.parquet"
    assert pq.read_table(grown).equals(pq.read_table(at_once), check_metadata=True)
    # Asked for fewer again, the table holds those, and nothing is run.
    truth_command(data_set, frames=6, rollouts=2, workers=1)
    assert pq.read_table(grown).num_rows == 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"frames": 0}, "--frames must be at least 1, got 0"),
        ({"rollouts": -1}, "--rollouts must be at least 1"),
        ({"cap": 0}, "--cap must be at least 1"),
        ({"workers": -2}, "--workers -2: must be at least 1"),
        ({"frames": 9999}, "9999 frames are asked for, but 12 episodes have"),
    ],
)
def test_numbers_that_make_no_sense(data_set, arguments, message):
    with pytest.raises(GoalwardError, match=message):
        truth_command(data_set, **({"frames": 2, "rollouts": 1} | arguments))
    assert not (data_set / "truth.parquet").exists()


def test_another_seed_is_not_mixed_in(data_set):
    truth_command(data_set, frames=2, rollouts=1, workers=1)
    with pytest.raises(GoalwardError, match=r"truth.branches.jsonl: was made with .*--out"):
        truth_command(data_set, frames=2, rollouts=1, seed=1)


def test_a_folder_that_was_not_simulated_or_not_to_the_end(data_set, tmp_path):
    with pytest.raises(GoalwardError, match="settings.json: there is no such file"):
        truth_command(tmp_path)
    SimulatedDataSet(data_set).info_file.unlink()
    with pytest.raises(GoalwardError, match="not all of its episodes are there"):
        truth_command(data_set)


def test_futures_whose_worker_dies_are_counted_in_the_bar(data_set, monkeypatch, caplog):
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.0)
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: False, raising=False)
    caplog.set_level(logging.INFO, "goalward.progress")
    settings = SimulatedDataSet(data_set).settings
    replace(settings, policy="mortal").write(SimulatedDataSet(data_set).settings_file)
    with pytest.raises(PiecesFailed, match="worker process ended .*4 pieces, each tried 3 times"):
        truth_command(data_set, frames=4, rollouts=1, workers=2)
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0] == "futures, 0 of 4 futures, 0 %"
    assert "futures, 1 piece tried again, 0 of 4 futures, 0 %" in lines
    assert lines[-1].startswith("futures, 4 pieces failed, 0 of 4 futures, 0 %")


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL on Windows")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_stopped_it_keeps_what_is_finished_and_goes_on(tmp_path, how):
    slow = write_data_set(tmp_path / "walks", policy="slow")
    code = (
        f"import sys; sys.path.insert(0, {str(TESTS)!r}); import simulate.walk_world; "
        "from goalward.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "truth", str(slow), "--frames", "6", "--rollouts", "8"]
    process = subprocess.Popen(
        [*command, "--workers", "2"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    lines = slow / "truth.branches.jsonl"
    while process.poll() is None and not (lines.exists() and lines.read_bytes().count(b"\n") > 3):
        time.sleep(0.02)
    if how is signal.SIGINT:
        # As Ctrl-C does: to all processes of the terminal.
        os.killpg(process.pid, how)
    else:
        process.send_signal(how)
    _, told = process.communicate(timeout=60)
    num_finished = lines.read_bytes().count(b"\n") - 1
    assert 3 <= num_finished < 12
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert told.count("\n") == 2, told
        assert told.endswith("of 48 futures: the same command goes on)\ninterrupted\n")
        # All that is finished before the first frame that is not, block by block.
        traces = {str(i): SimulatedDataSet(slow).trace_file(i) for i in range(12)}
        points = sample_frames(traces, 6, seed=0)
        noted = [json.loads(line) for line in lines.read_text().splitlines()[1:]]
        finished = {(one["episode"], one["frame"], one["branches"][0]) for one in noted}
        begun = [(point.episode_id, point.frame, first) for first in (0, 4) for point in points]
        in_order = list(itertools.takewhile(finished.__contains__, begun))
        assert pq.read_table(slow / "truth.parquet").num_rows == 4 * len(in_order)
    truth_command(slow, frames=6, rollouts=8, workers=2)
    whole = write_data_set(tmp_path / "whole", policy="slow")
    truth_command(whole, frames=6, rollouts=8, workers=2)
    stopped, at_once = (pq.read_table(folder / "truth.parquet") for folder in (slow, whole))
    assert stopped.equals(at_once, check_metadata=True)
