"""`goalward curate`: what is printed, and every refusal from the command line."""

from pathlib import Path

import pytest

from exports.conftest import told_run
from exports.curating.conftest import EPISODES, write_data
from goalward.cli.app import app
from goalward.errors import GoalwardError, speaking_of_flags
from goalward.metrics.trust import Grade


@pytest.fixture
def data(tmp_path) -> Path:
    return write_data(tmp_path / "data")


@pytest.fixture
def run(tmp_path, data) -> Path:
    return told_run(tmp_path / "run", data, EPISODES)


def curate(run, *words):
    with speaking_of_flags():
        app(["curate", str(run), *map(str, words)], result_action="return_value")


def test_what_is_left_is_told_by_task_and_outcome_and_rule(run, capsys):
    curate(run, "--drop", "not-success,after-goal")
    printed = capsys.readouterr()
    lines = [" ".join(line.split()) for line in printed.out.splitlines()]
    assert lines[:3] == [
        "363 of 625 frames are kept (58 %).",
        "task outcome episodes frames weight",
        "stack the cubes success 2 of 2 201 of 221 35 % to 55 %",
    ]
    assert "pour time-out 0 of 1 0 of 121 19 % to 0 %" in lines
    assert lines[-2:] == [
        "not-success: 242 frames in 2 episodes: episodes that did not succeed",
        "after-goal: 20 frames in 1 episodes: what was filmed after the goal",
    ]
    assert f"next: {run / 'curation' / 'commands.sh'}" in printed.err


def test_none_drops_nothing(run, capsys):
    curate(run, "--drop", "none", "--weigh", "advantage")
    assert "625 of 625 frames are kept (100 %)." in capsys.readouterr().out


def test_kept_by_name(run, capsys):
    curate(run, "--drop", "not-success", "--keep", "2,4")
    assert "625 of 625" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--drop", "slow"), "--drop: no rule 'slow'; there are not-success, after-goal"),
        (("--keep", "9"), "no episode 9"),
        (("--method", "sarm"), "no method 'sarm'"),
        (("--data", "/nowhere"), "/nowhere: .*say with --data where it lies now"),
    ],
)
def test_what_cannot_be_is_told_in_flags(run, words, message):
    with pytest.raises(GoalwardError, match=message):
        curate(run, *words)
    assert not (run / "curation").exists()


def test_values_that_nobody_trusts(tmp_path, data, capsys):
    run = told_run(tmp_path / "doubted", data, EPISODES, grade=Grade.NONE)
    with pytest.raises(GoalwardError, match="--anyway goes by them all the same, and rules that"):
        curate(run)
    curate(run, "--anyway")
    assert "note: Do not rely on the values" in capsys.readouterr().err
