"""What is said of work under way where there is no terminal."""

import logging
from types import SimpleNamespace

import pytest

from goalward import progress
from goalward.progress import duration, progress_bar, training_bar


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
            update(100, 1000)
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
    assert told(caplog) == ["training, 0 %", "training, 1 %, about 2.2 h left"]


def test_pieces_that_failed_are_counted(clock, caplog) -> None:
    caplog.set_level(logging.INFO, "goalward")
    with progress_bar("embedding", unit="frames") as update:
        clock.s += 40
        update(200, 1000, 3)
    assert told(caplog)[0].startswith("embedding, 3 failed, 200 of 1,000 frames, 20 %, about ")


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
    )
    with training_bar() as update:
        clock.s += 150
        update(now)
    assert told(caplog) == [
        "training 25 networks, stage 1 of 2 (dark, bright), 38 %, about 4.1 min left"
    ]


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
