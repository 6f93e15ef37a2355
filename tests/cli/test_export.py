"""`goalward export`: every target from the command line, and every refusal."""

import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from exports.conftest import told, told_run, write_data
from goalward.cli.app import app
from goalward.errors import GoalwardError, RolloutError


@pytest.fixture
def data(tmp_path) -> Path:
    return write_data(tmp_path / "data")


@pytest.fixture
def run(tmp_path, data) -> Path:
    return told_run(tmp_path / "run", data)


def export(run, *words):
    app(["export", str(run), *map(str, words)], result_action="return_value")


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("lerobot-progress", "sarm_progress.parquet"),
        ("rlinf-advantages", "advantages.parquet"),
        ("evo-rl", "evo-rl/data/chunk-000/file-001.parquet"),
        ("csv", "frames.csv"),
        ("csv", "frames_events.csv"),
    ],
)
def test_results_go_into_the_run(run, target, written, capsys):
    export(run, "--to", target)
    assert (run / "exports" / written).is_file()
    told = capsys.readouterr().err
    assert f"written: {run / 'exports'}" in told
    assert "next: " in told
    assert "note: 1 of 3 episodes were learned from, so their values are optimistic" in told


def test_videos_and_recordings(run, capsys):
    export(run, "--to", "mp4", "--episodes", "1")
    assert len(list((run / "exports" / "mp4").glob("*.mp4"))) == 1
    pytest.importorskip("rerun", reason="the extra `rerun` is not installed")
    export(run, "--to", "rerun", "--episodes", "0,3", "--method", "mc")
    assert len(list((run / "exports" / "rerun").glob("*.rrd"))) == 2
    assert "next: rerun " in capsys.readouterr().err


def test_the_rule_and_its_threshold_are_told(run, capsys):
    export(run, "--to", "rlinf-advantages", "--n", "end", "--positive", "above:0.5", "--tag", "x")
    told = capsys.readouterr().err
    assert (
        "note: 1 of 15 frames (7 %) are positive: above:0.5, threshold 0.5 steps, to the end"
    ) in told
    assert "data.advantage_tag=x" in told
    table = pq.read_table(run / "exports" / "advantages_x.parquet")
    assert sum(table["advantage"].to_pylist()) == 1


def test_what_the_tools_do_is_the_default(run, capsys):
    export(run, "--to", "rlinf-advantages")
    export(run, "--to", "evo-rl", "--unit", "value")
    told = capsys.readouterr().err
    assert "top:0.3, threshold" in told
    assert "task-top:0.3, threshold" in told
    assert told.count("in hindsight (lambda 0.98)") == 2
    export(run, "--to", "rlinf-advantages", "--n", "10")
    assert "10 steps ahead" in capsys.readouterr().err


def test_in_place_only_when_asked(run, data):
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    for target in ("lerobot-progress", "rlinf-advantages", "evo-rl"):
        export(run, "--to", target)
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before
    for target in ("lerobot-progress", "rlinf-advantages", "evo-rl"):
        export(run, "--to", target, "--in-place")
    assert (data / "sarm_progress.parquet").is_file()
    assert (data / "meta" / "advantages.parquet").is_file()
    assert (
        "complementary_info.value" in pq.read_schema(data / "data/chunk-000/file-000.parquet").names
    )


def test_data_that_has_moved(run, data, tmp_path):
    shutil.move(data, tmp_path / "moved")
    with pytest.raises(GoalwardError, match="say with --data where it lies now"):
        export(run, "--to", "lerobot-progress")
    export(run, "--to", "lerobot-progress", "--data", tmp_path / "moved", "--scale", "steps")
    with pytest.raises(GoalwardError, match="--data says where the rollouts lie now"):
        export(run, "--to", "mp4")
    export(run, "--to", "mp4", "--data", tmp_path / "moved", "--episodes", "3")
    assert (run / "exports" / "mp4" / "episode_3.mp4").is_file()


@pytest.mark.parametrize("target", ["lerobot-progress", "rlinf-advantages", "evo-rl"])
def test_only_in_place_writes_into_the_data_set(run, data, target):
    (data / "sarm_progress.parquet").write_text("mine")
    for out in (data, data / "sarm_progress.parquet", data / "meta" / "new"):
        with pytest.raises(GoalwardError, match="lies in the data set, which only --in-place"):
            export(run, "--to", target, "--out", out)
    assert (data / "sarm_progress.parquet").read_text() == "mine"


def test_a_folder_that_is_a_file_is_told_before_anything_is_read(run, tmp_path):
    (tmp_path / "taken").touch()
    with pytest.raises(GoalwardError, match="taken: is a file, but results need a folder"):
        export(run, "--to", "mp4", "--out", tmp_path / "taken", "--data", "/nowhere")


@pytest.mark.parametrize("target", ["mp4", "rerun"])
def test_a_damaged_video_is_named_with_its_episode(run, monkeypatch, target):
    if target == "rerun":
        pytest.importorskip("rerun", reason="the extra `rerun` is not installed")

    def fail(*_, **__):
        raise RolloutError("file-000.mp4: frame 2 of the episode is damaged")

    monkeypatch.setattr("goalward.rollouts.video.reading.VideoFrames.__iter__", fail)
    monkeypatch.setattr("goalward.exports.rerun_recording.write_browser_video", fail)
    with pytest.raises(GoalwardError, match="^episode 3: file-000.mp4: frame 2"):
        export(run, "--to", target, "--episodes", "3")
    assert list((run / "exports" / target).iterdir()) == []


def test_an_id_with_commas_can_be_chosen(tmp_path, data):
    episodes = [told(name, "time_out", None, [3.0, 2.0]) for name in ("1", "1,2", "2")]
    run = told_run(tmp_path / "commas", data, episodes)
    export(run, "--to", "csv", "--episodes", "1,2")
    rows = (run / "exports" / "frames.csv").read_text().splitlines()[1:]
    assert [row[:6] for row in rows] == ['"1,2",', '"1,2",']


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["csv", "--in-place"], "--in-place means nothing to csv, but to lerobot-progress"),
        (["csv", "--scale", "steps"], "--scale means nothing to csv, but to lerobot-progress"),
        (["lerobot-progress", "--n", "3"], "--n means nothing to lerobot-progress"),
        (["mp4", "--positive", "top:1"], "--positive means nothing to mp4"),
        (["evo-rl", "--in-place", "--out", "x"], "give --out or --in-place, not both"),
        (
            ["evo-rl", "--n", "0"],
            "--n must be hindsight, a number of steps above 0, or end, got '0'",
        ),
        (["evo-rl", "--n", "-3"], "--n must be hindsight, a number of steps above 0"),
        (["evo-rl", "--positive", "best"], "no rule 'best' for what is positive"),
        (["rlinf-advantages", "--tag", "../x"], "--tag must be letters, digits"),
        (["csv", "--method", "best"], "no method 'best'; there are: liveness, mc"),
        (["csv", "--episodes", "0,2"], "no episode 2; there are: 0, 1, 3"),
        (["csv", "--episodes", ""], "no episode is chosen"),
        (["csv", "--out", "/dev/null/x.csv"], "/dev/null/x.csv: cannot be written"),
    ],
)
def test_refusals(run, words, message):
    with pytest.raises(GoalwardError, match=message):
        export(run, "--to", *words)
    assert not (run / "exports").exists()


def test_the_rollouts_of_the_package_are_not_changed(run):
    with pytest.raises(GoalwardError, match="not the rollouts of that run|has 40 frames"):
        export(run, "--to", "lerobot-progress", "--data", "demo")
    with pytest.raises(GoalwardError, match="come with goalward are not changed"):
        export(run, "--to", "lerobot-progress", "--data", "demo", "--in-place")


def test_an_unknown_target_and_a_folder_that_is_no_run(run, tmp_path, capsys):
    with pytest.raises(SystemExit):
        app(["export", str(run), "--to", "excel"])
    assert 'Choose from: "lerobot-progress"' in " ".join(capsys.readouterr().err.split())
    with pytest.raises(GoalwardError, match="is no folder of `goalward evaluate`"):
        export(tmp_path, "--to", "csv")


def test_no_export_needs_torch(run):
    code = (
        "import sys; from goalward.cli.app import app;"
        f"app(['export', {str(run)!r}, '--to', 'evo-rl'], result_action='return_value');"
        f"app(['export', {str(run)!r}, '--to', 'csv'], result_action='return_value');"
        "sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
