"""`goalward simulate` as a person runs it: what it says, how it stops, how it goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import goalward
from simulate.ball_world import skip_where_nothing_is_drawn

TESTS = Path(__file__).parent.parent
# The task `ball` lies beside the tests; worker processes find it there as this one does.
PROGRAM = "import simulate.ball_world; from goalward.cli import main; main()"


@pytest.fixture(scope="module", autouse=True)
def drawing():
    skip_where_nothing_is_drawn()


def command(out: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, "simulate", "ball", "--out", str(out), *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(TESTS)}


def goalward_simulate(out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(out, *arguments), capture_output=True, text=True, timeout=120, env=environment()
    )


def test_a_data_set_is_made_once_and_said_to_be_there(tmp_path):
    out = tmp_path / "my rollouts"
    asked = ("--episodes", "4", "--balanced", "--size", "32", "--workers", "1")
    made = goalward_simulate(out, *asked)
    assert made.returncode == 0, made.stderr
    # Nothing else: no bars in a file, no warnings of a simulator.
    assert made.stderr == (
        f"4 episodes of ball by pusher: {out}; it succeeds in 50 % of episodes (2 of 4; 95 % "
        "interval 15 to 85 %) within 30 frames; next: "
        f"goalward evaluate '{out}' --out '{out}-evaluation' --standard-horizon 20\n"
    )
    assert int(goalward.read(out, strict=True).success.sum()) == 2

    again = goalward_simulate(out, *asked)
    assert again.returncode == 0
    assert again.stderr == f"{out}: there already, nothing to do\n{made.stderr}"

    share = goalward_simulate(out, *asked, "--shard", "1/2")
    assert share.stderr == again.stderr

    other = goalward_simulate(out, *asked, "--seed", "1")
    assert other.returncode == 1
    assert "seed 0 there, 1 wanted" in other.stderr


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("balanced", [(), ("--balanced",)])
def test_shards_and_the_command_without_make_the_same_files(tmp_path, balanced):
    """The second of three shards was never run: the last command makes up for it."""
    asked = ("--episodes", "6", "--size", "32", "--workers", "1", *balanced)
    for number in (1, 3):
        share = goalward_simulate(tmp_path / "shared", *asked, "--shard", f"{number}/3")
        assert share.returncode == 0, share.stderr
        assert share.stderr.endswith(" without --shard makes the data set\n")
        if not balanced:
            assert share.stderr.startswith(f"shard {number}/3: 2 episodes run, 2 drawn: ")
    drawn = {path: path.stat().st_mtime_ns for path in (tmp_path / "shared").rglob("*.mp4")}
    whole = goalward_simulate(tmp_path / "whole", *asked)
    shared = goalward_simulate(tmp_path / "shared", *asked)
    assert shared.stderr == whole.stderr.replace("whole", "shared")
    assert contents(tmp_path / "shared") == contents(tmp_path / "whole")
    # What a shard had drawn was not drawn again.
    assert len(drawn) == (0 if balanced else 2 * 4)
    assert {path: path.stat().st_mtime_ns for path in drawn} == drawn


def test_an_interrupt_says_how_to_go_on_and_leaves_no_process(tmp_path):
    asked = ("--policy", "slow", "--episodes", "40", "--size", "32", "--workers", "2")
    process = subprocess.Popen(
        command(tmp_path, *asked),
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while len(list(tmp_path.glob("simulation/attempts/number_*"))) < 2:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.005)
    workers = psutil.Process(process.pid).children(recursive=True)
    # As a terminal does: to every process of the group.
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stderr == "stopped: the same command goes on where it was\ninterrupted\n"
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert alive == []

    first = tmp_path / "simulation" / "attempts" / "number_000000.npz"
    made_at = first.stat().st_mtime_ns
    process = subprocess.Popen(command(tmp_path, *asked), env=environment())
    while len(list(tmp_path.glob("simulation/attempts/number_*"))) < 20:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    process.wait(30)
    assert first.stat().st_mtime_ns == made_at


def test_an_unknown_task_is_an_error_that_lists_the_known_ones(tmp_path):
    code = f"import sys; sys.argv[1:] = ['simulate', 'bal', '--out', '{tmp_path}']; {PROGRAM}"
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment()
    )
    assert told.returncode == 1
    assert "error: no task 'bal': there are" in told.stderr
    assert "ball" in told.stderr


def test_an_episode_that_fails_is_named_without_a_traceback(tmp_path):
    told = goalward_simulate(tmp_path, "--policy", "clumsy", "--workers", "1", "--episodes", "20")
    assert told.returncode == 1
    assert "error: ValueError: the ball fell off the table (" in told.stderr
    assert " pieces (task ball, policy clumsy, episode number " in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize("share", [(), ("--shard", "1/1")])
def test_pieces_that_failed_are_counted_in_the_bar(tmp_path, share):
    """Told at once here, not every half minute; the worker of every episode dies."""
    often = "import goalward.progress as progress; progress.LINE_EVERY_S = 0.0"
    asked = ("--policy", "vanisher", "--workers", "1", "--episodes", "3", "--size", "32")
    words = command(tmp_path, *asked, *share)
    words[2] = f"{often}; {PROGRAM}"
    told = subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment())
    assert told.returncode == 1
    assert "\nepisodes, 1 piece tried again, 0 %\n" in told.stderr
    assert "\nepisodes, 3 pieces failed, 0 %\n" in told.stderr
