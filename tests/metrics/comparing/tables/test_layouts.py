"""Tables with a column per policy, and tables of counts."""

import pytest

from goalward import GoalwardError
from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.tables.outcome_file import read_outcomes


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def reading(text, **options):
        (tmp_path / "a.csv").write_text(text)
        return read_outcomes([(tmp_path / "a.csv").relative_to(tmp_path)], **options)

    return reading


WIDE = "initial_state,Old Policy,new,note\n0,1,0,\n1,0,1,x\n2,,yes,\n3,false,true,\n"


def test_a_column_per_policy(read):
    table = read(WIDE, columns=["old policy", "new"])
    assert [p.policy for p in table.policies] == ["Old Policy", "new"]
    assert [p.succeeded.tolist() for p in table.policies] == [
        [True, False, False],
        [False, True, True, True],
    ]
    assert [e.initial_state for e in table.policies[0].episodes] == ["0", "1", "3"]


def test_a_row_is_a_start_of_its_own_where_nothing_names_it(read):
    found = compare(read("a,b\n1,0\n1,1\n0,0\n", columns=["a", "b"]))
    assert (found.paired, found.num_matched) == (True, 3)
    assert (found.pairs[0].only_first, found.pairs[0].only_second) == (1, 0)


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        (WIDE, ["old policy", "other"], "a.csv: no column other; columns: initial_state, Old"),
        ("a,b\n1,2\n", ["a", "b"], "a.csv, line 2: b is '2'; wanted true or false"),
        ("a,b\n1,0\n", ["a"], "wanted two policies or more to compare, found only 'a'"),
        ("a,b,task\n1,0,\n", ["a", "b"], "a.csv, line 2: task is empty"),
    ],
)
def test_columns_that_cannot_be_used(read, text, columns, message):
    with pytest.raises(GoalwardError) as caught:
        read(text, columns=columns)
    assert message in str(caught.value)


def test_columns_that_nobody_named_are_asked_for(read):
    with pytest.raises(GoalwardError, match=r"name them: columns=\('a', 'b'\)"):
        read("old,new\n1,0\n")


def test_counts(read):
    table = read("policy,task,successes,trials\na,x,3,5\na,y,0,2\nb,x,4,5\nb,y,2,2\n")
    assert [(p.counts("x"), p.counts("y")) for p in table.policies] == [
        ((3, 5), (0, 2)),
        ((4, 5), (2, 2)),
    ]
    found = compare(table)
    assert found.pairs[0].watched is None
    assert any("counts do not say in which order" in note for note in found.notes)


def test_a_file_of_counts_per_policy(tmp_path):
    for name, successes in (("a", 9), ("b", 2)):
        (tmp_path / f"{name}.csv").write_text(f"successes,episodes\n{successes},10\n")
    table = read_outcomes([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert [(p.policy, p.num_successes) for p in table.policies] == [("a", 9), ("b", 2)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a,6,5\nb,1,2\n", "line 2: 6 of 5 rollouts; wanted at least one rollout, and no more"),
        ("a,0,0\nb,1,2\n", "line 2: 0 of 0 rollouts; wanted at least one rollout"),
        ("a,1.5,5\nb,1,2\n", "line 2: successes is '1.5'; wanted a whole number"),
        ("a,1,5\na,1,2\n", "line 3: 'a' stands there twice, first in a.csv, line 2"),
        ("a,1,900000\nb,1,900000\n", "line 3: 1 of 900000 rollouts; wanted at most 1,000,000"),
    ],
)
def test_counts_that_cannot_be_used(read, rows, message):
    with pytest.raises(GoalwardError) as caught:
        read(f"policy,successes,rollouts\n{rows}")
    assert message in str(caught.value)


def test_counts_have_no_pairs(read):
    with pytest.raises(GoalwardError, match="counts cannot be paired; leave out pair_by='seed'"):
        read("policy,successes,rollouts,seed\na,1,5,1\nb,1,2,1\n", pair_by="seed")
