"""Branches from recorded frames: who is chosen, what comes out, what a stop leaves behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from goalward.errors import GoalwardError
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.simulate.branch_file import BranchFile
from goalward.simulate.recording.trace import Trace, run_episode, steps_from
from goalward.simulate.truth import (
    Branching,
    BranchJob,
    BranchPoint,
    TaskStage,
    branch_jobs,
    measure,
    sample_frames,
)
from simulate.walk_world import AHEAD, GOAL, STUCK, dying_stage, true_discounted, walk_stage
from simulate.walk_world import write_traces as write_walks

BRANCHING = Branching(cap=60, seed=5)
MADE_WITH = {"task": "walk", "cap": 60, "seed": 5}


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    return write_walks(tmp_path_factory.mktemp("traces"))


def measured(points, num_branches, branching=BRANCHING, workers=0):
    """Steps by episode, frame and branch; without workers in this process, which is quicker."""
    jobs = branch_jobs(points, num_branches, branching)
    stage = walk_stage()
    done = measure(jobs, walk_stage, workers) if workers else ((job, job.do(stage)) for job in jobs)
    return {
        (job.point.episode_id, job.point.frame, branch): steps
        for job, found in done
        for branch, steps in zip(job.branches, found, strict=True)
    }


# ---- which frames -------------------------------------------------------------------------------


def test_half_of_the_frames_are_of_successes_and_all_episodes_give_some(traces):
    outcome = {name: Trace.read(path).success for name, path in traces.items()}
    assert sorted(set(outcome.values())) == [False, True]
    points = sample_frames(traces, 40, seed=0)
    assert sum(outcome[point.episode_id] for point in points) == 20
    for success in (True, False):
        kind = [name for name in traces if outcome[name] == success]
        counts = [sum(point.episode_id == name for point in points) for name in kind]
        assert sum(counts) == 20
        assert max(counts) - min(counts) <= 1
    assert len(set(points)) == 40


def test_no_goal_frame_is_chosen_and_every_other_one_can_be(traces):
    num_frames = {name: Trace.read(path).num_frames for name, path in traces.items()}
    successes = {name for name, path in traces.items() if Trace.read(path).success}
    total = sum(num_frames.values()) - len(successes)
    points = {(point.episode_id, point.frame) for point in sample_frames(traces, total, seed=0)}
    wanted = {
        (name, frame)
        for name, count in num_frames.items()
        for frame in range(count - (name in successes))
    }
    assert points == wanted
    with pytest.raises(GoalwardError, match=f"{total + 1} frames are asked for.*have {total}"):
        sample_frames(traces, total + 1, seed=0)


def test_more_frames_contain_fewer_and_the_seed_decides(traces):
    points = sample_frames(traces, 50, seed=0)
    assert sample_frames(traces, 20, seed=0) == points[:20]
    assert sample_frames(traces, 50, seed=1) != points


# ---- what comes out -----------------------------------------------------------------------------


def test_branches_agree_with_the_closed_form(traces):
    """3000 futures of one frame: the mean of 0.9^K, and the share that ever succeeds."""
    name, frame, to_go = next(
        (name, 0, int(GOAL - trace.snapshots[0, 0]))
        for name, trace in ((name, Trace.read(path)) for name, path in traces.items())
    )
    point = BranchPoint(traces[name], name, frame)
    steps = list(measured([point], 3000).values())
    discounted = np.array([0.0 if k is None else 0.9**k for k in steps])
    error = discounted.std() / len(steps) ** 0.5
    assert abs(discounted.mean() - true_discounted(to_go, 0.9)) < 4 * error
    share = np.mean([k is not None for k in steps])
    wanted = (AHEAD / (STUCK + AHEAD)) ** to_go
    assert abs(share - wanted) < 4 * (wanted * (1 - wanted) / len(steps)) ** 0.5


def test_one_step_before_the_goal_the_value_is_the_closed_form(traces):
    """E[1 - 2 g^K] = 1 - 2 r g / (1 - (1 - q - r) g), within the error that the branches state."""
    points = [
        BranchPoint(path, name, trace.num_frames - 2)
        for name, path in traces.items()
        if (trace := Trace.read(path)).success
    ]
    truth = FrameTruth.from_branches(measured(points, 400), BRANCHING.cap)
    found = truth.true_value(0.95)
    wanted = 1 - 2 * true_discounted(1, 0.95)
    assert wanted == pytest.approx(1 - 2 * 0.5 * 0.95 / (1 - 0.45 * 0.95))
    assert (np.abs(found.mean - wanted) < 4 * found.standard_error).all()
    assert found.standard_error == pytest.approx(found.standard_error.mean(), rel=0.3)


def test_a_stuck_policy_stays_stuck_in_every_branch(traces):
    """What the policy has in mind is part of a frame; the cap is where each branch ends."""
    stuck = [
        BranchPoint(path, name, trace.num_frames - 1)
        for name, path in traces.items()
        if '"stuck":true' in (trace := Trace.read(path)).memories[-1]
    ]
    assert stuck
    assert set(measured(stuck, 8).values()) == {None}


def test_every_counts_frames_not_control_steps(traces):
    point = BranchPoint(traces["0"], "0", 0)
    one, two = (measured([point], 200, Branching(cap=90, seed=5, every=every)) for every in (1, 2))
    for key, steps in one.items():
        assert two[key] == (None if steps is None else -(-steps // 2))


def test_the_cap_is_the_last_step_that_counts(traces):
    point = BranchPoint(traces["0"], "0", 0)
    free = measured([point], 100, Branching(cap=1000, seed=5))
    cut = measured([point], 100, Branching(cap=12, seed=5))
    assert 12 in free.values()
    assert cut == {key: k if k is not None and k <= 12 else None for key, k in free.items()}


def test_neither_workers_nor_company_nor_more_branches_change_a_branch(traces):
    points = sample_frames(traces, 12, seed=0)
    alone = measured(points, 6)
    assert measured(points, 6, workers=3) == alone
    longer = measured(sample_frames(traces, 20, seed=0), 9)
    assert {key: longer[key] for key in alone} == alone
    assert len({alone[key] for key in alone}) > 5


def test_a_worker_that_dies_is_an_error_and_not_a_wait_for_ever(traces):
    jobs = branch_jobs(sample_frames(traces, 4, seed=0), 1, BRANCHING)
    with pytest.raises(GoalwardError, match="its worker process ended with exit code 3"):
        list(measure(jobs, dying_stage, 2))


def test_an_error_of_a_worker_is_told_in_its_own_words():
    job = BranchJob(BranchPoint(Path("gone.npz"), "7", 3), (0,), BRANCHING)
    with pytest.raises(
        GoalwardError, match="episode 7, futures of frame 3: gone.npz: no such file"
    ):
        list(measure([job], walk_stage))


# ---- what a stop leaves behind ------------------------------------------------------------------


def test_all_frames_get_a_block_before_any_gets_the_next(traces):
    points = sample_frames(traces, 3, seed=0)
    jobs = branch_jobs(points, 10, BRANCHING)
    assert [job.point for job in jobs] == points * 3
    assert [job.branches for job in jobs[::3]] == [(0, 1, 2, 3), (4, 5, 6, 7), (8, 9)]


def test_what_is_finished_is_not_done_again(traces, tmp_path):
    points = sample_frames(traces, 6, seed=0)
    whole = measured(points, 6)
    path = tmp_path / "branches.jsonl"
    for _ in range(100):
        with BranchFile(path, MADE_WITH) as file:
            left = branch_jobs(points, 6, BRANCHING, file.branches)
            if not left:
                break
            file.add(left[0], left[0].do(walk_stage()))
    assert len(path.read_text().splitlines()) == 1 + 12
    assert file.of(points, 6) == whole
    assert list(file.of(points, 6)) == [
        (point.episode_id, point.frame, branch) for point in points for branch in range(6)
    ]


@pytest.mark.timeout(20)
def test_a_pipe_in_place_of_what_was_measured_is_not_waited_for(tmp_path):
    path = tmp_path / "branches.jsonl"
    os.mkfifo(path)
    with pytest.raises(GoalwardError, match=r"branches\.jsonl: is no regular file"):
        BranchFile(path, MADE_WITH)


def test_a_table_of_stopped_work_ends_at_the_first_unfinished_frame(traces, tmp_path):
    points = sample_frames(traces, 4, seed=0)
    first, second, third, _ = branch_jobs(points, 4, BRANCHING)
    with BranchFile(tmp_path / "branches.jsonl", MADE_WITH) as file:
        for job in (third, first):
            file.add(job, job.do(walk_stage()))
        kept = {(point, frame) for point, frame, _ in file.in_order(points, 4)}
        assert kept == {(points[0].episode_id, points[0].frame)}
        file.add(second, second.do(walk_stage()))
        assert file.in_order(points, 4) == file.of(points[:3], 4)
        # Of more rollouts, what is whole of the first block.
        assert file.in_order(points[:3], 8) == file.of(points[:3], 4)


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_last_line_is_done_again(traces, tmp_path, cut):
    points = sample_frames(traces, 3, seed=0)
    jobs = branch_jobs(points, 4, BRANCHING)
    path = tmp_path / "branches.jsonl"
    with BranchFile(path, MADE_WITH) as file:
        for job in jobs:
            file.add(job, job.do(walk_stage()))
        whole = dict(file.branches)
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    with BranchFile(path, MADE_WITH) as file:
        left = branch_jobs(points, 4, BRANCHING, file.branches)
        assert left == jobs[-1:]
        file.add(left[0], left[0].do(walk_stage()))
        assert file.branches == whole
    assert path.read_bytes() == content


def test_a_torn_first_line_is_a_new_beginning(tmp_path):
    path = tmp_path / "branches.jsonl"
    path.write_text('{"cap": 60, "se')
    with BranchFile(path, MADE_WITH) as file:
        assert file.branches == {}
    assert path.read_text() == '{"cap": 60, "seed": 5, "task": "walk"}\n'


def test_branches_made_otherwise_are_not_mixed(tmp_path):
    path = tmp_path / "branches.jsonl"
    job = BranchJob(BranchPoint(Path("a.npz"), "7", 3), (0, 1), BRANCHING)
    with BranchFile(path, MADE_WITH) as file:
        file.add(job, (4, None))
    with pytest.raises(GoalwardError, match='branches.jsonl: was made with .*"cap": 60'):
        BranchFile(path, MADE_WITH | {"cap": 61})
    with BranchFile(path, MADE_WITH) as file:
        assert file.branches == {("7", 3, 0): 4, ("7", 3, 1): None}


@pytest.mark.parametrize(
    "line", ["{", "3", '{"episode": "7", "frame": 3, "branches": [0], "steps": []}']
)
def test_a_damaged_line_is_named_and_counts_as_not_there(tmp_path, line, caplog):
    path = tmp_path / "branches.jsonl"
    job = BranchJob(BranchPoint(Path("a.npz"), "7", 3), (0, 1), BRANCHING)
    with BranchFile(path, MADE_WITH) as file:
        file.add(job, (4, None))
    path.write_text(path.read_text() + line + "\n")
    with BranchFile(path, MADE_WITH) as file:
        assert file.branches == {("7", 3, 0): 4, ("7", 3, 1): None}
    assert "branches.jsonl: line 3 is damaged" in caplog.messages[0]


def test_a_changed_number_of_steps_is_noticed(tmp_path):
    path = tmp_path / "branches.jsonl"
    jobs = [BranchJob(BranchPoint(Path("a.npz"), "7", f), (0, 1), BRANCHING) for f in (3, 5)]
    with BranchFile(path, MADE_WITH) as file:
        for job in jobs:
            file.add(job, (4, None))
    whole = path.read_text()
    for before, after in (("[4, null]", "[5, null]"), ('"frame": 3', '"frame": 2')):
        path.write_text(whole.replace(before, after, 1))
        with BranchFile(path, MADE_WITH) as file:
            assert file.branches == {("7", 5, 0): 4, ("7", 5, 1): None}


def test_a_real_simulator_continues_from_its_frames(tmp_path):
    """Without new luck a branch is what was recorded; one step before the goal it takes one."""
    pytest.importorskip("mujoco", reason="the simulator is not installed")
    from simulate.ball_world import BALL

    world, policy = BALL.make_world(), BALL.make_policy("pusher")
    recorded = [run_episode(world, policy, seed, time_out=BALL.time_out) for seed in range(6)]
    successes = [trace for trace in recorded if trace.success]
    assert 0 < len(successes) < 6
    for trace in successes:
        for frame in (0, trace.num_frames // 2, trace.num_frames - 2):
            left = trace.num_frames - 1 - frame
            assert steps_from(world, policy, trace, frame, most=100) == left
    for episode, trace in enumerate(recorded):
        trace.write(tmp_path / f"{episode}.npz")
    traces = {str(episode): tmp_path / f"{episode}.npz" for episode in range(6)}
    points = sample_frames(traces, 4, seed=0)
    jobs = branch_jobs(points, 4, Branching(cap=100, seed=0))
    alone = {job.point: job.do((world, policy)) for job in jobs}
    stage = TaskStage.of("ball", "pusher")
    assert {job.point: steps for job, steps in measure(jobs, stage, 2)} == alone
    assert len({steps for found in alone.values() for steps in found}) > 3


# A machine that only simulates has neither pyarrow nor the readers: the front door of the package
# is left out, as it knows every room.
_DRIVER = """
import sys, types
from pathlib import Path
sys.path.insert(0, {tests!r})
for absent in ("pyarrow", "av", "cyclopts", "torch", "h5py"):
    sys.modules[absent] = None
bare = types.ModuleType("goalward")
bare.__path__ = [{package!r}]
sys.modules["goalward"] = bare

from goalward.simulate.branch_file import BranchFile
from goalward.simulate.truth import Branching, branch_jobs, measure, sample_frames
from simulate.walk_world import walk_stage

def main():
    folder = Path({folder!r})
    traces = {{path.stem: path for path in sorted(folder.glob("*.npz"))}}
    points = sample_frames(traces, 30, seed=0)
    with BranchFile(folder / "branches.jsonl", {made_with!r}) as file:
        jobs = branch_jobs(points, 400, Branching(60, 5), file.branches)
        for job, steps in measure(jobs, walk_stage, 2):
            file.add(job, steps)

if __name__ == "__main__":
    main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL on Windows")
def test_kill_9_costs_only_what_was_under_way_and_leaves_no_process_behind(tmp_path):
    traces = write_walks(tmp_path)
    script = tmp_path / "driver.py"
    script.write_text(
        _DRIVER.format(
            tests=str(Path(__file__).parent.parent),
            package=str(Path(sys.modules["goalward"].__path__[0])),
            folder=str(tmp_path),
            made_with=MADE_WITH,
        )
    )
    path = tmp_path / "branches.jsonl"
    counts = []
    for _ in range(2):
        process = subprocess.Popen([sys.executable, script], start_new_session=True)
        before = path.stat().st_size if path.exists() else 0
        while process.poll() is None and (not path.exists() or path.stat().st_size < before + 4000):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        deadline = time.monotonic() + 20
        while _is_alive(process.pid):
            assert time.monotonic() < deadline, "a worker outlives the process that started it"
            time.sleep(0.05)
        counts.append(len(path.read_bytes().splitlines()))
    assert 1 < counts[0] < counts[1]
    points = sample_frames({path.stem: path for path in traces.values()}, 30, seed=0)
    with BranchFile(path, MADE_WITH) as file:
        kept = file.of(points, 400)
        assert 0 < len(kept) < 30 * 400
        kept = file.of(points, 12)
    whole = measured(points, 12)
    assert kept == {key: whole[key] for key in kept}


def _is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
