"""`goalward compare` from tables to words, numbers and pictures."""

import json
import subprocess
import sys

import numpy as np
import pytest
from cyclopts import App
from PIL import Image
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
    app(["compare", *map(str, arguments)], exit_on_error=False)
    return capsys.readouterr()


def test_one_is_better(tmp_path, capsys):
    old = write_policy(tmp_path / "old.csv", 71, 100)
    new = write_policy(tmp_path / "new.csv", 88, 100, steps=40)
    output = words(capsys, old, new).out
    assert (
        "new is better than old: 88.0 % against 71.0 %, difference 17.0 points (5.8 to 27.8), "
        in output
    )
    assert "p = 0.004." in output
    assert "new needs fewer steps: 50 against 67 (counted up to 100), difference" in output
    assert "Not paired: episodes count as independent. Test: Boschloo, exact." in output
    rows = [line.split() for line in output.splitlines()]
    assert ["new", "a", "88.0", "%", "80.2", "to", "93.0", "88", "/", "100"] in [
        r[:10] for r in rows
    ]


def test_pairs_are_found_and_said(tmp_path, capsys):
    a = write_policy(tmp_path / "a.csv", 20, 40, initial_state=lambda i: i)
    b = write_policy(tmp_path / "b.csv", 28, 40, initial_state=lambda i: i)
    output = words(capsys, a, b).out
    assert "Paired: 40 initial states that all policies share. Test: McNemar, exact." in output
    assert "Test: Boschloo, exact." in words(capsys, a, b, "--no-paired").out
    assert "Paired: 40" in words(capsys, a, b, "--pair-by", "episode").out


def test_many_policies_and_tasks(tmp_path, capsys):
    paths = [
        write_policy(tmp_path / f"p{n}.csv", n, 60, task=lambda i: f"task {i % 20}")
        for n in (20, 40, 58)
    ]
    with speaking_of_flags():
        output = words(capsys, *paths).out
    assert "p58 is better than all 2 others." in output
    assert output.count("is better than") == 4
    assert "(Holm)" in output
    assert "p-values: for all 3 pairs at once, by Holm." in output
    assert "and 8 more tasks (--all-tasks lists them, and the JSON)" in output
    assert "task 19" not in output or "task 0" not in output
    everything = words(capsys, *paths, "--all-tasks").out
    assert all(f"task {i} " in everything for i in range(20))


def test_json_for_machines(tmp_path, capsys):
    a = write_policy(tmp_path / "a.csv", 14, 20)
    b = write_policy(tmp_path / "b.csv", 17, 20)
    found = json.loads(words(capsys, a, b, "--json").out)
    assert [policy["policy"] for policy in found["policies"]] == ["a", "b"]
    assert found["pairs"][0]["difference"] == pytest.approx(0.15)
    assert found["pairs"][0]["watched"]["num_pairs"] == 20
    assert found["horizon"] == 100
    # One that was settled and is no longer: every number of it is one that JSON knows.
    first, second = [1] * 10 + [0, 1, 0] * 12, [0] * 10 + [1, 0, 1] * 12
    for name, won in (("c", first), ("d", second)):
        (tmp_path / f"{name}.csv").write_text("\n".join(["success", *map(str, won)]))
    found = json.loads(words(capsys, tmp_path / "c.csv", tmp_path / "d.csv", "--json").out)
    watched = found["pairs"][0]["watched"]
    assert (watched["settled_at"], watched["stands"]) == (8, False)


def test_files(tmp_path, capsys):
    a = write_policy(tmp_path / "a_|$.csv", 14, 20, task=lambda i: "x" if i % 2 else "y")
    b = write_policy(tmp_path / "b.csv", 17, 20, task=lambda i: "x" if i % 2 else "y")
    out = tmp_path / "new" / "out"
    assert str(out) in words(capsys, a, b, "--out", out).err
    assert sorted(path.name for path in out.iterdir()) == [
        "assets",
        "comparison.json",
        "comparison.md",
        "comparison.png",
        "comparison.svg",
        "index.html",
        "watching.png",
        "watching.svg",
    ]
    assert json.loads((out / "comparison.json").read_text())["pairs"][0]["first"] == "a_|$"
    page = (out / "comparison.md").read_text()
    assert "**Cannot tell b from a\\_\\|\\$ yet: 85 % against 70 %" in page
    assert "| a\\_\\|\\$ | a | 70.0 % |" in page
    assert "| x | 7 / 10 | 8 / 10 |" in page
    with Image.open(out / "comparison.png") as picture:
        pixels = np.asarray(picture.convert("RGB"))
    assert pixels.shape[1] > 1000
    # Both colours are drawn, each in its half: interval on the left, curve on the right.
    for colour in ((0, 114, 178), (213, 94, 0)):
        columns = np.flatnonzero((pixels == colour).all(axis=2).any(axis=0))
        assert columns.min() < pixels.shape[1] / 2 < columns.max()
    before = (out / "comparison.svg").read_bytes()
    words(capsys, a, b, "--out", out)
    assert (out / "comparison.svg").read_bytes() == before


def test_a_picture_without_steps(tmp_path, capsys):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("success\n1\n0\n1\n")
    output = words(capsys, tmp_path / "a.csv", tmp_path / "b.csv", "--out", tmp_path / "out")
    assert "Note: steps are not compared" in output.out
    with Image.open(tmp_path / "out" / "comparison.png") as picture:
        assert picture.size[0] == 1200


def test_names_from_files_are_shown_as_they_are(tmp_path, capsys):
    (tmp_path / "all.csv").write_text(
        "policy,success\n[red]a[/],1\n[red]a[/],0\n\u7b56\u7565 :apple:,1\n\u7b56\u7565 :apple:,1\n"
    )
    output = words(capsys, tmp_path / "all.csv", "--out", tmp_path / "out").out
    assert "[red]a[/]" in output
    assert "\u7b56\u7565 :apple:" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{tmp}/none.csv"], "cannot be read"),
        (["{tmp}/a.csv"], "wanted two policies or more"),
        (["{tmp}/a.csv", "{tmp}/b.csv", "--level", "95"], "level.95.0: must be at least 0.5"),
        (["{tmp}/a.csv", "{tmp}/b.csv", "--paired"], "no initial state is shared"),
        (["{tmp}/a.csv", "{tmp}/b.csv", "--pair-by", "pose"], "no column pose to pair by"),
        (["{tmp}/a.csv", "{tmp}/b.csv", "--out", "/proc/x"], "cannot be written"),
        (["{tmp}/a.csv", "{tmp}/b.csv", "--out", "{tmp}/a.csv"], "a.csv: a file; wanted a folder"),
    ],
)
def test_errors_say_what_is_wrong(tmp_path, capsys, arguments, message):
    for name in "ab":
        write_policy(tmp_path / f"{name}.csv", 5, 10)
    with pytest.raises(GoalwardError, match=message):
        words(capsys, *(argument.format(tmp=tmp_path) for argument in arguments))


def test_help_teaches(capsys):
    text = words(capsys, "--help").out
    for word in (
        "goalward compare a.csv b.csv",
        "--pair-by",
        "--no-paired",
        "initial_state",
        "csv",
    ):
        assert word in text


def test_tables_fit_a_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = ("lora-oft-int4", "lora-oft-int8")
    paths = [
        write_policy(tmp_path / f"{name}.csv", 470, 500, task=lambda i: f"task {i % 2}")
        for name in names
    ]
    lines = words(capsys, *paths).out.splitlines()
    # The name, the numbers and nothing folded: a row per policy, then a row per task.
    head = next(i for i, line in enumerate(lines) if line.startswith("policy "))
    assert lines[head].split()[:4] == ["policy", "letters", "success", "interval"]
    row = lines[head + 1]
    assert row.startswith("lora-oft-int4        a   94.0 %  91.6 to 95.8  470 / 500  ")
    tasks = next(i for i, line in enumerate(lines) if line.startswith("task    lora-oft-int4  "))
    assert lines[tasks + 1].startswith("task 0      235 / 250      235 / 250           0")


def test_a_policy_called_task(tmp_path, capsys):
    (tmp_path / "all.csv").write_text(
        "policy,success,task\ntask,1,x\ntask,0,y\nother,1,x\nother,1,y\n"
    )
    lines = [line.split() for line in words(capsys, tmp_path / "all.csv").out.splitlines()]
    assert ["task", "task", "other"] in [line[:3] for line in lines]
    assert ["y", "0", "/", "1", "1", "/", "1"] in [line[:7] for line in lines]


def test_scipy_is_imported_only_when_something_is_compared():
    code = "import sys, goalward.cli.compare; sys.exit('scipy.stats' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_published_results_of_four_policies(real_files, tmp_path, capsys):
    paths = sorted((real_files / "libero10_openvla_results").glob("*.csv"))
    output = words(capsys, *paths, "--out", tmp_path).out
    assert "lora_oft_int8 is better than lora: 94.8 % against 0.6 %" in output
    assert "Cannot tell lora_oft_int8 from lora_oft_int4 yet" in output
