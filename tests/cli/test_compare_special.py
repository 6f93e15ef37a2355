"""`goalward compare` in a pipeline, for checkpoints, preferences, and tables of other shapes."""

import json

import pytest
from cyclopts import App
from rollout_files.outcomes import write_policy

from goalward import GoalwardError
from goalward.cli.compare import compare_command
from goalward.errors import speaking_of_flags


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")


def words(capsys, *arguments):
    app = App(result_action="return_value")
    app.command(compare_command, name="compare")
    with speaking_of_flags():
        app(["compare", *map(str, arguments)], exit_on_error=False)
    return capsys.readouterr()


def status(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        words(capsys, *arguments)
    return stopped.value.code, capsys.readouterr()


# ---- in a pipeline ------------------------------------------------------------------------------


def test_a_worse_policy_fails_a_pipeline(tmp_path, capsys):
    old, new = (
        write_policy(tmp_path / "old.csv", 70, 80),
        write_policy(tmp_path / "new.csv", 40, 80),
    )
    code, said = status(capsys, "--fail-if-worse", old, new)
    assert code == 3
    assert "new is worse than old" in said.err
    assert "old is better than new" in said.out
    code, said = status(capsys, "--fail-if-worse", old, new, "--json")
    assert code == 3
    assert json.loads(said.out)["pairs"][0]["better"] == "old"


def test_a_better_one_and_one_that_cannot_be_told_pass(tmp_path, capsys):
    old, new = (
        write_policy(tmp_path / "old.csv", 70, 80),
        write_policy(tmp_path / "new.csv", 40, 80),
    )
    assert "is worse" not in words(capsys, "--fail-if-worse", new, old).err
    same = write_policy(tmp_path / "same.csv", 67, 80)
    assert "is worse" not in words(capsys, "--fail-if-worse", old, same).err


def test_a_checkpoint_that_is_worse_than_the_one_before_fails(tmp_path, capsys):
    paths = [write_policy(tmp_path / f"s{k}.csv", x, 80) for k, x in ((1, 20), (2, 70), (3, 30))]
    code, said = status(capsys, *paths, "--ordered", "--fail-if-worse")
    assert code == 3
    assert "s3 is worse than s2" in said.err
    assert "s2 is worse" not in said.err
    words(capsys, *paths[:2], "--ordered", "--fail-if-worse")


def test_worse_scores_fail_where_nothing_else_is_known(tmp_path, capsys):
    for name, low in (("old", 60), ("new", 20)):
        scores = [(low + 7 * i % 40) / 100 for i in range(30)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["score", *map(str, scores)]))
    code, said = status(capsys, "--fail-if-worse", tmp_path / "old.csv", tmp_path / "new.csv")
    assert code == 3
    assert said.out.splitlines()[2].startswith("By scores, old is better than new")


def test_three_policies_have_no_old_and_new(tmp_path, capsys):
    paths = [write_policy(tmp_path / f"p{x}.csv", x, 30) for x in (10, 15, 20)]
    with pytest.raises(GoalwardError, match="--fail-if-worse wants two policies.*got 3 policies"):
        words(capsys, *paths, "--fail-if-worse")
    assert capsys.readouterr().out == ""


# ---- preferences --------------------------------------------------------------------------------


def votes(path, *counts):
    rows = [f"{a},{b},{who}" for a, b, who, times in counts for _ in range(times)]
    path.write_text("\n".join(["policy_a,policy_b,winner", *rows]))
    return path


def test_preferences(tmp_path, capsys):
    table = votes(
        tmp_path / "votes.csv", ("old", "new", "b", 24), ("old", "new", "old", 4),
        ("new", "other", "a", 6), ("new", "other", "second", 4),
    )  # fmt: skip
    output = words(capsys, table, "--out", tmp_path / "out").out
    assert "new is preferred to old: new wins 8" in output
    assert "38 comparisons of two policies each." in output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "assets", "index.html", "preferences.json", "preferences.md", "preferences.png",
        "preferences.svg",
    ]  # fmt: skip
    page = (tmp_path / "out" / "index.html").read_text()
    assert "new is preferred to old" in page
    assert 'src="preferences.svg"' in page
    stored = json.loads(words(capsys, table, "--json").out)
    assert stored["policies"][0]["policy"] == "new"


@pytest.mark.parametrize("option", ["--fail-if-worse", "--ordered", "--paired", "--budget=20"])
def test_options_that_mean_nothing_for_preferences_are_refused(tmp_path, capsys, option):
    table = votes(tmp_path / "votes.csv", ("a", "b", "a", 3))
    with pytest.raises(GoalwardError, match=f"{option.partition('=')[0]}.* means nothing"):
        words(capsys, table, option)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,b,c", "line 2: 'c' won; wanted a, b, a, b or tie"),
        ("a,a,a", "line 2: wanted the names of two policies"),
    ],
)
def test_preferences_that_cannot_be_used(tmp_path, capsys, row, message):
    (tmp_path / "votes.csv").write_text(f"policy_a,policy_b,winner\n{row}\n")
    with pytest.raises(GoalwardError, match=message):
        words(capsys, tmp_path / "votes.csv")


# ---- other shapes -------------------------------------------------------------------------------


def test_a_column_per_policy(tmp_path, capsys):
    rows = [f"scene{i},{int(i % 2)},{int(i % 5 > 0)}" for i in range(40)]
    (tmp_path / "wide.csv").write_text("\n".join(["scene,old,new", *rows]))
    output = words(capsys, tmp_path / "wide.csv", "--columns", "old,new").out
    assert "Paired: 40 initial states that all policies share." in output
    with pytest.raises(GoalwardError, match="name them: --columns a,b"):
        words(capsys, tmp_path / "wide.csv")


def test_a_budget_and_a_posterior(tmp_path, capsys):
    a, b = write_policy(tmp_path / "a.csv", 20, 60), write_policy(tmp_path / "b.csv", 50, 60)
    output = words(capsys, a, b, "--budget", "100", "--posterior").out
    assert "b is better than a: settled after " in output
    assert "looked at after every rollout up to 100 of each" in output
    assert "b is better than a with a probability of over 99.9 %" in output
