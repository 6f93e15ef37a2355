"""The contact sheet of an episode: which moments it shows, and what it writes."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.errors import GoalwardError, RolloutError
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.report.figures.episode import Moment, episode_figure
from goalward.report.figures.sheet import (
    chosen_moments,
    curves_of,
    known_values,
    sheet_figure,
    write_sheet,
    write_sheets,
)
from goalward.rollouts.episode import Outcome
from goalward.runs.settings import RunEpisode
from goalward.values.events import Event, EventKind

SETBACK, RECOVERY, STALL, NO_RETURN, GOAL = EventKind


def episode(num_frames=101, outcome=Outcome.TIME_OUT, goal_frame=None):
    return RunEpisode("7", "fold", outcome, num_frames, goal_frame, "held out")


def event(kind, frame, size=50.0):
    end = frame + int(size) if kind is STALL else frame + 2
    return Event(kind, frame, frame, end, 20.0, 20.0 + size, 1.0)


def labels(moments):
    return {frame: label for frame, (label, _) in moments.items()}


@pytest.fixture
def run():
    cameras = {"base": (24, 32), "wrist": (24, 24)}
    episodes = [
        drawn_episode("a/../b", 30, outcome=Outcome.SUCCESS, shapes=cameras),
        drawn_episode("one", 1, shapes=cameras),
        drawn_episode("blind", 12),
    ]
    steps = [countdown(one.num_frames) for one in episodes]
    return drawn_run(episodes, {"liveness": steps, "td": [one + 5 for one in steps]})


# ---- which moments ------------------------------------------------------------------------------


def test_events_are_named_by_what_happened_in_order_of_time():
    events = [event(STALL, 60, 25), event(SETBACK, 20), event(RECOVERY, 40), event(NO_RETURN, 90)]
    moments = chosen_moments(episode(), events, 6)
    assert list(labels(moments).items()) == [
        (0, "start"),
        (20, "setback"),
        (40, "recovery"),
        # From frame 60 to 85, both of them: as the page counts.
        (60, "stall 26 frames"),
        (90, "no return"),
        (100, "time-out"),
    ]
    assert moments[20][1] is SETBACK


def test_a_success_ends_at_its_goal_and_a_failure_where_it_failed():
    goal = Event(GOAL, 80, 80, 80, 0.0, 0.0, 1.0)
    success = chosen_moments(episode(101, Outcome.SUCCESS, 80), [goal], 2)
    assert labels(success) == {0: "start", 80: "goal"}
    assert labels(chosen_moments(episode(outcome=Outcome.FAILURE), [], 2)) == {
        0: "start",
        100: "failure",
    }


def test_the_largest_events_come_first_when_not_all_fit():
    events = [event(SETBACK, 20, 30), event(SETBACK, 40, 90), event(SETBACK, 60, 60)]
    assert list(chosen_moments(episode(), events, 4)) == [0, 40, 60, 100]
    # What cannot be undone is shown before anything else.
    assert list(chosen_moments(episode(), [*events, event(NO_RETURN, 80, 1)], 3)) == [0, 80, 100]


def test_no_two_moments_are_closer_than_a_twentieth():
    events = [event(SETBACK, frame, 50 + frame) for frame in (3, 50, 54, 97)]
    # Of 50 and 54 the larger stays; 3 and 97 are too near to the ends of 101 frames.
    assert [frame for frame, (label, _) in chosen_moments(episode(), events, 12).items()
            if label == "setback"] == [54]  # fmt: skip
    for columns in range(2, 13):
        frames = list(chosen_moments(episode(), events, columns))
        assert min(np.diff(frames)) >= 101 / 20
        assert len(frames) == columns


def test_gaps_are_filled_evenly():
    assert list(chosen_moments(episode(), [], 6)) == [0, 20, 40, 60, 80, 100]
    assert list(chosen_moments(episode(), [event(SETBACK, 60)], 6)) == [0, 20, 40, 60, 80, 100]
    assert list(chosen_moments(episode(5001), [], 3)) == [0, 2500, 5000]


def test_a_short_episode_shows_each_frame_once():
    assert labels(chosen_moments(episode(1), [], 6)) == {0: "time-out"}
    assert labels(chosen_moments(episode(1, Outcome.SUCCESS, 0), [], 6)) == {0: "goal"}
    assert labels(chosen_moments(episode(3), [], 6)) == {0: "start", 1: "", 2: "time-out"}


# ---- what is drawn ------------------------------------------------------------------------------


def test_all_methods_are_on_one_scale_the_chosen_first(run):
    run, _ = run
    curves = curves_of(run, "a/../b", "td")
    assert [one.method for one in curves] == ["td", "liveness"]
    td, liveness = curves
    assert liveness.by_seed.shape == (2, 30)
    assert liveness.by_seed[0, -1] == -1.0
    assert td.by_seed[0, -1] == pytest.approx(1 - 2 * run.discount**5)


def test_a_sheet_shows_what_the_cameras_saw_at_each_moment(run):
    figure = sheet_figure(*run, "a/../b", columns=3)
    shown = [np.asarray(axes.images[0].get_array()) for axes in figure.axes if axes.images]
    # Frames 0, 14 and 29; the base over the wrist.
    assert [picture.shape[:2] for picture in shown] == [(24, 32), (24, 24)] * 3
    assert [int(picture[0, 0, 0]) for picture in shown] == [0, 0, 14, 14, 29, 29]
    texts = [text.get_text() for text in figure.texts]
    assert texts[0] == "episode a/../b (success): fold"
    assert {"base", "wrist", "start", "goal", "frame 14"} <= set(texts)


def test_chosen_cameras_only(run):
    figure = sheet_figure(*run, "a/../b", cameras=["wrist"], columns=4)
    assert [axes.images[0].get_size() for axes in figure.axes if axes.images] == [(24, 24)] * 4
    with pytest.raises(RolloutError, match="no camera front; cameras: base, wrist"):
        sheet_figure(*run, "a/../b", cameras=["front"])


def test_without_frames_there_is_the_curve(run):
    finished, rollouts = run
    for figure in (
        sheet_figure(finished, None, "a/../b"),
        sheet_figure(finished, rollouts, "blind"),
        sheet_figure(finished, rollouts, "a/../b", cameras=[]),
    ):
        assert not any(axes.images for axes in figure.axes)


def test_large_pictures_are_reduced_to_what_a_page_shows():
    shown = drawn_episode("0", 2, shapes={"base": (720, 1280)})
    figure = sheet_figure(*drawn_run([shown], {"td": [countdown(2)]}), "0")
    assert {axes.images[0].get_size() for axes in figure.axes if axes.images} == {(225, 400)}


def test_an_unknown_episode_is_told_which_there_are(run):
    with pytest.raises(GoalwardError, match=r"run: no episode 9; there are: a/\.\./b, one, blind"):
        sheet_figure(*run, "9")


@pytest.mark.parametrize("columns", [1, 13])
def test_a_sheet_has_as_many_columns_as_a_page_has_room_for(run, columns):
    with pytest.raises(GoalwardError, match=f"2 to 12 columns, not {columns}"):
        sheet_figure(*run, "one", columns=columns)


# ---- truth --------------------------------------------------------------------------------------


def test_true_values_are_those_of_the_episode_in_order():
    steps = np.array([[2.0, 2.0], [1.0, np.inf], [0.0, 0.0]])
    truth = FrameTruth(("b", "a", "b"), np.array([9, 1, 4]), steps, cap=50)
    found = known_values(truth, "b", 0.5)
    assert [(known.frame, known.value, known.standard_error) for known in found] == [
        (4, -1.0, 0.0),
        (9, 0.5, 0.0),
    ]
    assert known_values(None, "b", 0.5) == []


def test_the_truth_is_looked_for_beside_the_data(run, tmp_path):
    finished, _ = run
    assert finished.read_truth(tmp_path) is None
    truth = FrameTruth(("a/../b",), np.array([3]), np.array([[2.0, 4.0]]), cap=50)
    truth.write(tmp_path / "truth.parquet")
    found = finished.read_truth(tmp_path)
    assert found is not None
    figure = sheet_figure(*run, "a/../b", truth=found)
    assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == "truth ± 2 s.e."


# ---- files --------------------------------------------------------------------------------------


def test_three_files_are_written_and_are_the_same_every_time(run, tmp_path):
    first = write_sheet(*run, "a/../b", tmp_path / "first")
    assert [path.name for path in first] == ["first.png", "first.svg", "first.pdf"]
    second = write_sheet(*run, "a/../b", tmp_path / "second")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    with Image.open(first[0]) as picture:
        assert picture.width == 1440
    assert ElementTree.parse(first[1]).getroot().tag.endswith("svg")
    assert first[2].read_bytes().startswith(b"%PDF")


def test_sheets_of_a_run_from_memory_lie_in_its_folder(tmp_path):
    shown = [drawn_episode(name, 6, shapes={"base": (8, 8)}) for name in ("a", "b", "c")]
    run, rollouts = drawn_run(shown, {"td": [countdown(6)] * 3}, tmp_path / "run")
    with pytest.raises(RolloutError, match="in memory; say with data= .*; cameras=.. draws the"):
        write_sheets(run, ["a"])
    written = write_sheets(replace(run, rollouts=rollouts), ["b", "a", "b"])
    assert list(written) == ["b", "a"]
    assert written["a"][0] == tmp_path / "run" / "sheets" / "episode_a.png"
    alone = write_sheets(run, ["c"], cameras=(), out=tmp_path / "alone")
    assert alone["c"][2] == tmp_path / "alone" / "episode_c.pdf"


def test_events_and_columns_of_a_sheet_are_those_asked_for(tmp_path, monkeypatch):
    """One comes steadily nearer; to the other all is lost half-way."""
    near, lost = countdown(40), np.where(np.arange(40) < 20, countdown(40), 39.0)
    run, _ = drawn_run([drawn_episode("a", 40)], {"td": [near], "mc": [lost]}, tmp_path)
    drawn = []

    def noted(title, moments, curves, **options):
        drawn.append((len(moments), curves[0].method, options["events"]))
        return episode_figure(title, moments, curves, **options)

    monkeypatch.setattr("goalward.report.figures.sheet.episode_figure", noted)
    write_sheets(run, ["a"], cameras=(), columns=4)
    write_sheets(run, ["a"], cameras=(), columns=9, method="mc")
    assert run.events["a"] != run.events_by("mc")["a"]
    assert drawn == [(4, "td", run.events["a"]), (9, "mc", run.events_by("mc")["a"])]


def test_hostile_names_make_no_markup_and_no_error(tmp_path):
    hostile = "</text><script>alert(1)</script> $\\frac{ \x00\x1b[2J \U0001f600 \ud800 ..\n" * 20
    shown = drawn_episode(hostile, 4, shapes={hostile: (8, 8), "b": (8, 8)}, task=hostile)
    run, rollouts = drawn_run([shown], {"td": [countdown(4)]})
    _, svg, _ = write_sheet(run, rollouts, hostile, tmp_path / "sheet")
    assert "<script" not in svg.read_text(encoding="utf-8")
    ElementTree.parse(svg)


@pytest.mark.parametrize("episode_id", ["one", "blind"])
def test_odd_episodes_are_drawn(run, tmp_path, episode_id):
    assert len(write_sheet(*run, episode_id, tmp_path / "sheet")) == 3


def test_drawing_needs_neither_torch_nor_the_state_of_pyplot():
    code = (
        "import sys, goalward.report.figures.sheet;"
        "sys.exit('torch' in sys.modules or 'matplotlib.pyplot' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_moment_that_is_no_event_is_grey():
    assert Moment(0, "start", ()).colour == "#555555"


def test_frames_that_cannot_be_read_are_named_with_their_episode(run, monkeypatch):
    def fail(*_):
        raise RolloutError("file-000.mp4: frame 2 of the episode is damaged")

    monkeypatch.setattr("goalward.rollouts.frames.ArrayFrames.at", fail)
    with pytest.raises(RolloutError, match="^episode a/../b: file-000.mp4: frame 2"):
        sheet_figure(*run, "a/../b")
