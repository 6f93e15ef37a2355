"""What is said of work under way: bars on a terminal, lines where there is none."""

import logging
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from goalward import progress
from goalward.pace import Pace
from goalward.progress import Setbacks, duration, progress_bar, training_bar


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(s=100.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now.s)
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: False, raising=False)
    return now


def told(caplog):
    return [record.getMessage() for record in caplog.records]


def test_a_line_every_half_minute_and_none_for_quick_work(clock, caplog) -> None:
    caplog.set_level(logging.INFO, "goalward")
    with progress_bar("embedding", unit="frames") as update:
        for _ in range(25):
            update(0, 1000)
            clock.s += 1
        assert told(caplog) == []
        clock.s += 10
        update(200, 1000)
        update(201, 1000)
    assert told(caplog) == ["embedding, 200 of 1,000 frames, 20 %, about 2.3 min left"]


def test_a_first_slow_step_is_no_forecast(clock, caplog) -> None:
    caplog.set_level(logging.INFO, "goalward")
    with progress_bar("training") as update:
        clock.s += 40
        update(1, 1000)
        clock.s += 40
        update(10, 1000)
    assert told(caplog) == ["training, 0 %", "training, 1 %, about 1.2 h left"]


def test_what_was_there_already_is_no_forecast(clock, caplog) -> None:
    """900 of 1,000 futures are there from the day before; one more takes four seconds."""
    caplog.set_level(logging.INFO, "goalward")
    with progress_bar("futures") as update:
        update(900, 1000)
        clock.s += 40
        update(910, 1000)
    assert told(caplog) == ["futures, 91 %, about 6 min left"]


def test_pieces_that_take_minutes_have_a_pace(clock) -> None:
    pace = Pace()
    pace.hear(0)
    assert (pace.per_second, pace.left(10_000)) == (None, None)
    clock.s += 150
    pace.hear(300)
    assert (pace.in_words("frames"), pace.left(10_000)) == ("2 frames/s", 4850)
    for _ in range(10):
        clock.s += 150
        pace.hear(pace._heard[-1][1] + 6000)
    # The last ten minutes alone.
    assert pace.in_words("frames") == "40 frames/s"


def test_quick_pieces_are_not_all_remembered(clock) -> None:
    pace = Pace()
    for so_far in range(20_001):
        pace.hear(so_far)
        clock.s += 0.01
    assert len(pace._heard) < 300
    assert pace.per_second == pytest.approx(100)


def test_pieces_that_failed_are_counted(clock, caplog) -> None:
    caplog.set_level(logging.INFO, "goalward")
    with progress_bar("embedding", unit="frames") as update:
        # Before there is anything to show.
        update.met(Setbacks(num_again=1))
        clock.s += 40
        update(200, 1000)
        clock.s += 40
        update.met(Setbacks(3, 2))
        update.met(Setbacks(3, 2))
        clock.s += 40
        update.met(Setbacks())
    first, second, third = told(caplog)
    assert first.startswith("embedding, 1 piece tried again, 200 of 1,000 frames, 20 %")
    assert second.startswith("embedding, 3 pieces failed, 2 tried again, 200 of 1,000 frames, 20 %")
    assert third.startswith("embedding, 200 of 1,000 frames, 20 %")


def test_training_says_networks_stage_share_and_time_left(clock, caplog) -> None:
    caplog.set_level(logging.INFO, "goalward")
    now = SimpleNamespace(
        stages=("dark", "bright"),
        num_runs=25,
        group=0,
        num_groups=2,
        steps=38,
        total_steps=100,
        loss=0.1,
        held_out_loss=None,
        setbacks=Setbacks(),
    )
    with training_bar() as update:
        clock.s += 150
        update(now)
        clock.s += 150
        now.setbacks = Setbacks(1, 2)
        update(now)
    first, second = told(caplog)
    assert first == "training 25 networks, stage 1 of 2 (dark, bright), 38 %, about 4.1 min left"
    assert second.startswith(
        "training 25 networks, stage 1 of 2 (dark, bright), 1 piece failed, 2 tried again, 38 %"
    )


def test_nothing_is_said_to_who_asked_for_nothing(clock, caplog) -> None:
    caplog.set_level(logging.INFO, "goalward")
    with progress_bar("embedding", is_shown=False) as update:
        clock.s += 100
        update(1, 2)
    assert told(caplog) == []


def test_durations() -> None:
    assert [duration(s) for s in (0.4, 59, 61, 299, 301, 3700)] == [
        "0 s",
        "59 s",
        "1.0 min",
        "5.0 min",
        "5 min",
        "1.0 h",
    ]


# ---- on a terminal -------------------------------------------------------------------------------

BARS = """
import time
from goalward import progress
progress._PATIENCE_S = 0.2
{}
"""

TWO_AT_A_TIME = """
with progress.progress_bar("reading videos") as read, progress.progress_bar("embedding") as embed:
    for n in range(1, 11):
        read(n, 10)
        time.sleep(0.05)
    for n in range(1, 11):
        embed(n, 10)
        time.sleep(0.1)
"""

ONE_SLOW_PIECE = """
with progress.progress_bar("embedding", unit="frames") as update:
    update(0, 500)
    time.sleep(1)
    update(200, 500)
    update.met(progress.Setbacks(3))
    time.sleep(0.5)
"""


def on_terminal(code: str) -> str:
    """What a program writes to a terminal."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-c", BARS.format(code)]
    with subprocess.Popen(command, stderr=theirs, env=environment) as process:
        os.close(theirs)
        written = b""
        try:
            while more := os.read(ours, 1 << 16):
                written += more
        except OSError:  # what Linux says where the other side is closed
            pass
        os.close(ours)
    assert process.returncode == 0
    return written.decode()


def test_of_two_bars_the_one_that_is_done_makes_room():
    written = on_terminal(TWO_AT_A_TIME)
    assert "reading videos" in written
    assert "10/10" in written
    assert written[written.rindex("reading videos") :].count("embedding") > 2


def test_a_bar_is_there_before_the_first_piece_is_done():
    written = on_terminal(ONE_SLOW_PIECE)
    first = written.index("0/500")
    assert first < written.index("embedding, 3 pieces failed")
    assert "frames/s" in written[first:]
    assert "left" in written[first:]
