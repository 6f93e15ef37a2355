"""`goalward monitor`: a line of JSON per frame, from videos, lines, cameras and messages."""

import base64
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rollout_files.videos import write_video
from rollout_files.vision_models import write_model

import goalward
from goalward.cli.console import telling
from goalward.cli.monitor import monitor_command
from goalward.errors import GoalwardError, speaking_of_flags
from goalward.monitor.sources import from_cameras, from_rollouts
from goalward.values.fitted import load
from goalward.values.hindsight import with_hindsight
from monitor.conftest import drawn_episode


@pytest.fixture(autouse=True)
def as_a_command():
    with speaking_of_flags(), telling():
        yield


def as_line(episode, number, **more):
    """A frame as LeRobot's image server sends it, with what the robot knows of itself."""
    images = {}
    for name in ("front", "wrist"):
        stored = io.BytesIO()
        Image.fromarray(episode.frame(name, number)).save(stored, "PNG")
        images[name] = base64.b64encode(stored.getvalue()).decode()
    state = episode.proprioception[number].tolist()
    return json.dumps({"images": images, "state": state, **more})


def told_by(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def wanted_of(folder, episode, count, within=None):
    monitor = goalward.Monitor.load(folder, within=within)
    return [
        monitor.step(
            [episode.frame("front", n), episode.frame("wrist", n)], episode.proprioception[n]
        ).as_dict()
        for n in range(count)
    ]


def test_lines(folder, capsys, monkeypatch):
    episode = drawn_episode(0)
    lines = [as_line(episode, number, time=number / 10) for number in range(4)]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join([*lines, "", lines[0]])))
    monitor_command(folder, stdin=True, within=5)
    wanted = wanted_of(folder, episode, 4, within=5)
    assert told_by(capsys) == [*wanted, wanted[0]]
    assert wanted[0]["within"] == 5


def test_videos(folder, tmp_path, capsys):
    episode = drawn_episode(0)
    paths = []
    for name in ("front", "wrist"):
        paths.append(str(tmp_path / f"{name}.mp4"))
        write_video(Path(paths[-1]), np.stack(list(episode.frames(name))), fps=10)
    np.save(tmp_path / "state.npy", episode.proprioception)
    monitor_command(folder, video=tuple(paths), state=tmp_path / "state.npy")
    told = told_by(capsys)
    assert [line["frame"] for line in told] == list(range(episode.num_frames))
    assert all(line["doubts"] == [] for line in told)
    # Videos are not stored exactly, so neither are values.
    assert told[0]["value"] == pytest.approx(wanted_of(folder, episode, 1)[0]["value"], abs=0.3)
    with pytest.raises(GoalwardError, match="2 numbers of proprioception beside the pictures; giv"):
        monitor_command(folder, video=tuple(paths))
    with pytest.raises(GoalwardError, match="^1 video, but this monitor sees 2 cameras, in this"):
        monitor_command(folder, video=tuple(paths[:1]))
    np.savetxt(tmp_path / "short.csv", episode.proprioception[:3], delimiter=",")
    with pytest.raises(GoalwardError, match=r"short.csv: has shape \(3, 2\), the videos have 1"):
        monitor_command(folder, video=tuple(paths), state=tmp_path / "short.csv")
    np.savez(tmp_path / "several.npz", a=episode.proprioception)
    with pytest.raises(GoalwardError, match=r"several.npz: cannot be read as rows of numbers"):
        monitor_command(folder, video=tuple(paths), state=tmp_path / "several.npz")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "^line 1: is no JSON"),
        ("[1]", "^line 1: is no table of names and values"),
        ('{"picture": 1}', "^line 1: nothing is known of 'picture', but of images, state, "),
        ('{"images": {"front": "@"}}', "^line 1: camera front: is no base64"),
        ('{"images": {"front": "AAAA"}}', "^line 1: camera front: the stored image cannot be dec"),
        ('{"images": [1]}', "^line 1: images must be a table"),
        ('{"state": [1, 2], "timestamps": {"front": "noon"}}', "^line 1: time must be a number of"),
        ('{"state": [1, 2], "time": NaN}', "^line 1: time must be a number of seconds, got nan"),
        ('{"state": [1, 2], "time": "noon"}', "^line 1: time must be a number of seconds"),
        (
            '{"state": [1, 2]}',
            "^line 1: pictures are missing: this monitor sees observation.images.front",
        ),
    ],
)
def test_a_line_that_is_no_frame(folder, monkeypatch, line, message):
    monkeypatch.setattr(sys, "stdin", io.StringIO(line))
    with pytest.raises(GoalwardError, match=message):
        monitor_command(folder, stdin=True)


def test_one_source_and_no_more(folder):
    for given in ({}, {"stdin": True, "zmq": "tcp://localhost:1"}):
        with pytest.raises(GoalwardError, match="^give one of --rollouts, --video, --stdin, "):
            monitor_command(folder, **given)
    with pytest.raises(GoalwardError, match="^--state goes with --video$"):
        monitor_command(folder, stdin=True, state=Path("x.npy"))
    with pytest.raises(GoalwardError, match="^--episodes goes with --rollouts$"):
        monitor_command(folder, stdin=True, episodes=("3",))
    with pytest.raises(GoalwardError, match="^--threads 0: must be at least 1$"):
        monitor_command(folder, stdin=True, threads=0)


def test_recorded_episodes_as_if_they_happened_now(place, capsys):
    """The command that the export names, and the numbers of the episode in the table of values."""
    data = Path(goalward.__file__).parent / "rollouts" / "demo_data"
    some = goalward.read(data)[:8]
    usual = {"seeds": 1, "width": 8, "num_steps": 6, "batch_size": 16, "rounds": 1}
    model = str(write_model(place / "small", "siglip"))
    run = goalward.evaluate(
        some,
        place / "recorded",
        encoder=model,
        embedding={"cache": str(place / "cache")},
        report=False,
        progress=False,
        **usual,
    )
    written = goalward.export(run, "onnx", progress=False)
    assert f"goalward monitor {written.path} --rollouts {data} --episodes 0`" in written.next_step
    monitor_command(written.path, rollouts=str(data), episodes=("3", "0"))
    told = told_by(capsys)
    lengths = [some[3].num_frames, some[0].num_frames]
    assert [line["frame"] for line in told] == [n for size in lengths for n in range(size)]
    table = load(run.folder.path).predict(run.rollouts)
    table = with_hindsight(table, run.rollouts.endings, run.discount, 0.98)
    value = table.common_values(run.method).mean(axis=0)[table.frames_of("0")]
    off = np.abs(np.array([line["value"] for line in told[lengths[0] :]]) - value)
    assert off.max() < 1e-3
    assert np.median(off) < 1e-5
    with pytest.raises(GoalwardError, match="no episode 99 among 48"):
        monitor_command(written.path, rollouts=str(data), episodes=("99",))
    # The command says where the rollouts lie now.
    moved = goalward.export(run, "onnx", data="demo", out=place / "moved", progress=False)
    assert f"goalward monitor {moved.path} --rollouts demo --episodes 0`" in moved.next_step


def test_recorded_frames_are_read_as_those_learned_from_and_no_label_is_asked_for(
    run, folder, tmp_path
):
    data = tmp_path / "unlabelled"
    data.mkdir()
    pictures = np.stack(list(drawn_episode(0).frames("front")))
    write_video(data / "one.mp4", pictures, fps=10)
    settings = goalward.Monitor.load(folder).settings
    plain = list(from_rollouts(settings, str(data), "", None))
    assert len(plain) == len(pictures)
    turned = list(from_rollouts(replace(settings, reading={"flip": True}), str(data), "", None))
    for one, other in zip(plain, turned, strict=True):
        assert (one.frames["video"] == other.frames["video"][::-1]).all()
    # What a run was told of its labels is no business of a monitor.
    told = replace(run.settings, reading={"flip": True, "labels": "labels.csv", "match": "time"})
    written = goalward.export(
        replace(run, settings=told), "onnx", out=tmp_path / "onnx", data=None, progress=False
    )
    assert goalward.Monitor.load(written.path).settings.reading == {"flip": True, "match": "time"}


def test_every_kind_of_doubt_is_said_once_of_every_camera(folder, capsys, monkeypatch):
    episode = drawn_episode(0)

    def line(number, *black):
        images = {}
        for name in ("front", "wrist"):
            stored = io.BytesIO()
            picture = episode.frame(name, number) * (name not in black)
            Image.fromarray(picture).save(stored, "PNG")
            images[name] = base64.b64encode(stored.getvalue()).decode()
        return json.dumps({"images": images, "state": [0, 0], "time": number * 0.3})

    lines = [line(0, "front"), line(1, "front"), line(2, "wrist"), line(3)]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
    monitor_command(folder, stdin=True)
    said = [text for text in capsys.readouterr().err.splitlines() if text.startswith("doubt")]
    assert [text.split(": ", 2)[1:] for text in said] == [
        ["frame 0", "camera observation.images.front is black"],
        ["frame 1", said[1].split(": ", 2)[2]],
        ["frame 2", "camera observation.images.wrist is black"],
    ]
    assert "0.300 s since the frame before" in said[1]


def test_what_is_not_installed_is_told(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    monkeypatch.setitem(sys.modules, "zmq", None)
    with pytest.raises(GoalwardError, match="^--camera needs OpenCV: pip install"):
        monitor_command(folder, camera=("0", "1"))
    with pytest.raises(GoalwardError, match="^--zmq needs pyzmq: pip install "):
        monitor_command(folder, zmq="tcp://localhost:1")


def test_messages_of_a_publisher(folder):
    zmq = pytest.importorskip("zmq")
    episode = drawn_episode(0)
    with zmq.Context() as context, context.socket(zmq.PUB) as socket:
        socket.setsockopt(zmq.LINGER, 0)
        port = socket.bind_to_random_port("tcp://127.0.0.1")
        command = [sys.executable, "-c", "from goalward.cli import main; main()", "monitor"]
        command += [str(folder), "--zmq", f"tcp://127.0.0.1:{port}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching:
            assert watching.stdout is not None
            line = ""
            first = as_line(episode, 0, reset=True)
            while not line:
                socket.send_string(first)
                ready = _readable(watching.stdout)
                line = watching.stdout.readline() if ready else ""
            watching.kill()
    assert json.loads(line) == wanted_of(folder, episode, 1)[0]


def _readable(stream):
    import select

    return bool(select.select([stream], [], [], 0.2)[0])


def test_cameras_of_this_machine(folder):
    pytest.importorskip("cv2")
    with pytest.raises(GoalwardError, match="^1 camera, but this monitor sees 2: observation"):
        monitor_command(folder, camera=("0",))
    with pytest.raises(GoalwardError, match="2 numbers of proprioception too, which cameras do"):
        monitor_command(folder, camera=("0", "1"))


def test_a_camera_gives_what_its_pictures_give(folder, tmp_path):
    """A file stands in for a camera: OpenCV opens both alike."""
    pytest.importorskip("cv2")
    pictures = np.stack(list(drawn_episode(0).frames("front")))
    path = write_video(tmp_path / "front.mp4", pictures, fps=10)
    settings = goalward.Monitor.load(folder).settings
    alone = replace(settings, cameras=settings.cameras[:1], num_state=0, fps=None)
    frames = [message.frames[0] for message in from_cameras(alone, [str(path)])]
    assert len(frames) == len(pictures)
    # Red is red: OpenCV's own order is blue, green, red.
    assert np.abs(np.stack(frames).astype(int) - pictures).mean() < 20
    missing = str(tmp_path / "none.mp4")
    with pytest.raises(GoalwardError, match="none.mp4: cannot be opened$"):
        next(from_cameras(alone, [missing]))
