"""`goalward.export`: one door to every tool, from a folder, from a run, from memory."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow.parquet as pq
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

import goalward
from exports.conftest import told, told_run
from goalward.errors import GoalwardError
from goalward.exports import curve_video
from goalward.exports import export as export_module
from goalward.exports.tools import TOOLS, ToolName, tools_that_take
from goalward.metrics.trust import Grade
from goalward.values.events import read_events

# Values that are right where the argument means anything.
OPTIONS = {
    "in_place": True,
    "scale": "steps",
    "n": 3,
    "unit": "value",
    "positive": "top:0.5",
    "tag": "mine",
}


def episodes_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(dict.fromkeys(row["episode"] for row in csv.DictReader(file)))


def test_the_command_line_offers_what_the_table_has_and_each_can_be_written():
    assert get_args(ToolName) == tuple(TOOLS)
    assert set(export_module._WRITERS) == set(TOOLS)
    with_advantages = ("rlinf-advantages", "evo-rl")
    assert {name: tools_that_take(name) for name in OPTIONS} == {
        "in_place": ("lerobot-progress", *with_advantages),
        "scale": ("lerobot-progress",),
    } | dict.fromkeys(("n", "unit", "positive", "tag"), with_advantages)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("to", TOOLS)
def test_an_argument_is_used_or_refused(run_folder, to, name):
    given = {name: OPTIONS[name]}
    if name in TOOLS[to].takes:
        assert goalward.export(run_folder, to, **given, progress=False).path.exists()
        return
    with pytest.raises(GoalwardError, match=f"^{name}= means nothing to {to}, but to "):
        goalward.export(run_folder, to, **given)
    assert not (run_folder / "exports").exists()


@pytest.mark.parametrize(
    ("to", "given", "message"),
    [
        ("excel", {}, "nothing is written for 'excel', but for lerobot-progress, "),
        ("evo-rl", {"in_place": True, "out": "x"}, "give out= or in_place=True, not both"),
        ("evo-rl", {"n": 0}, "n= must be hindsight, a number of steps above 0, or end, got 0"),
        ("evo-rl", {"n": 2.5}, "n= must be hindsight, a number of steps above 0, or end, got 2.5"),
        (
            "evo-rl",
            {"n": True},
            "n= must be hindsight, a number of steps above 0, or end, got True",
        ),
        ("evo-rl", {"unit": "metres"}, "no unit 'metres'; there are: steps, value"),
        ("evo-rl", {"positive": ""}, "no rule '' for what is positive"),
        ("lerobot-progress", {"scale": "log"}, "no scale 'log'; there are: value, steps"),
        ("csv", {"episodes": []}, "no episode is chosen"),
        ("csv", {"episodes": ["0", "9"]}, "no episode 9; there are: 0, 1, 3"),
        ("mp4", {"out": "one.mp4"}, "choose one with episodes= or give a folder"),
        ("mp4", {"data": "/nowhere"}, "^/nowhere: no such file or folder$"),
    ],
)
def test_what_cannot_be_is_told_in_arguments(run_folder, to, given, message):
    with pytest.raises(GoalwardError, match=message):
        goalward.export(run_folder, to, **given)


def test_a_run_and_its_folder_give_the_same(run_folder, tmp_path):
    run = goalward.open_run(run_folder)
    first = goalward.export(str(run_folder), "rlinf-advantages", out=tmp_path / "a", n=3)
    second = goalward.export(run, "rlinf-advantages", out=str(tmp_path / "b"), n="3")
    assert first.path.read_bytes() == second.path.read_bytes()
    assert run.export("csv") == run_folder / "exports" / "frames.csv"


def test_whether_values_are_optimistic_is_told(run_folder):
    written = goalward.export(run_folder, "csv")
    assert written.notes == (
        "1 of 3 episodes were learned from, so their values are optimistic: they know how it "
        "ended. An evaluation with folds=4 holds each episode out once",
    )
    assert goalward.export(run_folder, "csv", episodes=["0", "3"]).notes == ()


def test_episodes_are_chosen_by_id_or_by_the_number_that_it_is(tmp_path, data):
    episodes = [told(name, "time_out", None, [3.0, 2.0]) for name in ("1", "12", "2", "1,2")]
    run = told_run(tmp_path / "run", data, episodes)
    for chosen, wanted in (
        ("12", ["12"]),
        (["2", "1"], ["1", "2"]),
        ([1, np.int64(12)], ["1", "12"]),
        ("1,2", ["1,2"]),
    ):
        assert episodes_of(goalward.export(run, "csv", episodes=chosen).path) == wanted


def test_the_method_is_the_first_or_all_or_the_one_that_is_named(run_folder, tmp_path):
    def columns(path):
        return path.read_text(encoding="utf-8").splitlines()[0]

    assert "mc_value" in columns(goalward.export(run_folder, "csv").path)
    only = columns(goalward.export(run_folder, "csv", method="mc").path)
    assert "mc_value" in only
    assert "liveness" not in only
    progress = {}
    for method in (None, "liveness", "mc"):
        path = tmp_path / f"{method}.parquet"
        goalward.export(run_folder, "lerobot-progress", out=path, method=method)
        progress[method] = pq.read_table(path)["progress_sparse"].to_pylist()
    assert progress[None] == progress["liveness"] != progress["mc"]


def test_events_are_those_that_the_method_sees(tmp_path, monkeypatch):
    """One comes steadily nearer; to the other all is lost half-way."""
    near, lost = countdown(40), np.where(np.arange(40) < 20, countdown(40), 39.0)
    shown = drawn_episode("a", 40)
    run, rollouts = drawn_run([shown], {"td": [near], "mc": [lost]}, tmp_path / "run")
    run = replace(run, rollouts=rollouts)
    assert run.events_by("mc") != run.events_by("td") == run.events
    drawn = []
    draw_strip = curve_video.curve_strip

    def noted(curve, events, **options):
        drawn.append((curve.method, events))
        return draw_strip(curve, events, **options)

    monkeypatch.setattr(curve_video, "curve_strip", noted)
    for method in ("td", "mc"):
        goalward.export(run, "csv", method=method)
        stored = read_events(run.folder.exports / "frames_events.csv")
        assert stored.get("a", ()) == run.events_by(method)["a"]
        goalward.export(run, "mp4", method=method)
        assert drawn[-1] == (method, run.events_by(method)["a"])


# ---- from memory --------------------------------------------------------------------------------


def test_a_run_from_memory_needs_data_only_where_the_tool_does(tmp_path, data):
    folder = told_run(tmp_path / "run", None)
    assert len(episodes_of(goalward.export(folder, "csv").path)) == 3
    for to in ("lerobot-progress", "evo-rl", "mp4"):
        with pytest.raises(GoalwardError, match="in memory; say with data= where they lie$"):
            goalward.export(folder, to)
        assert goalward.export(folder, to, data=data).path.exists()


def test_a_run_that_was_just_made_shows_the_frames_it_was_made_from(tmp_path):
    shown = [drawn_episode(name, 6, shapes={"base": (24, 32)}) for name in "ab"]
    run, rollouts = drawn_run(shown, {"td": [countdown(6)] * 2}, tmp_path / "run")
    path = replace(run, rollouts=rollouts).export("mp4", episodes=["b"])
    assert [video.name for video in path.iterdir()] == ["episode_b.mp4"]


# ---- into the data set --------------------------------------------------------------------------


def test_the_next_export_finishes_one_that_was_stopped_between_two_files(
    run_folder, data, monkeypatch
):
    """As after kill -9: data files with and without the columns, and the record of what is left."""
    real = Path.replace

    def stop(self, target):
        if Path(target).name == "file-001.parquet":
            raise KeyboardInterrupt
        return real(self, target)

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        goalward.export(run_folder, "evo-rl", in_place=True)
    monkeypatch.undo()

    def annotated():
        files = sorted((data / "data").rglob("file-*.parquet"))
        return ["complementary_info.value" in pq.read_schema(file).names for file in files]

    assert annotated() == [True, False]
    # One that writes elsewhere leaves the data set as it is.
    goalward.export(run_folder, "lerobot-progress")
    assert annotated() == [True, False]
    goalward.export(run_folder, "lerobot-progress", in_place=True)
    assert annotated() == [True, True]
    assert "complementary_info.value" in (data / "meta" / "info.json").read_text()
    assert not list(data.rglob("*-new"))


def test_the_rollouts_of_the_package_are_not_changed(run_folder):
    for place in ("demo", Path(goalward.__file__).parent / "rollouts" / "demo_data"):
        with pytest.raises(GoalwardError, match="come with goalward are not changed; use out="):
            goalward.export(run_folder, "evo-rl", data=place, in_place=True)


@pytest.mark.parametrize("grade", [Grade.NONE, Grade.UNKNOWN, Grade.CONTRADICTED])
def test_values_that_a_run_does_not_trust_go_to_a_trainer_only_when_asked(tmp_path, data, grade):
    run = told_run(tmp_path / "run", data, grade=grade)
    for to, tool in TOOLS.items():
        if not tool.trains:
            continue
        with pytest.raises(GoalwardError, match="anyway=True writes them all the same"):
            goalward.export(run, to)
        assert not (run / "exports").exists()
    written = goalward.export(run, "lerobot-progress", anyway=True)
    assert written.path.is_file()
    # Whoever looks is told, and not stopped.
    assert any("rel" in note for note in goalward.export(run, "csv").notes)


@pytest.mark.parametrize(("grade", "is_told"), [(Grade.GOOD, False), (Grade.WEAK, True)])
def test_weak_values_are_written_with_a_word(tmp_path, data, grade, is_told):
    run = told_run(tmp_path / "run", data, grade=grade)
    notes = goalward.export(run, "lerobot-progress").notes
    assert any("The values are weak" in note for note in notes) == is_told
