"""`goalward.compare`: runs, folders and tables alike, and every argument counts."""

import json

import pytest
from PIL import Image
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run
from rollout_files.outcomes import write_policy

import goalward
from goalward.rollouts.episode import Outcome
from goalward.runs.folder.stored import write_run


def policies(tmp_path):
    a = write_policy(tmp_path / "a.csv", 20, 40, initial_state=lambda i: i)
    b = write_policy(tmp_path / "b.csv", 28, 40, initial_state=lambda i: i)
    return a, b


def test_a_run_is_compared_by_its_outcomes(tmp_path):
    episodes = [drawn_episode(str(i), 9, outcome=Outcome.SUCCESS) for i in range(3)]
    episodes.append(drawn_episode("3", 9))
    steps = {"liveness": [countdown(9) for _ in episodes]}
    run, _ = drawn_run(episodes, steps, tmp_path / "run", policy="ours")
    write_run(run)
    other = write_policy(tmp_path / "theirs.csv", 1, 4, task=lambda i: "fold")
    for given in (run, tmp_path / "run", str(tmp_path / "run")):
        found = goalward.compare(given, other)
        assert [(p.policy, p.successes, p.episodes) for p in found.policies] == [
            ("ours", 3, 4),
            ("theirs", 1, 4),
        ]


def test_pairs_and_the_level_are_as_asked(tmp_path):
    a, b = policies(tmp_path)
    usual = goalward.compare(a, b)
    assert (usual.paired, usual.level) == (True, 0.95)
    apart = goalward.compare(a, b, paired=False, level=0.8)
    assert (apart.paired, apart.level) == (False, 0.8)
    low, high = usual.policies[0].rate_interval
    narrow_low, narrow_high = apart.policies[0].rate_interval
    assert low < narrow_low < narrow_high < high
    with pytest.raises(goalward.GoalwardError, match="start_of_it"):
        goalward.compare(a, b, pair_by="start_of_it")


def test_files_hold_the_comparison_and_its_curves(tmp_path):
    a, b = policies(tmp_path)
    found = goalward.compare(a, b, out=tmp_path / "both")
    stored = json.loads((tmp_path / "both" / "comparison.json").read_text())
    assert stored["pairs"][0]["difference"] == found.pairs[0].difference
    # Two panels: rates, and successes by steps.
    with Image.open(tmp_path / "both" / "comparison.png") as picture:
        assert picture.size[0] == 2100
    goalward.compare(a, b, out=str(tmp_path / "both"))
    (tmp_path / "file").write_text("")
    with pytest.raises(goalward.GoalwardError, match="file: a file; wanted a folder to write to"):
        goalward.compare(a, b, out=tmp_path / "file")


def test_tables_without_steps_have_no_curves(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("success\n1\n0\n1\n")
    goalward.compare(tmp_path / "a.csv", tmp_path / "b.csv", out=tmp_path / "both")
    with Image.open(tmp_path / "both" / "comparison.png") as picture:
        assert picture.size[0] == 1200
