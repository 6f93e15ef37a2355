"""A data set from a simulator: whole, in order, and the same bytes however it was made."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import goalward
from goalward import GoalwardError
from goalward.locks import alone_in
from goalward.rollouts.episode import Outcome
from goalward.simulate.recording import beginning, production
from goalward.simulate.recording.data_set import Plan, SimulatedDataSet, SimulationSettings
from goalward.simulate.recording.lerobot_writer import LeRobotWriter
from goalward.simulate.recording.production import simulate
from goalward.simulate.recording.trace import run_episode
from goalward.simulate.tasks import TASKS
from simulate.ball_world import BALL, BallWorld, Pusher, skip_where_nothing_is_drawn

ABOVE = "observation.images.above"
SIZE = 64
ASKED: dict[str, Any] = {"policy": "slow", "episodes": 6, "balanced": True, "size": SIZE}
# Worker processes look for the task where its module is: beside the tests.
COMMAND = [
    sys.executable,
    "-c",
    "import simulate.ball_world; from goalward.cli import main; main()",
    *("simulate", "ball", "--policy", "slow", "--episodes", "6", "--balanced"),
    *("--size", str(SIZE), "--workers", "2", "--out"),
]


@pytest.fixture(scope="module", autouse=True)
def ball_task():
    skip_where_nothing_is_drawn()
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setitem(TASKS, "ball", BALL)
        yield


@pytest.fixture(scope="module")
def undisturbed(ball_task, tmp_path_factory) -> SimulatedDataSet:
    """Six episodes, three of each outcome, by one worker in one go."""
    data_set = SimulatedDataSet(tmp_path_factory.mktemp("simulated") / "undisturbed")
    simulate(Plan.of("ball", **ASKED), data_set, num_workers=1)
    return data_set


def contents(data_set: SimulatedDataSet) -> dict[str, str]:
    return {
        path.relative_to(data_set.path).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(data_set.path.rglob("*"))
        if path.is_file()
    }


# ---------------------------------------------------------------- what is in it


def test_goalward_reads_what_was_simulated(undisturbed):
    rollouts = goalward.read(undisturbed.path, strict=True)
    assert rollouts.warnings == ()
    assert int(rollouts.success.sum()) == 3
    assert len(rollouts) == 6
    for index, episode in enumerate(rollouts):
        trace = undisturbed.trace(index)
        assert episode.outcome == (Outcome.SUCCESS if trace.success else Outcome.TIME_OUT)
        assert episode.goal_frame == (trace.num_frames - 1 if trace.success else None)
        assert episode.num_frames == trace.num_frames <= 30
        assert np.array_equal(episode.proprioception, trace.proprioception)
        assert episode.task == "push the ball over the line"
        assert episode.fps == 10


def test_pictures_are_upright(undisturbed):
    picture = goalward.read(undisturbed.path)[0].frame(ABOVE, 0)
    corners = {
        "top left": picture[2:7, 2:7],
        "top right": picture[2:7, -7:-2],
        "bottom left": picture[-7:-2, 2:7],
        "bottom right": picture[-7:-2, -7:-2],
    }
    bright = {name: corner.mean(axis=(0, 1)) > 128 for name, corner in corners.items()}
    assert {name: colours.tolist() for name, colours in bright.items()} == {
        "top left": [True, False, False],
        "top right": [False, True, False],
        "bottom left": [False, False, True],
        "bottom right": [False, False, False],
    }


def test_every_picture_shows_the_ball_where_it_was_in_that_frame(undisturbed):
    for index, episode in enumerate(goalward.read(undisturbed.path)):
        pictures = np.stack(list(episode.frames(ABOVE))).astype(int)
        is_ball = (pictures[..., 0] > 150) & (pictures[..., 1] > 150) & (pictures[..., 2] < 110)
        columns = np.arange(SIZE)
        middle = (is_ball * columns).sum(axis=(1, 2)) / is_ball.sum(axis=(1, 2))
        # The picture reaches from -1 to 1.
        seen_x = (middle + 0.5) / SIZE * 2 - 1
        true_x = undisturbed.trace(index).states[:, 0]
        assert np.abs(seen_x - true_x).max() < 0.04
        assert true_x.max() - true_x.min() > 0.3


def test_a_trace_leads_back_to_the_simulator(undisturbed):
    trace = undisturbed.trace(0)
    again = run_episode(BallWorld(), Pusher(), trace.seed, time_out=undisturbed.settings.time_out)
    assert np.array_equal(trace.snapshots, again.snapshots)
    assert trace.memories == again.memories


def test_settings_say_what_it_was_made_with(undisturbed):
    settings = undisturbed.settings
    assert (settings.task, settings.policy, settings.seed) == ("ball", "slow", 0)
    assert (settings.time_out, settings.standard_horizon, settings.fps) == (30, 20, 10)
    assert {"goalward", "mujoco", "numpy"} <= set(settings.versions)


def test_the_natural_rate_counts_all_numbers_up_to_the_last_one_taken(undisturbed):
    world, policy = BallWorld(), Pusher()
    numbers = [undisturbed.trace(index).seed for index in range(6)]
    assert numbers == sorted(numbers)
    ran = [run_episode(world, policy, seed, time_out=30).success for seed in range(numbers[-1] + 1)]
    settings = undisturbed.settings
    assert (settings.natural_successes, settings.natural_attempts) == (sum(ran), len(ran))
    assert settings.natural_success_rate == sum(ran) / len(ran)
    first_of_each = [
        number for number, success in enumerate(ran) if ran[:number].count(success) < 3
    ]
    assert numbers == first_of_each


def test_checksums_cover_every_other_file(undisturbed):
    lines = undisturbed.checksums_file.read_text().splitlines()
    listed = dict(reversed(line.split("  ")) for line in lines)
    there = contents(undisturbed)
    del there["simulation/checksums.txt"]
    assert listed == there
    assert list(listed) == sorted(listed)


def test_events_are_those_of_the_policy(undisturbed):
    header, *rows = undisturbed.events_file.read_text().splitlines()
    assert header == "episode_index,frame_index,event"
    assert rows == [
        f"{index},{frame},{event}"
        for index in range(6)
        for frame, event in undisturbed.trace(index).events
    ]
    assert rows


def test_without_balance_the_first_episodes_are_taken_and_frames_can_be_sparse(tmp_path):
    plan = Plan.of("ball", episodes=3, size=SIZE, every=2, seed=7, time_out=29)
    assert (plan.time_out, plan.standard_horizon) == (15, 10)
    data_set = SimulatedDataSet(tmp_path / "sparse")
    settings = simulate(plan, data_set, num_workers=2)
    assert settings.fps == 5
    assert settings.natural_attempts == 3
    assert [data_set.trace(index).seed for index in range(3)] == [7_000_000, 7_000_001, 7_000_002]
    rollouts = goalward.read(data_set.path, strict=True)
    assert rollouts[0].fps == 5
    assert [len(list(episode.frames(ABOVE))) for episode in rollouts] == list(rollouts.lengths)
    assert max(rollouts.lengths) <= 15


# ---------------------------------------------------------------- the same however it was made


def test_the_number_of_workers_changes_nothing(undisturbed, tmp_path):
    data_set = SimulatedDataSet(tmp_path / "by_three")
    told: list[tuple[str, int, int]] = []
    simulate(
        Plan.of("ball", **ASKED),
        data_set,
        num_workers=3,
        on_progress=lambda *progress: told.append(progress),
    )
    assert contents(data_set) == contents(undisturbed)
    assert told[0] == ("episodes", 0, 6)
    assert ("episodes", 6, 6) in told
    assert told[-1] == ("pictures", 6, 6)


def test_killed_again_and_again_it_ends_with_the_same_files(undisturbed, tmp_path):
    data_set = SimulatedDataSet(tmp_path / "killed")
    _kill_when(data_set, lambda: len(list(data_set.attempts_folder.glob("number_*"))) >= 3)
    assert not data_set.is_finished
    with pytest.raises(GoalwardError):
        goalward.read(data_set.path)
    _kill_when(data_set, lambda: len(list(data_set.path.glob("videos/*/*/file-*.mp4"))) >= 3)
    # What a process leaves that dies while it writes.
    half = data_set.path / "videos" / ABOVE / "chunk-000" / ".file-005.mp4.abc.mp4"
    half.write_bytes(b"half")
    (data_set.attempts_folder / ".number_000009.npz.abc.npz").write_bytes(b"half")
    simulate(Plan.of("ball", **ASKED), data_set, num_workers=1)
    assert contents(data_set) == contents(undisturbed)


def _kill_when(data_set: SimulatedDataSet, is_time: Callable[[], bool]) -> None:
    """SIGKILL to the process that was started; those that it started end by themselves."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen([*COMMAND, str(data_set.path)], env=environment)
    until = time.monotonic() + 60
    while not is_time():
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < until
        time.sleep(0.002)
    workers = psutil.Process(process.pid).children(recursive=True)
    assert len(workers) >= 2
    process.send_signal(signal.SIGKILL)
    process.wait()
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert alive == []


def test_stopped_just_before_the_end_it_goes_on(undisturbed, tmp_path, monkeypatch):
    data_set = SimulatedDataSet(tmp_path / "stopped")

    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as sabotage:
        sabotage.setattr(LeRobotWriter, "info", interrupt)
        with pytest.raises(KeyboardInterrupt):
            simulate(Plan.of("ball", **ASKED), data_set, num_workers=2)
    assert not data_set.is_finished
    simulate(Plan.of("ball", **ASKED), data_set, num_workers=2)
    assert contents(data_set) == contents(undisturbed)


@pytest.mark.parametrize("flip", [0.5, 0.98])
def test_what_is_damaged_while_it_is_stopped_is_made_again(
    undisturbed, tmp_path, monkeypatch, flip
):
    data_set = SimulatedDataSet(tmp_path / "stopped")
    with monkeypatch.context() as sabotage:
        sabotage.setattr(LeRobotWriter, "info", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            simulate(Plan.of("ball", **ASKED), data_set, num_workers=1)
    attempts = sorted(data_set.attempts_folder.glob("number_*.npz"))
    videos = sorted(data_set.path.glob("videos/*/*/*.mp4"))
    for path in (attempts[0], attempts[1], videos[0], videos[-1]):
        content = bytearray(path.read_bytes())
        content[int(flip * len(content))] ^= 4
        path.write_bytes(content)
    videos[1].write_bytes(videos[1].read_bytes()[:100])
    note = sorted(data_set.attempts_folder.glob("drawn_*.sha256"))[2]
    note.unlink()
    os.mkfifo(note)  # would be waited for without end
    simulate(Plan.of("ball", **ASKED), data_set, num_workers=1)
    assert contents(data_set) == contents(undisturbed)


def test_a_finished_data_set_is_left_alone(undisturbed, monkeypatch):
    monkeypatch.setattr(production, "executor_on", None)
    before = contents(undisturbed)
    settings = simulate(Plan.of("ball", **ASKED), undisturbed)
    assert settings == undisturbed.settings
    assert contents(undisturbed) == before
    # Killed after its last file, one leaves its lock, of which nobody is the holder.
    undisturbed.lock_file.write_text("{}")
    simulate(Plan.of("ball", **ASKED), undisturbed)
    assert not undisturbed.lock_file.exists()
    with alone_in(undisturbed.simulation_folder, name=undisturbed.lock_file.name):
        assert simulate(Plan.of("ball", **ASKED), undisturbed) == settings


# ---------------------------------------------------------------- what cannot be


def test_other_settings_for_the_same_folder_are_named(undisturbed):
    plan = Plan.of("ball", **ASKED | {"seed": 4, "size": 32})
    with pytest.raises(GoalwardError, match=r"seed 0 there, 4 wanted; size 64 there, 32 wanted"):
        simulate(plan, undisturbed)


def test_half_a_data_set_is_not_finished_with_other_versions(tmp_path, monkeypatch):
    data_set = SimulatedDataSet(tmp_path)
    monkeypatch.setattr(production, "_run_episodes", lambda *_: {}[0])
    with pytest.raises(KeyError):
        simulate(Plan.of("ball", **ASKED), data_set, num_workers=1)
    monkeypatch.setattr(beginning, "_versions", lambda: data_set.settings.versions | {"av": "1"})
    with pytest.raises(GoalwardError, match=r"other versions \(av \S+ there, 1 here\)"):
        simulate(Plan.of("ball", **ASKED), data_set, num_workers=1)


def test_a_folder_with_something_else_in_it_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(GoalwardError, match="holds thesis.tex, but no simulated data set"):
        simulate(Plan.of("ball", **ASKED), SimulatedDataSet(tmp_path))


def test_a_policy_that_never_succeeds_cannot_be_balanced(tmp_path):
    data_set = SimulatedDataSet(tmp_path / "asleep")
    plan = Plan.of("ball", policy="sleeper", episodes=2, balanced=True, size=SIZE)
    with pytest.raises(GoalwardError, match="0 of 40 episodes of ball by sleeper .* too few"):
        simulate(plan, data_set, num_workers=1)
    assert len(list(data_set.attempts_folder.iterdir())) == 40


def test_an_error_in_an_episode_names_it(tmp_path):
    plan = Plan.of("ball", policy="clumsy", episodes=20, size=SIZE)
    problem = (
        r"ValueError: the ball fell off the table \(ball_world.py, line \d+\): \d pieces "
        r"\(task ball, policy clumsy, episode number \d+; "
    )
    with pytest.raises(GoalwardError, match=problem):
        simulate(plan, SimulatedDataSet(tmp_path / "clumsy"), num_workers=1)


def test_a_worker_that_dies_is_missed(tmp_path):
    plan = Plan.of("ball", policy="vanisher", episodes=1, size=SIZE)
    with pytest.raises(GoalwardError, match="episode number 0: its worker .* exit code 3"):
        simulate(plan, SimulatedDataSet(tmp_path / "gone"))


def test_frames_that_do_not_divide_a_second_are_refused(tmp_path):
    plan = Plan.of("ball", episodes=1, every=3)
    with pytest.raises(GoalwardError, match="every=3 does not divide .* choose one of 1, 2, 5, 10"):
        simulate(plan, SimulatedDataSet(tmp_path / "thirds"), num_workers=1)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"policy": "expert"}, "no policy 'expert' for ball: there are pusher, sleeper"),
        ({"episodes": 0}, "episodes=0: must be at least 1"),
        ({"episodes": 7, "balanced": True}, "7 is an odd number"),
        ({"size": 33}, "size=33: must be even"),
        ({"seed": -1}, "seed=-1: must be at least 0"),
        ({"every": 0}, "every=0: must be at least 1"),
        ({"time_out": 2, "every": 2}, "time_out=2: must be at least 3"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(asked, problem):
    with pytest.raises(GoalwardError, match=problem):
        Plan.of("ball", **asked)


def test_two_processes_do_not_make_the_same_data_set(tmp_path):
    data_set = SimulatedDataSet(tmp_path / "shared")
    problems: list[str] = []

    def begin() -> None:
        try:
            simulate(Plan.of("ball", **ASKED), data_set, num_workers=1)
        except GoalwardError as error:
            problems.append(str(error))

    with alone_in(data_set.simulation_folder, name=data_set.lock_file.name):
        thread = threading.Thread(target=begin)
        thread.start()
        thread.join()
    assert len(problems) == 1
    assert f"another process is at work there (process {os.getpid()} on " in problems[0]


@pytest.mark.parametrize("damage", ["a bit flipped", "another episode"])
def test_an_episode_that_was_damaged_is_run_again(tmp_path, caplog, damage: str):
    plan, data_set = Plan.of("ball", **ASKED), SimulatedDataSet(tmp_path / "cut")
    whole = SimulatedDataSet(tmp_path / "whole")
    simulate(plan, whole, num_workers=1)
    data_set.attempts_folder.mkdir(parents=True)
    whole.settings.write(data_set.settings_file)
    content = bytearray(whole.trace_file(damage == "another episode").read_bytes())
    if damage == "a bit flipped":
        content[len(content) // 2] ^= 4
    data_set.attempt_file(0).write_bytes(content)
    simulate(plan, data_set, num_workers=1)
    assert any("number_000000.npz" in m and "run again" in m for m in caplog.messages)
    assert data_set.checksums_file.read_bytes() == whole.checksums_file.read_bytes()


def test_settings_and_traces_that_were_changed_are_noticed(tmp_path):
    data_set = SimulatedDataSet(tmp_path / "balls")
    simulate(Plan.of("ball", **ASKED), data_set, num_workers=1)
    data_set.check(data_set.trace_file(0), data_set.trace_file(1))
    settings = data_set.settings_file.read_text()
    data_set.settings_file.write_text(settings.replace('"every": 1', '"every": 2'))
    with pytest.raises(GoalwardError, match="settings.json: was changed or damaged"):
        _ = data_set.settings
    data_set.trace_file(1).write_bytes(data_set.trace_file(0).read_bytes())
    with pytest.raises(GoalwardError, match="episode_000001.npz: was changed or damaged"):
        data_set.check(data_set.trace_file(1))


@pytest.mark.timeout(20)
def test_a_pipe_in_place_of_the_settings_is_not_waited_for(tmp_path):
    path = tmp_path / "simulation.json"
    os.mkfifo(path)
    with pytest.raises(GoalwardError, match=r"simulation\.json: is no regular file"):
        SimulationSettings.read(path)
