"""Outcome files as people write them, and as they break them."""

import os

import pytest
from rollout_files.outcomes import matched

from goalward import GoalwardError, Outcome
from goalward.metrics.comparing.tables.outcome_file import read_outcomes

GOOD = "policy,episode,success,steps\na,0,true,40\na,1,false,100\nb,0,true,35\nb,1,true,60\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(folder, *texts, **options):
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"{'abc'[number]}.csv")
        paths[-1].write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_outcomes([path.relative_to(folder) for path in paths], **options)


def test_one_file_with_a_column_policy(folder):
    table = read(folder, GOOD)
    first, second = table.policies
    assert (first.policy, second.policy) == ("a", "b")
    assert [e.outcome for e in first.episodes] == [Outcome.SUCCESS, Outcome.TIME_OUT]
    assert [e.steps for e in first.episodes] == [40, 100]
    assert (first.num_successes, second.num_successes) == (1, 2)
    assert table.tasks == ("",)
    assert first.episodes[1].where == "a.csv, line 3"


def test_pipes_and_pointers_of_git_lfs_are_named(folder):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n"
    with pytest.raises(GoalwardError, match="^a.csv: is a pointer of Git LFS"):
        read(folder, pointer, GOOD)
    (folder / "a.csv").unlink()
    os.mkfifo(folder / "a.csv")
    with pytest.raises(GoalwardError, match="^a.csv: is no regular file"):
        read_outcomes([(folder / "a.csv").relative_to(folder)])


def test_an_episode_may_begin_at_its_goal(folder):
    table = read(folder, "policy,success,steps\na,true,0\nb,true,1.0\n")
    assert [policy.episodes[0].steps for policy in table.policies] == [0, 1]


def test_one_file_per_policy_as_libero_is_reported(folder):
    header = "task_index,task_instruction,trial_index,initial_state_id,rollout_seed,success,"
    header += "timeout,episode_steps,steps_to_success\n"
    table = read(
        folder,
        header + "0,put it,0,7,42,False,True,520,\n0,put it,1,8,43,True,False,267,267\n",
        header + '0,put it,0,8,42,True,False,90,90\n1,"open, then close",0,7,43,False,False,11,\n',
    )
    first, second = table.policies
    assert (first.policy, second.policy) == ("a", "b")
    assert table.tasks == ("0: put it", "1: open, then close")
    assert second.counts("0: put it") == (1, 1)
    assert [e.outcome for e in second.episodes] == [Outcome.SUCCESS, Outcome.FAILURE]
    assert (first.episodes[0].initial_state, first.episodes[0].seed) == ("7", "42")
    # State 8 of the first task is row 1 here and row 0 there; state 7 belongs to another task.
    assert matched(table) == [[1, 0]]


def test_a_run_folder_stands_for_its_outcomes(folder):
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "outcomes.csv").write_text("episode,success\n0,1\n1,0\n")
    table = read_outcomes([folder / "one", folder / "two"])
    assert [policy.policy for policy in table.policies] == ["one", "two"]
    (folder / "empty").mkdir()
    with pytest.raises(GoalwardError, match="empty: no outcomes.csv in this folder; name a csv"):
        read_outcomes([folder / "one", folder / "empty"])
    (folder / "empty" / "mine.csv").write_text("success\n1\n")
    with pytest.raises(GoalwardError, match="in this folder; name its csv files: mine.csv"):
        read_outcomes([folder / "one", folder / "empty"])
    with pytest.raises(GoalwardError, match="'outcomes' is taken by .*one.outcomes.csv"):
        read_outcomes([folder / name / "outcomes.csv" for name in ("one", "two")])


@pytest.mark.parametrize(
    "header",
    [
        "Policy, Episode Index ,Is-Success,Episode.Length",
        "MODEL,trial,succeeded,num_steps",
        "\ufeffcheckpoint,rollout_id,episode_success,steps",
    ],
)
def test_other_names_for_columns(folder, header):
    table = read(folder, GOOD.replace("policy,episode,success,steps", header))
    assert [p.num_successes for p in table.policies] == [1, 2]
    assert table.policies[1].episodes[1].steps == 60
    assert table.policies[1].episodes[1].episode == "1"


@pytest.mark.parametrize("yes", ["true", "True", "1", "1.0", "yes", "success"])
@pytest.mark.parametrize("no", ["false", "FALSE", "0", "no", "failure", "timeout"])
def test_words_for_success(folder, yes, no):
    table = read(folder, f"policy,success\na,{yes}\nb,{no}\n")
    assert [p.num_successes for p in table.policies] == [1, 0]
    # A two-valued column cannot tell a time-out from a failure.
    assert table.policies[1].episodes[0].outcome is Outcome.TIME_OUT


def test_outcomes_and_time_outs(folder):
    rows = "policy,outcome,timeout,steps\na,success,0,5\na,time-out,1,9\nb,failure,0,2\n"
    table = read(folder, rows)
    ended = [e.outcome for policy in table.policies for e in policy.episodes]
    assert ended == [Outcome.SUCCESS, Outcome.TIME_OUT, Outcome.FAILURE]


def test_success_before_the_episode_ended(folder):
    table = read(folder, "policy,success,steps,steps_to_success\na,1,90,40\nb,1,90,\nb,0,90,\n")
    assert [e.steps for policy in table.policies for e in policy.episodes] == [40, 90, 90]


def test_another_column_may_pair(folder):
    text = "policy,success,Start Pose\na,1,p\na,0,q\nb,1,q\nb,1,p\n"
    assert matched(read(folder, text)) == []
    assert matched(read(folder, text, pair_by="start pose")) == [[0, 1], [1, 0]]
    seeded = text.replace("Start Pose", "seed")
    assert matched(read(folder, seeded)) == []
    assert matched(read(folder, seeded, pair_by="seed")) == [[0, 1], [1, 0]]


def test_lines_that_end_and_begin_oddly(folder):
    table = read(folder, "\ufeff" + GOOD.replace("\n", "\r\n") + "\r\n , ,,\r\n")
    assert [len(policy.episodes) for policy in table.policies] == [2, 2]


def test_line_numbers_count_lines_of_the_file(folder):
    with pytest.raises(GoalwardError, match="a.csv, line 6: success is 'perhaps'"):
        read(folder, 'policy,success,task\n\na,1,"two\nlines"\nb,1,x\nb,perhaps,x\n')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.csv: the file is empty; wanted a header and a row per episode"),
        ("\ufeff\n\n", "a.csv: the file is empty"),
        ("policy,success\n", "a.csv: only a header; wanted a row per episode"),
        ("policy,steps\na,1\n", "a.csv: no column success or outcome; columns: policy, steps"),
        ("a,1,0\nb,0,1\n", "a.csv: no column success or outcome; columns: a, 1, 0"),
        ("policy;success\na;1\n", "a.csv: columns are separated by semicolons; wanted commas"),
        ("policy\tsuccess\na\t1\n", "a.csv: columns are separated by tabs; wanted commas"),
        ("# Notes\n\n1, 2\n", "a.csv: no column success or outcome; columns: #_notes"),
        ("success\n1\n0\n", "wanted two policies or more to compare, found only 'a'"),
        ("policy,success\nx,1\nx,0\n", "found only 'x'; name one more file, or add a column"),
        ("policy,success\na,maybe\n", "a.csv, line 2: success is 'maybe'; wanted true or false"),
        ("policy,success\na,0.7\n", "a.csv, line 2: success is '0.7'; wanted true or false"),
        ("policy,success\na,1\nb,\n", "a.csv, line 3: success is empty; every row needs an entry"),
        ("policy,success\na,1\n,1\n", "a.csv, line 3: policy is empty; every row needs an entry"),
        ("policy,success\na,nan\n", "a.csv, line 2: success is 'nan'; every row needs an entry"),
        ("policy,success,steps\na,1,\n", "a.csv, line 2: steps is empty; every row needs an entry"),
        ("policy,success,steps\na,1,NaN\n", "steps is 'NaN'; every row needs an entry, or leave"),
        ("policy,success,steps\na,1,-3\n", "line 2: steps is '-3'; wanted a whole number of steps"),
        ("policy,success,length\na,1,4.5\n", "line 2: length is '4.5'; wanted a whole number"),
        ("policy,success,steps\na,1,inf\n", "line 2: steps is 'inf'; wanted a whole number"),
        ("policy,success,task\na,1,\n", "line 2: task is empty; every row needs an entry"),
        ("policy,success,initial_state\na,1,\n", "line 2: initial_state is empty; every row needs"),
        ("policy,success,seed\na,1,null\n", "line 2: seed is 'null'; every row needs an entry"),
        ("policy,success,is_success\na,1,1\n", "success and is_success both mean success; keep"),
        ("policy,success,Success\na,1,1\n", "line 1: the column success stands there twice"),
        ("policy,outcome\na,false\n", "outcome is 'false'; wanted success, time_out or failure"),
        ("policy,outcome\na,won\n", "outcome is 'won'; wanted success, time_out or failure"),
        ("policy,success,timeout\na,0,timeout\n", "timeout is 'timeout'; wanted true or false"),
        ("policy,success,timeout\na,1,1\n", "timeout is true, but the episode is a success"),
        ("policy,success,outcome\na,1,failure\n", "success and outcome contradict each other"),
        ("policy,outcome,timeout\na,failure,1\n", "timeout is true, but the episode is a failure"),
        ("policy,success,steps,steps_to_success\na,1,5,7\n", "success after 7 steps of an episode"),
        ("policy,success\na,1,2\n", "a.csv, line 2: 3 cells, but the header has 2"),
        ("policy,success\na\n", "a.csv, line 2: 1 cell, but the header has 2"),
        ('policy,success\n"a,1\n', "a.csv, line 2: not a csv file from here on"),
        (b"policy,success\n\xff\xfe,1\n", "a.csv: cannot be read (it is no UTF-8 text)"),
        (GOOD + "a,1,true,40\n", "line 6: 'a' has episode 1 twice, first in a.csv, line 3"),
    ],
)
def test_tables_that_cannot_be_used(folder, text, message):
    with pytest.raises(GoalwardError) as caught:
        read(folder, text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("a,9,1,t,5,0", None),
        ("a,9,1,u,5,1", None),
        ("a,9,1,t,5,1", "'a' has initial state 5 with seed 1 in task 't' twice, first in a.csv"),
    ],
)
def test_one_start_counts_once(folder, row, what):
    text = f"policy,episode,success,task,initial_state,seed\na,0,1,t,5,1\nb,0,1,t,5,1\n{row}\n"
    if what is None:
        assert len(read(folder, text).policies[0].episodes) == 2
    else:
        with pytest.raises(GoalwardError, match=what):
            read(folder, text)


def test_the_same_file_twice(folder):
    (folder / "a.csv").write_text(GOOD)
    with pytest.raises(GoalwardError, match="a.csv: named twice"):
        read_outcomes([folder / "a.csv", folder / "." / "a.csv"])
    (folder / "b.csv").write_text(GOOD)
    with pytest.raises(GoalwardError, match="b.csv: holds the same as .*a.csv, to the last letter"):
        read_outcomes([folder / "a.csv", folder / "b.csv"])
    # One more line, and no copy; its first lines still are.
    (folder / "b.csv").write_text(GOOD + "b,2,true,60\n")
    with pytest.raises(GoalwardError, match="'a' has episode 0 twice"):
        read_outcomes([folder / "a.csv", folder / "b.csv"])


def test_copies_that_are_each_a_policy_of_their_own_may_be_alike(folder):
    """Ten rollouts of success alone may well be equal."""
    table = read(folder, "success\n1\n0\n", "success\n1\n0\n")
    assert [policy.num_successes for policy in table.policies] == [1, 1]


def test_files_with_a_column_policy_are_joined(folder):
    """Without a column for episodes a line is one, in its own file."""
    table = read(folder, "policy,success\na,1\nb,0\n", "policy,success\na,0\nc,1\nb,1\n")
    assert [(p.policy, len(p.episodes)) for p in table.policies] == [("a", 2), ("b", 2), ("c", 1)]
    assert [p.num_successes for p in table.policies] == [1, 1, 1]


def test_a_quote_that_is_not_closed_is_found_by_its_line(folder):
    rows = "".join(f"a,1,task {i}\n" for i in range(20))
    with pytest.raises(GoalwardError, match="a.csv, line 22: not a csv file from here on"):
        read(folder, f'policy,success,task\n{rows}b,1,"open the drawer\n' + rows)


def test_steps_that_no_episode_has(folder):
    with pytest.raises(GoalwardError, match="line 2: steps is '1e30'; no episode has more"):
        read(folder, "policy,success,steps\na,1,1e30\nb,1,5\n")
    table = read(folder, "policy,success,steps\na,1,1000000000\nb,1,5\n")
    assert table.policies[0].episodes[0].steps == 10**9


def test_files_that_do_not_fit_together(folder):
    with pytest.raises(GoalwardError, match=r"b.csv: no column task, but a.csv has one"):
        read(folder, "success,task\n1,x\n", "success\n1\n")
    with pytest.raises(GoalwardError, match="'a' is also the name of a file"):
        read(folder, "success\n1\n", "policy,success\na,1\n")
    with pytest.raises(GoalwardError, match="the name 'b' is taken by a column policy"):
        read(folder, "policy,success\na,1\nb,1\n", "success\n1\n")
    with pytest.raises(GoalwardError, match="no column pose to pair by; columns: policy"):
        read(folder, GOOD, pair_by="pose")


def test_files_that_are_not_there(folder):
    with pytest.raises(GoalwardError, match=r"nowhere.csv: cannot be read \(No such file"):
        read_outcomes([folder / "nowhere.csv"])
    if os.geteuid() != 0:
        (folder / "a.csv").write_text(GOOD)
        (folder / "a.csv").chmod(0)
        with pytest.raises(GoalwardError, match="cannot be read"):
            read_outcomes([folder / "a.csv"])
    with pytest.raises(GoalwardError, match="wanted two policies or more"):
        read_outcomes([])
