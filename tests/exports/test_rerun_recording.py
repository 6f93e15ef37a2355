"""Recordings read back by rerun's own reader."""

import importlib
import io
import re
import sys
from dataclasses import replace
from importlib.util import find_spec

import av
import numpy as np
import pytest
from PIL import Image
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run
from rollout_files.lerobot import decoded

import goalward
from exports.conftest import told, told_run, write_data
from goalward.errors import GoalwardError
from goalward.exports.rerun_recording import recording_id
from goalward.looks import EVENT_LOOKS, METHOD_COLOURS, channels
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.run_folder import RunFolder
from goalward.runs.folder.stored import open_run

CAMERA = "/cameras/observation.images.front"


def export(run, out, episodes="0", **options):
    return goalward.export(run, "rerun", out=out, episodes=episodes, **options)


def read_back(path):
    """Entity -> component -> rows; and the columns of time lines under their names."""
    pytest.importorskip("rerun", reason="the extra `rerun` is not installed")
    # Older versions have it elsewhere.
    place = "rerun.chunk" if find_spec("rerun.chunk") else "rerun.experimental"
    reader = importlib.import_module(place).RrdReader(path)
    content: dict[str, dict[str, list]] = {}
    for chunk in reader.stream():
        columns = chunk.to_record_batch().to_pydict()
        columns.pop("rerun.controls.RowId")
        for name, column in columns.items():
            content.setdefault(chunk.entity_path, {}).setdefault(name, []).extend(column)
    return reader, content


@pytest.fixture(autouse=True)
def _needs_rerun(request):
    if "without" not in request.node.name:
        pytest.importorskip("rerun", reason="the extra `rerun` is not installed")


def test_values_are_on_the_frame_and_time_lines(run_folder, tmp_path):
    written = export(run_folder, tmp_path / "one.rrd")
    reader, content = read_back(written.path)
    (entry,) = reader.recordings()
    assert re.fullmatch(r"policy-0-[0-9a-f]{12}", entry.recording_id)
    assert len(reader.blueprints()) == 1
    curve = content["/value/liveness"]
    assert curve["frame"] == [0, 1, 2, 3, 4, 5]
    assert [moment.total_seconds() for moment in curve["time"]] == [0, 0.1, 0.2, 0.3, 0.4, 0.5]
    wanted = [1 - 2 * 0.5**k for k in (4, 4, 3, 1, 1, 0)]
    assert [row[0] for row in curve["Scalars:scalars"]] == wanted
    assert [row[0] for row in content["/steps_to_go/liveness"]["Scalars:scalars"]] == pytest.approx(
        [4, 4, 3, 1, 1, 0]
    )
    # Seeds of this one differ, so it has a band; those of the other do not.
    low, mean, high = (
        np.array(content[path]["Scalars:scalars"])
        for path in ("/spread/mc/low", "/value/mc", "/spread/mc/high")
    )
    assert (low < mean).all()
    assert high + low == pytest.approx(2 * mean)
    assert "/spread/liveness/low" not in content
    # Never is shown at the time limit.
    assert content["/steps_to_go/mc"]["Scalars:scalars"][0] == [5.0]


def test_the_video_is_in_it_and_each_frame_refers_to_its_picture(run_folder, data, tmp_path):
    _, content = read_back(export(run_folder, tmp_path / "one.rrd").path)
    camera = content[CAMERA]
    assert camera["frame"] == [0, 1, 2, 3, 4, 5]
    shown_at = [row[0] for row in camera["VideoFrameReference:timestamp"]]
    with av.open(io.BytesIO(bytes(camera["AssetVideo:blob"][0][0]))) as video:
        frames = {round(f.time * 1e9): f.to_ndarray(format="rgb24") for f in video.decode(video=0)}
    stored = decoded(data / "videos/observation.images.front/chunk-000/file-000.mp4")
    for number, moment in enumerate(shown_at):
        picture = frames[min(frames, key=lambda known: abs(known - moment))]
        distance = [np.abs(picture.astype(int) - other).mean() for other in stored]
        assert int(np.argmin(distance)) == number


def test_events_are_text_and_marks(run_folder, tmp_path):
    _, content = read_back(export(run_folder, tmp_path / "one.rrd").path)
    assert content["/events"]["TextLog:text"][-1] == ["goal"]
    assert content["/events"]["frame"][-1] == 5
    assert content["/value/events/goal"]["Scalars:scalars"] == [[-1.0]]


def test_value_and_hindsight_are_two_series(data, tmp_path):
    run = told_run(tmp_path / "run", data, hindsight=1.0)
    _, content = read_back(export(run, tmp_path / "one.rrd").path)
    series = {
        entity: [row[0] for row in content[f"/{entity}/liveness"]["Scalars:scalars"]]
        for entity in ("value", "hindsight", "steps_to_go", "hindsight_steps_to_go")
    }
    # The longest episode took 5 steps, and more are not counted.
    assert series["steps_to_go"] == pytest.approx([4, 4, 3, 1, 1, 0])
    assert series["hindsight_steps_to_go"] == pytest.approx([5, 4, 3, 2, 1, 0])
    assert series["value"][3] == 0.0
    assert series["hindsight"][3] == 0.5


def test_events_are_those_of_the_method_and_lie_on_its_value(tmp_path):
    """One comes steadily nearer; to the other all is lost half-way."""
    near, lost = countdown(40), np.where(np.arange(40) < 20, countdown(40), 39.0)
    drawn = {"td": [near], "mc": [lost]}
    run, rollouts = drawn_run([drawn_episode("a", 40)], drawn, tmp_path, hindsight=1.0)
    seen = [event.frame for event in run.events_by("mc")["a"]]
    assert len(seen) > len(run.events["a"]) == 0
    run = replace(run, rollouts=rollouts)
    for method, frames in (("td", []), ("mc", seen)):
        path = export(run, tmp_path / f"{method}.rrd", episodes="a", method=method).path
        _, content = read_back(path)
        assert content.get("/events", {"frame": []})["frame"] == frames
    (lost_at,) = [event.frame for event in run.events_by("mc")["a"] if event.kind == "setback"]
    ((marked,),) = content["/value/events/setback"]["Scalars:scalars"]
    assert marked == pytest.approx(run.curves("mc").value[lost_at])
    assert abs(run.curves("mc").hindsight[lost_at] - marked) > 0.1


def test_methods_and_events_have_the_colours_they_have_in_figures(run_folder, tmp_path):
    _, content = read_back(export(run_folder, tmp_path / "one.rrd").path)

    def colour(entity, what):
        packed = content[entity][f"{what}:colors"][0][0]
        return tuple(packed >> shift & 255 for shift in (24, 16, 8))

    for method in ("liveness", "mc"):
        assert colour(f"/value/{method}", "SeriesLines") == channels(METHOD_COLOURS[method])
        assert colour(f"/hindsight/{method}", "SeriesLines") == channels(METHOD_COLOURS[method])
        assert colour(f"/steps_to_go/{method}", "SeriesLines") == channels(METHOD_COLOURS[method])
    goal = channels(EVENT_LOOKS["goal"].colour)
    assert colour("/value/events/goal", "SeriesPoints") == goal


def test_a_recording_per_episode(run_folder, tmp_path):
    written = export(run_folder, tmp_path / "all", episodes=None)
    assert sorted(path.name for path in written.path.iterdir()) == [
        "episode_0.rrd",
        "episode_1.rrd",
        "episode_3.rrd",
    ]
    assert written.next_step == f"rerun {tmp_path / 'all' / '*.rrd'}"
    with pytest.raises(GoalwardError, match="one file holds one episode, but there are 2"):
        export(run_folder, tmp_path / "all.rrd", episodes=["0", "1"])


def test_a_recording_that_fails_leaves_no_file_and_no_word_of_reruns(
    run_folder, tmp_path, monkeypatch, capfd
):
    def fail(*_, **__):
        raise GoalwardError("no picture")

    monkeypatch.setattr("goalward.exports.rerun_recording._Recording.add_events", fail)
    with pytest.raises(GoalwardError, match="no picture"):
        export(run_folder, tmp_path / "all", episodes=["0", "1"])
    assert list((tmp_path / "all").iterdir()) == []
    assert capfd.readouterr().err == ""


def test_pictures_that_were_never_a_video(tmp_path):
    data = write_data(tmp_path / "pictures", pictures_as="image")
    run = told_run(tmp_path / "run", data)
    _, content = read_back(export(run, tmp_path / "one.rrd").path)
    camera = content[CAMERA]
    assert camera["frame"] == [0, 1, 2, 3, 4, 5]
    assert camera["EncodedImage:media_type"][0] == ["image/jpeg"]
    third = Image.open(io.BytesIO(bytes(camera["EncodedImage:blob"][2][0])))
    wanted = goalward.read(data)[0].frame("front", 2)
    assert np.abs(np.asarray(third).astype(int) - wanted).mean() < 8


def test_no_camera_no_fps_and_names_that_lead_elsewhere(data, tmp_path):
    strange = "../../etc/</script>"
    run = told_run(tmp_path / "run", data, [told(strange, "time_out", None, [2, 1])])
    opened = goalward.open_run(run)
    in_memory = Rollouts([Episode(strange, num_frames=2, outcome=Outcome.TIME_OUT)])
    written = export(replace(opened, rollouts=in_memory), tmp_path / "all", episodes=strange)
    assert [path.name for path in written.path.iterdir()] == ["episode_at_0.rrd"]
    _, content = read_back(written.path / "episode_at_0.rrd")
    assert "time" not in content["/value/liveness"]
    assert not [path for path in content if path.startswith("/cameras")]


def test_without_the_extra_it_says_what_to_install(run_folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(GoalwardError, match=r"pip install 'goalward\[rerun\]'"):
        export(run_folder, tmp_path / "one.rrd")


def test_ids_of_recordings_differ_by_run_method_and_episode_alone(run_folder, tmp_path):
    run = open_run(run_folder)
    moved = replace(run, folder=RunFolder(tmp_path / "another"))
    odd = "a/b c"
    ids = {
        recording_id(run, "0", ["td"]),
        recording_id(run, "1", ["td"]),
        recording_id(run, "0", ["td", "mc"]),
        recording_id(moved, "0", ["td"]),
        recording_id(run, odd, ["td"]),
        recording_id(run, "a-b-c", ["td"]),
    }
    assert len(ids) == 6
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", one) for one in ids)
    assert recording_id(run, "0", ["td"]) == recording_id(open_run(run_folder), "0", ["td"])
