"""The front page: no more said than the run knows, and every number as the run has it."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.looks import GRID_COLOUR, TEXT_COLOUR
from goalward.metrics.scores.table import SCORES, scores_shown
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.metrics.uncertainty.significance import MethodTests, OverallTest, PairTest
from goalward.report.pages.assets import SITE
from goalward.report.pages.colours import (
    DARK_PANEL,
    LIGHT_PANEL,
    contrast,
    drawn_on_dark,
    loss_colours,
    page_colours,
)
from goalward.report.pages.front import front_page
from goalward.report.words.blocks import plain_text
from goalward.report.words.doubt import doubt_words
from goalward.report.words.summary import summary
from goalward.report.words.time_outs import POLICY_LEARNED_FROM
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import LeftOut
from goalward.runs.settings import RunData

SUCCESS, TIME_OUT, FAILURE = Outcome.SUCCESS, Outcome.TIME_OUT, Outcome.FAILURE
STYLE = SITE / "colours.css"


def run_of(outcomes, methods=("td",), tasks=None, steps=None, **options):
    episodes = [
        drawn_episode(str(i), 5, outcome=outcome, task=(tasks or ["fold"] * len(outcomes))[i])
        for i, outcome in enumerate(outcomes)
    ]
    by_method = steps or {method: [countdown(5) for _ in episodes] for method in methods}
    return drawn_run(episodes, by_method, **options)[0]


def far(steps, seeds=2):
    """Five frames that all look this far."""
    return np.full((seeds, 5), float(steps))


# ---- the answer -------------------------------------------------------------------------------


def test_outcomes_are_counted_with_an_interval():
    front = front_page(run_of([SUCCESS, SUCCESS, SUCCESS, TIME_OUT]))
    success = front["answer"]["success"]
    assert (success["value"], success["count"], success["total"]) == (0.75, 3, 4)
    # Wilson's interval of 3 of 4.
    assert success["low"] == pytest.approx(0.3006, abs=1e-4)
    assert front["answer"]["counts"] == {"success": 3, "time_out": 1, "failure": 0}
    # Five frames are four steps.
    assert front["answer"]["steps"]["median"] == 4.0
    assert front["truth"] is None
    assert front["training"] == []
    assert json.dumps(front, allow_nan=False)


def test_a_failure_is_no_time_out():
    answer = front_page(run_of([SUCCESS, TIME_OUT, FAILURE, FAILURE]))["answer"]
    assert answer["counts"] == {"success": 1, "time_out": 1, "failure": 2}
    assert sum(len(ids) for ids in answer["late"].values()) == 1


@pytest.mark.parametrize(
    ("outcomes", "learned_from", "words"),
    [
        ([SUCCESS, SUCCESS], (), "No episode timed out"),
        ([TIME_OUT, TIME_OUT], (), "No episode succeeded"),
        ([SUCCESS, SUCCESS, TIME_OUT], ("2",), "No timed-out episode was held out"),
    ],
)
def test_where_values_cannot_say_what_more_time_brings_nothing_is_said(
    outcomes, learned_from, words
):
    front = front_page(run_of(outcomes, learned_from=learned_from))
    assert front["answer"]["silence"].startswith(words)
    # Nor is what nobody says taken back.
    assert front["doubts"] == []


def test_without_a_success_the_steps_are_not_known_and_it_says_why():
    steps = front_page(run_of([TIME_OUT, TIME_OUT]))["answer"]["steps"]
    assert (steps["median"], steps["reason"]) == (None, "no episode succeeded")


def test_time_outs_are_named_by_verdict_the_likeliest_first():
    """A chance is the share of ten seeds that see success within four steps, the own clock."""
    outcomes = [TIME_OUT, SUCCESS, TIME_OUT, TIME_OUT, TIME_OUT, TIME_OUT]

    def seen_by(count):
        return np.where(np.arange(10)[:, None] < count, 4.0, np.inf) * np.ones((1, 5))

    said = [seen_by(2), countdown(5, seeds=10), seen_by(9), seen_by(0), seen_by(5), seen_by(10)]
    run = run_of(outcomes, steps={"td": said})
    answer = front_page(run)["answer"]
    assert answer["late"] == {
        "on_its_way": ["5", "2"],
        "stuck": ["0", "3"],
        "cannot_tell": ["4"],
    }
    assert answer["verdicts"] == {"on_its_way_from": 0.8, "stuck_up_to": 0.2}
    # Of five time-outs 0.2 + 0.9 + 0 + 0.5 + 1 are expected; six episodes cannot show whether
    # the values know anything, so that is for those who ask for it.
    assert (answer["saying"], answer["share"]["value"]) == ("cannot_tell", None)
    assert answer["doubtful"] == pytest.approx(0.52)


def test_values_that_know_something_say_what_more_time_brings():
    outcomes = [SUCCESS, TIME_OUT] * 10
    run = run_of(outcomes, steps={"td": [countdown(5) / 2, np.full((2, 5), 4.0)] * 10})
    answer = front_page(run)["answer"]
    twice = run.scores.policy.more_time.twice
    assert (answer["saying"], answer["doubtful"]) == ("expected", None)
    assert answer["condition"] == ""
    # All time-outs are said to be four steps away, and their clocks were four steps.
    assert (answer["share"]["value"], answer["more_time"]["value"]) == (1.0, 1.0)
    assert answer["more_time"]["low"] == pytest.approx(twice.rate_interval.low, abs=1e-6)
    assert answer["share"]["low"] == pytest.approx(twice.share_interval.low, abs=1e-6)


def test_what_another_policys_values_expect_is_told_with_its_condition():
    """As the summary does: networks that learned from another policy expect what that one did."""
    outcomes = [SUCCESS, TIME_OUT] * 10
    steps = {"td": [countdown(5) / 2, np.full((2, 5), 4.0)] * 10}
    run = run_of(outcomes, steps=steps, values_from="/runs/other")
    answer = front_page(run)["answer"]
    assert (answer["saying"], answer["condition"]) == ("expected", POLICY_LEARNED_FROM)
    assert f"(a hint, {POLICY_LEARNED_FROM})" in summary(run)


def test_a_doubt_is_told_in_the_words_of_the_summary():
    run = run_of([SUCCESS, TIME_OUT])
    front = front_page(run)
    (told,) = front["doubts"]
    assert "".join(text for _, text in told) == plain_text(doubt_words(run.doubts[0]))
    assert told[0] == ("strong", "Do not rely on what the values of")


def test_values_that_tell_successes_from_others_are_not_doubted():
    outcomes = [SUCCESS, TIME_OUT] * 10
    front = front_page(run_of(outcomes, steps={"td": [countdown(5), far(20)] * 10}))
    assert (front["doubts"], front["answer"]["silence"]) == ([], "")


def test_tasks_are_told_as_the_scores_have_them():
    outcomes, names = [SUCCESS, TIME_OUT, SUCCESS, FAILURE], ["fold", "fold", "lift", "fold"]
    run = run_of(outcomes, tasks=names)
    fold, lift = front_page(run)["tasks"]
    answer = run.scores.tasks.tasks[0]
    assert (fold["name"], fold["success"]["count"], fold["success"]["total"]) == ("fold", 1, 3)
    assert fold["success"]["low"] == pytest.approx(answer.success.interval.low, abs=1e-6)
    assert (fold["time_outs"], fold["failures"]) == (1, 1)
    assert fold["more_time"]["value"] == pytest.approx(answer.share.value, abs=1e-6)
    assert fold["auroc"]["value"] == pytest.approx(answer.auroc.value, abs=1e-6)
    assert fold["values"] == "cannot be checked: too few episodes"
    assert (lift["values_tell"], lift["values"]) == (None, "cannot be checked: one episode")
    assert lift["auroc"]["reason"] == "one episode"
    assert [s["name"] for s in front_page(run)["sections"]][:3] == ["policy", "next", "tasks"]


@pytest.mark.parametrize("is_right", [True, False])
def test_only_values_that_know_something_say_what_more_time_brings_to_a_task(is_right):
    outcomes, tasks = [SUCCESS, TIME_OUT] * 12, ["fold"] * 12 + ["lift"] * 12
    said = [countdown(5), far(20)] if is_right else [far(20), countdown(5)]
    run = run_of(outcomes, tasks=tasks, steps={"td": said * 12})
    for told, answer in zip(front_page(run)["tasks"], run.scores.tasks.tasks, strict=True):
        assert answer.share.value is not None
        if is_right:
            assert told["more_time"]["value"] == pytest.approx(answer.share.value, abs=1e-6)
        else:
            assert told["more_time"] is None


def test_tasks_have_the_mean_value_of_outcomes_that_three_episodes_had():
    outcomes = [SUCCESS] * 3 + [TIME_OUT] * 2 + [TIME_OUT] * 3
    tasks = ["fold"] * 5 + ["lift"] * 3
    near, never = np.tile(np.arange(4.0, -1.0, -1.0), (2, 1)), far(np.inf)
    run = run_of(outcomes, tasks=tasks, steps={"td": [near] * 3 + [never] * 5})
    fold, lift = (one["means"] for one in front_page(run)["tasks"])
    assert lift == {TIME_OUT: {"frames": 5, "line": [100] * 5}}
    # 4, 3, 2, 1, 0 steps to go are worth 1 - 2 discount^k: from 0 at the goal to 100 for never.
    assert set(fold) == {SUCCESS}
    assert fold[SUCCESS]["line"] == [
        round(100 * (1 - run.discount**steps)) for steps in (4, 3, 2, 1, 0)
    ]


@pytest.mark.parametrize("names", [["fold", "fold"], ["lift", "fold"]])
def test_one_task_and_older_runs_have_the_names_of_their_tasks_alone(names):
    run = run_of([SUCCESS, TIME_OUT], tasks=names)
    older = replace(run, results=replace(run.results, scores=replace(run.scores, tasks=None)))
    front = front_page(older)
    assert front["tasks"] == [{"name": name} for name in dict.fromkeys(names)]
    assert "tasks" not in [section["name"] for section in front["sections"]]


def test_sections_have_the_names_that_the_page_looks_for():
    run = run_of([SUCCESS, TIME_OUT])
    assert [section["name"] for section in front_page(run)["sections"]] == [
        *("policy", "next", "watch", "trust", "done")
    ]


def test_what_reading_noticed_is_told():
    data = RunData(left_out=(LeftOut("7", "video cut off"),), warnings=("no task is named",))
    assert front_page(run_of([SUCCESS], data=data))["warnings"] == [
        "Episode 7 was left out: video cut off",
        "no task is named",
    ]


def test_settings_are_shown_as_the_file_has_them():
    front = front_page(run_of([SUCCESS], policy="ours"))
    assert 'policy = "ours"' in front["config"]
    assert front["made_by"] == {
        "command": "goalward evaluate rollouts --out run",
        "goalward": "0.2.0",
    }


# ---- the methods ------------------------------------------------------------------------------


def test_scores_are_those_of_the_table_and_the_main_ones_those_of_the_paper():
    scores = front_page(run_of([SUCCESS, TIME_OUT]))["scores"]
    assert [score["key"] for score in scores] == list(SCORES)
    assert [s["key"] for s in scores if s["is_main"]] == list(scores_shown("paper"))
    told = {score["key"]: (score["heading"], score["digits"]) for score in scores}
    assert told["success"] == ("success ↑", 2)
    assert told["setback_in_other"] == ("setback in other", 1)


def test_a_score_has_its_seeds_its_deviation_and_its_interval():
    # One seed sees two of three time-out frames as far, the other all.
    first = np.stack([np.array([90.0, 90, 90, 90, 5]), np.full(5, 90.0)])
    outcomes = [SUCCESS, TIME_OUT, SUCCESS, TIME_OUT]
    steps = {"td": [countdown(5), first, countdown(5), first]}
    run = run_of(outcomes, steps=steps, standard_horizon=50)
    found = front_page(run)["methods"][0]["scores"]["failure"]
    assert found["seeds"] == [0.8, 1.0]
    assert (found["value"], found["sd"]) == (0.9, pytest.approx(0.141421, abs=1e-6))
    row = run.scores.cards["td"]["failure"]
    assert row.interval.low is not None
    assert (found["low"], found["level"]) == (pytest.approx(row.interval.low, abs=1e-6), 0.95)


def test_a_score_that_is_not_defined_is_null_with_its_reason():
    found = front_page(run_of([SUCCESS, SUCCESS]))["methods"][0]["scores"]["failure"]
    assert (found["value"], found["seeds"]) == (None, [None, None])
    assert (
        found["reason"] == run_of([SUCCESS, SUCCESS]).scores.cards["td"]["failure"].interval.reason
    )


def test_a_method_is_better_than_those_it_differs_from_and_lies_above():
    # Of the last frames before the goal, td sees two of five as near, mc all, survival four.
    seen = {"td": 2, "mc": 5, "survival": 4}
    steps = {
        name: [np.where(np.arange(5) < count, 0.0, 90.0)[None] * np.ones((2, 1))]
        for name, count in seen.items()
    }
    run = run_of([SUCCESS], steps=steps, standard_horizon=50)
    pairs = (
        PairTest("td", "mc", None, None, 0.01, 0.01, differs=True),
        PairTest("td", "survival", None, None, 0.2, 0.2),
        PairTest("mc", "survival", None, None, 0.5, 0.5),
    )
    tests = {"success": MethodTests(tuple(seen), 0.05, OverallTest(None, None, "drawn"), pairs)}
    scores = replace(run.scores, tests=tests)
    methods = front_page(replace(run, results=replace(run.results, scores=scores)))["methods"]
    better = {method["name"]: method["scores"]["success"]["better_than"] for method in methods}
    assert better == {"td": [], "mc": ["td"], "survival": []}
    # What was not tested is not said to be equal.
    assert [method["scores"]["failure"]["better_than"] for method in methods] == [None] * 3


def test_chances_are_shown_beside_what_came():
    run = run_of([SUCCESS, TIME_OUT] * 3, standard_horizon=2)
    told = front_page(run)["methods"][0]
    bins = told["calibration"]["bins"]
    # Seeds that agree are no chance, and the page says so.
    assert not told["says_chances"]
    found = run.scores.calibration["td"].bins
    assert [one["num_frames"] for one in bins] == [one.num_frames for one in found]
    assert [one["observed"] for one in bins] == [
        pytest.approx(one.observed, abs=1e-6) for one in found
    ]
    assert bins[0]["low"] == pytest.approx(found[0].observed_interval.low, abs=1e-6)


# ---- the truth --------------------------------------------------------------------------------


def test_errors_are_told_by_group_the_successes_before_the_time_outs():
    outcomes = [TIME_OUT, SUCCESS, TIME_OUT, SUCCESS]
    ids = tuple(str(i) for i in range(4))
    truth = FrameTruth(ids, np.zeros(4, int), np.array([[np.inf, np.inf]] * 4), cap=50)
    never = [far(np.inf)] * 4
    run = run_of(outcomes, steps={"td": [far(0)] * 4, "mc": never}, truth=truth)
    found = front_page(run)["truth"]
    assert [group["name"] for group in found["groups"]] == ["all", "success", "time_out"]
    # No future gets there: values of -1 are off by 2, however hopeful; the truth has no noise.
    assert [group["noise"] for group in found["groups"]] == [0.0, 0.0, 0.0]
    assert {m["name"]: [e["value"] for e in m["errors"]] for m in found["methods"]} == {
        "td": [2.0, 2.0, 2.0],
        "mc": [0.0, 0.0, 0.0],
    }


# ---- colours ----------------------------------------------------------------------------------


def test_every_method_is_seen_on_dark():
    names = ["liveness", "liveness-nb", "td", "mc", "mc-dist", "survival", "liveness-exact"]
    names += [f"mine {i}" for i in range(6)]
    colours = [*page_colours(names), *loss_colours().values()]
    assert min(contrast(colour["dark"], DARK_PANEL) for colour in colours) >= 3
    assert len({colour["dark"] for colour in page_colours(names)}) == len(names)
    assert len({colour["dark"] for colour in loss_colours().values()}) == 2


def test_panels_grids_and_words_are_those_of_the_style_sheet():
    text = STYLE.read_text()
    panels, lines, words = (
        re.findall(rf"--{name}: (#\w+);", text) for name in ("panel", "line", "text-soft")
    )
    assert panels == [LIGHT_PANEL, DARK_PANEL]
    dark = [drawn_on_dark(colour) for colour in (LIGHT_PANEL, GRID_COLOUR, TEXT_COLOUR)]
    assert dark == [panels[1], lines[1], words[1]]


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


def test_values_of_never_make_no_infinity():
    run, _ = drawn_run([drawn_episode("a", 3)], {"td": [np.full((1, 3), np.inf)]})
    assert json.dumps(front_page(run), allow_nan=False)
