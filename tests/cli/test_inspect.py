"""The command as a person runs it: in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rollout_files.lerobot import make_episode, write_lerobot

from goalward import Outcome
from goalward.rollouts.contact_sheet import OUTCOME_COLOURS


def goalward(*arguments, columns: int = 100, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from goalward.cli import main; main()", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"},
        **more,
    )


@pytest.fixture(scope="module")
def data_set(tmp_path_factory) -> Path:
    episodes = [
        make_episode(6 + i, i % 2 == 0, seed=i, cameras=("front", "wrist"), task=f"task {i % 2}")
        for i in range(4)
    ]
    return write_lerobot(tmp_path_factory.mktemp("cli") / "rollouts", episodes)


def test_the_table(data_set: Path):
    result = goalward("inspect", data_set)
    assert (result.returncode, result.stderr) == (0, "")
    for line in (
        "lerobot v3.0",
        "4: 2 success, 2 time-out",
        "2 time-out: task 1",
        "6 to 9 frames, median 7.5 (quartiles 6.75, 8.25); 30 in all",
        "9 frames (the longest episode); 25% of episodes end exactly there",
        "10 frames per second",
        "observation.images.wrist  32 x 32  h264",
        "3 numbers per frame",
        "next.success",
    ):
        assert line in result.stdout


def test_json_for_machines(data_set: Path):
    result = goalward(
        "inspect", data_set, "--json", "--episodes", "--horizon", 9, "--early-failures"
    )
    facts = json.loads(result.stdout)
    assert facts["format"] == "lerobot v3.0"
    assert [facts[k] for k in ("episodes", "successes", "time_outs", "failures")] == [4, 2, 1, 1]
    assert (facts["frames"], facts["fps"], facts["horizon"]) == (30, 10.0, 9)
    assert facts["label_source"] == "next.success"
    assert facts["cameras"][0] == {
        "name": "observation.images.front",
        "sizes": [[32, 32]],
        "codecs": ["h264"],
    }
    assert facts["warnings"] == facts["left_out"] == []
    assert facts["episode_list"][1] == {
        "id": "1",
        "outcome": "failure",
        "frames": 7,
        "goal_frame": None,
        "task": "task 1",
    }


def test_clocks_are_told_and_mixed_ones_warned_of(tmp_path: Path):
    lengths = (5, 12, 12, 12)
    episodes = [make_episode(length, False, seed=i) for i, length in enumerate(lengths)]
    episodes.append(make_episode(20, True, seed=9))
    root = write_lerobot(tmp_path / "set", episodes)
    told = goalward("inspect", root, columns=200).stdout
    assert "time-outs ended after 4 to 11 steps, half at 11 or less, 2 different" in told
    assert "clocks ran out after 4 to 11 steps: each episode is judged by its own" in told
    facts = json.loads(goalward("inspect", root, "--json").stdout)
    assert facts["clocks"] == {"least": 4, "median": 11, "most": 11, "num_distinct": 2}


def test_one_clock_is_no_warning_and_none_no_line(tmp_path: Path):
    late = [make_episode(12, i == 0, seed=i) for i in range(3)]
    told = goalward("inspect", write_lerobot(tmp_path / "late", late)).stdout
    assert "time-outs ended after 11 steps" in told
    assert "clocks ran out" not in told
    done = write_lerobot(tmp_path / "done", [make_episode(5, True), make_episode(9, True, seed=1)])
    assert "clocks" not in goalward("inspect", done).stdout
    assert json.loads(goalward("inspect", done, "--json").stdout)["clocks"] is None


def test_a_list_of_episodes(data_set: Path):
    lines = goalward("inspect", data_set, "--episodes").stdout.splitlines()
    assert any(line.split() == ["2", "success", "8", "7", "task", "0"] for line in lines)


def test_a_contact_sheet(data_set: Path, tmp_path: Path):
    target = tmp_path / "sheets" / "all.png"
    result = goalward("inspect", data_set, "--frames", target)
    assert result.returncode == 0
    assert "drew 4 of 4 episodes" in result.stderr
    sheet = np.asarray(Image.open(target))
    bars = [tuple(colour) for colour in sheet[:, 3]]
    for outcome in (Outcome.SUCCESS, Outcome.TIME_OUT):
        assert bars.count(OUTCOME_COLOURS[outcome]) > 300
    assert OUTCOME_COLOURS[Outcome.FAILURE] not in bars


def test_options_that_choose(data_set: Path):
    result = goalward("inspect", data_set, "--cameras", "wrist", "--json")
    assert [c["name"] for c in json.loads(result.stdout)["cameras"]] == ["observation.images.wrist"]
    both = goalward("inspect", data_set, "--cameras", "wrist,front", "--json")
    assert [c["name"][-5:] for c in json.loads(both.stdout)["cameras"]] == ["wrist", "front"]
    none = goalward("inspect", data_set, "--cameras", "", "--proprioception", "action", "--json")
    facts = json.loads(none.stdout)
    assert (facts["cameras"], facts["proprioception"]) == ([], 2)


def test_what_was_left_out_is_shown(data_set: Path, tmp_path: Path):
    episodes = [make_episode(5, i == 0, seed=i) for i in range(3)]
    episodes[2].state[1, 0] = np.nan
    root = write_lerobot(tmp_path / "set", episodes)
    result = goalward("inspect", root)
    assert "left out: 1 episode" in result.stdout
    assert "NaN or infinity at frame 1" in result.stdout
    strict = goalward("inspect", root, "--strict")
    assert strict.returncode == 1
    assert strict.stderr.startswith("error: episode 2: ")
    assert strict.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{tmp}/nowhere"], "error: {tmp}/nowhere: no such file or folder"),
        (["{tmp}"], "error: {tmp}: the folder is empty"),
        (["{data}", "--labels", "{tmp}/none.csv"], "cannot read the label file"),
        (["{data}", "--success-key", "won"], "no usable success key won"),
        (["{data}", "--cameras", "top"], "no camera top; cameras: observation.images.front"),
        (["{data}", "--horizon", "0"], "--horizon 0: must be at least 1 frame"),
        (["{data}", "--horizon", "9"], "--horizon 9 would make failures of 1 time-out with fewer"),
        (["{data}", "--frames", "{tmp}/sheet.xyz"], "unknown picture format .xyz"),
        (["{data}", "--frames", "/proc/sheet.png"], "cannot be written"),
        (["{data}", "--cameras", "", "--frames", "{tmp}/s.png"], "nothing to draw"),
    ],
)
def test_errors_are_one_clear_line(data_set: Path, tmp_path: Path, arguments, message):
    places = {"tmp": str(tmp_path), "data": str(data_set)}
    result = goalward("inspect", *[a.format(**places) for a in arguments])
    assert result.returncode == 1
    assert message.format(**places) in result.stderr
    assert "Traceback" not in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == []


def test_wrong_usage(data_set: Path):
    result = goalward("inspect", data_set, "--horizn", "3")
    assert result.returncode == 2
    assert "--horizn" in result.stdout + result.stderr
    assert goalward("inspect").returncode == 2


def test_help_teaches():
    text = goalward("inspect", "--help").stdout
    for word in ("--labels", "--success-key", "--horizon", "--frames", "Examples", "LeRobot"):
        assert word in text
    assert "inspect" in goalward("--help").stdout


def test_text_from_files_is_shown_as_it_is(tmp_path: Path):
    task = "[red]push[/] :apple: \\ \x1b[2J"
    root = write_lerobot(tmp_path / ":100:", [make_episode(2, True, task=task)])
    output = goalward("inspect", root, "--cameras", "", columns=200).stdout
    assert "[red]push[/] :apple: \\ \\x1b[2J" in output
    assert "/:100:" in output


def test_output_that_cannot_be_written(data_set: Path):
    command = "from goalward.cli import main; main()"
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-c", command, "inspect", str(data_set), "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert result.returncode == 1
    assert result.stderr == "error: [Errno 28] No space left on device\n"


def test_an_interrupt_is_quiet_and_leaves_nothing(tmp_path: Path):
    # Too large to be drawn before the interrupt: a key frame every 300 frames makes it slow.
    root = write_lerobot(
        tmp_path / "set", [make_episode(300, True, size=128, seed=0)] * 6, key_frame_every=300
    )
    arguments = ["inspect", str(root), "--frames", str(tmp_path / "sheet.png")]
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", "from goalward.cli import main; main()", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while not process.stdout.readline().startswith("label source"):
        pass
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_output_into_a_closed_pipe(data_set: Path):
    command = (
        f"{sys.executable} -c 'from goalward.cli import main; main()' inspect {data_set} --json"
    )
    result = subprocess.run(
        f"{command} | head -1", shell=True, capture_output=True, text=True, timeout=60
    )
    assert result.stdout == "{\n"
    assert result.stderr == ""


def test_a_feature_file(tmp_path: Path):
    path = tmp_path / "features.npz"
    arrays = {"episode_ends": [3, 5], "outcomes": ["success", "failure"], "layout": "forces"}
    np.savez(path, features=np.zeros((5, 4), np.float32), **arrays)
    result = goalward("inspect", path)
    assert result.returncode == 0
    for line in ("2: 1 success, 1 failure", "4 numbers per frame: forces", "2 to 3 frames"):
        assert line in result.stdout
    facts = json.loads(goalward("inspect", path, "--json").stdout)
    assert (facts["format"], facts["features"], facts["feature_layout"]) == (
        "features",
        4,
        "forces",
    )
    refused = goalward("inspect", path, "--labels", "success")
    assert refused.returncode != 0
    assert "--labels would change nothing" in refused.stderr
