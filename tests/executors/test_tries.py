"""Who does which piece: on other machines where one has trouble, and who rests meanwhile."""

import logging
from dataclasses import dataclass

import pytest

from executors.pieces import Add
from goalward.executors import tries as tries_module
from goalward.executors.piece import Answer, PiecesFailed
from goalward.executors.tries import Tries
from goalward.progress import Setbacks

FULL = Answer(problem="no space left", is_passing=True)


@dataclass(eq=False)
class Hand:
    name: str
    machine: str

    def __repr__(self):
        return self.name


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(tries_module.time, "monotonic", lambda: now[0])
    return now


def told(tries, idle, crew=None, **options):
    pairs = tries.handed_out(idle, idle if crew is None else crew, **options)
    return [(worker.name, piece.number) for worker, piece in pairs]


def test_a_piece_goes_to_another_machine_before_another_worker_of_the_same():
    a, b, c = Hand("a", "one"), Hand("b", "one"), Hand("c", "two")
    tries = Tries(map(Add, range(9)))
    assert told(tries, [a]) == [("a", 0)]
    tries.not_done(Add(0), a, FULL)
    # c is at work, and the only one of another machine: the others go on with other pieces.
    assert told(tries, [a, b], [a, b, c]) == [("a", 1), ("b", 2)]
    assert told(tries, [c], [a, b, c]) == [("c", 0)]
    tries.not_done(Add(0), c, FULL)
    # No machine is left; b itself has not tried.
    assert told(tries, [c, b], [a, b, c]) == [("c", 3), ("b", 0)]


def test_a_piece_that_all_have_failed_is_given_up_with_its_name():
    a, b = Hand("a", "one"), Hand("b", "two")
    heard = []
    tries = Tries(map(Add, range(1)), lambda piece, why: heard.append((piece.number, str(why))))
    for worker in (a, b):
        assert told(tries, [worker], [a, b]) == [(worker.name, 0)]
        tries.not_done(Add(0), worker, FULL)
    assert told(tries, [a, b]) == []
    assert heard == [(0, "number 0: no space left, 2 times")]
    assert not tries.is_waiting


def test_who_had_trouble_twice_in_a_row_rests_a_minute_while_others_work(clock):
    a, b = Hand("a", "one"), Hand("b", "two")
    tries = Tries(map(Add, range(99)))
    for number in range(2):
        assert told(tries, [a], [a, b]) == [("a", number)]
        tries.not_done(Add(number), a, FULL)
    assert told(tries, [a], [a, b]) == []
    assert told(tries, [b], [a, b]) == [("b", 0)]
    tries.done(Add(0), b)
    clock[0] += 61
    # One try: still in trouble, it rests again. What it has failed it is not given.
    assert told(tries, [a], [a, b]) == [("a", 2)]
    tries.not_done(Add(2), a, FULL)
    assert told(tries, [a], [a, b]) == []
    clock[0] += 61
    assert told(tries, [a], [a, b]) == [("a", 3)]
    tries.done(Add(3), a)
    assert told(tries, [a], [a, b]) == [("a", 4)]


def test_where_all_have_trouble_it_is_soon_known():
    """A full disk that all share: nobody rests, the rest is not tried, and it is said once."""
    crew = [Hand("a", "one"), Hand("b", "two")]
    tries, num_tried = Tries(map(Add, range(1000))), 0
    with pytest.raises(PiecesFailed) as failed:
        while True:
            for worker, piece in tries.handed_out(crew, crew):
                num_tried += 1
                problem = f"out/{piece.number}: no space left"
                answer = Answer(problem=problem, is_passing=True, machine=worker.machine)
                tries.not_done(piece, worker, answer)
    assert num_tried < 50
    assert "out/0: no space left, on two: 20 pieces, each tried 2 times (" in str(failed.value)
    assert str(failed.value).count("no space") == 1


def test_what_failed_and_what_is_tried_again_is_counted():
    a, b = Hand("a", "one"), Hand("b", "two")
    heard = []
    tries = Tries(map(Add, range(9)), lambda *_: None, heard.append)
    assert told(tries, [a, b]) == [("a", 0), ("b", 1)]
    tries.not_done(Add(0), a, FULL)
    tries.lost(Add(1), "its worker died")
    assert heard == [Setbacks(0, 1), Setbacks(0, 2)]
    assert told(tries, [a, b]) == [("a", 1), ("b", 0)]
    # Under way it still counts; done or given up it does not.
    tries.done(Add(1), a)
    assert heard[2:] == [Setbacks(0, 1)]
    tries.not_done(Add(0), b, FULL)
    assert heard[3:] == [Setbacks(0, 1)]
    assert told(tries, [a, b]) == [("a", 2), ("b", 3)]
    assert heard[4:] == [Setbacks(1, 0)]
    tries.not_done(Add(2), a, Answer(problem="a fault"))
    tries.done(Add(3), b)
    assert heard[5:] == [Setbacks(2, 0)]


def test_a_piece_waits_for_who_is_coming():
    """A worker in place of one that died may do what those that live have failed."""
    a, b = Hand("a", "one"), Hand("b", "two")
    tries = Tries(map(Add, range(1)))
    assert told(tries, [a]) == [("a", 0)]
    tries.not_done(Add(0), a, FULL)
    assert told(tries, [a], is_anyone_coming=True) == []
    assert tries.is_waiting
    assert told(tries, [b], [a, b]) == [("b", 0)]


def test_the_last_line_before_the_stop_does_not_say_that_others_go_on(caplog):
    worker = Hand("a", "one")
    tries = Tries(map(Add, range(99)))
    with caplog.at_level(logging.WARNING), pytest.raises(PiecesFailed):
        while True:
            for _, piece in tries.handed_out([worker], [worker]):
                tries.not_done(piece, worker, Answer(problem="a fault"))
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0] == "number 0: a fault (1 failed; the others go on)"
    assert lines[-1] == "number 19: a fault (20 failed; 20 in a row: the rest is not tried)"
