"""The page of a comparison: what it says, and two runs' episodes side by side."""

import re
import shlex
from html import escape, unescape
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run
from rollout_files.outcomes import write_policy

import goalward
from goalward.metrics.comparing.episode_pairs import EpisodePair
from goalward.report.pages.comparison_page import beside
from goalward.rollouts.episode import Outcome
from goalward.runs.folder.stored import write_run


def run_of(folder, successes, policy):
    """Four episodes in a run with a report, of which some succeeded."""
    episodes = [
        drawn_episode(
            f"ep #{i}", 9, outcome=Outcome.SUCCESS if i in successes else Outcome.TIME_OUT
        )
        for i in range(4)
    ]
    steps = {"liveness": [countdown(9) for _ in episodes]}
    run, _ = drawn_run(episodes, steps, folder, policy=policy)
    write_run(run)
    (folder / "report").mkdir(exist_ok=True)
    (folder / "report" / "index.html").write_text("")
    return folder


@pytest.fixture
def page(tmp_path):
    def write(*policies, out="out", **options):
        goalward.compare(*policies, out=tmp_path / out, **options)
        return (tmp_path / out / "index.html").read_text()

    return write


def test_verdict_rates_tasks_and_the_watching_test(tmp_path, page):
    a = write_policy(tmp_path / "a<b>.csv", 10, 60, task=lambda i: f"t{i % 2}")
    b = write_policy(tmp_path / "b.csv", 50, 60, task=lambda i: f"t{i % 2}")
    text = page(a, b)
    assert '<h1 class="headline">b is better than a&lt;b&gt;: 83\u00a0% against 17\u00a0%' in text
    headings = re.findall("<h2>(.*?)</h2>", text)
    assert headings == ["Policies", "Over rollouts", "Tasks", "How"]
    assert "a<b>" not in text
    for address in re.findall('(?:src|href)="([^"#:]+)"', text):
        assert (tmp_path / "out" / unquote(address)).is_file(), address


def test_episodes_of_two_runs_side_by_side(tmp_path, page):
    first = run_of(tmp_path / "runs" / "one", {0, 1}, "old")
    second = run_of(tmp_path / "runs" / "two", {0, 2, 3}, "new")
    text = page(first, second, pair_by="episode", out="here/out")
    assert "Episodes that started alike; those that ended unlike first" in text
    links = [unescape(link) for link in re.findall('href="([^"]+beside[^"]+)"', text)]
    assert len(links) == 4
    where = urlsplit(links[0])
    assert where.path == "../../runs/one/report/beside.html"
    asked = {name: value[0] for name, value in parse_qs(where.fragment).items()}
    # Episode 1 alone succeeded in the first run and not in the second.
    assert asked["a"] == "index.html#episode?id=ep+%231&policy=old"
    assert asked["b"] == "../../two/report/index.html#episode?id=ep+%231&policy=new"
    report = tmp_path / "here" / "out" / where.path
    assert (report.parent / asked["b"].partition("#")[0]).resolve().is_file()
    for name in ("old", "new"):
        assert f'#episodes"><bdi>{name}</bdi></a>' in text


def test_runs_without_starts_show_episodes_of_one_task(tmp_path, page):
    first, second = run_of(tmp_path / "a", {0}, "old"), run_of(tmp_path / "b", {1}, "new")
    text = page(first, second)
    assert "Episodes of the same task; whether they started alike is not known; those" in text
    text = page(first, second, pair_by="episode", paired=False)
    assert "Episodes of the same task, not paired by where they started; those" in text


def test_runs_without_a_report_say_how_to_write_one(tmp_path, page):
    first = run_of(tmp_path / "a", {0}, "old")
    second = run_of(tmp_path / "b & c", {1}, "new")
    (second / "report" / "index.html").unlink()
    text = page(first, second)
    # As a shell takes it, and as a page shows it.
    assert f"goalward report {escape(shlex.quote(str(second)))}<" in text
    assert "beside.html" not in text


def test_runs_that_call_their_policy_alike_are_named_after_their_folders(tmp_path, page):
    first, second = run_of(tmp_path / "a", {0}, "demo"), run_of(tmp_path / "b", {1}, "demo")
    text = page(first, second)
    assert "2 folders call their policy &#x27;demo&#x27;: named after the folders" in text
    assert "a beside b" in text


def test_tables_have_no_episodes_to_show(tmp_path, page):
    a, b = write_policy(tmp_path / "a.csv", 10, 20), write_policy(tmp_path / "b.csv", 12, 20)
    assert "<h2>Episodes</h2>" not in page(a, b)


def test_scores_alone_lead_the_page(tmp_path, page):
    for name, low in (("old", 20), ("new", 60)):
        scores = [(low + 7 * i % 40) / 100 for i in range(30)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["score", *map(str, scores)]))
    text = page(tmp_path / "old.csv", tmp_path / "new.csv")
    assert '<h1 class="headline">By scores, new is better than old: mean score' in text
    assert re.findall("<h2>(.*?)</h2>", text)[:2] == ["Scores", "Over rollouts"]


def test_addresses_of_reports_in_each_others_folders():
    pair = EpisodePair("", None, "1", "2", (Outcome.SUCCESS, Outcome.SUCCESS))
    reports = {"ours": "report", "theirs": "../b/report"}
    fragment = urlsplit(beside(pair, ("ours", "theirs"), reports)).fragment
    assert parse_qs(fragment)["b"] == ["../../b/report/index.html#episode?id=2&policy=theirs"]
