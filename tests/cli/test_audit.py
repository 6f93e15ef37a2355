"""`goalward audit` in words, csv and json."""

import csv
import io
import json

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.cli.app import app
from goalward.errors import GoalwardError
from goalward.rollouts.episode import Outcome
from goalward.runs.folder.stored import write_run


@pytest.fixture
def run(tmp_path):
    """Ten successes, one of which never looks near, and ten time-outs."""
    outcomes = [Outcome.SUCCESS] * 10 + [Outcome.TIME_OUT] * 10
    episodes = [drawn_episode(str(i), 41, outcome=o) for i, o in enumerate(outcomes)]
    never = np.full((2, 41), np.inf)
    steps = [countdown(41) if i < 10 and i != 3 else never for i in range(20)]
    drawn, _ = drawn_run(episodes, {"mc": steps}, tmp_path / "run")
    write_run(drawn)
    return drawn.folder.path


def audit(*words):
    app(["audit", *map(str, words)], result_action="return_value")


def test_words_name_the_episode_the_reason_and_what_to_do(run, capsys):
    audit(run)
    shown = capsys.readouterr()
    assert "1 of 20 episodes to look at: 1 success that never looked near the goal." in shown.out
    assert (
        "called a success, but never looked near the goal: success within 2 steps 0 %" in shown.out
    )
    assert f"--labels {run}/audit/labels.csv" in shown.out
    # The rollouts were in memory, so there is no picture.
    assert "sheet.png" not in shown.out
    assert "findings and a list of labels:" in shown.err
    assert "Copies were not looked for" in shown.out
    assert f"{run}/audit" in shown.err


def test_csv_and_json_hold_the_findings(run, capsys):
    audit(run, "--to", "csv")
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["episode"], row["finding"], row["suggested"]) == (
        *("3", "success_never_near", "time_out"),
    )
    audit(run, "--to", "json")
    told = json.loads(capsys.readouterr().out)
    assert told["findings"][0]["episode"] == "3"
    assert len(told["episodes"]) == 20


def test_of_a_data_set_copies_alone_and_nothing_is_written(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    audit("demo")
    shown = capsys.readouterr().out
    assert "Nothing to look at among 48 episodes." in shown
    assert "that takes values: `goalward evaluate` makes them" in shown
    assert list(tmp_path.iterdir()) == []


def test_a_data_set_that_is_compared_with_itself(capsys):
    audit("demo", "--against", "demo", "--top", "1")
    shown = capsys.readouterr().out
    assert "48 of 48 episodes to look at" in shown
    assert "has the same pictures as episode" in shown
    assert "And 47 more." in shown


def test_bad_arguments(run, tmp_path):
    with pytest.raises(GoalwardError, match="--top must be at least 1"):
        audit(run, "--top", "0")
    with pytest.raises(GoalwardError, match="nothing_here"):
        audit(tmp_path / "nothing_here")
    with pytest.raises(GoalwardError, match="--against"):
        audit("demo", "--against", tmp_path)
    with pytest.raises(GoalwardError, match="are read as it read them"):
        audit(run, "--horizon", "12")
