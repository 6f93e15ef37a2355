"""The front page: no more said than the run knows, whatever is missing or strange in its files."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

import goalward.report
from goalward.errors import GoalwardError
from goalward.report.pages.colours import DARK_PANEL, LIGHT_PANEL, contrast, page_colours
from goalward.report.pages.front import front_page, read_scores
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import LeftOut

SUCCESS, TIME_OUT = Outcome.SUCCESS, Outcome.TIME_OUT
STYLE = Path(goalward.report.__file__).parent / "site" / "colours.css"


def run_of(folder, outcomes, methods=("td",), tasks=None):
    episodes = [
        drawn_episode(str(i), 5, outcome=outcome, task=(tasks or ["fold"] * len(outcomes))[i])
        for i, outcome in enumerate(outcomes)
    ]
    steps = {method: [countdown(5) for _ in episodes] for method in methods}
    return drawn_run(episodes, steps, folder)


LATE = {
    "success_rate_with_twice_the_time": {"value": 0.9, "interval": {"low": 0.7, "high": 1.0}},
    "time_outs_on_their_way": {"value": 1.0, "count": 1, "total": 1, "interval": {}},
}


def test_without_scores_the_outcomes_are_counted(tmp_path):
    run, _ = run_of(tmp_path, [SUCCESS, SUCCESS, SUCCESS, TIME_OUT])
    front = front_page(run, read_scores(run), None)
    assert front["answer"]["success"]["value"] == 0.75
    # Wilson's interval of 3 of 4.
    assert front["answer"]["success"]["low"] == pytest.approx(0.3006, abs=1e-4)
    assert front["answer"]["counts"] == {"success": 3, "time_out": 1, "failure": 0}
    assert front["answer"]["steps"]["median"] is None
    assert front["methods"][0]["scores"]["success"]["reason"] == "it was not computed"
    assert front["truth"] is None
    assert json.dumps(front, allow_nan=False)


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [([SUCCESS, SUCCESS], "No episode timed out"), ([TIME_OUT, TIME_OUT], "No episode succeeded")],
)
def test_where_values_cannot_say_what_more_time_brings_nothing_is_said(tmp_path, outcomes, words):
    run, _ = run_of(tmp_path, outcomes)
    answer = front_page(run, {"policy": LATE}, None)["answer"]
    assert answer["more_time"]["silence"].startswith(words)
    assert answer["on_their_way"]["silence"].startswith(words)


def test_time_outs_are_named_nearest_first_and_never_comes_last(tmp_path):
    run, _ = run_of(tmp_path, [TIME_OUT, SUCCESS, TIME_OUT, TIME_OUT, TIME_OUT])
    ends = [("0", 30.0, True), ("2", 7.0, True), ("3", None, False), ("4", 90.0, False)]
    late = [
        {"episode": name, "steps_to_go": steps, "on_their_way": is_on}
        for name, steps, is_on in [*ends, ("of another run", 1.0, True)]
    ]
    answer = front_page(run, {"policy": LATE | {"time_outs": late}}, None)["answer"]
    assert answer["on_their_way"]["nearest"] == [2, 0]
    assert answer["on_their_way"]["stuck"] == [4, 3]


def test_a_doubt_in_the_summary_marks_what_the_values_say(tmp_path):
    run, _ = run_of(tmp_path, [SUCCESS, TIME_OUT])
    assert front_page(run, {"policy": LATE}, None)["answer"]["is_doubted"] is False
    run.folder.summary.write_text("# ours\n\n**Do not rely on what the values say**: a coin.\n")
    front = front_page(run, {"policy": LATE}, None)
    assert front["answer"]["is_doubted"] is True
    assert front["doubts"] == [
        [("strong", "Do not rely on what the values say"), ("", ": a coin.")]
    ]


def test_methods_that_differ_have_no_letter_in_common_and_the_best_has_an_a(tmp_path):
    run, _ = run_of(tmp_path, [SUCCESS], methods=("td", "mc", "survival"))
    scores = {
        "methods": {
            "td": {"success": {"mean": 0.2, "by_seed": [0.1, 0.3]}},
            "mc": {"success": {"mean": 0.9, "by_seed": [0.9, None]}},
            "survival": {"success": {"mean": 0.8}},
        },
        "significance": {
            "success": {
                "td against mc": {"p_adjusted": 0.01, "differs": True},
                "td against survival": {"p_adjusted": 0.2, "differs": False},
                "mc against survival": {"p_adjusted": 0.5, "differs": False},
            }
        },
    }
    methods = front_page(run, scores, None)["methods"]
    letters = {method["name"]: method["scores"]["success"]["letters"] for method in methods}
    assert letters == {"td": "b", "mc": "a", "survival": "ab"}
    assert methods[1]["scores"]["success"]["seeds"] == [0.9, None]


def test_numbers_that_are_none_are_null(tmp_path):
    run, _ = run_of(tmp_path, [SUCCESS, TIME_OUT])
    run.folder.scores.write_text('{"methods": {"td": {"success": {"mean": NaN, "sd": "much"}}}}')
    row = front_page(run, read_scores(run), None)["methods"][0]["scores"]["success"]
    assert (row["mean"], row["sd"]) == (None, None)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_scores_that_cannot_be_read_are_named(tmp_path, text):
    run, _ = run_of(tmp_path, [SUCCESS])
    run.folder.scores.write_text(text)
    with pytest.raises(GoalwardError, match="scores.json"):
        read_scores(run)


def test_success_is_counted_by_task(tmp_path):
    run, _ = run_of(tmp_path, [SUCCESS, TIME_OUT, SUCCESS], tasks=["fold", "fold", "lift"])
    tasks = front_page(run, {}, None)["tasks"]
    told = [(task["name"], task["count"], task["total"]) for task in tasks]
    assert told == [("fold", 1, 2), ("lift", 1, 1)]


def test_what_reading_noticed_is_told(tmp_path):
    run, rollouts = run_of(tmp_path, [SUCCESS])
    rollouts = rollouts.with_left_out([LeftOut("7", "video cut off")])
    assert front_page(run, {}, rollouts)["warnings"] == ["Episode 7 was left out: video cut off"]


def test_every_method_is_seen_on_dark():
    names = ["liveness", "liveness-nb", "td", "mc", "mc-dist", "survival", "liveness-exact"]
    names += [f"mine {i}" for i in range(6)]
    colours = page_colours(names)
    assert min(contrast(colour["dark"], DARK_PANEL) for colour in colours) >= 3
    assert len({colour["dark"] for colour in colours}) == len(names)


def test_the_panels_are_those_of_the_style_sheet():
    panels = re.findall(r"--panel: (#\w+);", STYLE.read_text())
    assert panels == [LIGHT_PANEL, DARK_PANEL]


def test_words_on_panels_can_be_read():
    """Small text needs a contrast of 4.5, in light and in dark, on panels and on the page."""
    text = STYLE.read_text()
    blocks = [text[: text.index("data-theme")], text[text.index("data-theme") :]]
    for block in blocks:
        colours = dict(re.findall(r"--([a-z_-]+): (#\w{6});", block))
        for name in ("text", "text-soft", "text-faint", "accent", "success", "time_out", "failure"):
            for ground in ("panel", "page", "sunken"):
                assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
        for outcome in ("success", "time_out", "failure"):
            assert contrast(colours[outcome], colours[f"{outcome}-soft"]) >= 4.5, outcome


def test_values_are_never_rounded_into_infinity(tmp_path):
    run, _ = drawn_run([drawn_episode("a", 3)], {"td": [np.full((1, 3), np.inf)]}, tmp_path)
    assert json.dumps(front_page(run, {}, None), allow_nan=False)
