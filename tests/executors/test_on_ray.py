"""A cluster of two nodes: the same results as here, whatever is lost on the way."""

import logging
import os
import platform
import signal
import socket
import subprocess
import sys
import time

import pytest

from executors.pieces import (
    Add,
    Deadly,
    ForgetsToWrite,
    FullDisk,
    FullForOne,
    Poisoned,
    SlowAdd,
    SomeBuilds,
    Tell,
    Unreadable,
    WriteNumber,
    no_build,
    numbers,
    thousand,
    vanishing_build,
)
from goalward.errors import GoalwardError
from goalward.executors import on_ray, seen
from goalward.executors.on_ray import RayExecutor
from goalward.executors.ray_actor import RayWorker
from goalward.progress import Setbacks
from ray_cluster import lose_a_node, needs_ray, two_nodes
from simulate.walk_world import walk_stage, write_traces

pytestmark = [pytest.mark.slow, needs_ray]


@pytest.fixture(scope="module")
def cluster():
    with two_nodes() as cluster:
        yield cluster


def test_every_piece_is_done_once_by_what_the_worker_built(cluster, tmp_path):
    """Files that pieces leave are here when they are done, and no mark of the executor is."""
    with RayExecutor(thousand, 2, shared=[tmp_path]) as executor:
        pieces = [WriteNumber(n, tmp_path / f"{n}.txt") for n in range(12)]
        assert numbers(executor.results(iter(pieces))) == {n: n for n in range(12)}
        assert numbers(executor.results(iter([Add(5)]))) == {5: 1005}
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert written == {f"{n}.txt": str(1000 + n) for n in range(12)}


def test_workers_are_on_both_nodes_and_have_one_thread_each(cluster):
    told = []
    until = time.monotonic() + 120

    def pieces_for_both():
        """On a busy machine one of them may be ready long before the other."""
        number = 0
        while len({facts["process"] for facts in told}) < 2 and time.monotonic() < until:
            number += 1
            yield Tell(number)

    with RayExecutor(thousand) as executor:
        for _, facts in executor.results(pieces_for_both()):
            told.append(facts)
    assert len({facts["process"] for facts in told}) == 2
    assert len({facts["node"] for facts in told}) == 2
    assert {facts["threads"] for facts in told} == {"1"}


def test_pieces_that_fail_or_kill_are_named_and_the_others_are_done(cluster, tmp_path, caplog):
    pieces = [
        Add(0),
        Poisoned(1),
        Deadly(2, tmp_path / "once", times=1),
        Deadly(3, tmp_path / "always"),
        FullDisk(4, tmp_path / "full"),
        Add(5),
    ]
    heard, counted = {}, []
    with RayExecutor(thousand, 2) as executor:
        results = executor.results(
            iter(pieces), lambda p, why: heard.update({p.number: str(why)}), counted.append
        )
        found = numbers(results)
    assert counted[-1] == Setbacks(num_failed=2)
    assert any(setbacks.num_again for setbacks in counted)
    assert found == {n: 1000 + n for n in (0, 2, 4, 5)}
    assert sorted(heard) == [1, 3]
    assert heard[1].startswith("number 1: ValueError: cannot be added (pieces.py, line ")
    assert heard[3].startswith("number 3: its worker was lost (")
    assert heard[3].endswith(", 3 times")
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    (full,) = (line for line in told if line.startswith("number 4: "))
    assert full.startswith("number 4: OSError: [Errno 28] No space left on device (pieces.py, ")
    assert full.endswith(f", on {platform.node()}; it is tried again")


def test_a_worker_in_trouble_does_not_use_up_the_pieces(cluster, tmp_path):
    """It fails them faster than others do them; it rests, and every piece is done."""
    pieces = [FullForOne(n, tmp_path / "full") for n in range(40)]
    with RayExecutor(thousand, 2) as executor:
        assert numbers(executor.results(iter(pieces))) == {n: 1000 + n for n in range(40)}


def test_a_piece_that_a_worker_cannot_read_says_why(cluster):
    heard = {}
    with RayExecutor(thousand, 2) as executor:
        pieces = iter([Add(0), Unreadable(1), Add(2)])
        results = executor.results(pieces, lambda p, why: heard.update({p.number: str(why)}))
        assert numbers(results) == {0: 1000, 2: 1002}
    assert heard[1].startswith("number 1: its worker cannot read it: ModuleNotFoundError: No ")


def test_marks_stay_young_while_workers_are_waited_for(cluster, tmp_path, monkeypatch):
    """Other machines sweep what is older than a day; one that was swept is there again."""
    monkeypatch.setattr(seen, "_RENEW_S", 0.0)
    with RayExecutor(thousand, 1, shared=[tmp_path]) as executor:
        (mark,) = tmp_path.iterdir()
        os.utime(mark, (1.0, 1.0))
        list(executor.results(iter([Add(0)])))
        assert mark.stat().st_mtime > time.time() - 60
        mark.unlink()
        list(executor.results(iter([Add(1)])))
        assert mark.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_seen_from_here_is_missed(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(seen, "_SEEN_WITHIN_S", 0.3)
    with RayExecutor(thousand, 1) as executor:
        with pytest.raises(GoalwardError, match="number 0: its worker wrote .*all machines share"):
            list(executor.results(iter([ForgetsToWrite(0, tmp_path / "0.txt")])))


@pytest.mark.parametrize(
    ("build", "problem"),
    [(no_build, "^no weights for the worker$"), (vanishing_build, "^no worker can be started: ")],
)
def test_a_worker_that_cannot_be_built_says_why(cluster, build, problem):
    with RayExecutor(build, 1) as executor:
        with pytest.raises(GoalwardError, match=problem):
            list(executor.results(iter([Add(0)])))


def test_a_place_whose_worker_never_comes_up_is_left_empty(cluster, tmp_path, caplog):
    """As on a node that goes down while workers start there: who lives does the work."""
    with RayExecutor(SomeBuilds(tmp_path, 1), 2) as executor:
        pieces = iter([SlowAdd(n, 0.3) for n in range(40)])
        assert numbers(executor.results(pieces)) == {n: 1000 + n for n in range(40)}
    told = [record.getMessage() for record in caplog.records]
    assert told[-1].startswith("no worker can be started: ")
    assert told[-1].endswith(", 3 times; the others go on")


def test_what_is_wrong_with_a_late_worker_stops_nobody(cluster, tmp_path, caplog):
    """It comes for one that was lost, to a machine whose own disk is full by now, say."""

    def pieces():
        """The first for as long as one of the two is not there yet."""
        number = 1
        while not (tmp_path / "built 1").exists():
            yield SlowAdd(number, 0.3)
            number += 1
        yield Deadly(0, tmp_path / "killed", times=1)
        yield from (SlowAdd(n, 0.3) for n in range(number, number + 40))

    with RayExecutor(SomeBuilds(tmp_path, 2, "no room for weights"), 2) as executor:
        found = numbers(executor.results(pieces()))
        assert found == {n: 1000 + n for n in range(len(found))}
        assert len(found) > 40
        told = [record.getMessage() for record in caplog.records]
        assert "no room for weights, 3 times; the others go on" in told
        # With nobody left it is an error, and soon.
        last = [Deadly(0, tmp_path / "killed again", times=1), Add(1)]
        with pytest.raises(GoalwardError, match="^no room for weights$"):
            list(executor.results(iter(last)))


def test_whoever_wants_no_more_may_come_again(cluster):
    with RayExecutor(thousand, 2) as executor:
        for _ in executor.results(iter([Add(0), SlowAdd(1, 60), SlowAdd(2, 60)])):
            break
        assert numbers(executor.results(map(Add, range(4, 8)))) == {
            n: 1000 + n for n in range(4, 8)
        }


@pytest.mark.parametrize(
    ("what", "found", "problem"),
    [
        ("_version", "9.9", "has goalward 0.*, this process 9.9: install the same one"),
        ("whole_code_digest", "0" * 32, "has another code of goalward 0.*: install the same one"),
    ],
)
def test_workers_with_another_goalward_are_refused(cluster, monkeypatch, what, found, problem):
    monkeypatch.setattr(on_ray, what, lambda: found)
    with RayExecutor(thousand, 1) as executor:
        with pytest.raises(GoalwardError, match=problem):
            list(executor.results(iter([Add(0)])))


def test_a_machine_without_goalward_says_so():
    """Its worker travels by value: it runs where goalward cannot be imported."""
    code = (
        "import sys; sys.modules['goalward'] = None\n"
        f"exec(open({on_ray.__file__.replace('on_ray', 'ray_actor')!r}).read())\n"
        "print(RayWorker('.', []).prepare({'version': '0.2', 'code': ''}, [], b''))\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "has no goalward 0.2 (" in found.stdout, found.stderr


def test_a_folder_that_a_worker_cannot_see_is_named(tmp_path, monkeypatch):
    # A worker goes to the folder of who started it; this process has to come back.
    monkeypatch.chdir(tmp_path)
    worker = RayWorker(str(tmp_path), [])
    versions = {"version": on_ray._version(), "code": on_ray.whole_code_digest()}
    problem, _ = worker.prepare(versions, [str(tmp_path / "not there")], b"")
    import ray

    assert not ray.is_initialized()
    assert problem is not None
    assert "cannot see" in problem
    assert "use a folder that all machines share" in problem


def test_the_truth_is_the_same_on_a_cluster_that_loses_a_node(cluster, tmp_path):
    """The last test with two nodes: branches of frames, one node gone after the first of them."""
    from goalward.simulate.truth import Branching, branch_jobs, measure, sample_frames

    points = sample_frames(write_traces(tmp_path), 30, seed=0)
    jobs = branch_jobs(points, 8, Branching(cap=60, seed=5))
    here = dict(measure(jobs, walk_stage, 1))
    there = {}
    for job, steps in measure(jobs, walk_stage, None, "ray", [tmp_path]):
        if not there:
            lose_a_node(cluster)
        there[job] = steps
    assert there == here


def test_pieces_under_way_on_a_lost_node_are_done_by_another(cluster, caplog):
    """With a node that comes back first; it is at work when it goes."""
    cluster.add_node(num_cpus=1)
    found = {}
    with RayExecutor(thousand, 2) as executor:
        pieces = iter([*map(Add, range(4)), *(SlowAdd(n, 1.0) for n in range(4, 12))])
        for piece, result in executor.results(pieces):
            found[piece.number] = result
            if len(found) == 6:
                lose_a_node(cluster)
    assert found == {n: 1000 + n for n in range(12)}
    assert any("its worker was lost" in record.getMessage() for record in caplog.records)


# ---- addresses ----------------------------------------------------------------------------------


def test_an_address_nobody_answers_is_said_soon(monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = time.monotonic()
    for address, named in ((f"ray://127.0.0.1:{port}", None), (None, f"127.0.0.1:{port}")):
        monkeypatch.setenv("RAY_ADDRESS", named or "")
        with pytest.raises(GoalwardError, match=f"nobody answers at the Ray address .*{port}"):
            RayExecutor(thousand, 1, address=address).__enter__()
    assert time.monotonic() - started < 15


def test_what_is_no_address():
    with pytest.raises(GoalwardError, match="ray://head: not an address of a Ray cluster"):
        RayExecutor(thousand, 1, address="ray://head").__enter__()


def test_without_an_address_a_cluster_is_started_here_and_stops_mean_what_they_meant(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    before = signal.getsignal(signal.SIGTERM)
    with RayExecutor(thousand, 2) as executor:
        assert signal.getsignal(signal.SIGTERM) is before
        assert numbers(executor.results(iter([Add(1), Add(2)]))) == {1: 1001, 2: 1002}
    import ray

    assert not ray.is_initialized()
