"""Requests to stop: held back until nothing is lost, and SIGTERM told from Ctrl-C."""

import os
import signal

import pytest

from goalward.stops import Stopped, listen_for_stops, stops_held_back


@pytest.fixture
def listening():
    before = signal.getsignal(signal.SIGTERM)
    listen_for_stops()
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("number", "kind"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Stopped)]
)
def test_a_stop_waits_for_the_next_look(listening, number, kind):
    reached = False
    with pytest.raises(KeyboardInterrupt) as found, stops_held_back() as look:
        look()
        os.kill(os.getpid(), number)
        reached = True
        look()
    assert reached
    assert type(found.value) is kind
    with pytest.raises(kind):
        os.kill(os.getpid(), number)


def test_a_stop_that_nobody_looked_for_comes_at_the_end(listening):
    done = []
    with pytest.raises(Stopped):
        with stops_held_back():
            os.kill(os.getpid(), signal.SIGTERM)
            done.append("all of it")
    assert done == ["all of it"]


def test_a_second_stop_does_not_wait(listening):
    with pytest.raises(KeyboardInterrupt), stops_held_back():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("still there")


def test_who_imports_goalward_keeps_its_own_way_with_sigterm():
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    with stops_held_back():
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
