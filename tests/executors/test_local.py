"""Processes of this machine: what they give, and what a failure or a death among them costs."""

import logging
import os
import subprocess
import sys
import time

import psutil
import pytest

from executors.pieces import (
    Add,
    Deadly,
    FullDisk,
    FullForOne,
    Poisoned,
    SlowAdd,
    Tell,
    Unreadable,
    no_build,
    numbers,
    thousand,
    vanishing_build,
)
from goalward.errors import GoalwardError
from goalward.executors.local import LocalExecutor
from goalward.executors.piece import PiecesFailed
from goalward.executors.tries import MOST_TRIES
from goalward.progress import Setbacks


@pytest.mark.parametrize("num_workers", [1, 3])
def test_every_piece_is_done_once_by_what_the_worker_built(num_workers):
    with LocalExecutor(thousand, num_workers) as executor:
        found = [result for _, result in executor.results(iter([Add(n) for n in range(12)]))]
        again = numbers(executor.results(iter([Add(5)])))
    assert sorted(found) == [1000 + n for n in range(12)]
    assert again == {5: 1005}


def test_quick_pieces_do_not_wait_for_slow_ones():
    pieces = [SlowAdd(0, seconds=1.0), *map(Add, range(1, 6))]
    with LocalExecutor(thousand, 2) as executor:
        order = [piece.number for piece, _ in executor.results(iter(pieces))]
    assert order[-1] == 0


def test_a_piece_is_taken_only_when_a_worker_is_free_for_it():
    """What was found so far can decide whether there is another one."""
    done = []

    def pieces():
        for number in range(100):
            if len(done) >= 3:
                return
            yield Add(number)

    with LocalExecutor(thousand, 2) as executor:
        for piece, _ in executor.results(pieces()):
            done.append(piece.number)
    assert 3 <= len(done) <= 5


def test_workers_have_one_thread_each_and_this_process_keeps_its_own(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with LocalExecutor(thousand, 1) as executor:
        ((_, told),) = executor.results(iter([Tell()]))
    assert told["threads"] == "1"
    assert told["process"] != os.getpid()
    assert os.environ["OMP_NUM_THREADS"] == "7"


# ---- faults -------------------------------------------------------------------------------------


def test_a_worker_that_is_killed_loses_its_piece_and_another_does_it(tmp_path, caplog):
    pieces = [Add(0), Deadly(1, tmp_path / "killed", times=MOST_TRIES - 1), Add(2), Add(3)]
    with LocalExecutor(thousand, 2) as executor:
        found = numbers(executor.results(iter(pieces)))
    assert found == {n: 1000 + n for n in range(4)}
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert told == ["number 1: its worker process ended with exit code -9; it is tried again"] * 2


def test_a_piece_that_kills_every_worker_is_given_up_and_named(tmp_path):
    pieces = [Add(0), Deadly(1, tmp_path / "killed"), Add(2), Add(3)]
    found = {}
    with LocalExecutor(thousand, 2) as executor, pytest.raises(PiecesFailed) as failed:
        found.update((p.number, result) for p, result in executor.results(iter(pieces)))
    assert str(failed.value) == (
        "number 1: its worker process ended with exit code -9, 3 times "
        "(1 of 4 failed, the others are done)"
    )
    assert len((tmp_path / "killed").read_bytes()) == MOST_TRIES


def test_a_poisoned_piece_stops_no_other_and_is_named_at_the_end():
    pieces = [Poisoned(n) if n in (3, 7) else Add(n) for n in range(10)]
    found = {}
    with LocalExecutor(thousand, 2) as executor, pytest.raises(PiecesFailed) as failed:
        for piece, result in executor.results(iter(pieces)):
            found[piece.number] = result
    assert found == {n: 1000 + n for n in range(10) if n not in (3, 7)}
    told = str(failed.value)
    assert told.startswith("ValueError: cannot be added (pieces.py, line ")
    assert told.endswith("): 2 pieces (number 3; number 7) (2 of 10 failed, the others are done)")


def test_who_wants_to_hear_of_failures_hears_and_gets_no_error():
    heard, counted = [], []
    pieces = [Poisoned(n) if n == 3 else Add(n) for n in range(6)]
    with LocalExecutor(thousand, 2) as executor:
        results = executor.results(
            iter(pieces), lambda piece, why: heard.append((piece, str(why))), counted.append
        )
        assert sorted(numbers(results)) == [0, 1, 2, 4, 5]
    assert counted == [Setbacks(num_failed=1)]
    ((piece, why),) = heard
    assert piece == Poisoned(3)
    assert why.startswith("number 3: ValueError: cannot be added")


def test_where_everything_fails_the_rest_is_not_tried():
    asked = []

    def pieces():
        for number in range(1000):
            asked.append(number)
            yield Poisoned(number)

    with LocalExecutor(thousand, 2) as executor, pytest.raises(PiecesFailed, match="15 others"):
        list(executor.results(pieces(), lambda piece, why: None))
    assert len(asked) < 30


def test_trouble_of_the_machine_is_not_tried_again_on_the_same_one(tmp_path):
    """A full disk is as full for the next process of this machine."""
    with LocalExecutor(thousand, 1) as executor, pytest.raises(PiecesFailed, match="No space left"):
        list(executor.results(iter([FullDisk(0, tmp_path / "tried")])))


def test_a_worker_in_trouble_does_not_use_up_the_pieces(tmp_path):
    """It fails them faster than others do them; it rests, and every piece is done."""
    pieces = [FullForOne(n, tmp_path / "full") for n in range(40)]
    with LocalExecutor(thousand, 2) as executor:
        assert numbers(executor.results(iter(pieces))) == {n: 1000 + n for n in range(40)}


def test_a_piece_that_a_worker_cannot_read_says_why(tmp_path):
    heard = {}
    pieces = [Add(0), Unreadable(1), Add(2)]
    with LocalExecutor(thousand, 1) as executor:
        results = executor.results(iter(pieces), lambda p, why: heard.update({p.number: str(why)}))
        assert numbers(results) == {0: 1000, 2: 1002}
    assert heard[1].startswith(
        "number 1: its worker cannot read it: ModuleNotFoundError: No module named 'my_methods'"
    )


def test_a_worker_that_cannot_be_built_says_why():
    with LocalExecutor(no_build, 2) as executor:
        with pytest.raises(GoalwardError, match=r"^no weights for the worker$"):
            list(executor.results(iter([Add(0), Add(1)])))


def test_a_worker_that_dies_while_it_is_built_is_not_started_for_ever():
    with LocalExecutor(vanishing_build, 1) as executor:
        with pytest.raises(GoalwardError, match="number 0: its worker process ended .* code 3"):
            list(executor.results(iter([Add(0)])))


def test_whoever_wants_no_more_gets_no_old_answers():
    """What was under way goes on in nobody, and its answer is not that of the next piece."""
    with LocalExecutor(thousand, 2) as executor:
        for _ in executor.results(iter([Add(0), SlowAdd(1, 0.5), SlowAdd(2, 60), SlowAdd(3, 60)])):
            break
        assert numbers(executor.results(map(Add, range(4, 8)))) == {
            n: 1000 + n for n in range(4, 8)
        }
        assert len(executor._workers) == 2


def test_a_process_that_cannot_be_started_leaves_none_behind(monkeypatch):
    started = LocalExecutor._started
    workers = []

    def two_at_most(self):
        if len(workers) == 2:
            raise BlockingIOError("Resource temporarily unavailable")
        workers.append(started(self))
        return workers[-1]

    monkeypatch.setattr(LocalExecutor, "_started", two_at_most)
    with pytest.raises(BlockingIOError):
        LocalExecutor(thousand, 3).__enter__()
    assert [worker.process.is_alive() for worker in workers] == [False, False]


def test_no_workers_are_refused():
    with pytest.raises(GoalwardError, match="num_workers=0: must be at least 1"):
        LocalExecutor(thousand, 0)


def test_workers_end_with_the_process_that_started_them():
    """In the middle of a piece too, which would take minutes."""
    code = (
        "from executors.pieces import SlowAdd, thousand\n"
        "from goalward.executors.local import LocalExecutor\n"
        "if __name__ == '__main__':\n"
        "    with LocalExecutor(thousand, 2) as executor:\n"
        "        for piece, _ in executor.results(iter([SlowAdd(n, 90 * n) for n in range(4)])):\n"
        "            print(piece, flush=True)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    driver = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert driver.stdout is not None
    assert driver.stderr is not None
    assert driver.stdout.readline().startswith("number")
    workers = psutil.Process(driver.pid).children(recursive=True)
    assert len(workers) >= 2
    driver.kill()
    driver.wait()
    driver.stdout.close()
    until = time.monotonic() + 20
    while any(worker.is_running() and worker.status() != "zombie" for worker in workers):
        assert time.monotonic() < until, "workers outlive their driver"
        time.sleep(0.1)
    assert driver.stderr.read() == ""
    driver.stderr.close()
