"""The front page from the charts on: one number for one thing, and nothing hides another."""

import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.report.pages.files import write_pages
from goalward.rollouts.episode import Outcome
from goalward.runs.settings import RunData

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
FEATURES = "an encoder of " + ", ".join(f"observation.images.camera_{i}" for i in range(9))


@pytest.fixture(scope="module")
def survival_report(tmp_path_factory):
    """Values of a method that says chances: successes count down, time-outs stay far."""
    folder = tmp_path_factory.mktemp("chances")
    outcomes = [Outcome.SUCCESS, Outcome.TIME_OUT] * 8
    episodes = [drawn_episode(str(i), 30, outcome=one) for i, one in enumerate(outcomes)]
    steps = [countdown(30) + (0 if i % 2 == 0 else 25) for i in range(16)]
    run, _ = drawn_run(
        episodes, {"td": steps}, folder, standard_horizon=20, data=RunData(features=FEATURES)
    )
    return write_pages(run, None, folder / "report")


def test_there_is_one_brier_score(survival_report, open_report):
    """That of the table: over all frames, not over those with a bin in the picture alone."""
    page = open_report(survival_report).without_charts().open()
    told = page.evaluate(
        """() => {
          const [method] = goalward.run.front.methods;
          method.says_chances = true;
          method.scores.brier.value = 0.123;
          method.scores.brier_of_base_rate.value = 0.456;
          return goalward.calibration().innerText;
        }"""
    )
    assert "0.12; always saying the overall share 0.46" in told
    frames = page.evaluate("goalward.run.front.methods[0].calibration.num_frames")
    assert frames > 0
    assert f"of the {frames} frames with so many steps left on the longest clock" in told


def test_no_bar_hides_the_word_for_no_skill_and_none_its_own_error(survival_report, open_report):
    page = open_report(survival_report).open()
    page.wait_for_selector("html[data-charts]")
    plot = page.locator(".bars .js-plotly-plot")
    word = plot.locator(".annotation text").bounding_box()
    bars = [bar.bounding_box() for bar in plot.locator(".bars .point path").all()]
    assert len(bars) == 4
    assert word["x"] >= max(bar["x"] + bar["width"] for bar in bars)
    assert word["x"] + word["width"] <= plot.bounding_box()["x"] + plot.bounding_box()["width"]
    paleness = plot.locator(".bars .point path").first.evaluate("p => p.style.fillOpacity")
    assert float(paleness) < 0.6


def test_the_sheet_of_the_data_says_all_and_says_it_once(survival_report, open_report):
    page = open_report(survival_report).without_charts().open()
    facts = page.inner_text(".data-sheet")
    assert FEATURES in facts
    assert "td, 2 seeds" in facts
    assert "20 steps" in facts
    assert "Hindsight values follow the recording" in facts
    assert page.inner_text("main").count(FEATURES) == 1


def test_on_a_phone_the_buttons_of_the_player_are_one_row(demo_report, open_report):
    page = open_report(demo_report, **PHONE).open("#episode?id=1&frame=20")
    page.wait_for_selector(".cursor-label")
    boxes = [one.bounding_box() for one in page.locator(".transport > *:visible").all()]
    middles = [box["y"] + box["height"] / 2 for box in boxes if box["height"]]
    assert len(middles) >= 5
    assert max(middles) - min(middles) < 12
