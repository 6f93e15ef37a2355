"""What is said of tables of outcomes that cannot be compared, word by word."""

import re
from pathlib import Path

import pytest

from goalward import GoalwardError
from goalward.metrics.comparing.rates.exact_tests import stratified_test
from goalward.metrics.comparing.tables.outcome_file import read_outcomes


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """What is said of files, given as name=text."""
    monkeypatch.chdir(tmp_path)

    def words(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.csv").write_text(text)
        paths = [tmp_path.joinpath(f"{name}.csv").relative_to(tmp_path) for name in files]
        with pytest.raises(GoalwardError) as error:
            read_outcomes(paths)
        return str(error.value)

    return words


OTHER = "success\ntrue\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("success,steps\ntrue,\n", "steps is empty; every row needs an entry, or leave the column"),
        ("success,steps\ntrue,nan\n", "steps is 'nan'; every row needs an entry, or leave"),
        ("success,seed\ntrue,\n", "seed is empty; every row needs an entry, or leave the column"),
        ("success,task\ntrue,\n", "task is empty; every row needs an entry$"),
        ("success\nnone\n", "success is 'none'; every row needs an entry$"),
        ("outcome\nnone\n", "outcome is 'none'; every row needs an entry$"),
        ("outcome\nlost\n", "outcome is 'lost'; wanted success, time_out or failure$"),
        ("success,time_out\nfalse,maybe\n", "time_out is 'maybe'; wanted true or false$"),
        ("success,time_out\nfalse,\n", "time_out is empty; every row needs an entry, or leave"),
        (
            "success,steps,steps_to_success\ntrue,9,x\n",
            "steps_to_success is 'x'; wanted a whole number of steps$",
        ),
        (
            "success,steps,steps_to_success\ntrue,9,12\n",
            "success after 12 steps of an episode with 9$",
        ),
    ],
)
def test_what_is_wrong_with_a_row_and_where(refused, text, message):
    assert re.search(rf"^a\.csv, line 2: {message}", refused(a=text, b=OTHER))


def test_rollouts_that_stand_there_twice(refused):
    twice = "first in a.csv, line 2; remove one, or tell them apart by a column seed"
    header, row = "success,task,initial_state,seed", "true,lift,7,3"
    assert refused(a=f"{header}\n{row}\n{row}\n", b=f"{header}\n{row}\n") == (
        f"a.csv, line 3: 'a' has initial state 7 with seed 3 in task 'lift' twice, {twice}"
    )
    header, row = "success,initial_state", "true,7"
    assert refused(a=f"{header}\n{row}\n{row}\n", b=f"{header}\n{row}\n") == (
        f"a.csv, line 3: 'a' has initial state 7 twice, {twice}"
    )
    assert refused(a="success,episode\ntrue,5\ntrue,5\n", b=OTHER) == (
        f"a.csv, line 3: 'a' has episode 5 twice, {twice}"
    )


def test_one_policy_is_none_to_compare(refused):
    assert refused(a=OTHER) == (
        "a.csv: wanted two policies or more to compare, found only 'a'; name one more file, "
        "or add a column policy"
    )
    both = "success,policy\ntrue,x\n"
    assert refused(a=both, b=both.replace("true", "false")).startswith(
        "a.csv, b.csv: wanted two policies or more to compare, found only 'x'; "
    )


def test_no_file_is_none_to_compare():
    with pytest.raises(GoalwardError, match="found only none; name one more file"):
        read_outcomes([])


def test_tasks_that_one_file_alone_names(refused):
    assert refused(a="success,task\ntrue,lift\n", b=OTHER) == (
        "b.csv: no column task, but a.csv has one; rollouts of unknown tasks cannot be compared "
        "with it"
    )


def test_a_name_that_is_taken(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.csv").write_text(OTHER)
    first, second = tmp_path / "x" / "same.csv", tmp_path / "y" / "same.csv"
    with pytest.raises(GoalwardError) as error:
        read_outcomes([first, second])
    assert str(error.value) == (
        f"{second}: no column policy, and the name 'same' is taken by {first}; add the column, "
        "or rename one of them"
    )


def test_a_folder_is_named_after_itself_wherever_one_stands(tmp_path, monkeypatch):
    for name in ("first.v1", "second.v2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "outcomes.csv").write_text(OTHER)
    monkeypatch.chdir(tmp_path / "first.v1")
    table = read_outcomes([Path(), Path("../second.v2")])
    assert [policy.policy for policy in table.policies] == ["first.v1", "second.v2"]


def test_a_folder_without_outcomes_names_three_of_its_files(tmp_path):
    for name in "dcba":
        (tmp_path / f"{name}.csv").write_text(OTHER)
    with pytest.raises(
        GoalwardError,
        match=r"no outcomes\.csv in this folder; name its csv files: a\.csv, b\.csv, c\.csv and 1 "
        r"more$",
    ):
        read_outcomes([tmp_path])


def test_to_pair_by_seeds_is_to_pair_by_them_alone(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("success,policy,seed\ntrue,x,1\ntrue,y,1\n")
    first, second = read_outcomes([path], pair_by="seed").policies
    assert [episode.initial_state for episode in first.episodes + second.episodes] == ["1", "1"]
    assert [episode.seed for episode in first.episodes + second.episodes] == [None, None]
    # Another column leaves the seed what it is.
    path.write_text("success,policy,seed,start\ntrue,x,1,5\ntrue,y,2,5\n")
    policies = read_outcomes([path], pair_by="start").policies
    assert [p.episodes[0].seed for p in policies] == ["1", "2"]


def test_steps_of_successes_alone_compare_nothing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("success,policy,steps_to_success\ntrue,x,5\nfalse,y,\n")
    assert [p.episodes[0].steps for p in read_outcomes([path]).policies] == [None, None]
    path.write_text("success,policy,steps,steps_to_success\ntrue,x,9,5\nfalse,y,9,\n")
    assert [p.episodes[0].steps for p in read_outcomes([path]).policies] == [5, 9]


def test_equal_tasks_are_as_equal_as_can_be():
    """Twice the smaller tail is more than 1, which no chance is."""
    assert stratified_test([2, 2], [4, 4], [2, 2], [4, 4]) == 1
