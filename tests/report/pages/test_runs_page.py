"""Several runs on one page: every answer once, the trend, episodes that lead to their reports."""

import json
import re
from html import unescape
from urllib.parse import parse_qs

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.cli.report import report_command
from goalward.errors import GoalwardError
from goalward.report.pages.runs_page import write_runs_page
from goalward.report.words.several_runs import named_runs
from goalward.rollouts.episode import Outcome
from goalward.runs.mean_curve import mean_value_by_frame
from report.pages.browser.demo_run import write_demo_run

MARKUP = "<img src=x onerror=alert(1)>"


def run_with(num_successes, folder, *, policy="ours", name="take {}", **config):
    """Forty episodes of 20 frames, the first ones successes; values know which."""
    outcomes = [Outcome.SUCCESS if i < num_successes else Outcome.TIME_OUT for i in range(40)]
    episodes = [drawn_episode(name.format(i), 20, outcome=o) for i, o in enumerate(outcomes)]
    steps = [countdown(20) + (0 if o is Outcome.SUCCESS else 15) for o in outcomes]
    run, _ = drawn_run(episodes, {"td": steps}, folder, policy=policy, **config)
    return run


def test_rates_stand_beside_each_other_with_their_trend(tmp_path):
    runs = [run_with(n, tmp_path / str(n), policy=f"step {n}") for n in (8, 20, 32)]
    page = write_runs_page(runs, tmp_path / "all").read_text()
    assert "3 runs: the highest success rate is that of step 32</h1>" in page
    assert "80\u00a0% (32 of 40; 95\u00a0% interval " in page.split("</h1>")[1]
    assert "is that of step 32:** 80 % (32 of 40; " in (tmp_path / "all" / "runs.md").read_text()
    assert "the success rate rises: +60 points from the first run to the last" in page
    rows = json.loads((tmp_path / "all" / "runs.json").read_text())
    assert [row["success rate"].split(" (")[0] for row in rows.values()] == ["20 %", "50 %", "80 %"]
    assert (tmp_path / "all" / "runs.svg").is_file()


def test_what_another_policys_values_expect_is_a_hint_here_too(tmp_path):
    own = run_with(20, tmp_path / "own", policy="own")
    other = run_with(20, tmp_path / "other", policy="other", values_from="/runs/own")
    write_runs_page([own, other], tmp_path / "all")
    rows = json.loads((tmp_path / "all" / "runs.json").read_text())
    assert rows["other"]["with twice the time"] == rows["own"]["with twice the time"] + ", a hint"


def test_no_trend_is_claimed_where_there_is_none(tmp_path):
    runs = [run_with(20, tmp_path / str(n), policy=f"step {n}") for n in range(3)]
    page = write_runs_page(runs, tmp_path / "all").read_text()
    assert "all have the same success rate" in page
    assert "neither rises nor falls for sure: +0 points" in page


def test_episodes_that_ended_unlike_come_first(tmp_path):
    runs = [run_with(n, tmp_path / str(n), policy=f"step {n}") for n in (20, 21)]
    page = write_runs_page(runs, tmp_path / "all").read_text()
    rows = page.split("<tbody>")[-1].split("<tr>")[1:]
    assert "take 20" in rows[0]
    assert len(rows) == 40


def test_names_from_files_are_no_markup(tmp_path):
    runs = [run_with(20, tmp_path / n, policy=MARKUP, name=MARKUP + "{}") for n in ("a", "b")]
    page = write_runs_page(runs, tmp_path / "all").read_text()
    assert MARKUP not in page
    assert "&lt;img src=x" in page


def test_runs_of_one_policy_have_their_folders_in_their_names(tmp_path):
    runs = [run_with(20, tmp_path / where / "run") for where in ("a", "b")]
    names = list(named_runs(runs))
    assert names[0] == "ours (run)"
    assert names[1] == f"ours ({tmp_path / 'b' / 'run'})"


def test_a_success_keeps_the_value_of_the_goal(tmp_path):
    episodes = [drawn_episode("short", 3, outcome=Outcome.SUCCESS), drawn_episode("long", 5)]
    steps = [np.array([[2.0, 1.0, 0.0]]), np.full((1, 5), np.inf)]
    run, _ = drawn_run(episodes, {"td": steps}, tmp_path)
    assert mean_value_by_frame(run)[-2:] == pytest.approx([0.0, 0.0])


def test_the_command_writes_missing_reports_and_links_to_them(tmp_path, capsys):
    first = write_demo_run(tmp_path / "a", num_each=1)
    second = write_demo_run(tmp_path / "b", num_each=1)
    report_command(first, second, out=tmp_path / "all", videos=False)
    assert capsys.readouterr().out.strip() == str(tmp_path / "all" / "index.html")
    assert (second / "report" / "index.html").is_file()
    page = (tmp_path / "all" / "index.html").read_text()
    assert 'href="../b/report/index.html#episode?id=' in page
    # And to two players that move as one, from the folder of the first.
    link = unescape(re.findall(r'href="(\.\./a/report/beside\.html#[^"]+)"', page)[0])
    sides = parse_qs(link.partition("#")[2])
    assert sides["a"][0].startswith("index.html#episode?id=")
    assert sides["b"][0].startswith("../../b/report/index.html#episode?id=")
    with pytest.raises(GoalwardError, match="--data is for one run"):
        report_command(first, second, data=tmp_path)
