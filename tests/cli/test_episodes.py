"""`goalward episodes`: a table that fits, and csv and json that hold everything."""

import csv
import io
import json

import numpy as np
import pytest
from rollout_files.drawn_runs import drawn_episode, drawn_run

from goalward.cli.app import app
from goalward.cli.episodes import episodes_command
from goalward.errors import GoalwardError
from goalward.rollouts.episode import Outcome
from goalward.runs.folder.stored import write_run

TASK = "put both moka pots on the stove and close the drawer"


@pytest.fixture
def run(tmp_path):
    """Twelve time-outs with ever larger setbacks, of one task, and a success of another."""
    episodes = [drawn_episode(str(i), 1001, fps=8.0, task="fold, twice") for i in range(12)]
    success = drawn_episode("won", 1001, outcome=Outcome.SUCCESS, fps=8.0, task=TASK)
    falls = [np.full((1, 1001), 400.0) for _ in episodes]
    for i, steps in enumerate(falls):
        steps[:, 600:] = 700.0 + 10 * i
    steps = {"good": [*falls, np.arange(1001.0)[None, ::-1]]}
    drawn, _ = drawn_run([*episodes, success], steps, tmp_path / "run", learned_from=["11"])
    write_run(drawn)
    return drawn.folder.path


def ids(capsys, run, *words):
    app(["episodes", str(run), "--to", "json", *words], result_action="return_value")
    return [row["id"] for row in json.loads(capsys.readouterr().out)]


def test_ten_rows_with_the_largest_setback_first(run, capsys):
    episodes_command(run)
    heading, *rows = lines = capsys.readouterr().out.splitlines()
    rows, notes = rows[:10], lines[11]
    assert heading.split()[:5] == ["episode", "outcome", "frames", "seconds", "value"]
    assert rows[0].split()[:5] == ["11", "*", "time-out", "1001", "125.1"]
    assert "410 at 600" in rows[0]
    assert [row.split()[0] for row in rows] == [str(i) for i in range(11, 1, -1)]
    assert "10 of 13 episodes; --top shows more; * learned from" in notes


def test_the_table_fits_into_100_columns_with_all_there_is(run, capsys):
    episodes_command(run, sort="id", top=13)
    rows = capsys.readouterr().out.splitlines()[:14]
    assert max(map(len, rows)) <= 100
    assert "put both moka…" in rows[-1]
    assert "on its way" in rows[1]
    assert "300 at 600" in rows[1]


def test_a_doubt_stands_below(run, capsys):
    episodes_command(run)
    assert "Do not rely on what the values of good say here" in capsys.readouterr().out


def test_csv_and_json_hold_every_episode_and_column(run, capsys):
    episodes_command(run, to="json")
    as_json = json.loads(capsys.readouterr().out)
    episodes_command(run, to="csv")
    as_csv = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(as_json) == len(as_csv) == 13
    assert list(as_json[0]) == list(as_csv[0])
    assert as_json[0]["setback_steps"] == 410
    first = as_csv[0]
    assert (first["id"], first["held_out"], first["setback_steps"]) == ("11", "false", "410")
    assert (first["seconds"], first["goal_frame"], first["verdict"]) == ("125.125", "", "")
    assert as_csv[1]["verdict"] == "on_its_way"


def test_outcomes_tasks_and_order_are_chosen(run, capsys):
    assert ids(capsys, run, "--outcome", "success") == ["won"]
    assert len(ids(capsys, run, "--outcome", "time-out,success")) == 13
    assert ids(capsys, run, "--task", "MOKA") == ["won"]
    # A comma belongs to the text of a task.
    assert len(ids(capsys, run, "--task", "fold, twice")) == 12
    assert ids(capsys, run, "--sort", "steps", "--top", "1") == ["won"]
    assert ids(capsys, run, "--sort", "id", "--reverse", "--top", "2") == ["won", "11"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top": 0}, "--top must be at least 1, got 0"),
        ({"outcome": ("won",)}, "--outcome: no outcome 'won'; outcomes: success, time_out, fail"),
        ({"task": "sew"}, "--task: no task has 'sew' in its text; tasks: fold, twice, put both"),
    ],
)
def test_what_is_refused(run, options, message):
    with pytest.raises(GoalwardError, match=message):
        episodes_command(run, **options)
